//! The scheduler and the kubelet: Pods get a node, and then go the way that an annotation names.
//!
//! `kubesettle.test/outcome` selects it; a Pod without it is ready at once, and one of a Job completes:
//!
//! | outcome | way |
//! | --- | --- |
//! | `slow-ready` | runs, and is ready after the delay (3 s) |
//! | `never-ready` | runs, and is never ready |
//! | `image-pull-backoff` | waits: the image cannot be pulled |
//! | `config-error` | waits: a ConfigMap it needs is missing |
//! | `crash-loop` | runs for the delay (1 s), fails, is back after 4 s, and so on |
//! | `init-crash` | its first init container fails again and again |
//! | `exit-1` | runs, and fails for good after the delay (at once); one that is always restarted crash-loops |
//! | `run-forever` | a Job's Pod does not complete |
//!
//! `kubesettle.test/delay` sets the delay, also that of a Job's Pod before it completes;
//! `kubesettle.test/delete-delay` keeps a deleted Pod for that long. A Pod with an IP has begun its way:
//! whoever sets its status by hand is not overruled, and without the IP the Pod begins again.

use std::time::Duration;

use serde_json::{Value, json};

use super::act::{condition_status, event, is_terminating, set_status};
use super::containers::{State, show};
use super::{schedule, wants};
use crate::clock::go_duration;
use crate::json::{at, list, remove, set, text};
use crate::store::{Key, Store};

const KUBELET: &str = "kubelet";
/// How long a container that crashed waits.
const BACK_OFF: Duration = Duration::from_secs(4);
/// How often a kubelet looks again for what a Pod lacks.
const RETRY: Duration = Duration::from_secs(5);

pub(super) fn look(store: &mut Store, key: &Key) {
    let Some(pod) = store.value("pods", key) else { return };
    if is_terminating(&pod) {
        return terminate(store, key, &pod);
    }
    if text(&pod, &["spec", "nodeName"]).is_empty() {
        return schedule::look(store, key, &pod);
    }
    if text(&pod, &["status", "podIP"]).is_empty() {
        return begin(store, key, &pod);
    }
    proceed(store, key, &pod);
}

fn annotation<'a>(pod: &'a Value, name: &str) -> &'a str {
    text(pod, &["metadata", "annotations", name])
}

fn outcome(pod: &Value) -> &str {
    annotation(pod, "kubesettle.test/outcome")
}

fn delay(pod: &Value, name: &str) -> Option<Duration> {
    go_duration(annotation(pod, name))
}

/// A deleted Pod stops, and then it is gone.
fn terminate(store: &mut Store, key: &Key, pod: &Value) {
    let uid = text(pod, &["metadata", "uid"]);
    let due = store.mark(uid, "deleted") + delay(pod, "kubesettle.test/delete-delay").unwrap_or_default();
    if store.now < due {
        return store.look_at(due, "pods", key);
    }
    if list(pod, &["metadata", "finalizers"]).is_empty() {
        store.remove("pods", key);
    } else if at(pod, &["metadata", "deletionGracePeriodSeconds"]).as_i64() != Some(0) {
        let mut stopped = pod.clone();
        set(&mut stopped, &["metadata", "deletionGracePeriodSeconds"], 0);
        store.put("pods", stopped);
    }
}

/// What an outcome looks like at first: phase, containers, and what an Event says about it.
fn first(outcome: &str, missing: Option<String>) -> (&'static str, State, Option<String>) {
    match (outcome, missing) {
        ("image-pull-backoff", _) => ("Pending", State::NoImage, Some("Error: ImagePullBackOff".to_owned())),
        ("config-error", _) => first("", Some("configmap \"settings\" not found".to_owned())),
        ("init-crash", _) => {
            ("Pending", State::InitCrash, Some("Back-off restarting failed container".to_owned()))
        }
        (_, Some(missing)) => {
            let said = format!("Error: {missing}");
            ("Pending", State::Waiting("CreateContainerConfigError", missing), Some(said))
        }
        ("slow-ready" | "never-ready" | "crash-loop", _) => ("Running", State::Unready, None),
        _ => ("Running", State::Ready, None),
    }
}

fn begin(store: &mut Store, key: &Key, pod: &Value) {
    let now = store.stamp();
    let retry = store.now + RETRY;
    if let Some(missing) = wants::volume(store, pod) {
        event(store, pod, KUBELET, "Warning", "FailedMount", &missing);
        change(store, key, pod, |pod| {
            show(pod, &now, "Pending", &State::Waiting("ContainerCreating", String::new()))
        });
        return store.look_at(retry, "pods", key);
    }
    let missing = wants::environment(store, pod);
    if missing.is_some() {
        store.look_at(retry, "pods", key);
    }
    let (phase, state, said) = first(outcome(pod), missing);
    if let Some(said) = said {
        let reason = if said.starts_with("Back-off") { "BackOff" } else { "Failed" };
        event(store, pod, KUBELET, "Warning", reason, &said);
    }
    store.mark_anew(text(pod, &["metadata", "uid"]), "began");
    let number = store.version();
    let address = format!("10.{}.{}.{}", 128 + (number >> 16 & 0x3f), number >> 8 & 0xff, number & 0xff);
    change(store, key, pod, |pod| {
        set(pod, &["status", "hostIP"], "10.0.0.1");
        set(pod, &["status", "podIP"], address.as_str());
        set(pod, &["status", "podIPs"], json!([{ "ip": address }]));
        set(pod, &["status", "startTime"], now.as_str());
        show(pod, &now, phase, &state);
    });
    store.soon("pods", key);
}

/// Writes the status that `edit` makes of the Pod's.
fn change(store: &mut Store, key: &Key, pod: &Value, edit: impl FnOnce(&mut Value)) {
    let mut new = pod.clone();
    edit(&mut new);
    set_status(store, "pods", key, KUBELET, |live| live["status"] = new["status"].take());
}

/// What comes after the beginning.
fn proceed(store: &mut Store, key: &Key, pod: &Value) {
    let uid = text(pod, &["metadata", "uid"]).to_owned();
    let began = store.mark(&uid, "began");
    let given = delay(pod, "kubesettle.test/delay");
    let after = |usual: Duration| began + given.unwrap_or(usual);
    let running = text(pod, &["status", "phase"]) == "Running";
    let waits_for = text(
        &list(pod, &["status", "containerStatuses"]).first().cloned().unwrap_or_default(),
        &["state", "waiting", "reason"],
    )
    .to_owned();
    let of_job =
        list(pod, &["metadata", "ownerReferences"]).iter().any(|owner| text(owner, &["kind"]) == "Job");
    let (due, phase, state) = match outcome(pod) {
        "crash-loop" => return crash(store, key, pod, &waits_for, given.unwrap_or(Duration::from_secs(1))),
        "slow-ready" if running && condition_status(pod, "Ready") == "False" => {
            (after(Duration::from_secs(3)), "Running", State::Ready)
        }
        "exit-1" if text(pod, &["spec", "restartPolicy"]) == "Always" => {
            return crash(store, key, pod, &waits_for, given.unwrap_or(Duration::from_secs(1)));
        }
        "exit-1" if running => (after(Duration::ZERO), "Failed", State::Ended(1)),
        "never-ready" | "run-forever" | "image-pull-backoff" | "config-error" | "init-crash" => return,
        _ if waits_for == "CreateContainerConfigError" => return look_again(store, key, pod),
        _ if of_job && running => (after(Duration::ZERO), "Succeeded", State::Ended(0)),
        _ => return,
    };
    if store.now < due {
        return store.look_at(due, "pods", key);
    }
    let now = store.stamp();
    change(store, key, pod, |pod| show(pod, &now, phase, &state));
}

/// Is what was missing there by now?
fn look_again(store: &mut Store, key: &Key, pod: &Value) {
    if wants::environment(store, pod).is_some() {
        let again = store.now + RETRY;
        return store.look_at(again, "pods", key);
    }
    let mut fresh = pod.clone();
    remove(&mut fresh, &["status", "podIP"]);
    begin(store, key, &fresh);
}

fn crash(store: &mut Store, key: &Key, pod: &Value, waits_for: &str, lives: Duration) {
    let uid = text(pod, &["metadata", "uid"]).to_owned();
    let waiting = waits_for == "CrashLoopBackOff";
    let since = if waiting { store.mark(&uid, "crashed") } else { store.mark(&uid, "began") };
    let due = since + if waiting { BACK_OFF } else { lives };
    if store.now < due {
        return store.look_at(due, "pods", key);
    }
    let now = store.stamp();
    if waiting {
        store.mark_anew(&uid, "began");
        change(store, key, pod, |pod| show(pod, &now, "Running", &State::Unready));
        return;
    }
    store.mark_anew(&uid, "crashed");
    event(store, pod, KUBELET, "Warning", "BackOff", "Back-off restarting failed container");
    change(store, key, pod, |pod| show(pod, &now, "Running", &State::Crashed));
}
