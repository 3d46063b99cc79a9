//! Looking after the records of sets.

use e2e::World;
use e2e::manifests::{config_map, deployment, stream};
use harness::shared;
use serde_json::{Value, json};

tests![
    records_are_listed_and_shown,
    a_line_that_names_no_object_is_forgotten_or_mended,
    of_two_records_with_one_id_one_is_left,
    a_rebuild_finds_what_carries_the_mark_and_not_what_was_generated,
    a_record_is_not_changed_while_a_run_of_its_set_is_under_way,
    how_each_object_went_is_kept_when_asked_for,
    a_set_is_found_on_the_cluster_in_kapplys_words,
];

const LABEL: &str = "cli-utils.sigs.k8s.io/inventory-id";

fn data(world: &World, name: &str) -> Value {
    world.get("v1", "configmaps", name)["data"].clone()
}

fn keys(world: &World, name: &str) -> Vec<String> {
    data(world, name).as_object().map(|data| data.keys().cloned().collect()).unwrap_or_default()
}

/// A world with a set of two objects.
fn shop(prefix: &str) -> World {
    let world = World::new(prefix);
    let set = stream(&[config_map("a"), deployment("web")]);
    world.settle(&["apply", "--set", "shop"]).input(set).run().exits_with(0);
    world
}

/// Writes a ConfigMap past the program.
fn put(world: &World, object: &Value) {
    let path = format!("/api/v1/namespaces/{}/configmaps", world.name());
    let _ = shared().api().delete(&format!("{path}/{}", object["metadata"]["name"].as_str().unwrap()));
    shared().api().post(&path, object).expect("an answer").success();
}

fn record(name: &str, id: &str, data: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": data,
        "metadata": { "name": name, "labels": { LABEL: id } },
    })
}

fn records_are_listed_and_shown() {
    let world = shop("listed");
    let said = world.settle(&["inventory", "list"]).run().success();
    assert_eq!(said, format!("{0}/shop  2 objects  id {0}_shop\n", world.name()));
    let said = world.settle(&["inventory", "show", "--set", "shop"]).run().success();
    assert_eq!(said, format!("{0}_a__ConfigMap\n{0}_web_apps_Deployment\n", world.name()));
    let done = world.settle(&["inventory", "show", "--set", "none"]).run();
    done.exits_with(2);
    assert!(done.stderr.contains("there is no inventory"), "{}", done.stderr);
}

fn a_line_that_names_no_object_is_forgotten_or_mended() {
    let world = shop("broken");
    let id = format!("{}_shop", world.name());
    let mut broken = data(&world, "shop");
    broken["nonsense"] = json!("");
    put(&world, &record("shop", &id, &broken));
    let set = stream(&[config_map("a"), deployment("web")]);
    let done = world.settle(&["apply", "--set", "shop"]).input(set.clone()).run();
    done.exits_with(5);
    assert!(done.stderr.contains("inventory forget"), "{}", done.stderr);
    world.settle(&["inventory", "forget", "--set", "shop", "--line", "nonsense"]).run().exits_with(0);
    world.settle(&["apply", "--set", "shop"]).input(set).run().exits_with(0);
    put(&world, &record("shop", &id, &json!({ "nonsense": "", "more": "" })));
    world.settle(&["inventory", "rebuild", "--set", "shop"]).run().exits_with(0);
    assert_eq!(keys(&world, "shop").len(), 2);
    world.settle(&["inventory", "forget", "--set", "shop", "--line", "nonsense"]).run().exits_with(2);
}

fn of_two_records_with_one_id_one_is_left() {
    let world = shop("twice");
    let id = format!("{}_shop", world.name());
    let line = format!("{}_b__ConfigMap", world.name());
    put(&world, &record("other", &id, &json!({ (&*line): "" })));
    world.settle(&["inventory", "adopt", "--set", "shop", "--from", "other"]).run().exits_with(0);
    assert!(keys(&world, "shop").contains(&line) && data(&world, "other").is_null());
    put(&world, &record("stranger", "another", &json!({})));
    world.settle(&["inventory", "adopt", "--set", "shop", "--from", "stranger"]).run().exits_with(5);
}

fn a_rebuild_finds_what_carries_the_mark_and_not_what_was_generated() {
    let world = shop("lost");
    let before = keys(&world, "shop");
    let mut record = record("shop", "x", &json!({}));
    record["metadata"]["labels"] = Value::Null;
    put(&world, &record);
    let said = world.settle(&["inventory", "rebuild", "--set", "shop"]).run().success();
    assert!(said.contains("2 objects carry the mark of the set, 2 were missing"), "{said}");
    assert_eq!(keys(&world, "shop"), before);
    world.settle(&["destroy", "--set", "shop"]).run().exits_with(0);
    assert!(data(&world, "a").is_null());
}

fn a_record_is_not_changed_while_a_run_of_its_set_is_under_way() {
    let world = shop("busy");
    let set = stream(&[config_map("a"), e2e::manifests::deployment_that("web", "never-ready")]);
    let running = world.settle(&["apply", "--set", "shop", "-o", "json"]).input(set).start();
    running.wait_for_output("\"status\":\"InProgress\"", e2e::SOON);
    let line = format!("{}_a__ConfigMap", world.name());
    for words in [vec!["forget", "--line", &line], vec!["adopt", "--from", "other"], vec!["rebuild"]] {
        let done = world.settle(&["inventory"]).args(words).args(["--set", "shop"]).run();
        done.exits_with(5);
        assert!(done.stderr.contains("another run of the set is under way"), "{}", done.stderr);
    }
    // Looking disturbs nobody.
    world.settle(&["inventory", "show", "--set", "shop"]).run().exits_with(0);
    running.interrupt();
    running.finish(e2e::LIMIT).exits_with(130);
    let words = ["inventory", "forget", "--set", "shop", "--line", &line, "--lock-timeout=30s"];
    world.settle(&words).run().exits_with(0);
    let lease =
        shared().api().get(&format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", world.name()));
    let leases = lease.expect("an answer").success().json();
    assert_eq!(leases["items"][0]["spec"]["holderIdentity"].as_str().unwrap_or_default(), "", "{leases}");
}

fn how_each_object_went_is_kept_when_asked_for() {
    let world = shop("kept");
    let set = stream(&[config_map("a"), deployment("web")]);
    world.settle(&["apply", "--set", "shop", "--record-status"]).input(set.clone()).run().exits_with(0);
    let kept = data(&world, "shop");
    for (_, value) in kept.as_object().unwrap() {
        let value: Value = serde_json::from_str(value.as_str().unwrap()).unwrap();
        assert_eq!(value, json!({ "actuation": "Succeeded", "reconcile": "Succeeded", "strategy": "Apply" }));
    }
    let call = world.settle(&["apply", "--set", "shop"]).input(set);
    call.env("KUBESETTLE_RECORD_STATUS", "false").run().exits_with(0);
    assert!(data(&world, "shop").as_object().unwrap().values().all(|value| value == ""));
}

fn a_set_is_found_on_the_cluster_in_kapplys_words() {
    let world = shop("remote");
    let look = |more: &[&str]| {
        let words = ["status", "-o", "name", "--inv-type=remote", "--inv-names=shop"];
        let said = world.settle(&words).args(more).run().success();
        let mut names: Vec<_> = said.lines().map(str::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(look(&[]), ["configmap/a", "deployment.apps/web"]);
    assert_eq!(look(&["--statuses=current", "--namespaces", world.name()]).len(), 2);
    assert!(look(&["--statuses=failed"]).is_empty());
    assert!(look(&["--namespaces=other"]).is_empty());
}
