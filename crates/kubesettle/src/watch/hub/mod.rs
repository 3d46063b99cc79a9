//! The one task that owns what is watched and for whom.
//!
//! A *key* is one kind in one scope, observed by one loop. Targets and generated kinds lease keys;
//! a key without leases lingers for a moment, so that the next user need not list again, and closes.
//! One that is still used forgets after that time what it was widened for and nobody looks at.
//!
//! | file | what |
//! | --- | --- |
//! | `mod` | the loop |
//! | `subscribers` | who wants what |
//! | `keys` | which loops run, who leases them, kinds that are not served |
//! | `changes` | what the loops tell: objects, gaps |
//! | `children` | what targets generated: whose it is, and which watches show it |
//! | `events` | what happened to them, told by Events |
//! | `ladder` | what may not be watched, and trying it again |
//! | `notes` | what events say |
//! | `deliver` | from changed objects to the subscribers they concern |
//! | `targets` | what is kept of each target |
//! | `bits` | sets of targets |
//! | `shared` | one copy of what targets have alike |

mod bits;
mod changes;
mod children;
mod deliver;
mod events;
mod keys;
mod ladder;
mod notes;
mod shared;
mod subscribers;
mod targets;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use kstatus::{Digest, Kind, Rulebook, Uid};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use bits::Bits;
use ladder::{Denied, Trial};
use notes::Notes;
use shared::Shared;
use targets::{Look, Targets, Watched};

use crate::cluster::{Cluster, Scope};
use crate::error::ApiError;
use crate::id::{GroupKind, ObjectId};
use crate::watch::scope::{Means, Names, Width};
use crate::watch::slab::Place;
use crate::watch::store::Store;
use crate::watch::stream::Batch;
use crate::watch::wanted::{Interest, Owners};
use crate::watch::{Gap, Marks, Target, TargetState, Update, until};

/// How long a key stays open after its last lease.
const LINGER: Duration = Duration::from_secs(10);
/// Pause between two looks for kinds that are not served, at first and at most.
const PROBE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));
/// How long until a look that was denied is tried again.
const RETRY_DENIED: Duration = Duration::from_secs(60);
/// Batches that may wait for the hub.
const QUEUE: usize = 64;

/// What the handles ask of the hub.
#[derive(Debug)]
pub(super) enum Request {
    Subscribe {
        targets: Vec<Target>,
        width: Width,
        labels: Option<Arc<str>>,
        alive: CancellationToken,
        reply: oneshot::Sender<u32>,
    },
    Add {
        subscriber: u32,
        targets: Vec<Target>,
    },
    Remove {
        subscriber: u32,
        targets: Vec<ObjectId>,
    },
    Snapshot {
        subscriber: u32,
        reply: oneshot::Sender<Vec<(ObjectId, TargetState)>>,
    },
    Next {
        subscriber: u32,
        reply: oneshot::Sender<Update>,
    },
    Children {
        subscriber: u32,
        target: ObjectId,
        wanted: bool,
    },
    Events {
        subscriber: u32,
        target: ObjectId,
        wanted: bool,
    },
    KindsChanged,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct KeyName {
    kind: GroupKind,
    version: Box<str>,
    means: Means,
}

#[derive(Debug)]
struct Key {
    name: KeyName,
    interest: watch::Sender<Interest>,
    task: AbortHandle,
    leases: usize,
    epoch: u32,
    /// The serial of the interest that was answered last; 0 before the first answer.
    synced: u64,
    /// When its whole state was last asked for because objects turned out to be ours.
    asked_again: Option<Instant>,
    /// What comes is part of a list.
    listing: bool,
    version: Option<u64>,
    /// How often the server's data was found to have gone back.
    rewinds: u32,
    /// It was in the list that is under way.
    rewound: bool,
    gap: Option<Arc<ApiError>>,
    /// Set when the loop is over and nothing narrower is left to try.
    stopped: Option<Arc<ApiError>>,
}

impl Key {
    /// True when it shows what others generated.
    fn is_generated(&self) -> bool {
        !self.interest.borrow().generated_by.is_empty()
    }

    /// True when this object is wanted by name.
    fn names(&self, digest: &Digest) -> bool {
        self.interest.borrow().named(digest.namespace().unwrap_or_default(), digest.name())
    }

    /// True when it shows more than what is wanted by name.
    fn is_wide(&self) -> bool {
        self.is_generated() || self.interest.borrow().notes
    }
}

/// The use of a key.
#[derive(Debug, Clone, Copy)]
struct Lease {
    key: u32,
    /// The serial of the key's interest from which on it covers what was asked for.
    serial: u64,
}

#[derive(Debug)]
struct Subscriber {
    targets: Bits,
    width: Width,
    labels: Option<Arc<str>>,
    /// Those whose latest state it has not been told.
    dirty: Bits,
    gaps: Vec<Gap>,
    sync: Sync,
    /// A target of which nothing was known when it was last looked whether all are.
    silent: Option<Place>,
    asking: Option<oneshot::Sender<Update>>,
}

#[derive(Debug, Default, PartialEq)]
enum Sync {
    #[default]
    Pending,
    Due,
    Told,
}

enum Done {
    Loop,
    Probe(Result<(), ApiError>),
}

/// The hub's task.
pub(super) struct Task {
    cluster: Cluster,
    rules: Rulebook,
    requests: mpsc::Receiver<Request>,
    batches: mpsc::Receiver<Batch>,
    to_hub: mpsc::Sender<Batch>,
    tasks: JoinSet<Done>,
    departures: FuturesUnordered<BoxFuture<'static, u32>>,
    keys: HashMap<u32, Key>,
    key_names: HashMap<KeyName, u32>,
    next_id: u32,
    targets: Targets,
    looks: Shared<Look>,
    marks: Shared<Marks>,
    subscribers: HashMap<u32, Subscriber>,
    store: Store,
    notes: Notes,
    no_streaming: HashSet<GroupKind>,
    lingering: Vec<(Instant, u32)>,
    denied: Vec<(Instant, Denied)>,
    /// Keys by which something denied is tried again.
    trials: HashMap<u32, Trial>,
    /// Everything of ours that may have generated something, while anybody looks at what was.
    owners: watch::Sender<Owners>,
    /// There is a key that shows what was generated.
    explaining: bool,
    /// New objects whose owner is not known yet, with the end of the time it may take to appear.
    limbo: VecDeque<(Instant, u32, Uid)>,
    /// Keys whose whole state is to be asked for again.
    again: HashMap<u32, Instant>,
    probe: Option<(Instant, Duration)>,
    probing: bool,
    /// Generated kinds that may not be watched in all namespaces at once.
    by_namespace: HashSet<GroupKind>,
    /// Kinds that discovery names and that were answered with "not served", and the pause after it.
    refused: HashMap<GroupKind, Duration>,
}

impl Task {
    pub(super) fn new(cluster: Cluster, rules: Rulebook, requests: mpsc::Receiver<Request>) -> Self {
        let (to_hub, batches) = mpsc::channel(QUEUE);
        Self {
            cluster,
            rules,
            requests,
            batches,
            to_hub,
            tasks: JoinSet::new(),
            departures: FuturesUnordered::new(),
            keys: HashMap::new(),
            key_names: HashMap::new(),
            next_id: 0,
            targets: Targets::default(),
            looks: Shared::default(),
            marks: Shared::default(),
            subscribers: HashMap::new(),
            store: Store::default(),
            notes: Notes::default(),
            no_streaming: HashSet::new(),
            lingering: Vec::new(),
            denied: Vec::new(),
            trials: HashMap::new(),
            owners: watch::Sender::new(Owners::default()),
            explaining: false,
            limbo: VecDeque::new(),
            again: HashMap::new(),
            probe: None,
            probing: false,
            by_namespace: HashSet::new(),
            refused: HashMap::new(),
        }
    }

    /// Runs until every handle and every subscription is gone.
    pub(super) async fn run(mut self) {
        loop {
            let linger = self.lingering.iter().map(|(at, _)| *at).min();
            let denied = self.denied.iter().map(|(at, _)| *at).min();
            let limbo = self.limbo.front().map(|(at, _, _)| *at);
            let again = self.again.values().min().copied();
            let probe = self.probe.map(|(at, _)| at).filter(|_| !self.probing);
            tokio::select! {
                request = self.requests.recv() => match request {
                    Some(request) => self.request(request),
                    None => return,
                },
                Some(batch) = self.batches.recv() => self.batch(batch),
                Some(subscriber) = self.departures.next() => self.depart(subscriber),
                Some(done) = self.tasks.join_next() => {
                    if let Ok(Done::Probe(result)) = done {
                        self.probed(&result);
                    }
                }
                () = until(linger) => self.close_lingering(),
                () = until(denied) => self.retry_denied(),
                () = until(limbo) => self.end_limbo(),
                () = until(again) => self.ask_again(),
                () = until(probe) => self.start_probe(),
            }
            self.deliver();
        }
    }

    fn request(&mut self, request: Request) {
        match request {
            Request::Subscribe { targets, width, labels, alive, reply } => {
                let id = self.next_id();
                self.departures.push(Box::pin(async move {
                    alive.cancelled().await;
                    id
                }));
                self.subscribe(id, targets, width, labels);
                // The token tells when the subscriber is gone.
                let _ = reply.send(id);
            }
            Request::Add { subscriber, targets } => self.want(subscriber, targets),
            Request::Remove { subscriber, targets } => self.unwant(subscriber, &targets),
            Request::Snapshot { subscriber, reply } => {
                let _ = reply.send(self.snapshot(subscriber));
            }
            Request::Next { subscriber, reply } => {
                if let Some(subscriber) = self.subscribers.get_mut(&subscriber) {
                    subscriber.asking = Some(reply);
                }
            }
            Request::Children { subscriber, target, wanted } => {
                if let Some(target) = self.targets.find_id(&target) {
                    self.children(subscriber, target, wanted);
                }
            }
            Request::Events { subscriber, target, wanted } => {
                if let Some(target) = self.targets.find_id(&target) {
                    self.events(subscriber, target, wanted);
                }
            }
            Request::KindsChanged => {
                if self.targets.iter().any(|(_, target)| target.key().is_none()) {
                    self.probe = Some((Instant::now(), PROBE.0));
                }
            }
        }
    }

    fn next_id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id
    }
}

fn number(version: &str) -> Option<u64> {
    version.parse().ok()
}

fn names_of<'a>(targets: impl IntoIterator<Item = &'a ObjectId>) -> Names {
    let mut names = Names::new();
    for target in targets {
        names.entry(target.namespace().into()).or_default().push(target.name().into());
    }
    names
}

fn namespace_of(means: &Means) -> Box<str> {
    match means {
        Means::Watch(Scope::Cluster) => Box::default(),
        Means::Watch(
            Scope::Namespace(namespace) | Scope::Name { namespace, .. } | Scope::Labels { namespace, .. },
        )
        | Means::Poll(namespace) => (**namespace).into(),
    }
}

fn kind_of(kind: &GroupKind, version: &str) -> Kind {
    let api_version =
        if kind.group().is_empty() { version.to_owned() } else { format!("{}/{version}", kind.group()) };
    Kind::new(&api_version, kind.kind())
}
