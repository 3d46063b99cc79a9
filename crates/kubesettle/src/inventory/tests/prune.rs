use std::collections::BTreeSet;

use super::super::{
    Fate, InventoryPolicy, Location, OWNING_INVENTORY, PruneFilters, PruneSkip, Strategy, namespaces_in_use,
};
use super::*;

const KEEP: (&str, &str) = ("cli-utils.sigs.k8s.io/on-remove", "keep");
const DETACH: (&str, &str) = ("client.lifecycle.config.k8s.io/deletion", "detach");
const OURS: (&str, &str) = (OWNING_INVENTORY, "shop_inv");
const THEIRS: (&str, &str) = (OWNING_INVENTORY, "other");

fn check(id: &ObjectId, uid: &str, annotations: &[(&str, &'static str)]) -> Result<(), PruneSkip> {
    let namespaces = BTreeSet::from(["used", "shop"]);
    let applied = BTreeSet::from(["just-applied"]);
    let filters = PruneFilters {
        id: "shop_inv",
        policy: InventoryPolicy::Strict,
        namespaces: &namespaces,
        applied: &applied,
    };
    filters.check(id, uid, |key| annotations.iter().find(|(known, _)| *known == key).map(|(_, value)| *value))
}

fn namespace(name: &str) -> ObjectId {
    id("", "Namespace", "", name)
}

/// Object, uid, annotations; what keeps it in kapply's words, and what the record makes of that.
#[test]
fn each_filter_keeps_its_objects_and_the_first_one_gives_the_reason() {
    let policy = |status| {
        format!(
            "inventory policy prevented actuation (strategy: Delete, status: {status}, policy: MustMatch)"
        )
    };
    let keep = r#"annotation prevents deletion ("cli-utils.sigs.k8s.io/on-remove": "keep")"#;
    let detach = r#"annotation prevents deletion ("client.lifecycle.config.k8s.io/deletion": "detach")"#;
    let cases: &[(_, _, &[(&str, &'static str)], _, _)] = &[
        (cm("a"), "u", &[OURS, KEEP], keep.to_owned(), Fate::Abandoned),
        (cm("a"), "u", &[OURS, DETACH], detach.to_owned(), Fate::Abandoned),
        (cm("a"), "u", &[THEIRS, DETACH, KEEP], keep.to_owned(), Fate::Abandoned),
        (cm("a"), "u", &[], policy("Empty"), Fate::Skipped(Strategy::Delete)),
        (cm("a"), "u", &[THEIRS], policy("NoMatch"), Fate::Abandoned),
        (cm("a"), "u", &[(OWNING_INVENTORY, "")], policy("NoMatch"), Fate::Skipped(Strategy::Delete)),
        (namespace("used"), "just-applied", &[THEIRS], policy("NoMatch"), Fate::Abandoned),
        (
            namespace("used"),
            "just-applied",
            &[OURS],
            "namespace still in use: used".to_owned(),
            Fate::Skipped(Strategy::Delete),
        ),
        (
            cm("used"),
            "just-applied",
            &[OURS],
            r#"object just applied (UID: "just-applied")"#.to_owned(),
            Fate::Identical,
        ),
    ];
    for (id, uid, annotations, text, fate) in cases {
        let skip = check(id, uid, annotations).unwrap_err();
        assert_eq!(skip.to_string(), *text);
        assert_eq!(skip.fate(), *fate, "{text}");
    }
}

#[test]
fn nothing_keeps_an_object_of_ours_that_is_not_in_use() {
    let wrong_values =
        [OURS, (KEEP.0, "Keep"), (KEEP.0, "detach"), (DETACH.0, "keep"), ("on-remove", "keep")];
    for annotation in wrong_values {
        assert_eq!(check(&cm("a"), "u", &[annotation, OURS]), Ok(()), "{annotation:?}");
    }
    assert_eq!(check(&namespace("free"), "u", &[OURS]), Ok(()));
    assert_eq!(check(&id("example.com", "Namespace", "", "used"), "u", &[OURS]), Ok(()));
}

#[test]
fn namespaces_in_use_are_those_of_the_input_and_of_the_inventory() {
    let input = [cm("a"), namespace("only-declared"), id("", "Secret", "b", "x")];
    let inventory = Location::new("tools", "inv");
    assert_eq!(namespaces_in_use(&input, &inventory), BTreeSet::from(["b", "shop", "tools"]));
    assert_eq!(inventory.namespace_object(), namespace("tools"));
    assert_eq!(inventory.object(), id("", "ConfigMap", "tools", "inv"));
}
