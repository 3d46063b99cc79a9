//! What an object gives to later steps.

use kubesettle::manifest::{Manifests, Object, ResolveOptions, Scope};
use serde_json::{Value, json};

use crate::config_map;

fn object(text: &str) -> Object {
    Manifests::parse("a.yaml", text.as_bytes()).unwrap().objects()[0].clone()
}

#[test]
fn labels_and_annotations_that_steer_are_kept() {
    let text = config_map(
        "a",
        "  labels: {cli-utils.sigs.k8s.io/inventory-id: i, app: x}\n  annotations:\n    cli-utils.sigs.k8s.io/on-remove: keep\n    mine: x\n",
    );
    let object = object(&text);
    assert_eq!(object.inventory_id(), Some("i"));
    assert_eq!((object.label("app"), object.annotation("mine")), (None, None));
    assert_eq!(object.annotation("cli-utils.sigs.k8s.io/on-remove"), Some("keep"));
    assert_eq!((object.api_version(), object.version(), object.scope()), ("v1", "v1", Scope::Unknown));
    let deployment = self::object("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n");
    assert_eq!((deployment.api_version(), deployment.version()), ("apps/v1", "v1"));
}

#[test]
fn annotations_are_added_to_the_body_alone() {
    for (more, wanted) in [
        ("", json!({"k": "v"})),
        ("  annotations:\n", json!({"k": "v"})),
        ("  annotations: {k: old, l: w}\n", json!({"k": "v", "l": "w"})),
    ] {
        let object = object(&config_map("a", more));
        let before = object.json().clone();
        let body: Value = serde_json::from_slice(&object.json_with_annotations(&[("k", "v")])).unwrap();
        assert_eq!(body["metadata"]["annotations"], wanted);
        assert_eq!(*object.json(), before);
    }
}

#[test]
fn live_objects_can_be_ordered_with_the_others() {
    let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "x", "uid": "1",
        "annotations": {"config.kubernetes.io/depends-on": "/Namespace/x"}}});
    let object = Object::from_live(body.to_string().as_bytes()).unwrap();
    assert_eq!(format!("{object:?}"), "configmap/a in x (cluster)");
    assert_eq!(object.depends_on()[0].reference(), "/Namespace/x");
    assert_eq!(object.scope(), Scope::Namespaced);
    assert_eq!(Object::from_live(b"[").unwrap_err().to_string(), "cluster: not an object");
}

#[test]
fn an_object_whose_kind_appears_late_gets_its_place_then() {
    let mut options = ResolveOptions::default();
    options.default_namespace = Some("shop".into());
    let unknown = object("apiVersion: a.b/v1\nkind: C\nmetadata: {name: c}\n");
    let (placed, warning) = unknown.clone().placed(Scope::Namespaced, &options).unwrap();
    assert_eq!((format!("{:#}", placed.id()), warning), ("c.a.b/c in shop".to_owned(), None));
    let (placed, _) = unknown.placed(Scope::Cluster, &options).unwrap();
    assert_eq!((format!("{:#}", placed.id()), placed.scope()), ("c.a.b/c".to_owned(), Scope::Cluster));
}
