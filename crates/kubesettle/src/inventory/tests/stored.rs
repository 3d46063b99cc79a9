use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{
    Actuation, Entries, Entry, Inventory, ObjectStatus, Reconcile, Strategy, Wanted, WriteKind, WriteOptions,
    key,
};
use super::*;

/// Written by kapply's own inventory package (cli-utils v0.37.2), without and with statuses.
const KAPPLY: &str = r#"{"apiVersion":"v1","data":{"_shop__Namespace":"","_system__shop__reader_rbac.authorization.k8s.io_ClusterRole":"","shop___odd___rbac.authorization.k8s.io_RoleBinding":"","shop_a.b-c__ConfigMap":"","shop_two__parts_example.com_Widget":"","shop_web_apps_Deployment":""},"kind":"ConfigMap","metadata":{"annotations":{"team":"a"},"labels":{"cli-utils.sigs.k8s.io/inventory-id":"1f0e7a2c"},"name":"inventory-12345678","namespace":"shop"}}"#;
const KAPPLY_STATUSES: &str = r#"{"apiVersion":"v1","data":{"_shop__Namespace":"{\"actuation\":\"Pending\",\"reconcile\":\"Pending\",\"strategy\":\"Apply\"}","_system__shop__reader_rbac.authorization.k8s.io_ClusterRole":"{\"actuation\":\"Failed\",\"reconcile\":\"Failed\",\"strategy\":\"Delete\"}","shop___odd___rbac.authorization.k8s.io_RoleBinding":"{\"actuation\":\"Pending\",\"reconcile\":\"Timeout\",\"strategy\":\"Apply\"}","shop_a.b-c__ConfigMap":"{\"actuation\":\"Skipped\",\"reconcile\":\"Skipped\",\"strategy\":\"Apply\"}","shop_two__parts_example.com_Widget":"{\"actuation\":\"Succeeded\",\"reconcile\":\"Pending\",\"strategy\":\"Delete\"}","shop_web_apps_Deployment":"{\"actuation\":\"Succeeded\",\"reconcile\":\"Succeeded\",\"strategy\":\"Delete\"}"},"kind":"ConfigMap","metadata":{"annotations":{"team":"a"},"labels":{"cli-utils.sigs.k8s.io/inventory-id":"1f0e7a2c"},"name":"inventory-12345678","namespace":"shop"}}"#;

/// The objects of both, in the order of the statuses given to kapply.
fn kapply_entries() -> Entries {
    let ids = [
        id("", "Namespace", "", "shop"),
        id("apps", "Deployment", "shop", "web"),
        id("", "ConfigMap", "shop", "a.b-c"),
        id("rbac.authorization.k8s.io", "ClusterRole", "", "system:shop:reader"),
        id("rbac.authorization.k8s.io", "RoleBinding", "shop", ":odd:"),
        id("example.com", "Widget", "shop", "two__parts"),
    ];
    let status = |nth: usize| ObjectStatus {
        strategy: Strategy::ALL[nth % 2],
        actuation: Actuation::ALL[nth % 4],
        reconcile: Reconcile::ALL[nth % 5],
    };
    ids.into_iter().enumerate().map(|(nth, id)| (id, Entry { status: Some(status(nth)) })).collect()
}

fn template() -> Wanted {
    let mut template: Value = serde_json::from_str(KAPPLY).unwrap();
    template.as_object_mut().unwrap().remove("data");
    Wanted::template(template.to_string().as_bytes()).unwrap()
}

#[test]
fn a_new_inventory_has_the_bytes_that_kapply_writes_with_and_without_statuses() {
    for (statuses, expected) in [(false, KAPPLY), (true, KAPPLY_STATUSES)] {
        let inventory = Inventory::read(&template(), &[]).unwrap();
        let options = WriteOptions { statuses, ..WriteOptions::default() };
        let writes = inventory.writes(&kapply_entries(), &options);
        assert_eq!(writes.len(), 1);
        assert_eq!(writes[0].kind(), WriteKind::Create);
        assert_eq!(std::str::from_utf8(writes[0].body()).unwrap(), expected);
    }
}

#[test]
fn an_inventory_of_kapply_is_read_object_for_object() {
    for (stored, statuses) in [(KAPPLY, false), (KAPPLY_STATUSES, true)] {
        let stored = stored.replacen(r#""name":"#, r#""resourceVersion":"7","uid":"u","name":"#, 1);
        let inventory = Inventory::read(&template(), &[stored.as_bytes()]).unwrap();
        let mut expected = kapply_entries();
        if !statuses {
            expected.values_mut().for_each(|entry| *entry = Entry::default());
        }
        assert_eq!(*inventory.entries(), expected);
        let options = WriteOptions { statuses, ..WriteOptions::default() };
        assert!(inventory.writes(&expected, &options).is_empty(), "nothing to write for what is there");
    }
}

#[test]
fn a_set_asked_for_by_name_keeps_the_id_that_kapply_gave_it() {
    let stored = config_map("inventory-12345678", "a-random-uuid", json!({}), json!({}));
    let inventory = Inventory::read(&set("inventory-12345678"), &[&stored]).unwrap();
    assert_eq!(inventory.id(), "a-random-uuid");
    assert!(inventory.exists());
    assert_eq!(new_inventory().id(), "shop_inv");
    assert!(!new_inventory().exists());
}

#[test]
fn an_empty_inventory_has_data_without_lines() {
    let writes = new_inventory().writes(&Entries::new(), &WriteOptions::default());
    assert_eq!(
        std::str::from_utf8(writes[0].body()).unwrap(),
        r#"{"apiVersion":"v1","data":{},"kind":"ConfigMap","metadata":{"labels":{"cli-utils.sigs.k8s.io/inventory-id":"shop_inv"},"name":"inv","namespace":"shop"}}"#
    );
}

#[test]
fn what_others_put_on_the_config_map_survives_a_write_and_only_the_server_fields_go() {
    let mut stored: Value = serde_json::from_slice(&config_map(
        "inv",
        "shop_inv",
        json!({ "argocd.argoproj.io/compare-options": "IgnoreExtraneous" }),
        json!({ "shop_a__ConfigMap": "" }),
    ))
    .unwrap();
    stored["metadata"]["labels"]["team"] = "payments".into();
    stored["metadata"]["finalizers"] = json!(["example.com/keep"]);
    stored["metadata"]["ownerReferences"] =
        json!([{ "uid": "o", "name": "o", "kind": "O", "apiVersion": "v1" }]);
    stored["binaryData"] = json!({ "logo": "AAEC" });
    stored["metadata"]["managedFields"] = json!([{ "manager": "kapply" }]);
    stored["metadata"]["creationTimestamp"] = "2026-11-30T18:00:00Z".into();
    let inventory = Inventory::read(&set("inv"), &[stored.to_string().as_bytes()]).unwrap();
    let writes = inventory.writes(&plain(&[cm("b")]), &WriteOptions::default());
    let written: Value = serde_json::from_slice(writes[0].body()).unwrap();

    let metadata = stored["metadata"].as_object_mut().unwrap();
    metadata.remove("managedFields");
    metadata.remove("creationTimestamp");
    stored["data"] = json!({ "shop_b__ConfigMap": "" });
    assert_eq!(written, stored);
}

#[test]
fn the_run_is_written_on_the_first_config_map_and_stays_when_nobody_gives_one() {
    let mut server = Server::default();
    let mut inventory = new_inventory();
    let options = WriteOptions { run: Some("r1".to_owned()), ..WriteOptions::default() };
    for write in inventory.writes(&plain(&[cm("a")]), &options) {
        let (uid, version) = server.send(&write);
        inventory.wrote(&write, &uid, &version);
    }
    assert_eq!(server.objects["inv"]["metadata"]["annotations"]["kubesettle.io/run"], "r1");
    let same = plain(&[cm("a")]);
    assert!(inventory.writes(&same, &options).is_empty());
    assert!(inventory.writes(&same, &WriteOptions::default()).is_empty());
    let next = WriteOptions { run: Some("r2".to_owned()), ..WriteOptions::default() };
    assert_eq!(inventory.writes(&same, &next).len(), 1, "another run always writes");
}

/// Object, key; `None` for one that must be hashed.
#[test]
fn keys_are_kapplys_where_they_lead_back_to_the_object_and_hashed_where_not() {
    let rbac = "rbac.authorization.k8s.io";
    let cases = [
        (id("apps", "Deployment", "shop", "web"), Some("shop_web_apps_Deployment")),
        (id("", "Namespace", "", "shop"), Some("_shop__Namespace")),
        (id(rbac, "Role", "a", "x:y"), Some("a_x__y_rbac.authorization.k8s.io_Role")),
        // kapply writes this key and then takes it for `x:y`, which is no RBAC name and cannot exist.
        (id("example.com", "Widget", "a", "x__y"), Some("a_x__y_example.com_Widget")),
        (id(rbac, "Role", "a", "x__y"), None),
        (id(rbac, "Role", "a", "x_y"), None),
        (id("example.com", "Widget", "a", "x:y"), None),
        (id("example.com", "Widget", "a", "x_y"), None),
        (id("example.com", "Role", "a", "x:y"), None),
        (id("", "Secret", "a", &"n".repeat(253)), None),
        (id("", "Secret", "..", "x"), None),
        (id("", "Secret", "a", ""), None),
        (id("", "", "a", "x"), None),
        (id("", "Secret", "a", "grün"), None),
    ];
    for (id, expected) in cases {
        let (key, value) = key::line(&id, &Entry::default(), false);
        match expected {
            Some(expected) => assert_eq!((key.as_str(), value.as_str()), (expected, "")),
            None => assert!(key.starts_with("sha256-") && key.len() == 71, "{id:?}: {key}"),
        }
        assert_eq!(key::parse(&key, &value).unwrap().0, id);
    }
}

#[test]
fn a_hashed_line_holds_the_whole_id_and_the_status() {
    let id = id("example.com", "Widget", "a", "x:y");
    let entry = Entry { status: Some(ObjectStatus::pending(Strategy::Apply)) };
    let (key, value) = key::line(&id, &entry, true);
    assert_eq!(
        value,
        r#"{"group":"example.com","kind":"Widget","name":"x:y","namespace":"a","status":{"actuation":"Pending","reconcile":"Pending","strategy":"Apply"}}"#
    );
    assert_eq!(key::parse(&key, &value).unwrap(), (id, entry));
}

#[test]
fn a_value_that_is_no_status_hides_no_object() {
    for value in
        ["", "{}", "old", r#"{"strategy":"Apply","actuation":"Perhaps","reconcile":"Pending"}"#, "null"]
    {
        assert_eq!(key::parse("shop_a__ConfigMap", value).unwrap(), (cm("a"), Entry::default()), "{value}");
    }
}

#[test]
fn a_name_leads_to_an_entry_whatever_it_holds() {
    proptest!(|(id in any_id(), status in any_status(), statuses: bool)| {
        let entry = Entry { status };
        let (key, value) = key::line(&id, &entry, statuses);
        prop_assert!(key.len() <= 253 && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)));
        let expected = if statuses { entry } else { Entry::default() };
        prop_assert_eq!(key::parse(&key, &value).unwrap(), (id, expected));
    });
}
