//! Events explain what is stuck, and are asked for by nobody else.

use std::time::{Duration, UNIX_EPOCH};

use kstatus::{CauseCode, Status, Uid};
use kubesettle::cluster::Cluster;
use kubesettle::id::ObjectId;
use kubesettle::status::{Floor, Judgement, Signal, Watcher};
use kubesettle::watch::{Hub, SubscribeOptions};
use sandbox::{Sandbox, User};
use serde_json::{Value, json};

use crate::view::{cluster, cluster_as, count, id, targets_of};

fn claim() -> ObjectId {
    id("", "PersistentVolumeClaim", "default", "data")
}

fn claim_object(class: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default"},
        "spec": {"storageClassName": class, "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}}})
}

async fn watcher(cluster: &Cluster, targets: &[ObjectId]) -> Watcher {
    let hub = Hub::new(cluster);
    let judgement = Judgement { at_once: true, ..Judgement::default() };
    Watcher::start(&hub, targets_of(targets), SubscribeOptions::default(), judgement).await.unwrap()
}

/// Takes signals for so long; the gaps among them.
async fn pass(watcher: &mut Watcher, time: Duration) -> usize {
    let mut gaps = 0;
    let _ = tokio::time::timeout(time, async {
        loop {
            gaps += usize::from(matches!(watcher.next().await.unwrap(), Signal::Gap(_)));
        }
    })
    .await;
    gaps
}

fn codes(watcher: &Watcher) -> Vec<CauseCode> {
    watcher.verdict(0).unwrap().causes.iter().map(|cause| cause.code).collect()
}

/// An event about an object, last seen now on the sandbox's clock, or at a time.
fn event(sandbox: &Sandbox, name: &str, about: &Value, reason: &str, message: &str, seen: &str) {
    let meta = &about["metadata"];
    sandbox.create(json!({"apiVersion": "v1", "kind": "Event", "type": "Warning",
        "metadata": {"name": name, "namespace": "default"}, "reason": reason, "message": message,
        "lastTimestamp": seen,
        "involvedObject": {"kind": about["kind"], "name": meta["name"], "uid": meta["uid"]}}));
}

#[tokio::test(start_paused = true)]
async fn f06_what_only_an_event_tells_is_told() {
    let sandbox = Sandbox::builder().build();
    sandbox.create(claim_object("none-such"));
    let mut watcher = watcher(&cluster(&sandbox).await, &[claim()]).await;
    pass(&mut watcher, Duration::from_secs(3)).await;
    assert_eq!(count(&sandbox, "watch", "events"), 0, "it may only be slow");
    assert!(codes(&watcher).is_empty());
    pass(&mut watcher, Duration::from_secs(3)).await;
    assert_eq!(codes(&watcher), [CauseCode::ProvisioningFailed]);
    assert!(watcher.verdict(0).unwrap().message.contains("none-such"));
    pass(&mut watcher, Duration::from_secs(60)).await;
    assert_eq!((count(&sandbox, "watch", "events"), count(&sandbox, "list", "events")), (1, 0));
    assert_eq!(sandbox.watched_namespaces("events"), ["default"]);
}

#[tokio::test(start_paused = true)]
async fn f17_a_claim_that_binds_late_is_told_by_its_event() {
    let sandbox = Sandbox::builder().build();
    sandbox.create(json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
        "metadata": {"name": "late"}, "provisioner": "p", "volumeBindingMode": "WaitForFirstConsumer"}));
    sandbox.create(claim_object("late"));
    let mut watcher = watcher(&cluster(&sandbox).await, &[claim()]).await;
    pass(&mut watcher, Duration::from_secs(6)).await;
    let verdict = watcher.verdict(0).unwrap();
    assert_eq!((verdict.status, verdict.reason.as_str()), (Status::Current, "WaitForFirstConsumer"));
}

#[tokio::test(start_paused = true)]
async fn a_rollout_that_goes_well_asks_for_no_event() {
    let sandbox = Sandbox::builder().nodes(2, 64_000).build();
    let cluster = cluster(&sandbox).await;
    let web = id("apps", "Deployment", "default", "web");
    let mut watcher = watcher(&cluster, std::slice::from_ref(&web)).await;
    sandbox.create(json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}},
    }));
    pass(&mut watcher, Duration::from_secs(60)).await;
    assert_eq!(watcher.verdict(0).unwrap().status, Status::Current);
    assert_eq!(count(&sandbox, "watch", "events") + count(&sandbox, "list", "events"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_server_whose_clock_is_years_behind_is_understood_by_its_own_time() {
    let sandbox =
        Sandbox::builder().no_controllers().epoch(UNIX_EPOCH + Duration::from_secs(1_000_000_000)).build();
    sandbox.create(claim_object("c"));
    let live = sandbox.get("persistentvolumeclaims", "default", "data").unwrap();
    let mut watcher = watcher(&cluster(&sandbox).await, &[claim()]).await;
    let meta = &live["metadata"];
    let version = meta["resourceVersion"].as_str().unwrap().parse().ok();
    let floor =
        Floor { uid: Uid::parse(meta["uid"].as_str().unwrap()), version, generation: None, before: None };
    watcher.floor(0, floor).await.unwrap();
    event(&sandbox, "old", &live, "ProvisioningFailed", "before", "2001-09-08T00:00:00Z");
    pass(&mut watcher, Duration::from_secs(6)).await;
    assert!(codes(&watcher).is_empty(), "it is from the day before our write");
    event(&sandbox, "new", &live, "ProvisioningFailed", "after", "2001-09-09T01:46:45Z");
    pass(&mut watcher, Duration::from_secs(6)).await;
    assert_eq!(codes(&watcher), [CauseCode::ProvisioningFailed]);
}

#[tokio::test(start_paused = true)]
async fn whoever_may_not_see_events_is_judged_without_them_and_without_a_word() {
    let sandbox = Sandbox::builder().build();
    sandbox.create(claim_object("none-such"));
    let user = User::limited("u").allow("get,list,watch", "persistentvolumeclaims", "default", "");
    let mut watcher = watcher(&cluster_as(&sandbox, user).await, &[claim()]).await;
    let gaps = pass(&mut watcher, Duration::from_secs(600)).await;
    assert_eq!(watcher.verdict(0).unwrap().status, Status::InProgress);
    assert!(codes(&watcher).is_empty() && watcher.explained(0));
    assert_eq!((gaps, count(&sandbox, "watch", "events")), (0, 1), "asked once");
}

#[tokio::test(start_paused = true)]
async fn the_events_are_let_go_when_nothing_is_stuck_any_more() {
    let sandbox = Sandbox::builder().build();
    sandbox.create(claim_object("none-such"));
    let mut watcher = watcher(&cluster(&sandbox).await, &[claim()]).await;
    pass(&mut watcher, Duration::from_secs(6)).await;
    assert_eq!(sandbox.open_watches("events"), 1);
    sandbox.edit("persistentvolumeclaims", "default", "data", |claim| {
        claim["status"] = json!({"phase": "Bound"});
    });
    pass(&mut watcher, Duration::from_secs(15)).await;
    assert_eq!(watcher.verdict(0).unwrap().status, Status::Current);
    assert_eq!(sandbox.open_watches("events"), 0);
}

#[tokio::test(start_paused = true)]
async fn an_event_from_before_our_own_write_explains_nothing() {
    let sandbox = Sandbox::builder().no_controllers().build();
    sandbox.create(claim_object("c"));
    let live = sandbox.get("persistentvolumeclaims", "default", "data").unwrap();
    event(&sandbox, "old", &live, "ProvisioningFailed", "before", "2001-01-01T00:00:00Z");
    let mut watcher = watcher(&cluster(&sandbox).await, &[claim()]).await;
    pass(&mut watcher, Duration::from_secs(6)).await;
    assert_eq!(codes(&watcher), [CauseCode::ProvisioningFailed], "nobody wrote: it counts");
    let meta = &live["metadata"];
    let version = meta["resourceVersion"].as_str().unwrap().parse().ok();
    let floor =
        Floor { uid: Uid::parse(meta["uid"].as_str().unwrap()), version, generation: None, before: None };
    watcher.floor(0, floor).await.unwrap();
    pass(&mut watcher, Duration::from_secs(6)).await;
    assert!(codes(&watcher).is_empty());
    event(&sandbox, "new", &live, "ProvisioningFailed", "after", "2999-01-01T00:00:00Z");
    pass(&mut watcher, Duration::from_secs(1)).await;
    assert_eq!(codes(&watcher), [CauseCode::ProvisioningFailed]);
    assert!(watcher.verdict(0).unwrap().message.contains("after"));
    sandbox.delete("events", "default", "new");
    pass(&mut watcher, Duration::from_secs(1)).await;
    assert!(codes(&watcher).is_empty(), "an event that has expired says nothing any more");
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_events_about_strangers_disturbs_nobody() {
    let sandbox = Sandbox::builder().build();
    sandbox.create(claim_object("none-such"));
    let mut watcher = watcher(&cluster(&sandbox).await, &[claim()]).await;
    pass(&mut watcher, Duration::from_secs(6)).await;
    let mut verdicts = 0;
    for n in 0..500 {
        let stranger = json!({"kind": "Pod", "metadata": {"name": "p", "uid": format!("stranger-{n}")}});
        event(&sandbox, &format!("e{n}"), &stranger, "BackOff", "again", "2999-01-01T00:00:00Z");
    }
    let _ = tokio::time::timeout(Duration::from_secs(5), async {
        loop {
            if let Signal::Verdicts(changed) = watcher.next().await.unwrap() {
                verdicts += changed.len();
            }
        }
    })
    .await;
    assert_eq!(verdicts, 0);
    assert_eq!(codes(&watcher), [CauseCode::ProvisioningFailed]);
}

#[tokio::test(start_paused = true)]
async fn an_explanation_that_adds_nothing_is_told_to_whoever_waits_for_it() {
    let sandbox = Sandbox::builder().build();
    sandbox.create(claim_object("none-such"));
    let user = User::limited("u").allow("get,list,watch", "persistentvolumeclaims", "default", "");
    let mut watcher = watcher(&cluster_as(&sandbox, user).await, &[claim()]).await;
    while !matches!(watcher.next().await.unwrap(), Signal::Synced) {}
    watcher.explain_all().await.unwrap();
    assert!(!watcher.explained(0));
    let soon = tokio::time::timeout(Duration::from_secs(30), async {
        while !matches!(watcher.next().await.unwrap(), Signal::Explained) {}
    });
    soon.await.unwrap();
    assert!(watcher.explained(0));
}
