//! kapply's phases. There one action follows the other, layer by layer; here every object goes its own
//! way. So a phase begins with the first line of its kind and ends with the last, phases of applying
//! and of waiting overlap, and there is one of each where kapply has one for every layer.

use std::collections::HashSet;

use kubesettle::event::{Action, Body, Event, Operation, Outcome};
use kubesettle::id::ObjectId;

/// A kind of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Apply,
    Prune,
    Delete,
    Wait,
    Inventory,
}

impl Phase {
    fn of(action: Action) -> Self {
        match action {
            Action::Prune => Self::Prune,
            Action::Delete => Self::Delete,
            _ => Self::Apply,
        }
    }

    /// The word in the JSON form.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Prune => "Prune",
            Self::Delete => "Delete",
            Self::Wait => "Wait",
            Self::Inventory => "Inventory",
        }
    }
}

/// A phase begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Starts(Phase),
    Ends(Phase),
}

/// The inventory is told of once it is written, so its phase begins and ends at once.
const INVENTORY: [Turn; 2] = [Turn::Starts(Phase::Inventory), Turn::Ends(Phase::Inventory)];

/// Which phases go on.
#[derive(Debug, Default)]
pub(crate) struct Phases {
    operation: Option<Operation>,
    tracked: bool,
    rehearsed: bool,
    /// How many objects are to be applied, and how many to be deleted; unknown before the plan.
    applies: usize,
    removals: Option<usize>,
    done: usize,
    removed: usize,
    /// Objects whose action has ended and whose wait has not.
    awaited: HashSet<ObjectId>,
    /// The inventory has been written so often.
    written: usize,
    open: Vec<Phase>,
}

impl Phases {
    /// What happens before the lines of this event.
    pub(crate) fn before(&mut self, event: &Event) -> Vec<Turn> {
        let mut turns = Vec::new();
        match &event.body {
            Body::Start(start) => {
                self.operation = Some(start.operation);
                self.tracked = start.set.is_some();
                self.rehearsed = start.dry_run.is_some();
                self.applies = start.objects;
            }
            Body::Plan(counts) => {
                let all = counts.apply + counts.prune + counts.delete + counts.skip;
                if self.operation == Some(Operation::Destroy) {
                    self.applies = 0;
                }
                self.removals = Some(all.saturating_sub(self.applies));
                // kapply tells of it although nothing is written then.
                if self.rehearsed && self.tracked && self.operation == Some(Operation::Apply) {
                    turns.extend(INVENTORY);
                }
            }
            Body::Started { action, .. } => self.acts(*action, &mut turns),
            Body::Finished { action, outcome, .. } if !matches!(outcome, Outcome::Cancelled) => {
                self.acts(*action, &mut turns);
            }
            // A destroy writes its inventory before the first deletion too; kapply does not.
            Body::Inventory { .. } if self.operation == Some(Operation::Destroy) && self.written == 0 => {
                self.written += 1;
            }
            Body::Inventory { .. } => {
                self.written += 1;
                self.close(&mut turns);
                turns.extend(INVENTORY);
            }
            Body::Summary(_) => {
                self.close(&mut turns);
                let removed = self.operation == Some(Operation::Destroy) && self.written == 0;
                if self.tracked && self.removals.is_some() && (self.rehearsed || removed) {
                    turns.extend(INVENTORY);
                }
            }
            _ => {}
        }
        turns
    }

    /// A line about a wait comes next.
    pub(crate) fn waits(&mut self) -> Vec<Turn> {
        let mut turns = Vec::new();
        self.begin(Phase::Wait, &mut turns);
        turns
    }

    /// What happens after the lines of this event.
    pub(crate) fn after(&mut self, event: &Event) -> Vec<Turn> {
        let mut turns = Vec::new();
        match &event.body {
            Body::Finished { id, action, .. } => {
                self.awaited.insert(id.clone());
                let phase = Phase::of(*action);
                let over = match phase {
                    Phase::Apply => {
                        self.done += 1;
                        self.removals.is_some() && self.done >= self.applies
                    }
                    _ => {
                        self.removed += 1;
                        self.removals.is_some_and(|all| self.removed >= all)
                    }
                };
                if over {
                    self.end(phase, &mut turns);
                }
            }
            Body::Concluded { id, .. } => {
                self.awaited.remove(id);
                if self.awaited.is_empty() && self.open.as_slice() == [Phase::Wait] {
                    self.end(Phase::Wait, &mut turns);
                }
            }
            _ => {}
        }
        turns
    }

    fn acts(&mut self, action: Action, turns: &mut Vec<Turn>) {
        let phase = Phase::of(action);
        if phase != Phase::Apply && !self.open.contains(&phase) {
            self.close(turns);
        }
        self.begin(phase, turns);
    }

    fn begin(&mut self, phase: Phase, turns: &mut Vec<Turn>) {
        if !self.open.contains(&phase) {
            self.open.push(phase);
            turns.push(Turn::Starts(phase));
        }
    }

    fn end(&mut self, phase: Phase, turns: &mut Vec<Turn>) {
        if let Some(at) = self.open.iter().position(|open| *open == phase) {
            self.open.remove(at);
            turns.push(Turn::Ends(phase));
        }
    }

    fn close(&mut self, turns: &mut Vec<Turn>) {
        turns.extend(self.open.drain(..).map(Turn::Ends));
    }
}

#[cfg(test)]
mod tests;
