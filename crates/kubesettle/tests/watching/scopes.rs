//! In which scopes targets are watched, by strategy: each counted in streams.

use std::collections::BTreeSet;
use std::time::Duration;

use kubesettle::id::ObjectId;
use kubesettle::watch::{Hub, Presence, ScopeStrategy};
use sandbox::{Sandbox, User};
use serde_json::json;

use crate::view::{cluster, cluster_as, config_map, config_map_object, count, id, watch_in};

/// Namespaces `n0`, `n1`, … with a ConfigMap `x` in each.
fn full(namespaces: usize) -> (Sandbox, Vec<ObjectId>) {
    let sandbox = Sandbox::builder().build();
    let mut targets = Vec::new();
    for namespace in (0..namespaces).map(|n| format!("n{n}")) {
        sandbox.create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}));
        sandbox.create(config_map_object(&namespace, "x"));
        targets.push(config_map(&namespace, "x"));
        targets.push(id("", "Namespace", "", &namespace));
    }
    (sandbox, targets)
}

/// The paths that were watched, without the query.
fn watched(sandbox: &Sandbox, resource: &str) -> BTreeSet<String> {
    let requests = sandbox.requests();
    let watches = requests.iter().filter(|request| request.verb == "watch" && request.resource == resource);
    watches.map(|request| format!("{}/{}", request.namespace, request.name)).collect()
}

#[tokio::test(start_paused = true)]
async fn each_strategy_opens_the_streams_that_it_names() {
    let namespaces = |n: usize| (0..n).map(|n| format!("n{n}/")).collect::<BTreeSet<_>>();
    let names = |n: usize| (0..n).map(|n| format!("n{n}/x")).collect::<BTreeSet<_>>();
    let all = || BTreeSet::from([String::from("/")]);
    let rows = [
        (ScopeStrategy::Automatic, 2, names(2)),
        (ScopeStrategy::Automatic, 9, all()),
        (ScopeStrategy::Cluster, 2, all()),
        (ScopeStrategy::Namespaces, 2, namespaces(2)),
        (ScopeStrategy::Namespaces, 12, namespaces(12)),
        (ScopeStrategy::Only((0..2).map(|n| format!("n{n}").into()).collect()), 2, namespaces(2)),
    ];
    for (strategy, count_of, expected) in rows {
        let (sandbox, targets) = full(count_of);
        let hub = Hub::new(&cluster(&sandbox).await);
        let mut view = watch_in(&hub, &targets, strategy.clone()).await;
        view.synced().await;
        assert!(targets.iter().all(|id| view.is_present(id)), "{strategy:?}");
        assert_eq!(watched(&sandbox, "configmaps"), expected, "{strategy:?}");
        assert_eq!(count(&sandbox, "watch", "configmaps"), expected.len(), "{strategy:?}");
        assert_eq!(count(&sandbox, "watch", "namespaces"), 1, "{strategy:?}");
        assert_eq!(count(&sandbox, "list", "configmaps") + count(&sandbox, "get", "configmaps"), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_outside_of_the_named_namespaces_is_unknown_with_the_reason_and_never_asked_for() {
    let (sandbox, targets) = full(3);
    let hub = Hub::new(&cluster(&sandbox).await);
    let only = ScopeStrategy::Only(BTreeSet::from(["n0".into()]));
    let mut view = watch_in(&hub, &targets, only).await;
    view.synced().await;
    assert_eq!(view.states.len(), targets.len(), "none is silent");
    assert!(view.is_present(&config_map("n0", "x")));
    assert!(view.is_present(&id("", "Namespace", "", "n2")), "what is in no namespace is observed");
    for outside in ["n1", "n2"] {
        let Presence::Unknown(error) = view.presence(&config_map(outside, "x")) else { panic!("{outside}") };
        assert!(error.message.contains(outside) && error.message.contains("not watched"), "{error}");
    }
    assert_eq!(watched(&sandbox, "configmaps"), BTreeSet::from([String::from("n0/")]));
    let snapshot = view.subscription().snapshot().await.unwrap();
    assert_eq!(snapshot.len(), targets.len());
    view.add(&[config_map("n2", "y"), config_map("n0", "y")]).await;
    view.synced().await;
    assert!(matches!(view.presence(&config_map("n2", "y")), Presence::Unknown(_)));
    assert!(view.is_absent(&config_map("n0", "y")));
    view.remove(&[config_map("n2", "y"), config_map("n1", "x")]).await;
    assert_eq!(view.subscription().snapshot().await.unwrap().len(), targets.len());
}

#[tokio::test(start_paused = true)]
async fn a_forced_scope_that_may_not_be_watched_is_narrowed_and_said() {
    let (sandbox, targets) = full(2);
    let user = ["n0", "n1"]
        .iter()
        .fold(User::limited("u").allow("get,list,watch", "namespaces", "", ""), |user, namespace| {
            user.allow("get,list,watch", "configmaps", namespace, "")
        });
    let hub = Hub::new(&cluster_as(&sandbox, user).await);
    let mut view = watch_in(&hub, &targets, ScopeStrategy::Cluster).await;
    view.synced().await;
    assert!(targets.iter().all(|id| view.is_present(id)));
    assert_eq!(view.gaps.len(), 1, "{:?}", view.gaps);
    view.pass(Duration::from_secs(5)).await;
    assert_eq!(count(&sandbox, "watch", "configmaps"), 1 + 2, "the cluster once, then each");
}
