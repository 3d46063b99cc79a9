//! Deployments: a ReplicaSet for each template, rolled from one to the next.

use std::time::Duration;

use serde_json::{Value, json};

use super::act::{
    self, MANAGER, counts, edit, event, is_terminating, set_status, share, template_hash, updated_condition,
};
use crate::json::{at, number, set, text};
use crate::store::{Key, Store};
use crate::write::{Propagation, delete_object};

const ID: &str = "deployments.apps";
const SETS: &str = "replicasets.apps";
const REVISION: &str = "deployment.kubernetes.io/revision";

/// A ReplicaSet of a Deployment.
struct Set {
    key: Key,
    hash: String,
    revision: i64,
    wanted: i64,
    replicas: i64,
    ready: i64,
    available: i64,
    terminating: i64,
}

pub(super) fn look(store: &mut Store, key: &Key) {
    let Some(deployment) = store.value(ID, key) else { return };
    if is_terminating(&deployment) {
        return;
    }
    let rollout = Rollout::new(&deployment);
    let paused = at(&deployment, &["spec", "paused"]).as_bool() == Some(true);
    let hash = template_hash(at(&deployment, &["spec", "template"]));
    let mut sets = sets(store, &deployment);
    let recreate = text(&deployment, &["spec", "strategy", "type"]) == "Recreate";
    let emptied = sets.iter().filter(|set| set.hash != hash).all(|set| set.replicas == 0 && set.wanted == 0);
    let mut created = None;
    if !paused && !sets.iter().any(|set| set.hash == hash) && (!recreate || emptied) {
        created = create_set(store, &deployment, &hash, &sets, &rollout);
        sets = self::sets(store, &deployment);
    }
    if paused {
        scale_paused(store, &sets, rollout.wanted);
    } else {
        roll(store, &sets, &hash, &rollout, recreate);
        revise(store, key, &sets, &hash);
        clean(store, &deployment, &sets, &hash);
    }
    // The sets as they are after that.
    let sets = self::sets(store, &deployment);
    report(store, key, &deployment, &sets, &hash, &rollout, created.as_deref(), paused);
}

struct Rollout {
    wanted: i64,
    surge: i64,
    unavailable: i64,
}

impl Rollout {
    fn new(deployment: &Value) -> Self {
        let wanted = number(deployment, &["spec", "replicas"]).unwrap_or(1);
        let limits = at(deployment, &["spec", "strategy", "rollingUpdate"]);
        let surge = share(&limits["maxSurge"], wanted, true);
        let unavailable = share(&limits["maxUnavailable"], wanted, false);
        // One of them must leave room.
        let unavailable = if surge == 0 && unavailable == 0 { 1 } else { unavailable.min(wanted) };
        Self { wanted, surge, unavailable }
    }
}

fn sets(store: &Store, deployment: &Value) -> Vec<Set> {
    let children = store.children(text(deployment, &["metadata", "uid"]), SETS);
    let living = children.into_iter().filter(|(_, set)| !is_terminating(set));
    let count = |set: &Value, field: &str| number(set, &["status", field]).unwrap_or(0);
    let mut sets: Vec<Set> = living
        .map(|(key, set)| Set {
            key,
            hash: text(&set, &["metadata", "labels", "pod-template-hash"]).to_owned(),
            revision: text(&set, &["metadata", "annotations", REVISION]).parse().unwrap_or(0),
            wanted: number(&set, &["spec", "replicas"]).unwrap_or(0),
            replicas: count(&set, "replicas"),
            ready: count(&set, "readyReplicas"),
            available: count(&set, "availableReplicas"),
            terminating: count(&set, "terminatingReplicas"),
        })
        .collect();
    sets.sort_by_key(|set| set.revision);
    sets
}

fn create_set(
    store: &mut Store,
    deployment: &Value,
    hash: &str,
    sets: &[Set],
    rollout: &Rollout,
) -> Option<String> {
    let name = format!("{}-{hash}", text(deployment, &["metadata", "name"]));
    let total: i64 = sets.iter().map(|set| set.wanted).sum();
    let replicas = rollout.wanted.min((rollout.wanted + rollout.surge - total).max(0));
    let replicas = if sets.is_empty() { rollout.wanted } else { replicas };
    let revision = sets.last().map_or(0, |set| set.revision) + 1;
    let spec = &deployment["spec"];
    let mut new = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": name, "namespace": deployment["metadata"]["namespace"],
            "labels": at(spec, &["template", "metadata", "labels"]),
            "annotations": {
                REVISION: revision.to_string(),
                "deployment.kubernetes.io/desired-replicas": rollout.wanted.to_string(),
                "deployment.kubernetes.io/max-replicas": (rollout.wanted + rollout.surge).to_string(),
            },
            "ownerReferences": act::owned_by(deployment),
        },
        "spec": { "replicas": replicas, "selector": spec["selector"], "template": spec["template"] },
    });
    if let Some(least) = number(spec, &["minReadySeconds"]) {
        set(&mut new, &["spec", "minReadySeconds"], least);
    }
    for path in [
        &["metadata", "labels"] as &[&str],
        &["spec", "selector", "matchLabels"],
        &["spec", "template", "metadata", "labels"],
    ] {
        let path: Vec<&str> = path.iter().copied().chain(["pod-template-hash"]).collect();
        set(&mut new, &path, hash);
    }
    act::create(store, SETS, MANAGER, new)?;
    store.mark_anew(text(deployment, &["metadata", "uid"]), "progress");
    let said = format!("Scaled up replica set {name} from 0 to {replicas}");
    event(store, deployment, "deployment-controller", "Normal", "ScalingReplicaSet", &said);
    Some(name)
}

fn scale(store: &mut Store, set: &Set, to: i64) {
    if set.wanted != to {
        edit(store, SETS, &set.key, |value| crate::json::set(value, &["spec", "replicas"], to));
    }
}

/// A paused Deployment is scaled all the same.
fn scale_paused(store: &mut Store, sets: &[Set], wanted: i64) {
    if let Some(newest) = sets.last() {
        scale(store, newest, wanted);
    }
}

fn roll(store: &mut Store, sets: &[Set], hash: &str, rollout: &Rollout, recreate: bool) {
    let total: i64 = sets.iter().map(|set| set.wanted).sum();
    let new = sets.iter().find(|set| set.hash == hash);
    let mut new_wanted = new.map_or(0, |set| set.wanted);
    if let Some(set) = new {
        let others: i64 = total - set.wanted;
        let room =
            if recreate || others == 0 { rollout.wanted } else { rollout.wanted + rollout.surge - total };
        let to = match rollout.wanted.cmp(&set.wanted) {
            std::cmp::Ordering::Less => rollout.wanted,
            _ if others == 0 => rollout.wanted,
            _ => (set.wanted + room.max(0)).min(rollout.wanted),
        };
        scale(store, set, to);
        new_wanted = to;
    }
    if recreate {
        sets.iter().filter(|set| set.hash != hash).for_each(|set| scale(store, set, 0));
        return;
    }
    let new_available = new.map_or(0, |set| set.available);
    let unavailable_new = (new_wanted - new_available).max(0);
    let mut spare = total.max(0) - (rollout.wanted - rollout.unavailable) - unavailable_new;
    for set in sets.iter().filter(|set| set.hash != hash && set.wanted > 0) {
        if spare <= 0 {
            break;
        }
        let fewer = set.wanted.min(spare);
        spare -= fewer;
        scale(store, set, set.wanted - fewer);
    }
}

/// The newest template has the highest revision, also when it is an old one again.
fn revise(store: &mut Store, key: &Key, sets: &[Set], hash: &str) {
    let Some(new) = sets.iter().find(|set| set.hash == hash) else { return };
    let highest = sets.iter().map(|set| set.revision).max().unwrap_or(1);
    let revision = if new.revision == highest { highest } else { highest + 1 }.to_string();
    if new.revision.to_string() != revision {
        edit(store, SETS, &new.key, |set| {
            crate::json::set(set, &["metadata", "annotations", REVISION], revision.as_str())
        });
    }
    edit(store, ID, key, |deployment| {
        set(deployment, &["metadata", "annotations", REVISION], revision.as_str())
    });
}

/// Old sets without Pods go when there are too many.
fn clean(store: &mut Store, deployment: &Value, sets: &[Set], hash: &str) {
    let limit = number(deployment, &["spec", "revisionHistoryLimit"]).unwrap_or(10);
    let old: Vec<&Set> =
        sets.iter().filter(|set| set.hash != hash && set.wanted == 0 && set.replicas == 0).collect();
    let excess = old.len().saturating_sub(usize::try_from(limit).unwrap_or(0));
    for set in old.into_iter().take(excess) {
        delete_object(store, SETS, &set.key, Propagation::Background, None);
    }
}

#[allow(clippy::too_many_arguments, reason = "one report of all that was found")]
fn report(
    store: &mut Store,
    key: &Key,
    deployment: &Value,
    sets: &[Set],
    hash: &str,
    rollout: &Rollout,
    created: Option<&str>,
    paused: bool,
) {
    let uid = text(deployment, &["metadata", "uid"]).to_owned();
    let sum = |field: fn(&Set) -> i64| sets.iter().map(field).sum::<i64>();
    let (replicas, ready, available) =
        (sum(|set| set.replicas), sum(|set| set.ready), sum(|set| set.available));
    let new = sets.iter().find(|set| set.hash == hash);
    let updated = new.map_or(0, |set| set.replicas);
    let wanted = rollout.wanted;
    let complete = updated == wanted
        && replicas == wanted
        && available == wanted
        && new.is_some_and(|set| set.wanted == wanted);
    let before = |field: &str| number(deployment, &["status", field]).unwrap_or(0);
    let better = updated > before("updatedReplicas")
        || ready > before("readyReplicas")
        || available > before("availableReplicas");
    let shrunk = replicas - updated < before("replicas") - before("updatedReplicas");
    if better || shrunk || store.marked(&uid, "progress").is_none() {
        store.mark_anew(&uid, "progress");
    }
    let limit = number(deployment, &["spec", "progressDeadlineSeconds"])
        .and_then(|seconds| u64::try_from(seconds).ok());
    let deadline = limit.map(|seconds| store.mark(&uid, "progress") + Duration::from_secs(seconds));
    let late = deadline.is_some_and(|deadline| deadline <= store.now) && !complete;
    if let Some(deadline) = deadline.filter(|deadline| !complete && *deadline > store.now) {
        store.look_at(deadline, ID, key);
    }
    let name = new.map(|set| set.key.name.to_string()).unwrap_or_default();
    let failed_before = super::act::condition_reason(deployment, "Progressing") == "ProgressDeadlineExceeded";
    let progressing = match () {
        () if paused => {
            ["Progressing", "Unknown", "DeploymentPaused", "Deployment is paused"].map(str::to_owned)
        }
        () if complete => said(
            "True",
            "NewReplicaSetAvailable",
            format!("ReplicaSet \"{name}\" has successfully progressed."),
        ),
        () if created.is_some() => {
            said("True", "NewReplicaSetCreated", format!("Created new replica set \"{name}\""))
        }
        () if late || (failed_before && !better && !shrunk) => said(
            "False",
            "ProgressDeadlineExceeded",
            format!("ReplicaSet \"{name}\" has timed out progressing."),
        ),
        () => said("True", "ReplicaSetUpdated", format!("ReplicaSet \"{name}\" is progressing.")),
    };
    let enough = available >= wanted - rollout.unavailable;
    let now = store.stamp();
    set_status(store, ID, key, MANAGER, |deployment| {
        counts(
            deployment,
            &[("terminatingReplicas", sum(|set| set.terminating))],
            &[
                ("replicas", replicas),
                ("updatedReplicas", updated),
                ("readyReplicas", ready),
                ("availableReplicas", available),
                ("unavailableReplicas", (sum(|set| set.wanted) - available).max(0)),
            ],
        );
        let available = match enough {
            true => ["Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability."],
            false => [
                "Available",
                "False",
                "MinimumReplicasUnavailable",
                "Deployment does not have minimum availability.",
            ],
        };
        updated_condition(deployment, &now, &available);
        updated_condition(deployment, &now, &progressing.each_ref().map(String::as_str));
    });
}

fn said(status: &str, reason: &str, message: String) -> [String; 4] {
    ["Progressing".to_owned(), status.to_owned(), reason.to_owned(), message]
}
