//! One hub for many: shared streams, late subscribers, slow ones, and the end.

use std::time::Duration;

use kubesettle::watch::Hub;
use sandbox::Sandbox;
use serde_json::json;

use crate::view::{cluster, config_map, config_map_object, count, id, watch};

#[tokio::test(start_paused = true)]
async fn two_subscribers_share_one_stream_and_the_later_gets_state_first() {
    let sandbox = Sandbox::builder().build();
    let ids = [config_map("default", "a"), config_map("default", "b")];
    sandbox.create(config_map_object("default", "a"));
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut first = watch(&hub, &ids).await;
    first.synced().await;
    let mut second = watch(&hub, &ids).await;
    second.synced().await;
    assert!(second.is_present(&ids[0]) && second.is_absent(&ids[1]));
    sandbox.create(config_map_object("default", "b"));
    for view in [&mut first, &mut second] {
        view.until("both see it", |view| view.is_present(&ids[1])).await;
    }
    assert_eq!(count(&sandbox, "watch", "configmaps"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_slow_subscriber_misses_states_in_between_and_never_the_last_one() {
    let sandbox = Sandbox::builder().build();
    let ids = [config_map("default", "a"), config_map("default", "b")];
    for name in ["a", "b"] {
        sandbox.create(config_map_object("default", name));
    }
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut slow = watch(&hub, &ids).await;
    slow.synced().await;
    let before = slow.updates;
    for turn in 0..500 {
        sandbox.edit("configmaps", "default", "a", |object| object["data"] = json!({"t": turn.to_string()}));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let newest = sandbox.get("configmaps", "default", "a").unwrap();
    let newest: u64 = newest["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
    slow.until("the last state", |view| view.version(&ids[0]) == Some(newest)).await;
    assert!(slow.updates - before <= 3, "{} updates for 500 changes", slow.updates - before);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_subscription_closes_its_streams_after_a_while_and_dropping_all_at_once() {
    let sandbox = Sandbox::builder().build();
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &[config_map("default", "a")]).await;
    view.synced().await;
    assert_eq!(sandbox.open_watches(""), 1);
    drop(view);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(sandbox.open_watches(""), 1, "a stream lingers for the next user");
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(sandbox.open_watches(""), 0);
    let mut view = watch(&hub, &[config_map("default", "a")]).await;
    view.synced().await;
    drop((view, hub));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(sandbox.open_watches(""), 0);
}

#[tokio::test(start_paused = true)]
async fn children_are_linked_by_owner_and_watched_only_while_somebody_asks() {
    let sandbox = Sandbox::builder().nodes(1, 64_000).build();
    sandbox.create(json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}},
    }));
    sandbox.create(json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "foreign", "namespace": "default", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]}}));
    let web = id("apps", "Deployment", "default", "web");
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, std::slice::from_ref(&web)).await;
    view.synced().await;
    view.pass(Duration::from_secs(5)).await;
    assert_eq!(sandbox.open_watches("pods"), 0, "nobody asked");
    view.subscription().children(web.clone(), true).await.unwrap();
    let names = |view: &crate::view::View| -> Vec<String> {
        let children = view.states.get(&web).and_then(|state| state.children.clone()).unwrap_or_default();
        children.iter().map(|child| format!("{}/{}", child.kind().kind(), child.name())).collect()
    };
    view.until("a ReplicaSet and two pods", |view| names(view).len() == 3).await;
    assert!(!names(&view).iter().any(|name| name.contains("foreign")), "{:?}", names(&view));
    view.subscription().children(web.clone(), false).await.unwrap();
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(sandbox.open_watches("pods"), 0);
}
