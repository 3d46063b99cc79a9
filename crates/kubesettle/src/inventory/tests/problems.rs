use serde_json::json;

use super::super::{Inventory, Problem, Wanted};
use super::*;

fn problems(wanted: &Wanted, found: &[Vec<u8>]) -> String {
    let found: Vec<&[u8]> = found.iter().map(Vec::as_slice).collect();
    Inventory::read(wanted, &found).unwrap_err().to_string()
}

#[test]
fn every_line_that_names_no_object_is_told_with_the_command_that_mends_it() {
    let data = json!({
        "shop_good__ConfigMap": "",
        "rubbish": "",
        "shop_a_b_c_Widget": "",
        "shop_x__": "",
        "sha256-00": "{\"name\":\"x\"}",
    });
    let found = config_map("inv", "shop_inv", json!({}), data);
    assert_eq!(
        problems(&set("inv"), &[found]),
        "ConfigMap shop/inv: data: \"rubbish\" is no inventory key (<namespace>_<name>_<group>_<kind>): it has no underscore
  kubectl settle inventory forget -n shop --set inv --line rubbish drops this line, kubectl settle inventory rebuild -n shop --set inv finds the objects by their annotation
ConfigMap shop/inv: data: \"sha256-00\": its value lacks one of group, kind, name, namespace
  kubectl settle inventory forget -n shop --set inv --line sha256-00 drops this line, kubectl settle inventory rebuild -n shop --set inv finds the objects by their annotation
ConfigMap shop/inv: data: \"shop_a_b_c_Widget\" is no inventory key (<namespace>_<name>_<group>_<kind>): it has too many fields
  kubectl settle inventory forget -n shop --set inv --line shop_a_b_c_Widget drops this line, kubectl settle inventory rebuild -n shop --set inv finds the objects by their annotation
ConfigMap shop/inv: data: \"shop_x__\" is no inventory key: its kind is empty
  kubectl settle inventory forget -n shop --set inv --line shop_x__ drops this line, kubectl settle inventory rebuild -n shop --set inv finds the objects by their annotation"
    );
}

#[test]
fn a_hashed_line_whose_value_was_changed_is_a_problem() {
    let (key, value) = super::super::key::line(&cm("a:b"), &Entry::default(), false);
    for (value, reason) in [
        (value.replace("a:b", "a:c"), "its value names another object than its key"),
        (String::new(), "its value is no JSON object"),
        ("[]".to_owned(), "its value is no JSON object"),
    ] {
        let found = config_map("inv", "shop_inv", json!({}), json!({ key.as_str(): value }));
        assert!(problems(&set("inv"), &[found]).contains(reason));
    }
}

#[test]
fn the_record_of_another_set_is_refused_in_kapplys_words() {
    let template = config_map("inv", "mine", json!({}), json!({}));
    let found = config_map("inv", "yours", json!({}), json!({}));
    let text = problems(&Wanted::template(&template).unwrap(), &[found]);
    assert!(
        text.contains(r#"expected inventory object to have inventory-id "mine" but got "yours""#),
        "{text}"
    );
    assert!(text.contains("--set inv"), "{text}");
}

#[test]
fn a_config_map_of_that_name_without_the_label_is_never_overwritten() {
    for label in [json!({}), json!({ ID_LABEL: "" }), json!(null)] {
        let found = json!({ "metadata": {
            "name": "inv", "namespace": NAMESPACE, "uid": "u", "resourceVersion": "1", "labels": label,
        }, "data": { "colour": "red" } });
        let text = problems(&set("inv"), &[found.to_string().into_bytes()]);
        assert!(text.contains("the label cli-utils.sigs.k8s.io/inventory-id is missing"), "{text}");
    }
}

#[test]
fn two_inventories_with_the_same_id_are_refused_with_both_names() {
    let found = [
        config_map("inv", "shop_inv", json!({}), json!({})),
        config_map("copy", "shop_inv", json!({}), json!({})),
        config_map("unrelated", "other", json!({}), json!({ "rubbish": "" })),
    ];
    let text = problems(&set("inv"), &found);
    assert_eq!(
        text,
        "ConfigMap shop/inv: ConfigMap shop/copy has the same inventory-id \"shop_inv\"
  kubectl settle inventory adopt -n shop --set inv --from copy makes one of the two"
    );
    let only_the_copy = problems(&set("inv"), &found[1..]);
    assert!(only_the_copy.contains("shop/copy has the same"), "{only_the_copy}");
}

#[test]
fn a_template_finds_its_inventory_under_another_name_when_only_one_has_its_id() {
    let template = Wanted::template(&config_map("new-name", "the-id", json!({}), json!({}))).unwrap();
    let old = config_map("old-name", "the-id", json!({ PARTS: "old-name-1" }), json!({}));
    let part_of = json!({ "kubesettle.io/inventory-part-of": "old-name" });
    let part = config_map("old-name-1", "the-id", part_of, json!({ "shop_a__ConfigMap": "" }));
    let inventory = Inventory::read(&template, &[&old, &part]).unwrap();
    assert_eq!(inventory.location().to_string(), "shop/old-name");
    assert_eq!(names(inventory.entries()), ["a"]);
    assert_eq!(
        inventory.notes(),
        ["the template names shop/new-name, the inventory with its id is shop/old-name: that one is used"]
    );
    let new = config_map("new-name", "the-id", json!({}), json!({}));
    let older = config_map("older-name", "the-id", json!({}), json!({}));
    assert!(problems(&template, &[new, old.clone()]).contains("shop/old-name has the same"));
    assert!(problems(&template, &[older, old]).contains("shop/old-name has the same"));
}

#[test]
fn a_part_with_another_id_is_a_problem_of_that_part() {
    let found = [
        config_map("inv", "shop_inv", json!({ PARTS: "inv-1" }), json!({})),
        config_map("inv-1", "other", json!({}), json!({})),
    ];
    assert!(problems(&set("inv"), &found).starts_with("ConfigMap shop/inv-1: expected inventory object"));
}

#[test]
fn a_text_that_is_no_config_map_is_a_problem() {
    for text in ["{", "[]", "{}", r#"{"metadata":{},"data":{"k":1}}"#, r#"{"metadata":{"labels":[]}}"#] {
        let text = problems(&set("inv"), &[text.as_bytes().to_vec()]);
        assert!(text.contains("it cannot be read"), "{text}");
    }
    assert!(Wanted::template(b"{}").is_err());
}

#[test]
fn a_conflict_says_who_was_in_the_way_and_what_to_do() {
    let problem = Problem::changed_meanwhile(set("inv").location(), "inv-1");
    assert_eq!(problem.to_string(), "ConfigMap shop/inv-1: another run changed the inventory");
    assert!(problem.hint().contains("run the same command again"));
}

#[test]
fn keys_that_a_shell_would_read_are_quoted_in_the_command() {
    let found = config_map("inv", "shop_inv", json!({}), json!({ "it's $HOME": "" }));
    assert!(problems(&set("inv"), &[found]).contains(r"--line 'it'\''s $HOME' drops"));
}
