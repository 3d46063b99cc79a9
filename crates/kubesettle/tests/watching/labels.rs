//! Targets that are looked for by their labels, so that the server leaves everything else out.

use std::time::Duration;

use kubesettle::id::ObjectId;
use kubesettle::watch::{Hub, SubscribeOptions};
use sandbox::{Sandbox, User, WatchEnd};
use serde_json::{Value, json};

use crate::view::{View, cluster, cluster_as, config_map, config_map_object, count, watch_with};

const SELECTOR: &str = "tier in (front,edge)";

fn labelled(name: &str, tier: &str) -> Value {
    let mut object = config_map_object("default", name);
    object["metadata"]["labels"] = json!({ "tier": tier });
    object
}

fn maps(names: &[&str]) -> Vec<ObjectId> {
    names.iter().map(|name| config_map("default", name)).collect()
}

/// Three with the label, and others.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::builder().build();
    for (name, tier) in [("a", "front"), ("b", "edge"), ("c", "front"), ("other", "back")] {
        sandbox.create(labelled(name, tier));
    }
    sandbox
}

async fn watched(hub: &Hub, targets: &[ObjectId]) -> View {
    let options = SubscribeOptions::default().with_labels(SELECTOR);
    let mut view = watch_with(hub, targets, options).await;
    view.synced().await;
    view
}

fn relabel(sandbox: &Sandbox, name: &str, tier: &str) {
    assert!(
        sandbox
            .edit("configmaps", "default", name, |object| object["metadata"]["labels"]["tier"] = json!(tier))
    );
}

#[tokio::test(start_paused = true)]
async fn what_has_other_labels_is_never_sent() {
    let sandbox = sandbox();
    let hub = Hub::new(&cluster(&sandbox).await);
    let targets = maps(&["a", "b", "c"]);
    let mut view = watched(&hub, &targets).await;
    assert!(targets.iter().all(|target| view.is_present(target)));
    assert_eq!(sandbox.open_watches("configmaps"), 1);
    let asked: Vec<_> = sandbox.requests().into_iter().filter(|request| request.verb == "watch").collect();
    let selects = |query: &str| query.contains("labelSelector=tier%20in%20%28front%2Cedge%29");
    assert!(asked.iter().all(|request| selects(&request.query)), "{asked:?}");
    let before = view.version(&targets[0]);
    relabel(&sandbox, "a", "edge");
    view.until("a change is seen", |view| view.version(&targets[0]) > before).await;
    assert_eq!(count(&sandbox, "get", "configmaps"), 0);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_loses_its_labels_is_asked_for_once_and_followed_by_its_name() {
    let sandbox = sandbox();
    let hub = Hub::new(&cluster(&sandbox).await);
    let targets = maps(&["a", "b", "c"]);
    let mut view = watched(&hub, &targets).await;
    relabel(&sandbox, "a", "back");
    view.pass(Duration::from_secs(5)).await;
    assert!(view.is_present(&targets[0]), "it is there");
    assert_eq!(count(&sandbox, "get", "configmaps"), 1);
    assert_eq!(sandbox.open_watches("configmaps"), 2);
    sandbox.delete("configmaps", "default", "a");
    view.until("its end is seen all the same", |view| view.is_absent(&targets[0])).await;
    assert_eq!(count(&sandbox, "get", "configmaps"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_is_confirmed_by_one_question() {
    let sandbox = sandbox();
    let hub = Hub::new(&cluster(&sandbox).await);
    let targets = maps(&["a", "b", "c"]);
    let mut view = watched(&hub, &targets).await;
    sandbox.delete("configmaps", "default", "b");
    view.until("it is gone", |view| view.is_absent(&targets[1])).await;
    assert_eq!(count(&sandbox, "get", "configmaps"), 1);
    sandbox.create(labelled("b", "front"));
    view.until("it comes again", |view| view.is_present(&targets[1])).await;
    assert_eq!((count(&sandbox, "get", "configmaps"), sandbox.open_watches("configmaps")), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_target_without_the_labels_is_found_by_its_name_and_one_that_is_not_there_is_absent() {
    let sandbox = sandbox();
    let hub = Hub::new(&cluster(&sandbox).await);
    let targets = maps(&["a", "b", "other", "none"]);
    let view = watched(&hub, &targets).await;
    assert!(view.is_present(&targets[2]) && view.is_absent(&targets[3]));
    assert_eq!(count(&sandbox, "get", "configmaps"), 2, "one each");
}

#[tokio::test(start_paused = true)]
async fn labels_lost_in_a_gap_are_noticed_when_the_state_is_told_anew() {
    let sandbox = sandbox();
    let hub = Hub::new(&cluster(&sandbox).await);
    let targets = maps(&["a", "b", "c"]);
    let mut view = watched(&hub, &targets).await;
    sandbox.end_watches("configmaps", WatchEnd::Expired);
    relabel(&sandbox, "a", "back");
    sandbox.delete("configmaps", "default", "b");
    sandbox.compact();
    view.until("what is gone is gone", |view| view.is_absent(&targets[1])).await;
    view.pass(Duration::from_secs(5)).await;
    assert!(view.is_present(&targets[0]) && view.is_present(&targets[2]));
}

#[tokio::test(start_paused = true)]
async fn rights_on_names_alone_suffice_for_targets_with_labels_too() {
    let sandbox = sandbox();
    let user = ["a", "b", "c"]
        .iter()
        .fold(User::limited("u"), |user, name| user.allow("get,list,watch", "configmaps", "default", name));
    let hub = Hub::new(&cluster_as(&sandbox, user).await);
    let targets = maps(&["a", "b", "c"]);
    let view = watched(&hub, &targets).await;
    assert!(targets.iter().all(|target| view.is_present(target)));
    assert_eq!(sandbox.open_watches("configmaps"), 3);
}
