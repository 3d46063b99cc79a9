//! The state of every wanted object, kept by as few list+watch streams as possible.
//!
//! ```text
//!  API server ══► stream (one task per kind and scope) ──batches──► hub (one task, owns all state)
//!                 bytes → digest; strangers dropped                  objects, owner index, keys
//!                                                                     │ dirty set per subscriber
//!  subscriber ◄── Update: Changed, Gap, Synced ◄──────────────────────┘
//! ```
//!
//! # Contract
//!
//! * **Presence.** When [`Update::Synced`] is delivered, every target has been delivered in a
//!   [`Update::Changed`]: present, absent, or unknown with a reason. A kind that is not served is
//!   absent, and its watch starts by itself when it is served.
//! * **Order.** The states of one target never go back to an older resourceVersion of the same uid,
//!   unless the server's own data did: then that is said too ([`TargetState::rewinds`]).
//! * **Level, not edge.** A subscriber may miss a state in between, never the last one. Its memory
//!   is bounded by the number of its targets, and a slow one delays neither watches nor others.
//! * **Deletion.** A deleted target becomes absent however it went: by an event, in a gap, with its
//!   kind.
//! * **No request per event.** After the start nothing is fetched; only where the user may not
//!   watch are single objects asked for, in rounds.
//! * **Isolation.** Trouble with one kind or scope concerns its own targets only.
//! * **Stop.** Dropping the subscriptions and the hub ends every stream and task.

mod hub;
mod index;
mod machine;
mod names;
mod outside;
mod page_size;
mod scope;
mod slab;
mod store;
mod stream;
mod wanted;
mod wire;

use std::sync::Arc;

use kstatus::{Digest, EventNote, Rulebook};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::cluster::Cluster;
use crate::error::ApiError;
use crate::id::{GroupKind, ObjectId};

use hub::Request;
use outside::Outside;

pub use scope::ScopeStrategy;

/// An object to be observed.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name.
    pub id: ObjectId,
    /// The API version in which to look at it, such as `v1`; the server's preferred one when `None`
    /// or not served.
    pub version: Option<Box<str>>,
}

/// What is known of a target.
#[derive(Clone, Debug)]
pub struct TargetState {
    /// Is it there?
    pub presence: Presence,
    /// Its marks, when it has any.
    pub marks: Option<Arc<Marks>>,
    /// What it generated, at any depth; `None` while nobody asked for it or it is not known yet.
    pub children: Option<Vec<Arc<Digest>>>,
    /// Events about it and what it generated, the newest few of each; `None` while nobody asked for
    /// them or they are not known yet.
    pub events: Option<Vec<EventNote>>,
    /// Contact with its kind is lost and sought again: the state may be old.
    pub gap: Option<Arc<ApiError>>,
    /// How often the server's data was found to have gone back (a backup was put in its place): what was
    /// written before may be lost, and versions from then say nothing.
    pub rewinds: u32,
}

impl TargetState {
    /// Nothing has been heard yet.
    pub(crate) fn pending() -> Self {
        Self { presence: Presence::Pending, marks: None, children: None, events: None, gap: None, rewinds: 0 }
    }
}

/// The annotations by which tools of the cli-utils family mark a live object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Marks {
    /// `config.k8s.io/owning-inventory`: the set that the object belongs to.
    pub owner: Option<Box<str>>,
    /// `cli-utils.sigs.k8s.io/on-remove`.
    pub on_remove: Option<Box<str>>,
    /// `client.lifecycle.config.k8s.io/deletion`.
    pub deletion: Option<Box<str>>,
    /// `config.kubernetes.io/depends-on`.
    pub depends_on: Option<Box<str>>,
    /// `config.kubernetes.io/apply-time-mutation`.
    pub mutation: Option<Box<str>>,
    /// The label `applyset.kubernetes.io/part-of`: the ApplySet that the object belongs to.
    pub part_of: Option<Box<str>>,
}

impl Marks {
    /// The value of one of them, by its whole name.
    pub fn get(&self, name: &str) -> Option<&str> {
        match name {
            "config.k8s.io/owning-inventory" => self.owner.as_deref(),
            "cli-utils.sigs.k8s.io/on-remove" => self.on_remove.as_deref(),
            "client.lifecycle.config.k8s.io/deletion" => self.deletion.as_deref(),
            "config.kubernetes.io/depends-on" => self.depends_on.as_deref(),
            "config.kubernetes.io/apply-time-mutation" => self.mutation.as_deref(),
            "applyset.kubernetes.io/part-of" => self.part_of.as_deref(),
            _ => None,
        }
    }
}

/// Whether a target exists.
#[derive(Clone, Debug)]
pub enum Presence {
    /// Nothing has been heard yet.
    Pending,
    /// It exists, in this state.
    Present(Arc<Digest>),
    /// It does not exist.
    Absent {
        /// The resourceVersion up to which this is known, where the server uses numbers.
        as_of: Option<u64>,
        /// Its last state, when it was seen to go.
        last: Option<Arc<Digest>>,
    },
    /// The server does not know its kind.
    NotServed,
    /// Nobody can tell.
    Unknown(Arc<ApiError>),
}

/// What a subscriber is told.
#[derive(Debug)]
pub enum Update {
    /// The latest state of targets that changed.
    Changed(Vec<(ObjectId, TargetState)>),
    /// The initial state of all targets has been delivered.
    Synced,
    /// A kind cannot be watched as it should.
    Gap(Gap),
}

/// A kind that cannot be watched as it should.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// The kind.
    pub kind: GroupKind,
    /// The namespace, or empty for all.
    pub namespace: Box<str>,
    /// What happened and what is done instead.
    pub reason: Box<str>,
}

/// Observes objects of one cluster for any number of subscribers. Cheap to clone; the streams are
/// shared.
#[derive(Clone, Debug)]
pub struct Hub {
    requests: mpsc::Sender<Request>,
    rules: Rulebook,
    cluster: Cluster,
}

/// The hub's task is gone, which happens only when the runtime shuts down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("nothing is watched any more: the runtime shuts down")]
pub struct Closed;

impl Hub {
    /// Starts a hub. Must be called inside a tokio runtime.
    pub fn new(cluster: &Cluster) -> Self {
        Self::with_rules(cluster, Rulebook::default())
    }

    /// Starts a hub whose objects are digested by these rules. Must be called inside a tokio runtime.
    pub fn with_rules(cluster: &Cluster, rules: Rulebook) -> Self {
        let (requests, receiver) = mpsc::channel(64);
        tokio::spawn(hub::Task::new(cluster.clone(), rules.clone(), receiver).run());
        Self { requests, rules, cluster: cluster.clone() }
    }

    /// The cluster that it observes.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The rules that its objects are digested by, and should be judged by.
    pub fn rules(&self) -> &Rulebook {
        &self.rules
    }

    /// Observes these objects from now on. An object that somebody else observes already stays with
    /// the watch that it has, whatever the options say.
    ///
    /// # Errors
    /// [`Closed`] when the runtime shuts down.
    pub async fn subscribe(
        &self,
        targets: Vec<Target>,
        options: SubscribeOptions,
    ) -> Result<Subscription, Closed> {
        let token = CancellationToken::new();
        let (reply, id) = oneshot::channel();
        let mut outside = Outside::new(options.scope);
        let targets = outside.admit(targets);
        let (width, labels) = (outside.scope.width(), options.labels);
        let request = Request::Subscribe { targets, width, labels, alive: token.clone(), reply };
        self.requests.send(request).await.map_err(|_| Closed)?;
        let id = id.await.map_err(|_| Closed)?;
        let requests = self.requests.clone();
        Ok(Subscription { id, requests, outside, asked: None, _alive: token.drop_guard() })
    }

    /// Kinds may be served now that were not (a CRD was established): look at once.
    ///
    /// # Errors
    /// [`Closed`] when the runtime shuts down.
    pub async fn kinds_changed(&self) -> Result<(), Closed> {
        self.requests.send(Request::KindsChanged).await.map_err(|_| Closed)
    }
}

/// How targets are observed. What belongs to the hub as a whole (the rules by which objects are
/// digested) is given to [`Hub::with_rules`]; what belongs to verdicts (holds, facts, children or not)
/// to [`Judgement`](crate::status::Judgement).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscribeOptions {
    /// In which scopes.
    pub scope: ScopeStrategy,
    /// A label selector, as the API takes it, that all targets fit: where many objects are watched at
    /// once, the server is asked for those with these labels only. A target that loses them, and one that
    /// does not have them, is asked for once and followed by its name from then on. One that is gone is
    /// absent until it comes again with the labels.
    pub labels: Option<Arc<str>>,
}

impl SubscribeOptions {
    /// These scopes, and all else as usual.
    pub fn in_scope(scope: ScopeStrategy) -> Self {
        Self { scope, ..Self::default() }
    }

    /// Looks for the targets among what fits this label selector.
    #[must_use]
    pub fn with_labels(mut self, selector: &str) -> Self {
        self.labels = Some(selector.into());
        self
    }
}

/// One subscriber's view. Dropping it releases its watches.
#[derive(Debug)]
pub struct Subscription {
    id: u32,
    requests: mpsc::Sender<Request>,
    outside: Outside,
    asked: Option<oneshot::Receiver<Update>>,
    _alive: DropGuard,
}

impl Subscription {
    /// The next update; waits until there is one. May be dropped and called again: nothing is lost.
    ///
    /// # Errors
    /// [`Closed`] when the runtime shuts down.
    pub async fn next(&mut self) -> Result<Update, Closed> {
        if let Some(changed) = self.outside.tell() {
            return Ok(Update::Changed(changed));
        }
        if self.asked.is_none() {
            let (reply, update) = oneshot::channel();
            self.requests.send(Request::Next { subscriber: self.id, reply }).await.map_err(|_| Closed)?;
            self.asked = Some(update);
        }
        let Some(asked) = &mut self.asked else { return Err(Closed) };
        let update = asked.await.map_err(|_| Closed);
        self.asked = None;
        update
    }

    /// The latest state of every target, in no order. It takes nothing from the updates.
    ///
    /// # Errors
    /// [`Closed`] when the runtime shuts down.
    pub async fn snapshot(&self) -> Result<Vec<(ObjectId, TargetState)>, Closed> {
        let (reply, states) = oneshot::channel();
        self.requests.send(Request::Snapshot { subscriber: self.id, reply }).await.map_err(|_| Closed)?;
        let mut states = states.await.map_err(|_| Closed)?;
        states.extend(self.outside.states());
        Ok(states)
    }

    /// Observes these objects too. [`Update::Synced`] comes once more when the state of all is known.
    ///
    /// # Errors
    /// [`Closed`] when the runtime shuts down.
    pub async fn add(&mut self, targets: Vec<Target>) -> Result<(), Closed> {
        let targets = self.outside.admit(targets);
        self.requests.send(Request::Add { subscriber: self.id, targets }).await.map_err(|_| Closed)
    }

    /// Observes these objects no longer; an update that was on its way may still tell of them.
    ///
    /// # Errors
    /// [`Closed`] when the runtime shuts down.
    pub async fn remove(&mut self, targets: Vec<ObjectId>) -> Result<(), Closed> {
        self.outside.remove(&targets);
        self.requests.send(Request::Remove { subscriber: self.id, targets }).await.map_err(|_| Closed)
    }

    /// Asks for what this target generated to be observed too, or no longer.
    ///
    /// # Errors
    /// [`Closed`] when the runtime shuts down.
    pub async fn children(&self, target: ObjectId, wanted: bool) -> Result<(), Closed> {
        let request = Request::Children { subscriber: self.id, target, wanted };
        self.requests.send(request).await.map_err(|_| Closed)
    }

    /// Asks for the events about this target and what it generated to be observed too, or no longer.
    /// A user who may not see events is told of none.
    ///
    /// # Errors
    /// [`Closed`] when the runtime shuts down.
    pub async fn events(&self, target: ObjectId, wanted: bool) -> Result<(), Closed> {
        let request = Request::Events { subscriber: self.id, target, wanted };
        self.requests.send(request).await.map_err(|_| Closed)
    }
}

/// Waits until this moment; for ever without one.
pub(crate) async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// A random number in 0..1, to keep many loops and retries from acting in step.
pub(crate) fn jitter() -> f64 {
    use std::hash::{BuildHasher, RandomState};
    let random = RandomState::new().hash_one(0_u8);
    // 53 bits fill the mantissa.
    (random >> 11) as f64 / (1_u64 << 53) as f64
}
