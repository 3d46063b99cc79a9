//! The one stream that everything a person or a program sees is a fold over.
//!
//! ```text
//! run ──► Event, Event, … ──► printers (plain, json, events, live)
//!                        └──► Summary (the same fold for all of them) ──► exit code
//! ```
//!
//! Contract of a run's events:
//!
//! * Sequence numbers start at 0 and have no gap; `elapsed` never decreases.
//! * The first body is [`Body::Start`], the last [`Body::End`], and [`Body::Summary`] stands right before it.
//! * Every object of the run has at most one [`Body::Finished`] per action and at least one
//!   [`Body::Concluded`]; an object that turned back after it had settled has a further one, and the last counts.
//! * A [`Body::Verdict`] of an object is sent when its status, reason, message or progress changed, never twice in a row.
//! * No body holds a value of a Secret.

#[cfg(test)]
mod fixtures;
mod json;
mod summary;
mod tally;

use std::fmt;
use std::time::{Duration, SystemTime};

use kstatus::{CauseCode, Verdict};

use crate::error::{ApiError, ExitClass};
use crate::id::{GroupKind, ObjectId};

pub use json::{InDump, group_line, pending_wait_line, to_dump_line, to_json_line};
pub use summary::{ObjectSummary, Summary};
pub use tally::{Conclusions, Tally};

/// Version of the JSON form; raised when a key changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// One thing that happened.
#[derive(Clone, Debug)]
pub struct Event {
    /// Position in the stream of this run, from 0.
    pub seq: u64,
    /// Monotonic time since the run began.
    pub elapsed: Duration,
    /// Wall-clock time, for people and logs only.
    pub time: SystemTime,
    /// What happened.
    pub body: Body,
}

/// What happened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Body {
    /// The run begins.
    Start(Start),
    /// An input object was left out because it is invalid.
    Invalid {
        /// The objects concerned.
        objects: Vec<ObjectId>,
        /// Why.
        error: Box<str>,
    },
    /// What the run is going to do.
    Plan(Counts),
    /// The record of the set was written.
    Inventory {
        /// Its first ConfigMap.
        id: ObjectId,
        /// How many objects it names now.
        entries: usize,
        /// In how many ConfigMaps; 0 when it was removed.
        shards: usize,
    },
    /// A request for this object is about to be sent.
    Started {
        /// The object.
        id: ObjectId,
        /// What is about to be done.
        action: Action,
    },
    /// An action on an object has its result.
    Finished {
        /// The object.
        id: ObjectId,
        /// What was done.
        action: Action,
        /// How it went.
        outcome: Outcome,
    },
    /// What is known of an object's state has changed.
    Verdict {
        /// The object.
        id: ObjectId,
        /// Its state now.
        verdict: Verdict,
    },
    /// The wait for an object is over.
    Concluded {
        /// The object.
        id: ObjectId,
        /// How its wait ended.
        conclusion: Conclusion,
    },
    /// A reminder of what is still awaited; sent when nothing else was said for a while.
    Waiting {
        /// The objects whose wait goes on, longest first.
        awaited: Vec<Awaited>,
        /// How many objects the run has in all.
        total: usize,
    },
    /// Something a person should know that is no failure.
    Warning {
        /// The object it is about, if any.
        id: Option<ObjectId>,
        /// Where it comes from.
        source: WarningSource,
        /// The text.
        message: Box<str>,
    },
    /// A kind cannot be watched in some scope just now; its objects are Unknown until that ends.
    Gap {
        /// The kind.
        kind: GroupKind,
        /// The namespace, or empty for all.
        namespace: Box<str>,
        /// Why.
        reason: Box<str>,
    },
    /// A request failed in a way that may pass and is tried again.
    Retry {
        /// The object.
        id: ObjectId,
        /// What is tried.
        action: Action,
        /// What went wrong.
        error: ApiError,
        /// Which attempt failed, from 1.
        attempt: u32,
        /// How long we wait before the next.
        delay: Duration,
    },
    /// Totals.
    Summary(Summary),
    /// The run is over.
    End {
        /// How it ended.
        class: ExitClass,
        /// Why, when the totals do not say it (the connection was lost, the run was interrupted, …).
        message: Option<Box<str>>,
    },
}

/// The head of a run.
#[derive(Clone, Debug)]
pub struct Start {
    /// What the run does.
    pub operation: Operation,
    /// A rehearsal: nothing is written, nothing is waited for.
    pub dry_run: Option<DryRun>,
    /// The name of the set, when it is tracked: namespace and name of its inventory.
    pub set: Option<ObjectId>,
    /// Number of objects in the run.
    pub objects: usize,
    /// Number of namespaces they live in.
    pub namespaces: usize,
}

/// Who says what a run that writes nothing would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DryRun {
    /// We ourselves, by what is known of the cluster.
    Client,
    /// The server: every request is sent, with the wish that nothing be stored.
    Server,
}

impl DryRun {
    /// The word in every output, as kubectl has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// How many objects a run acts on, by action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// To be applied.
    pub apply: usize,
    /// To be pruned.
    pub prune: usize,
    /// To be deleted.
    pub delete: usize,
    /// Left alone for a reason that is told with each.
    pub skip: usize,
}

/// What a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Apply and wait.
    Apply,
    /// Delete and wait until gone.
    Destroy,
    /// Look only.
    Status,
}

impl Operation {
    /// The word in the JSON form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Destroy => "destroy",
            Self::Status => "status",
        }
    }
}

/// What is done to one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// Server-side apply.
    Apply,
    /// Deletion because the set is destroyed.
    Delete,
    /// Deletion because the object left the set.
    Prune,
    /// Deletion because a field of the object cannot be changed; it is applied anew when it is gone.
    Recreate,
}

impl Action {
    /// The word in every output, as kapply has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Delete => "delete",
            Self::Prune => "prune",
            Self::Recreate => "recreate",
        }
    }
}

/// How an action went.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The object did not exist and does now.
    Created,
    /// The object existed and was changed.
    Configured,
    /// The object existed and already was as wanted.
    Unchanged,
    /// The object existed; for lack of rights nobody can tell if it was changed.
    Applied,
    /// The server accepted the deletion.
    Deleted,
    /// There was nothing to delete.
    AlreadyGone,
    /// Not tried.
    Skipped(Skip),
    /// The server, or the way to it, refused.
    Failed(ApiError),
    /// The run was interrupted before it was tried.
    Cancelled,
}

/// Why an action was not tried.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Skip {
    /// Something it depends on (or that depends on it) did not get there.
    Dependency {
        /// The objects from the neighbour to the one where it began.
        chain: Vec<ObjectId>,
        /// What happened there.
        reason: Box<str>,
    },
    /// The object belongs to nobody or to another set, and the policy does not allow to touch it.
    Refused {
        /// Which policy, and whose object it is.
        message: Box<str>,
        /// How it can be taken over.
        hint: Box<str>,
    },
    /// Somebody wished the object to be left alone, or the set still needs it.
    Kept {
        /// By what.
        message: Box<str>,
    },
    /// It is to be applied, and needs an object that left the set.
    Leaving {
        /// That object.
        needs: ObjectId,
    },
    /// It left the set, and an object that is to be applied needs it.
    Needed {
        /// That object.
        by: ObjectId,
    },
}

/// Names the way to where it began, and what happened there.
impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dependency { chain, reason } => {
                f.write_str("needs ")?;
                for (nth, id) in chain.iter().enumerate() {
                    write!(f, "{}{id:#}", if nth == 0 { "" } else { ", which needs " })?;
                }
                write!(f, ": {reason}")
            }
            Self::Refused { message, .. } | Self::Kept { message } => f.write_str(message),
            Self::Leaving { needs } => write!(f, "needs {needs:#}, which left the set"),
            Self::Needed { by } => write!(f, "still needed by {by:#}"),
        }
    }
}

/// How the wait for an object ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Conclusion {
    /// Settled: Current after an apply, gone after a deletion.
    Settled,
    /// Certainly not going to settle.
    Failed,
    /// Its action failed, so there was nothing to wait for.
    NotApplied,
    /// Its action was skipped, so there was nothing to wait for.
    Skipped,
    /// Time ran out. The last verdict says what was missing.
    TimedOut,
    /// Nobody can tell: no right to look, or contact lost.
    Unknown,
    /// The run was interrupted.
    Cancelled,
    /// Nobody asked to wait.
    NotAwaited,
}

/// One object whose wait goes on.
#[derive(Clone, Debug)]
pub struct Awaited {
    /// The object.
    pub id: ObjectId,
    /// Its last verdict; `None` before the first.
    pub verdict: Option<Verdict>,
    /// How long it has been awaited.
    pub since: Duration,
}

/// Where a warning comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningSource {
    /// A `Warning` header of the API server: deprecations, admission.
    Server,
    /// The input.
    Input,
    /// The run itself.
    Run,
}

/// The warnings that a verdict carries: custom rules that could not be evaluated, each with its text.
pub(crate) fn rule_warnings<'a>(
    id: &'a ObjectId,
    verdict: &'a Verdict,
) -> impl Iterator<Item = (String, Body)> + use<'a> {
    let causes = verdict.causes.iter().filter(|cause| cause.code == CauseCode::RuleError);
    causes.map(|cause| {
        let message = cause.message.clone();
        let body = Body::Warning {
            id: Some(id.clone()),
            source: WarningSource::Run,
            message: message.clone().into(),
        };
        (message, body)
    })
}
