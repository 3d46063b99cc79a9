//! Why an object does not go.

use std::time::Duration;

use kubesettle::event::{Body, Operation};
use kubesettle::run::RunOptions;
use serde_json::json;

use crate::scene::{Scene, Told};

fn held(finalizer: &str) -> serde_json::Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": "a", "namespace": "default", "finalizers": [finalizer],
    }})
}

fn short() -> RunOptions {
    let mut options = Scene::options();
    options.removal_timeout = Some(Duration::from_secs(20));
    options
}

fn warnings(told: &Told) -> Vec<String> {
    let said = told.events.iter().filter_map(|event| match &event.body {
        Body::Warning { message, .. } => Some(message.to_string()),
        _ => None,
    });
    said.collect()
}

async fn destroyed(scene: &Scene) -> Vec<String> {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n";
    warnings(&scene.run(Operation::Destroy, text, short()).await)
}

#[tokio::test(start_paused = true)]
async fn the_owner_of_a_finalizer_is_named_with_whether_it_lives() {
    let scene = Scene::new();
    scene.sandbox.create(held("example.com/cleanup"));
    let said = destroyed(&scene).await;
    let begin = "finalizer example.com/cleanup was set by sandbox, which last wrote at 20";
    assert!(said[0].starts_with(begin), "{said:?}");
    assert!(said[0].ends_with("; no workload of that name is there"), "{said:?}");
    scene.sandbox.create(json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "sandbox", "namespace": "default"},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "w"}}, "template": {
            "metadata": {"labels": {"app": "w"}},
            "spec": {"containers": [{"name": "c", "image": "example.test/img:1"}]}}}}));
    let said = destroyed(&scene).await;
    assert!(said[0].ends_with("deployment.apps/sandbox in default has 0 of 0 pods ready"), "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn a_known_finalizer_tells_what_is_waited_for() {
    let scene = Scene::new();
    scene.sandbox.create(held("kubernetes.io/pvc-protection"));
    assert_eq!(
        destroyed(&scene).await,
        ["finalizer kubernetes.io/pvc-protection: a pod still mounts the claim"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_orderly_deletion_is_not_looked_into() {
    let scene = Scene::new();
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n";
    scene.run(Operation::Apply, text, Scene::options()).await;
    let before = scene.sandbox.requests().len();
    assert!(destroyed(&scene).await.is_empty());
    let gets = scene.sandbox.requests()[before..].iter().filter(|request| request.verb == "get").count();
    assert_eq!(gets, 0);
}

#[tokio::test(start_paused = true)]
async fn a_namespace_names_what_it_still_holds() {
    let scene = Scene::new();
    scene.sandbox.create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "room"}}));
    let mut inside = held("example.com/cleanup");
    inside["metadata"]["namespace"] = "room".into();
    scene.sandbox.create(inside);
    let text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: room}\n";
    let told = scene.run(Operation::Destroy, text, short()).await;
    let said = warnings(&told);
    assert_eq!(said, ["still there: configmap/a in room, held by finalizers: example.com/cleanup"]);
}
