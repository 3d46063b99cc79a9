//! Between the input and the plan stands the cluster: which kinds it serves, and in which scope.

use crate::cluster::Cluster;
use crate::graph::{Graph, GraphOptions};
use crate::id::GroupKind;
use crate::manifest::{InputProblems, Manifests, ResolveOptions, ScopeAnswer};
use crate::plan::Wanted;
use crate::rules;

/// Completes the input with what only the cluster knows (scopes, namespaces, unknown kinds) and
/// orders it.
///
/// # Errors
/// Every problem of every object at once, cycles among them.
pub fn prepare(
    cluster: &Cluster,
    manifests: Manifests,
    resolve: &ResolveOptions,
    graph: &GraphOptions,
) -> Result<Wanted, InputProblems> {
    let scope_of = |kind: &GroupKind, version: &str| {
        let resource = cluster.resource(kind, Some(version)).or_else(|| cluster.resource(kind, None));
        match resource {
            Some(resource) if resource.namespaced() => ScopeAnswer::Namespaced,
            Some(_) => ScopeAnswer::Cluster,
            None => ScopeAnswer::UnknownKind { near: cluster.near_kinds(kind) },
        }
    };
    let (input, order) = Graph::of_input(manifests, scope_of, resolve, graph)?;
    let wanted = Wanted::new(input, order);
    let objects = wanted.objects().iter().map(|object| (&**object.json(), object.place()));
    let (rules, problems) = rules::of_definitions(objects);
    Ok(wanted.with_rules(rules, &problems))
}
