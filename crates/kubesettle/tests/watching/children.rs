//! What targets generated is watched when it explains something, and without a request for each event.

use std::time::Duration;

use kstatus::{CauseCode, Status};
use kubesettle::id::ObjectId;
use kubesettle::status::{Judgement, Signal, Watcher};
use kubesettle::watch::{Hub, ScopeStrategy, SubscribeOptions};
use sandbox::{Fault, Sandbox, User, When};
use serde_json::{Value, json};

use crate::view::{cluster, cluster_as, count, id, targets_of};

fn web(name: &str) -> ObjectId {
    id("apps", "Deployment", "default", name)
}

fn deployment(name: &str, replicas: u32, cpu: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "default"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}}},
    })
}

async fn watcher(hub: &Hub, targets: &[ObjectId], scope: ScopeStrategy) -> Watcher {
    let judgement = Judgement { at_once: true, ..Judgement::default() };
    Watcher::start(hub, targets_of(targets), SubscribeOptions::in_scope(scope), judgement).await.unwrap()
}

/// Takes signals for so long; the gaps among them.
async fn pass(watcher: &mut Watcher, time: Duration) -> Vec<String> {
    let mut gaps = Vec::new();
    let _ = tokio::time::timeout(time, async {
        loop {
            if let Signal::Gap(gap) = watcher.next().await.unwrap() {
                gaps.push(gap.reason.to_string());
            }
        }
    })
    .await;
    gaps
}

fn of_children(sandbox: &Sandbox) -> usize {
    ["watch", "list", "get"]
        .iter()
        .flat_map(|verb| ["pods", "replicasets.apps"].map(|resource| count(sandbox, verb, resource)))
        .sum()
}

fn codes(watcher: &Watcher) -> Vec<CauseCode> {
    watcher.verdict(0).unwrap().causes.iter().map(|cause| cause.code).collect()
}

#[tokio::test(start_paused = true)]
async fn what_has_settled_or_settles_quickly_opens_no_watch_of_what_it_generated() {
    let sandbox = Sandbox::builder().nodes(2, 64_000).build();
    sandbox.create(deployment("web", 3, "1"));
    tokio::time::sleep(Duration::from_secs(30)).await;
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut watcher = watcher(&hub, &[web("web"), web("next")], ScopeStrategy::Automatic).await;
    pass(&mut watcher, Duration::from_secs(30)).await;
    assert_eq!(watcher.verdict(0).unwrap().status, Status::Current);
    sandbox.create(deployment("next", 3, "1"));
    pass(&mut watcher, Duration::from_secs(30)).await;
    assert_eq!(watcher.verdict(1).unwrap().status, Status::Current);
    assert_eq!(of_children(&sandbox), 0);
}

#[tokio::test(start_paused = true)]
async fn what_stands_still_unsettled_for_a_second_is_explained_and_then_let_go() {
    let sandbox = Sandbox::builder().nodes(1, 1_000).build();
    sandbox.create(deployment("web", 2, "64"));
    tokio::time::sleep(Duration::from_secs(30)).await;
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut watcher = watcher(&hub, &[web("web")], ScopeStrategy::Automatic).await;
    pass(&mut watcher, Duration::from_millis(900)).await;
    assert_eq!(of_children(&sandbox), 0, "it may move yet");
    pass(&mut watcher, Duration::from_secs(20)).await;
    assert_eq!(codes(&watcher), [CauseCode::Unschedulable]);
    assert_eq!((sandbox.open_watches("pods"), sandbox.open_watches("replicasets.apps")), (1, 1));
    let asked = of_children(&sandbox);
    assert_eq!(asked, 2, "one look at each kind");
    for turn in 0..50 {
        for pod in sandbox.list("pods", "default") {
            sandbox.edit("pods", "default", pod["metadata"]["name"].as_str().unwrap(), |pod| {
                pod["metadata"]["annotations"] = json!({"turn": turn.to_string()});
            });
        }
        pass(&mut watcher, Duration::from_millis(100)).await;
    }
    assert_eq!(of_children(&sandbox), asked, "and no request for any event");
    sandbox.edit("deployments.apps", "default", "web", |web| web["spec"]["replicas"] = json!(0));
    pass(&mut watcher, Duration::from_secs(15)).await;
    assert_eq!(watcher.verdict(0).unwrap().status, Status::Current);
    assert_eq!((sandbox.open_watches("pods"), sandbox.open_watches("replicasets.apps")), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn the_right_to_see_what_was_generated_may_come_later() {
    let sandbox = Sandbox::builder().nodes(1, 1_000).build();
    sandbox.create(deployment("web", 1, "64"));
    tokio::time::sleep(Duration::from_secs(30)).await;
    let see = |resources: &[&str]| {
        resources
            .iter()
            .fold(User::limited("u"), |user, resource| user.allow("get,list,watch", resource, "default", ""))
    };
    let cluster = cluster_as(&sandbox, see(&["deployments.apps"])).await;
    let hub = Hub::new(&cluster);
    let mut watcher = watcher(&hub, &[web("web")], ScopeStrategy::Automatic).await;
    let gaps = pass(&mut watcher, Duration::from_secs(300)).await;
    assert!(codes(&watcher).is_empty() && watcher.explained(0));
    let refused = of_children(&sandbox);
    assert!((2..=2 + 2 * 5).contains(&refused), "tried again once a minute: {refused}");
    assert_eq!(gaps.len(), 2, "each kind once: {gaps:?}");
    sandbox.set_user("token", see(&["deployments.apps", "replicasets.apps", "pods"]));
    pass(&mut watcher, Duration::from_secs(65)).await;
    assert_eq!(codes(&watcher), [CauseCode::Unschedulable]);
}

#[tokio::test(start_paused = true)]
async fn what_was_generated_is_seen_in_its_namespace_where_all_namespaces_may_not_be_watched() {
    let sandbox = Sandbox::builder().nodes(1, 1_000).build();
    sandbox.create(deployment("web", 1, "64"));
    tokio::time::sleep(Duration::from_secs(30)).await;
    let user = ["deployments.apps", "replicasets.apps", "pods"]
        .iter()
        .fold(User::limited("u"), |user, resource| user.allow("get,list,watch", resource, "default", ""));
    let hub = Hub::new(&cluster_as(&sandbox, user).await);
    let mut watcher = watcher(&hub, &[web("web")], ScopeStrategy::Cluster).await;
    pass(&mut watcher, Duration::from_secs(30)).await;
    assert_eq!(codes(&watcher), [CauseCode::Unschedulable]);
}

/// One server of several is behind the others.
#[tokio::test(start_paused = true)]
async fn a_kind_that_was_generated_and_answered_as_not_served_is_asked_for_again() {
    let sandbox = Sandbox::builder().nodes(1, 1_000).build();
    sandbox.create(deployment("web", 1, "64"));
    tokio::time::sleep(Duration::from_secs(30)).await;
    for resource in ["pods", "replicasets.apps"] {
        let text = Fault::Answer { code: 404, media_type: "text/plain", body: "404 page not found\n".into() };
        sandbox.inject(When::verb("watch").resource(resource).first(2), text);
    }
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut watcher = watcher(&hub, &[web("web")], ScopeStrategy::Automatic).await;
    pass(&mut watcher, Duration::from_secs(30)).await;
    assert_eq!(codes(&watcher), [CauseCode::Unschedulable]);
    assert!((6..=8).contains(&of_children(&sandbox)), "{}", of_children(&sandbox));
}
