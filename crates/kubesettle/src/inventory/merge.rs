//! What the record holds before a run writes its first object, and after its last.
//!
//! # Contract
//!
//! * Before: everything that was in it, and everything that the run will write.
//! * After: an object that was in it leaves only when it is known to be gone, known to belong to
//!   nobody or somebody else, or known to be another entry of the record. Anything that could not be
//!   found out keeps it.
//! * An object that was not in it leaves when the run certainly did not create it.
//! * The order in which a run learns of these things does not count.

use std::collections::HashMap;

use super::model::{Entries, Entry};
use super::status::{Actuation, ObjectStatus, Reconcile, Strategy};
use crate::id::ObjectId;

/// The record to be written before the first object: old and new together, all of it pending.
pub fn before<'a>(old: &Entries, input: impl IntoIterator<Item = &'a ObjectId>) -> Entries {
    let pending = |strategy| Entry { status: Some(ObjectStatus::pending(strategy)) };
    let mut entries: Entries = old.keys().map(|id| (id.clone(), pending(Strategy::Delete))).collect();
    entries.extend(input.into_iter().map(|id| (id.clone(), pending(Strategy::Apply))));
    entries
}

/// What became of one object in a run, as far as that is certain.
///
/// The order is that of evidence: of two things told of one object the later one in this list counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// Nothing was sent for it: not to be pruned, cancelled before its turn, invalid, its kind or its
    /// group not served, no right to look.
    Untouched,
    /// Nothing was sent for it, because a policy, an annotation or another object said so.
    Skipped(Strategy),
    /// The server answered no, or the request could not be built.
    Refused(Strategy),
    /// The server accepted the deletion, and the object is not known to be gone.
    Deleting,
    /// It is not there: deleted, not found, or its kind is certain not to exist any more.
    Gone,
    /// It is there and no longer ours: kept by its annotation and our mark taken off, or it carries
    /// the mark of another inventory.
    Abandoned,
    /// It is an object that was just applied, under another group (same uid).
    Identical,
    /// An apply was sent and no answer came: it may be there.
    Unclear,
    /// The server accepted the apply.
    Applied,
}

/// What happens to the entry of an object, by its fate.
struct Rule {
    /// It stays when it was in the record before the run.
    stays: bool,
    /// It enters when it was not.
    enters: bool,
    /// The status to be recorded; `None` leaves the one from before the first write.
    status: Option<(Strategy, Actuation)>,
}

impl Fate {
    fn rule(self) -> Rule {
        use Actuation::{Failed, Pending, Skipped, Succeeded};
        use Strategy::{Apply, Delete};
        let (stays, enters, status) = match self {
            Self::Untouched => (true, false, None),
            Self::Skipped(strategy) => (true, false, Some((strategy, Skipped))),
            Self::Refused(strategy) => (true, false, Some((strategy, Failed))),
            Self::Deleting => (true, true, Some((Delete, Succeeded))),
            Self::Gone | Self::Abandoned | Self::Identical => (false, false, None),
            Self::Unclear => (true, true, Some((Apply, Pending))),
            Self::Applied => (true, true, Some((Apply, Succeeded))),
        };
        Rule { stays, enters, status }
    }
}

/// What is known of each object of a run. Things may be told in any order, and more than once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes(HashMap<ObjectId, Outcome>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Outcome {
    fate: Option<Fate>,
    reconcile: Option<Reconcile>,
}

impl Outcomes {
    /// Nothing is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// Something became of an object.
    pub fn tell(&mut self, id: &ObjectId, fate: Fate) {
        let known = &mut self.0.entry(id.clone()).or_default().fate;
        *known = (*known).max(Some(fate));
    }

    /// The wait for an object ended. Of several ends the worst one counts.
    pub fn waited(&mut self, id: &ObjectId, reconcile: Reconcile) {
        let known = &mut self.0.entry(id.clone()).or_default().reconcile;
        *known = (*known).max(Some(reconcile));
    }

    /// What is known of an object; `None` when nothing was told.
    pub fn fate(&self, id: &ObjectId) -> Option<Fate> {
        self.0.get(id)?.fate
    }
}

/// The record to be written after the last object.
///
/// `old` is what stood in the record before this run wrote to it, `written` what [`before`] made of
/// it. An object of which nothing was told stays: nobody knows.
///
/// An empty result is what allows a destroy to remove the inventory itself.
pub fn after(old: &Entries, written: &Entries, outcomes: &Outcomes) -> Entries {
    let recorded = old.keys().chain(written.keys().filter(|id| !old.contains_key(*id)));
    let mut entries = Entries::new();
    for id in recorded {
        let outcome = outcomes.0.get(id).copied().unwrap_or_default();
        let was = written.get(id).or_else(|| old.get(id)).copied().unwrap_or_default();
        let Some(fate) = outcome.fate else {
            entries.insert(id.clone(), was);
            continue;
        };
        let rule = fate.rule();
        let recorded = if old.contains_key(id) { rule.stays } else { rule.enters };
        if recorded {
            entries
                .insert(id.clone(), Entry { status: status(rule.status, outcome.reconcile).or(was.status) });
        }
    }
    entries
}

fn status(acted: Option<(Strategy, Actuation)>, waited: Option<Reconcile>) -> Option<ObjectStatus> {
    let (strategy, actuation) = acted?;
    let nothing_to_wait_for = matches!(actuation, Actuation::Skipped | Actuation::Failed);
    let reconcile = match waited {
        _ if nothing_to_wait_for => Reconcile::Skipped,
        Some(reconcile) => reconcile,
        None => Reconcile::Pending,
    };
    Some(ObjectStatus { strategy, actuation, reconcile })
}
