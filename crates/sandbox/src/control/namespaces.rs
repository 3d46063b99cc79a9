//! Deleted namespaces: emptied after a while, and gone when nothing is left.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::act::{self, is_terminating, set_status};
use super::condition;
use crate::json::{list, remove, text};
use crate::store::{Key, Store};
use crate::write::{Propagation, delete_object};

const ID: &str = "namespaces";
/// Between two looks at what is left.
const AGAIN: Duration = Duration::from_secs(5);
/// From an empty namespace until it is gone.
const LAST: Duration = Duration::from_millis(200);

pub(super) fn look(store: &mut Store, key: &Key) {
    let Some(namespace) = store.value(ID, key) else { return };
    if !is_terminating(&namespace) {
        return furnish(store, key);
    }
    let uid = text(&namespace, &["metadata", "uid"]).to_owned();
    let due = match store.marked(&uid, "swept") {
        None => store.mark(&uid, "deleted") + store.settings.namespace_sweep,
        Some(swept) if store.marked(&uid, "empty").is_some() => swept + LAST,
        Some(swept) => swept + AGAIN,
    };
    if store.now < due {
        return store.look_at(due, ID, key);
    }
    if store.marked(&uid, "empty").is_some() {
        return finish(store, key, namespace);
    }
    for (resource, key) in content(store, &key.name) {
        delete_object(store, &resource, &key, Propagation::Background, None);
    }
    let left = content(store, &key.name);
    let first = store.marked(&uid, "swept").is_none();
    store.mark_anew(&uid, "swept");
    tell(store, key, &left);
    if !left.is_empty() {
        let again = store.now + AGAIN;
        return store.look_at(again, ID, key);
    }
    store.mark(&uid, "empty");
    if first {
        return finish(store, key, namespace);
    }
    let last = store.now + LAST;
    store.look_at(last, ID, key);
}

/// What every namespace of a real cluster has.
fn furnish(store: &mut Store, key: &Key) {
    if !store.settings.furnish {
        return;
    }
    let metadata = |name: &str| json!({ "name": name, "namespace": &*key.name });
    let account = json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata("default") });
    let roots = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("kube-root-ca.crt"), "data": { "ca.crt": "" },
    });
    act::create(store, "serviceaccounts", act::MANAGER, account);
    act::create(store, "configmaps", act::MANAGER, roots);
}

fn content(store: &Store, name: &str) -> Vec<(std::sync::Arc<str>, Key)> {
    let mut found = Vec::new();
    for (id, resource) in store.resources.iter().filter(|(_, resource)| resource.kind.namespaced) {
        let keys =
            resource.objects.range(Key::new(name, "")..).take_while(|(key, _)| *key.namespace == *name);
        found.extend(keys.map(|(key, _)| (id.clone(), key.clone())));
    }
    found
}

/// Writes into the status what is left, and what holds it.
fn tell(store: &mut Store, key: &Key, left: &[(std::sync::Arc<str>, Key)]) {
    let mut resources: BTreeMap<&str, usize> = BTreeMap::new();
    let mut finalizers: BTreeMap<String, usize> = BTreeMap::new();
    for (resource, key) in left {
        *resources.entry(resource).or_default() += 1;
        let Some(value) = store.value(resource, key) else { continue };
        for finalizer in list(&value, &["metadata", "finalizers"]).iter().filter_map(Value::as_str) {
            *finalizers.entry(finalizer.to_owned()).or_default() += 1;
        }
    }
    let resources: Vec<String> = resources
        .iter()
        .map(|(name, count)| {
            let dot = if name.contains('.') { "" } else { "." };
            format!("{name}{dot} has {count} resource instances")
        })
        .collect();
    let finalizers: Vec<String> =
        finalizers.iter().map(|(name, count)| format!("{name} in {count} resource instances")).collect();
    let remaining = format!("Some resources are remaining: {}", resources.join(", "));
    let held = format!("Some content in the namespace has finalizers remaining: {}", finalizers.join(", "));
    let now = store.stamp();
    set_status(store, ID, key, act::MANAGER, |namespace| {
        for row in [
            [
                "NamespaceDeletionDiscoveryFailure",
                "False",
                "ResourcesDiscovered",
                "All resources successfully discovered",
            ],
            [
                "NamespaceDeletionGroupVersionParsingFailure",
                "False",
                "ParsedGroupVersions",
                "All legacy kube types successfully parsed",
            ],
            [
                "NamespaceDeletionContentFailure",
                "False",
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization",
            ],
            match resources.is_empty() {
                true => [
                    "NamespaceContentRemaining",
                    "False",
                    "ContentRemoved",
                    "All content successfully removed",
                ],
                false => ["NamespaceContentRemaining", "True", "SomeResourcesRemain", &remaining],
            },
            match finalizers.is_empty() {
                true => [
                    "NamespaceFinalizersRemaining",
                    "False",
                    "ContentHasNoFinalizers",
                    "All content-preserving finalizers finished",
                ],
                false => ["NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain", &held],
            },
        ] {
            condition(namespace, &now, &row);
        }
    });
}

/// The namespace goes, unless it holds finalizers of its own.
fn finish(store: &mut Store, key: &Key, _: Value) {
    let Some(mut namespace) = store.value(ID, key) else { return };
    if list(&namespace, &["metadata", "finalizers"]).is_empty() {
        store.remove(ID, key);
        return;
    }
    if !list(&namespace, &["spec", "finalizers"]).is_empty() {
        remove(&mut namespace, &["spec", "finalizers"]);
        store.put(ID, namespace);
    }
}
