//! Objects of nobody and of another set, under each policy.

use e2e::manifests::{deployment, stream, within};
use harness::shared;
use serde_json::{Value, json};

use super::{Set, assert_recorded};

tests![
    strict_leaves_an_object_of_another_set_alone,
    adopt_takes_an_object_of_nobody,
    adopt_leaves_an_object_of_another_set_alone,
    force_adopt_takes_an_object_of_another_set,
    a_record_of_another_id_under_the_same_name_stops_the_run,
];

fn sized(replicas: u32) -> Value {
    let mut web = deployment("web");
    web["spec"]["replicas"] = json!(replicas);
    web
}

fn replicas(set: &Set) -> Value {
    set.world.get("apps/v1", "deployments", "web")["spec"]["replicas"].clone()
}

/// The same namespace, another set.
fn second(set: Set) -> Set {
    Set { name: "second", ..set }
}

fn refused(policy: &str, word: &str) {
    let set = Set::new("refused");
    set.apply(&[sized(4)]).all_settled();
    let set = second(set);
    let lines = set.apply_with(&[policy], &[sized(6)]);
    lines.exits_with(5);
    let result = lines.result("Deployment/web").unwrap();
    assert_eq!((&result["operation"], &result["code"]), (&json!("skipped"), &json!("Refused")));
    let text =
        format!("inventory policy prevented actuation (strategy: Apply, status: NoMatch, policy: {word})");
    assert!(result["error"].as_str().unwrap().contains(&text), "{result}");
    assert_eq!((replicas(&set), set.owner("apps/v1", "deployments", "web")), (json!(4), "first".to_owned()));
    assert_eq!(set.record_of("first")["data"].as_object().map(serde_json::Map::len), Some(1));
    assert!(set.recorded().is_empty());
    // Its destroy does not touch it either.
    set.destroy(&[]).exits_with(0);
    assert_eq!(replicas(&set), 4);
}

fn strict_leaves_an_object_of_another_set_alone() {
    refused("--inventory-policy=strict", "MustMatch");
}

fn adopt_leaves_an_object_of_another_set_alone() {
    refused("--inventory-policy=adopt", "AdoptIfNoInventory");
}

fn adopt_takes_an_object_of_nobody() {
    let set = Set::new("adopted");
    shared().apply(&stream(&[within(sized(4), set.world.name())]));
    let flags = ["--inventory-policy=adopt", "--force-conflicts"];
    set.apply_with(&flags, &[sized(6)]).all_settled();
    assert_eq!((replicas(&set), set.owner("apps/v1", "deployments", "web")), (json!(6), "first".to_owned()));
    assert_recorded(&set, &["web_apps_Deployment"]);
    set.destroy(&[]).all_settled();
    assert!(replicas(&set).is_null());
}

fn force_adopt_takes_an_object_of_another_set() {
    let set = Set::new("taken");
    set.apply(&[sized(4)]).all_settled();
    let set = second(set);
    set.apply_with(&["--inventory-policy=force-adopt"], &[sized(6)]).all_settled();
    assert_eq!((replicas(&set), set.owner("apps/v1", "deployments", "web")), (json!(6), "second".to_owned()));
    assert_recorded(&set, &["web_apps_Deployment"]);
    assert!(!set.record_of("first").is_null());
    // The first set lets it go without touching it.
    let set = Set { name: "first", ..set };
    let gone = set.destroy(&[]);
    gone.exits_with(0);
    assert_eq!(gone.outcome("Deployment/web"), "skipped", "{gone:#}");
    assert_eq!(replicas(&set), 6);
    assert!(set.record().is_null());
    second(set).destroy(&[]).all_settled();
}

fn a_record_of_another_id_under_the_same_name_stops_the_run() {
    let set = Set::new("mistaken");
    let template = |id: &str| {
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "name": "the-record", "namespace": set.world.name(),
            "labels": { "cli-utils.sigs.k8s.io/inventory-id": id },
        } })
    };
    let apply = |id: &str, objects: &[Value]| {
        let all: Vec<_> = objects.iter().cloned().chain([template(id)]).collect();
        set.world.settle(&["apply"]).input(stream(&all)).json()
    };
    apply("one", &[sized(4)]).all_settled();
    let mark = set.world.requests().end();
    let lines = apply("two", &[sized(6)]);
    lines.exits_with(5);
    let end = lines.all("end").next().unwrap();
    let text = r#"expected inventory object to have inventory-id "two" but got "one""#;
    assert!(format!("{end}{}", lines.done.stderr).replace('\\', "").contains(text), "{lines:#}");
    let writes = set.world.requests().since(mark).writes();
    assert_eq!(writes.clone().resource("deployments.apps").count(), 0, "{writes}");
    assert_eq!(writes.resource("configmaps").count(), 0);
    assert_eq!(replicas(&set), 4);
}
