//! Targets that the subscriber itself does not want looked at: their state is known without the hub.

use std::sync::Arc;

use super::{Presence, ScopeStrategy, Target, TargetState};
use crate::error::{ApiError, ErrorClass};
use crate::id::ObjectId;

#[derive(Debug)]
pub(super) struct Outside {
    pub(super) scope: ScopeStrategy,
    targets: Vec<ObjectId>,
    /// How many of them, from the first on, have been told.
    told: usize,
}

impl Outside {
    pub(super) fn new(scope: ScopeStrategy) -> Self {
        Self { scope, targets: Vec::new(), told: 0 }
    }

    /// Keeps those that are not to be observed, and hands back the others.
    pub(super) fn admit(&mut self, targets: Vec<Target>) -> Vec<Target> {
        let (inside, outside): (Vec<_>, Vec<_>) =
            targets.into_iter().partition(|target| self.scope.admits(target.id.namespace()));
        for target in outside {
            if !self.targets.contains(&target.id) {
                self.targets.push(target.id);
            }
        }
        inside
    }

    pub(super) fn remove(&mut self, targets: &[ObjectId]) {
        let told = self.targets.get(..self.told).unwrap_or_default();
        self.told -= told.iter().filter(|target| targets.contains(target)).count();
        self.targets.retain(|target| !targets.contains(target));
    }

    /// The state of those that have not been told yet.
    pub(super) fn tell(&mut self) -> Option<Vec<(ObjectId, TargetState)>> {
        let new: Vec<_> = self.targets.iter().skip(self.told).map(state).collect();
        self.told = self.targets.len();
        (!new.is_empty()).then_some(new)
    }

    pub(super) fn states(&self) -> impl Iterator<Item = (ObjectId, TargetState)> + '_ {
        self.targets.iter().map(state)
    }
}

fn state(target: &ObjectId) -> (ObjectId, TargetState) {
    let why = format!("not watched: namespace {} is not among those to be watched", target.namespace());
    let presence = Presence::Unknown(Arc::new(ApiError::local(ErrorClass::BadRequest, why)));
    (
        target.clone(),
        TargetState { presence, marks: None, children: None, events: None, gap: None, rewinds: 0 },
    )
}
