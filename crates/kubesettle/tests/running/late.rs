//! Objects of kinds that come in mid-run, and of which nobody knew before whether they have namespaces.

use std::time::Duration;

use kubesettle::error::ExitClass;
use kubesettle::event::{Body, Operation, Outcome};
use sandbox::Sandbox;
use serde_json::json;

use crate::scene::{SET, Scene, Told};

const WIDGET: &str = "apiVersion: late.test/v1\nkind: Widget\nmetadata: {name: w}\n";

fn define(sandbox: &Sandbox, scope: &str) {
    let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    sandbox.create(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "widgets.late.test" },
        "spec": {
            "group": "late.test", "scope": scope, "names": { "plural": "widgets", "kind": "Widget" },
            "versions": [{ "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": open } }],
        },
    }));
}

fn recorded(scene: &Scene) -> Vec<String> {
    let record = scene.sandbox.get("configmaps", "default", SET).unwrap();
    let mut keys: Vec<String> =
        record["data"].as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect();
    keys.sort();
    keys
}

/// Applies, and has the kind defined once it was missed; what was on record as the object was begun.
async fn apply(scene: &Scene, text: &str, scope: &str) -> (Told, Vec<String>) {
    let mut options = Scene::tracked();
    options.timeout = Some(Duration::from_secs(60));
    let mut run = scene.start(Operation::Apply, text, options).await.unwrap();
    let (mut events, mut defined, mut began) = (Vec::new(), false, Vec::new());
    while let Some(event) = run.next().await {
        match &event.body {
            Body::Retry { .. } if !std::mem::replace(&mut defined, true) => define(&scene.sandbox, scope),
            Body::Started { .. } => began = recorded(scene),
            _ => {}
        }
        events.push(event);
    }
    (Told { events }, began)
}

#[tokio::test(start_paused = true)]
async fn f02_an_object_of_a_late_kind_goes_where_the_kind_belongs() {
    for (scope, namespace, key) in
        [("Namespaced", "default", "default_w_late.test_Widget"), ("Cluster", "", "_w_late.test_Widget")]
    {
        let scene = Scene::new();
        let (told, began) = apply(&scene, WIDGET, scope).await;
        assert_eq!(told.class(), Some(ExitClass::Ok), "{scope}: {}", told.message());
        assert_eq!(told.outcome("w"), Some(&Outcome::Created), "{scope}");
        assert!(scene.sandbox.get("widgets.late.test", namespace, "w").is_some(), "{scope}");
        assert!(began.contains(&key.to_owned()), "it is on record before it is written: {began:?}");
        assert_eq!(recorded(&scene), [key], "{scope}");
        let mut objects = told.events.iter().filter_map(|event| match &event.body {
            Body::Started { id, .. } | Body::Finished { id, .. } | Body::Concluded { id, .. } => Some(id),
            _ => None,
        });
        assert!(objects.all(|id| id.namespace() == namespace), "{scope}");
        let gaps = told.events.iter().filter(|event| matches!(event.body, Body::Gap { .. }));
        assert_eq!(gaps.count(), 0, "{scope}");
        let told = scene.destroy().await;
        assert_eq!(told.class(), Some(ExitClass::Ok), "{scope}: {}", told.message());
        assert!(scene.sandbox.get("widgets.late.test", namespace, "w").is_none(), "{scope}");
    }
}

#[tokio::test(start_paused = true)]
async fn f02_an_object_of_a_late_kind_that_is_in_the_input_twice_is_refused() {
    let scene = Scene::new();
    let twice = format!("{WIDGET}---\n{}", WIDGET.replace("{name: w}", "{name: w, namespace: default}"));
    let (told, _) = apply(&scene, &twice, "Namespaced").await;
    assert_eq!(told.class(), Some(ExitClass::Failed));
    let refused = told.events.iter().any(|event| {
        matches!(&event.body, Body::Finished { outcome: Outcome::Failed(error), .. }
            if error.message.contains("twice"))
    });
    assert!(refused, "{}", told.message());
    assert_eq!(recorded(&scene), ["default_w_late.test_Widget"]);
}

#[tokio::test(start_paused = true)]
async fn f02_what_another_set_has_is_left_alone_also_when_its_kind_comes_late() {
    let scene = Scene::new();
    let mut options = Scene::tracked();
    options.timeout = Some(Duration::from_secs(60));
    let mut run = scene.start(Operation::Apply, WIDGET, options).await.unwrap();
    define(&scene.sandbox, "Namespaced");
    let theirs = json!({
        "apiVersion": "late.test/v1", "kind": "Widget",
        "metadata": { "name": "w", "namespace": "default",
            "annotations": { "config.k8s.io/owning-inventory": "another" } },
    });
    while scene.sandbox.create(theirs.clone()).is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    let told = Told { events };
    assert_eq!(told.class(), Some(ExitClass::Refused), "{}", told.message());
    let live = scene.sandbox.get("widgets.late.test", "default", "w").unwrap();
    assert_eq!(live["metadata"]["annotations"]["config.k8s.io/owning-inventory"], "another");
}
