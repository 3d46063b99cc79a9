//! The one task that owns what is watched and for whom.
//!
//! A *key* is one kind in one scope, observed by one loop. Targets and generated kinds lease keys;
//! a key without leases lingers for a moment, so that the next user need not list again, and closes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use kstatus::{Kind, Uid};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::scope::{self, Means, Names};
use super::store::Store;
use super::stream::{Batch, Change, Interest, Loop};
use super::{Gap, Marks, Presence, Target, TargetState, Update};
use crate::cluster::{Cluster, Content, Resource, Scope};
use crate::error::{ApiError, ErrorClass};
use crate::id::{GroupKind, ObjectId};

/// How long a key stays open after its last lease.
const LINGER: Duration = Duration::from_secs(10);
/// Pause between two looks for kinds that are not served, at first and at most.
const PROBE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));
/// Batches that may wait for the hub.
const QUEUE: usize = 64;

/// What the handles ask of the hub.
#[derive(Debug)]
pub(super) enum Request {
    Subscribe { targets: Vec<Target>, alive: CancellationToken, reply: oneshot::Sender<u32> },
    Next { subscriber: u32, reply: oneshot::Sender<Update> },
    Children { subscriber: u32, target: ObjectId, wanted: bool },
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
    synced: bool,
    version: Option<u64>,
    gap: Option<Arc<ApiError>>,
    /// Set when the loop is over and nothing narrower is left to try.
    stopped: Option<Arc<ApiError>>,
}

#[derive(Debug)]
struct Watched {
    version: Option<Box<str>>,
    /// The key that observes it; `None` while its kind is not served.
    key: Option<u32>,
    uid: Option<Uid>,
    marks: Option<Arc<Marks>>,
    subscribers: Vec<u32>,
    /// Who wants its children.
    curious: HashSet<u32>,
    child_keys: Vec<u32>,
}

#[derive(Debug, Default)]
struct Subscriber {
    targets: Vec<ObjectId>,
    dirty: Vec<ObjectId>,
    is_dirty: HashSet<ObjectId>,
    gaps: Vec<Gap>,
    sync: Sync,
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
    requests: mpsc::Receiver<Request>,
    batches: mpsc::Receiver<Batch>,
    to_hub: mpsc::Sender<Batch>,
    tasks: JoinSet<Done>,
    departures: FuturesUnordered<BoxFuture<'static, u32>>,
    keys: HashMap<u32, Key>,
    key_names: HashMap<KeyName, u32>,
    next_id: u32,
    targets: HashMap<ObjectId, Watched>,
    /// Which target an object is.
    target_of: HashMap<Uid, ObjectId>,
    subscribers: HashMap<u32, Subscriber>,
    store: Store,
    no_streaming: HashSet<GroupKind>,
    lingering: Vec<(Instant, u32)>,
    probe: Option<(Instant, Duration)>,
    probing: bool,
}

impl Task {
    pub(super) fn new(cluster: Cluster, requests: mpsc::Receiver<Request>) -> Self {
        let (to_hub, batches) = mpsc::channel(QUEUE);
        Self {
            cluster,
            requests,
            batches,
            to_hub,
            tasks: JoinSet::new(),
            departures: FuturesUnordered::new(),
            keys: HashMap::new(),
            key_names: HashMap::new(),
            next_id: 0,
            targets: HashMap::new(),
            target_of: HashMap::new(),
            subscribers: HashMap::new(),
            store: Store::default(),
            no_streaming: HashSet::new(),
            lingering: Vec::new(),
            probe: None,
            probing: false,
        }
    }

    /// Runs until every handle and every subscription is gone.
    pub(super) async fn run(mut self) {
        loop {
            let linger = self.lingering.iter().map(|(at, _)| *at).min();
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
                () = at(linger) => self.close_lingering(),
                () = at(probe) => self.start_probe(),
            }
            self.deliver();
        }
    }

    fn request(&mut self, request: Request) {
        match request {
            Request::Subscribe { targets, alive, reply } => {
                let id = self.next_id();
                self.departures.push(Box::pin(async move {
                    alive.cancelled().await;
                    id
                }));
                self.subscribe(id, targets);
                // The token tells when the subscriber is gone.
                let _ = reply.send(id);
            }
            Request::Next { subscriber, reply } => {
                if let Some(subscriber) = self.subscribers.get_mut(&subscriber) {
                    subscriber.asking = Some(reply);
                }
            }
            Request::Children { subscriber, target, wanted } => self.children(subscriber, &target, wanted),
            Request::KindsChanged => {
                if self.targets.values().any(|target| target.key.is_none()) {
                    self.probe = Some((Instant::now(), PROBE.0));
                }
            }
        }
    }

    fn next_id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id
    }

    fn subscribe(&mut self, id: u32, targets: Vec<Target>) {
        let mut subscriber = Subscriber::default();
        let mut fresh = Vec::new();
        for Target { id: target, version } in targets {
            let entry = self.targets.entry(target.clone()).or_insert_with(|| {
                fresh.push(target.clone());
                Watched {
                    version,
                    key: None,
                    uid: None,
                    marks: None,
                    subscribers: Vec::new(),
                    curious: HashSet::new(),
                    child_keys: Vec::new(),
                }
            });
            entry.subscribers.push(id);
            subscriber.targets.push(target);
        }
        self.subscribers.insert(id, subscriber);
        self.open(fresh);
        for target in self.subscribers.get(&id).map(|s| s.targets.clone()).unwrap_or_default() {
            self.mark(&target);
        }
        self.check_sync();
    }

    fn depart(&mut self, id: u32) {
        let Some(subscriber) = self.subscribers.remove(&id) else { return };
        for target in subscriber.targets {
            let Some(watched) = self.targets.get_mut(&target) else { continue };
            watched.subscribers.retain(|other| *other != id);
            watched.curious.remove(&id);
            let released = if watched.subscribers.is_empty() {
                let watched = self.targets.remove(&target);
                watched.map_or_else(Vec::new, |watched| {
                    watched.uid.map(|uid| self.target_of.remove(&uid));
                    watched.child_keys.into_iter().chain(watched.key).collect()
                })
            } else if watched.curious.is_empty() {
                std::mem::take(&mut watched.child_keys)
            } else {
                Vec::new()
            };
            released.into_iter().for_each(|key| self.release(key));
        }
    }

    /// Finds or opens the watches that cover these targets.
    fn open(&mut self, targets: Vec<ObjectId>) {
        let mut groups: HashMap<(GroupKind, Option<Box<str>>), Vec<ObjectId>> = HashMap::new();
        for target in targets {
            let version = self.targets.get(&target).and_then(|watched| watched.version.clone());
            groups.entry((target.group_kind().clone(), version)).or_default().push(target);
        }
        for ((kind, version), targets) in groups {
            let served = self
                .cluster
                .resource(&kind, version.as_deref())
                .or_else(|| self.cluster.resource(&kind, None));
            match served {
                Some(resource) => {
                    for (means, names) in scope::choose(&names_of(&targets)) {
                        self.assign(&resource, means, &names);
                    }
                }
                None => {
                    self.probe.get_or_insert((Instant::now() + PROBE.0, PROBE.0));
                }
            }
        }
    }

    /// Lets one key observe these names.
    fn assign(&mut self, resource: &Resource, means: Means, names: &Names) {
        let mut interest = Interest::default();
        let mut covered = Vec::new();
        for (namespace, names) in names {
            let of_namespace = interest.names.entry((**namespace).into()).or_default();
            for name in names {
                of_namespace.insert((**name).into());
                covered.push(ObjectId::new(resource.group_kind().clone(), namespace, name));
            }
        }
        let key = self.lease(resource, means, &interest, covered.len());
        for target in covered {
            if let Some(watched) = self.targets.get_mut(&target) {
                watched.key = Some(key);
            }
        }
    }

    /// Takes leases on a key, opening it or widening its interest where needed.
    fn lease(&mut self, resource: &Resource, means: Means, interest: &Interest, leases: usize) -> u32 {
        let kind = resource.group_kind().clone();
        let name = KeyName { kind, version: resource.version().into(), means };
        if let Some(id) = self.key_names.get(&name).copied()
            && let Some(key) = self.keys.get_mut(&id)
        {
            key.leases += leases;
            self.lingering.retain(|(_, lingering)| *lingering != id);
            let widened = key.interest.send_if_modified(|mine| mine.widen(interest));
            key.synced &= !widened;
            return id;
        }
        let id = self.next_id();
        let (sender, receiver) = watch::channel(interest.clone());
        let task = self.start(id, resource, &name.means, receiver);
        self.key_names.insert(name.clone(), id);
        let key = Key {
            name,
            interest: sender,
            task,
            leases,
            epoch: 0,
            synced: false,
            version: None,
            gap: None,
            stopped: None,
        };
        self.keys.insert(id, key);
        id
    }

    fn start(
        &mut self,
        key: u32,
        resource: &Resource,
        means: &Means,
        interest: watch::Receiver<Interest>,
    ) -> AbortHandle {
        let api_version = match resource.group() {
            "" => resource.version().to_owned(),
            group => format!("{group}/{}", resource.version()),
        };
        let kind = Kind::new(&api_version, resource.kind());
        let content = if kstatus::metadata_suffices(&kind) { Content::MetadataOnly } else { Content::Full };
        let scope = match means {
            Means::Watch(scope) => scope.clone(),
            Means::Poll(namespace) => Scope::Namespace(namespace.clone()),
        };
        let task = Loop {
            key,
            cluster: self.cluster.clone(),
            resource: resource.clone(),
            kind,
            scope,
            content,
            interest,
            hub: self.to_hub.clone(),
        };
        let streaming = !self.no_streaming.contains(resource.group_kind());
        let poll = matches!(means, Means::Poll(_));
        self.tasks.spawn(async move {
            if poll {
                task.poll().await;
            } else {
                task.run(streaming).await;
            }
            Done::Loop
        })
    }

    fn release(&mut self, id: u32) {
        let Some(key) = self.keys.get_mut(&id) else { return };
        key.leases = key.leases.saturating_sub(1);
        if key.leases == 0 {
            self.lingering.push((Instant::now() + LINGER, id));
        }
    }

    fn close_lingering(&mut self) {
        let now = Instant::now();
        let (due, rest) = std::mem::take(&mut self.lingering).into_iter().partition(|(at, _)| *at <= now);
        self.lingering = rest;
        let due: Vec<(Instant, u32)> = due;
        due.into_iter().for_each(|(_, key)| self.close(key));
    }

    fn close(&mut self, id: u32) {
        let Some(key) = self.keys.remove(&id) else { return };
        key.task.abort();
        self.key_names.remove(&key.name);
        self.lingering.retain(|(_, lingering)| *lingering != id);
        for digest in self.store.drop_key(id) {
            self.touch(&digest);
        }
    }

    fn children(&mut self, subscriber: u32, target: &ObjectId, wanted: bool) {
        let Some(watched) = self.targets.get_mut(target) else { return };
        if !wanted {
            watched.curious.remove(&subscriber);
            if watched.curious.is_empty() {
                std::mem::take(&mut watched.child_keys).into_iter().for_each(|key| self.release(key));
            }
            return;
        }
        if !watched.curious.insert(subscriber) || !watched.child_keys.is_empty() {
            return;
        }
        let version = watched.version.clone();
        let parent = kind_of(target.group_kind(), version.as_deref().unwrap_or_default());
        let generated = kstatus::generated_kinds(&parent);
        let mut generated_by: Vec<Box<str>> = vec![target.kind().into()];
        generated_by.extend(generated.iter().map(|(_, kind)| Box::from(*kind)));
        let interest = Interest { names: HashMap::new(), generated_by };
        let mut keys = Vec::new();
        for (group, kind) in generated {
            let Some(resource) = self.cluster.resource(&GroupKind::new(*group, *kind), None) else {
                continue;
            };
            let means = Means::Watch(Scope::Namespace(target.namespace().into()));
            keys.push(self.lease(&resource, means, &interest, 1));
        }
        if let Some(watched) = self.targets.get_mut(target) {
            watched.child_keys = keys;
        }
        self.mark(target);
    }

    fn batch(&mut self, batch: Batch) {
        let id = batch.key;
        let mut marks = None;
        for change in batch.changes {
            // A batch of a key that was closed meanwhile has nobody to tell.
            let Some(key) = self.keys.get_mut(&id) else { return };
            match change {
                Change::Begin => key.epoch += 1,
                Change::Marks(read) => marks = Some(Arc::new(*read)),
                Change::Upsert(digest) => {
                    let epoch = key.epoch;
                    let kind = key.name.kind.clone();
                    key.version =
                        key.version.max(if key.synced { number(digest.resource_version()) } else { None });
                    self.identify(id, kind, &digest, marks.take());
                    if self.store.upsert(id, epoch, digest.clone()) {
                        self.touch(&digest);
                    }
                }
                Change::Gone(uid) => {
                    if let Some(digest) = self.store.remove(id, uid) {
                        self.touch(&digest);
                    }
                }
                Change::Version(version) => key.version = key.version.max(number(&version)),
                Change::Synced => self.synced(id),
                Change::Gap(error) => self.gap(id, error),
                Change::Contact => {
                    if key.gap.take().is_some() {
                        self.mark_key(id);
                    }
                }
                Change::NoStreaming => {
                    self.no_streaming.insert(key.name.kind.clone());
                }
                Change::Stopped(error) => self.stopped(id, error),
            }
        }
    }

    /// Notes which life of a target this object is.
    fn identify(&mut self, key: u32, kind: GroupKind, digest: &kstatus::Digest, marks: Option<Arc<Marks>>) {
        let Some(uid) = digest.uid() else { return };
        let target = ObjectId::new(kind, digest.namespace().unwrap_or_default(), digest.name());
        let Some(watched) = self.targets.get_mut(&target).filter(|watched| watched.key == Some(key)) else {
            return;
        };
        if watched.marks != marks {
            watched.marks = marks;
        }
        if watched.uid != Some(uid) {
            if let Some(before) = watched.uid.replace(uid) {
                self.target_of.remove(&before);
            }
            self.target_of.insert(uid, target);
        }
    }

    fn synced(&mut self, id: u32) {
        let Some(key) = self.keys.get_mut(&id) else { return };
        key.synced = true;
        key.gap = None;
        let epoch = key.epoch;
        for digest in self.store.sweep(id, epoch) {
            self.touch(&digest);
        }
        self.mark_key(id);
        self.check_sync();
    }

    fn gap(&mut self, id: u32, error: ApiError) {
        let Some(key) = self.keys.get_mut(&id) else { return };
        let gap = Gap {
            kind: key.name.kind.clone(),
            namespace: namespace_of(&key.name.means),
            reason: format!("contact is lost and sought again: {error}").into(),
        };
        key.gap = Some(Arc::new(error));
        self.tell_gap(id, &gap);
        self.mark_key(id);
        self.check_sync();
    }

    /// A loop gave up: its kind is gone, or a narrower look is needed.
    fn stopped(&mut self, id: u32, error: ApiError) {
        let Some(key) = self.keys.get(&id) else { return };
        let name = key.name.clone();
        let targets: Vec<ObjectId> = self
            .targets
            .iter()
            .filter(|(_, w)| w.key == Some(id))
            .map(|(target, _)| target.clone())
            .collect();
        if error.class == ErrorClass::NotServed {
            for target in &targets {
                if let Some(watched) = self.targets.get_mut(target) {
                    watched.key = None;
                }
                self.mark(target);
            }
            self.close(id);
            self.probe.get_or_insert((Instant::now() + PROBE.0, PROBE.0));
            self.check_sync();
            return;
        }
        let narrower = match error.class {
            ErrorClass::Forbidden => scope::narrower(&name.means, &names_of(&targets)),
            _ => Vec::new(),
        };
        let next = match narrower.first() {
            None if targets.is_empty() => "what was generated stays unknown",
            None => "these objects stay unknown",
            Some((Means::Watch(Scope::Name { .. }), _)) => "each object is watched by its name",
            Some((Means::Watch(_), _)) => "each namespace is watched by itself",
            Some((Means::Poll(_), _)) => "each object is asked for every few seconds",
        };
        let gap = Gap {
            kind: name.kind.clone(),
            namespace: namespace_of(&name.means),
            reason: format!("{error}; {next}").into(),
        };
        self.tell_gap(id, &gap);
        if narrower.is_empty() {
            if let Some(key) = self.keys.get_mut(&id) {
                key.stopped = Some(Arc::new(error));
            }
            self.mark_key(id);
            self.check_sync();
            return;
        }
        let resource = self.cluster.resource(&name.kind, Some(&name.version));
        self.close(id);
        if let Some(resource) = resource {
            for (means, names) in narrower {
                self.assign(&resource, means, &names);
            }
        }
    }

    fn start_probe(&mut self) {
        self.probing = true;
        let cluster = self.cluster.clone();
        self.tasks.spawn(async move { Done::Probe(cluster.refresh_discovery().await) });
    }

    fn probed(&mut self, result: &Result<(), ApiError>) {
        self.probing = false;
        if let Err(error) = result {
            tracing::debug!(%error, "discovery failed");
        }
        let unserved: Vec<ObjectId> =
            self.targets.iter().filter(|(_, w)| w.key.is_none()).map(|(target, _)| target.clone()).collect();
        let pause = self.probe.take().map_or(PROBE.0, |(_, pause)| (pause * 2).min(PROBE.1));
        if unserved.is_empty() {
            return;
        }
        self.open(unserved);
        if let Some((at, next)) = &mut self.probe {
            *at = Instant::now() + pause;
            *next = pause;
        }
    }

    /// Marks every target that this object is or belongs to.
    fn touch(&mut self, digest: &kstatus::Digest) {
        for uid in self.store.lineage(digest) {
            if let Some(target) = self.target_of.get(&uid).cloned() {
                self.mark(&target);
            }
        }
    }

    fn mark(&mut self, target: &ObjectId) {
        let Some(watched) = self.targets.get(target) else { return };
        for id in &watched.subscribers {
            if let Some(subscriber) = self.subscribers.get_mut(id)
                && subscriber.is_dirty.insert(target.clone())
            {
                subscriber.dirty.push(target.clone());
            }
        }
    }

    fn mark_key(&mut self, id: u32) {
        let concerned: Vec<ObjectId> = self
            .targets
            .iter()
            .filter(|(_, watched)| watched.key == Some(id) || watched.child_keys.contains(&id))
            .map(|(target, _)| target.clone())
            .collect();
        concerned.iter().for_each(|target| self.mark(target));
    }

    fn tell_gap(&mut self, key: u32, gap: &Gap) {
        let concerned: HashSet<u32> = self
            .targets
            .values()
            .filter(|watched| watched.key == Some(key) || watched.child_keys.contains(&key))
            .flat_map(|watched| watched.subscribers.iter().copied())
            .collect();
        for id in concerned {
            if let Some(subscriber) = self.subscribers.get_mut(&id)
                && !subscriber.gaps.contains(gap)
            {
                subscriber.gaps.push(gap.clone());
            }
        }
    }

    fn check_sync(&mut self) {
        let waiting: Vec<u32> = self
            .subscribers
            .iter()
            .filter(|(_, subscriber)| subscriber.sync == Sync::Pending)
            .filter(|(_, subscriber)| {
                subscriber.targets.iter().all(|target| {
                    self.targets.get(target).is_none_or(|w| !matches!(self.presence(w), Presence::Pending))
                })
            })
            .map(|(id, _)| *id)
            .collect();
        for id in waiting {
            if let Some(subscriber) = self.subscribers.get_mut(&id) {
                subscriber.sync = Sync::Due;
            }
        }
    }

    fn presence(&self, watched: &Watched) -> Presence {
        let Some(key) = watched.key.and_then(|id| self.keys.get(&id)) else { return Presence::NotServed };
        if let Some(error) = &key.stopped {
            return Presence::Unknown(error.clone());
        }
        match watched.uid.and_then(|uid| self.store.get(uid)) {
            Some(digest) => Presence::Present(digest.clone()),
            None if key.synced => Presence::Absent { as_of: key.version },
            None => key.gap.clone().map_or(Presence::Pending, Presence::Unknown),
        }
    }

    fn state(&self, target: &ObjectId) -> Option<TargetState> {
        let watched = self.targets.get(target)?;
        let gap = watched.key.and_then(|id| self.keys.get(&id)).and_then(|key| key.gap.clone());
        let known = |id: &u32| self.keys.get(id).is_some_and(|key| key.synced || key.stopped.is_some());
        let children = (!watched.child_keys.is_empty() && watched.child_keys.iter().all(known))
            .then(|| watched.uid.map_or_else(Vec::new, |uid| self.store.descendants(uid)));
        Some(TargetState { presence: self.presence(watched), marks: watched.marks.clone(), children, gap })
    }

    /// Answers every subscriber who asks and whom there is something to tell.
    fn deliver(&mut self) {
        let ready: Vec<u32> = self
            .subscribers
            .iter()
            .filter(|(_, s)| {
                s.asking.is_some() && (!s.dirty.is_empty() || !s.gaps.is_empty() || s.sync == Sync::Due)
            })
            .map(|(id, _)| *id)
            .collect();
        for id in ready {
            let Some(subscriber) = self.subscribers.get_mut(&id) else { continue };
            let Some(asking) = subscriber.asking.take_if(|asking| !asking.is_closed()) else { continue };
            if let Some(gap) = subscriber.gaps.pop() {
                let _ = asking.send(Update::Gap(gap));
                continue;
            }
            subscriber.is_dirty.clear();
            let dirty = std::mem::take(&mut subscriber.dirty);
            if dirty.is_empty() {
                subscriber.sync = Sync::Told;
                let _ = asking.send(Update::Synced);
                continue;
            }
            let changed = dirty
                .into_iter()
                .filter_map(|target| self.state(&target).map(|state| (target, state)))
                .collect();
            let _ = asking.send(Update::Changed(changed));
        }
    }
}

async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

fn number(version: &str) -> Option<u64> {
    version.parse().ok()
}

fn names_of(targets: &[ObjectId]) -> Names {
    let mut names = Names::new();
    for target in targets {
        names.entry(target.namespace().into()).or_default().push(target.name().into());
    }
    names
}

fn namespace_of(means: &Means) -> Box<str> {
    match means {
        Means::Watch(Scope::Cluster) => Box::default(),
        Means::Watch(Scope::Namespace(namespace) | Scope::Name { namespace, .. })
        | Means::Poll(namespace) => (**namespace).into(),
    }
}

fn kind_of(kind: &GroupKind, version: &str) -> Kind {
    let api_version =
        if kind.group().is_empty() { version.to_owned() } else { format!("{}/{version}", kind.group()) };
    Kind::new(&api_version, kind.kind())
}
