//! Jobs: Pods until enough have succeeded or too many have failed.

use std::time::Duration;

use serde_json::{Value, json};

use super::act::{
    self, MANAGER, condition_status, fresh_word, is_active, is_ready, is_terminating, set_status,
};
use super::condition;
use crate::json::{at, number, remove, set, text};
use crate::store::{Key, Store};
use crate::write::{Propagation, delete_object};

const ID: &str = "jobs.batch";
/// Before the first retry; each further one waits twice as long.
const BACK_OFF: Duration = Duration::from_secs(10);

pub(super) fn look(store: &mut Store, key: &Key) {
    let Some(job) = store.value(ID, key) else { return };
    if is_terminating(&job) {
        return;
    }
    if ["Complete", "Failed"].iter().any(|kind| condition_status(&job, kind) == "True") {
        return expire(store, key, &job);
    }
    let uid = text(&job, &["metadata", "uid"]).to_owned();
    let pods = store.children(&uid, "pods");
    let phase = |wanted: &str| {
        pods.iter().filter(|(_, pod)| text(pod, &["status", "phase"]) == wanted).count() as i64
    };
    let (succeeded, failed) = (phase("Succeeded"), phase("Failed"));
    if at(&job, &["spec", "suspend"]).as_bool() == Some(true) {
        return suspend(store, key, &pods);
    }
    let started = store.mark(&uid, "started");
    let completions = number(&job, &["spec", "completions"]).unwrap_or(1);
    let limit = number(&job, &["spec", "backoffLimit"]).unwrap_or(6);
    let active =
        number(&job, &["spec", "activeDeadlineSeconds"]).and_then(|seconds| u64::try_from(seconds).ok());
    let deadline = active.map(|seconds| started + Duration::from_secs(seconds));
    let end = match () {
        () if succeeded >= completions => Some([
            "SuccessCriteriaMet",
            "Complete",
            "CompletionsReached",
            "Reached expected number of succeeded pods",
        ]),
        () if failed > limit => Some([
            "FailureTarget",
            "Failed",
            "BackoffLimitExceeded",
            "Job has reached the specified backoff limit",
        ]),
        () if deadline.is_some_and(|deadline| deadline <= store.now) => Some([
            "FailureTarget",
            "Failed",
            "DeadlineExceeded",
            "Job was active longer than specified deadline",
        ]),
        () => None,
    };
    if let Some(deadline) = deadline.filter(|_| end.is_none()) {
        store.look_at(deadline, ID, key);
    }
    match end {
        Some(_) => {
            for (key, _) in pods.iter().filter(|(_, pod)| is_active(pod)) {
                delete_object(store, "pods", key, Propagation::Background, None);
            }
        }
        None => run(store, key, &job, &uid, completions - succeeded, failed),
    }
    report(store, key, &uid, succeeded, failed, end);
}

/// Starts the Pods that may run now.
fn run(store: &mut Store, key: &Key, job: &Value, uid: &str, left: i64, failed: i64) {
    let active = store.children(uid, "pods").iter().filter(|(_, pod)| is_active(pod)).count() as i64;
    let missing = left.min(number(job, &["spec", "parallelism"]).unwrap_or(1)) - active;
    if missing <= 0 {
        return;
    }
    if failed > 0 {
        if store.marked(uid, "retry").is_none() || number(job, &["status", "failed"]).unwrap_or(0) < failed {
            store.mark_anew(uid, "retry");
        }
        let due = store.mark(uid, "retry")
            + BACK_OFF * 2_u32.saturating_pow(u32::try_from(failed - 1).unwrap_or(6).min(6));
        if store.now < due {
            return store.look_at(due, ID, key);
        }
    }
    for _ in 0..missing {
        let name = format!("{}-{}", text(job, &["metadata", "name"]), fresh_word(store));
        let mut pod = act::pod_of(job, &name);
        crate::json::default(&mut pod, &["spec", "restartPolicy"], "Never");
        act::create(store, "pods", MANAGER, pod);
    }
}

fn suspend(store: &mut Store, key: &Key, pods: &[(Key, Value)]) {
    for (key, _) in pods.iter().filter(|(_, pod)| is_active(pod)) {
        delete_object(store, "pods", key, Propagation::Background, None);
    }
    let now = store.stamp();
    set_status(store, ID, key, MANAGER, |job| {
        condition(job, &now, &["Suspended", "True", "JobSuspended", "Job suspended"]);
        remove(job, &["status", "startTime"]);
        remove(job, &["status", "active"]);
    });
}

fn report(store: &mut Store, key: &Key, uid: &str, succeeded: i64, failed: i64, end: Option<[&str; 4]>) {
    let pods: Vec<Value> =
        store.children(uid, "pods").into_iter().map(|(_, pod)| pod).filter(is_active).collect();
    let ready = pods.iter().filter(|pod| is_ready(pod)).count() as i64;
    let active = if end.is_some() { 0 } else { pods.len() as i64 };
    let now = store.stamp();
    set_status(store, ID, key, MANAGER, |job| {
        crate::json::default(job, &["status", "startTime"], now.as_str());
        for (field, count) in [("active", active), ("succeeded", succeeded), ("failed", failed)] {
            if count == 0 { remove(job, &["status", field]) } else { set(job, &["status", field], count) }
        }
        set(job, &["status", "ready"], if end.is_some() { 0 } else { ready });
        set(job, &["status", "terminating"], 0);
        set(job, &["status", "uncountedTerminatedPods"], json!({}));
        if condition_status(job, "Suspended") == "True" {
            condition(job, &now, &["Suspended", "False", "JobResumed", "Job resumed"]);
        }
        if let Some([first, last, reason, message]) = end {
            condition(job, &now, &[first, "True", reason, message]);
            condition(job, &now, &[last, "True", reason, message]);
            if last == "Complete" {
                set(job, &["status", "completionTime"], now.as_str());
            }
        }
    });
}

/// A Job that is over goes after its time to live.
fn expire(store: &mut Store, key: &Key, job: &Value) {
    let Some(seconds) =
        number(job, &["spec", "ttlSecondsAfterFinished"]).and_then(|seconds| u64::try_from(seconds).ok())
    else {
        return;
    };
    let due = store.mark(text(job, &["metadata", "uid"]), "over") + Duration::from_secs(seconds);
    if store.now < due {
        return store.look_at(due, ID, key);
    }
    delete_object(store, ID, key, Propagation::Background, None);
}
