//! From the states of targets to verdicts that may be believed.
//!
//! ```text
//!   watch::Subscription ──states──► Watcher ──indices of targets whose verdict changed──► run
//!        ▲                            │ holds and graces end (kstatus says when)
//!        └── "also its children" ─────┘ for a target that stands still unsettled
//! ```
//!
//! # Contract
//!
//! * **Freshness floor.** After [`Watcher::floor`] no state older than that write gives a verdict, unless
//!   the server's data went back since: then what it has counts ([`Watcher::went_back`]).
//! * **A status from before a change is not believed** while it may be one: what names no generation
//!   counts when somebody has written the object after us, or after a grace; a deadline that was
//!   exceeded before our change likewise.
//! * **Change only.** A target is announced when its status, reason, message, causes or progress
//!   changed, and once more when time alone changed them; also when another object has taken its name,
//!   be its verdict the same, unless targets are only looked at ([`Judgement::at_once`]).
//! * **Children only when they explain something.** What a target generated is watched only after
//!   the target stood still, unsettled, for [`STANDSTILL`], and only once its controller has generated
//!   something. While other targets settle one after the other, a target that waits for its turn is
//!   given longer: a big rollout that moves opens no such watch.
//! * **Events likewise.** The events of its namespace are watched while a target stands still for
//!   some seconds longer; those from before our own write do not count. Without the right to see them
//!   the verdict does without.
//! * **Unknown is said.** A target that nobody may look at, or whose contact is lost while it is not
//!   settled, is `Unknown` with the reason.

mod clock;
mod floor;
mod judge;
mod wants;

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use kstatus::{Facts, History, Policy, Rulebook, Status, Timestamp, Uid, Verdict};
use tokio::time::Instant;

use crate::id::ObjectId;
use crate::watch::{
    Closed, Gap, Hub, Marks, Presence, SubscribeOptions, Subscription, Target, TargetState, Update, until,
};

pub(crate) use clock::Clock;
pub use floor::Floor;
use judge::{By, same};
use wants::{Look, Wants};

/// How long a target must stand still, unsettled, before its children are watched.
pub const STANDSTILL: Duration = Duration::from_secs(1);

/// How long a target may stand still while others settle.
const TURN: Duration = Duration::from_secs(8);

/// How long a target must stand still, unsettled, before the events of its namespace are watched: they
/// explain what is stuck, and a rollout that is only slow is not.
const STUCK: Duration = Duration::from_secs(4);

/// Our clock and the server's may differ by this much when it is asked whether an event is older than
/// a write of ours.
const SKEW: i64 = 30_000;

/// What a watcher tells.
#[derive(Debug)]
pub enum Signal {
    /// The verdicts of these targets changed.
    Verdicts(Vec<usize>),
    /// Every target has a verdict.
    Synced,
    /// All that could explain the verdict of a target has been looked at now, and it stays as it was.
    Explained,
    /// A kind cannot be watched as it should.
    Gap(Gap),
}

#[derive(Debug)]
struct Tracked {
    id: ObjectId,
    state: TargetState,
    floor: Option<Floor>,
    /// When the write of the floor was answered.
    written: Option<Timestamp>,
    /// A state at or after the floor has been seen, or too much time has passed to wait for one.
    reached: bool,
    /// How often the server's data had gone back when that was last told.
    rewinds: Option<u32>,
    /// It went back since the target was last written or first judged.
    went_back: bool,
    /// The life of it that was judged last.
    life: Option<Uid>,
    history: History,
    verdict: Option<Verdict>,
    /// When its own object last changed.
    moved: Instant,
    version: Box<str>,
    /// Its children have been asked for.
    curious: bool,
    /// The events about it have been asked for.
    listening: bool,
    /// Older events are about what it was before a write of ours.
    events_from: Option<Timestamp>,
    /// Verdicts are wanted; before that only the state is kept.
    judged: bool,
    /// Since when contact is lost and sought again.
    sought: Option<Instant>,
    due: Option<Instant>,
}

/// Watches a fixed list of targets and judges them. Targets are named by their position in it.
#[derive(Debug)]
pub struct Watcher {
    subscription: Subscription,
    targets: Vec<Tracked>,
    index: HashMap<ObjectId, usize>,
    due: BTreeSet<(Instant, usize)>,
    rules: Rulebook,
    facts: Facts,
    policy: Policy,
    clock: Clock,
    children: bool,
    /// Every target is judged as it is, whatever was done to it.
    at_once: bool,
    /// The server's data went back at some time.
    rewound: bool,
    /// When a target last settled.
    settled: Instant,
}

/// How a watcher judges.
#[derive(Debug, Default, Clone)]
pub struct Judgement {
    /// What is known of the cluster.
    pub facts: Facts,
    /// Holds and tables.
    pub policy: Policy,
    /// Never look at what targets generated.
    pub without_children: bool,
    /// Judge every target from the start; else a target is judged after [`Watcher::judge`] or
    /// [`Watcher::floor`].
    pub at_once: bool,
}

impl Watcher {
    /// Starts to watch.
    ///
    /// # Errors
    /// [`Closed`] when the runtime shuts down.
    pub async fn start(
        hub: &Hub,
        targets: Vec<Target>,
        options: SubscribeOptions,
        judgement: Judgement,
    ) -> Result<Self, Closed> {
        let now = Instant::now();
        let tracked = targets
            .iter()
            .map(|target| Tracked {
                id: target.id.clone(),
                state: TargetState::pending(),
                floor: None,
                written: None,
                reached: true,
                rewinds: None,
                went_back: false,
                life: None,
                history: History::default(),
                verdict: None,
                moved: now,
                version: Box::default(),
                curious: false,
                listening: false,
                events_from: None,
                judged: judgement.at_once,
                sought: None,
                due: None,
            })
            .collect::<Vec<_>>();
        let index = targets.iter().enumerate().map(|(index, target)| (target.id.clone(), index)).collect();
        Ok(Self {
            subscription: hub.subscribe(targets, options).await?,
            targets: tracked,
            index,
            due: BTreeSet::new(),
            rules: hub.rules().clone(),
            facts: judgement.facts,
            policy: judgement.policy,
            clock: Clock::start(hub.cluster().time()),
            settled: now,
            children: !judgement.without_children,
            at_once: judgement.at_once,
            rewound: false,
        })
    }

    /// The next signal; waits until there is one. May be dropped and called again.
    ///
    /// # Errors
    /// [`Closed`] when the runtime shuts down.
    pub async fn next(&mut self) -> Result<Signal, Closed> {
        loop {
            let due = self.due.first().map(|(at, _)| *at);
            let update = tokio::select! {
                update = self.subscription.next() => update?,
                () = until(due) => {
                    let changed = self.wake().await?;
                    if changed.is_empty() { continue }
                    return Ok(Signal::Verdicts(changed));
                }
            };
            match update {
                Update::Synced => return Ok(Signal::Synced),
                Update::Gap(gap) => return Ok(Signal::Gap(gap)),
                Update::Changed(states) => {
                    let (mut changed, mut explained) = (Vec::new(), false);
                    for (id, state) in states {
                        let Some(target) = self.index.get(&id).copied() else { continue };
                        let before = self.explained(target);
                        if self.take(target, state).await? {
                            changed.push(target);
                        }
                        explained |= !before && self.explained(target);
                    }
                    if !changed.is_empty() {
                        return Ok(Signal::Verdicts(changed));
                    }
                    if explained {
                        return Ok(Signal::Explained);
                    }
                }
            }
        }
    }

    /// The last verdict on a target; `None` while nothing may be said.
    pub fn verdict(&self, target: usize) -> Option<&Verdict> {
        self.targets.get(target)?.verdict.as_ref()
    }

    /// When it was started, in milliseconds since the Unix epoch.
    pub fn started_at(&self) -> i64 {
        self.clock.started_at()
    }

    /// How many targets there are.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// True when there is nothing to watch.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The name of a target.
    pub fn id(&self, target: usize) -> Option<&ObjectId> {
        self.targets.get(target).map(|tracked| &tracked.id)
    }

    /// What is known of a target's object.
    pub fn presence(&self, target: usize) -> &Presence {
        self.targets.get(target).map_or(&Presence::Pending, |tracked| &tracked.state.presence)
    }

    /// Since when contact with a target is lost and sought again.
    pub fn sought_since(&self, target: usize) -> Option<Instant> {
        self.targets.get(target)?.sought
    }

    /// True while contact with some target is lost and sought again.
    pub fn seeks_contact(&self) -> bool {
        self.targets.iter().any(|tracked| tracked.sought.is_some())
    }

    /// True when the server's data went back (a backup was put in its place) since the target was
    /// written or first judged: what was done to it may be lost.
    pub fn went_back(&self, target: usize) -> bool {
        self.targets.get(target).is_some_and(|tracked| tracked.went_back)
    }

    /// True when the server's data went back at some time while it was watched.
    pub fn rewound(&self) -> bool {
        self.rewound
    }

    /// Lets a target be another object from now on: the scope of its kind was not known before.
    ///
    /// # Errors
    /// [`Closed`] when the runtime shuts down.
    pub(crate) async fn rename(&mut self, target: usize, to: Target) -> Result<(), Closed> {
        let Some(tracked) = self.targets.get_mut(target) else { return Ok(()) };
        let before = std::mem::replace(&mut tracked.id, to.id.clone());
        tracked.state = TargetState::pending();
        tracked.verdict = None;
        self.index.remove(&before);
        self.index.insert(to.id.clone(), target);
        self.subscription.remove(vec![before]).await?;
        self.subscription.add(vec![to]).await
    }

    /// The marks of a target's live object.
    pub fn marks(&self, target: usize) -> Option<&Marks> {
        self.targets.get(target)?.state.marks.as_deref()
    }

    /// True when everything that could explain the verdict has been looked at.
    pub fn explained(&self, target: usize) -> bool {
        let Some(tracked) = self.targets.get(target) else { return true };
        let children = !tracked.curious || tracked.state.children.is_some();
        children && (!tracked.listening || tracked.state.events.is_some())
    }

    /// Judges a target from now on, whatever its state; returns true when it has a verdict at once.
    ///
    /// # Errors
    /// [`Closed`] when the runtime shuts down.
    pub async fn judge(&mut self, target: usize) -> Result<bool, Closed> {
        let Some(tracked) = self.targets.get_mut(target) else { return Ok(false) };
        tracked.judged = true;
        tracked.went_back = false;
        tracked.moved = Instant::now();
        self.assess(target).await
    }

    /// We wrote this object: nothing older counts from now on, and it is judged.
    ///
    /// # Errors
    /// [`Closed`] when the runtime shuts down.
    pub async fn floor(&mut self, target: usize, floor: Floor) -> Result<bool, Closed> {
        if let Some(tracked) = self.targets.get_mut(target) {
            let now = self.clock.now();
            tracked.floor = Some(floor);
            tracked.written = Some(now);
            tracked.reached = false;
            tracked.events_from = Some(Timestamp::from_millis(now.as_millis() - SKEW));
            tracked.verdict = None;
            tracked.history = History::default();
        }
        self.judge(target).await
    }

    /// Looks at once at the children of every unsettled target, without waiting for a standstill.
    ///
    /// # Errors
    /// [`Closed`] when the runtime shuts down.
    pub async fn explain_all(&mut self) -> Result<(), Closed> {
        let Some(past) = Instant::now().checked_sub(TURN) else { return Ok(()) };
        for target in 0..self.targets.len() {
            if let Some(tracked) = self.targets.get_mut(target) {
                tracked.moved = tracked.moved.min(past);
            }
            self.assess(target).await?;
        }
        Ok(())
    }

    async fn take(&mut self, target: usize, state: TargetState) -> Result<bool, Closed> {
        let Some(tracked) = self.targets.get_mut(target) else { return Ok(false) };
        if let Presence::Present(digest) = &state.presence
            && *tracked.version != *digest.resource_version()
        {
            tracked.version = digest.resource_version().into();
            tracked.moved = Instant::now();
        }
        let sought = matches!(state.presence, Presence::Unknown(_)) && state.gap.is_some();
        let found = tracked.sought.is_some() && !sought;
        tracked.sought = sought.then(|| tracked.sought.unwrap_or_else(Instant::now));
        let went_back = tracked.rewinds.replace(state.rewinds).is_some_and(|before| before < state.rewinds);
        tracked.went_back |= went_back;
        self.rewound |= went_back;
        tracked.state = state;
        // While nothing is judged, this is the news.
        let found = found && !tracked.judged;
        let undone = went_back && !self.at_once;
        Ok(self.assess(target).await? || found || undone)
    }

    /// Assesses everything whose time has come.
    async fn wake(&mut self) -> Result<Vec<usize>, Closed> {
        let now = Instant::now();
        let mut changed = Vec::new();
        while let Some((at, target)) = self.due.first().copied().filter(|(at, _)| *at <= now) {
            self.due.remove(&(at, target));
            if let Some(tracked) = self.targets.get_mut(target) {
                tracked.due = None;
            }
            if self.assess(target).await? {
                changed.push(target);
            }
        }
        Ok(changed)
    }

    async fn assess(&mut self, target: usize) -> Result<bool, Closed> {
        let now = self.clock.now();
        let Some(tracked) = self.targets.get_mut(target).filter(|tracked| tracked.judged) else {
            return Ok(false);
        };
        let fresh = tracked.catch_up();
        let by = By { rules: &self.rules, facts: &self.facts, policy: &self.policy, children: self.children };
        let verdict = if fresh { by.judge(tracked, now) } else { None };
        let settled = verdict.as_ref().is_some_and(|verdict| verdict.status == Status::Current);
        if settled && tracked.verdict.as_ref().is_none_or(|before| before.status != Status::Current) {
            self.settled = Instant::now();
        }
        let wants =
            if self.children && fresh { Wants::of(tracked, verdict.as_ref()) } else { Wants::NOTHING };
        let still = tracked.moved.max(self.settled);
        let looks = [
            Look {
                is: tracked.curious,
                wants: wants.children,
                due: still + STANDSTILL,
                at_once: wants.needed,
            },
            Look { is: tracked.listening, wants: wants.events, due: still + STUCK, at_once: false },
        ];
        let moment = Instant::now();
        let [curious, listening] = looks.map(|look| look.begins(tracked.moved + TURN, moment));
        let again = verdict.as_ref().and_then(|verdict| verdict.reassess_at).map(|at| self.clock.instant(at));
        let waits = looks.iter().zip([curious, listening]).filter(|(look, begun)| look.wants && !begun);
        let next = waits.map(|(look, _)| look.due.min(tracked.moved + TURN));
        let due = again.into_iter().chain(next).min();
        let id = tracked.id.clone();
        let ask = (std::mem::replace(&mut tracked.curious, curious) != curious).then_some(curious);
        let listen = (std::mem::replace(&mut tracked.listening, listening) != listening).then_some(listening);
        self.schedule(target, due);
        if let Some(wanted) = ask {
            self.subscription.children(id.clone(), wanted).await?;
        }
        if let Some(wanted) = listen {
            self.subscription.events(id, wanted).await?;
        }
        let Some(tracked) = self.targets.get_mut(target) else { return Ok(false) };
        if verdict.is_none() {
            return Ok(false);
        }
        let changed = !same(tracked.verdict.as_ref(), verdict.as_ref());
        tracked.verdict = verdict;
        Ok(tracked.begins_another_life() && !self.at_once || changed)
    }

    fn schedule(&mut self, target: usize, at: Option<Instant>) {
        let Some(tracked) = self.targets.get_mut(target) else { return };
        if let Some(before) = std::mem::replace(&mut tracked.due, at) {
            self.due.remove(&(before, target));
        }
        if let Some(at) = at {
            self.due.insert((at, target));
        }
    }
}

impl Tracked {
    /// True when another object than the one that was judged last has the name.
    fn begins_another_life(&mut self) -> bool {
        let Presence::Present(digest) = &self.state.presence else { return false };
        let life = digest.uid();
        std::mem::replace(&mut self.life, life).is_some_and(|before| Some(before) != life)
    }

    /// True when the state is at or after the floor, or the floor lost its meaning. Once that was so, what tells no version counts
    /// too: that the kind is served no more, because its CRD went, or that a GET found nothing.
    fn catch_up(&mut self) -> bool {
        let Some(floor) = &self.floor else { return true };
        // What was known before contact was lost may be of a time that the server's data has left since.
        let doubtful = self.state.gap.is_some() && !self.reached && floor.is_behind(&self.state.presence);
        if floor.reached_by(&self.state.presence) && !doubtful {
            self.reached = true;
            return true;
        }
        if self.went_back {
            return true;
        }
        self.reached
            && matches!(self.state.presence, Presence::NotServed | Presence::Absent { as_of: None, .. })
    }
}
