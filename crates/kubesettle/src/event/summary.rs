//! Totals of a run, as a fold over its events.

use std::collections::HashMap;
use std::time::Duration;

use kstatus::{Status, Verdict};

use super::tally::{Conclusions, Tally};
use super::{Action, Body, Conclusion, Event, Operation, Outcome, Skip};
use crate::error::{ErrorClass, ExitClass};
use crate::id::ObjectId;

/// What is known of every object of a run so far, and how the run ends if nothing more comes.
///
/// Objects are counted, not events: an object that failed and then recovered is settled, and one
/// whose verdict changed ten times is one object. Objects keep the order in which they were first
/// heard of.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    operation: Option<Operation>,
    objects: Vec<ObjectSummary>,
    index: HashMap<ObjectId, usize>,
    invalid: usize,
    elapsed: Duration,
}

/// Where one object stands.
#[derive(Clone, Debug)]
pub struct ObjectSummary {
    /// The object.
    pub id: ObjectId,
    /// The result of each action on it, in the order they ended; at most one per action.
    pub outcomes: Vec<(Action, Outcome)>,
    /// How its wait ended; `None` while it goes on.
    pub conclusion: Option<Conclusion>,
    /// The last that was known of its state.
    pub verdict: Option<Verdict>,
}

impl ObjectSummary {
    fn new(id: &ObjectId) -> Self {
        Self { id: id.clone(), outcomes: Vec::new(), conclusion: None, verdict: None }
    }

    /// The failed action on this object and its error, if one failed.
    pub fn error(&self) -> Option<(Action, &crate::error::ApiError)> {
        self.outcomes.iter().find_map(|(action, outcome)| match outcome {
            Outcome::Failed(error) => Some((*action, error)),
            _ => None,
        })
    }

    /// Why an action on this object was not tried, if that is so.
    pub fn skip(&self) -> Option<(Action, &Skip)> {
        self.outcomes.iter().find_map(|(action, outcome)| match outcome {
            Outcome::Skipped(skip) => Some((*action, skip)),
            _ => None,
        })
    }

    /// True when nothing is left to say: settled, or nobody asked to wait and nothing failed.
    pub fn is_fine(&self) -> bool {
        let acted = self.outcomes.iter().all(|(_, outcome)| {
            !matches!(outcome, Outcome::Failed(_) | Outcome::Skipped(_) | Outcome::Cancelled)
        });
        acted && matches!(self.conclusion, Some(Conclusion::Settled | Conclusion::NotAwaited))
    }

    /// The exit class this object alone would give; a skip for a dependency gives none, because
    /// the object where it began has its own.
    fn exit_class(&self, operation: Option<Operation>) -> ExitClass {
        let acted = self.outcomes.iter().map(|(action, outcome)| match outcome {
            Outcome::Failed(error) => match error.class {
                ErrorClass::Unauthorized => ExitClass::Unreachable,
                // The run had begun: whether the request did anything, nobody can tell.
                _ if error.lacks_contact() => ExitClass::Unknown,
                _ => ExitClass::Failed,
            },
            Outcome::Skipped(Skip::Refused { .. }) if *action == Action::Apply => ExitClass::Refused,
            // Not tried because time was up: nobody interrupted anything.
            Outcome::Cancelled if self.conclusion == Some(Conclusion::TimedOut) => ExitClass::Ok,
            Outcome::Cancelled => ExitClass::Interrupted,
            _ => ExitClass::Ok,
        });
        let looked_only = operation == Some(Operation::Status);
        let waited = match self.conclusion {
            Some(Conclusion::Failed | Conclusion::NotApplied) => ExitClass::Failed,
            Some(Conclusion::TimedOut) => ExitClass::TimedOut,
            Some(Conclusion::Unknown) => ExitClass::Unknown,
            Some(Conclusion::Cancelled) => ExitClass::Interrupted,
            Some(Conclusion::NotAwaited) if looked_only => match self.verdict.as_ref().map(|v| v.status) {
                Some(Status::Failed) => ExitClass::Failed,
                Some(Status::Unknown) | None => ExitClass::Unknown,
                Some(_) => ExitClass::Ok,
            },
            Some(Conclusion::Settled | Conclusion::Skipped | Conclusion::NotAwaited) | None => ExitClass::Ok,
        };
        acted.fold(waited, ExitClass::or)
    }
}

impl Summary {
    /// A summary of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next event. Events that say nothing final change nothing but the time.
    pub fn observe(&mut self, event: &Event) {
        self.elapsed = self.elapsed.max(event.elapsed);
        match &event.body {
            Body::Start(start) => self.operation = Some(start.operation),
            Body::Invalid { objects, .. } => self.invalid += objects.len().max(1),
            Body::Started { id, .. } => {
                self.object(id);
            }
            Body::Finished { id, action, outcome } => {
                let outcomes = &mut self.object(id).outcomes;
                match outcomes.iter_mut().find(|(known, _)| known == action) {
                    Some(slot) => slot.1 = outcome.clone(),
                    None => outcomes.push((*action, outcome.clone())),
                }
            }
            Body::Verdict { id, verdict } => self.object(id).verdict = Some(verdict.clone()),
            Body::Concluded { id, conclusion } => self.object(id).conclusion = Some(conclusion.clone()),
            Body::Plan(_)
            | Body::Inventory { .. }
            | Body::Waiting { .. }
            | Body::Warning { .. }
            | Body::Gap { .. }
            | Body::Retry { .. }
            | Body::Summary(_)
            | Body::End { .. } => {}
        }
    }

    fn object(&mut self, id: &ObjectId) -> &mut ObjectSummary {
        let at = match self.index.get(id) {
            Some(at) => *at,
            None => {
                self.objects.push(ObjectSummary::new(id));
                self.index.insert(id.clone(), self.objects.len() - 1);
                self.objects.len() - 1
            }
        };
        &mut self.objects[at]
    }

    /// What the run does, once it has begun.
    pub fn operation(&self) -> Option<Operation> {
        self.operation
    }

    /// Every object heard of, in that order.
    pub fn objects(&self) -> &[ObjectSummary] {
        &self.objects
    }

    /// One object.
    pub fn get(&self, id: &ObjectId) -> Option<&ObjectSummary> {
        self.index.get(id).map(|at| &self.objects[*at])
    }

    /// The objects that are not as wanted (or not yet): failed, timed out, unknown, skipped, cancelled, awaited.
    pub fn unfinished(&self) -> impl Iterator<Item = &ObjectSummary> {
        self.objects.iter().filter(|object| !object.is_fine())
    }

    /// Input objects that were left out as invalid.
    pub fn invalid(&self) -> usize {
        self.invalid
    }

    /// Time from the start of the run to its latest event.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Results of one action over all objects.
    pub fn tally(&self, action: Action) -> Tally {
        let mut tally = Tally::default();
        for (_, outcome) in self.objects.iter().flat_map(|o| &o.outcomes).filter(|(a, _)| *a == action) {
            tally.count(outcome);
        }
        tally
    }

    /// Ends of all waits.
    pub fn conclusions(&self) -> Conclusions {
        let mut conclusions = Conclusions::default();
        for object in &self.objects {
            conclusions.count(object.conclusion.as_ref());
        }
        conclusions
    }

    /// How many objects have this status by their last verdict.
    pub fn with_status(&self, status: Status) -> usize {
        self.objects.iter().filter(|o| o.verdict.as_ref().is_some_and(|v| v.status == status)).count()
    }

    /// How the run ends, as far as its objects tell. What no object tells (a lost connection, a
    /// refusal) is the run's to add with [`ExitClass::or`].
    pub fn exit_class(&self) -> ExitClass {
        let class =
            self.objects.iter().map(|o| o.exit_class(self.operation)).fold(ExitClass::Ok, ExitClass::or);
        let skipped = || {
            self.objects.iter().any(|o| matches!(o.skip(), Some((Action::Apply, Skip::Dependency { .. }))))
        };
        // Skipped although nothing else went wrong: the cause lies outside the set or in invalid input.
        if class == ExitClass::Ok && skipped() { ExitClass::Failed } else { class }
    }
}

#[cfg(test)]
mod tests;
