//! Finds values of a slab by a uid that stands in them: a table of numbers, five bytes each.

use std::hash::{BuildHasher as _, RandomState};

use hashbrown::HashTable;
use kstatus::Uid;

use super::slab::{Place, Slab};

#[derive(Debug)]
pub(super) struct Index<T> {
    table: HashTable<Place>,
    /// The uid by which a value is found; what has none is not in the table.
    of: fn(&T) -> Option<Uid>,
    hasher: RandomState,
}

impl<T> Index<T> {
    pub(super) fn new(of: fn(&T) -> Option<Uid>) -> Self {
        Self { table: HashTable::new(), of, hasher: RandomState::new() }
    }

    /// All values of this uid.
    pub(super) fn all(&self, slab: &Slab<T>, uid: Uid) -> impl Iterator<Item = Place> {
        let is = move |place: &Place| slab.get(*place).and_then(self.of) == Some(uid);
        self.table.iter_hash(self.hasher.hash_one(Some(uid))).copied().filter(is)
    }

    /// The value of this uid, where there is but one.
    pub(super) fn one(&self, slab: &Slab<T>, uid: Uid) -> Option<Place> {
        self.all(slab, uid).next()
    }

    /// Lets another value be the one of this uid, or none; the one before.
    pub(super) fn replace(&mut self, slab: &Slab<T>, uid: Uid, next: Option<Place>) -> Option<Place> {
        let before = self.one(slab, uid);
        before.into_iter().for_each(|before| self.remove(slab, before));
        next.into_iter().for_each(|next| self.insert(slab, next));
        before
    }

    /// Takes a value in, under the uid that it has by now.
    pub(super) fn insert(&mut self, slab: &Slab<T>, place: Place) {
        let Self { table, of, hasher } = self;
        let hash = |place: &Place| hasher.hash_one(slab.get(*place).and_then(*of));
        if slab.get(place).and_then(*of).is_some() {
            table.insert_unique(hash(&place), place, hash);
        }
    }

    /// Leaves a value out that has the uid still by which it was taken in.
    pub(super) fn remove(&mut self, slab: &Slab<T>, place: Place) {
        let hash = self.hasher.hash_one(slab.get(place).and_then(self.of));
        if let Ok(entry) = self.table.find_entry(hash, |other| *other == place) {
            entry.remove();
        }
    }

    /// Gives back the room of a table that has become much emptier.
    pub(super) fn trim(&mut self, slab: &Slab<T>) {
        let Self { table, of, hasher } = self;
        trim(table, |place| hasher.hash_one(slab.get(*place).and_then(*of)));
    }

    pub(super) fn clear(&mut self) {
        self.table.clear();
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }
}

/// Gives back the room of a table that has become much emptier.
pub(super) fn trim<T>(table: &mut HashTable<T>, hasher: impl Fn(&T) -> u64) {
    if table.capacity() > 64 && table.capacity() / 4 > table.len() {
        table.shrink_to(table.len() * 2, hasher);
    }
}
