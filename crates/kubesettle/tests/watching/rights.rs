//! The ladder of rights: all namespaces, each namespace, each name, single GETs, unknown.

use std::time::Duration;

use kubesettle::watch::{Hub, Presence};
use sandbox::{Fault, Sandbox, User, WatchEnd, When};
use serde_json::json;

use crate::view::{cluster_as, config_map, config_map_object, count, watch};

fn full() -> Sandbox {
    let sandbox = Sandbox::builder().build();
    for namespace in ["a", "b"] {
        sandbox.create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}));
        for name in ["x", "y"] {
            sandbox.create(config_map_object(namespace, name));
        }
    }
    sandbox
}

fn targets() -> Vec<kubesettle::id::ObjectId> {
    ["a", "b"]
        .into_iter()
        .flat_map(|namespace| ["x", "y"].into_iter().map(move |name| config_map(namespace, name)))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn rights_in_each_namespace_suffice() {
    let sandbox = full();
    let user = User::limited("u").allow("get,list,watch", "configmaps", "a", "").allow(
        "get,list,watch",
        "configmaps",
        "b",
        "",
    );
    let hub = Hub::new(&cluster_as(&sandbox, user).await);
    let mut view = watch(&hub, &targets()).await;
    view.synced().await;
    assert!(targets().iter().all(|id| view.is_present(id)));
    assert_eq!(count(&sandbox, "watch", "configmaps"), 2);
    assert!(view.gaps.is_empty(), "{:?}", view.gaps);
}

#[tokio::test(start_paused = true)]
async fn rights_on_single_names_suffice_by_a_watch_of_each_name() {
    let sandbox = full();
    let user = targets().iter().fold(User::limited("u"), |user, id| {
        user.allow("get,list,watch", "configmaps", id.namespace(), id.name())
    });
    let hub = Hub::new(&cluster_as(&sandbox, user).await);
    let mut view = watch(&hub, &targets()).await;
    view.synced().await;
    assert!(targets().iter().all(|id| view.is_present(id)));
    assert_eq!(count(&sandbox, "watch", "configmaps"), 2 + 4, "each namespace once, then each name");
    assert_eq!(view.gaps.len(), 2, "each step is said once");
    view.pass(Duration::from_secs(600)).await;
    let later = count(&sandbox, "watch", "configmaps");
    assert!(later <= 6 + 2 * 10 + 4 * 2, "what is denied is tried once a minute: {later}");
}

#[tokio::test(start_paused = true)]
async fn the_right_to_get_alone_suffices_by_asking_now_and_then() {
    let sandbox = full();
    let user = User::limited("u").allow("get", "configmaps", "a", "").allow("get", "configmaps", "b", "");
    let hub = Hub::new(&cluster_as(&sandbox, user).await);
    let mut view = watch(&hub, &targets()).await;
    view.synced().await;
    assert!(targets().iter().all(|id| view.is_present(id)));
    sandbox.delete("configmaps", "a", "x");
    view.until("the deletion is seen", |view| view.is_absent(&config_map("a", "x"))).await;
    let before = count(&sandbox, "get", "configmaps");
    view.pass(Duration::from_secs(300)).await;
    let asked = count(&sandbox, "get", "configmaps") - before;
    assert!(asked <= 4 * 16, "asking slows down while nothing changes: {asked}");
}

#[tokio::test(start_paused = true)]
async fn without_any_right_the_targets_are_unknown_and_nothing_is_asked_again_and_again() {
    let sandbox = full();
    let hub = Hub::new(&cluster_as(&sandbox, User::limited("u")).await);
    let mut view = watch(&hub, &targets()).await;
    view.synced().await;
    for id in targets() {
        let Presence::Unknown(error) = view.presence(&id) else { panic!("{id:?}: {:?}", view.presence(&id)) };
        assert!(error.message.contains("forbidden"), "{error}");
    }
    let asked = sandbox.request_count();
    view.pass(Duration::from_secs(30)).await;
    assert_eq!(sandbox.request_count(), asked);
}

#[tokio::test(start_paused = true)]
async fn a_right_that_is_missing_for_one_kind_leaves_the_others_alone() {
    let sandbox = full();
    let user = User::limited("u").allow("get,list,watch", "configmaps", "a", "");
    let hub = Hub::new(&cluster_as(&sandbox, user).await);
    let mut view = watch(&hub, &targets()).await;
    view.synced().await;
    assert!(view.is_present(&config_map("a", "x")) && view.is_present(&config_map("a", "y")));
    assert!(matches!(view.presence(&config_map("b", "x")), Presence::Unknown(_)));
}

#[tokio::test(start_paused = true)]
async fn a_right_that_is_granted_later_is_used_and_one_that_is_revoked_is_done_without() {
    let sandbox = full();
    let cluster = cluster_as(&sandbox, User::limited("u")).await;
    let hub = Hub::new(&cluster);
    let mut view = watch(&hub, &targets()).await;
    view.synced().await;
    assert!(targets().iter().all(|id| matches!(view.presence(id), Presence::Unknown(_))));
    let all = User::limited("u").allow("get,list,watch", "configmaps", "", "");
    sandbox.set_user("token", all);
    view.until("granted", |view| targets().iter().all(|id| view.is_present(id))).await;
    sandbox.delete("configmaps", "a", "x");
    view.until("watched", |view| view.is_absent(&config_map("a", "x"))).await;
    view.pass(Duration::from_secs(60)).await;
    let asked = count(&sandbox, "get", "configmaps");
    view.pass(Duration::from_secs(300)).await;
    assert_eq!(count(&sandbox, "get", "configmaps"), asked, "nobody asks for single objects any more");
    assert_eq!(sandbox.open_watches("configmaps"), 2, "one stream for each namespace");

    sandbox.set_user("token", User::limited("u").allow("get", "configmaps", "", ""));
    sandbox.end_watches("configmaps", WatchEnd::Clean);
    view.pass(Duration::from_secs(5)).await;
    sandbox.delete("configmaps", "b", "y");
    view.until("asked for one by one", |view| view.is_absent(&config_map("b", "y"))).await;
    assert!(view.is_present(&config_map("b", "x")));
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_while_a_denied_look_is_tried_again_takes_the_next_step_too() {
    let sandbox = full();
    let user = User::limited("u").allow("get", "configmaps", "a", "");
    let hub = Hub::new(&cluster_as(&sandbox, user).await);
    let mut first = watch(&hub, &[config_map("a", "x"), config_map("a", "y")]).await;
    first.synced().await;
    first.pass(Duration::from_secs(30)).await;
    sandbox.inject(When::verb("watch").resource("configmaps"), Fault::Delay(Duration::from_secs(5)));
    first.pass(Duration::from_secs(31)).await;
    let mut second = watch(&hub, &[config_map("a", "x"), config_map("a", "y"), config_map("a", "z")]).await;
    let mut third = watch(&hub, &[config_map("a", "v"), config_map("a", "w")]).await;
    second.synced().await;
    third.synced().await;
    second.pass(Duration::from_secs(30)).await;
    third.pass(Duration::from_secs(30)).await;
    assert!(second.is_present(&config_map("a", "x")) && second.is_absent(&config_map("a", "z")));
    for name in ["v", "w"] {
        assert!(third.is_absent(&config_map("a", name)), "{:?}", third.states);
        sandbox.create(config_map_object("a", name));
        third.until("it is seen", |view| view.is_present(&config_map("a", name))).await;
    }
}
