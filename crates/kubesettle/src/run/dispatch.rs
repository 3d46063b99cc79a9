//! The dispatcher: one task that owns the state of every object of a run.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use kstatus::{Status, Uid, Verdict};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::emit::Emitter;
use super::options::RunOptions;
use super::pace::Pace;
use super::retry::{self, Budgets, Context};
use super::schedule::{Milestone, Schedule, Stopped};
use crate::cluster::{Cluster, Deletion, Written};
use crate::error::{ApiError, ErrorClass, ExitClass};
use crate::event::{Action, Awaited, Body, Conclusion, Operation, Outcome, Skip, Start, WarningSource};
use crate::id::ObjectId;
use crate::plan::{Plan, Step};
use crate::status::{Floor, Signal, Watcher};
use crate::watch::{Closed, Hub, Presence, Target};

/// Where one object stands.
#[derive(Debug, Default)]
struct Node {
    phase: Phase,
    attempts: u32,
    /// When its requests began to fail.
    failing: Option<Instant>,
    /// Since when its wait goes on.
    awaited: Option<Instant>,
    /// Its resourceVersion before our write, as the watch had it.
    before: Option<Box<str>>,
    /// The life of it that we deleted.
    deleted: Option<Uid>,
    conclusion: Option<Conclusion>,
    /// Its kind has been said to be missing.
    kind_missing_told: bool,
    /// How often discovery was asked for the kind it defines.
    looks: u32,
}

/// Established and served are different instants; discovery is asked once a second at most.
const LOOKS_FOR_A_KIND: u32 = 5;

#[derive(Debug, Default, PartialEq)]
enum Phase {
    /// Waits for others, or for a place.
    #[default]
    Waiting,
    /// Its request is under way.
    UnderWay,
    /// Its next attempt comes at this moment.
    Resting(Instant),
    /// Written; its verdict decides.
    Awaiting,
    /// Nothing more happens to it.
    Over,
}

enum Answer {
    Applied(Result<Written, ApiError>),
    Deleted(Result<Deletion, ApiError>),
    /// Discovery was asked again because this CRD was established.
    Discovered,
}

struct Dispatcher {
    cluster: Cluster,
    hub: Hub,
    options: RunOptions,
    operation: Operation,
    steps: Vec<Step>,
    nodes: Vec<Node>,
    schedule: Schedule,
    /// Nodes that wait for a target outside the set; targets follow the nodes in the watcher.
    external: HashMap<usize, Vec<usize>>,
    watcher: Watcher,
    emit: Emitter,
    pace: Pace,
    requests: FuturesUnordered<BoxFuture<'static, (usize, Answer)>>,
    open: usize,
    deadline: Option<Instant>,
    stopping: Option<Stopping>,
    own_namespaces: HashSet<Box<str>>,
    told: HashSet<Box<str>>,
}

/// Why nothing new starts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stopping {
    Cancelled,
    TimedOut,
    /// Nobody reads the events.
    Abandoned,
}

/// Carries out a plan that writes.
pub(super) async fn run(
    cluster: Cluster,
    hub: Hub,
    plan: Plan,
    options: RunOptions,
    mut emit: Emitter,
    cancel: CancellationToken,
) {
    let operation = plan.operation();
    let start = Start { operation, set: None, objects: plan.steps().len(), namespaces: plan.namespaces() };
    emit.tell(Body::Start(start)).await;
    for warning in plan.warnings() {
        let message = warning.as_str().into();
        emit.tell(Body::Warning { id: None, source: WarningSource::Input, message }).await;
    }
    let (steps, graph) = plan.into_parts();
    let mut external: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut targets: Vec<Target> = steps
        .iter()
        .map(|step| Target { id: step.id().clone(), version: Some(step.object.version().into()) })
        .collect();
    if operation == Operation::Apply {
        let mut index: HashMap<ObjectId, usize> = HashMap::new();
        for dependency in graph.external() {
            let target = *index.entry(dependency.id.clone()).or_insert_with(|| {
                targets.push(Target { id: dependency.id.clone(), version: None });
                targets.len() - 1
            });
            external.entry(target).or_default().push(dependency.node as usize);
        }
    }
    let mut judgement = options.judgement.clone();
    for step in &steps {
        judgement.facts.learn(step.object.json());
    }
    let action = if operation == Operation::Destroy { Action::Delete } else { Action::Apply };
    let waits_for = |node: usize| external.values().flatten().filter(|other| **other == node).count();
    let schedule = Schedule::new(graph, action, waits_for);
    let own_namespaces = steps
        .iter()
        .filter(|step| step.id().group_kind().is("", "Namespace"))
        .map(|s| s.id().name().into())
        .collect();
    let Ok(watcher) = Watcher::start(&hub, targets, judgement).await else { return };
    let mut dispatcher = Dispatcher {
        cluster,
        hub,
        operation,
        nodes: steps.iter().map(|_| Node::default()).collect(),
        open: steps.len(),
        steps,
        schedule,
        external,
        watcher,
        emit,
        pace: Pace::new(),
        requests: FuturesUnordered::new(),
        deadline: options.timeout.map(|limit| Instant::now() + limit),
        options,
        stopping: None,
        own_namespaces,
        told: HashSet::new(),
    };
    // An error here means that the runtime shuts down: there is nobody to tell.
    let _ = dispatcher.drive(cancel).await;
}

impl Dispatcher {
    async fn drive(&mut self, cancel: CancellationToken) -> Result<(), Closed> {
        let mut synced = false;
        let abandoned = self.emit.abandoned();
        tokio::pin!(abandoned);
        loop {
            if synced && self.stopping.is_none() {
                self.launch().await;
            }
            if self.finished() {
                break;
            }
            let wake = self.wake_at();
            let stopping = self.stopping.is_some();
            tokio::select! {
                () = cancel.cancelled(), if !stopping => self.stopping = Some(Stopping::Cancelled),
                () = &mut abandoned, if !stopping => self.stopping = Some(Stopping::Abandoned),
                Some((node, answer)) = self.requests.next() => self.answer(node, answer).await?,
                signal = self.watcher.next() => match signal? {
                    Signal::Synced => {
                        synced = true;
                        self.judge_external().await?;
                    }
                    Signal::Gap(gap) => {
                        let (kind, namespace, reason) = (gap.kind, gap.namespace, gap.reason);
                        self.emit.tell(Body::Gap { kind, namespace, reason }).await;
                    }
                    Signal::Verdicts(changed) => {
                        for target in changed {
                            self.verdict(target).await;
                        }
                    }
                },
                () = sleep_until(wake) => self.tick().await,
            }
        }
        self.conclude_all().await;
        Ok(())
    }

    /// Nothing more will happen, or nothing more is worth waiting for.
    fn finished(&self) -> bool {
        if !self.requests.is_empty() {
            return false;
        }
        self.stopping.is_some()
            || self.nodes.iter().enumerate().all(|(node, state)| match state.phase {
                Phase::Over => true,
                Phase::Awaiting => self.hopeless(node).is_some(),
                _ => false,
            })
    }

    /// How the wait for an object would end now, if nothing is to be hoped for.
    fn hopeless(&self, node: usize) -> Option<Conclusion> {
        if matches!(self.watcher.presence(node), Presence::Unknown(_)) {
            return Some(Conclusion::Unknown);
        }
        let verdict = self.watcher.verdict(node)?;
        match (self.operation, verdict.status) {
            (Operation::Apply, Status::Failed | Status::NotFound) => Some(Conclusion::Failed),
            _ => None,
        }
    }

    fn wake_at(&self) -> Instant {
        let reminder = self.emit.last() + self.options.reminder;
        let resting = self.nodes.iter().filter_map(|node| match node.phase {
            Phase::Resting(at) => Some(at),
            _ => None,
        });
        let limits = self.options.object_timeout.into_iter().flat_map(|limit| {
            self.nodes
                .iter()
                .filter(|node| node.phase == Phase::Awaiting)
                .filter_map(move |node| node.awaited.map(|since| since + limit))
        });
        resting.chain(limits).chain(self.deadline).chain([reminder]).min().unwrap_or(reminder)
    }

    async fn tick(&mut self) {
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| deadline <= now) && self.stopping.is_none() {
            self.stopping = Some(Stopping::TimedOut);
            return;
        }
        if let Some(limit) = self.options.object_timeout {
            let late: Vec<usize> = (0..self.nodes.len())
                .filter(|node| self.nodes[*node].phase == Phase::Awaiting)
                .filter(|node| self.nodes[*node].awaited.is_some_and(|since| since + limit <= now))
                .collect();
            for node in late {
                let conclusion = self.hopeless(node).unwrap_or(Conclusion::TimedOut);
                self.conclude(node, conclusion).await;
            }
        }
        if self.emit.last() + self.options.reminder <= now {
            self.remind().await;
        }
    }

    async fn remind(&mut self) {
        let mut awaited: Vec<Awaited> = self
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| node.phase != Phase::Over && node.conclusion.is_none())
            .map(|(index, node)| Awaited {
                id: self.steps[index].id().clone(),
                verdict: self.watcher.verdict(index).cloned(),
                since: node.awaited.map_or(Duration::ZERO, |since| since.elapsed()),
            })
            .collect();
        awaited.sort_by_key(|awaited| std::cmp::Reverse(awaited.since));
        let total = self.nodes.len();
        self.emit.tell(Body::Waiting { awaited, total }).await;
    }

    /// Sends what may be sent.
    async fn launch(&mut self) {
        let now = Instant::now();
        for node in 0..self.nodes.len() {
            if !self.pace.has_place() {
                return;
            }
            if matches!(self.nodes[node].phase, Phase::Resting(at) if at <= now) {
                self.send(node).await;
            }
        }
        while self.pace.has_place() {
            let Some(node) = self.schedule.pop() else { return };
            self.send(node).await;
        }
    }

    async fn send(&mut self, node: usize) {
        match self.steps[node].action {
            Action::Apply => self.send_apply(node).await,
            Action::Delete | Action::Prune => self.send_delete(node).await,
        }
    }

    async fn send_apply(&mut self, node: usize) {
        let object = &self.steps[node].object;
        let id = object.id().clone();
        let Some(resource) = self.cluster.resource(id.group_kind(), Some(object.version())) else {
            let error = self.kind_missing(node);
            return self.failed(node, Action::Apply, error).await;
        };
        self.started(node, Action::Apply).await;
        self.nodes[node].before = match self.watcher.presence(node) {
            Presence::Present(digest) => Some(digest.resource_version().into()),
            Presence::Absent { .. } => Some(Box::default()),
            _ => None,
        };
        let (cluster, params) = (self.cluster.clone(), self.options.apply.clone());
        let body = self.steps[node].object.json().clone();
        self.requests.push(Box::pin(async move {
            let answer = cluster.apply(&resource, id.namespace(), id.name(), body, &params).await;
            (node, Answer::Applied(answer))
        }));
    }

    async fn send_delete(&mut self, node: usize) {
        let id = self.steps[node].id().clone();
        let action = self.steps[node].action;
        let resource = self.cluster.resource(id.group_kind(), None);
        let (uid, deleting) = match self.watcher.presence(node) {
            Presence::Absent { .. } | Presence::NotServed => return self.gone_already(node).await,
            Presence::Present(digest) => (digest.uid(), digest.deleting()),
            Presence::Pending | Presence::Unknown(_) => (None, false),
        };
        let Some(resource) = resource else { return self.gone_already(node).await };
        self.started(node, action).await;
        self.nodes[node].deleted = uid;
        let (cluster, params) = (self.cluster.clone(), self.options.delete.clone());
        self.requests.push(Box::pin(async move {
            if deleting {
                let accepted = Deletion::Accepted { uid: None, removed: false, warnings: Vec::new() };
                return (node, Answer::Deleted(Ok(accepted)));
            }
            let uid = uid.map(|uid| uid.to_string());
            let answer = cluster.delete(&resource, id.namespace(), id.name(), uid.as_deref(), &params).await;
            (node, Answer::Deleted(answer))
        }));
    }

    async fn started(&mut self, node: usize, action: Action) {
        let first = self.nodes[node].attempts == 0;
        self.nodes[node].attempts += 1;
        self.nodes[node].phase = Phase::UnderWay;
        self.pace.enter();
        if first {
            let id = self.steps[node].id().clone();
            self.emit.tell(Body::Started { id, action }).await;
        }
    }

    /// The kind is not served: in no version, or not in the one the manifest wants.
    fn kind_missing(&self, node: usize) -> ApiError {
        let object = &self.steps[node].object;
        let kind = object.group_kind();
        if let Some(served) = self.cluster.resource(kind, None) {
            let message =
                format!("{kind} is not served in version {}; served: {}", object.version(), served.version());
            return ApiError::local(ErrorClass::BadRequest, message);
        }
        let near = self.cluster.near_kinds(kind);
        let near = if near.is_empty() { String::new() } else { format!("; like it: {}", near.join(", ")) };
        let message = format!("the cluster serves no kind {} in {}{near}", kind.kind(), object.api_version());
        ApiError::local(ErrorClass::NotServed, message)
    }

    async fn gone_already(&mut self, node: usize) {
        self.finish(node, self.steps[node].action, Outcome::AlreadyGone).await;
        self.schedule.reach(node, Milestone::Settled);
        self.conclude(node, Conclusion::Settled).await;
    }

    async fn answer(&mut self, node: usize, answer: Answer) -> Result<(), Closed> {
        match &answer {
            Answer::Discovered => {}
            Answer::Applied(Err(error)) | Answer::Deleted(Err(error)) => {
                self.pace.leave(error.class == ErrorClass::Throttled);
            }
            Answer::Applied(Ok(_)) | Answer::Deleted(Ok(_)) => self.pace.leave(false),
        }
        match answer {
            Answer::Discovered => self.discovered(node).await?,
            Answer::Applied(Ok(written)) if written.deleting => {
                let message = "the object is being deleted";
                self.failed(node, Action::Apply, ApiError::local(ErrorClass::Terminating, message)).await;
            }
            Answer::Applied(Ok(written)) => self.applied(node, written).await?,
            Answer::Deleted(Ok(deletion)) => self.deleted(node, deletion).await?,
            Answer::Applied(Err(error)) => self.failed(node, Action::Apply, error).await,
            Answer::Deleted(Err(error)) => {
                let action = self.steps[node].action;
                if error.class == ErrorClass::Replaced {
                    let message = "somebody created it anew while it was about to be deleted";
                    self.warn(node, WarningSource::Run, message).await;
                }
                self.failed(node, action, error).await;
            }
        }
        Ok(())
    }

    async fn applied(&mut self, node: usize, written: Written) -> Result<(), Closed> {
        for warning in &written.warnings {
            self.warn(node, WarningSource::Server, warning).await;
        }
        let outcome = match self.nodes[node].before.take() {
            _ if written.created => Outcome::Created,
            None => Outcome::Applied,
            Some(before) if *before == *written.resource_version => Outcome::Unchanged,
            Some(_) => Outcome::Configured,
        };
        self.finish(node, Action::Apply, outcome).await;
        self.schedule.reach(node, Milestone::Accepted);
        if self.steps[node].id().group_kind().is("", "Namespace") {
            self.schedule.reach(node, Milestone::Usable);
        }
        let floor = Floor {
            uid: Uid::parse(&written.uid),
            version: written.resource_version.parse().ok(),
            generation: written.generation,
        };
        self.nodes[node].phase = Phase::Awaiting;
        self.nodes[node].awaited = Some(Instant::now());
        if self.watcher.floor(node, floor).await? {
            self.verdict(node).await;
        }
        self.no_wait(node).await;
        Ok(())
    }

    async fn deleted(&mut self, node: usize, deletion: Deletion) -> Result<(), Closed> {
        let action = self.steps[node].action;
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
        self.finish(node, action, Outcome::Deleted).await;
        self.schedule.reach(node, Milestone::Accepted);
        self.nodes[node].phase = Phase::Awaiting;
        self.nodes[node].awaited = Some(Instant::now());
        if removed && matches!(self.watcher.presence(node), Presence::Unknown(_)) {
            self.schedule.reach(node, Milestone::Settled);
            self.conclude(node, Conclusion::Settled).await;
            return Ok(());
        }
        if self.watcher.judge(node).await? {
            self.verdict(node).await;
        }
        self.no_wait(node).await;
        Ok(())
    }

    /// Without a wait an accepted action is the end, unless others wait for more.
    async fn no_wait(&mut self, node: usize) {
        if !self.options.wait && self.nodes[node].phase == Phase::Awaiting && !self.schedule.waited_for(node)
        {
            self.conclude(node, Conclusion::NotAwaited).await;
        }
    }

    async fn failed(&mut self, node: usize, action: Action, error: ApiError) {
        let failing = *self.nodes[node].failing.get_or_insert_with(Instant::now);
        let budgets = Budgets {
            trouble: self.options.retry_budget,
            kind: self.options.kind_budget,
            deletion: self.options.deletion_budget,
        };
        let context = Context { comes_back: self.comes_back(node) };
        let attempt = self.nodes[node].attempts.max(1);
        let pause = retry::pause(&error, attempt, failing.elapsed(), &budgets, context, super::jitter());
        match pause.filter(|_| self.stopping.is_none()) {
            Some(delay) => {
                self.nodes[node].phase = Phase::Resting(Instant::now() + delay);
                // A missing kind is looked for silently after it was said once.
                let silent = error.class == ErrorClass::NotServed
                    && std::mem::replace(&mut self.nodes[node].kind_missing_told, true);
                if !silent {
                    let id = self.steps[node].id().clone();
                    self.emit.tell(Body::Retry { id, action, error, attempt, delay }).await;
                }
            }
            None => {
                let contact = matches!(error.class, ErrorClass::Unreachable | ErrorClass::TimedOut);
                self.finish(node, action, Outcome::Failed(error)).await;
                self.conclude(node, if contact { Conclusion::Unknown } else { Conclusion::NotApplied }).await;
                self.stop_dependents(node).await;
            }
        }
    }

    /// An object that is being deleted will be ours again: it, or its namespace, is in the set.
    fn comes_back(&self, node: usize) -> bool {
        let id = self.steps[node].id();
        self.operation == Operation::Apply
            && (self.own_namespaces.contains(id.namespace())
                || self.own_namespaces.contains(id.name()) && id.namespace().is_empty())
    }

    async fn finish(&mut self, node: usize, action: Action, outcome: Outcome) {
        let id = self.steps[node].id().clone();
        self.emit.tell(Body::Finished { id, action, outcome }).await;
    }

    async fn warn(&mut self, node: usize, source: WarningSource, message: &str) {
        let id = self.steps[node].id().clone();
        if self.told.insert(format!("{id:#} {message}").into()) {
            self.emit.tell(Body::Warning { id: Some(id), source, message: message.into() }).await;
        }
    }

    /// The verdict on a target changed.
    async fn verdict(&mut self, target: usize) {
        let Some(verdict) = self.watcher.verdict(target).cloned() else { return };
        if target >= self.nodes.len() {
            return self.external_verdict(target, &verdict).await;
        }
        if !matches!(self.nodes[target].phase, Phase::Awaiting) && self.nodes[target].conclusion.is_none() {
            return;
        }
        let id = self.steps[target].id().clone();
        let (status, was) = (verdict.status, self.nodes[target].conclusion.clone());
        if self.over_after_settling(target, status) || self.not_deleted_yet(target, status) {
            return;
        }
        self.emit.tell(Body::Verdict { id, verdict }).await;
        match (self.operation, status) {
            (Operation::Apply, Status::Current) | (Operation::Destroy, Status::NotFound) => {
                self.settled(target);
                if was != Some(Conclusion::Settled) {
                    self.conclude(target, Conclusion::Settled).await;
                }
            }
            (Operation::Destroy, _) if self.created_anew(target) => {
                self.warn(target, WarningSource::Run, "somebody created it anew after its deletion").await;
                self.schedule.reach(target, Milestone::Settled);
                self.conclude(target, Conclusion::Settled).await;
            }
            (Operation::Apply, Status::Failed | Status::NotFound) => {
                self.reopen(target);
                self.stop_dependents(target).await;
            }
            _ => self.reopen(target),
        }
    }

    /// Lets those start that waited for this object. A CRD is usable only when discovery has its kind.
    fn settled(&mut self, node: usize) {
        let defines = self.steps[node].object.crd().filter(|_| self.operation == Operation::Apply);
        match defines {
            Some(crd) if self.cluster.resource(crd.group_kind(), None).is_none() => self.discover(node),
            _ => self.schedule.reach(node, Milestone::Settled),
        }
    }

    fn discover(&mut self, node: usize) {
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
        let Some(crd) = self.steps[node].object.crd() else { return Ok(()) };
        let served = self.cluster.resource(crd.group_kind(), None).is_some();
        self.nodes[node].looks += 1;
        if !served && self.nodes[node].looks < LOOKS_FOR_A_KIND && self.stopping.is_none() {
            self.discover(node);
            return Ok(());
        }
        self.schedule.reach(node, Milestone::Settled);
        self.hub.kinds_changed().await
    }

    /// Verdicts of an object whose story is over are not told: a Job that finished may be taken away.
    fn over_after_settling(&self, node: usize, status: Status) -> bool {
        let settled = self.nodes[node].conclusion == Some(Conclusion::Settled);
        let finished_job = self.steps[node].id().group_kind().is("batch", "Job")
            && matches!(status, Status::NotFound | Status::Terminating);
        match self.nodes[node].conclusion {
            None => false,
            Some(_) if !settled => true,
            Some(_) => self.operation == Operation::Destroy || finished_job,
        }
    }

    /// The server accepted the deletion; a state from before that tells nothing.
    fn not_deleted_yet(&self, node: usize, status: Status) -> bool {
        self.operation == Operation::Destroy
            && !matches!(status, Status::Terminating | Status::NotFound | Status::Unknown)
            && !self.created_anew(node)
    }

    /// What had settled has not any more: its wait goes on.
    fn reopen(&mut self, node: usize) {
        let state = &mut self.nodes[node];
        if state.conclusion.take().is_some() {
            state.phase = Phase::Awaiting;
            self.open += 1;
        }
    }

    fn created_anew(&self, node: usize) -> bool {
        match (self.nodes[node].deleted, self.watcher.presence(node)) {
            (Some(deleted), Presence::Present(digest)) => digest.uid() != Some(deleted),
            _ => false,
        }
    }

    async fn judge_external(&mut self) -> Result<(), Closed> {
        for target in self.external.keys().copied().collect::<Vec<_>>() {
            if self.watcher.judge(target).await? {
                self.verdict(target).await;
            }
        }
        Ok(())
    }

    async fn external_verdict(&mut self, target: usize, verdict: &Verdict) {
        let met = match verdict.status {
            Status::Current => true,
            Status::Failed | Status::NotFound | Status::Unknown => false,
            Status::InProgress | Status::Terminating => return,
        };
        for node in self.external.remove(&target).unwrap_or_default() {
            if met {
                self.schedule.meet(node);
                continue;
            }
            let id = self.watcher.id(target).cloned();
            let reason = format!("{}: {}", verdict.status, verdict.message);
            let below = self.schedule.stop(node);
            let action = self.steps[node].action;
            let skip = Skip::Dependency { chain: id.into_iter().collect(), reason: reason.clone().into() };
            self.skip(node, action, skip).await;
            self.skip_all(below, &reason).await;
        }
    }

    async fn stop_dependents(&mut self, node: usize) {
        let stopped = self.schedule.fail(node);
        if stopped.is_empty() {
            return;
        }
        let reason = match (&self.nodes[node].conclusion, self.watcher.verdict(node)) {
            (Some(Conclusion::TimedOut), _) => String::from("did not settle in time"),
            (Some(Conclusion::NotApplied | Conclusion::Unknown), _) => String::from("its own action failed"),
            (_, Some(verdict)) => format!("{}: {}", verdict.status, verdict.message),
            _ => String::from("did not get there"),
        };
        self.skip_all(stopped, &reason).await;
    }

    async fn skip_all(&mut self, stopped: Vec<Stopped>, reason: &str) {
        for Stopped { node, chain } in stopped {
            let chain = chain.into_iter().map(|link| self.steps[link].id().clone()).collect();
            let action = self.steps[node].action;
            self.skip(node, action, Skip::Dependency { chain, reason: reason.into() }).await;
        }
    }

    async fn skip(&mut self, node: usize, action: Action, skip: Skip) {
        self.finish(node, action, Outcome::Skipped(skip)).await;
        self.conclude(node, Conclusion::Skipped).await;
    }

    async fn conclude(&mut self, node: usize, conclusion: Conclusion) {
        let id = self.steps[node].id().clone();
        let timed_out = conclusion == Conclusion::TimedOut;
        self.nodes[node].phase = Phase::Over;
        self.open = self.open.saturating_sub(usize::from(self.nodes[node].conclusion.is_none()));
        self.nodes[node].conclusion = Some(conclusion.clone());
        self.emit.tell(Body::Concluded { id, conclusion }).await;
        if timed_out {
            Box::pin(self.stop_dependents(node)).await;
        }
    }

    /// The run is over: every object gets a conclusion.
    async fn conclude_all(&mut self) {
        let stopping = self.stopping;
        for node in 0..self.nodes.len() {
            if self.nodes[node].conclusion.is_some() {
                continue;
            }
            let waiting = match stopping {
                Some(Stopping::Cancelled | Stopping::Abandoned) => Conclusion::Cancelled,
                Some(Stopping::TimedOut) | None => Conclusion::TimedOut,
            };
            let conclusion = match self.nodes[node].phase {
                Phase::Awaiting => self.hopeless(node).unwrap_or(waiting),
                _ => {
                    let action = self.steps[node].action;
                    self.finish(node, action, Outcome::Cancelled).await;
                    waiting
                }
            };
            self.conclude(node, conclusion).await;
        }
        let (class, message) = match stopping {
            None => (ExitClass::Ok, None),
            Some(Stopping::TimedOut) => (ExitClass::TimedOut, Some("the time limit was reached")),
            Some(Stopping::Cancelled | Stopping::Abandoned) => (ExitClass::Interrupted, Some("interrupted")),
        };
        self.emit.end(class, message.map(Into::into)).await;
    }
}
