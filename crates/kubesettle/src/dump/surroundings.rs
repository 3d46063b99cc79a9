//! Who owns whom, and which event is about whom.

use std::collections::{HashMap, HashSet};

use kstatus::{Digest, EventNote, Uid};
use serde_json::Value;

use super::Recorded;

/// Kind, namespace and name of an object.
type Name = (Box<str>, Box<str>, Box<str>);

/// Owners and events, by position in the dump.
#[derive(Debug, Default)]
pub(super) struct Index {
    children: HashMap<Uid, Vec<usize>>,
    events: HashMap<Uid, Vec<EventNote>>,
    /// Events that name no uid, about objects that have none.
    named: HashMap<Name, Vec<EventNote>>,
}

impl Index {
    pub(super) fn of(objects: &[Recorded]) -> Self {
        let mut index = Self::default();
        let mut by_name: HashMap<Name, Uid> = HashMap::new();
        for (at, object) in objects.iter().enumerate() {
            let Some(digest) = &object.digest else { continue };
            if let Some(owner) = digest.controller() {
                index.children.entry(owner).or_default().push(at);
            }
            if let Some(uid) = digest.uid() {
                by_name.insert(name_of(object), uid);
            }
        }
        for object in objects.iter().filter(|object| object.is_event()) {
            index.event(object, &by_name);
        }
        index
    }

    fn event(&mut self, object: &Recorded, by_name: &HashMap<Name, Uid>) {
        let Some(mut note) = EventNote::read(&object.json) else { return };
        if note.about.is_none() {
            let Some(name) = named_by(&object.json) else { return };
            match by_name.get(&name) {
                Some(uid) => note.about = Some(*uid),
                None => return self.named.entry(name).or_default().push(note),
            }
        }
        if let Some(uid) = note.about {
            self.events.entry(uid).or_default().push(note);
        }
    }

    /// Everything an object owns, at any depth.
    pub(super) fn descendants<'a>(&self, objects: &'a [Recorded], of: &Digest) -> Vec<&'a Digest> {
        let mut found = Vec::new();
        let mut seen: HashSet<Uid> = HashSet::new();
        let mut open: Vec<Uid> = of.uid().into_iter().collect();
        while let Some(owner) = open.pop() {
            if !seen.insert(owner) {
                continue;
            }
            for at in self.children.get(&owner).into_iter().flatten() {
                if let Some(child) = objects.get(*at).and_then(|object| object.digest.as_ref()) {
                    found.push(child);
                    open.extend(child.uid());
                }
            }
        }
        found
    }

    /// The events about an object and what it owns.
    pub(super) fn events(&self, of: &Recorded, descendants: &[&Digest]) -> Vec<EventNote> {
        let uids = of.uid().into_iter().chain(descendants.iter().filter_map(|child| child.uid()));
        let unique: HashSet<Uid> = uids.collect();
        let mut notes: Vec<EventNote> =
            unique.iter().filter_map(|uid| self.events.get(uid)).flatten().cloned().collect();
        if of.uid().is_none() && !self.named.is_empty() {
            notes.extend(self.named.get(&name_of(of)).into_iter().flatten().cloned());
        }
        // Sets have no order; equal dumps give equal verdicts.
        notes.sort_by(|a, b| (a.last_seen, &a.message).cmp(&(b.last_seen, &b.message)));
        notes
    }
}

fn name_of(object: &Recorded) -> Name {
    (object.id.kind().into(), object.id.namespace().into(), object.id.name().into())
}

/// What an event says it is about.
fn named_by(json: &[u8]) -> Option<Name> {
    let event: Value = serde_json::from_slice(json).ok()?;
    let object = event.get("regarding").or_else(|| event.get("involvedObject"))?;
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default().into();
    Some((text("kind"), text("namespace"), text("name")))
}
