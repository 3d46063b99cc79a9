//! The dispatcher: one task that owns the state of every object of a run.
//!
//! | file | what |
//! | --- | --- |
//! | `mod` | the loop: what may happen next, until nothing more does |
//! | `send` | from a node that may start to a request |
//! | `answer` | from an answer to an outcome, a retry, a floor |
//! | `verdict` | from verdicts to milestones and conclusions |
//! | `close` | skips, conclusions, the end |

mod answer;
mod close;
mod node;
mod send;
mod verdict;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use kstatus::Status;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::emit::Emitter;
use super::options::RunOptions;
use super::pace::Pace;
use super::record::Lock;
use super::schedule::{Milestone, Schedule};
use crate::cluster::{Cluster, Deletion, Written};
use crate::error::ApiError;
use crate::event::{Action, Awaited, Body, Conclusion};
use crate::id::ObjectId;
use crate::inventory::Outcomes;
use crate::plan::{Plan, Step};
use crate::status::{Signal, Watcher};
use crate::watch::{Closed, Hub, Presence, until};

use node::{Node, Phase};

/// Established and served are different instants; discovery is asked once a second at most.
const LOOKS_FOR_A_KIND: u32 = 5;

enum Answer {
    Applied(Result<Written, ApiError>),
    Deleted(Result<Deletion, ApiError>),
    /// Our mark was taken off an object that is kept.
    Released(Result<(), ApiError>),
    /// Discovery was asked again because this CRD was established.
    Discovered,
}

/// Steps that go on side by side.
struct Lane {
    first: usize,
    end: usize,
    after_all: bool,
    schedule: Schedule,
}

/// Owns a run from its first request to its last conclusion.
pub(super) struct Dispatcher {
    cluster: Cluster,
    hub: Hub,
    options: RunOptions,
    /// The id that every applied object is marked with.
    mark: Option<Box<str>>,
    steps: Vec<Step>,
    nodes: Vec<Node>,
    /// The node of a watcher's target; the others are objects outside the set.
    node_of: Vec<Option<usize>>,
    /// Nodes that wait for a target outside the set.
    external: HashMap<usize, Vec<usize>>,
    lanes: Vec<Lane>,
    /// So many lanes are open.
    open: usize,
    watcher: Watcher,
    emit: Emitter,
    pace: Pace,
    requests: FuturesUnordered<BoxFuture<'static, (usize, Answer)>>,
    deadline: Option<Instant>,
    stopping: Option<Stopping>,
    own_namespaces: HashSet<Box<str>>,
    told: HashSet<Box<str>>,
    outcomes: Outcomes,
    lock: Option<Lock>,
    made: Option<ObjectId>,
    /// Entries of the record that need no step and stay in it.
    kept: Vec<ObjectId>,
}

/// Why nothing new starts.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stopping {
    Cancelled,
    TimedOut,
    /// Nobody reads the events.
    Abandoned,
    /// Another run has taken the set over.
    LockLost(String),
}

/// What a dispatcher is made of.
pub(super) struct Parts {
    pub cluster: Cluster,
    pub hub: Hub,
    pub options: RunOptions,
    pub mark: Option<Box<str>>,
    pub plan: Plan,
    pub watcher: Watcher,
    /// The watcher's target of each object.
    pub target_of: HashMap<ObjectId, usize>,
    pub emit: Emitter,
    pub deadline: Option<Instant>,
    pub lock: Option<Lock>,
    /// An object that this run has created already.
    pub made: Option<ObjectId>,
}

/// What is left of a dispatcher when its run is over.
pub(super) struct Remains {
    pub emit: Emitter,
    pub outcomes: Outcomes,
    pub lock: Option<Lock>,
    pub stopping: Option<Stopping>,
    /// Every object reached what was wanted of it, or was left out for good.
    pub complete: bool,
}

impl Dispatcher {
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { cluster, hub, options, mark, plan, watcher, target_of, emit, deadline, lock, made } =
            parts;
        let mut external: HashMap<usize, Vec<usize>> = HashMap::new();
        for lane in plan.lanes.iter().filter(|lane| lane.action == Action::Apply) {
            for dependency in lane.graph.external() {
                if let Some(target) = target_of.get(&dependency.id) {
                    external.entry(*target).or_default().push(lane.steps.start + dependency.node as usize);
                }
            }
        }
        let waits_for = |node: usize| external.values().flatten().filter(|other| **other == node).count();
        let mut lanes = Vec::with_capacity(plan.lanes.len());
        for lane in plan.lanes {
            let first = lane.steps.start;
            let schedule = Schedule::new(lane.graph, lane.action, |node| waits_for(first + node));
            lanes.push(Lane { first, end: lane.steps.end, after_all: lane.after_all, schedule });
        }
        let own_namespaces = plan
            .steps
            .iter()
            .filter(|step| step.action == Action::Apply && step.id().group_kind().is("", "Namespace"))
            .map(|step| step.id().name().into())
            .collect();
        let mut node_of = vec![None; watcher.len()];
        let nodes = plan
            .steps
            .iter()
            .enumerate()
            .map(|(node, step)| {
                let target = target_of.get(step.id()).copied().unwrap_or(usize::MAX);
                if let Some(slot) = node_of.get_mut(target) {
                    *slot = Some(node);
                }
                Node::at(target)
            })
            .collect();
        let mut outcomes = Outcomes::new();
        for (id, fate) in &plan.settled {
            outcomes.tell(id, *fate);
        }
        let kept = plan.settled.into_iter().map(|(id, _)| id).collect();
        Self {
            cluster,
            hub,
            options,
            mark,
            steps: plan.steps,
            nodes,
            node_of,
            external,
            lanes,
            open: 1,
            watcher,
            emit,
            pace: Pace::new(),
            requests: FuturesUnordered::new(),
            deadline,
            stopping: None,
            own_namespaces,
            told: HashSet::new(),
            outcomes,
            lock,
            made,
            kept,
        }
    }

    /// Carries the plan out. The watcher has synced.
    pub(super) async fn run(mut self, cancel: CancellationToken) -> Result<Remains, Closed> {
        self.skip_decided().await;
        self.judge_external().await?;
        self.drive(cancel).await?;
        let complete = self.conclude_all().await;
        let Self { emit, outcomes, lock, stopping, .. } = self;
        Ok(Remains { emit, outcomes, lock, stopping, complete })
    }

    async fn drive(&mut self, cancel: CancellationToken) -> Result<(), Closed> {
        let abandoned = self.emit.abandoned();
        tokio::pin!(abandoned);
        loop {
            if self.stopping.is_none() {
                self.launch().await;
            }
            if self.requests.is_empty() && (self.stopping.is_some() || self.quiet()) {
                if self.stopping.is_some() || self.open >= self.lanes.len() {
                    return Ok(());
                }
                self.open += 1;
                self.guard_lane().await;
                continue;
            }
            let wake = self.wake_at();
            let renew = self.lock.as_ref().map(Lock::due);
            let stopping = self.stopping.is_some();
            tokio::select! {
                () = cancel.cancelled(), if !stopping => self.stopping = Some(Stopping::Cancelled),
                () = &mut abandoned, if !stopping => self.stopping = Some(Stopping::Abandoned),
                Some((node, answer)) = self.requests.next() => self.answer(node, answer).await?,
                signal = self.watcher.next() => match signal? {
                    Signal::Synced => {}
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
                () = until(renew) => self.renew_lock().await,
                () = sleep_until(wake) => self.tick().await,
            }
        }
    }

    /// Nothing of the open lanes goes on, or nothing that does is worth waiting for.
    fn quiet(&self) -> bool {
        let end = self.lanes.get(self.open - 1).map_or(0, |lane| lane.end);
        self.nodes.iter().take(end).enumerate().all(|(node, state)| match state.phase {
            Phase::Over => true,
            Phase::Awaiting => self.hopeless(node).is_some(),
            _ => false,
        })
    }

    async fn renew_lock(&mut self) {
        let Some(lock) = &mut self.lock else { return };
        if let Err(holder) = lock.renew().await
            && self.stopping.is_none()
        {
            self.lock = None;
            self.stopping = Some(Stopping::LockLost(holder));
        }
    }

    fn lane_of(&self, node: usize) -> Option<usize> {
        self.lanes.iter().position(|lane| (lane.first..lane.end).contains(&node))
    }

    /// An object has come this far: what waited for that may start.
    fn reach(&mut self, node: usize, milestone: Milestone) {
        if let Some(lane) = self.lane_of(node) {
            let lane = &mut self.lanes[lane];
            lane.schedule.reach(node - lane.first, milestone);
        }
    }

    fn action(&self, node: usize) -> Action {
        self.steps[node].action
    }

    /// True for an object that is to be there in the end, false for one that is to be gone.
    fn is_wanted(&self, node: usize) -> bool {
        self.action(node) == Action::Apply
    }

    fn presence(&self, node: usize) -> &Presence {
        self.watcher.presence(self.nodes[node].target)
    }

    /// How the wait for an object would end now, if nothing is to be hoped for.
    fn hopeless(&self, node: usize) -> Option<Conclusion> {
        if matches!(self.presence(node), Presence::Unknown(_)) {
            return Some(Conclusion::Unknown);
        }
        let verdict = self.watcher.verdict(self.nodes[node].target)?;
        match (self.is_wanted(node), verdict.status) {
            (true, Status::Failed | Status::NotFound) => Some(Conclusion::Failed),
            // It is gone, and nobody can tell how it ended.
            (true, Status::Unknown) if matches!(self.presence(node), Presence::Absent { .. }) => {
                Some(Conclusion::Unknown)
            }
            _ => None,
        }
    }

    /// When the wait for an object that is awaited has taken long enough.
    fn patience_ends(&self, node: usize) -> Option<Instant> {
        let limit = match self.is_wanted(node) {
            true => self.options.object_timeout,
            false => self.options.removal_timeout,
        };
        let state = &self.nodes[node];
        limit
            .zip(state.awaited)
            .filter(|_| state.phase == Phase::Awaiting)
            .map(|(limit, since)| since + limit)
    }

    fn wake_at(&self) -> Instant {
        let reminder = self.emit.last() + self.options.reminder;
        let resting = self.nodes.iter().filter_map(|node| match node.phase {
            Phase::Resting(at) => Some(at),
            _ => None,
        });
        let limits = (0..self.nodes.len()).filter_map(|node| self.patience_ends(node));
        resting.chain(limits).chain(self.deadline).chain([reminder]).min().unwrap_or(reminder)
    }

    async fn tick(&mut self) {
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| deadline <= now) && self.stopping.is_none() {
            self.stopping = Some(Stopping::TimedOut);
            return;
        }
        let late: Vec<usize> = (0..self.nodes.len())
            .filter(|node| self.patience_ends(*node).is_some_and(|end| end <= now))
            .collect();
        for node in late {
            let conclusion = self.hopeless(node).unwrap_or(Conclusion::TimedOut);
            self.conclude(node, conclusion).await;
        }
        if self.emit.last() + self.options.reminder <= now {
            self.remind().await;
        }
    }

    async fn remind(&mut self) {
        let end = self.lanes.get(self.open - 1).map_or(0, |lane| lane.end);
        let mut awaited: Vec<Awaited> = self
            .nodes
            .iter()
            .take(end)
            .enumerate()
            .filter(|(_, node)| node.phase != Phase::Over && node.conclusion.is_none())
            .map(|(index, node)| Awaited {
                id: self.steps[index].id().clone(),
                verdict: self.watcher.verdict(node.target).cloned(),
                since: node.awaited.map_or(Duration::ZERO, |since| since.elapsed()),
            })
            .collect();
        awaited.sort_by_key(|awaited| std::cmp::Reverse(awaited.since));
        let total = self.nodes.len();
        self.emit.tell(Body::Waiting { awaited, total }).await;
    }
}
