//! What a Pod's status looks like: phase, conditions and containers, from one word.

use serde_json::{Value, json};

use super::condition;
use crate::json::{list, set, text};

/// What all containers of a Pod are up to.
#[derive(Clone, Debug)]
pub(super) enum State {
    Ready,
    Unready,
    /// A reason and what it says.
    Waiting(&'static str, String),
    NoImage,
    InitCrash,
    Crashed,
    /// Exit code.
    Ended(i64),
}

impl State {
    /// The conditions Initialized, Ready and ContainersReady, as status and reason.
    fn conditions(&self) -> [(&'static str, &'static str); 2] {
        let initialized = match self {
            Self::InitCrash => ("False", "ContainersNotInitialized"),
            _ => ("True", ""),
        };
        let ready = match self {
            Self::Ready => ("True", ""),
            Self::Ended(0) => ("False", "PodCompleted"),
            Self::Ended(_) => ("False", "PodFailed"),
            _ => ("False", "ContainersNotReady"),
        };
        [initialized, ready]
    }

    /// One container: its state, and the last one when that ended.
    fn container(&self, pod: &str, name: &str, image: &str, now: &str) -> (Value, Option<Value>) {
        let ended = |code: i64| {
            let reason = if code == 0 { "Completed" } else { "Error" };
            json!({ "terminated": { "exitCode": code, "reason": reason, "startedAt": now, "finishedAt": now } })
        };
        let waiting = |reason: &str, message: &str| {
            let mut waiting = json!({ "waiting": { "reason": reason } });
            if !message.is_empty() {
                waiting["waiting"]["message"] = message.into();
            }
            waiting
        };
        match self {
            Self::Ready | Self::Unready => (json!({ "running": { "startedAt": now } }), None),
            Self::Waiting(reason, message) => (waiting(reason, message), None),
            Self::NoImage => {
                let message = format!(
                    "Back-off pulling image \"{image}\": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image \"{image}\": not found"
                );
                (waiting("ImagePullBackOff", &message), None)
            }
            Self::InitCrash => (waiting("PodInitializing", ""), None),
            Self::Crashed => {
                let message = format!("back-off 10s restarting failed container={name} pod={pod}");
                (waiting("CrashLoopBackOff", &message), Some(ended(1)))
            }
            Self::Ended(code) => (ended(*code), None),
        }
    }

    /// An init container.
    fn init(&self, first: bool, sidecar: bool, name: &str, now: &str) -> (bool, i64, Value) {
        match self {
            Self::InitCrash if first => {
                let message = format!("back-off 40s restarting failed container={name}");
                (false, 3, json!({ "waiting": { "reason": "CrashLoopBackOff", "message": message } }))
            }
            Self::InitCrash | Self::Waiting(..) => {
                (false, 0, json!({ "waiting": { "reason": "PodInitializing" } }))
            }
            _ if sidecar => (true, 0, json!({ "running": { "startedAt": now } })),
            _ => (
                true,
                0,
                json!({ "terminated": { "exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now } }),
            ),
        }
    }
}

/// Writes a state into a Pod's status.
pub(super) fn show(pod: &mut Value, now: &str, phase: &str, state: &State) {
    let names: Vec<String> = list(pod, &["spec", "containers"])
        .iter()
        .map(|container| text(container, &["name"]).to_owned())
        .collect();
    let unready = format!("containers with unready status: [{}]", names.join(" "));
    let [initialized, ready] = state.conditions();
    let message = if ready.1 == "ContainersNotReady" { unready.as_str() } else { "" };
    for (kind, (status, reason), message) in [
        ("Initialized", initialized, ""),
        ("Ready", ready, message),
        ("ContainersReady", ready, message),
        ("PodScheduled", ("True", ""), ""),
    ] {
        condition(pod, now, &[kind, status, reason, message]);
    }
    for gate in list(pod, &["spec", "readinessGates"]).to_vec() {
        condition(pod, now, &[text(&gate, &["conditionType"]), "True", "", ""]);
    }
    set(pod, &["status", "phase"], phase);
    let statuses = containers(pod, now, state);
    set(pod, &["status", "containerStatuses"], statuses);
    let init = init_containers(pod, now, state);
    if !init.is_empty() {
        set(pod, &["status", "initContainerStatuses"], init);
    }
}

fn containers(pod: &Value, now: &str, state: &State) -> Vec<Value> {
    let before = list(pod, &["status", "containerStatuses"]);
    let ready = matches!(state, State::Ready);
    let started = matches!(state, State::Ready | State::Unready);
    let pod_name = text(pod, &["metadata", "name"]);
    let each = list(pod, &["spec", "containers"]).iter().map(|container| {
        let (name, image) = (text(container, &["name"]), text(container, &["image"]));
        let old = before.iter().find(|old| text(old, &["name"]) == name);
        let restarts = old.and_then(|old| old["restartCount"].as_i64()).unwrap_or(0);
        let (now_state, last) = state.container(pod_name, name, image, now);
        let mut status = json!({
            "name": name, "image": image, "imageID": "", "ready": ready, "started": started, "state": now_state,
            "restartCount": restarts + i64::from(matches!(state, State::Crashed)),
            "lastState": last.or_else(|| old.map(|old| old["lastState"].clone())).unwrap_or_else(|| json!({})),
        });
        // A container that goes on has been running since it started.
        if let Some(old) = old.filter(|old| started && old["state"]["running"].is_object()) {
            status["state"] = old["state"].clone();
        }
        status
    });
    each.collect()
}

fn init_containers(pod: &Value, now: &str, state: &State) -> Vec<Value> {
    let each = list(pod, &["spec", "initContainers"]).iter().enumerate().map(|(index, container)| {
        let (name, image) = (text(container, &["name"]), text(container, &["image"]));
        let sidecar = text(container, &["restartPolicy"]) == "Always";
        let (ready, restarts, now_state) = state.init(index == 0, sidecar, name, now);
        let mut status = json!({
            "name": name, "image": image, "imageID": "", "ready": ready, "restartCount": restarts, "state": now_state, "lastState": {},
        });
        if restarts > 0 {
            status["lastState"] = json!({ "terminated": { "exitCode": 1, "reason": "Error", "startedAt": now, "finishedAt": now } });
        }
        status
    });
    each.collect()
}
