//! The plan of a tracked set: ownership checked, what left the input pruned.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

use super::prune::{Candidates, candidates};
use super::torn;
use super::{Decision, Lane, Live, LiveState, Plan, Step, Wanted};
use crate::event::{Action, Operation, Skip};
use crate::graph::{Graph, GraphOptions};
use crate::id::ObjectId;
use crate::inventory::{
    Fate, GuardRefusal, Inventory, InventoryPolicy, OWNING_INVENTORY, ProtectedKind, PruneCandidate,
    PruneFilters, PruneGuard, Strategy, can_apply, kept_by, namespaces_in_use,
};
use crate::manifest::Object;

/// The annotation of the input that leaves a live object alone.
const MUTATION: (&str, &str) = ("client.lifecycle.config.k8s.io/mutation", "ignore");

/// How a tracked run treats what is not, or no longer, its own.
#[derive(Debug, Clone, Default)]
pub struct Tracking {
    /// What may be done with objects that do not carry our mark.
    pub policy: InventoryPolicy,
    /// Leave alone what left the input.
    pub no_prune: bool,
    /// How much may be pruned.
    pub guard: PruneGuard,
    /// An empty input may prune everything.
    pub allow_empty: bool,
    /// Leave an object alone when something that it needs left the input, also where that is kept: its
    /// namespace, because the object lives in it. kapply does so.
    pub strict_needs: bool,
}

/// Why a plan is not carried out at all.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It would prune too much.
    Guard(GuardRefusal),
    /// The input is empty and the inventory is not.
    Empty {
        /// How many objects it would prune.
        entries: usize,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Guard(refusal) => refusal.fmt(f),
            Self::Empty { entries } => write!(
                f,
                "the input holds no object and the set has {entries}: applying it would delete them all; \
                 if that is meant, use destroy, or repeat with --allow-empty"
            ),
        }
    }
}

impl std::error::Error for Refusal {}

impl Plan {
    /// The plan of a tracked set. `live` tells what the cluster has of every object of the input and
    /// of the inventory.
    ///
    /// # Errors
    /// A reason to do nothing at all.
    pub fn tracked(
        operation: Operation,
        wanted: Wanted,
        inventory: &Inventory,
        tracking: &Tracking,
        live: &HashMap<ObjectId, Live>,
    ) -> Result<Self, Refusal> {
        let removing = operation == Operation::Destroy;
        if !removing && wanted.objects.is_empty() && !inventory.entries().is_empty() && !tracking.allow_empty
        {
            return Err(Refusal::Empty { entries: inventory.entries().len() });
        }
        let in_input: HashSet<ObjectId> = wanted
            .objects
            .iter()
            .map(|object| object.id().clone())
            .chain(wanted.invalid().cloned())
            .collect();
        // The namespace that the record lives in goes last, when nothing else is left to be recorded.
        let home = inventory.location().namespace_object();
        let (home, left): (Vec<ObjectId>, Vec<ObjectId>) = inventory
            .entries()
            .keys()
            .filter(|id| removing || !in_input.contains(*id))
            .cloned()
            .partition(|id| removing && *id == home);
        let namespaces: BTreeSet<&str> = match removing {
            true => BTreeSet::new(),
            false => namespaces_in_use(&in_input, inventory.location()),
        };
        let names: HashMap<&str, ObjectId> = wanted
            .objects
            .iter()
            .filter(|_| !removing)
            .filter_map(|object| match &live.get(object.id())?.state {
                LiveState::Present(uid) => Some((&**uid, object.id().clone())),
                _ => None,
            })
            .collect();
        let applied: BTreeSet<&str> = names.keys().copied().collect();
        let filters = PruneFilters {
            id: inventory.id(),
            policy: tracking.policy,
            namespaces: &namespaces,
            applied: &applied,
        };
        let action = if removing { Action::Delete } else { Action::Prune };
        let mut found = candidates(&left, live, &filters, action, tracking.no_prune && !removing);
        let last = candidates(&home, live, &filters, action, false);
        let Wanted { objects, graph, .. } = wanted;
        let mut steps: Vec<Step> = Vec::new();
        let mut lanes = Vec::new();
        if !removing {
            steps.extend(objects.into_iter().map(|object| Step::new(object, Action::Apply)));
            for step in &mut steps {
                step.decision = decide_apply(step, inventory.id(), tracking.policy, live);
            }
            torn::part(&mut steps, &mut found.steps, live, tracking.strict_needs);
            guard(&found, &tracking.guard, inventory, live)?;
            lanes.push(Lane { action: Action::Apply, steps: 0..steps.len(), graph, after_all: false });
        }
        let same = |(id, uid): &(ObjectId, Box<str>)| Some((names.get(&**uid)?.clone(), id.clone()));
        let identical = found.identical.iter().filter_map(same).collect();
        let (mut settled, mut notes, mut unseen) = (Vec::new(), Vec::new(), Vec::new());
        for (found, after_all) in [(found, false), (last, true)] {
            let first = steps.len();
            steps.extend(found.steps);
            settled.extend(found.settled);
            notes.extend(found.notes);
            unseen.extend(found.unseen);
            if !after_all || first < steps.len() {
                lanes.push(Lane { action, steps: first..steps.len(), graph: found.order, after_all });
            }
        }
        Ok(Self { operation, steps, lanes, settled, identical, notes, unseen })
    }
}

fn decide_apply(step: &Step, id: &str, policy: InventoryPolicy, live: &HashMap<ObjectId, Live>) -> Decision {
    let Some(found) = live.get(step.id()).filter(|found| found.exists()) else { return Decision::Go };
    let fate = Fate::Skipped(Strategy::Apply);
    if let Err(refusal) = can_apply(policy, found.annotation(OWNING_INVENTORY), id) {
        let skip = Skip::Refused { message: refusal.to_string().into(), hint: refusal.hint().into() };
        return Decision::Skip { skip, fate };
    }
    as_annotated(step, found)
}

/// What the annotations of an object that is there say about it, whoever it belongs to.
pub(super) fn as_annotated(step: &Step, live: &Live) -> Decision {
    let (message, strategy) = match step.action {
        Action::Prune | Action::Delete => match kept_by(|key| live.annotation(key)) {
            Some(kept) => (kept.to_string(), Strategy::Delete),
            None => return Decision::Go,
        },
        Action::Apply | Action::Recreate => {
            let asked = step.object.as_ref().and_then(|object| object.annotation(MUTATION.0));
            if asked != Some(MUTATION.1) {
                return Decision::Go;
            }
            (format!("annotation prevents apply ({:?}: {:?})", MUTATION.0, MUTATION.1), Strategy::Apply)
        }
    };
    Decision::Skip { skip: Skip::Kept { message: message.into() }, fate: Fate::Skipped(strategy) }
}

fn guard(
    found: &Candidates,
    guard: &PruneGuard,
    inventory: &Inventory,
    live: &HashMap<ObjectId, Live>,
) -> Result<(), Refusal> {
    let going: Vec<PruneCandidate> = found
        .steps
        .iter()
        .filter(|step| step.decision == Decision::Go)
        .map(|step| PruneCandidate {
            id: step.id().clone(),
            holds: live.get(step.id()).map(|live| live.holds.clone()).unwrap_or_default(),
        })
        .collect();
    guard.check(&going, inventory.entries().len()).map_err(Refusal::Guard)
}

/// The objects of protected kinds that a run would prune, as far as is known before its plan: what
/// they hold has to be looked at.
pub(crate) fn protected<'i>(
    wanted: &Wanted,
    inventory: &'i Inventory,
    tracking: &Tracking,
    live: &HashMap<ObjectId, Live>,
) -> Vec<&'i ObjectId> {
    if tracking.no_prune {
        return Vec::new();
    }
    let in_input: HashSet<&ObjectId> =
        wanted.objects.iter().map(Object::id).chain(wanted.invalid()).collect();
    let namespaces = namespaces_in_use(in_input.iter().copied(), inventory.location());
    let applied = BTreeSet::new();
    let filters = PruneFilters {
        id: inventory.id(),
        policy: tracking.policy,
        namespaces: &namespaces,
        applied: &applied,
    };
    let is_asked = |id: &&ObjectId| {
        let kind = ProtectedKind::of(id.group_kind());
        kind.is_some_and(|kind| !tracking.guard.allow.contains(&kind))
            && !in_input.contains(*id)
            && live.get(*id).is_some_and(|found| match &found.state {
                LiveState::Present(uid) => filters.check(id, uid, |key| found.annotation(key)).is_ok(),
                _ => false,
            })
    };
    inventory.entries().keys().filter(is_asked).collect()
}

pub(super) fn graph_of(steps: &[crate::manifest::Object]) -> (Graph, Vec<String>) {
    match Graph::build(steps, &GraphOptions::removal()) {
        Ok(graph) => {
            let warnings = graph.warnings().iter().map(ToString::to_string).collect();
            (graph, warnings)
        }
        Err(cycles) => (Graph::unordered(steps), vec![format!("{cycles}; they are deleted in no order")]),
    }
}
