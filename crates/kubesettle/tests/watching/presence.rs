//! Presence, order, deletion.

use std::time::Duration;

use kubesettle::watch::{Hub, Presence};
use sandbox::{Sandbox, WatchEnd};
use serde_json::json;

use crate::view::{cluster, config_map, config_map_object, count, id, watch};

#[tokio::test(start_paused = true)]
async fn at_synced_every_target_is_present_absent_or_of_a_kind_that_is_not_served() {
    let sandbox = Sandbox::builder().build();
    sandbox.create(config_map_object("default", "there"));
    let hub = Hub::new(&cluster(&sandbox).await);
    let (there, missing) = (config_map("default", "there"), config_map("default", "missing"));
    let strange = id("example.com", "Widget", "default", "w");
    let mut view = watch(&hub, &[there.clone(), missing.clone(), strange.clone()]).await;
    view.synced().await;
    assert_eq!(view.states.len(), 3, "none is silent");
    assert!(view.is_present(&there) && view.is_absent(&missing));
    assert!(matches!(view.presence(&strange), Presence::NotServed));
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_a_third_party_brings_later_is_watched_by_itself() {
    let sandbox = Sandbox::builder().build();
    let hub = Hub::new(&cluster(&sandbox).await);
    let widget = id("example.com", "Widget", "default", "w");
    let mut view = watch(&hub, std::slice::from_ref(&widget)).await;
    view.synced().await;
    view.pass(Duration::from_secs(20)).await;
    sandbox.create(crd());
    view.until("the kind is served", |view| view.is_absent(&widget)).await;
    sandbox.create(widget_object());
    view.until("the object is seen", |view| view.is_present(&widget)).await;
}

#[tokio::test(start_paused = true)]
async fn a_crd_that_is_deleted_takes_its_objects_and_comes_back_with_new_ones() {
    let sandbox = Sandbox::builder().build();
    sandbox.create(crd());
    tokio::time::sleep(Duration::from_secs(5)).await;
    sandbox.create(widget_object());
    let hub = Hub::new(&cluster(&sandbox).await);
    let (widget, other) = (id("example.com", "Widget", "default", "w"), config_map("default", "c"));
    sandbox.create(config_map_object("default", "c"));
    let mut view = watch(&hub, &[widget.clone(), other.clone()]).await;
    view.synced().await;
    assert!(view.is_present(&widget));
    sandbox.delete("customresourcedefinitions.apiextensions.k8s.io", "", "widgets.example.com");
    view.until("gone with its kind", |view| !view.is_present(&widget)).await;
    view.until("the kind is gone", |view| matches!(view.presence(&widget), Presence::NotServed)).await;
    assert!(view.is_present(&other), "other kinds go on");
    sandbox.create(crd());
    tokio::time::sleep(Duration::from_secs(5)).await;
    sandbox.create(widget_object());
    view.until("back again", |view| view.is_present(&widget)).await;
}

#[tokio::test(start_paused = true)]
async fn a_deletion_in_a_gap_shows_by_its_absence() {
    let sandbox = Sandbox::builder().build();
    let (a, b) = (config_map("default", "a"), config_map("default", "b"));
    sandbox.create(config_map_object("default", "a"));
    sandbox.create(config_map_object("default", "b"));
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &[a.clone(), b.clone()]).await;
    view.synced().await;
    sandbox.end_watches("configmaps", WatchEnd::Expired);
    sandbox.delete("configmaps", "default", "a");
    sandbox.compact();
    view.until("the deletion is seen", |view| view.is_absent(&a)).await;
    assert!(view.is_present(&b));
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_created_anew_is_another_life() {
    let sandbox = Sandbox::builder().build();
    let a = config_map("default", "a");
    sandbox.create(config_map_object("default", "a"));
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, std::slice::from_ref(&a)).await;
    view.synced().await;
    let uid = |view: &crate::view::View| match view.presence(&config_map("default", "a")) {
        Presence::Present(digest) => digest.uid(),
        _ => None,
    };
    let first = uid(&view);
    sandbox.delete("configmaps", "default", "a");
    sandbox.create(config_map_object("default", "a"));
    view.until("the new one is seen", |view| uid(view).is_some() && uid(view) != first).await;
}

#[tokio::test(start_paused = true)]
async fn the_states_of_a_target_never_go_back() {
    let sandbox = Sandbox::builder().build();
    let a = config_map("default", "a");
    sandbox.create(config_map_object("default", "a"));
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, std::slice::from_ref(&a)).await;
    view.synced().await;
    let ends = [WatchEnd::Clean, WatchEnd::Expired, WatchEnd::Reset, WatchEnd::MidLine];
    let mut last = 0;
    for turn in 0..40 {
        sandbox
            .edit("configmaps", "default", "a", |object| object["data"] = json!({"turn": turn.to_string()}));
        if turn % 5 == 0 {
            sandbox.end_watches("configmaps", ends[turn / 5 % ends.len()]);
        }
        view.pass(Duration::from_millis(700)).await;
        let now = view.version(&a).unwrap();
        assert!(now >= last, "{now} after {last}");
        last = now;
    }
    let newest = sandbox.get("configmaps", "default", "a").unwrap();
    let newest: u64 = newest["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
    view.until("the last state is never missed", |view| view.version(&a) == Some(newest)).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_deleted_with_its_namespace_is_absent() {
    let sandbox = Sandbox::builder().build();
    sandbox.create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}}));
    sandbox.create(config_map_object("ns", "a"));
    sandbox.create(config_map_object("ns", "b"));
    let hub = Hub::new(&cluster(&sandbox).await);
    let (a, namespace) = (config_map("ns", "a"), id("", "Namespace", "", "ns"));
    let mut view = watch(&hub, &[a.clone(), config_map("ns", "b"), namespace.clone()]).await;
    view.synced().await;
    sandbox.delete("namespaces", "", "ns");
    view.until("content and namespace are gone", |view| view.is_absent(&a) && view.is_absent(&namespace))
        .await;
    sandbox.create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}}));
    sandbox.create(config_map_object("ns", "a"));
    view.until("and come back", |view| view.is_present(&a) && view.is_present(&namespace)).await;
}

#[tokio::test(start_paused = true)]
async fn no_object_is_fetched_after_the_start() {
    let sandbox = Sandbox::builder().build();
    let ids: Vec<_> = (0..20).map(|n| config_map("default", &format!("c{n}"))).collect();
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &ids).await;
    view.synced().await;
    for n in 0..20 {
        sandbox.create(config_map_object("default", &format!("c{n}")));
    }
    for _ in 0..10 {
        for n in 0..20 {
            sandbox
                .edit("configmaps", "default", &format!("c{n}"), |object| object["data"] = json!({"a": "b"}));
        }
        view.pass(Duration::from_millis(100)).await;
    }
    view.until("all are seen", |view| ids.iter().all(|id| view.is_present(id))).await;
    assert_eq!(count(&sandbox, "get", "configmaps"), 0);
    assert_eq!(count(&sandbox, "list", "configmaps"), 0);
    assert_eq!(count(&sandbox, "watch", "configmaps"), 1, "one stream for initial state and changes");
}

pub(crate) fn crd() -> serde_json::Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    })
}

pub(crate) fn widget_object() -> serde_json::Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "default"}})
}
