//! kapply's "the wait for an object begins", which our stream leaves to be inferred: the action
//! succeeded, and the first verdict after it is not the wanted one.

use std::collections::HashSet;

use kstatus::Status;
use kubesettle::event::{Action, Body, Event, Outcome};
use kubesettle::id::ObjectId;

/// Objects whose action succeeded and of which no verdict has come yet.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    applied: HashSet<ObjectId>,
    deleted: HashSet<ObjectId>,
}

impl Pending {
    /// The object whose wait this event shows to have begun.
    pub(crate) fn observe<'a>(&mut self, event: &'a Event) -> Option<&'a ObjectId> {
        match &event.body {
            Body::Finished { id, action, outcome } => {
                let done = match action {
                    Action::Apply => &mut self.applied,
                    // Its end is not what is waited for.
                    Action::Recreate => return None,
                    _ => &mut self.deleted,
                };
                if !matches!(outcome, Outcome::Failed(_) | Outcome::Skipped(_) | Outcome::Cancelled) {
                    done.insert(id.clone());
                }
                None
            }
            Body::Verdict { id, verdict } => {
                let applied = self.applied.remove(id) && verdict.status != Status::Current;
                let deleted = self.deleted.remove(id) && verdict.status != Status::NotFound;
                (applied || deleted).then_some(id)
            }
            Body::Concluded { id, .. } => {
                self.applied.remove(id);
                self.deleted.remove(id);
                None
            }
            _ => None,
        }
    }
}
