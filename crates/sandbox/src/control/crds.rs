//! CustomResourceDefinitions: established, served, changed, and taken away with all their objects.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::act::{condition_status, is_terminating, set_status};
use super::{collect, condition};
use crate::json::{at, list, number, set, text};
use crate::kinds::{Access, Kind};
use crate::store::{Key, Store};
use crate::streams::WatchEnd;
use crate::write::{CRD_CLEANUP, Propagation, delete_object, schema};

const ID: &str = "customresourcedefinitions.apiextensions.k8s.io";
const SERVER: &str = "kube-apiserver";
/// From a change until the watches on the kind end.
const WATCHES_END: Duration = Duration::from_secs(1);
/// Between two looks at custom resources that are held.
const AGAIN: Duration = Duration::from_secs(2);

pub(super) fn look(store: &mut Store, key: &Key) {
    let Some(crd) = store.value(ID, key) else { return };
    if is_terminating(&crd) {
        return take_away(store, key, &crd);
    }
    let uid = text(&crd, &["metadata", "uid"]).to_owned();
    let established = store.mark(&uid, "created") + store.settings.crd_established;
    if store.now < established {
        return store.look_at(established, ID, key);
    }
    if condition_status(&crd, "Established") != "True" {
        establish(store, key, &crd);
    }
    let served = established + store.settings.crd_served;
    if store.now < served {
        return store.look_at(served, ID, key);
    }
    let generation = number(&crd, &["metadata", "generation"]).unwrap_or(0);
    let id: Arc<str> = key.name.clone();
    if store.served.get(&id) == Some(&generation) {
        return;
    }
    let again = store.resources.contains_key(&id);
    store.serve(kind(&crd));
    store.served.insert(id.clone(), generation);
    if store.settings.crd_reinitializing {
        store.unready.insert(id.clone());
    }
    if again {
        end_watches(store, &id);
    }
    store.tell();
}

fn establish(store: &mut Store, key: &Key, crd: &Value) {
    let now = store.stamp();
    let names = at(crd, &["spec", "names"]).clone();
    let stored: Vec<Value> = list(crd, &["spec", "versions"])
        .iter()
        .filter(|version| at(version, &["storage"]) == true)
        .map(|version| version["name"].clone())
        .collect();
    set_status(store, ID, key, SERVER, |crd| {
        condition(crd, &now, &["NamesAccepted", "True", "NoConflicts", "no conflicts found"]);
        condition(crd, &now, &["Established", "False", "Installing", "the initial names have been accepted"]);
        set(crd, &["status", "acceptedNames"], names);
        set(crd, &["status", "storedVersions"], stored);
    });
    set_status(store, ID, key, SERVER, |crd| {
        condition(
            crd,
            &now,
            &["Established", "True", "InitialNamesAccepted", "the initial names have been accepted"],
        );
    });
}

/// All watches on a kind end a moment after it changed, and cannot go on from where they were.
fn end_watches(store: &mut Store, id: &str) {
    let version = store.version();
    if let Some(resource) = store.resources.get_mut(id) {
        resource.history.refuse_before(version);
    }
    let at = store.now + WATCHES_END;
    store.streams.end(id, at, WatchEnd::Clean);
}

/// The kind that a definition defines.
fn kind(crd: &Value) -> Kind {
    let names = at(crd, &["spec", "names"]);
    let versions = list(crd, &["spec", "versions"]);
    let mut served: Vec<&Value> =
        versions.iter().filter(|version| at(version, &["served"]) == true).collect();
    served.sort_by_key(|version| std::cmp::Reverse(age(text(version, &["name"]))));
    let stored =
        versions.iter().find(|version| at(version, &["storage"]) == true).cloned().unwrap_or_default();
    let group = text(crd, &["spec", "group"]);
    let plural = text(names, &["plural"]);
    let words =
        |field: &str| list(names, &[field]).iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let singular = match text(names, &["singular"]) {
        "" => text(names, &["kind"]).to_lowercase(),
        singular => singular.to_owned(),
    };
    Kind {
        id: crate::kinds::resource_id(group, plural).into(),
        group: group.into(),
        versions: served.iter().map(|version| text(version, &["name"]).into()).collect(),
        plural: plural.into(),
        singular,
        kind: text(names, &["kind"]).into(),
        short_names: words("shortNames"),
        categories: words("categories"),
        namespaced: text(crd, &["spec", "scope"]) != "Cluster",
        status: !at(&stored, &["subresources", "status"]).is_null(),
        scale: !at(&stored, &["subresources", "scale"]).is_null(),
        generation: true,
        access: Access::Full,
        deprecated: None,
        shape: schema::custom(at(&stored, &["schema", "openAPIV3Schema"])),
        custom: true,
    }
}

/// How far a version is: `v2` after `v1` after `v1beta1` after `v1alpha1`, and all others before those.
fn age(version: &str) -> (u8, u64, u64) {
    let parse = || {
        let rest = version.strip_prefix('v')?;
        for (word, rank) in [("alpha", 1), ("beta", 2)] {
            if let Some((major, minor)) = rest.split_once(word) {
                return Some((rank, major.parse().ok()?, minor.parse().ok()?));
            }
        }
        Some((3, rest.parse().ok()?, 0))
    };
    parse().unwrap_or((0, 0, 0))
}

fn take_away(store: &mut Store, key: &Key, crd: &Value) {
    let id: Arc<str> = key.name.clone();
    let objects: Vec<Key> =
        store.resources.get(&id).map_or(Vec::new(), |resource| resource.objects.keys().cloned().collect());
    let now = store.stamp();
    let uid = text(crd, &["metadata", "uid"]).to_owned();
    let begun = store.marked(&uid, "removing").is_some();
    store.mark(&uid, "removing");
    for object in &objects {
        delete_object(store, &id, object, Propagation::Background, None);
    }
    let left = store.resources.get(&id).is_some_and(|resource| !resource.objects.is_empty());
    if !begun {
        set_status(store, ID, key, SERVER, |crd| {
            condition(
                crd,
                &now,
                &[
                    "Terminating",
                    "True",
                    "InstanceDeletionInProgress",
                    "CustomResource deletion is in progress",
                ],
            );
        });
    }
    if left {
        let again = store.now + AGAIN;
        return store.look_at(again, ID, key);
    }
    if list(crd, &["metadata", "finalizers"]).iter().any(|finalizer| finalizer == CRD_CLEANUP) {
        collect::drop_finalizer(store, ID, key, CRD_CLEANUP);
    }
    if store.get(ID, key).is_none() {
        store.served.remove(&id);
        store.unready.remove(&id);
        if let Some(mut kind) = store.kind(&id).map(|kind| (*kind).clone()) {
            kind.versions.clear();
            store.serve(kind);
        }
        end_watches(store, &id);
        store.tell();
    }
    let _ = json!(null);
}
