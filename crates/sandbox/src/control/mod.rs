//! Small controllers. Each looks at one object as it is, does what is due, and says when to look
//! again; so what they do depends on the store and the clock alone.

mod act;
mod apiservices;
mod budgets;
mod claims;
mod collect;
mod containers;
mod crds;
mod daemonsets;
mod deployments;
mod jobs;
mod namespaces;
mod pods;
mod replicasets;
mod schedule;
mod statefulsets;
mod wants;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::json::{list, set, text};
use crate::store::{Key, Look, Store};

/// Looks at one object of its kind.
type Controller = fn(&mut Store, &Key);

/// Does everything that is due by `now`, each thing at its own time.
pub(crate) fn catch_up(store: &mut Store, now: Instant) {
    while let Some((at, look)) = store.agenda.pop(now) {
        store.now = store.now.max(at);
        look_at(store, &look);
    }
    store.now = store.now.max(now);
}

fn look_at(store: &mut Store, look: &Look) {
    if store.settings.collector {
        collect::look(store, look);
    }
    let settings = &store.settings;
    let (workloads, volumes) = (settings.workloads, settings.volumes);
    let (namespaces, crds) = (settings.namespaces, settings.crds);
    let rows: [(&str, bool, Controller); 11] = [
        ("pods", workloads, pods::look),
        ("replicasets.apps", workloads, replicasets::look),
        ("deployments.apps", workloads, deployments::look),
        ("statefulsets.apps", workloads, statefulsets::look),
        ("daemonsets.apps", workloads, daemonsets::look),
        ("jobs.batch", workloads, jobs::look),
        ("poddisruptionbudgets.policy", workloads, budgets::look),
        ("apiservices.apiregistration.k8s.io", workloads, apiservices::look),
        ("persistentvolumeclaims", volumes, claims::look),
        ("namespaces", namespaces, namespaces::look),
        ("customresourcedefinitions.apiextensions.k8s.io", crds, crds::look),
    ];
    if let Some((.., controller)) = rows.iter().find(|(of, on, _)| *of == &*look.resource && *on) {
        controller(store, &look.key);
    }
}

/// Sets a condition given as type, status, reason, message. Its time changes with its status.
pub(crate) fn condition(object: &mut Value, now: &str, [kind, status, reason, message]: &[&str; 4]) {
    let mut conditions = list(object, &["status", "conditions"]).to_vec();
    let mut new = json!({ "type": kind, "status": status, "lastTransitionTime": now });
    for (field, value) in [("reason", reason), ("message", message)] {
        if !value.is_empty() {
            new[field] = (*value).into();
        }
    }
    match conditions.iter_mut().find(|known| text(known, &["type"]) == *kind) {
        Some(known) => {
            if text(known, &["status"]) == *status {
                new["lastTransitionTime"] = known["lastTransitionTime"].clone();
            }
            *known = new;
        }
        None => conditions.push(new),
    }
    set(object, &["status", "conditions"], conditions);
}
