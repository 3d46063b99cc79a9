//! A plan carried out without writing anything: each step told as it would go, none waited for.
//!
//! The order is that of a real run, so that what a failure would stop is told too. An object whose
//! namespace or kind the set itself brings cannot be tried yet; it is told as created, with a warning
//! that says so.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::compare::compare;
use super::dispatch::{Stopping, try_anew};
use super::emit::Emitter;
use super::mutate::complete;
use super::options::RunOptions;
use super::schedule::{Milestone, Schedule, Stopped};
use crate::cluster::{Cluster, DeleteParams, Deletion, Resource};
use crate::error::{ApiError, ErrorClass};
use crate::event::{Action, Body, Conclusion, DryRun, Outcome, Skip, WarningSource};
use crate::id::{GroupKind, ObjectId};
use crate::inventory::Mark;
use crate::manifest::Object;
use crate::plan::{Decision, Lane, Live, LiveState, Plan, Step, marked};

/// How many requests are under way at once.
const AT_ONCE: usize = 16;

/// What a step would come to, and what is to be said about it.
type Answer = (Outcome, Vec<(WarningSource, Box<str>)>);
/// What was told of a step: whether its object would be gone.
type Told = Option<bool>;

pub(super) struct Rehearsal<'a> {
    pub cluster: &'a Cluster,
    pub options: &'a RunOptions,
    pub how: DryRun,
    pub mark: Option<Mark>,
    pub live: HashMap<ObjectId, Live>,
    pub deadline: Option<Instant>,
}

impl Rehearsal<'_> {
    /// Tells each step. Says why it stopped, when it did not get to the end.
    pub(super) async fn run(
        &self,
        plan: Plan,
        emit: &mut Emitter,
        cancel: &CancellationToken,
    ) -> Option<Stopping> {
        let coming = Coming::of(&plan.steps, &self.live);
        let mut told = vec![None; plan.steps.len()];
        let mut stopping = None;
        for lane in plan.lanes {
            if stopping.is_none() {
                stopping = self.lane(&plan.steps, lane, &coming, &mut told, emit, cancel).await;
            }
        }
        for (step, told) in plan.steps.iter().zip(told) {
            if told.is_none() {
                finish(step, Outcome::Cancelled, emit).await;
                conclude(step, Conclusion::Cancelled, emit).await;
            }
        }
        stopping
    }

    async fn lane(
        &self,
        steps: &[Step],
        lane: Lane,
        coming: &Coming,
        told: &mut [Told],
        emit: &mut Emitter,
        cancel: &CancellationToken,
    ) -> Option<Stopping> {
        let first = lane.steps.start;
        let missing = self.missing_outside(&lane);
        let mut schedule = Schedule::new(lane.graph, lane.action, |_| 0);
        let mut skipped = Vec::new();
        for at in lane.steps {
            if let Decision::Skip { skip, .. } | Decision::Release { skip, .. } = &steps[at].decision {
                tell(steps, at, Outcome::Skipped(skip.clone()), told, emit).await;
                skipped.push(at - first);
            }
        }
        for node in skipped {
            skip_all(steps, first, schedule.fail(node), "it was skipped", told, emit).await;
        }
        for (node, id) in missing {
            if told[first + node].is_none() {
                let skip = Skip::Dependency { chain: vec![id], reason: "it is not there".into() };
                tell(steps, first + node, Outcome::Skipped(skip), told, emit).await;
                skip_all(steps, first, schedule.fail(node), "it was skipped", told, emit).await;
            }
        }
        let left = told[..first].iter().position(|told| *told != Some(true)).filter(|_| lane.after_all);
        if let Some(left) = left {
            let chain = vec![steps[left].id().clone()];
            let skip = Skip::Dependency { chain, reason: "it would not be gone".into() };
            tell(steps, first, Outcome::Skipped(skip), told, emit).await;
        }
        let mut requests: FuturesUnordered<BoxFuture<'_, (usize, Answer)>> = FuturesUnordered::new();
        loop {
            while requests.len() < AT_ONCE {
                let Some(at) = schedule.pop().map(|node| first + node) else { break };
                if told[at].is_none() {
                    let (id, action) = (steps[at].id().clone(), steps[at].action);
                    emit.tell(Body::Started { id, action }).await;
                    let answer = self.answer(&steps[at], coming);
                    requests.push(Box::pin(async move { (at, answer.await) }));
                }
            }
            let (at, (outcome, warnings)) = tokio::select! {
                biased;
                () = cancel.cancelled() => return Some(Stopping::Cancelled),
                () = until(self.deadline) => return Some(Stopping::TimedOut),
                answer = requests.next() => match answer {
                    Some(answer) => answer,
                    None => return None,
                },
            };
            for (source, message) in warnings {
                let id = Some(steps[at].id().clone());
                emit.tell(Body::Warning { id, source, message }).await;
            }
            let failed = matches!(outcome, Outcome::Failed(_));
            tell(steps, at, outcome, told, emit).await;
            match failed {
                true => {
                    let stopped = schedule.fail(at - first);
                    skip_all(steps, first, stopped, "its own action failed", told, emit).await;
                }
                false => schedule.reach(at - first, Milestone::Settled),
            }
        }
    }

    /// Objects outside the set that are not there, each with the node that depends on it.
    fn missing_outside(&self, lane: &Lane) -> Vec<(usize, ObjectId)> {
        let absent = |id: &ObjectId| {
            let state = self.live.get(id).map(|live| &live.state);
            matches!(state, Some(LiveState::Absent | LiveState::NotServed))
        };
        let outside = lane.graph.external().iter().filter(|_| lane.action == Action::Apply);
        let missing = outside.filter(|dependency| absent(&dependency.id));
        missing.map(|dependency| (dependency.node as usize, dependency.id.clone())).collect()
    }

    async fn answer(&self, step: &Step, coming: &Coming) -> Answer {
        let id = step.id().clone();
        let state = self.live.get(&id).map_or(&LiveState::Unknown, |live| &live.state);
        match (step.action, &step.object) {
            (Action::Apply, Some(object)) => {
                if let Some(why) = coming.brings(&id) {
                    return (Outcome::Created, vec![(WarningSource::Run, why.into())]);
                }
                if let Some(source) = coming.source(object) {
                    let outcome =
                        if *state == LiveState::Absent { Outcome::Created } else { Outcome::Applied };
                    let text = format!(
                        "not verifiable yet: the value that it takes from {source:#} is not known until that exists"
                    );
                    return (outcome, vec![(WarningSource::Run, text.into())]);
                }
                let Some(resource) = self.cluster.resource(id.group_kind(), Some(object.version())) else {
                    let text =
                        format!("the cluster serves no kind {} in {}", id.kind(), object.api_version());
                    return failed(ApiError::local(ErrorClass::NotServed, text));
                };
                if self.how == DryRun::Client {
                    let absent = matches!(state, LiveState::Absent | LiveState::NotServed);
                    return (if absent { Outcome::Created } else { Outcome::Applied }, Vec::new());
                }
                let body = marked(object, self.mark.as_ref());
                match complete(self.cluster, object, body).await {
                    Ok(body) => self.apply(&resource, object, body).await,
                    Err(error) => failed(error),
                }
            }
            _ => self.delete(&id, state).await,
        }
    }

    async fn apply(&self, resource: &Resource, object: &Object, body: Bytes) -> Answer {
        let params = &self.options.apply;
        match compare(self.cluster, resource, object.id(), body.clone(), params).await {
            Ok(found) => {
                let outcome = found.outcome();
                (outcome, found.warnings.into_iter().map(|text| (WarningSource::Server, text)).collect())
            }
            Err(error)
                if error.class == ErrorClass::Immutable
                    && self.options.recreate.allows(object, resource.plural()) =>
            {
                match try_anew(self.cluster, resource, object, body, params).await {
                    Ok(()) => {
                        let text = format!("it would be deleted and created anew: {}", error.message);
                        (Outcome::Created, vec![(WarningSource::Run, text.into())])
                    }
                    Err(error) => failed(error),
                }
            }
            Err(error) => failed(error),
        }
    }

    async fn delete(&self, id: &ObjectId, state: &LiveState) -> Answer {
        let resource = self.cluster.resource(id.group_kind(), None);
        let uid = match (state, &resource) {
            (LiveState::Absent | LiveState::NotServed | LiveState::GroupGone, _) | (_, None) => {
                return (Outcome::AlreadyGone, Vec::new());
            }
            (LiveState::Present(uid), _) => Some(&**uid),
            (LiveState::Unknown, _) => None,
        };
        let Some(resource) = resource.filter(|_| self.how == DryRun::Server) else {
            return (Outcome::Deleted, Vec::new());
        };
        let params = DeleteParams { dry_run: true, ..self.options.delete.clone() };
        match self.cluster.delete(&resource, id.namespace(), id.name(), uid, &params).await {
            Ok(Deletion::Gone) => (Outcome::AlreadyGone, Vec::new()),
            Ok(Deletion::Accepted { warnings, .. }) => {
                (Outcome::Deleted, warnings.into_iter().map(|text| (WarningSource::Server, text)).collect())
            }
            Err(error) => failed(error),
        }
    }
}

fn failed(error: ApiError) -> Answer {
    (Outcome::Failed(error), Vec::new())
}

/// What is not there yet and the set brings.
struct Coming {
    namespaces: HashSet<Box<str>>,
    kinds: HashSet<GroupKind>,
    objects: HashSet<ObjectId>,
}

impl Coming {
    fn of(steps: &[Step], live: &HashMap<ObjectId, Live>) -> Self {
        let missing = |step: &&Step| {
            step.action == Action::Apply
                && step.decision == Decision::Go
                && live.get(step.id()).is_some_and(Live::is_missing)
        };
        let brought = || steps.iter().filter(missing);
        let namespaces = brought().filter(|step| step.id().group_kind().is("", "Namespace"));
        let kinds = brought().filter_map(|step| Some(step.object.as_ref()?.crd()?.group_kind().clone()));
        Self {
            namespaces: namespaces.map(|step| step.id().name().into()).collect(),
            kinds: kinds.collect(),
            objects: brought().map(|step| step.id().clone()).collect(),
        }
    }

    /// The object that comes with the set and that this one takes a value from.
    fn source<'o>(&self, object: &'o Object) -> Option<&'o ObjectId> {
        object.mutation_sources().into_iter().find(|source| self.objects.contains(*source))
    }

    fn brings(&self, id: &ObjectId) -> Option<String> {
        if self.kinds.contains(id.group_kind()) {
            return Some(format!("not verifiable yet: kind {} comes from this set", id.group_kind()));
        }
        self.namespaces
            .contains(id.namespace())
            .then(|| format!("not verifiable yet: namespace {} comes from this set", id.namespace()))
    }
}

async fn tell(steps: &[Step], at: usize, outcome: Outcome, told: &mut [Told], emit: &mut Emitter) {
    if told[at].is_none() {
        told[at] = Some(matches!(outcome, Outcome::Deleted | Outcome::AlreadyGone));
        finish(&steps[at], outcome, emit).await;
        conclude(&steps[at], Conclusion::NotAwaited, emit).await;
    }
}

async fn skip_all(
    steps: &[Step],
    first: usize,
    stopped: Vec<Stopped>,
    reason: &str,
    told: &mut [Told],
    emit: &mut Emitter,
) {
    for Stopped { node, chain } in stopped {
        let chain = chain.into_iter().map(|link| steps[first + link].id().clone()).collect();
        let skip = Skip::Dependency { chain, reason: reason.into() };
        tell(steps, first + node, Outcome::Skipped(skip), told, emit).await;
    }
}

async fn finish(step: &Step, outcome: Outcome, emit: &mut Emitter) {
    emit.tell(Body::Finished { id: step.id().clone(), action: step.action, outcome }).await;
}

async fn conclude(step: &Step, conclusion: Conclusion, emit: &mut Emitter) {
    emit.tell(Body::Concluded { id: step.id().clone(), conclusion }).await;
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}
