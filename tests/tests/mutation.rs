//! Apply-time mutation beside kapply: the same manifests, the same objects.

use e2e::manifests::{annotated, config_map, stream};
use e2e::{World, get, named};
use harness::shared;
use serde_json::{Value, json};

use crate::kapply_parity::{BOTH, Package, Tool};

tests![
    kapply_and_we_make_the_same_objects_of_the_same_manifests,
    integers_keep_all_their_digits,
    a_source_is_looked_for_beside_its_target_and_may_be_outside_of_the_set,
    a_diff_and_a_rehearsal_know_the_values_that_are_there,
];

const MUTATION: &str = "config.kubernetes.io/apply-time-mutation";

fn taking(object: Value, entries: &[Value]) -> Value {
    annotated(object, MUTATION, &json!(entries).to_string())
}

/// One entry of the annotation; `source` is `Kind/name`.
fn entry(source: &str, namespace: &str, from: &str, to: &str, token: &str) -> Value {
    let (kind, name) = source.split_once('/').expect("Kind/name");
    let mut entry =
        json!({ "sourceRef": { "kind": kind, "name": name }, "sourcePath": from, "targetPath": to });
    if !namespace.is_empty() {
        entry["sourceRef"]["namespace"] = namespace.into();
    }
    if !token.is_empty() {
        entry["token"] = token.into();
    }
    entry
}

fn service(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": { "name": name, "labels": { "tier": "back" } },
        "spec": { "ports": [
            { "name": "main", "port": 5432, "targetPort": 15432, "protocol": "TCP" },
            { "name": "metrics", "port": 9187, "targetPort": 19187, "protocol": "TCP" },
        ] },
    })
}

/// Every form of path, with and without a token, of every type.
fn set(namespace: &str) -> Vec<Value> {
    let of_service = |from, to, token| entry("Service/db", namespace, from, to, token);
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "taker" },
        "data": {
            "url": "db:${port}?again=${port}", "metrics": "port ${m}", "type": "x", "untouched": "as it is",
            "last": "${name}", "labels": "${labels}", "port.of.it": "${p}",
        },
    });
    let map = taking(
        map,
        &[
            of_service("$.spec.ports[0].port", "$.data.url", "${port}"),
            of_service("$.spec.ports[?(@.name=='metrics')].port", "$.data['metrics']", "${m}"),
            of_service("$.spec.type", "$.data.type", ""),
            of_service("$.spec.ports[0].protocol", "$.data.untouched", "${absent}"),
            of_service("$.spec.ports[-1].name", "$.data.last", "${name}"),
            of_service("$.metadata.labels", "$.data.labels", "${labels}"),
            of_service("$['spec']['ports'][1]..targetPort", "$.data['port.of.it']", "${p}"),
        ],
    );
    let mut proxy = service("proxy");
    proxy["spec"]["ports"][0]["port"] = json!(1);
    let proxy = taking(
        proxy,
        &[
            of_service("$.spec.ports[0].port", "$.spec.ports[0].port", ""),
            of_service("$.spec.ports", "$.spec.ports", ""),
        ],
    );
    vec![map, proxy, service("db")]
}

fn made_by(tool: Tool) -> [Value; 2] {
    let package = Package::new("values", &[]);
    package.write(&set(package.world.name()));
    package.run(tool, &["apply"]).exits_with(0);
    let data = package.world.get("v1", "configmaps", "taker")["data"].clone();
    let ports = package.world.get("v1", "services", "proxy")["spec"]["ports"].clone();
    package.run(tool, &["destroy"]).exits_with(0);
    assert!(package.world.get("v1", "services", "db").is_null());
    [data, ports]
}

fn kapply_and_we_make_the_same_objects_of_the_same_manifests() {
    let [theirs, ours] = BOTH.map(made_by);
    assert_eq!(theirs, ours);
    assert_eq!(ours[0]["url"], "db:5432?again=5432");
    assert_eq!(ours[0]["labels"], r#"{"tier":"back"}"#);
    assert_eq!(ours[1][0]["port"], 5432);
}

fn integers_keep_all_their_digits() {
    let world = World::new("digits");
    let big = 9_007_199_254_740_993_i64;
    let widget = |name: &str, number: i64| {
        json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": name },
            "spec": { "suspend": true, "activeDeadlineSeconds": number, "template": { "spec": {
                "restartPolicy": "Never", "containers": [{ "name": "c", "image": "registry.example/c:1" }] } } } })
    };
    let taker = taking(
        widget("taker", 1),
        &[json!({
            "sourceRef": { "apiVersion": "batch/v1", "kind": "Job", "name": "giver" },
            "sourcePath": "$.spec.activeDeadlineSeconds", "targetPath": "$.spec.activeDeadlineSeconds",
        })],
    );
    world.settle(&["apply"]).input(stream(&[taker, widget("giver", big)])).json().all_settled();
    let live = world.get("batch/v1", "jobs", "taker");
    assert_eq!(live["spec"]["activeDeadlineSeconds"], big);
}

fn a_source_is_looked_for_beside_its_target_and_may_be_outside_of_the_set() {
    let world = World::new("beside");
    let set = |from: &str| {
        stream(&[taking(config_map("a"), &[entry("ConfigMap/theirs", "", from, "$.data.key", "")])])
    };
    let mut theirs = config_map("theirs");
    theirs["metadata"]["namespace"] = world.name().into();
    theirs["data"]["key"] = "of theirs".into();
    shared().apply(&stream(&[theirs]));
    world.settle(&["apply"]).input(set("$.data.key")).json().all_settled();
    assert_eq!(world.get("v1", "configmaps", "a")["data"]["key"], "of theirs");

    let failed = world.settle(&["apply"]).input(set("$.data.other")).json();
    failed.exits_with(1);
    let (code, error) = failed.failure("ConfigMap/a");
    assert_eq!(code, "Invalid");
    assert!(error.contains("configmap/theirs in ") && error.contains("has no field $.data.other"), "{error}");
    assert_eq!(world.get("v1", "configmaps", "a")["data"]["key"], "of theirs", "it stays as it was");
    assert!(!get(shared(), &named("v1", world.name(), "configmaps", "theirs")).is_null());
}

fn a_diff_and_a_rehearsal_know_the_values_that_are_there() {
    let world = World::new("known");
    let set = |value: &str| {
        let mut source = config_map("source");
        source["data"]["key"] = value.into();
        let taker = taking(config_map("a"), &[entry("ConfigMap/source", "", "$.data.key", "$.data.key", "")]);
        stream(&[taker, source])
    };
    let first = world.settle(&["apply", "--dry-run=server"]).input(set("one")).run();
    first.exits_with(0);
    let said = format!("{}{}", first.stdout, first.stderr);
    assert!(said.contains("not known until that exists"), "{said}");
    world.settle(&["apply"]).input(set("one")).json().all_settled();
    let same = world.settle(&["diff"]).input(set("one")).run();
    assert_eq!(same.stdout, "");
    same.exits_with(0);
    let other = world.settle(&["diff"]).input(set("two")).run();
    other.exits_with(1);
    assert!(
        other.stdout.contains("+  key: two") && other.stderr.contains("may still change"),
        "{}",
        other.stderr
    );
}
