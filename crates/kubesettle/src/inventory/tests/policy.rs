use super::super::{
    IdMatch, InventoryPolicy, Mark, MarkForm, OWNING_INVENTORY, PolicyRefusal, can_apply, can_prune,
};

const OURS: &str = "shop_inv";

/// Mark of the live object, and which of the three policies let it be touched.
const TABLE: [(Option<&str>, IdMatch, [bool; 3]); 4] = [
    (None, IdMatch::Empty, [false, true, true]),
    (Some(OURS), IdMatch::Match, [true, true, true]),
    (Some("other"), IdMatch::NoMatch, [false, false, true]),
    (Some(""), IdMatch::NoMatch, [false, false, true]),
];
const POLICIES: [InventoryPolicy; 3] =
    [InventoryPolicy::Strict, InventoryPolicy::Adopt, InventoryPolicy::ForceAdopt];

#[test]
fn each_policy_lets_the_objects_of_its_row_be_applied_and_pruned() {
    for (owner, status, allowed) in TABLE {
        for (policy, allowed) in POLICIES.into_iter().zip(allowed) {
            for (check, strategy) in
                [(can_apply as fn(_, _, _) -> Result<(), PolicyRefusal>, "Apply"), (can_prune, "Delete")]
            {
                let answer = check(policy, owner, OURS);
                assert_eq!(answer.is_ok(), allowed, "{policy:?} {owner:?}");
                if let Err(refusal) = answer {
                    let (status, policy) = (status.as_str(), policy.as_str());
                    assert_eq!(
                        refusal.to_string(),
                        format!(
                            "inventory policy prevented actuation (strategy: {strategy}, status: {status}, policy: {policy})"
                        )
                    );
                }
            }
        }
    }
}

#[test]
fn a_refusal_names_the_owner_as_a_person_knows_it_and_the_way_to_adopt() {
    for (owner, expected) in [
        (None, "no set owns it; --inventory-policy=adopt takes it over"),
        (
            Some("shop_other"),
            "set shop/other owns it; --inventory-policy=force-adopt takes it away from there",
        ),
        (
            Some("1f0e-2c"),
            "the set with inventory-id \"1f0e-2c\" owns it; \
             --inventory-policy=force-adopt takes it away from there",
        ),
    ] {
        let refusal = can_apply(InventoryPolicy::Strict, owner, OURS).unwrap_err();
        assert_eq!(refusal.hint(), expected);
    }
}

#[test]
fn policies_have_kapplys_words_and_strict_is_the_default() {
    assert_eq!(POLICIES.map(InventoryPolicy::word), ["strict", "adopt", "force-adopt"]);
    assert_eq!(POLICIES.map(InventoryPolicy::as_str), ["MustMatch", "AdoptIfNoInventory", "AdoptAll"]);
    assert_eq!(InventoryPolicy::default(), InventoryPolicy::Strict);
    for policy in POLICIES {
        assert_eq!(InventoryPolicy::parse(policy.word()), Some(policy));
    }
    assert_eq!(InventoryPolicy::parse("Strict"), None);
}

#[test]
fn our_mark_is_taken_off_only_the_object_that_still_carries_it() {
    assert_eq!(
        std::str::from_utf8(&Mark::new(MarkForm::Owner, OURS).off("u1")).unwrap(),
        r#"[{"op":"test","path":"/metadata/uid","value":"u1"},{"op":"test","path":"/metadata/annotations/config.k8s.io~1owning-inventory","value":"shop_inv"},{"op":"remove","path":"/metadata/annotations/config.k8s.io~1owning-inventory"}]"#
    );
    assert_eq!(OWNING_INVENTORY, "config.k8s.io/owning-inventory");
}
