//! How controllers write: as managers of their own, through the same rules as requests.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::ask::Target;
use crate::json::{at, default, list, set, text};
use crate::kinds::Kind;
use crate::store::{Key, Object, Store, mix};
use crate::write::commit::{self, Commit};
use crate::write::managed::{Author, Operation};

pub(super) const MANAGER: &str = "kube-controller-manager";

fn target(kind: &Kind, key: &Key) -> Target {
    Target {
        group: kind.group.to_string(),
        version: kind.preferred().to_owned(),
        plural: kind.plural.to_string(),
        namespace: key.namespace.to_string(),
        name: key.name.to_string(),
        subresource: String::new(),
    }
}

/// Changes the status; nothing happens when it stays the same.
pub(super) fn set_status(
    store: &mut Store,
    resource: &str,
    key: &Key,
    manager: &str,
    change: impl FnOnce(&mut Value),
) {
    write(store, resource, key, manager, "status", change);
}

/// Changes everything but the status.
pub(super) fn edit(store: &mut Store, resource: &str, key: &Key, change: impl FnOnce(&mut Value)) {
    write(store, resource, key, MANAGER, "", change);
}

fn write(
    store: &mut Store,
    resource: &str,
    key: &Key,
    manager: &str,
    subresource: &str,
    change: impl FnOnce(&mut Value),
) {
    let (Some(kind), Some(live)) = (store.kind(resource), store.value(resource, key)) else { return };
    let mut new = live.clone();
    change(&mut new);
    if new == live {
        return;
    }
    let (api_version, time) = (kind.api_version(kind.preferred()), store.stamp());
    let author =
        Author { manager, operation: Operation::Update, api_version: &api_version, subresource, time: &time };
    let how = Commit { kind: &kind, version: kind.preferred(), subresource, dry_run: false };
    let target = Target { subresource: subresource.to_owned(), ..target(&kind, key) };
    // A controller that is refused looks again when something changes.
    let _ = commit::update(store, &how, &target, &live, new, Some(&author));
}

/// Creates an object; `None` when it is refused.
pub(super) fn create(store: &mut Store, resource: &str, manager: &str, value: Value) -> Option<Arc<Object>> {
    let kind = store.kind(resource)?;
    let key = Key::new(text(&value, &["metadata", "namespace"]), text(&value, &["metadata", "name"]));
    if store.get(resource, &key).is_some() {
        return None;
    }
    let (api_version, time) = (kind.api_version(kind.preferred()), store.stamp());
    let author = Author {
        manager,
        operation: Operation::Update,
        api_version: &api_version,
        subresource: "",
        time: &time,
    };
    let how = Commit { kind: &kind, version: kind.preferred(), subresource: "", dry_run: false };
    commit::create(store, &how, &target(&kind, &key), value, Some(&author)).ok()
}

/// An entry of `ownerReferences` that makes `owner` the controller.
pub(super) fn owned_by(owner: &Value) -> Value {
    json!([{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true,
    }])
}

/// A Pod of a controller, from its template.
pub(super) fn pod_of(owner: &Value, name: &str) -> Value {
    let template = at(owner, &["spec", "template"]);
    let mut pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": template["metadata"], "spec": template["spec"] });
    set(&mut pod, &["metadata", "name"], name);
    set(&mut pod, &["metadata", "namespace"], owner["metadata"]["namespace"].clone());
    set(&mut pod, &["metadata", "ownerReferences"], owned_by(owner));
    pod
}

/// Letters that Kubernetes makes names of.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// A short word made of a number.
pub(super) fn word(mut number: u64, length: usize) -> String {
    let mut out = String::new();
    for _ in 0..length {
        out.push(char::from(LETTERS[(number % LETTERS.len() as u64) as usize]));
        number /= LETTERS.len() as u64;
    }
    out
}

/// A word that no other object of this run has.
pub(super) fn fresh_word(store: &mut Store) -> String {
    let uid = store.next_uid();
    word(digest(&uid), 5)
}

/// A word that stands for a Pod template.
pub(super) fn template_hash(template: &Value) -> String {
    word(digest(&template.to_string()), 10)
}

fn digest(text: &str) -> u64 {
    mix(text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)))
}

/// Writes an Event about an object; the same one again only counts up.
pub(super) fn event(
    store: &mut Store,
    about: &Value,
    component: &str,
    kind: &str,
    reason: &str,
    message: &str,
) {
    let namespace = match text(about, &["metadata", "namespace"]) {
        "" => "default",
        namespace => namespace,
    };
    let uid = text(about, &["metadata", "uid"]);
    let number = digest(&format!("{uid}{reason}{message}"));
    let name = format!("{}.{number:016x}", text(about, &["metadata", "name"]));
    let key = Key::new(namespace, &name);
    let now = store.stamp();
    if let Some(mut known) = store.value("events", &key) {
        let count = at(&known, &["count"]).as_i64().unwrap_or(1);
        set(&mut known, &["count"], count + 1);
        set(&mut known, &["lastTimestamp"], now);
        store.put("events", known);
        return;
    }
    let value = json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": { "name": name, "namespace": namespace },
        "involvedObject": {
            "apiVersion": about["apiVersion"], "kind": about["kind"], "name": about["metadata"]["name"],
            "namespace": about["metadata"]["namespace"], "uid": uid, "resourceVersion": about["metadata"]["resourceVersion"],
        },
        "reason": reason, "message": message, "type": kind, "count": 1,
        "source": { "component": component }, "reportingComponent": component, "reportingInstance": "",
        "firstTimestamp": now, "lastTimestamp": now,
    });
    create(store, "events", component, value);
}

/// Sets the whole status, with fields of value 0 left out as the API does it; conditions stay.
pub(super) fn counts(object: &mut Value, always: &[(&str, i64)], unless_zero: &[(&str, i64)]) {
    for (field, count) in always {
        set(object, &["status", field], *count);
    }
    for (field, count) in unless_zero {
        if *count == 0 {
            crate::json::remove(object, &["status", field]);
        } else {
            set(object, &["status", field], *count);
        }
    }
    let generation = object["metadata"]["generation"].clone();
    set(object, &["status", "observedGeneration"], generation);
}

/// A condition that also tells when it was last updated, as Deployments have.
pub(super) fn updated_condition(object: &mut Value, now: &str, parts: &[&str; 4]) {
    let before = list(object, &["status", "conditions"])
        .iter()
        .find(|known| text(known, &["type"]) == parts[0])
        .cloned();
    super::condition(object, now, parts);
    let Some(conditions) = object["status"]["conditions"].as_array_mut() else { return };
    let Some(new) = conditions.iter_mut().find(|known| text(known, &["type"]) == parts[0]) else { return };
    let same = before.as_ref().is_some_and(|before| {
        ["status", "reason", "message"].iter().all(|field| before[field] == new[field])
    });
    let time = before.filter(|_| same).map_or_else(|| now.into(), |before| before["lastUpdateTime"].clone());
    default(new, &["lastUpdateTime"], time);
}

pub(super) fn is_terminating(object: &Value) -> bool {
    !at(object, &["metadata", "deletionTimestamp"]).is_null()
}

/// A condition's status; empty when there is none.
pub(super) fn condition_status<'a>(object: &'a Value, kind: &str) -> &'a str {
    let conditions = list(object, &["status", "conditions"]);
    conditions
        .iter()
        .find(|condition| text(condition, &["type"]) == kind)
        .map_or("", |condition| text(condition, &["status"]))
}

pub(super) fn is_ready(pod: &Value) -> bool {
    condition_status(pod, "Ready") == "True"
}

/// Neither ended nor being deleted.
pub(super) fn is_active(pod: &Value) -> bool {
    !is_terminating(pod) && !matches!(text(pod, &["status", "phase"]), "Succeeded" | "Failed")
}

/// A condition's reason; empty when there is none.
pub(super) fn condition_reason<'a>(object: &'a Value, kind: &str) -> &'a str {
    let conditions = list(object, &["status", "conditions"]);
    conditions
        .iter()
        .find(|condition| text(condition, &["type"]) == kind)
        .map_or("", |condition| text(condition, &["reason"]))
}

/// A number, or a percentage of `of`.
pub(super) fn share(value: &Value, of: i64, up: bool) -> i64 {
    match value {
        Value::Number(number) => number.as_i64().unwrap_or(0),
        Value::String(text) => {
            let percent: i64 = text.trim_end_matches('%').parse().unwrap_or(0);
            if up { (percent * of + 99) / 100 } else { percent * of / 100 }
        }
        _ => 0,
    }
}
