//! What a dump says about the objects in it: verdicts without a cluster.
//!
//! ```text
//!  files, stdin ─► objects, as they are ─► facts, owners, events ─► one verdict per object
//! ```
//!
//! # How a dump is read
//!
//! * What `kubectl get -o yaml|json` writes, lists and typed lists, several documents, JSON lines, a
//!   folder. Nothing is taken out of an object. A record that holds an object under `object` (a line
//!   of a watch, of a collection of examples) stands for that object.
//! * Descendants are found by the uid of their owner, events of both APIs by the uid they name, or by
//!   kind, namespace and name where they name none. What CRDs and StorageClasses of the dump say counts.
//! * In a folder, documents that are no objects are passed over and counted.
//!
//! # What time it is in a dump
//!
//! * The clock stands at the newest moment at which, by the dump itself, something happened in the
//!   cluster: a creation, a transition, an event, a heartbeat, a write noted in `managedFields`. Moments
//!   that are wished for or foreseen (expiries, schedules) do not count, nor does what lies after now.
//!   So an old dump is judged as on the day it was made.
//! * Whether anybody would have reported a status by now is another question: a dump of one object
//!   shows no time passing. An object that nobody has reported on, and whose kind no CRD of the dump
//!   describes, stays in progress unless the object itself shows that the grace has passed.
//! * Holds begin now, as they do when a cluster is looked at once.

mod clock;
mod judge;
mod load;
mod surroundings;

#[cfg(test)]
mod tests;

use bytes::Bytes;
use kstatus::{Digest, Facts, Rule, Rulebook, Timestamp, Verdict};

use crate::id::ObjectId;
use crate::manifest::{Place, Problem};

pub use judge::exit_class;

/// Objects as a cluster had them.
#[derive(Debug)]
pub struct Dump {
    objects: Vec<Recorded>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    rulebook: Rulebook,
    passed_over: usize,
    clock: Timestamp,
    facts: Facts,
    around: surroundings::Index,
}

/// One object of a dump.
#[derive(Debug)]
pub struct Recorded {
    id: ObjectId,
    json: Bytes,
    place: Place,
    /// Its newest moment.
    newest: Option<Timestamp>,
    /// It says what kind of object it is.
    typed: bool,
    digest: Option<Digest>,
}

/// An object of a dump with what can be said about it.
#[derive(Debug)]
pub struct Judged<'a> {
    /// The object.
    pub object: &'a Recorded,
    /// The verdict.
    pub verdict: Verdict,
}

/// How to judge a dump.
#[derive(Clone, Debug, Default)]
pub struct DumpOptions {
    /// Which rules count, before those that definitions in the dump carry.
    pub rulebook: Rulebook,
    /// Holds and graces.
    pub policy: kstatus::Policy,
    /// The wall clock; nothing in the dump is believed to be later. `None`: all is believed.
    pub now: Option<Timestamp>,
}

impl Recorded {
    /// What names it; its name may be empty.
    pub fn id(&self) -> &ObjectId {
        &self.id
    }

    /// The object as it stands in the dump, as compact JSON.
    pub fn json(&self) -> &Bytes {
        &self.json
    }

    /// File and line.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Its uid, where it has one.
    pub fn uid(&self) -> Option<kstatus::Uid> {
        self.digest.as_ref()?.uid()
    }

    /// True for an event of either API: it speaks about another object.
    pub fn is_event(&self) -> bool {
        let kind = self.id.group_kind();
        kind.is("", "Event") || kind.is("events.k8s.io", "Event")
    }
}

impl Dump {
    /// Every object, in the order of the input.
    pub fn objects(&self) -> &[Recorded] {
        &self.objects
    }

    /// What could not be read, file after file.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// What is odd about the rules that definitions in it carry.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// The rule that decides on an object by itself.
    pub fn rule(&self, object: &Recorded) -> Option<Rule> {
        object.digest.as_ref()?;
        self.rulebook.rule(&object.json).ok()
    }

    /// How many documents found in folders are no objects.
    pub fn passed_over(&self) -> usize {
        self.passed_over
    }

    /// The moment at which the dump is judged.
    pub fn clock(&self) -> Timestamp {
        self.clock
    }
}
