//! What a Pod needs besides a node: ConfigMaps, Secrets and claims.

use serde_json::Value;

use crate::json::{at, list, text};
use crate::store::{Key, Store};

fn there(store: &Store, resource: &str, pod: &Value, name: &str) -> bool {
    store.get(resource, &Key::new(text(pod, &["metadata", "namespace"]), name)).is_some()
}

/// Where a reference is, to which kind of object, and how messages name that.
const ENVIRONMENT: &[(&str, &str, &str)] =
    &[("configMapRef", "configmaps", "configmap"), ("secretRef", "secrets", "secret")];
const VALUES: &[(&str, &str, &str)] =
    &[("configMapKeyRef", "configmaps", "configmap"), ("secretKeyRef", "secrets", "secret")];

/// The first object that the containers' environment lacks.
pub(super) fn environment(store: &Store, pod: &Value) -> Option<String> {
    let containers = list(pod, &["spec", "initContainers"]).iter().chain(list(pod, &["spec", "containers"]));
    for container in containers {
        let whole = list(container, &["envFrom"]).iter().map(|from| (from, ENVIRONMENT));
        let single = list(container, &["env"]).iter().map(|env| (at(env, &["valueFrom"]), VALUES));
        for (from, kinds) in whole.chain(single) {
            for (field, resource, shown) in kinds {
                let reference = &from[*field];
                let name = text(reference, &["name"]);
                let optional = reference["optional"].as_bool() == Some(true);
                if !name.is_empty() && !optional && !there(store, resource, pod, name) {
                    return Some(format!("{shown} \"{name}\" not found"));
                }
            }
        }
    }
    None
}

/// The first volume that cannot be mounted, and why.
pub(super) fn volume(store: &Store, pod: &Value) -> Option<String> {
    const SOURCES: &[(&str, &str, &str, &str)] =
        &[("configMap", "name", "configmaps", "configmap"), ("secret", "secretName", "secrets", "secret")];
    for volume in list(pod, &["spec", "volumes"]) {
        for (source, field, resource, shown) in SOURCES {
            let source = &volume[*source];
            let name = text(source, &[field]);
            let optional = source["optional"].as_bool() == Some(true);
            if !name.is_empty() && !optional && !there(store, resource, pod, name) {
                let volume = text(volume, &["name"]);
                return Some(format!(
                    "MountVolume.SetUp failed for volume \"{volume}\" : {shown} \"{name}\" not found"
                ));
            }
        }
    }
    None
}

/// Names of the claims that a Pod uses.
pub(super) fn claims(pod: &Value) -> impl Iterator<Item = &str> {
    let volumes = list(pod, &["spec", "volumes"]).iter();
    volumes
        .map(|volume| text(volume, &["persistentVolumeClaim", "claimName"]))
        .filter(|name| !name.is_empty())
}
