use crate::digest::Digest;
use crate::facts::Facts;
use crate::policy::Policy;
use crate::time::Timestamp;
use crate::uid::Uid;

/// An event of the cluster about one object, as far as a verdict needs it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventNote {
    /// The uid of the object the event is about; `None`: the judged object itself.
    pub about: Option<Uid>,
    /// Whether its type is `Warning`.
    pub warning: bool,
    /// Its reason, such as `FailedMount`.
    pub reason: Box<str>,
    /// Its message.
    pub message: Box<str>,
    /// When it was last seen.
    pub last_seen: Option<Timestamp>,
}

/// Everything besides the object itself that a verdict may use.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// All descendants, flat and in any order; they are linked by the uid of their owner, so
    /// strangers among them do no harm.
    pub children: &'a [&'a Digest],
    /// Events about the object and its descendants.
    pub events: &'a [EventNote],
    /// What is known of the cluster.
    pub facts: &'a Facts,
    /// The moment of the judgement.
    pub now: Timestamp,
    /// What the run has set.
    pub policy: &'a Policy,
}
