//! Targets that come and go while a subscription lives.

use std::collections::HashMap;
use std::time::Duration;

use kubesettle::id::ObjectId;
use kubesettle::watch::{Hub, Presence};
use sandbox::Sandbox;
use serde_json::json;

use crate::view::{cluster, config_map, config_map_object, count, id, watch};

fn maps(names: std::ops::Range<usize>) -> Vec<ObjectId> {
    names.map(|n| config_map("default", &format!("c{n}"))).collect()
}

fn full(count: usize) -> Sandbox {
    let sandbox = Sandbox::builder().build();
    maps(0..count).iter().for_each(|id| drop(sandbox.create(config_map_object("default", id.name()))));
    sandbox
}

#[tokio::test(start_paused = true)]
async fn a_target_that_is_added_is_told_and_then_the_state_of_all_is_known_again() {
    let sandbox = full(3);
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &maps(0..2)).await;
    view.synced().await;
    let (missing, node) = (config_map("default", "none"), id("", "Node", "", "n"));
    view.add(&[maps(2..3)[0].clone(), missing.clone(), node.clone()]).await;
    view.synced().await;
    assert!(view.is_present(&maps(2..3)[0]) && view.is_absent(&missing) && view.is_absent(&node));
    assert_eq!(sandbox.open_watches("configmaps"), 1, "the open stream is widened");
    sandbox.create(config_map_object("default", "none"));
    view.until("it is watched from now on", |view| view.is_present(&missing)).await;
    let before = sandbox.request_count();
    view.add(&maps(0..3)).await;
    view.synced().await;
    assert_eq!(sandbox.request_count(), before, "what is observed already costs nothing");
}

#[tokio::test(start_paused = true)]
async fn single_names_added_one_by_one_need_few_streams() {
    let sandbox = full(60);
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &[]).await;
    for target in maps(0..60) {
        view.add(std::slice::from_ref(&target)).await;
        view.synced().await;
        assert!(view.is_present(&target));
    }
    assert!(sandbox.open_watches("configmaps") <= 17, "{}", sandbox.open_watches("configmaps"));
}

#[tokio::test(start_paused = true)]
async fn a_target_that_is_removed_is_told_no_more_and_its_stream_closes() {
    let sandbox = full(3);
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &maps(0..3)).await;
    view.synced().await;
    view.remove(&maps(0..1)).await;
    sandbox.edit("configmaps", "default", "c0", |object| object["data"] = json!({"a": "b"}));
    sandbox.edit("configmaps", "default", "c1", |object| object["data"] = json!({"a": "b"}));
    view.pass(Duration::from_secs(1)).await;
    assert!(!view.states.contains_key(&maps(0..1)[0]));
    assert_eq!(view.subscription().snapshot().await.unwrap().len(), 2);
    view.remove(&maps(1..3)).await;
    view.pass(Duration::from_secs(11)).await;
    assert_eq!(sandbox.open_watches("configmaps"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_target_removed_and_added_again_is_seen_as_it_is_by_then() {
    let sandbox = full(3);
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &maps(0..3)).await;
    view.synced().await;
    let first = maps(0..1);
    for pause in [0, 100, 20_000] {
        view.remove(&first).await;
        view.pass(Duration::from_millis(pause)).await;
        view.add(&first).await;
        view.synced().await;
        assert!(view.is_present(&first[0]), "after {pause} ms");
    }
    view.remove(&first).await;
    view.pass(Duration::from_secs(1)).await;
    sandbox.delete("configmaps", "default", "c0");
    view.add(&first).await;
    view.synced().await;
    assert!(view.is_absent(&first[0]));
}

#[tokio::test(start_paused = true)]
async fn what_one_subscriber_removes_another_keeps() {
    let sandbox = full(2);
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut one = watch(&hub, &maps(0..2)).await;
    let mut other = watch(&hub, &maps(0..2)).await;
    one.synced().await;
    other.synced().await;
    one.remove(&maps(0..2)).await;
    sandbox.delete("configmaps", "default", "c0");
    other.until("it goes", |view| view.is_absent(&maps(0..1)[0])).await;
    assert!(other.is_present(&maps(1..2)[0]));
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_equals_what_was_told_and_takes_nothing_from_it() {
    let sandbox = full(4);
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &maps(0..5)).await;
    view.synced().await;
    sandbox.edit("configmaps", "default", "c1", |object| object["data"] = json!({"a": "b"}));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let snapshot: HashMap<_, _> = view.subscription().snapshot().await.unwrap().into_iter().collect();
    let told = view.updates;
    view.pass(Duration::from_secs(1)).await;
    assert!(view.updates > told, "the change is still told");
    let version = |presence: &Presence| match presence {
        Presence::Present(digest) => Some(digest.resource_version().to_owned()),
        _ => None,
    };
    for id in maps(0..5) {
        assert_eq!(version(&snapshot[&id].presence), version(view.presence(&id)), "{id:?}");
    }
    assert_eq!(count(&sandbox, "get", "configmaps"), 0);
}
