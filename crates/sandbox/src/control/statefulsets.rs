//! StatefulSets: numbered Pods, one after the other unless in parallel, updated from the last one down.

use serde_json::{Value, json};

use super::act::{self, MANAGER, counts, is_active, is_ready, is_terminating, set_status, template_hash};
use super::replicasets::available;
use crate::json::{at, list, number, set, text};
use crate::store::{Key, Store};
use crate::write::{Propagation, delete_object};

const ID: &str = "statefulsets.apps";
const REVISIONS: &str = "controllerrevisions.apps";
const HASH: &str = "controller-revision-hash";

pub(super) fn look(store: &mut Store, key: &Key) {
    let Some(owner) = store.value(ID, key) else { return };
    if is_terminating(&owner) {
        return;
    }
    let name = text(&owner, &["metadata", "name"]).to_owned();
    let revision = format!("{name}-{}", template_hash(at(&owner, &["spec", "template"])));
    remember(store, &owner, &revision);
    let wanted = number(&owner, &["spec", "replicas"]).unwrap_or(1);
    let uid = text(&owner, &["metadata", "uid"]).to_owned();
    let pods = store.children(&uid, "pods");
    step(store, &owner, &revision, wanted, &pods);
    report(store, key, &uid, &revision, wanted);
}

/// Keeps the template as a revision.
fn remember(store: &mut Store, owner: &Value, name: &str) {
    let namespace = text(owner, &["metadata", "namespace"]);
    if store.get(REVISIONS, &Key::new(namespace, name)).is_some() {
        return;
    }
    let number = store.children(text(owner, &["metadata", "uid"]), REVISIONS).len() + 1;
    let revision = json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision",
        "metadata": {
            "name": name, "namespace": namespace, "labels": at(owner, &["spec", "template", "metadata", "labels"]),
            "ownerReferences": act::owned_by(owner),
        },
        "data": { "spec": { "template": at(owner, &["spec", "template"]) } },
        "revision": number,
    });
    act::create(store, REVISIONS, MANAGER, revision);
}

/// Does what can be done now: creates, deletes or updates Pods.
fn step(store: &mut Store, owner: &Value, revision: &str, wanted: i64, pods: &[(Key, Value)]) {
    let name = text(owner, &["metadata", "name"]);
    let namespace = text(owner, &["metadata", "namespace"]);
    let parallel = text(owner, &["spec", "podManagementPolicy"]) == "Parallel";
    let find = |index: i64| {
        let key = Key::new(namespace, &format!("{name}-{index}"));
        pods.iter().find(|(known, _)| *known == key).map(|(_, pod)| pod)
    };
    for index in 0..wanted {
        match find(index) {
            None => {
                create_pod(store, owner, revision, index);
                if !parallel {
                    return;
                }
            }
            // A Pod that does not work holds up the rollout, also when it is outdated.
            Some(pod) if !parallel && (!is_active(pod) || !is_ready(pod)) => return,
            Some(_) => {}
        }
    }
    let mut highest =
        pods.iter().filter_map(|(key, pod)| Some((ordinal(&key.name)?, key, pod))).collect::<Vec<_>>();
    highest.sort_by_key(|(index, ..)| std::cmp::Reverse(*index));
    for (index, key, pod) in highest {
        let outdated = text(pod, &["metadata", "labels", HASH]) != revision && index >= partition(owner);
        if index >= wanted || (outdated && text(owner, &["spec", "updateStrategy", "type"]) != "OnDelete") {
            if !is_terminating(pod) {
                delete_object(store, "pods", key, Propagation::Background, None);
            }
            return;
        }
        if !is_ready(pod) || is_terminating(pod) {
            return;
        }
    }
}

fn ordinal(name: &str) -> Option<i64> {
    name.rsplit_once('-')?.1.parse().ok()
}

fn partition(owner: &Value) -> i64 {
    number(owner, &["spec", "updateStrategy", "rollingUpdate", "partition"]).unwrap_or(0)
}

fn create_pod(store: &mut Store, owner: &Value, revision: &str, index: i64) {
    let name = format!("{}-{index}", text(owner, &["metadata", "name"]));
    let mut pod = act::pod_of(owner, &name);
    for (label, value) in [
        (HASH, revision),
        ("statefulset.kubernetes.io/pod-name", &name),
        ("apps.kubernetes.io/pod-index", &index.to_string()),
    ] {
        set(&mut pod, &["metadata", "labels", label], value);
    }
    set(&mut pod, &["spec", "hostname"], name.as_str());
    set(&mut pod, &["spec", "subdomain"], owner["spec"]["serviceName"].clone());
    crate::json::drop_nulls(&mut pod);
    let mut volumes = list(&pod, &["spec", "volumes"]).to_vec();
    for template in list(owner, &["spec", "volumeClaimTemplates"]) {
        let volume = text(template, &["metadata", "name"]);
        let claim = format!("{volume}-{name}");
        let mut new = template.clone();
        set(&mut new, &["apiVersion"], "v1");
        set(&mut new, &["kind"], "PersistentVolumeClaim");
        set(&mut new, &["metadata", "name"], claim.as_str());
        set(&mut new, &["metadata", "namespace"], owner["metadata"]["namespace"].clone());
        act::create(store, "persistentvolumeclaims", MANAGER, new);
        volumes.push(json!({ "name": volume, "persistentVolumeClaim": { "claimName": claim } }));
    }
    if !volumes.is_empty() {
        set(&mut pod, &["spec", "volumes"], volumes);
    }
    act::create(store, "pods", MANAGER, pod);
}

fn report(store: &mut Store, key: &Key, uid: &str, revision: &str, wanted: i64) {
    let Some(owner) = store.value(ID, key) else { return };
    let pods: Vec<Value> =
        store.children(uid, "pods").into_iter().map(|(_, pod)| pod).filter(is_active).collect();
    let total = pods.len() as i64;
    let ready = pods.iter().filter(|pod| is_ready(pod)).count() as i64;
    let updated =
        pods.iter().filter(|pod| text(pod, &["metadata", "labels", HASH]) == revision).count() as i64;
    let available = available(store, ID, key, &owner, &pods);
    let known = text(&owner, &["status", "currentRevision"]).to_owned();
    let done = updated == wanted && ready == wanted && total == wanted;
    let current_revision = if known.is_empty() || done { revision.to_owned() } else { known };
    let current =
        pods.iter().filter(|pod| text(pod, &["metadata", "labels", HASH]) == current_revision).count() as i64;
    set_status(store, ID, key, MANAGER, |owner| {
        counts(
            owner,
            &[("replicas", total), ("availableReplicas", available), ("collisionCount", 0)],
            &[("readyReplicas", ready), ("currentReplicas", current), ("updatedReplicas", updated)],
        );
        set(owner, &["status", "currentRevision"], current_revision.as_str());
        set(owner, &["status", "updateRevision"], revision);
    });
}
