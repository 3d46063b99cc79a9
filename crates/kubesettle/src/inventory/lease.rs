//! The lock on a set: a `coordination.k8s.io/v1` Lease beside its inventory.
//!
//! Only decisions and bodies stand here; time is given. `now` is best the server's own clock (the Date
//! header of the answer that brought the Lease): clocks of different machines differ.

use std::fmt;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::hash;
use super::model::Location;
use crate::id::{GroupKind, ObjectId};

/// How long a Lease lasts without a sign of life.
pub const LASTS: Duration = Duration::from_secs(30);
/// How often a holder gives one.
pub const RENEW_EVERY: Duration = Duration::from_secs(10);

const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
const US: &str = "kubesettle";
const MAX_NAME: usize = 253;

/// The name of a set's Lease, in the namespace of its inventory. Not the inventory's own name:
/// controllers like to call their leader election by the name of their application.
pub fn lease_name(set: &Location) -> String {
    let whole = format!("{US}-{}", set.name());
    if whole.len() <= MAX_NAME {
        return whole;
    }
    let digest = &hash::hex(&hash::of(set.name()))[..16];
    let cut: String = whole.chars().take(MAX_NAME - 17).collect();
    format!("{}-{digest}", cut.trim_end_matches(['-', '.']))
}

/// The same as an object: it must not be in the input itself.
pub fn lease_object(set: &Location) -> ObjectId {
    ObjectId::new(GroupKind::new("coordination.k8s.io", "Lease"), set.namespace(), &lease_name(set))
}

/// Who holds a Lease, as a person reads it. Two runs never have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder(Box<str>);

impl Holder {
    /// `alice@ci-3 (pid 4711, run 9f2c)`.
    pub fn new(user: &str, host: &str, pid: u32, run: &str) -> Self {
        Self(format!("{user}@{host} (pid {pid}, run {run})").into())
    }

    /// The text of `spec.holderIdentity`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A Lease as the cluster has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    namespace: Box<str>,
    name: Box<str>,
    uid: Box<str>,
    resource_version: Box<str>,
    ours: bool,
    holder: Option<Box<str>>,
    lasts: Duration,
    acquired: Option<SystemTime>,
    renewed: Option<SystemTime>,
    transitions: u64,
}

/// What a run that wants the lock has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// POST this body. A conflict means that another run was faster: read again.
    Create(Bytes),
    /// PUT this body. A conflict means that another run was faster: read again.
    Take {
        /// The body.
        body: Bytes,
        /// Whose lock it was, when it had run out without being given back.
        expired: Option<Held>,
    },
    /// Somebody holds it.
    Wait(Held),
    /// A Lease of that name exists, and is none of ours.
    NotOurs,
}

/// What a run that has the lock has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// PUT this body.
    Renew(Bytes),
    /// The lock is lost, to this holder or (`None`) to nobody: write nothing more.
    Lost(Option<Held>),
}

/// A lock that somebody has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Who.
    pub holder: Box<str>,
    /// For how long.
    pub held: Option<Duration>,
    /// How long ago the last sign of life was.
    pub quiet: Option<Duration>,
    /// How long a lock lasts without one.
    pub lasts: Duration,
}

/// `alice@ci-3 (pid 4711, run 9f2c) has held it for 95 s, last sign of life 4 s ago (free after 30 s without one)`.
impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.holder)?;
        match self.held {
            Some(held) => write!(f, " has held it for {} s", held.as_secs())?,
            None => f.write_str(" holds it")?,
        }
        if let Some(quiet) = self.quiet {
            write!(f, ", last sign of life {} s ago", quiet.as_secs())?;
        }
        write!(f, " (free after {} s without one)", self.lasts.as_secs())
    }
}

impl Lease {
    /// Reads the JSON of a Lease.
    ///
    /// # Errors
    /// A text that is no JSON object, or times that are none.
    pub fn parse(json: &[u8]) -> Result<Self, String> {
        let lease: Value = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let text = |path: &str| lease.pointer(path).and_then(Value::as_str);
        let time = |path: &str| match text(path) {
            Some(text) => text
                .parse::<Timestamp>()
                .map(|time| Some(SystemTime::from(time)))
                .map_err(|error| format!("{path}: {error}")),
            None => Ok(None),
        };
        let number = |path: &str| lease.pointer(path).and_then(Value::as_u64);
        let required = |path: &str| text(path).ok_or_else(|| format!("{path} is missing"));
        Ok(Self {
            namespace: required("/metadata/namespace")?.into(),
            name: required("/metadata/name")?.into(),
            uid: required("/metadata/uid")?.into(),
            resource_version: required("/metadata/resourceVersion")?.into(),
            ours: lease["metadata"]["labels"][MANAGED_BY] == US,
            holder: text("/spec/holderIdentity").filter(|holder| !holder.is_empty()).map(Into::into),
            lasts: number("/spec/leaseDurationSeconds").map_or(LASTS, Duration::from_secs),
            acquired: time("/spec/acquireTime")?,
            renewed: time("/spec/renewTime")?,
            transitions: number("/spec/leaseTransitions").unwrap_or_default(),
        })
    }

    /// What to do to get the lock. `unchanged` is for how long, on our own clock, every reading of the
    /// Lease has been the same: it frees us from a dead holder whose clock was far ahead.
    pub fn decide(
        lease: Option<&Self>,
        set: &Location,
        me: &Holder,
        now: SystemTime,
        unchanged: Duration,
    ) -> Decision {
        let Some(lease) = lease else {
            return Decision::Create(Self::first(set).body(me, now, now));
        };
        if !lease.ours {
            return Decision::NotOurs;
        }
        let acquired = match &lease.holder {
            Some(holder) if **holder == *me.0 => lease.acquired.unwrap_or(now),
            _ => now,
        };
        let take = |expired| Decision::Take { body: lease.body(me, acquired, now), expired };
        match lease.held(now) {
            None => take(None),
            Some(held) if held.holder == me.0 => take(None),
            Some(held) if lease.expired(now, unchanged) => take(Some(held)),
            Some(held) => Decision::Wait(held),
        }
    }

    /// What to do to keep the lock, by the latest reading of the Lease.
    pub fn renew(&self, me: &Holder, now: SystemTime) -> Renewal {
        match self.held(now) {
            Some(held) if held.holder == me.0 => {
                Renewal::Renew(self.body(me, self.acquired.unwrap_or(now), now))
            }
            held => Renewal::Lost(held),
        }
    }

    /// The body of the PUT that gives the lock back; `None` when it is not ours to give.
    pub fn release(&self, me: &Holder) -> Option<Bytes> {
        let mine = self.holder.as_ref().is_some_and(|holder| *holder == me.0);
        mine.then(|| {
            self.with_spec(json!({ "leaseDurationSeconds": 1, "leaseTransitions": self.transitions }))
        })
    }

    /// Who has it, also when that has run out; `None` when it was given back.
    pub fn held(&self, now: SystemTime) -> Option<Held> {
        let since = |time: Option<SystemTime>| now.duration_since(time?).ok();
        Some(Held {
            holder: self.holder.clone()?,
            held: since(self.acquired),
            quiet: since(self.renewed),
            lasts: self.lasts,
        })
    }

    /// The version that was read: two equal ones are one reading.
    pub fn resource_version(&self) -> &str {
        &self.resource_version
    }

    /// Which life of the Lease was read.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    fn first(set: &Location) -> Self {
        Self {
            namespace: set.namespace().into(),
            name: lease_name(set).into(),
            uid: "".into(),
            resource_version: "".into(),
            ours: true,
            holder: None,
            lasts: LASTS,
            acquired: None,
            renewed: None,
            transitions: 0,
        }
    }

    fn expired(&self, now: SystemTime, unchanged: Duration) -> bool {
        // A holder that never gave a sign of life is judged by our own watch alone.
        let quiet = self.renewed.and_then(|renewed| now.duration_since(renewed).ok());
        quiet.is_some_and(|quiet| quiet >= self.lasts) || unchanged >= self.lasts
    }

    fn body(&self, holder: &Holder, acquired: SystemTime, now: SystemTime) -> Bytes {
        let changes_hands = self.holder.as_ref().is_some_and(|before| *before != holder.0);
        self.with_spec(json!({
            "acquireTime": micro_time(acquired),
            "holderIdentity": holder.as_str(),
            "leaseDurationSeconds": LASTS.as_secs(),
            "leaseTransitions": self.transitions + u64::from(changes_hands),
            "renewTime": micro_time(now),
        }))
    }

    fn with_spec(&self, spec: Value) -> Bytes {
        let mut metadata = json!({
            "labels": { MANAGED_BY: US },
            "name": &*self.name,
            "namespace": &*self.namespace,
        });
        for (key, text) in [("resourceVersion", &self.resource_version), ("uid", &self.uid)] {
            if !text.is_empty() {
                metadata[key] = text[..].into();
            }
        }
        json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": metadata,
            "spec": spec,
        })
        .to_string()
        .into()
    }
}

/// A time as `MicroTime` fields have it: always six digits.
fn micro_time(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}
