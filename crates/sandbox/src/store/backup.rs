//! The data of a server, saved and put back.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use tokio::time::Instant;

use super::{Agenda, Place, Resource, Store};

/// What a server knew at one moment.
#[derive(Clone, Debug)]
pub struct Backup {
    resources: BTreeMap<Arc<str>, Resource>,
    agenda: Agenda,
    marks: HashMap<(Arc<str>, &'static str), Instant>,
    unready: BTreeSet<Arc<str>>,
    served: BTreeMap<Arc<str>, i64>,
    version: u64,
    owned: HashMap<Box<str>, BTreeSet<Place>>,
    by_uid: HashMap<Arc<str>, Place>,
}

impl Store {
    pub(crate) fn back_up(&self) -> Backup {
        Backup {
            resources: self.resources.clone(),
            agenda: self.agenda.clone(),
            marks: self.marks.clone(),
            unready: self.unready.clone(),
            served: self.served.clone(),
            version: self.version,
            owned: self.owned.clone(),
            by_uid: self.by_uid.clone(),
        }
    }

    /// Knows what it knew back then, and nothing else; uids are not given out again.
    pub(crate) fn restore(&mut self, backup: Backup) {
        let Backup { resources, agenda, marks, unready, served, version, owned, by_uid } = backup;
        self.resources = resources;
        self.agenda = agenda;
        self.marks = marks;
        self.unready = unready;
        self.served = served;
        self.version = version;
        self.owned = owned;
        self.by_uid = by_uid;
        // A server that has just been started remembers no event.
        self.compact();
        self.tell();
    }
}
