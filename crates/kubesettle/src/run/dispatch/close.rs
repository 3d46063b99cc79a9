//! Skips, conclusions, the end.

use std::collections::HashSet;

use kstatus::{Status, Verdict};

use super::others::REPLACED;
use super::{Dispatcher, Phase, Stopping};
use crate::error::ApiError;
use crate::event::{Body, Conclusion, Outcome, Skip};
use crate::id::ObjectId;
use crate::inventory::{Fate, Reconcile, Strategy};
use crate::plan::Decision;
use crate::run::schedule::Stopped;

impl Dispatcher {
    /// What the plan decided to leave alone is over before anything starts, each object for its own
    /// reason, and then what depends on those.
    pub(super) async fn skip_decided(&mut self) {
        let mut skipped = Vec::new();
        for node in 0..self.steps.len() {
            if let Decision::Skip { skip, fate } = self.steps[node].decision.clone() {
                self.tell_fate(node, fate);
                self.skip(node, skip).await;
                skipped.push(node);
            }
        }
        for node in skipped {
            self.stop_dependents(node).await;
        }
    }

    /// A lane that comes after all others stays shut as long as something is left that would be lost
    /// with it.
    pub(super) async fn guard_lane(&mut self) {
        let Some(lane) = self.lanes.get(self.open - 1).filter(|lane| lane.after_all) else { return };
        for node in lane.first..lane.end {
            let name = self.steps[node].id().name();
            let gone = |id: &ObjectId| match self.outcomes.fate(id) {
                Some(Fate::Gone) => true,
                Some(Fate::Abandoned | Fate::Identical) => id.namespace() != name,
                _ => false,
            };
            let before = self.steps[..node].iter().map(|step| step.id()).chain(&self.kept);
            let Some(left) = before.filter(|id| !gone(id)).min().cloned() else { continue };
            if self.nodes[node].phase() == Phase::Waiting {
                let reason = "it is not gone, and its set would be forgotten".into();
                self.tell_fate(node, Fate::Skipped(Strategy::Delete));
                self.skip(node, Skip::Dependency { chain: vec![left], reason }).await;
            }
        }
    }

    pub(super) async fn stop_dependents(&mut self, node: usize) {
        let Some(lane) = self.lane_of(node) else { return };
        let lane = &mut self.lanes[lane];
        let first = lane.first;
        let stopped = lane.schedule.fail(node - first);
        if stopped.is_empty() {
            return;
        }
        let reason = match (&self.nodes[node].conclusion, self.watcher.verdict(self.nodes[node].target)) {
            (Some(Conclusion::TimedOut), _) => String::from("did not settle in time"),
            (Some(Conclusion::Skipped), _) => String::from("it was skipped"),
            (Some(Conclusion::NotApplied | Conclusion::Unknown), _) => String::from("its own action failed"),
            _ if self.is_replaced(node) => String::from(REPLACED),
            (_, Some(verdict)) => format!("{}: {}", verdict.status, verdict.message),
            _ => String::from("did not get there"),
        };
        self.skip_all(first, stopped, None, &reason).await;
    }

    /// `beyond`: where it began, when that is not part of the run.
    pub(super) async fn skip_all(
        &mut self,
        first: usize,
        stopped: Vec<Stopped>,
        beyond: Option<&ObjectId>,
        reason: &str,
    ) {
        for Stopped { node, chain } in stopped {
            if self.nodes[first + node].conclusion.is_some() {
                continue;
            }
            let chain = chain.into_iter().map(|link| self.steps[first + link].id().clone());
            let chain = chain.chain(beyond.cloned()).collect();
            let strategy = if self.is_wanted(first + node) { Strategy::Apply } else { Strategy::Delete };
            self.tell_fate(first + node, Fate::Skipped(strategy));
            self.skip(first + node, Skip::Dependency { chain, reason: reason.into() }).await;
        }
    }

    pub(super) async fn skip(&mut self, node: usize, skip: Skip) {
        self.finish(node, Outcome::Skipped(skip)).await;
        self.conclude(node, Conclusion::Skipped).await;
    }

    pub(super) async fn conclude(&mut self, node: usize, conclusion: Conclusion) {
        let id = self.steps[node].id().clone();
        let timed_out = conclusion == Conclusion::TimedOut;
        let reconcile = match conclusion {
            Conclusion::Settled => Some(Reconcile::Succeeded),
            Conclusion::Failed => Some(Reconcile::Failed),
            Conclusion::TimedOut => Some(Reconcile::Timeout),
            Conclusion::Skipped | Conclusion::NotApplied => Some(Reconcile::Skipped),
            Conclusion::Unknown | Conclusion::Cancelled | Conclusion::NotAwaited => None,
        };
        if let Some(reconcile) = reconcile {
            self.outcomes.waited(&id, reconcile);
        }
        self.nodes.turn(node, Phase::Over);
        self.nodes[node].conclusion = Some(conclusion.clone());
        self.emit.tell(Body::Concluded { id, conclusion }).await;
        if timed_out {
            Box::pin(self.stop_dependents(node)).await;
        }
    }

    /// The run is over: every object gets a conclusion. True when all of them are as wanted.
    pub(super) async fn conclude_all(&mut self) -> bool {
        self.look_for_replaced().await;
        self.ask_after_a_backup().await;
        // Those that others wait for go first: what stands behind them is skipped for their sake.
        let outside: HashSet<usize> = self.external.values().flatten().copied().collect();
        let rank = |node: usize| match self.nodes[node].phase() {
            Phase::Awaiting => 0,
            Phase::Resting(_) => 1,
            _ if outside.contains(&node) => 1,
            _ => 2,
        };
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|node| rank(*node));
        for node in order {
            if self.nodes[node].conclusion.is_some() {
                continue;
            }
            let waiting = match self.stopping {
                Some(Stopping::TimedOut) | None => Conclusion::TimedOut,
                Some(_) => Conclusion::Cancelled,
            };
            let conclusion = match self.nodes[node].phase() {
                Phase::Awaiting => self.hopeless(node).unwrap_or(waiting),
                _ => {
                    let failing = self.nodes[node].error.take().map(|error| not_done(&error));
                    if let Some(verdict) = failing.or_else(|| self.awaits_outside(node)) {
                        let id = self.steps[node].id().clone();
                        self.emit.tell(Body::Verdict { id, verdict }).await;
                    }
                    self.finish(node, Outcome::Cancelled).await;
                    self.tell_fate(node, Fate::Untouched);
                    waiting
                }
            };
            self.conclude(node, conclusion).await;
        }
        let fine = |conclusion: &Option<Conclusion>| {
            matches!(conclusion, Some(Conclusion::Settled | Conclusion::Skipped | Conclusion::NotAwaited))
        };
        self.stopping.is_none() && self.nodes.iter().all(|node| fine(&node.conclusion))
    }
}

/// What can be said of an object whose request failed again and again until time was up.
fn not_done(error: &ApiError) -> Verdict {
    Verdict::new(Status::Unknown, error.class.as_str(), format!("not done yet: {error}"))
}
