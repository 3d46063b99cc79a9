//! Which entries of an inventory are deleted, which are kept, and which need no step at all.

use std::collections::{HashMap, HashSet};

use super::tracked::graph_of;
use super::{Decision, Live, LiveState, Step};
use crate::event::{Action, Skip};
use crate::graph::Graph;
use crate::id::ObjectId;
use crate::inventory::{Fate, PruneFilters, PruneSkip, Strategy};
use crate::manifest::Object;

/// What a run does about entries that are not (or no longer) wanted.
#[derive(Debug)]
pub(super) struct Candidates {
    pub(super) steps: Vec<Step>,
    pub(super) order: Graph,
    pub(super) settled: Vec<(ObjectId, Fate)>,
    /// Entries that are another name of an object of the input, with its uid.
    pub(super) identical: Vec<(ObjectId, Box<str>)>,
    pub(super) notes: Vec<String>,
    /// Those of which nobody can tell whether they exist.
    pub(super) unseen: Vec<ObjectId>,
}

pub(super) fn candidates(
    left: &[ObjectId],
    live: &HashMap<ObjectId, Live>,
    filters: &PruneFilters<'_>,
    action: Action,
    keep_all: bool,
) -> Candidates {
    let unknown = Live::default();
    let undefined = lost_definitions(left, live);
    let (mut steps, mut objects) = (Vec::new(), Vec::new());
    let (mut settled, mut identical, mut notes, mut unseen) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for id in left {
        let found = live.get(id).unwrap_or(&unknown);
        let uid = match &found.state {
            LiveState::NotServed if undefined.contains(id.group()) => {
                settled.push((id.clone(), Fate::Gone));
                continue;
            }
            LiveState::Absent => {
                settled.push((id.clone(), Fate::Gone));
                continue;
            }
            LiveState::GroupGone => {
                notes.push(format!(
                    "{id:#} leaves the record: nothing defines a kind of {} any more, and its objects went with it",
                    id.group()
                ));
                settled.push((id.clone(), Fate::Gone));
                continue;
            }
            LiveState::NotServed | LiveState::Unknown => {
                let why = match found.state {
                    LiveState::NotServed => "its kind is not served",
                    _ => "it cannot be looked at",
                };
                // A destroy was asked for all of it.
                if !keep_all && (found.state == LiveState::Unknown || action == Action::Delete) {
                    unseen.push(id.clone());
                }
                notes.push(format!("{id:#} left the set and stays on record: {why}"));
                settled.push((id.clone(), Fate::Untouched));
                continue;
            }
            LiveState::Present(_) if keep_all => {
                settled.push((id.clone(), Fate::Untouched));
                continue;
            }
            LiveState::Present(uid) => uid,
        };
        let Ok(object) = Object::from_live(&skeleton(id, found)) else {
            notes.push(format!("{id:#} left the set and stays on record: it cannot be understood"));
            settled.push((id.clone(), Fate::Untouched));
            continue;
        };
        let decision = match filters.check(id, uid, |key| found.annotation(key)) {
            Ok(()) => Decision::Go,
            Err(kept @ PruneSkip::JustApplied(_)) => {
                identical.push((id.clone(), uid.clone()));
                keep(&kept, uid, false)
            }
            Err(kept) => keep(&kept, uid, found.annotation(crate::inventory::OWNING_INVENTORY).is_some()),
        };
        objects.push(object);
        steps.push(Step { id: id.clone(), action, object: None, decision });
    }
    let (order, cycles) = graph_of(&objects);
    notes.extend(cycles);
    Candidates { steps, order, settled, identical, notes, unseen }
}

fn keep(kept: &PruneSkip, uid: &str, marked: bool) -> Decision {
    let message: Box<str> = kept.to_string().into();
    let skip = match kept {
        PruneSkip::Policy(refusal) => Skip::Refused { message, hint: refusal.hint().into() },
        _ => Skip::Kept { message },
    };
    match kept {
        PruneSkip::Annotation { .. } if marked => Decision::Release { skip, uid: uid.into() },
        // It leaves the record only once its other name has been applied.
        PruneSkip::JustApplied(_) => Decision::Skip { skip, fate: Fate::Skipped(Strategy::Delete) },
        _ => Decision::Skip { skip, fate: kept.fate() },
    }
}

/// The annotations that order objects.
const ORDERING: [&str; 2] = [crate::manifest::DEPENDS_ON, crate::manifest::APPLY_TIME_MUTATION];

/// Groups whose definitions were in the set too and are all gone: objects of theirs went with them.
fn lost_definitions<'a>(left: &'a [ObjectId], live: &HashMap<ObjectId, Live>) -> HashSet<&'a str> {
    let (mut gone, mut there) = (HashSet::new(), HashSet::new());
    for id in left.iter().filter(|id| id.group_kind().is("apiextensions.k8s.io", "CustomResourceDefinition"))
    {
        let Some((_, group)) = id.name().split_once('.') else { continue };
        let is_gone = live.get(id).is_some_and(|found| found.state == LiveState::Absent);
        if is_gone { &mut gone } else { &mut there }.insert(group);
    }
    gone.retain(|group| !there.contains(group));
    gone
}

/// As much of a live object as its order among the others needs.
fn skeleton(id: &ObjectId, live: &Live) -> Vec<u8> {
    let api_version = match id.group() {
        "" => String::from("v1"),
        group => format!("{group}/v1"),
    };
    let annotations: serde_json::Map<String, serde_json::Value> = live
        .annotations
        .iter()
        .filter(|(key, _)| ORDERING.contains(key))
        .map(|(key, value)| ((*key).to_owned(), (**value).into()))
        .collect();
    let mut metadata = serde_json::json!({ "name": id.name(), "annotations": annotations });
    if !id.namespace().is_empty() {
        metadata["namespace"] = id.namespace().into();
    }
    let mut object =
        serde_json::json!({ "apiVersion": api_version, "kind": id.kind(), "metadata": metadata });
    if let Some(defined) = &live.defines {
        let plural = id.name().split('.').next().unwrap_or_default();
        object["spec"] = serde_json::json!({
            "group": defined.group(),
            "names": { "kind": defined.kind(), "plural": plural },
            "scope": "Namespaced",
            "versions": [{ "name": "v1", "served": true, "storage": true }],
        });
    }
    object.to_string().into_bytes()
}
