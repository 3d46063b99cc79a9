//! The scheduler: a Pod goes to the first node that fits, in turn.

use std::time::Duration;

use serde_json::Value;

use super::act::{event, set_status};
use super::{condition, wants};
use crate::json::{at, list, set, text};
use crate::store::{Key, Store};

/// How often a Pod without a node is tried again.
const RETRY: Duration = Duration::from_secs(5);
const SCHEDULER: &str = "default-scheduler";

pub(super) fn look(store: &mut Store, key: &Key, pod: &Value) {
    match place(store, pod) {
        Ok(node) => {
            let mut bound = pod.clone();
            set(&mut bound, &["spec", "nodeName"], node.as_str());
            condition(&mut bound, &store.stamp(), &["PodScheduled", "True", "", ""]);
            store.put("pods", bound);
            let said = format!("Successfully assigned {}/{} to {node}", key.namespace, key.name);
            event(store, pod, SCHEDULER, "Normal", "Scheduled", &said);
        }
        Err(why) => {
            event(store, pod, SCHEDULER, "Warning", "FailedScheduling", &why);
            let now = store.stamp();
            set_status(store, "pods", key, "kube-scheduler", |pod| {
                condition(pod, &now, &["PodScheduled", "False", "Unschedulable", &why]);
            });
            let again = store.now + RETRY;
            store.look_at(again, "pods", key);
        }
    }
}

/// The node for a Pod, or why there is none.
fn place(store: &Store, pod: &Value) -> Result<String, String> {
    let namespace = text(pod, &["metadata", "namespace"]);
    for claim in wants::claims(pod) {
        match store.value("persistentvolumeclaims", &Key::new(namespace, claim)) {
            None => {
                return Err(format!(
                    "0/{} nodes are available: persistentvolumeclaim \"{claim}\" not found. not found",
                    count(store)
                ));
            }
            Some(claim) if text(&claim, &["status", "phase"]) != "Bound" => {
                return Err(format!(
                    "0/{0} nodes are available: pod has unbound immediate PersistentVolumeClaims. not found",
                    count(store)
                ));
            }
            Some(_) => {}
        }
    }
    let nodes: Vec<Value> = store
        .resources
        .get("nodes")
        .map_or(Vec::new(), |nodes| nodes.objects.values().map(|node| node.value()).collect());
    let mut refused: Vec<(&str, usize)> = Vec::new();
    let start = usize::try_from(store.version()).unwrap_or(0);
    for turn in 0..nodes.len() {
        let node = &nodes[(start + turn) % nodes.len()];
        match why_not(pod, node) {
            None => return Ok(text(node, &["metadata", "name"]).to_owned()),
            Some(why) => match refused.iter_mut().find(|(known, _)| *known == why) {
                Some((_, count)) => *count += 1,
                None => refused.push((why, 1)),
            },
        }
    }
    let total = nodes.len();
    if total == 0 {
        return Err("no nodes available to schedule pods".to_owned());
    }
    let why: Vec<String> = refused.iter().map(|(why, count)| format!("{count} {why}")).collect();
    Err(format!(
        "0/{total} nodes are available: {}. no new claims to deallocate, preemption: 0/{total} nodes are available: {total} Preemption is not helpful for scheduling.",
        why.join(", ")
    ))
}

fn count(store: &Store) -> usize {
    store.resources.get("nodes").map_or(0, |nodes| nodes.objects.len())
}

pub(super) fn why_not(pod: &Value, node: &Value) -> Option<&'static str> {
    let wanted = at(pod, &["spec", "nodeSelector"]).as_object();
    if wanted.into_iter().flatten().any(|(label, value)| at(node, &["metadata", "labels", label]) != value) {
        return Some("node(s) didn't match Pod's node affinity/selector");
    }
    if at(node, &["spec", "unschedulable"]).as_bool() == Some(true) {
        return Some("node(s) were unschedulable");
    }
    let asked: u64 = list(pod, &["spec", "containers"])
        .iter()
        .map(|container| millis(at(container, &["resources", "requests", "cpu"])))
        .sum();
    (asked > millis(at(node, &["status", "allocatable", "cpu"]))).then_some("Insufficient cpu")
}

/// Thousandths of a core.
fn millis(quantity: &Value) -> u64 {
    let text = match quantity {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return 0,
    };
    match text.strip_suffix('m') {
        Some(millis) => millis.parse().unwrap_or(0),
        None => text.parse::<f64>().map_or(0, |cores| (cores * 1000.0) as u64),
    }
}
