//! The cases, by subject.

mod access;
mod apply;
mod crds;
mod deleting;
mod namespaces;
mod ownership;
mod reading;
mod refusals;
mod updates;
mod watching;
mod workloads;

use serde_json::{Value, json};

use super::Case;

pub(super) fn all() -> Vec<Case> {
    let subjects = [
        apply::cases,
        refusals::cases,
        deleting::cases,
        reading::cases,
        watching::cases,
        access::cases,
        crds::cases,
        namespaces::cases,
        ownership::cases,
        updates::cases,
        workloads::cases,
    ];
    subjects.into_iter().flat_map(|cases| cases()).collect()
}

const MAPS: &str = "/api/v1/namespaces/$ns/configmaps";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/$ns/deployments";
const VERSION: &str = "/metadata/resourceVersion";

/// The path of a ConfigMap.
fn map_path(name: &str) -> String {
    format!("{MAPS}/{name}")
}

fn map(name: &str, data: Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": data })
}

/// The ConfigMap `a` with more metadata.
fn map_with(metadata: Value) -> Value {
    let mut object = map("a", json!({ "k": "v" }));
    crate::json::merge(&mut object["metadata"], &metadata);
    object
}

fn deployment_path(name: &str) -> String {
    format!("{DEPLOYMENTS}/{name}")
}

/// A Deployment without Pods.
fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": name },
        "spec": {
            "replicas": 0,
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": { "containers": [{ "name": "c", "image": "image:1" }] },
            },
        },
    })
}

/// An object with something else at a JSON pointer.
fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let path: Vec<&str> = pointer.trim_start_matches('/').split('/').collect();
    crate::json::set(&mut object, &path, value);
    object
}
