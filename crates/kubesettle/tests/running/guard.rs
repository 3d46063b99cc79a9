//! What is to be pruned and still holds what is not of the set.

use kubesettle::error::ExitClass;
use kubesettle::event::Operation;
use kubesettle::inventory::ProtectedKind;
use sandbox::{Fault, When};
use serde_json::json;

use crate::scene::{Scene, Told, config_maps};

const ONE: &[(&str, &str)] = &[("a", "1")];

fn namespace(name: &str) -> String {
    format!("---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n")
}

fn map_in(namespace: &str, name: &str) -> String {
    format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: {namespace}}}\n")
}

fn widgets() -> String {
    "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}\n  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]\n".to_owned()
}

fn claim() -> String {
    "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: default}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n".to_owned()
}

/// A pod that mounts the claim, of this owner.
fn pod(name: &str, owner: &str) -> serde_json::Value {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "default" },
        "spec": {
            "containers": [{ "name": "c", "image": "example.test/img:1" }],
            "volumes": [{ "name": "data", "persistentVolumeClaim": { "claimName": "data" } }],
        },
    });
    if !owner.is_empty() {
        pod["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "apps/v1", "kind": "StatefulSet", "name": owner,
            "uid": "00000000-0000-0000-0000-000000000001", "controller": true,
        }]);
    }
    pod
}

async fn allowed(scene: &Scene, text: &str, kind: ProtectedKind) -> Told {
    let mut options = Scene::tracked();
    options.tracking.guard.allow.push(kind);
    scene.run(Operation::Apply, text, options).await
}

#[tokio::test(start_paused = true)]
async fn f25_a_namespace_with_objects_of_others_is_not_pruned_unless_allowed() {
    let scene = Scene::new();
    let rest = config_maps(ONE);
    scene.apply(&[namespace("room"), map_in("room", "ours"), rest.clone()].concat()).await;
    scene.sandbox.create(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "theirs", "namespace": "room"}}));
    let told = scene.apply(&rest).await;
    assert_eq!(told.class(), Some(ExitClass::Refused), "{:?}", told.events);
    assert_eq!(
        told.message(),
        "refused to prune namespace/room: it holds configmap/theirs in room, which is not of the set; \
         to delete it all the same, repeat with --prune-allow Namespace"
    );
    assert!(scene.sandbox.get("configmaps", "room", "ours").is_some(), "nothing was pruned");
    let told = allowed(&scene, &rest, ProtectedKind::Namespace).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    assert!(scene.sandbox.get("namespaces", "", "room").is_none());
}

#[tokio::test(start_paused = true)]
async fn f25_a_namespace_with_nothing_but_ours_and_what_every_namespace_has_goes() {
    let scene = Scene::new();
    let rest = config_maps(ONE);
    scene.apply(&[namespace("room"), map_in("room", "ours"), rest.clone()].concat()).await;
    for (kind, name) in [("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")] {
        scene.sandbox.create(
            json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "room"}}),
        );
    }
    scene.sandbox.create(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": "generated", "namespace": "room",
        "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "ours", "uid": "x"}]}}));
    let told = scene.apply(&rest).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    assert!(scene.sandbox.get("namespaces", "", "room").is_none());
}

#[tokio::test(start_paused = true)]
async fn what_may_not_be_listed_may_hold_something() {
    let scene = Scene::new();
    let rest = config_maps(ONE);
    scene.apply(&[namespace("room"), rest.clone()].concat()).await;
    let forbidden = Fault::status(403, "Forbidden", "secrets is forbidden: User \"u\" cannot list resource");
    scene.sandbox.inject(When::verb("list").resource("secrets"), forbidden);
    let told = scene.apply(&rest).await;
    assert_eq!(told.class(), Some(ExitClass::Refused));
    let message = told.message();
    assert!(message.contains("what it holds is not known (secrets cannot be listed"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_definition_with_objects_of_others_is_not_pruned_unless_allowed() {
    let scene = Scene::new();
    let (rest, widget) = (
        config_maps(ONE),
        "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: ours, namespace: default}\n",
    );
    scene.apply(&[&widgets(), widget, &rest].concat()).await;
    scene.sandbox.create(json!({"apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "theirs", "namespace": "kube-system"}}));
    let told = scene.apply(&rest).await;
    assert_eq!(told.class(), Some(ExitClass::Refused), "{:?}", told.events);
    assert!(told.message().contains("widget.example.com/theirs in kube-system"), "{}", told.message());
    assert!(scene.sandbox.get("widgets.example.com", "default", "ours").is_some());
    scene.sandbox.delete("widgets.example.com", "kube-system", "theirs");
    let told = scene.apply(&rest).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "only ours are left: {}", told.message());
    assert!(scene.sandbox.get("widgets.example.com", "default", "ours").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_pods_of_others_mount_is_not_pruned_unless_allowed() {
    let scene = Scene::new();
    let rest = config_maps(ONE);
    scene.apply(&[claim(), rest.clone()].concat()).await;
    scene.sandbox.create(pod("db-0", "db"));
    let told = scene.apply(&rest).await;
    assert_eq!(told.class(), Some(ExitClass::Refused), "{:?}", told.events);
    assert!(told.message().contains("it holds pod/db-0, which is not of the set"), "{}", told.message());
    assert!(told.message().contains("--prune-allow PersistentVolumeClaim"));
    scene.sandbox.delete("pods", "default", "db-0");
    let told = scene.apply(&rest).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_prunes_nothing_protected_looks_at_nothing() {
    let scene = Scene::new();
    scene.apply(&config_maps(&[("a", "1"), ("b", "1")])).await;
    let before = scene.sandbox.requests().len();
    scene.apply(&config_maps(ONE)).await;
    let lists = scene.sandbox.requests()[before..].iter().filter(|request| request.verb == "list").count();
    assert!(lists <= 1, "{lists} lists");
}
