//! From an answer to an outcome, a retry, or a floor for verdicts.

use std::time::Duration;

use kstatus::{Status, Uid};
use tokio::time::Instant;

use super::send::Target;
use super::{Answer, Dispatcher, LOOKS_FOR_A_KIND, Phase};
use crate::cluster::{Deletion, Written};
use crate::error::{ApiError, ErrorClass};
use crate::event::{Action, Body, Conclusion, Outcome, WarningSource};
use crate::inventory::{Fate, Strategy};
use crate::plan::Decision;
use crate::run::retry::{self, Budgets, Context, Failing};
use crate::run::schedule::Milestone;
use crate::status::Floor;
use crate::watch::{Closed, Presence};

/// A server is new for so long after a request that was not answered.
const NEWCOMER: Duration = Duration::from_secs(30);

impl Dispatcher {
    pub(super) async fn answer(&mut self, node: usize, answer: Answer) -> Result<(), Closed> {
        match &answer {
            Answer::Discovered => {}
            Answer::Applied(Err(error))
            | Answer::Deleted(Err(error))
            | Answer::Cleared(Err(error))
            | Answer::Released(Err(error)) => {
                self.pace.leave(error.class == ErrorClass::Throttled);
                if error.class.passes() && error.class != ErrorClass::Throttled {
                    self.unanswered = Some(Instant::now());
                }
            }
            Answer::Applied(Ok(_))
            | Answer::Deleted(Ok(_))
            | Answer::Cleared(Ok(_))
            | Answer::Released(Ok(())) => {
                self.pace.leave(false);
                self.nodes[node].failing = Failing::default();
            }
        }
        if let Answer::Applied(Err(error)) | Answer::Deleted(Err(error)) | Answer::Released(Err(error)) =
            &answer
        {
            self.nodes[node].unclear |= error.leaves_open();
        }
        match answer {
            Answer::Discovered => self.discovered(node).await?,
            Answer::Applied(Ok(written)) if written.deleting => {
                let error = self.being_deleted(node).await?;
                self.failed(node, error).await;
            }
            Answer::Applied(Ok(written)) => self.applied(node, written).await?,
            Answer::Deleted(Ok(deletion)) => self.deleted(node, deletion).await?,
            Answer::Released(Ok(())) => self.released(node).await,
            Answer::Cleared(answer) => self.cleared(node, answer).await?,
            Answer::Applied(Err(error)) if error.class == ErrorClass::Immutable => {
                if let Some(error) = self.recreate(node, error).await {
                    self.failed(node, error).await;
                }
            }
            Answer::Deleted(Err(error)) if is_another_life(&error) && self.target(node) != Target::Meant => {
                self.replaced(node).await;
            }
            // The mark that was to be taken off is off.
            Answer::Released(Err(error)) if self.nodes[node].unclear && error.status == Some(422) => {
                self.released(node).await;
            }
            Answer::Applied(Err(error))
                if error.class == ErrorClass::Replaced && self.pin(node).is_some() =>
            {
                self.warn(node, WarningSource::Run, "it was replaced since the plan was made").await;
                self.failed(node, error).await;
            }
            Answer::Applied(Err(error)) | Answer::Deleted(Err(error)) | Answer::Released(Err(error)) => {
                self.failed(node, error).await;
            }
        }
        Ok(())
    }

    async fn applied(&mut self, node: usize, written: Written) -> Result<(), Closed> {
        for warning in &written.warnings {
            self.warn(node, WarningSource::Server, warning).await;
        }
        let outcome = match self.nodes[node].before.take() {
            _ if written.created || self.made.as_ref() == Some(self.steps[node].id()) => Outcome::Created,
            None => Outcome::Applied,
            // Nobody had it, and a request of ours was not answered.
            Some(before) if before.is_empty() && self.nodes[node].unclear => Outcome::Created,
            Some(before) if *before == *written.resource_version => Outcome::Unchanged,
            Some(_) => Outcome::Configured,
        };
        self.tell_fate(node, Fate::Applied);
        self.finish(node, outcome).await;
        self.reach(node, Milestone::Accepted);
        if self.steps[node].id().group_kind().is("", "Namespace") {
            self.reach(node, Milestone::Usable);
        }
        let floor = Floor {
            uid: Uid::parse(&written.uid),
            version: written.resource_version.parse().ok(),
            generation: written.generation,
            before: self.nodes[node].generation,
        };
        self.nodes[node].written = Some(floor.clone());
        self.nodes.turn(node, Phase::Awaiting);
        if self.watcher.floor(self.nodes[node].target, floor).await? {
            self.verdict(self.nodes[node].target).await;
        }
        self.no_wait(node).await;
        Ok(())
    }

    /// The server took the write and will lose it: the object is on its way out.
    async fn being_deleted(&mut self, node: usize) -> Result<ApiError, Closed> {
        let target = self.nodes[node].target;
        self.watcher.judge(target).await?;
        let verdict = self.watcher.verdict(target).filter(|verdict| verdict.status == Status::Terminating);
        let held = verdict.and_then(|verdict| verdict.message.split_once("; ")).map(|(_, held)| held);
        let message = match held {
            Some(held) => format!("the object is being deleted: {held}"),
            None => "the object is being deleted".to_owned(),
        };
        Ok(ApiError::local(ErrorClass::Terminating, message))
    }

    async fn deleted(&mut self, node: usize, deletion: Deletion) -> Result<(), Closed> {
        let removed = match deletion {
            Deletion::Gone => {
                self.gone_already(node).await;
                return Ok(());
            }
            Deletion::Accepted { removed, warnings, .. } => {
                for warning in &warnings {
                    self.warn(node, WarningSource::Server, warning).await;
                }
                removed
            }
        };
        self.tell_fate(node, Fate::Deleting);
        self.finish(node, Outcome::Deleted).await;
        self.reach(node, Milestone::Accepted);
        self.nodes.turn(node, Phase::Awaiting);
        if removed && matches!(self.presence(node), Presence::Unknown(_)) {
            self.tell_fate(node, Fate::Gone);
            self.reach(node, Milestone::Settled);
            self.conclude(node, Conclusion::Settled).await;
            return Ok(());
        }
        if self.watcher.judge(self.nodes[node].target).await? {
            self.verdict(self.nodes[node].target).await;
        }
        self.no_wait(node).await;
        Ok(())
    }

    async fn released(&mut self, node: usize) {
        if let Decision::Release { skip, .. } = self.steps[node].decision.clone() {
            self.tell_fate(node, Fate::Abandoned);
            self.skip(node, skip).await;
        }
    }

    /// Without a wait an accepted action is the end, unless others wait for more.
    async fn no_wait(&mut self, node: usize) {
        if !self.options.wait && self.nodes[node].phase() == Phase::Awaiting && !self.waited_for(node) {
            self.conclude(node, Conclusion::NotAwaited).await;
        }
    }

    fn waited_for(&self, node: usize) -> bool {
        let lane = self.lane_of(node).and_then(|lane| self.lanes.get(lane));
        lane.is_some_and(|lane| lane.schedule.waited_for(node - lane.first))
    }

    pub(super) async fn failed(&mut self, node: usize, error: ApiError) {
        let budgets = Budgets {
            trouble: self.options.retry_budget,
            kind: self.options.kind_budget,
            deletion: self.options.deletion_budget,
        };
        let context = Context {
            comes_back: self.comes_back(node),
            pinned: self.pin(node).is_some(),
            removal: matches!(self.action(node), Action::Delete | Action::Prune),
            newcomer: self.unanswered.is_some_and(|at| at.elapsed() < NEWCOMER),
        };
        let attempt = self.nodes[node].attempts.max(1);
        let failing = self.nodes[node].failing.with(&error, context, Instant::now());
        let pause = failing.and_then(|failing| {
            retry::pause(&error, attempt, failing, &budgets, context, crate::watch::jitter())
        });
        let Some(delay) = pause.filter(|_| self.stopping.is_none()) else {
            return self.gave_up(node, error).await;
        };
        self.nodes.turn(node, Phase::Resting(Instant::now() + delay));
        self.nodes[node].error = Some(error.clone());
        // A missing kind is looked for silently after it was said once.
        let silent = error.class == ErrorClass::NotServed
            && std::mem::replace(&mut self.nodes[node].kind_missing_told, true);
        if !silent {
            let (id, action) = (self.steps[node].id().clone(), self.action(node));
            let error = error.clone();
            self.emit.tell(Body::Retry { id, action, error, attempt, delay }).await;
        }
    }

    pub(super) async fn gave_up(&mut self, node: usize, error: ApiError) {
        let state = &self.nodes[node];
        let unclear = state.unclear || (state.attempts > 0 && error.leaves_open());
        self.tell_fate(
            node,
            match (self.is_wanted(node), unclear) {
                (true, true) => Fate::Unclear,
                (true, false) => Fate::Refused(Strategy::Apply),
                (false, _) => Fate::Refused(Strategy::Delete),
            },
        );
        let conclusion = if error.lacks_contact() { Conclusion::Unknown } else { Conclusion::NotApplied };
        self.finish(node, Outcome::Failed(error)).await;
        self.conclude(node, conclusion).await;
        self.stop_dependents(node).await;
    }

    /// An object that is being deleted will be ours again: it, or its namespace, is in the set.
    fn comes_back(&self, node: usize) -> bool {
        let id = self.steps[node].id();
        self.is_wanted(node)
            && (self.own_namespaces.contains(id.namespace())
                || self.own_namespaces.contains(id.name()) && id.namespace().is_empty())
    }

    pub(super) async fn finish(&mut self, node: usize, outcome: Outcome) {
        let (id, action) = (self.steps[node].id().clone(), self.action(node));
        self.emit.tell(Body::Finished { id, action, outcome }).await;
    }

    pub(super) fn tell_fate(&mut self, node: usize, fate: Fate) {
        self.outcomes.tell(self.steps[node].id(), fate);
    }

    pub(super) async fn warn(&mut self, node: usize, source: WarningSource, message: &str) {
        let id = self.steps[node].id().clone();
        if self.told.insert(format!("{id:#} {message}").into()) {
            self.emit.tell(Body::Warning { id: Some(id), source, message: message.into() }).await;
        }
    }

    pub(super) fn discover(&mut self, node: usize) {
        let cluster = self.cluster.clone();
        self.requests.push(Box::pin(async move {
            // A failure shows in the table, which then still lacks the kind.
            let _ = cluster.refresh_discovery().await;
            (node, Answer::Discovered)
        }));
    }

    /// Objects of a kind that discovery does not have yet are let go after a few looks: their own
    /// retries wait for it.
    async fn discovered(&mut self, node: usize) -> Result<(), Closed> {
        let Some(crd) = self.steps[node].object.as_ref().and_then(|object| object.crd()) else {
            return Ok(());
        };
        let served = self.cluster.resource(crd.group_kind(), None).is_some();
        self.nodes[node].looks += 1;
        if !served && self.nodes[node].looks < LOOKS_FOR_A_KIND && self.stopping.is_none() {
            self.discover(node);
            return Ok(());
        }
        self.reach(node, Milestone::Settled);
        self.hub.kinds_changed().await
    }
}

/// The object of this name is not the one that was to be deleted.
fn is_another_life(error: &ApiError) -> bool {
    error.class == ErrorClass::Replaced && error.message.contains("UID in")
}
