//! The dispatcher: one task that owns the state of every object of a run.
//!
//! | file | what |
//! | --- | --- |
//! | `mod` | the loop: what may happen next, until nothing more does |
//! | `board` | where every object stands, and what comes due when |
//! | `send` | from a node that may start to a request |
//! | `answer` | from an answer to an outcome, a retry, a floor |
//! | `verdict` | from verdicts to milestones and conclusions |
//! | `recreate` | from a field that cannot be changed to a new object |
//! | `others` | what others do with an object while a run is under way |
//! | `linger` | why a deletion takes its time |
//! | `close` | skips, conclusions, the end |

mod answer;
mod board;
mod close;
mod late;
mod linger;
mod others;
mod recreate;
mod rewound;
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
use super::record::{Lock, Renewed};
use super::schedule::{Milestone, Schedule};
use crate::cluster::{Cluster, Deletion, Written};
use crate::error::ApiError;
use crate::event::{Action, Awaited, Body, Conclusion};
use crate::id::ObjectId;
use crate::inventory::{Mark, Outcomes};
use crate::plan::{Pin, Plan, Step};
use crate::status::{Signal, Watcher};
use crate::watch::{Closed, Hub, Presence, until};

use board::{Board, Node, Phase};
pub(super) use recreate::try_anew;

/// Established and served are different instants; discovery is asked once a second at most.
const LOOKS_FOR_A_KIND: u32 = 5;

enum Answer {
    Applied(Result<Written, ApiError>),
    Deleted(Result<Deletion, ApiError>),
    /// An object that is to be recreated was tried, and deleted.
    Cleared(Result<Deletion, ApiError>),
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
    mark: Option<Mark>,
    steps: Vec<Step>,
    nodes: Board,
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
    /// What is found out about objects that do not go; nobody waits for it.
    examinations: FuturesUnordered<BoxFuture<'static, (usize, Vec<String>)>>,
    deadline: Option<Instant>,
    /// When contact that is sought for the one object worth waiting for has been sought long enough.
    hope_ends: Option<Instant>,
    stopping: Option<Stopping>,
    /// Contact was lost, in part or as a whole.
    out_of_touch: bool,
    /// When some request last got no answer.
    unanswered: Option<Instant>,
    own_namespaces: HashSet<Box<str>>,
    told: HashSet<Box<str>>,
    outcomes: Outcomes,
    lock: Option<Lock>,
    /// A renewal of the lock that is under way.
    renewal: Option<BoxFuture<'static, Renewed>>,
    made: Option<ObjectId>,
    /// The states that objects may be written in, when a saved plan is carried out.
    pins: HashMap<ObjectId, Pin>,
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
    pub mark: Option<Mark>,
    pub plan: Plan,
    pub watcher: Watcher,
    /// The watcher's target of each object.
    pub target_of: HashMap<ObjectId, usize>,
    pub emit: Emitter,
    pub deadline: Option<Instant>,
    pub lock: Option<Lock>,
    /// An object that this run has created already.
    pub made: Option<ObjectId>,
    /// The states that objects may be written in, when a saved plan is carried out.
    pub pins: HashMap<ObjectId, Pin>,
}

/// What is left of a dispatcher when its run is over.
pub(super) struct Remains {
    pub emit: Emitter,
    pub outcomes: Outcomes,
    pub lock: Option<Lock>,
    pub stopping: Option<Stopping>,
    /// Contact was lost meanwhile: the server's data may have gone back, and the record with it.
    pub out_of_touch: bool,
    /// Every object reached what was wanted of it, or was left out for good.
    pub complete: bool,
}

impl Dispatcher {
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { cluster, hub, options, mark, plan, watcher, target_of, emit, deadline, lock, made, pins } =
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
                let patience = match step.action {
                    Action::Apply | Action::Recreate => options.object_timeout,
                    Action::Prune | Action::Delete => options.removal_timeout,
                };
                let mut node = Node::new(target, patience);
                // The plan is about this life of the object; whoever takes its name later is another.
                if let (Action::Prune | Action::Delete, Presence::Present(digest)) =
                    (step.action, watcher.presence(target))
                {
                    node.deleted = digest.uid();
                }
                node
            })
            .collect();
        let mut nodes = Board::new(nodes);
        nodes.open_until(lanes.first().map_or(0, |lane| lane.end));
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
            examinations: FuturesUnordered::new(),
            deadline,
            hope_ends: None,
            stopping: None,
            out_of_touch: false,
            unanswered: None,
            own_namespaces,
            told: HashSet::new(),
            outcomes,
            lock,
            renewal: None,
            made,
            pins,
            kept,
        }
    }

    /// Carries the plan out. The watcher has synced.
    pub(super) async fn run(mut self, cancel: CancellationToken) -> Result<Remains, Closed> {
        self.skip_decided().await;
        self.judge_external().await?;
        self.drive(cancel).await?;
        let complete = self.conclude_all().await;
        let rewound = self.watcher.rewound() || self.lock.as_ref().is_some_and(Lock::rewound);
        let out_of_touch = rewound || self.out_of_touch || self.unanswered.is_some();
        let Self { emit, outcomes, lock, stopping, .. } = self;
        Ok(Remains { emit, outcomes, lock, stopping, out_of_touch, complete })
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
                self.nodes.open_until(self.lanes.get(self.open - 1).map_or(0, |lane| lane.end));
                self.guard_lane().await;
                continue;
            }
            let wake = self.wake_at();
            let renew = self.lock.as_ref().filter(|_| self.renewal.is_none()).map(Lock::due);
            let stopping = self.stopping.is_some();
            tokio::select! {
                () = cancel.cancelled(), if !stopping => self.stopping = Some(Stopping::Cancelled),
                () = &mut abandoned, if !stopping => self.stopping = Some(Stopping::Abandoned),
                Some((node, answer)) = self.requests.next() => self.answer(node, answer).await?,
                Some((node, said)) = self.examinations.next() => self.examined(node, said).await,
                signal = self.watcher.next() => match signal? {
                    Signal::Synced | Signal::Explained => {}
                    Signal::Gap(gap) => {
                        self.out_of_touch = true;
                        self.emit.gap(gap).await;
                    }
                    Signal::Verdicts(changed) => {
                        for target in changed {
                            self.verdict(target).await;
                        }
                    }
                },
                () = until(renew) => {
                    self.renewal = self.lock.as_ref().map(|lock| Box::pin(lock.renewal()) as BoxFuture<_>);
                }
                renewed = ended(&mut self.renewal) => self.renewed(renewed),
                () = sleep_until(wake) => self.tick().await,
            }
        }
    }

    /// Nothing of the open lanes goes on, or nothing that does is worth waiting for.
    fn quiet(&mut self) -> bool {
        let (watcher, steps, budget) = (&self.watcher, &self.steps, self.options.retry_budget);
        let quiet = self
            .nodes
            .is_quiet(|state, node| hopeless(watcher, state.target, steps[node].action, budget).is_some());
        let hope = self.nodes.hope().map(|node| self.nodes[node].target);
        self.hope_ends = hope.and_then(|target| watcher.sought_since(target)).map(|since| since + budget);
        quiet
    }

    fn renewed(&mut self, renewed: Renewed) {
        self.renewal = None;
        if let Some(lock) = &mut self.lock {
            lock.renewed(&renewed);
        }
        if let Renewed::Lost(holder) = renewed
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
        hopeless(&self.watcher, self.nodes[node].target, self.action(node), Duration::ZERO)
    }

    fn wake_at(&self) -> Instant {
        let reminder = self.emit.last() + self.options.reminder;
        let hope_ends = self.hope_ends.filter(|_| self.requests.is_empty());
        let limits = self.nodes.next_due().into_iter().chain(self.deadline).chain(hope_ends);
        limits.fold(reminder, Instant::min)
    }

    async fn tick(&mut self) {
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| deadline <= now) && self.stopping.is_none() {
            self.stopping = Some(Stopping::TimedOut);
            return;
        }
        while let Some(node) = self.nodes.due_limit(now) {
            let conclusion = self.hopeless(node).unwrap_or(Conclusion::TimedOut);
            self.conclude(node, conclusion).await;
        }
        if self.emit.last() + self.options.reminder <= now {
            self.remind().await;
        }
    }

    async fn remind(&mut self) {
        let mut awaited: Vec<Awaited> = self
            .nodes
            .opened()
            .filter(|(_, node)| node.phase() != Phase::Over && node.conclusion.is_none())
            .map(|(index, node)| Awaited {
                id: self.steps[index].id().clone(),
                verdict: self.awaits_outside(index).or_else(|| self.watcher.verdict(node.target).cloned()),
                since: node.awaited().map_or(Duration::ZERO, |since| since.elapsed()),
            })
            .collect();
        awaited.sort_by_key(|awaited| std::cmp::Reverse(awaited.since));
        let total = self.nodes.len();
        self.emit.tell(Body::Waiting { awaited, total }).await;
    }
}

/// Waits for the end of something under way; for ever for that of nothing.
async fn ended<T>(under_way: &mut Option<BoxFuture<'static, T>>) -> T {
    match under_way {
        Some(under_way) => under_way.await,
        None => std::future::pending().await,
    }
}

/// How the wait for a target would end now, if nothing is to be hoped for.
/// Contact that is sought again is hoped for as long as `budget`.
fn hopeless(watcher: &Watcher, target: usize, action: Action, budget: Duration) -> Option<Conclusion> {
    let presence = watcher.presence(target);
    if matches!(presence, Presence::Unknown(_)) {
        let hope = watcher.sought_since(target).is_some_and(|since| since.elapsed() < budget);
        return (!hope).then_some(Conclusion::Unknown);
    }
    let verdict = watcher.verdict(target).filter(|_| action == Action::Apply)?;
    match verdict.status {
        Status::Failed | Status::NotFound => Some(Conclusion::Failed),
        // It is gone, and nobody can tell how it ended.
        Status::Unknown if matches!(presence, Presence::Absent { .. }) => Some(Conclusion::Unknown),
        _ => None,
    }
}
