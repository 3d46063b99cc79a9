//! DELETE, and what deleting means for objects with finalizers, owners and grace.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Write;
use crate::failure::Failure;
use crate::json::{at, list, set, text};
use crate::read::what;
use crate::store::{Key, Object, Store};

/// What happens to the objects that the deleted one owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    Background,
    Foreground,
    Orphan,
}

pub(crate) const ORPHAN: &str = "orphan";
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
pub(crate) const CRD_CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Answers a DELETE of one object.
pub(crate) fn delete(store: &mut Store, write: &Write<'_>) -> Result<Value, Failure> {
    let options: Value = if write.ask.body.is_empty() {
        Value::Null
    } else {
        serde_json::from_slice(&write.ask.body).map_err(|error| Failure::bad_request(error.to_string()))?
    };
    let key = Key::new(&write.target.namespace, &write.target.name);
    let object =
        store.get(&write.kind.id, &key).cloned().ok_or_else(|| Failure::not_found(&what(write.target)))?;
    check(write, &object, &options)?;
    let dry_run = write.ask.dry_run() || list(&options, &["dryRun"]).iter().any(|value| value == "All");
    if dry_run {
        return Ok(success(write, &object));
    }
    let policy = match text(&options, &["propagationPolicy"]) {
        "" => write.ask.query.get("propagationPolicy"),
        policy => policy,
    };
    let propagation = match policy {
        "Foreground" => Propagation::Foreground,
        "Orphan" => Propagation::Orphan,
        _ => Propagation::Background,
    };
    let grace = at(&options, &["gracePeriodSeconds"])
        .as_i64()
        .or_else(|| write.ask.query.get("gracePeriodSeconds").parse().ok());
    match delete_object(store, &write.kind.id, &key, propagation, grace) {
        Some(left) => Ok(left.whole(write.kind, &write.target.version)),
        None => Ok(success(write, &object)),
    }
}

fn check(write: &Write<'_>, object: &Object, options: &Value) -> Result<(), Failure> {
    let conditions = &options["preconditions"];
    let uid = text(conditions, &["uid"]);
    if !uid.is_empty() && *uid != *object.uid {
        let why = format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been deleted and then recreated",
            object.uid
        );
        return Err(Failure::conflict(&what(write.target), &why));
    }
    let version = text(conditions, &["resourceVersion"]);
    if !version.is_empty() && version != object.version.to_string() {
        let why = format!(
            "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). The object might have been modified",
            object.version
        );
        return Err(Failure::conflict(&what(write.target), &why));
    }
    Ok(())
}

fn success(write: &Write<'_>, object: &Object) -> Value {
    let mut details = json!({ "name": &*object.key.name, "kind": &*write.kind.plural, "uid": &*object.uid });
    if !write.kind.group.is_empty() {
        details["group"] = (*write.kind.group).into();
    }
    json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details })
}

/// Deletes an object, or marks it as being deleted; then its state is given back.
pub(crate) fn delete_object(
    store: &mut Store,
    resource: &str,
    key: &Key,
    propagation: Propagation,
    grace: Option<i64>,
) -> Option<Arc<Object>> {
    let mut value = store.get(resource, key)?.value();
    let before = value.clone();
    match propagation {
        Propagation::Background => {}
        Propagation::Foreground => add_finalizer(&mut value, FOREGROUND),
        Propagation::Orphan => add_finalizer(&mut value, ORPHAN),
    }
    let grace = grace_of(resource, &value, grace);
    match resource {
        "namespaces" => set(&mut value, &["status", "phase"], "Terminating"),
        "customresourcedefinitions.apiextensions.k8s.io" => {
            add_finalizer(&mut value, CRD_CLEANUP);
            if at(&value, &["metadata", "deletionTimestamp"]).is_null() {
                crate::control::condition(
                    &mut value,
                    &store.stamp(),
                    &[
                        "Terminating",
                        "True",
                        "InstanceDeletionPending",
                        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
                    ],
                );
            }
        }
        _ => {}
    }
    let held = !list(&value, &["metadata", "finalizers"]).is_empty()
        || !list(&value, &["spec", "finalizers"]).is_empty() && resource == "namespaces";
    if !held && grace == 0 {
        store.remove(resource, key);
        return None;
    }
    if at(&value, &["metadata", "deletionTimestamp"]).is_null() {
        let at_end = store.now + std::time::Duration::from_secs(u64::try_from(grace).unwrap_or(0));
        let stamp = store.clock.stamp(at_end);
        set(&mut value, &["metadata", "deletionTimestamp"], stamp);
        set(&mut value, &["metadata", "deletionGracePeriodSeconds"], grace);
        if let Some(generation) = at(&value, &["metadata", "generation"]).as_i64() {
            set(&mut value, &["metadata", "generation"], generation + 1);
        }
        let uid = text(&value, &["metadata", "uid"]).to_owned();
        store.mark(&uid, "deleted");
    } else if resource == "pods"
        && at(&value, &["metadata", "deletionGracePeriodSeconds"]).as_i64().is_some_and(|left| left > grace)
    {
        set(&mut value, &["metadata", "deletionGracePeriodSeconds"], grace);
    }
    if value == before {
        return store.get(resource, key).cloned();
    }
    store.put(resource, value)
}

/// Seconds that an object has to stop; only Pods on a node have any.
fn grace_of(resource: &str, value: &Value, asked: Option<i64>) -> i64 {
    let running = resource == "pods"
        && !text(value, &["spec", "nodeName"]).is_empty()
        && !matches!(text(value, &["status", "phase"]), "Succeeded" | "Failed");
    if !running {
        return 0;
    }
    asked.or_else(|| at(value, &["spec", "terminationGracePeriodSeconds"]).as_i64()).unwrap_or(30)
}

fn add_finalizer(value: &mut Value, name: &str) {
    let mut finalizers = list(value, &["metadata", "finalizers"]).to_vec();
    if !finalizers.iter().any(|known| known == name) {
        finalizers.push(name.into());
        set(value, &["metadata", "finalizers"], finalizers);
    }
}
