//! ReplicaSets: as many Pods as wanted.

use std::time::Duration;

use serde_json::Value;

use super::act::{self, MANAGER, counts, event, fresh_word, is_active, is_ready, is_terminating, set_status};
use crate::json::{number, text};
use crate::store::{Key, Store};
use crate::write::{Propagation, delete_object};

const ID: &str = "replicasets.apps";

pub(super) fn look(store: &mut Store, key: &Key) {
    let Some(set) = store.value(ID, key) else { return };
    let uid = text(&set, &["metadata", "uid"]).to_owned();
    let wanted = number(&set, &["spec", "replicas"]).unwrap_or(1);
    if !is_terminating(&set) {
        scale(store, &set, &uid, wanted);
    }
    let pods: Vec<Value> = store.children(&uid, "pods").into_iter().map(|(_, pod)| pod).collect();
    let terminating = pods.iter().filter(|pod| is_terminating(pod)).count() as i64;
    let pods: Vec<Value> = pods.into_iter().filter(is_active).collect();
    let total = pods.len() as i64;
    let ready = pods.iter().filter(|pod| is_ready(pod)).count() as i64;
    let available = available(store, ID, key, &set, &pods);
    set_status(store, ID, key, MANAGER, |set| {
        counts(
            set,
            &[("replicas", total), ("terminatingReplicas", terminating)],
            &[("fullyLabeledReplicas", total), ("readyReplicas", ready), ("availableReplicas", available)],
        );
    });
}

fn scale(store: &mut Store, set: &Value, uid: &str, wanted: i64) {
    let mut pods: Vec<(Key, Value)> =
        store.children(uid, "pods").into_iter().filter(|(_, pod)| is_active(pod)).collect();
    let missing = wanted - pods.len() as i64;
    for _ in 0..missing.max(0) {
        let name = format!("{}-{}", text(set, &["metadata", "name"]), fresh_word(store));
        if act::create(store, "pods", MANAGER, act::pod_of(set, &name)).is_some() {
            event(
                store,
                set,
                "replicaset-controller",
                "Normal",
                "SuccessfulCreate",
                &format!("Created pod: {name}"),
            );
        }
    }
    // Pods that do not work go first, then the newest.
    pods.sort_by_key(|(_, pod)| {
        (is_ready(pod), std::cmp::Reverse(text(pod, &["metadata", "creationTimestamp"]).to_owned()))
    });
    for (key, _) in pods.iter().take(usize::try_from(-missing).unwrap_or(0)) {
        delete_object(store, "pods", key, Propagation::Background, None);
        event(
            store,
            set,
            "replicaset-controller",
            "Normal",
            "SuccessfulDelete",
            &format!("Deleted pod: {}", key.name),
        );
    }
}

/// How many Pods have been ready for `minReadySeconds`; looks at the owner again when one will be.
pub(super) fn available(store: &mut Store, resource: &str, owner: &Key, set: &Value, pods: &[Value]) -> i64 {
    let least = number(set, &["spec", "minReadySeconds"])
        .and_then(|seconds| u64::try_from(seconds).ok())
        .unwrap_or(0);
    let mut available = 0;
    for pod in pods {
        let uid = text(pod, &["metadata", "uid"]);
        if !is_ready(pod) {
            store.marks.remove(&(uid.into(), "ready"));
            continue;
        }
        let due = store.mark(uid, "ready") + Duration::from_secs(least);
        if due <= store.now {
            available += 1;
        } else {
            store.look_at(due, resource, owner);
        }
    }
    available
}
