//! What a run will do, decided before its first write: steps, and the order among them.
//!
//! ```text
//!   Wanted (input, resolved and ordered) ─┐
//!   Inventory (what is ours)             ─┼─► Plan: steps in lanes ─► run
//!   Live (what the cluster has)          ─┘    apply │ prune, or delete
//! ```
//!
//! Pure. What is known of the cluster is handed in, so that the same decision can be shown by a dry
//! run, stored, and tested.

mod mark;
mod prune;
mod recreate;
mod saved;
mod torn;
mod tracked;
mod wanted;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use crate::event::{Action, Operation, Skip};
use crate::graph::Graph;
use crate::id::{GroupKind, ObjectId};
use crate::inventory::{Fate, Holds, OWNING_INVENTORY};
use crate::manifest::Object;

pub use mark::marked;
pub(crate) use mark::{keeping_marks, mark_in};
pub use recreate::{NeverRecreated, RECREATE, Recreate, trial};
pub use saved::{Moved, Pin, SavedPlan};
pub(crate) use tracked::protected;
pub use tracked::{Refusal, Tracking};
pub use wanted::Wanted;

/// One object and what is to be done with it.
#[derive(Debug)]
pub struct Step {
    id: ObjectId,
    /// What is to be done.
    pub action: Action,
    /// The object as the input has it; `None` for an object that is only in the inventory.
    pub object: Option<Object>,
    /// Whether it is done at all.
    pub decision: Decision,
}

/// Whether a step is done.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// It is.
    Go,
    /// It is not, for this reason; `fate` is what the inventory makes of it.
    Skip {
        /// The reason.
        skip: Skip,
        /// What becomes of its entry.
        fate: Fate,
    },
    /// The object is kept and given up: our mark is taken off, then it is skipped.
    Release {
        /// The reason.
        skip: Skip,
        /// Which life of the object carries the mark.
        uid: Box<str>,
    },
}

impl Step {
    fn new(object: Object, action: Action) -> Self {
        Self { id: object.id().clone(), action, object: Some(object), decision: Decision::Go }
    }

    /// The object's name.
    pub fn id(&self) -> &ObjectId {
        &self.id
    }

    /// Puts the object where it belongs, now that the scope of its kind is known.
    pub(crate) fn place(&mut self, object: Object) {
        self.id = object.id().clone();
        self.object = Some(object);
    }
}

/// Steps of one action, in one order. A lane opens when nothing of the one before can go on.
#[derive(Debug)]
pub struct Lane {
    /// What its steps do.
    pub action: Action,
    /// Which steps of the plan.
    pub steps: Range<usize>,
    /// Their order; nodes count from the start of the range.
    pub graph: Graph,
    /// It opens only when everything before it is gone, or is nobody's business in its namespace.
    pub after_all: bool,
}

/// What is known of a live object when the plan is made.
#[derive(Debug, Clone, Default)]
pub struct Live {
    /// Whether it is there.
    pub state: LiveState,
    /// Its resourceVersion, when it is there.
    pub version: Box<str>,
    /// Its annotations that decide, by whole name.
    pub annotations: Vec<(&'static str, Box<str>)>,
    /// The kind it defines, when it is a CRD whose kind is served.
    pub defines: Option<GroupKind>,
    /// What would go along with it; looked at only where that matters.
    pub holds: Holds,
}

/// Whether a live object is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LiveState {
    /// Nobody can tell.
    #[default]
    Unknown,
    /// Its kind is not served.
    NotServed,
    /// Its kind is not served, and nothing defines a kind of its group any more: with the definition its
    /// objects went.
    GroupGone,
    /// It is not.
    Absent,
    /// It is, with this uid.
    Present(Box<str>),
}

impl Live {
    fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.iter().find(|(known, _)| *known == key).map(|(_, value)| &**value)
    }

    fn exists(&self) -> bool {
        matches!(self.state, LiveState::Present(_))
    }

    /// True when it certainly does not exist.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.state, LiveState::Absent | LiveState::NotServed | LiveState::GroupGone)
    }
}

/// The steps of a run.
#[derive(Debug)]
pub struct Plan {
    /// What the run does.
    pub operation: Operation,
    /// All steps, lane by lane.
    pub steps: Vec<Step>,
    /// The lanes, in the order in which they open.
    pub lanes: Vec<Lane>,
    /// Entries of the inventory that need no step, with what becomes of them.
    pub settled: Vec<(ObjectId, Fate)>,
    /// One live object under two names: that of a step, and that of an entry which left the input.
    pub identical: Vec<(ObjectId, ObjectId)>,
    /// What the decisions left to say.
    pub notes: Vec<String>,
    /// Entries that were to go, of which nobody can tell whether they are there.
    pub unseen: Vec<ObjectId>,
}

impl Plan {
    /// The plan of a set that is not tracked: the input alone. `live` tells what the cluster has of it.
    pub fn untracked(operation: Operation, wanted: Wanted, live: &HashMap<ObjectId, Live>) -> Self {
        let action = action_of(operation);
        let Wanted { objects, graph, .. } = wanted;
        let mut steps: Vec<Step> = objects.into_iter().map(|object| Step::new(object, action)).collect();
        let mut owned: BTreeMap<&str, (usize, ObjectId)> = BTreeMap::new();
        for step in &mut steps {
            let Some(found) = live.get(&step.id).filter(|found| found.exists()) else { continue };
            step.decision = tracked::as_annotated(step, found);
            if let Some(owner) = found.annotation(OWNING_INVENTORY).filter(|_| action == Action::Apply) {
                owned.entry(owner).or_insert_with(|| (0, step.id.clone())).0 += 1;
            }
        }
        let lanes = vec![Lane { action, steps: 0..steps.len(), graph, after_all: false }];
        Self {
            operation,
            steps,
            lanes,
            settled: Vec::new(),
            identical: Vec::new(),
            notes: owned.into_iter().map(of_a_set).collect(),
            unseen: Vec::new(),
        }
    }

    /// How many steps really do something, by action.
    pub fn count(&self, action: Action) -> usize {
        self.steps.iter().filter(|step| step.action == action && step.decision == Decision::Go).count()
    }

    /// In how many namespaces the objects live.
    pub fn namespaces(&self) -> usize {
        let all: BTreeSet<&str> = self.steps.iter().map(|step| step.id.namespace()).collect();
        all.len() - usize::from(all.contains(""))
    }
}

/// What whoever applies objects of a set without it should know.
fn of_a_set((owner, (count, first)): (&str, (usize, ObjectId))) -> String {
    let (those, belong, remain, them) = match count {
        1 => (format!("{first:#}"), "belongs", "remains", "it"),
        _ => (format!("{count} objects, such as {first:#},"), "belong", "remain", "them"),
    };
    format!(
        "{those} {belong} to the set {owner} and {remain} in it, whose next run may undo this change: \
         apply {them} with the set"
    )
}

fn action_of(operation: Operation) -> Action {
    match operation {
        Operation::Apply | Operation::Status => Action::Apply,
        Operation::Destroy => Action::Delete,
    }
}
