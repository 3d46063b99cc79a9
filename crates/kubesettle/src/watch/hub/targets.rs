//! The targets: what is kept of each as long as somebody wants it, and what only some need.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroU32;
use std::sync::Arc;

use hashbrown::HashTable;
use kstatus::{Digest, Uid};

use super::Lease;
use crate::error::ApiError;
use crate::id::{GroupKind, ObjectId};
use crate::watch::Marks;
use crate::watch::index::{Index, trim};
use crate::watch::scope::Width;
use crate::watch::slab::{Place, Slab};

/// How a target is to be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Look {
    /// In which API version; the server's preferred one when `None` or not served.
    pub(super) version: Option<Box<str>>,
    pub(super) width: Width,
    /// It is looked for among the objects with these labels.
    pub(super) labels: Option<Arc<str>>,
}

/// What every target needs. A run may have very many: a test counts the bytes.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) id: ObjectId,
    pub(super) look: Arc<Look>,
    pub(super) marks: Option<Arc<Marks>>,
    uid: Option<Uid>,
    key: Option<NonZeroU32>,
    serial: u32,
}

impl Watched {
    pub(super) fn uid(&self) -> Option<Uid> {
        self.uid
    }

    /// The key that observes it; `None` while its kind is not served.
    pub(super) fn key(&self) -> Option<u32> {
        self.key.map(NonZeroU32::get)
    }

    /// The serial of the key's interest from which on it covers this target.
    pub(super) fn serial(&self) -> u64 {
        self.serial.into()
    }

    /// Lets this lease be the one by which it is observed.
    pub(super) fn observe_by(&mut self, lease: Option<Lease>) {
        self.key = lease.and_then(|lease| NonZeroU32::new(lease.key));
        self.serial = lease.map_or(0, |lease| u32::try_from(lease.serial).unwrap_or(u32::MAX));
    }
}

/// What only a target needs that has not settled, or is gone.
#[derive(Debug, Default)]
pub(super) struct Unsettled {
    /// Its kind was answered with "not served", and discovery has not confirmed it yet; or it cannot be
    /// read.
    pub(super) doubt: Option<Arc<ApiError>>,
    /// The epoch of its key in which it was there and could not be read.
    pub(super) unreadable: Option<u32>,
    /// Its last state, once it is gone.
    pub(super) last: Option<Arc<Digest>>,
    /// Who wants its children.
    pub(super) curious: Vec<u32>,
    pub(super) child_keys: Vec<Lease>,
    /// The next of the generated kinds whose watch is to be leased: owners before what they own.
    pub(super) next_child: Option<u8>,
    /// Who wants the events about it and them.
    pub(super) listeners: Vec<u32>,
    /// The key that shows those; none where there are no events.
    pub(super) events: Option<Lease>,
}

impl Unsettled {
    /// True when this key shows what the target generated.
    pub(super) fn looks_into(&self, key: u32) -> bool {
        self.child_keys.iter().any(|lease| lease.key == key)
    }

    /// True when this key shows the events about it.
    pub(super) fn listens_to(&self, key: u32) -> bool {
        self.events.is_some_and(|lease| lease.key == key)
    }

    /// Ends a doubt; true when there was one.
    pub(super) fn believe(&mut self) -> bool {
        self.unreadable = None;
        self.doubt.take().is_some()
    }

    fn is_over(&self) -> bool {
        let Self { doubt, unreadable, last, curious, child_keys, next_child, listeners, events } = self;
        doubt.is_none()
            && unreadable.is_none()
            && last.is_none()
            && curious.is_empty()
            && child_keys.is_empty()
            && next_child.is_none()
            && listeners.is_empty()
            && events.is_none()
    }
}

/// All targets, found by name and by uid.
#[derive(Debug)]
pub(super) struct Targets {
    all: Slab<Watched>,
    by_name: HashTable<Place>,
    /// Which targets an object is: nearly always one, but a server may serve one object under several
    /// groups.
    by_uid: Index<Watched>,
    unsettled: HashMap<Place, Box<Unsettled>>,
    hasher: RandomState,
}

impl Default for Targets {
    fn default() -> Self {
        Self {
            all: Slab::default(),
            by_name: HashTable::new(),
            by_uid: Index::new(|watched| watched.uid),
            unsettled: HashMap::new(),
            hasher: RandomState::new(),
        }
    }
}

impl Targets {
    /// The place of this target, and whether it is a new one.
    pub(super) fn admit(&mut self, id: ObjectId, look: Arc<Look>) -> (Place, bool) {
        if let Some(place) = self.find_id(&id) {
            return (place, false);
        }
        let hash = self.hash_of(id.group_kind(), id.namespace(), id.name());
        let place = self.all.insert(Watched { id, look, marks: None, uid: None, key: None, serial: 0 });
        let Self { all, by_name, hasher, .. } = self;
        by_name.insert_unique(hash, place, |place| name_hash(hasher, all, *place));
        (place, true)
    }

    pub(super) fn find_id(&self, id: &ObjectId) -> Option<Place> {
        self.find(id.group_kind(), id.namespace(), id.name())
    }

    pub(super) fn find(&self, kind: &GroupKind, namespace: &str, name: &str) -> Option<Place> {
        let is = |place: &Place| {
            self.get(*place).is_some_and(|Watched { id, .. }| {
                id.name() == name && id.namespace() == namespace && id.group_kind() == kind
            })
        };
        self.by_name.find(self.hash_of(kind, namespace, name), is).copied()
    }

    pub(super) fn get(&self, place: Place) -> Option<&Watched> {
        self.all.get(place)
    }

    pub(super) fn get_mut(&mut self, place: Place) -> Option<&mut Watched> {
        self.all.get_mut(place)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Place, &Watched)> {
        self.all.iter()
    }

    pub(super) fn remove(&mut self, place: Place) -> Option<Watched> {
        self.set_uid(place, None);
        let Self { all, by_name, hasher, .. } = self;
        let found = by_name.find_entry(name_hash(hasher, all, place), |other| *other == place);
        if let Ok(entry) = found {
            entry.remove();
        }
        self.unsettled.remove(&place);
        self.all.remove(place)
    }

    /// The targets that the object of this uid is.
    pub(super) fn of_uid(&self, uid: Uid) -> impl Iterator<Item = Place> {
        self.by_uid.all(&self.all, uid)
    }

    /// Notes which life of a target is the present one; the one before.
    pub(super) fn set_uid(&mut self, place: Place, uid: Option<Uid>) -> Option<Uid> {
        let before = self.get(place)?.uid;
        if before == uid {
            return before;
        }
        self.by_uid.remove(&self.all, place);
        self.all.get_mut(place)?.uid = uid;
        self.by_uid.insert(&self.all, place);
        before
    }

    /// What is kept of a target that has not settled.
    pub(super) fn unsettled(&self, place: Place) -> Option<&Unsettled> {
        self.unsettled.get(&place).map(|unsettled| &**unsettled)
    }

    pub(super) fn all_unsettled(&self) -> impl Iterator<Item = (Place, &Unsettled)> {
        self.unsettled.iter().map(|(place, unsettled)| (*place, &**unsettled))
    }

    /// Changes what is kept of a target that has not settled; nothing is left of it when that is over.
    pub(super) fn unsettle<T>(
        &mut self,
        place: Place,
        change: impl FnOnce(&mut Unsettled) -> T,
    ) -> Option<T> {
        self.all.get(place)?;
        let mut unsettled = self.unsettled.remove(&place).unwrap_or_default();
        let told = change(&mut unsettled);
        if !unsettled.is_over() {
            self.unsettled.insert(place, unsettled);
        }
        Some(told)
    }

    /// Gives back the room of what has become much emptier.
    pub(super) fn trim(&mut self) {
        self.all.trim();
        self.by_uid.trim(&self.all);
        let Self { all, by_name, unsettled, hasher, .. } = self;
        trim(by_name, |place| name_hash(hasher, all, *place));
        if unsettled.capacity() > 64 && unsettled.capacity() / 4 > unsettled.len() {
            unsettled.shrink_to(unsettled.len() * 2);
        }
    }

    fn hash_of(&self, kind: &GroupKind, namespace: &str, name: &str) -> u64 {
        self.hasher.hash_one((kind, namespace, name))
    }
}

fn name_hash(hasher: &RandomState, all: &Slab<Watched>, place: Place) -> u64 {
    let Some(Watched { id, .. }) = all.get(place) else { return 0 };
    hasher.hash_one((id.group_kind(), id.namespace(), id.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(group: &str) -> ObjectId {
        ObjectId::new(GroupKind::new(group, "Event"), "n", "e")
    }

    fn look() -> Arc<Look> {
        Arc::new(Look { version: None, width: Width::Fitting, labels: None })
    }

    #[test]
    fn an_object_may_be_several_targets_and_each_goes_by_itself() {
        let (uid, groups) = (Uid::parse("u"), ["", "events.k8s.io", "other"]);
        for gone in groups {
            let mut targets = Targets::default();
            for group in groups.iter().chain(&groups) {
                let (place, _) = targets.admit(event(group), look());
                targets.set_uid(place, Some(uid));
            }
            targets.remove(targets.find_id(&event(gone)).unwrap());
            let mut left: Vec<_> =
                targets.of_uid(uid).map(|place| targets.get(place).unwrap().id.group().to_owned()).collect();
            left.sort_unstable();
            assert_eq!(left, groups.into_iter().filter(|group| *group != gone).collect::<Vec<_>>());
            for group in groups {
                targets.find_id(&event(group)).into_iter().for_each(|place| drop(targets.remove(place)));
            }
            assert!(targets.by_uid.is_empty() && targets.by_name.is_empty());
        }
    }

    #[test]
    fn a_new_life_of_a_target_takes_the_place_of_the_one_before() {
        let mut targets = Targets::default();
        let (place, new) = targets.admit(event(""), look());
        assert!(new && !targets.admit(event(""), look()).1);
        let [first, second] = ["first", "second"].map(Uid::parse);
        assert_eq!(targets.set_uid(place, Some(first)), None);
        assert_eq!(targets.set_uid(place, Some(second)), Some(first));
        assert_eq!(targets.of_uid(first).count(), 0);
        assert_eq!(targets.of_uid(second).collect::<Vec<_>>(), [place]);
    }

    #[test]
    fn nothing_is_left_of_a_trouble_that_is_over() {
        let mut targets = Targets::default();
        let (place, _) = targets.admit(event(""), look());
        targets.unsettle(place, |unsettled| unsettled.curious.push(7));
        assert!(targets.unsettled(place).is_some());
        targets.unsettle(place, |unsettled| unsettled.curious.clear());
        assert!(targets.unsettled.is_empty());
        targets.unsettle(place, |unsettled| unsettled.next_child = Some(0));
        targets.remove(place);
        assert!(targets.unsettled.is_empty());
    }

    #[test]
    fn a_settled_target_takes_forty_eight_bytes() {
        assert_eq!(size_of::<Option<Watched>>(), 48);
    }
}
