//! The lock of a set: a Lease beside its inventory, renewed while the run goes on.

use std::time::{Duration, SystemTime};

use tokio::time::{Instant, sleep};

use super::{SetOptions, Stop};
use crate::cluster::{Cluster, Content, DeleteParams, PlainWrite, Resource};
use crate::error::{ApiError, ErrorClass, ExitClass};
use crate::event::WarningSource;
use crate::id::GroupKind;
use crate::inventory::Location;
use crate::inventory::lease::{Decision, Holder, Lease, RENEW_EVERY, Renewal, lease_name};
use crate::run::emit::Emitter;

/// Between two looks at a lock that somebody holds.
const LOOK: Duration = Duration::from_secs(2);

/// A lock that is ours. It is given back by [`Lock::release`]; else it runs out.
pub(in crate::run) struct Lock {
    cluster: Cluster,
    resource: Resource,
    location: Location,
    name: String,
    me: Holder,
    renewed: Instant,
}

/// What came of the wish for a lock.
pub(in crate::run) enum Locked {
    Ours(Lock),
    /// The user has no right to leases: the run goes on without one.
    Without(String),
    /// The namespace of the set does not exist (yet).
    NoNamespace,
}

impl Lock {
    /// Waits for the lock of a set. Who holds it is told once.
    pub(in crate::run) async fn acquire(
        cluster: &Cluster,
        options: &SetOptions,
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
        let (mut seen, mut since, mut told) = (None, Instant::now(), false);
        loop {
            let lease = match read(cluster, &resource, &location, &name).await {
                Ok(lease) => lease,
                Err(error) if error.class == ErrorClass::Forbidden => return without(error.to_string()),
                Err(error) => return Err(Stop::of(&error, "cannot read the lock of the set")),
            };
            if seen != lease {
                since = Instant::now();
                seen.clone_from(&lease);
            }
            let decision =
                Lease::decide(lease.as_ref(), &location, &options.holder, SystemTime::now(), since.elapsed());
            let (how, body) = match decision {
                Decision::Create(body) => (PlainWrite::Create, body),
                Decision::Take { body, expired } => {
                    if let Some(held) = expired {
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
                    if !std::mem::replace(&mut told, true) {
                        let text = format!("waiting for another run of the set: {held}");
                        emit.warn(WarningSource::Run, &text).await;
                    }
                    sleep(LOOK.min(until - Instant::now())).await;
                    continue;
                }
            };
            match cluster.write(how, &resource, location.namespace(), &name, body, "kubesettle").await {
                Ok(_) => {
                    let (cluster, me) = (cluster.clone(), options.holder.clone());
                    return Ok(Locked::Ours(Self {
                        cluster,
                        resource,
                        location,
                        name,
                        me,
                        renewed: Instant::now(),
                    }));
                }
                // Another run was faster.
                Err(error) if error.class == ErrorClass::Replaced => {}
                Err(error) if error.class == ErrorClass::Forbidden => return without(error.to_string()),
                Err(error) if error.class == ErrorClass::NamespaceMissing => {
                    return Ok(Locked::NoNamespace);
                }
                Err(error) => return Err(Stop::of(&error, "cannot take the lock of the set")),
            }
        }
    }

    /// When the lock must be renewed.
    pub(in crate::run) fn due(&self) -> Instant {
        self.renewed + RENEW_EVERY
    }

    /// Renews the lock; an error tells who has it now. Trouble of the connection is no loss yet.
    pub(in crate::run) async fn renew(&mut self) -> Result<(), String> {
        self.renewed = Instant::now();
        let Ok(Some(lease)) = read(&self.cluster, &self.resource, &self.location, &self.name).await else {
            return Ok(());
        };
        match lease.renew(&self.me, SystemTime::now()) {
            Renewal::Renew(body) => {
                let _ = self.write(body).await;
                Ok(())
            }
            Renewal::Lost(held) => {
                Err(held.map_or_else(|| String::from("the lock is gone"), |held| held.to_string()))
            }
        }
    }

    /// Gives the lock back; `for_good` when its set is no more.
    pub(in crate::run) async fn release(self, for_good: bool) {
        if for_good {
            let (namespace, params) = (self.location.namespace(), DeleteParams::default());
            // A Lease that stays behind is in nobody's way.
            let _ = self.cluster.delete(&self.resource, namespace, &self.name, None, &params).await;
            return;
        }
        if let Ok(Some(lease)) = read(&self.cluster, &self.resource, &self.location, &self.name).await
            && let Some(body) = lease.release(&self.me)
        {
            // A lock that cannot be given back runs out.
            let _ = self.write(body).await;
        }
    }

    async fn write(&self, body: bytes::Bytes) -> Result<bytes::Bytes, ApiError> {
        let (namespace, name) = (self.location.namespace(), &self.name);
        self.cluster.write(PlainWrite::Replace, &self.resource, namespace, name, body, "kubesettle").await
    }
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
