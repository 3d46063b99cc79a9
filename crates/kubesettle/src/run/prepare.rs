//! Between the input and the plan stands the cluster: which kinds it serves, and in which scope.

use crate::cluster::Cluster;
use crate::manifest::{InputProblems, Manifests, ResolveOptions, Resolved, ScopeAnswer};

/// Completes the input with what only the cluster knows: scopes, namespaces, unknown kinds.
///
/// # Errors
/// Every problem of every object at once.
pub fn resolve(
    cluster: &Cluster,
    manifests: Manifests,
    options: &ResolveOptions,
) -> Result<Resolved, InputProblems> {
    manifests.resolve(
        |kind, version| match cluster.resource(kind, Some(version)).or_else(|| cluster.resource(kind, None)) {
            Some(resource) if resource.namespaced() => ScopeAnswer::Namespaced,
            Some(_) => ScopeAnswer::Cluster,
            None => ScopeAnswer::UnknownKind { near: cluster.near_kinds(kind) },
        },
        options,
    )
}
