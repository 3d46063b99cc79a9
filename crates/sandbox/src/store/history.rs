//! The events of one resource, newest last, as far back as they were not compacted.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::object::{Key, Object};

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Added,
    Modified,
    Deleted,
}

#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) version: u64,
    pub(crate) change: Change,
    /// The object after the event; its last state when it was deleted.
    pub(crate) object: Arc<Object>,
    /// The object before it.
    pub(crate) previous: Option<Arc<Object>>,
}

#[derive(Clone, Debug)]
pub(crate) struct History {
    events: VecDeque<Event>,
    /// Events up to this version are forgotten.
    compacted: u64,
    /// The newest event that was forgotten.
    dropped: u64,
    limit: usize,
}

impl History {
    pub(crate) fn new(compacted: u64, limit: usize) -> Self {
        Self { events: VecDeque::new(), compacted, dropped: 0, limit }
    }

    pub(crate) fn push(&mut self, event: Event) {
        self.events.push_back(event);
        while self.events.len() > self.limit {
            self.drop_first();
            self.compacted = self.compacted.max(self.dropped);
        }
    }

    /// Lets nobody begin before `version` any more; who reads already may go on.
    pub(crate) fn refuse_before(&mut self, version: u64) {
        self.compacted = self.compacted.max(version);
    }

    fn drop_first(&mut self) {
        self.dropped = self.events.pop_front().map_or(self.dropped, |event| event.version);
    }

    /// The newest event that is no longer there.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The version up to which events are forgotten.
    pub(crate) fn compacted(&self) -> u64 {
        self.compacted
    }

    /// Events after `version`, oldest first.
    pub(crate) fn after(&self, version: u64) -> impl Iterator<Item = &Event> {
        let start = self.events.partition_point(|event| event.version <= version);
        self.events.range(start..)
    }

    /// What differs between now and `version`: for each object touched since, its state back then.
    pub(crate) fn undo(&self, version: u64) -> BTreeMap<Key, Option<Arc<Object>>> {
        let since = self.events.iter().rev().take_while(|event| event.version > version);
        since.map(|event| (event.object.key.clone(), event.previous.clone())).collect()
    }
}
