//! What is to be done later: looks at objects, in order of time, then of entry.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tokio::time::Instant;

use super::object::Key;

/// One object that a controller is to look at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Look {
    pub(crate) resource: Arc<str>,
    pub(crate) key: Key,
}

/// Looks to come. Each object is in it at most once, at its earliest time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    entered: u64,
    entries: BTreeMap<(Instant, u64), Look>,
    times: HashMap<Look, (Instant, u64)>,
}

impl Agenda {
    pub(crate) fn add(&mut self, at: Instant, look: Look) {
        if let Some(present) = self.times.get(&look) {
            if present.0 <= at {
                return;
            }
            self.entries.remove(present);
        }
        self.entered += 1;
        let place = (at, self.entered);
        self.times.insert(look.clone(), place);
        self.entries.insert(place, look);
    }

    /// When something is to be done next.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.entries.first_key_value().map(|((at, _), _)| *at)
    }

    /// The first entry that is due at `now`.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Instant, Look)> {
        let first = self.entries.first_entry()?;
        let at = first.key().0;
        if at > now {
            return None;
        }
        let look = first.remove();
        self.times.remove(&look);
        Some((at, look))
    }
}
