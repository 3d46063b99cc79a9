//! What the bodies of objects do not tell, and what matters when they go: webhooks answer for others as
//! long as they are configured, and custom objects may be held by a finalizer of whoever looks after
//! them, who needs its pods and its rights for that.
//!
//! ```text
//!   webhook configurations ─► custom objects ─► what their controller may be made of ─► …
//! ```

use super::build::Pair;
use super::{Adjacency, Edge, EdgeOrigin, Gate};
use crate::id::GroupKind;
use crate::manifest::Object;

const ADMISSION: &str = "admissionregistration.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";

/// What answers calls of webhooks and looks after custom objects: workloads, and what they need.
const BACKSTAGE: [(&str, &str); 12] = [
    ("", "ConfigMap"),
    ("", "Pod"),
    ("", "Secret"),
    ("", "Service"),
    ("", "ServiceAccount"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    (RBAC, "ClusterRole"),
    (RBAC, "ClusterRoleBinding"),
    (RBAC, "Role"),
    (RBAC, "RoleBinding"),
];

/// No set has so many of both; beyond it the order is left as it is.
const MOST: usize = 1 << 21;

/// Edges to be read backwards. None closes a cycle: what depends on an object that goes early is left
/// where it is.
pub(super) fn pairs(objects: &[Object], dependents: &Adjacency) -> Vec<Pair> {
    let nodes = |is_it: &dyn Fn(&Object) -> bool| -> Vec<u32> {
        (0..).zip(objects).filter(|(_, object)| is_it(object)).map(|(node, _)| node).collect()
    };
    let defined: Vec<&GroupKind> =
        objects.iter().filter_map(|object| Some(object.crd()?.group_kind())).collect();
    let webhooks = nodes(&|object| {
        let kind = object.group_kind();
        kind.is(ADMISSION, "ValidatingWebhookConfiguration")
            || kind.is(ADMISSION, "MutatingWebhookConfiguration")
    });
    let customs = nodes(&|object| defined.contains(&object.group_kind()));
    let backstage =
        nodes(&|object| BACKSTAGE.iter().any(|(group, kind)| object.group_kind().is(group, kind)));
    if (webhooks.len() + customs.len()).saturating_mul(customs.len() + backstage.len()) > MOST {
        return Vec::new();
    }
    let behind = behind(dependents, webhooks.iter().chain(&customs));
    let free = |node: &&u32| !behind.get(**node as usize).copied().unwrap_or(true);
    let edge = |from: &u32, to: &u32, origin| (*from, Edge { node: *to, gate: Gate::Settled, origin });
    let mut pairs = Vec::new();
    for from in &webhooks {
        let guarded = customs.iter().filter(free).chain(backstage.iter().filter(free));
        pairs.extend(guarded.map(|to| edge(from, to, EdgeOrigin::Guard)));
    }
    for from in &customs {
        pairs.extend(backstage.iter().filter(free).map(|to| edge(from, to, EdgeOrigin::Controller)));
    }
    pairs
}

/// Which nodes depend on one of these, whatever the way.
fn behind<'n>(dependents: &Adjacency, of: impl Iterator<Item = &'n u32>) -> Vec<bool> {
    let mut behind = vec![false; dependents.len() as usize];
    let mut open: Vec<u32> = of.copied().collect();
    while let Some(node) = open.pop() {
        for edge in dependents.of(node) {
            if let Some(seen) = behind.get_mut(edge.node as usize)
                && !std::mem::replace(seen, true)
            {
                open.push(edge.node);
            }
        }
    }
    behind
}
