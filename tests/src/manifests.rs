//! Manifests, as values that a test changes before it writes them.

use serde_json::{Value, json};

/// The documents as one stream.
pub fn stream<'a>(objects: impl IntoIterator<Item = &'a Value>) -> String {
    objects.into_iter().map(|object| format!("---\n{object}\n")).collect()
}

/// A ConfigMap with one entry.
pub fn config_map(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": { "key": "value" } })
}

/// A Namespace.
pub fn namespace(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } })
}

/// A Pod of its own, which is ready at once.
pub fn pod(name: &str) -> Value {
    let mut object = template(name, json!({}));
    object["apiVersion"] = json!("v1");
    object["kind"] = json!("Pod");
    object["metadata"]["name"] = json!(name);
    object
}

/// A Deployment of one pod, which is ready at once.
pub fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": name },
        "spec": {
            "replicas": 1,
            "selector": { "matchLabels": { "app": name } },
            "template": template(name, json!({})),
        },
    })
}

/// A Deployment whose pods have another fate: see `testing/kwok/stages.yaml`.
pub fn deployment_that(name: &str, outcome: &str) -> Value {
    let mut object = deployment(name);
    object["spec"]["template"]["metadata"]["annotations"] = json!({ "kubesettle.test/outcome": outcome });
    object
}

/// A Job of one pod, which is not tried again.
pub fn job(name: &str) -> Value {
    let mut template = template(name, json!({ "restartPolicy": "Never" }));
    template["metadata"]["annotations"] = json!({});
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": name },
        "spec": { "backoffLimit": 0, "template": template },
    })
}

fn template(name: &str, more: Value) -> Value {
    let mut spec =
        json!({ "containers": [{ "name": "app", "image": format!("registry.example/{name}:1") }] });
    if let (Some(spec), Value::Object(more)) = (spec.as_object_mut(), more) {
        spec.extend(more);
    }
    json!({ "metadata": { "labels": { "app": name } }, "spec": spec })
}

/// A definition of a namespaced custom kind, with a status and without any schema.
pub fn definition(group: &str, kind: &str, plural: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.{group}") },
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": { "kind": kind, "plural": plural },
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": { "openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                } },
            }],
        },
    })
}

/// An object of a custom kind.
pub fn custom(group: &str, kind: &str, name: &str) -> Value {
    json!({
        "apiVersion": format!("{group}/v1"),
        "kind": kind,
        "metadata": { "name": name },
        "spec": { "size": 1 },
    })
}

/// The object with an annotation more.
pub fn annotated(mut object: Value, key: &str, value: &str) -> Value {
    object["metadata"]["annotations"][key] = value.into();
    object
}

/// The object in a namespace.
pub fn within(mut object: Value, namespace: &str) -> Value {
    object["metadata"]["namespace"] = namespace.into();
    object
}

/// The object made to depend on others, written as in the annotation.
pub fn depending(object: Value, on: &str) -> Value {
    annotated(object, "config.kubernetes.io/depends-on", on)
}
