//! Lists and watches.

use std::time::Duration;

use sandbox::{Fault, Sandbox, WatchEnd, When};
use serde_json::json;
use tokio::time::Instant;

use crate::client::{Client, Lines, Next, config_map};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn with_maps(names: &[&str]) -> (Sandbox, Client) {
    let sandbox = Sandbox::builder().build();
    let client = Client::new(&sandbox);
    for name in names {
        client.apply(&format!("{MAPS}/{name}"), &config_map(name, json!({ "k": "v" }))).await.expect(201);
    }
    (sandbox, client)
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_tells_the_state_its_end_and_what_follows() {
    let (_, client) = with_maps(&["a", "b"]).await;
    let url = format!(
        "{MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion="
    );
    let mut lines = client.watch(&url).await;
    assert_eq!(lines.take(3).await, ["ADDED a", "ADDED b", "BOOKMARK end"]);
    client.apply(&format!("{MAPS}/a"), &config_map("a", json!({ "k": "w" }))).await.expect(200);
    client.delete(&format!("{MAPS}/b"), &json!(null)).await.expect(200);
    assert_eq!(lines.take(2).await, ["MODIFIED a", "DELETED b"]);
    assert_eq!(lines.next().await, Next::Silence);
}

#[tokio::test(start_paused = true)]
async fn a_watch_goes_on_from_a_version_and_ends_in_good_order() {
    let (_, client) = with_maps(&["a", "b"]).await;
    let first = client.get(&format!("{MAPS}/a")).await.version();
    let started = Instant::now();
    let mut lines = client
        .watch(&format!("{MAPS}?watch=1&resourceVersion={first}&timeoutSeconds=10&allowWatchBookmarks=true"))
        .await;
    assert_eq!(lines.take(1).await, ["ADDED b"]);
    let bookmark = lines.next_within(Duration::from_secs(60)).await;
    assert_eq!(Lines::short(&bookmark), "BOOKMARK");
    assert_eq!(started.elapsed().as_millis(), 8500);
    assert_eq!(lines.next_within(Duration::from_secs(60)).await, Next::End);
    assert_eq!(started.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_version_is_expired_and_one_to_come_is_met_with_silence() {
    let (sandbox, client) = with_maps(&["a", "b"]).await;
    sandbox.compact();
    let mut lines = client.watch(&format!("{MAPS}?watch=1&resourceVersion=1")).await;
    let Next::Event(event) = lines.next().await else { panic!() };
    assert_eq!(event["type"], "ERROR");
    assert_eq!(event["object"]["code"], 410);
    assert_eq!(event["object"]["message"], format!("too old resource version: 1 ({})", sandbox.version()));
    assert_eq!(lines.next().await, Next::End);
    let mut lines = client
        .watch(&format!("{MAPS}?watch=1&resourceVersion=99999&timeoutSeconds=100&allowWatchBookmarks=true"))
        .await;
    client.apply(&format!("{MAPS}/c"), &config_map("c", json!({}))).await.expect(201);
    assert_eq!(lines.next_within(Duration::from_secs(99)).await, Next::Silence);
    assert_eq!(lines.next_within(Duration::from_secs(2)).await, Next::End);
}

#[tokio::test(start_paused = true)]
async fn objects_enter_and_leave_a_selection_by_their_labels() {
    let (_, client) = with_maps(&["a"]).await;
    let mut lines = client.watch(&format!("{MAPS}?watch=1&labelSelector=app%3Dweb")).await;
    let labelled = |value: &str| json!({ "metadata": { "labels": { "app": value } } });
    for value in ["web", "web2", "web"] {
        client.merge(&format!("{MAPS}/a"), &labelled(value)).await.expect(200);
    }
    let last = client.merge(&format!("{MAPS}/a"), &json!({ "data": { "x": "y" } })).await.version();
    assert_eq!(lines.take(4).await, ["ADDED a", "DELETED a", "ADDED a", "MODIFIED a"]);
    client.delete(&format!("{MAPS}/a"), &json!(null)).await.expect(200);
    let Next::Event(event) = lines.next().await else { panic!() };
    assert_eq!(
        event["object"]["metadata"]["resourceVersion"],
        (last + 1).to_string(),
        "the version of the deletion"
    );
}

#[tokio::test(start_paused = true)]
async fn pages_show_the_state_at_the_first_page() {
    let (sandbox, client) = with_maps(&["a", "b", "c", "d", "e"]).await;
    let first = client.get(&format!("{MAPS}?limit=2")).await.expect(200);
    assert_eq!(first.json["metadata"]["remainingItemCount"], 3);
    client.delete(&format!("{MAPS}/c"), &json!(null)).await.expect(200);
    client.apply(&format!("{MAPS}/cc"), &config_map("cc", json!({}))).await.expect(201);
    client.apply(&format!("{MAPS}/e"), &config_map("e", json!({ "new": "1" }))).await.expect(200);
    let token = first.json["metadata"]["continue"].as_str().unwrap();
    let rest = client.get(&format!("{MAPS}?limit=100&continue={token}")).await.expect(200);
    let names: Vec<&str> = rest.json["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["c", "d", "e"]);
    assert_eq!(rest.json["items"][2]["data"]["k"], "v");
    assert_eq!(rest.version(), first.version());
    assert!(rest.json["metadata"]["continue"].is_null());
    sandbox.compact();
    let expired = client.get(&format!("{MAPS}?limit=2&continue={token}")).await.expect(410);
    let token = expired.json["metadata"]["continue"].as_str().unwrap();
    let rest = client.get(&format!("{MAPS}?limit=2&continue={token}")).await.expect(200);
    assert_eq!(rest.json["items"][0]["metadata"]["name"], "cc");
}

#[tokio::test(start_paused = true)]
async fn watches_end_in_every_ordered_way() {
    let (sandbox, client) = with_maps(&[]).await;
    let rows = [
        (WatchEnd::Clean, Next::End),
        (WatchEnd::Reset, Next::Broken),
        (WatchEnd::MidLine, Next::Broken),
        (WatchEnd::Silent, Next::Silence),
    ];
    for (how, expected) in rows {
        let mut lines = client.watch(&format!("{MAPS}?watch=1&timeoutSeconds=5")).await;
        assert_eq!(sandbox.open_watches("configmaps"), 1);
        assert_eq!(sandbox.end_watches("configmaps", how), 1);
        let next = lines.next_within(Duration::from_secs(60)).await;
        assert_eq!(next, expected, "{how:?}");
        drop(lines);
        assert_eq!(sandbox.open_watches(""), 0);
    }
    let mut lines = client.watch(&format!("{MAPS}?watch=1")).await;
    sandbox.end_watches("", WatchEnd::Expired);
    assert_eq!(Lines::short(&lines.next().await), "ERROR");
    assert_eq!(lines.next().await, Next::End);
    sandbox.inject(When::verb("watch").first(1), Fault::EndWatch(Duration::from_secs(2), WatchEnd::Reset));
    let mut lines = client.watch(&format!("{MAPS}?watch=1")).await;
    assert_eq!(lines.next().await, Next::Silence);
    assert_eq!(lines.next_within(Duration::from_secs(5)).await, Next::Broken);
}

#[tokio::test(start_paused = true)]
async fn a_hundred_thousand_objects_are_listed_and_watched() {
    let (sandbox, client) = with_maps(&[]).await;
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "labels": { "app": "x" } }, "spec": { "containers": [] } });
    sandbox.fill(pod, "default", "foreign", 100_000);
    let page = client.get("/api/v1/pods?limit=500").await.expect(200);
    assert_eq!(page.json["items"].as_array().unwrap().len(), 500);
    assert_eq!(page.json["metadata"]["remainingItemCount"], 99_500);
    let one = client.get("/api/v1/namespaces/default/pods/foreign-99999").await.expect(200);
    assert_eq!(one.json["metadata"]["labels"]["app"], "x");
    assert_eq!(one.json["metadata"]["name"], "foreign-99999");
}

#[tokio::test(start_paused = true)]
async fn a_compaction_does_not_disturb_an_open_watch_but_a_reader_that_is_too_slow_is_told() {
    let sandbox = Sandbox::builder().history(3).build();
    let client = Client::new(&sandbox);
    let write =
        async |value: &str| client.apply(&format!("{MAPS}/a"), &config_map("a", json!({ "k": value }))).await;
    let mut lines = client.watch(&format!("{MAPS}?watch=1")).await;
    write("0").await;
    sandbox.compact();
    write("1").await;
    assert_eq!(lines.take(2).await, ["ADDED a", "MODIFIED a"]);
    for value in ["2", "3", "4", "5"] {
        write(value).await;
    }
    assert_eq!(Lines::short(&lines.next().await), "ERROR");
    assert_eq!(lines.next().await, Next::End);
}
