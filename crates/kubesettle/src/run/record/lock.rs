//! The lock of a set: a Lease beside its inventory, renewed while the run goes on.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::{Patience, SetOptions, Stop, is_older};
use crate::cluster::{Cluster, Content, DeleteParams, PlainWrite, Resource};
use crate::error::{ApiError, ErrorClass, ExitClass};
use crate::event::WarningSource;
use crate::id::GroupKind;
use crate::inventory::Location;
use crate::inventory::lease::{Decision, Holder, Lease, RENEW_EVERY, Renewal, lease_name};
use crate::run::emit::Emitter;

/// Between two looks at a lock that somebody holds.
const LOOK: Duration = Duration::from_secs(2);
/// How long and how often a lock is tried to be given back.
const RELEASE: Duration = Duration::from_secs(5);
const ATTEMPTS: u32 = 10;

/// A lock that is ours. It is given back by [`Lock::release`]; else it runs out.
#[derive(Clone)]
pub(in crate::run) struct Lock {
    cluster: Cluster,
    resource: Resource,
    location: Location,
    name: String,
    me: Holder,
    /// The resourceVersion of our last write.
    version: Box<str>,
    /// It was found as it was before that, or not at all: the server's data may have gone back.
    rewound: bool,
    /// When it is to be renewed.
    due: Instant,
}

/// What came of the wish for a lock.
pub(in crate::run) enum Locked {
    Ours(Lock),
    /// The user has no right to leases: the run goes on without one.
    Without(String),
    /// The namespace of the set does not exist (yet).
    NoNamespace,
}

/// What came of a renewal.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::run) enum Renewed {
    /// It is ours for another while, written in this version.
    Ours(Box<str>),
    /// The same, after it was found as it was before.
    Retaken(Box<str>),
    /// It is not there.
    Gone,
    /// Nobody can tell: trouble of the connection is no loss yet.
    Unclear,
    /// Who has it now.
    Lost(String),
}

/// Nothing can be written where the record belongs.
fn on_its_way_out(namespace: &str) -> Stop {
    let message = format!(
        "namespace {namespace}, where the record of the set belongs, is being deleted: nothing was written; \
         run again when it is gone (kubectl get namespace {namespace} -o yaml tells what holds it)"
    );
    Stop { class: ExitClass::Refused, message }
}

impl Lock {
    /// Waits for the lock of a set. Who holds it is told once. A write whose answer was lost is found
    /// by the next look: the lock is ours then.
    pub(in crate::run) async fn acquire(
        cluster: &Cluster,
        options: &SetOptions,
        budget: Duration,
        emit: &mut Emitter,
    ) -> Result<Locked, Stop> {
        let without = |why: String| Ok(Locked::Without(format!("no lock on the set: {why}")));
        let kind = GroupKind::new("coordination.k8s.io", "Lease");
        let Some(resource) = cluster.resource(&kind, Some("v1")) else {
            return without(String::from("the server has no leases"));
        };
        let location = options.wanted.location().clone();
        if location.namespace().is_empty() {
            return without(String::from("its parent lives in no namespace"));
        }
        let name = lease_name(&location);
        let until = Instant::now() + options.lock_timeout;
        let (mut seen, mut since) = (None, Instant::now());
        let (mut waiting_told, mut taking_told) = (false, false);
        let mut trouble: Option<ApiError> = None;
        let mut patience = Patience::new(budget);
        loop {
            if let Some(error) = trouble.take() {
                let doing = "cannot take the lock of the set";
                if !patience.bears(&error, doing, Some(emit)).await {
                    return Err(Stop::of(&error, doing));
                }
            }
            let lease = match read(cluster, &resource, &location, &name).await {
                Ok(lease) => lease,
                Err(error) if error.class.passes() => {
                    trouble = Some(error);
                    continue;
                }
                Err(error) if error.class == ErrorClass::Forbidden => return without(error.to_string()),
                Err(error) => return Err(Stop::of(&error, "cannot read the lock of the set")),
            };
            if seen != lease {
                since = Instant::now();
                seen.clone_from(&lease);
            }
            let decision =
                Lease::decide(lease.as_ref(), &location, &options.holder, cluster.time(), since.elapsed());
            let (how, body) = match decision {
                Decision::Create(body) => (PlainWrite::Create, body),
                Decision::Take { body, expired } => {
                    if let Some(held) = expired.filter(|_| !std::mem::replace(&mut taking_told, true)) {
                        let text = format!("took over the lock of the set from a run that is gone: {held}");
                        emit.warn(WarningSource::Run, &text).await;
                    }
                    (PlainWrite::Replace, body)
                }
                Decision::NotOurs => {
                    return without(format!("a Lease {name} of something else is in the way"));
                }
                Decision::Wait(held) if Instant::now() >= until => {
                    let message =
                        format!("another run of the set is under way: {held}; wait with --lock-timeout");
                    return Err(Stop { class: ExitClass::Refused, message });
                }
                Decision::Wait(held) => {
                    // Contact is good: what comes later is trouble of its own.
                    patience = Patience::new(budget);
                    if !std::mem::replace(&mut waiting_told, true) {
                        let text = format!("waiting for another run of the set: {held}");
                        emit.warn(WarningSource::Run, &text).await;
                    }
                    sleep(LOOK.min(until - Instant::now())).await;
                    continue;
                }
            };
            match cluster.write(how, &resource, location.namespace(), &name, body, "kubesettle").await {
                Ok(lease) => {
                    let (cluster, me) = (cluster.clone(), options.holder.clone());
                    return Ok(Locked::Ours(Self {
                        cluster,
                        resource,
                        location,
                        name,
                        me,
                        version: version(&lease),
                        rewound: false,
                        due: Instant::now() + RENEW_EVERY,
                    }));
                }
                // Another run was faster.
                Err(error) if error.class == ErrorClass::Replaced => {}
                Err(error) if error.class == ErrorClass::Forbidden => return without(error.to_string()),
                Err(error) if error.class == ErrorClass::NamespaceMissing => {
                    return Ok(Locked::NoNamespace);
                }
                Err(error) if error.class == ErrorClass::Terminating => {
                    return Err(on_its_way_out(location.namespace()));
                }
                Err(error) => trouble = Some(error),
            }
        }
    }

    /// When the lock must be renewed.
    pub(in crate::run) fn due(&self) -> Instant {
        self.due
    }

    /// Renews the lock. Not awaited in place: a server that falls silent must not hold up the run.
    pub(in crate::run) fn renewal(&self) -> impl Future<Output = Renewed> + Send + 'static {
        let lock = self.clone();
        async move {
            match lock.look().await {
                Ok(Some(lease)) => match lease.renew(&lock.me, lock.cluster.time()) {
                    Renewal::Renew(body) => lock.claim(body).await,
                    // Nobody took it: the server's data went back to before it was ours.
                    Renewal::Lost(_) if is_older(lease.resource_version(), &lock.version) => {
                        let (now, seen) = (lock.cluster.time(), Duration::ZERO);
                        match Lease::decide(Some(&lease), &lock.location, &lock.me, now, seen) {
                            Decision::Take { body, .. } => match lock.claim(body).await {
                                Renewed::Ours(version) => Renewed::Retaken(version),
                                other => other,
                            },
                            _ => Renewed::Unclear,
                        }
                    }
                    Renewal::Lost(held) => {
                        let nobody = || String::from("the lock is gone");
                        Renewed::Lost(held.map_or_else(nobody, |held| held.to_string()))
                    }
                },
                Ok(None) => Renewed::Gone,
                Err(_) => Renewed::Unclear,
            }
        }
    }

    /// A renewal has come to its end.
    pub(in crate::run) fn renewed(&mut self, renewed: &Renewed) {
        self.due = Instant::now() + LOOK;
        self.rewound |= matches!(renewed, Renewed::Retaken(_) | Renewed::Gone);
        if let Renewed::Ours(version) | Renewed::Retaken(version) = renewed {
            self.due = Instant::now() + RENEW_EVERY;
            self.version.clone_from(version);
        }
    }

    /// True when the server's data may have gone back while the lock was ours.
    pub(in crate::run) fn rewound(&self) -> bool {
        self.rewound
    }

    async fn claim(&self, body: bytes::Bytes) -> Renewed {
        match self.write(body).await {
            Ok(lease) => Renewed::Ours(version(&lease)),
            Err(_) => Renewed::Unclear,
        }
    }

    /// Gives the lock back; `for_good` when its set is no more. One that cannot be given back runs out.
    pub(in crate::run) async fn release(self, for_good: bool) {
        let _ = timeout(2 * RELEASE, self.try_release(for_good)).await;
    }

    async fn try_release(&self, for_good: bool) {
        let mut patience = Patience::new(RELEASE);
        let doing = "cannot give the lock of the set back";
        for _ in 0..ATTEMPTS {
            match self.give_back(for_good).await {
                Ok(()) => return,
                // A renewal of ours that was under way came in between.
                Err(error) if error.class == ErrorClass::Replaced => {}
                Err(error) if patience.bears(&error, doing, None).await => {}
                Err(_) => return,
            }
        }
    }

    async fn give_back(&self, for_good: bool) -> Result<(), ApiError> {
        let Some(lease) = self.look().await? else { return Ok(()) };
        let Some(body) = lease.release(&self.me) else { return Ok(()) };
        if for_good {
            let (namespace, params) = (self.location.namespace(), DeleteParams::default());
            let uid = Some(lease.uid());
            return self.cluster.delete(&self.resource, namespace, &self.name, uid, &params).await.map(drop);
        }
        self.write(body).await.map(drop)
    }

    async fn look(&self) -> Result<Option<Lease>, ApiError> {
        read(&self.cluster, &self.resource, &self.location, &self.name).await
    }

    async fn write(&self, body: bytes::Bytes) -> Result<bytes::Bytes, ApiError> {
        let (namespace, name) = (self.location.namespace(), &self.name);
        self.cluster.write(PlainWrite::Replace, &self.resource, namespace, name, body, "kubesettle").await
    }
}

fn version(lease: &[u8]) -> Box<str> {
    Lease::parse(lease).map(|lease| lease.resource_version().into()).unwrap_or_default()
}

async fn read(
    cluster: &Cluster,
    resource: &Resource,
    location: &Location,
    name: &str,
) -> Result<Option<Lease>, ApiError> {
    match cluster.get(resource, location.namespace(), name, Content::Full).await? {
        None => Ok(None),
        Some(json) => Lease::parse(&json)
            .map(Some)
            .map_err(|error| ApiError::local(ErrorClass::Protocol, format!("the lock of the set: {error}"))),
    }
}
