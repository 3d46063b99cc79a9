//! What two plans of the same thing differ in.

use std::collections::BTreeMap;
use std::fmt;

use super::{SavedObject, SavedPlan, SavedRecord, SavedState};
use crate::id::ObjectId;

/// Something that is not as it was when the plan was made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Moved {
    /// The plan is of another operation.
    Operation,
    /// The record of the set was written, or is another.
    Record(Box<str>),
    /// One object.
    Object {
        /// The object.
        id: ObjectId,
        /// What happened to it, as the end of a sentence that begins with its name.
        how: Box<str>,
    },
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation => f.write_str("the plan is of another operation"),
            Self::Record(how) => write!(f, "the inventory {how}"),
            Self::Object { id, how } => write!(f, "{id:#} {how}"),
        }
    }
}

impl SavedPlan {
    /// Everything in which the same plan, made `now`, differs from this one. Empty when this one may
    /// be carried out.
    pub fn moved(&self, now: &Self) -> Vec<Moved> {
        let mut moved = Vec::new();
        if self.operation != now.operation {
            moved.push(Moved::Operation);
        }
        moved.extend(record(self.record.as_ref(), now.record.as_ref()).map(Moved::Record));
        let by_id = |plan: &Self| -> BTreeMap<ObjectId, SavedObject> {
            plan.objects.iter().map(|object| (object.id(), object.clone())).collect()
        };
        let (then, now) = (by_id(self), by_id(now));
        let gone = then.keys().filter(|id| !now.contains_key(*id));
        let mut objects: BTreeMap<&ObjectId, String> = gone
            .map(|id| (id, String::from("is in the plan and in neither the input nor the set now")))
            .collect();
        for (id, now) in &now {
            let how = match then.get(id) {
                None => Some(String::from("is not in the plan")),
                Some(then) => object(then, now),
            };
            objects.extend(how.map(|how| (id, how)));
        }
        moved.extend(objects.into_iter().map(|(id, how)| Moved::Object { id: id.clone(), how: how.into() }));
        moved
    }
}

fn record(then: Option<&SavedRecord>, now: Option<&SavedRecord>) -> Option<Box<str>> {
    let name = |record: Option<&SavedRecord>| match record {
        Some(record) => format!("{}/{} with id {:?}", record.namespace, record.name, record.id),
        None => String::from("none"),
    };
    let (was, is) = (name(then), name(now));
    if was != is {
        return Some(format!("was {was}, is {is}").into());
    }
    let parts = |record: Option<&SavedRecord>| record.map(|record| record.parts.clone());
    let written = parts(then) != parts(now);
    let place = || now.map(|record| format!("{}/{}", record.namespace, record.name)).unwrap_or_default();
    written.then(|| format!("{} was written since by another run", place()).into())
}

fn object(then: &SavedObject, now: &SavedObject) -> Option<String> {
    let mut how = Vec::new();
    if then.manifest != now.manifest {
        how.push(match (&then.manifest, &now.manifest) {
            (None, _) => String::from("is in the input now"),
            (_, None) => String::from("is in the input no more"),
            _ => match &now.place {
                Some(place) => format!("has another manifest ({place})"),
                None => String::from("has another manifest"),
            },
        });
    }
    how.extend(state(&then.live, &now.live));
    let (was, is) = ((&then.action, &then.decision), (&now.action, &now.decision));
    // What follows from a difference that was told needs no word of its own.
    if was != is && how.is_empty() {
        how.push(format!("was planned as {} ({}), would be {} ({}) now", was.0, was.1, is.0, is.1));
    }
    (!how.is_empty()).then(|| how.join(" and "))
}

fn state(then: &SavedState, now: &SavedState) -> Option<String> {
    match (then, now) {
        _ if then == now => None,
        (SavedState::Present { uid, .. }, SavedState::Present { uid: other, .. }) if uid != other => {
            Some(String::from("was deleted and created anew"))
        }
        (
            SavedState::Present { resource_version: was, .. },
            SavedState::Present { resource_version: is, .. },
        ) => Some(format!("was changed on the cluster (resourceVersion {was}, now {is})")),
        (SavedState::Present { .. }, SavedState::Absent | SavedState::NotServed) => {
            Some(String::from("is gone from the cluster"))
        }
        (SavedState::Absent | SavedState::NotServed, SavedState::Present { .. }) => {
            Some(String::from("exists on the cluster now"))
        }
        (_, SavedState::Unknown) => Some(String::from("cannot be looked at any more")),
        (SavedState::Unknown, _) => Some(String::from("could not be looked at then")),
        (_, SavedState::NotServed) => Some(String::from("is of a kind that is not served any more")),
        (SavedState::NotServed, _) => Some(String::from("is of a kind that is served now")),
        _ => Some(String::from("is in another state")),
    }
}
