//! A plan that is kept in a file between the hour it was made and the hour it is carried out.
//!
//! It holds names, digests and versions, and no value of any object. Whoever wants to carry it out
//! makes the plan once more, from the same input and the present state of the cluster, and compares
//! the two: [`SavedPlan::moved`] names every difference. What the comparison found unmoved is pinned
//! ([`SavedPlan::pins`]), so that it cannot move between that look and its own write either.

mod moved;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{Decision, Live, LiveState, Plan, Step};
use crate::id::{GroupKind, ObjectId};
use crate::inventory::{Inventory, hash};

pub use moved::Moved;

/// The form of [`SavedPlan`]; raised when a field changes its meaning.
const VERSION: u32 = 1;

/// A plan as a file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SavedPlan {
    version: u32,
    operation: Box<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<SavedRecord>,
    objects: Vec<SavedObject>,
}

/// The record of the set, as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SavedRecord {
    namespace: Box<str>,
    name: Box<str>,
    id: Box<str>,
    parts: Vec<SavedPart>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SavedPart {
    name: Box<str>,
    uid: Box<str>,
    resource_version: Box<str>,
}

/// One step, and the state of the object for which it was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SavedObject {
    group: Box<str>,
    kind: Box<str>,
    namespace: Box<str>,
    name: Box<str>,
    action: Box<str>,
    decision: Box<str>,
    /// Where it stood in the input, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<Box<str>>,
    /// SHA-256 of its manifest, as compact JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    manifest: Option<Box<str>>,
    live: SavedState,
}

/// What the cluster had of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum SavedState {
    Unknown,
    NotServed,
    Absent,
    #[serde(rename_all = "camelCase")]
    Present {
        uid: Box<str>,
        resource_version: Box<str>,
    },
}

/// The one life of an object that may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pin {
    /// It does not exist yet.
    Absent,
    /// It is the one with this uid.
    Uid(Box<str>),
}

impl SavedPlan {
    /// A plan, with the states and the record it was made from.
    pub fn of(plan: &Plan, live: &HashMap<ObjectId, Live>, record: Option<&Inventory>) -> Self {
        let mut objects: Vec<_> = plan.steps.iter().map(|step| SavedObject::of(step, live)).collect();
        objects.sort_by_cached_key(SavedObject::id);
        Self {
            version: VERSION,
            operation: plan.operation.as_str().into(),
            record: record.map(SavedRecord::of),
            objects,
        }
    }

    /// True for a plan that deletes the set.
    pub fn is_destroy(&self) -> bool {
        &*self.operation == crate::event::Operation::Destroy.as_str()
    }

    /// Whether this program understands it; else the version it has.
    ///
    /// # Errors
    /// The version, when it is another.
    pub fn understood(&self) -> Result<(), u32> {
        if self.version == VERSION { Ok(()) } else { Err(self.version) }
    }

    /// Which life of each object the plan is about, where that was known. What lives in a namespace that
    /// the plan creates is not pinned: nobody can have put something of his own there, and controllers
    /// put things there at once.
    pub fn pins(&self) -> HashMap<ObjectId, Pin> {
        let namespace = |object: &&SavedObject| {
            object.live == SavedState::Absent && object.id().group_kind().is("", "Namespace")
        };
        let fresh: HashSet<&str> =
            self.objects.iter().filter(namespace).map(|object| &*object.name).collect();
        let pin = |object: &SavedObject| match &object.live {
            SavedState::Absent => (!fresh.contains(&*object.namespace)).then_some(Pin::Absent),
            SavedState::Present { uid, .. } => Some(Pin::Uid(uid.clone())),
            SavedState::NotServed | SavedState::Unknown => None,
        };
        self.objects.iter().filter_map(|object| Some((object.id(), pin(object)?))).collect()
    }
}

impl SavedRecord {
    fn of(inventory: &Inventory) -> Self {
        let mut parts: Vec<_> = inventory
            .shards()
            .map(|part| SavedPart {
                name: part.name.into(),
                uid: part.uid.into(),
                resource_version: part.resource_version.into(),
            })
            .collect();
        parts.sort();
        Self {
            namespace: inventory.location().namespace().into(),
            name: inventory.location().name().into(),
            id: inventory.id().into(),
            parts,
        }
    }
}

impl SavedObject {
    fn of(step: &Step, live: &HashMap<ObjectId, Live>) -> Self {
        let (id, object) = (step.id(), step.object.as_ref());
        Self {
            group: id.group().into(),
            kind: id.kind().into(),
            namespace: id.namespace().into(),
            name: id.name().into(),
            action: step.action.as_str().into(),
            decision: decision(&step.decision),
            place: object.map(|object| object.place().to_string().into()),
            manifest: object.map(|object| hash::hex(&hash::of(object.json())).into()),
            live: live.get(id).map_or(SavedState::Unknown, SavedState::of),
        }
    }

    fn id(&self) -> ObjectId {
        let kind = GroupKind::new(&*self.group, &*self.kind);
        ObjectId::new(kind, &self.namespace, &self.name)
    }
}

impl SavedState {
    fn of(live: &Live) -> Self {
        match &live.state {
            LiveState::Unknown => Self::Unknown,
            LiveState::NotServed | LiveState::GroupGone => Self::NotServed,
            LiveState::Absent => Self::Absent,
            LiveState::Present(uid) => {
                Self::Present { uid: uid.clone(), resource_version: live.version.clone() }
            }
        }
    }
}

/// `go`, or why not.
fn decision(decision: &Decision) -> Box<str> {
    match decision {
        Decision::Go => "go".into(),
        Decision::Skip { skip, .. } => format!("skip: {skip}").into(),
        Decision::Release { skip, .. } => format!("release: {skip}").into(),
    }
}
