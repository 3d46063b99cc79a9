//! The garbage collector: dependents of what is gone, and the finalizers of foreground and orphan
//! deletion.

use serde_json::Value;

use crate::json::{at, list, set, text};
use crate::store::{Key, Look, Place, Store};
use crate::write::{FOREGROUND, ORPHAN, Propagation, delete_object};

pub(super) fn look(store: &mut Store, look: &Look) {
    let Some(object) = store.get(&look.resource, &look.key).cloned() else { return };
    if !object.owners.is_empty() && object.owners.iter().all(|owner| store.by_uid(owner).is_none()) {
        delete_object(store, &look.resource, &look.key, Propagation::Background, None);
        return;
    }
    if !object.terminating {
        return;
    }
    let value = object.value();
    let has =
        |name: &str| list(&value, &["metadata", "finalizers"]).iter().any(|finalizer| finalizer == name);
    if has(ORPHAN) {
        orphan(store, &object.uid);
        drop_finalizer(store, &look.resource, &look.key, ORPHAN);
    } else if has(FOREGROUND) && !wait_for_dependents(store, &object.uid) {
        drop_finalizer(store, &look.resource, &look.key, FOREGROUND);
    }
}

fn orphan(store: &mut Store, uid: &str) {
    for (resource, key) in store.owned_by(uid) {
        let Some(mut value) = store.get(&resource, &key).map(|object| object.value()) else { continue };
        let mut owners = list(&value, &["metadata", "ownerReferences"]).to_vec();
        owners.retain(|owner| text(owner, &["uid"]) != uid);
        if owners.is_empty() {
            crate::json::remove(&mut value, &["metadata", "ownerReferences"]);
        } else {
            set(&mut value, &["metadata", "ownerReferences"], owners);
        }
        store.put(&resource, value);
    }
}

/// Deletes the dependents; true while there are some that block.
fn wait_for_dependents(store: &mut Store, uid: &str) -> bool {
    let dependents: Vec<Place> = store.owned_by(uid);
    let mut blocked = false;
    for (resource, key) in dependents {
        let Some(value) = store.get(&resource, &key).map(|object| object.value()) else { continue };
        let owner =
            list(&value, &["metadata", "ownerReferences"]).iter().find(|owner| text(owner, &["uid"]) == uid);
        blocked |= owner.is_some_and(|owner| at(owner, &["blockOwnerDeletion"]).as_bool() == Some(true));
        if at(&value, &["metadata", "deletionTimestamp"]).is_null() {
            delete_object(store, &resource, &key, Propagation::Foreground, None);
        }
    }
    blocked
}

/// Takes a finalizer off an object, which may end it.
pub(super) fn drop_finalizer(store: &mut Store, resource: &str, key: &Key, name: &str) {
    let Some(mut value) = store.get(resource, key).map(|object| object.value()) else { return };
    let mut finalizers: Vec<Value> = list(&value, &["metadata", "finalizers"]).to_vec();
    finalizers.retain(|finalizer| finalizer != name);
    let terminating = !at(&value, &["metadata", "deletionTimestamp"]).is_null();
    let waits =
        resource == "pods" && at(&value, &["metadata", "deletionGracePeriodSeconds"]).as_i64() != Some(0);
    if finalizers.is_empty() && terminating && !waits {
        store.remove(resource, key);
        return;
    }
    if finalizers.is_empty() {
        crate::json::remove(&mut value, &["metadata", "finalizers"]);
    } else {
        set(&mut value, &["metadata", "finalizers"], finalizers);
    }
    store.put(resource, value);
}
