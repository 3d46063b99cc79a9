use super::{Graph, GraphOptions};
use crate::id::GroupKind;
use crate::manifest::{InputProblems, InvalidPolicy, Manifests, ResolveOptions, Resolved, ScopeAnswer};

impl Graph {
    /// [`Manifests::resolve`] and [`Graph::build`] in one step, so that cycles are reported together
    /// with all other problems. With [`InvalidPolicy::Skip`] the objects of a cycle are left out.
    /// Nodes are positions in [`Resolved::objects`].
    ///
    /// # Errors
    ///
    /// All problems of loading, resolving and ordering.
    pub fn of_input(
        manifests: Manifests,
        scope_of: impl FnMut(&GroupKind, &str) -> ScopeAnswer,
        resolve: &ResolveOptions,
        options: &GraphOptions,
    ) -> Result<(Resolved, Self), InputProblems> {
        let mut resolved = manifests.resolve_leniently(scope_of, resolve);
        let graph = loop {
            match Self::build(resolved.objects(), options) {
                Ok(graph) => break graph,
                Err(found) => {
                    let members = found.cycles().iter().flat_map(|cycle| cycle.members.iter().copied());
                    let problems = found.cycles().iter().map(|cycle| cycle.problem.clone());
                    resolved.reject(&members.collect(), problems);
                }
            }
        };
        match resolve.invalid {
            InvalidPolicy::Refuse if !resolved.problems().is_empty() => {
                Err(InputProblems::new(resolved.into_problems()))
            }
            _ => Ok((resolved, graph)),
        }
    }
}
