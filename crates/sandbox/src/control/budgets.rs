//! PodDisruptionBudgets: how many Pods there are, and how many may go.

use std::time::Duration;

use serde_json::Value;

use super::act::{MANAGER, is_active, is_ready, set_status, share};
use super::condition;
use crate::json::{at, set, text};
use crate::store::{Key, Store};

const ID: &str = "poddisruptionbudgets.policy";
/// How often Pods are counted.
const AGAIN: Duration = Duration::from_secs(2);

pub(super) fn look(store: &mut Store, key: &Key) {
    let Some(budget) = store.value(ID, key) else { return };
    let again = store.now + AGAIN;
    store.look_at(again, ID, key);
    let pods = selected(store, key, &budget);
    let expected = pods.len() as i64;
    let healthy = pods.iter().filter(|pod| is_ready(pod)).count() as i64;
    let least = at(&budget, &["spec", "minAvailable"]);
    let desired = match at(&budget, &["spec", "maxUnavailable"]) {
        Value::Null if least.is_null() => 1,
        Value::Null => share(least, expected, true),
        most => (expected - share(most, expected, true)).max(0),
    };
    let allowed = if expected == 0 { 0 } else { (healthy - desired).max(0) };
    let now = store.stamp();
    set_status(store, ID, key, MANAGER, |budget| {
        for (field, count) in [
            ("currentHealthy", healthy),
            ("desiredHealthy", desired),
            ("disruptionsAllowed", allowed),
            ("expectedPods", expected),
        ] {
            set(budget, &["status", field], count);
        }
        let generation = budget["metadata"]["generation"].clone();
        set(budget, &["status", "observedGeneration"], generation);
        let (status, reason) =
            if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
        condition(budget, &now, &["DisruptionAllowed", status, reason, ""]);
    });
}

fn selected(store: &Store, key: &Key, budget: &Value) -> Vec<Value> {
    let wanted = at(budget, &["spec", "selector", "matchLabels"]);
    let Some(pods) = store.resources.get("pods") else { return Vec::new() };
    let here = pods
        .objects
        .range(Key::new(&key.namespace, "")..)
        .take_while(|(pod, _)| pod.namespace == key.namespace);
    here.filter(|(_, pod)| {
        wanted
            .as_object()
            .into_iter()
            .flatten()
            .all(|(label, value)| pod.labels.get(label).map(String::as_str) == value.as_str())
    })
    .map(|(_, pod)| pod.value())
    .filter(|pod| is_active(pod) && !text(pod, &["spec", "nodeName"]).is_empty())
    .collect()
}
