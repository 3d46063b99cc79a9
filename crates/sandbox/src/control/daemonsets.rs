//! DaemonSets: a Pod on each node.

use serde_json::Value;

use super::act::{
    self, MANAGER, counts, fresh_word, is_active, is_ready, is_terminating, set_status, template_hash,
};
use super::replicasets::available;
use super::schedule::why_not;
use crate::json::{at, set, text};
use crate::store::{Key, Store};
use crate::write::{Propagation, delete_object};

const ID: &str = "daemonsets.apps";
const HASH: &str = "controller-revision-hash";

pub(super) fn look(store: &mut Store, key: &Key) {
    let Some(owner) = store.value(ID, key) else { return };
    if is_terminating(&owner) {
        return;
    }
    let uid = text(&owner, &["metadata", "uid"]).to_owned();
    let hash = template_hash(at(&owner, &["spec", "template"]));
    let nodes = nodes(store, &owner);
    let pods = store.children(&uid, "pods");
    for node in &nodes {
        let there = pods.iter().any(|(_, pod)| text(pod, &["spec", "nodeName"]) == node && is_active(pod));
        if !there {
            create_pod(store, &owner, node, &hash);
        }
    }
    let misplaced = |pod: &Value| !nodes.iter().any(|node| node == text(pod, &["spec", "nodeName"]));
    for (key, _) in pods.iter().filter(|(_, pod)| is_active(pod) && misplaced(pod)) {
        delete_object(store, "pods", key, Propagation::Background, None);
    }
    update(store, &owner, &hash, &pods);
    report(store, key, &owner, &uid, &hash, nodes.len() as i64);
}

/// Names of the nodes that get a Pod.
fn nodes(store: &Store, owner: &Value) -> Vec<String> {
    let Some(nodes) = store.resources.get("nodes") else { return Vec::new() };
    let pod = at(owner, &["spec", "template"]);
    let fitting = nodes.objects.values().map(|node| node.value()).filter(|node| why_not(pod, node).is_none());
    fitting.map(|node| text(&node, &["metadata", "name"]).to_owned()).collect()
}

fn create_pod(store: &mut Store, owner: &Value, node: &str, hash: &str) {
    let name = format!("{}-{}", text(owner, &["metadata", "name"]), fresh_word(store));
    let mut pod = act::pod_of(owner, &name);
    set(&mut pod, &["metadata", "labels", HASH], hash);
    set(&mut pod, &["spec", "nodeName"], node);
    act::create(store, "pods", MANAGER, pod);
}

/// One outdated Pod at a time is replaced, when all others run.
fn update(store: &mut Store, owner: &Value, hash: &str, pods: &[(Key, Value)]) {
    if text(owner, &["spec", "updateStrategy", "type"]) == "OnDelete" {
        return;
    }
    let outdated = |pod: &Value| is_active(pod) && text(pod, &["metadata", "labels", HASH]) != hash;
    let busy = pods.iter().any(|(_, pod)| is_terminating(pod) || (!is_ready(pod) && !outdated(pod)));
    if let Some((key, _)) = pods.iter().find(|(_, pod)| outdated(pod)).filter(|_| !busy) {
        delete_object(store, "pods", key, Propagation::Background, None);
    }
}

fn report(store: &mut Store, key: &Key, owner: &Value, uid: &str, hash: &str, wanted: i64) {
    let pods: Vec<Value> =
        store.children(uid, "pods").into_iter().map(|(_, pod)| pod).filter(is_active).collect();
    let scheduled = pods.len() as i64;
    let ready = pods.iter().filter(|pod| is_ready(pod)).count() as i64;
    let updated = pods.iter().filter(|pod| text(pod, &["metadata", "labels", HASH]) == hash).count() as i64;
    let available = available(store, ID, key, owner, &pods);
    set_status(store, ID, key, MANAGER, |owner| {
        counts(
            owner,
            &[
                ("currentNumberScheduled", scheduled),
                ("desiredNumberScheduled", wanted),
                ("numberMisscheduled", 0),
                ("numberReady", ready),
            ],
            &[
                ("updatedNumberScheduled", updated),
                ("numberAvailable", available),
                ("numberUnavailable", wanted - available),
            ],
        );
    });
}
