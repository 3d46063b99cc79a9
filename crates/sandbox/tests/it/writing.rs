//! Apply, update, delete.

use sandbox::{Fault, Sandbox, When};
use serde_json::{Value, json};

use crate::client::{Client, config_map, deployment};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

fn client() -> (Sandbox, Client) {
    let sandbox = Sandbox::builder().no_controllers().build();
    let client = Client::new(&sandbox);
    (sandbox, client)
}

#[tokio::test(start_paused = true)]
async fn applying_the_same_again_changes_nothing() {
    let (_, client) = client();
    let objects: [(&str, Value); 2] =
        [(MAPS, config_map("a", json!({ "k": "v" }))), (DEPLOYMENTS, deployment("a", 2))];
    for (path, object) in objects {
        let path = format!("{path}/a");
        let first = client.apply(&path, &object).await.expect(201);
        tokio::time::advance(std::time::Duration::from_secs(5)).await;
        let again = client.apply(&path, &object).await.expect(200);
        assert_eq!(first.json, again.json);
        let other = client.apply(&format!("{path}?fieldManager=t2"), &object).await.expect(200);
        assert_ne!(other.version(), again.version(), "one more manager");
        assert_eq!(other.json["metadata"]["generation"], again.json["metadata"]["generation"]);
    }
}

#[tokio::test(start_paused = true)]
async fn fields_that_are_no_longer_applied_go_unless_somebody_else_owns_them() {
    let (_, client) = client();
    let path = format!("{MAPS}/a");
    client.apply(&path, &config_map("a", json!({ "mine": "1", "shared": "2" }))).await.expect(201);
    client
        .apply(&format!("{path}?fieldManager=t2"), &config_map("a", json!({ "shared": "2" })))
        .await
        .expect(200);
    let left = client.apply(&path, &config_map("a", json!({ "new": "3" }))).await.expect(200);
    assert_eq!(left.json["data"], json!({ "new": "3", "shared": "2" }));
    let none =
        client.apply(&format!("{path}?fieldManager=t2"), &config_map("a", json!({}))).await.expect(200);
    assert_eq!(none.json["data"], json!({ "new": "3" }));
}

#[tokio::test(start_paused = true)]
async fn items_of_keyed_lists_are_owned_one_by_one() {
    let (_, client) = client();
    let path = format!("{DEPLOYMENTS}/a");
    client.apply(&path, &deployment("a", 1)).await.expect(201);
    let mut sidecar = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "a" },
        "spec": { "template": { "spec": { "containers": [{ "name": "side", "image": "side:1", "env": [{ "name": "A", "value": "1" }] }] } } },
    });
    let both = client.apply(&format!("{path}?fieldManager=t2"), &sidecar).await.expect(200);
    let names = |value: &Value| -> Vec<String> {
        let containers = value["spec"]["template"]["spec"]["containers"].as_array().unwrap();
        containers.iter().map(|container| container["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&both.json), ["c", "side"]);
    let again = client.apply(&path, &deployment("a", 1)).await.expect(200);
    assert_eq!(names(&again.json), ["c", "side"], "an item of somebody else stays");
    sidecar["spec"] = json!({});
    let without = client.apply(&format!("{path}?fieldManager=t2"), &sidecar).await.expect(200);
    assert_eq!(names(&without.json), ["c"]);
}

#[tokio::test(start_paused = true)]
async fn conflicts_name_managers_and_fields() {
    let (_, client) = client();
    let path = format!("{MAPS}/a");
    client.apply(&path, &config_map("a", json!({ "k": "1", "l": "1" }))).await.expect(201);
    let other = format!("{path}?fieldManager=t2");
    let one = client.apply(&other, &config_map("a", json!({ "k": "2" }))).await.expect(409);
    assert_eq!(one.message(), "Apply failed with 1 conflict: conflict with \"t1\": .data.k");
    let two = client.apply(&other, &config_map("a", json!({ "k": "2", "l": "2" }))).await.expect(409);
    assert_eq!(two.message(), "Apply failed with 2 conflicts: conflicts with \"t1\":\n- .data.k\n- .data.l");
    assert_eq!(
        two.json["details"],
        json!({ "causes": [
            { "reason": "FieldManagerConflict", "message": "conflict with \"t1\"", "field": ".data.k" },
            { "reason": "FieldManagerConflict", "message": "conflict with \"t1\"", "field": ".data.l" },
        ] })
    );
    client.apply(&format!("{other}&force=true"), &config_map("a", json!({ "k": "2" }))).await.expect(200);
    let back = client.apply(&path, &config_map("a", json!({ "k": "1", "l": "1" }))).await.expect(409);
    assert_eq!(back.message(), "Apply failed with 1 conflict: conflict with \"t2\": .data.k");
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_stores_nothing() {
    let (sandbox, client) = client();
    let path = format!("{DEPLOYMENTS}/a");
    client.apply(&format!("{path}?dryRun=All"), &deployment("a", 1)).await.expect(201);
    assert!(sandbox.get("deployments.apps", "default", "a").is_none());
    let first = client.apply(&path, &deployment("a", 1)).await.expect(201);
    let dry = client.apply(&format!("{path}?dryRun=All"), &deployment("a", 3)).await.expect(200);
    assert_eq!(dry.version(), first.version());
    assert_eq!(dry.json["metadata"]["generation"], 2);
    assert_eq!(sandbox.get("deployments.apps", "default", "a").unwrap()["spec"]["replicas"], 1);
    assert!(sandbox.requests()[0].dry_run);
}

#[tokio::test(start_paused = true)]
async fn status_is_written_apart_and_counts_no_generation() {
    let (_, client) = client();
    let path = format!("{DEPLOYMENTS}/a");
    client.apply(&path, &deployment("a", 1)).await.expect(201);
    let status = client
        .merge(&format!("{path}/status"), &json!({ "status": { "replicas": 1 }, "spec": { "replicas": 9 } }))
        .await
        .expect(200);
    assert_eq!(status.json["status"]["replicas"], 1);
    assert_eq!(status.json["spec"]["replicas"], 1);
    assert_eq!(status.json["metadata"]["generation"], 1);
    let mut with_status = deployment("a", 1);
    with_status["status"] = json!({ "replicas": 7 });
    let ignored = client.apply(&path, &with_status).await.expect(200);
    assert_eq!(ignored.version(), status.version());
    let scaled = client.apply(&path, &deployment("a", 2)).await.expect(200);
    assert_eq!(scaled.json["metadata"]["generation"], 2);
}

#[tokio::test(start_paused = true)]
async fn finalizers_hold_what_is_deleted() {
    let (sandbox, client) = client();
    let path = format!("{MAPS}/a");
    let mut held = config_map("a", json!({}));
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    let uid = client.apply(&path, &held).await.expect(201).json["metadata"]["uid"].clone();
    let wrong = client.delete(&path, &json!({ "preconditions": { "uid": "x" } })).await.expect(409);
    assert!(
        wrong.message().contains("the UID in the precondition (x) does not match the UID in record ("),
        "{}",
        wrong.message()
    );
    let marked = client.delete(&path, &json!({ "preconditions": { "uid": uid } })).await.expect(200);
    assert!(marked.json["metadata"]["deletionTimestamp"].is_string());
    let last = client.apply(&path, &config_map("a", json!({}))).await.expect(200);
    assert_eq!(last.json["metadata"]["uid"], uid);
    assert!(sandbox.get("configmaps", "default", "a").is_none());
    client.delete(&path, &json!(null)).await.expect(404);
}

#[tokio::test(start_paused = true)]
async fn the_client_can_be_killed_at_any_request() {
    let (sandbox, client) = client();
    let apply = async |name: &str| {
        let body = config_map(name, json!({})).to_string();
        client
            .raw(
                http::Method::PATCH,
                &format!("{MAPS}/{name}?fieldManager=t"),
                "application/apply-patch+yaml",
                body.into(),
            )
            .await
    };
    let mut watch = client.watch(&format!("{MAPS}?watch=1")).await;
    sandbox.kill_after(2);
    assert!(apply("a").await.is_ok());
    assert!(apply("b").await.is_err(), "carried out, but nobody hears of it");
    assert!(apply("c").await.is_err());
    assert!(sandbox.is_killed());
    assert_eq!(watch.next().await, crate::client::Next::Broken);
    sandbox.revive();
    assert!(sandbox.get("configmaps", "default", "b").is_some());
    assert!(sandbox.get("configmaps", "default", "c").is_none());
    sandbox.kill_before(sandbox.request_count());
    assert!(apply("d").await.is_err());
    assert!(sandbox.get("configmaps", "default", "d").is_none());
}

#[tokio::test(start_paused = true)]
async fn faults_meet_the_requests_they_are_meant_for() {
    let (sandbox, client) = client();
    let fault =
        sandbox.inject(When::verb("patch").resource("configmaps").name("a").first(1), Fault::throttle(3));
    client.apply(&format!("{MAPS}/b"), &config_map("b", json!({}))).await.expect(201);
    let throttled = client.apply(&format!("{MAPS}/a"), &config_map("a", json!({}))).await.expect(429);
    assert_eq!(throttled.headers["retry-after"], "3");
    client.apply(&format!("{MAPS}/a"), &config_map("a", json!({}))).await.expect(201);
    assert_eq!(sandbox.hits(fault), 1);
    sandbox.heal_all();
    sandbox.inject(When::any().chance(0.5), Fault::status(503, "ServiceUnavailable", "no"));
    let mut refused = 0;
    for _ in 0..200 {
        refused += u32::from(client.get(MAPS).await.code == 503);
    }
    assert!((70..130).contains(&refused), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn an_update_needs_the_newest_version_and_owns_what_it_changed() {
    let (_, client) = client();
    let path = format!("{MAPS}/a");
    let created = client.post(MAPS, &config_map("a", json!({ "k": "1", "l": "1" }))).await.expect(201);
    assert_eq!(created.json["metadata"]["managedFields"][0]["operation"], "Update");
    client.post(MAPS, &config_map("a", json!({}))).await.expect(409);
    let mut next = created.json.clone();
    next["data"]["k"] = json!("2");
    let updated = client.put(&format!("{path}?fieldManager=other"), &next).await.expect(200);
    let stale = client.put(&path, &next).await.expect(409);
    assert_eq!(
        stale.message(),
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again"
    );
    assert_eq!(stale.json["details"], json!({ "name": "a", "kind": "configmaps" }));
    let conflict = client.apply(&path, &config_map("a", json!({ "k": "3" }))).await.expect(409);
    assert_eq!(conflict.message(), "Apply failed with 1 conflict: conflict with \"other\" using v1: .data.k");
    let same = client.put(&path, &updated.json).await.expect(200);
    assert_eq!(same.version(), updated.version());
}
