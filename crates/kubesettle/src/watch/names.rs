//! The names of one kind of object that a key looks for: the targets' own, shared with whoever holds
//! them.

use std::hash::{BuildHasher as _, RandomState};

use hashbrown::HashTable;

use super::index::trim;
use crate::id::ObjectId;

#[derive(Default, Clone)]
pub(super) struct Names {
    table: HashTable<ObjectId>,
    hasher: RandomState,
}

impl Names {
    pub(super) fn contains(&self, namespace: &str, name: &str) -> bool {
        let is = |id: &ObjectId| id.name() == name && id.namespace() == namespace;
        self.table.find(self.hasher.hash_one((namespace, name)), is).is_some()
    }

    pub(super) fn insert(&mut self, id: &ObjectId) {
        if !self.contains(id.namespace(), id.name()) {
            let Self { table, hasher } = self;
            let hash = |id: &ObjectId| hasher.hash_one((id.namespace(), id.name()));
            table.insert_unique(hash(id), id.clone(), hash);
        }
    }

    /// True when it was there.
    pub(super) fn remove(&mut self, namespace: &str, name: &str) -> bool {
        let Self { table, hasher } = self;
        let hash = |id: &ObjectId| hasher.hash_one((id.namespace(), id.name()));
        let is = |id: &ObjectId| id.name() == name && id.namespace() == namespace;
        let Ok(entry) = table.find_entry(hasher.hash_one((namespace, name)), is) else { return false };
        entry.remove();
        trim(table, hash);
        true
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ObjectId> {
        self.table.iter()
    }

    pub(super) fn is_subset(&self, other: &Self) -> bool {
        self.iter().all(|id| other.contains(id.namespace(), id.name()))
    }
}

impl<'a> FromIterator<&'a ObjectId> for Names {
    fn from_iter<I: IntoIterator<Item = &'a ObjectId>>(ids: I) -> Self {
        let mut names = Self::default();
        ids.into_iter().for_each(|id| names.insert(id));
        names
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        self.table.len() == other.table.len() && self.is_subset(other)
    }
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
