//! The digests of all observed objects, found by key, by uid and by owner.
//!
//! A relist marks a new epoch and sweeps what was not seen in it: there is never a second store, and
//! deletions that happened out of sight fall out like any other.
//!
//! Each object stands once, in a numbered place; the tables hold numbers, and what a key shows or an
//! owner has is a chain through the places.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use kstatus::{Digest, Uid};

use super::index::Index;
use super::slab::{Place, Slab};

/// Deeper than any chain of owners that controllers make.
const DEPTH: usize = 6;

#[derive(Debug)]
struct Stored {
    digest: Arc<Digest>,
    key: u32,
    epoch: u32,
    of_key: Links,
    /// Among what its owner generated; without neighbours while another state stands for the object.
    of_owner: Links,
}

/// The neighbours in a chain.
#[derive(Debug, Default, Clone, Copy)]
struct Links {
    before: Option<Place>,
    after: Option<Place>,
}

/// Which chain.
#[derive(Debug, Clone, Copy)]
enum Chain {
    Key,
    Owner,
}

impl Stored {
    fn links(&self, chain: Chain) -> Links {
        match chain {
            Chain::Key => self.of_key,
            Chain::Owner => self.of_owner,
        }
    }

    fn links_mut(&mut self, chain: Chain) -> &mut Links {
        match chain {
            Chain::Key => &mut self.of_key,
            Chain::Owner => &mut self.of_owner,
        }
    }
}

/// What one key shows.
#[derive(Debug, Default)]
struct Shown {
    first: Option<Place>,
    /// Objects of others that something of ours may turn out to own: owner and object. A tree has the
    /// least room to spare of what finds all of one owner.
    strangers: BTreeSet<(Uid, Uid)>,
}

/// All objects of all keys.
#[derive(Debug)]
pub(super) struct Store {
    keys: HashMap<u32, Shown>,
    objects: Slab<Stored>,
    /// The state that stands for an object: of those of several keys one that no other is newer than.
    by_uid: Index<Stored>,
    /// The other states of objects that are seen through several keys.
    more: HashMap<Uid, Vec<Place>>,
    /// The first of what an owner generated.
    by_owner: Index<Stored>,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            keys: HashMap::new(),
            objects: Slab::default(),
            by_uid: Index::new(|stored| stored.digest.uid()),
            more: HashMap::new(),
            by_owner: Index::new(|stored| stored.digest.controller()),
        }
    }
}

impl Store {
    /// Keeps the object unless a newer state of it is known; false when it was not kept. `listed`: it
    /// comes from a list, which a server answers with what is so now, also after its data went back.
    pub(super) fn upsert(&mut self, key: u32, epoch: u32, digest: Arc<Digest>, listed: bool) -> bool {
        let Some(uid) = digest.uid() else { return false };
        let place = self.place_of(key, uid);
        if let Some(stored) = place.and_then(|place| self.objects.get_mut(place)) {
            stored.epoch = epoch;
            if !listed && older(&digest, &stored.digest) {
                return false;
            }
        }
        if let Some(owner) = digest.controller() {
            self.remove_stranger(key, owner, uid);
        }
        let front = self.front(uid);
        let stays = match front.and_then(|front| self.objects.get(front)) {
            Some(of) if front == place => of.digest.controller() == digest.controller(),
            // Streams are not in step: what one tells late is no news.
            Some(of) => older(&digest, &of.digest),
            None => false,
        };
        if !stays {
            front.into_iter().for_each(|front| self.leave_owner(front));
        }
        let place = match place {
            Some(place) => {
                if let Some(stored) = self.objects.get_mut(place) {
                    stored.digest = digest;
                }
                place
            }
            None => {
                let place = self.put(key, epoch, digest);
                if stays {
                    self.more.entry(uid).or_default().push(place);
                }
                place
            }
        };
        if !stays {
            self.set_front(uid, place);
            self.join_owner(place);
        }
        true
    }

    /// Whether a later state of the object is known than this one.
    pub(super) fn is_ahead_of(&self, key: u32, digest: &Digest) -> bool {
        digest.uid().and_then(|uid| self.of(key, uid)).is_some_and(|known| older(digest, known))
    }

    /// Forgets the object and returns its last state.
    pub(super) fn remove(&mut self, key: u32, uid: Uid) -> Option<Arc<Digest>> {
        let place = self.place_of(key, uid)?;
        if self.front(uid) == Some(place) {
            self.leave_owner(place);
            let next = self.more.get_mut(&uid).and_then(Vec::pop);
            self.by_uid.replace(&self.objects, uid, next);
            next.into_iter().for_each(|next| self.join_owner(next));
        } else if let Some(more) = self.more.get_mut(&uid) {
            more.retain(|other| *other != place);
        }
        if self.more.get(&uid).is_some_and(Vec::is_empty) {
            self.more.remove(&uid);
        }
        if let Some((links, shown)) = self.unchain(place, Chain::Key).zip(self.keys.get_mut(&key))
            && links.before.is_none()
        {
            shown.first = links.after;
        }
        self.objects.remove(place).map(|stored| stored.digest)
    }

    /// Forgets what was not seen in this epoch and returns the last states.
    pub(super) fn sweep(&mut self, key: u32, epoch: u32) -> Vec<Arc<Digest>> {
        let unseen: Vec<Uid> = self
            .shown(key)
            .filter(|stored| stored.epoch != epoch)
            .filter_map(|stored| stored.digest.uid())
            .collect();
        unseen.into_iter().filter_map(|uid| self.remove(key, uid)).collect()
    }

    /// Forgets everything of a key and returns the last states.
    pub(super) fn drop_key(&mut self, key: u32) -> Vec<Arc<Digest>> {
        let uids: Vec<Uid> = self.shown(key).filter_map(|stored| stored.digest.uid()).collect();
        let removed = uids.into_iter().filter_map(|uid| self.remove(key, uid)).collect();
        self.keys.remove(&key);
        removed
    }

    /// Everything that a key holds.
    pub(super) fn of_key(&self, key: u32) -> Vec<Arc<Digest>> {
        self.shown(key).map(|stored| stored.digest.clone()).collect()
    }

    /// What this key shows of an object.
    pub(super) fn of(&self, key: u32, uid: Uid) -> Option<&Arc<Digest>> {
        self.objects.get(self.place_of(key, uid)?).map(|stored| &stored.digest)
    }

    /// Keeps of an object no more than who owns it.
    pub(super) fn add_stranger(&mut self, key: u32, owner: Uid, uid: Uid) {
        self.keys.entry(key).or_default().strangers.insert((owner, uid));
    }

    pub(super) fn remove_stranger(&mut self, key: u32, owner: Uid, uid: Uid) {
        if let Some(shown) = self.keys.get_mut(&key) {
            shown.strangers.remove(&(owner, uid));
        }
    }

    /// Forgets all strangers of a key: they are about to be told anew.
    pub(super) fn clear_strangers(&mut self, key: u32) {
        if let Some(shown) = self.keys.get_mut(&key) {
            shown.strangers.clear();
        }
    }

    /// The keys that show strangers of this owner.
    pub(super) fn with_strangers_of(&self, owner: Uid) -> Vec<u32> {
        let has =
            |shown: &Shown| shown.strangers.range((owner, Uid::MIN)..=(owner, Uid::MAX)).next().is_some();
        self.keys.iter().filter(|(_, shown)| has(shown)).map(|(key, _)| *key).collect()
    }

    /// What this object generated itself.
    pub(super) fn children(&self, uid: Uid) -> impl Iterator<Item = &Arc<Digest>> {
        self.chain(self.by_owner.one(&self.objects, uid), Chain::Owner).map(|stored| &stored.digest)
    }

    pub(super) fn get(&self, uid: Uid) -> Option<&Arc<Digest>> {
        self.objects.get(self.front(uid)?).map(|stored| &stored.digest)
    }

    /// The object's own uid and those of its owners, nearest first.
    pub(super) fn lineage(&self, digest: &Digest) -> Vec<Uid> {
        let mut line: Vec<Uid> = digest.uid().into_iter().collect();
        let mut owner = digest.controller();
        while let Some(uid) = owner {
            if line.len() > DEPTH || line.contains(&uid) {
                break;
            }
            line.push(uid);
            owner = self.get(uid).and_then(|parent| parent.controller());
        }
        line
    }

    /// Everything the object generated, at any depth.
    pub(super) fn descendants(&self, uid: Uid) -> Vec<Arc<Digest>> {
        let mut found = Vec::new();
        let mut open = vec![(uid, 0)];
        while let Some((parent, depth)) = open.pop() {
            if depth > DEPTH {
                continue;
            }
            for child in self.children(parent) {
                found.push(child.clone());
                open.extend(child.uid().map(|uid| (uid, depth + 1)));
            }
        }
        found
    }

    /// Gives back the room of what has become much emptier.
    pub(super) fn trim(&mut self) {
        if self.objects.is_sparse() {
            self.compact();
        }
        self.objects.trim();
        self.by_uid.trim(&self.objects);
        self.by_owner.trim(&self.objects);
    }

    /// Gives every object a new place, one after the other.
    fn compact(&mut self) {
        let others: BTreeSet<usize> = self.more.values().flatten().map(|place| place.index()).collect();
        self.by_uid.clear();
        self.by_owner.clear();
        self.more.clear();
        self.keys.values_mut().for_each(|shown| shown.first = None);
        let objects = std::mem::take(&mut self.objects);
        let (others, fronts): (Vec<_>, Vec<_>) =
            objects.into_values().partition(|(place, _)| others.contains(&place.index()));
        for (_, Stored { digest, key, epoch, .. }) in others.into_iter().chain(fronts) {
            self.upsert(key, epoch, digest, true);
        }
    }
}

/// The tables.
impl Store {
    fn owner_of(&self, place: Place) -> Option<Uid> {
        self.objects.get(place)?.digest.controller()
    }

    /// The state that stands for an object.
    fn front(&self, uid: Uid) -> Option<Place> {
        self.by_uid.one(&self.objects, uid)
    }

    /// What this key shows of an object.
    fn place_of(&self, key: u32, uid: Uid) -> Option<Place> {
        let shows = |place: &Place| self.objects.get(*place).is_some_and(|stored| stored.key == key);
        let front = self.front(uid)?;
        if shows(&front) { Some(front) } else { self.more.get(&uid)?.iter().copied().find(shows) }
    }

    /// Lets this state stand for the object, before all others.
    fn set_front(&mut self, uid: Uid, place: Place) {
        let before = self.by_uid.replace(&self.objects, uid, Some(place)).filter(|before| *before != place);
        if let Some(before) = before {
            let more = self.more.entry(uid).or_default();
            more.retain(|other| *other != place);
            more.push(before);
        }
    }
}

/// The chains.
impl Store {
    fn shown(&self, key: u32) -> impl Iterator<Item = &Stored> {
        self.chain(self.keys.get(&key).and_then(|shown| shown.first), Chain::Key)
    }

    fn chain(&self, first: Option<Place>, chain: Chain) -> impl Iterator<Item = &Stored> {
        let stored = |place: Place| self.objects.get(place);
        let next = move |of: &&Stored| of.links(chain).after.and_then(stored);
        std::iter::successors(first.and_then(stored), next)
    }

    /// Finds a place for an object, the first of its key.
    fn put(&mut self, key: u32, epoch: u32, digest: Arc<Digest>) -> Place {
        let (of_key, of_owner) = (Links::default(), Links::default());
        let place = self.objects.insert(Stored { digest, key, epoch, of_key, of_owner });
        let after = self.keys.entry(key).or_default().first.replace(place);
        self.enchain(place, after, Chain::Key);
        place
    }

    /// Makes it the first of what its owner generated.
    fn join_owner(&mut self, place: Place) {
        if let Some(owner) = self.owner_of(place) {
            let after = self.by_owner.replace(&self.objects, owner, Some(place));
            self.enchain(place, after, Chain::Owner);
        }
    }

    fn leave_owner(&mut self, place: Place) {
        let Some(owner) = self.owner_of(place) else { return };
        if let Some(Links { before: None, after }) = self.unchain(place, Chain::Owner) {
            self.by_owner.replace(&self.objects, owner, after);
        }
    }

    fn enchain(&mut self, place: Place, after: Option<Place>, chain: Chain) {
        if let Some(stored) = self.objects.get_mut(place) {
            *stored.links_mut(chain) = Links { before: None, after };
        }
        if let Some(stored) = after.and_then(|after| self.objects.get_mut(after)) {
            stored.links_mut(chain).before = Some(place);
        }
    }

    /// Closes the gap between its neighbours; who they were.
    fn unchain(&mut self, place: Place, chain: Chain) -> Option<Links> {
        let links = std::mem::take(self.objects.get_mut(place)?.links_mut(chain));
        if let Some(stored) = links.before.and_then(|before| self.objects.get_mut(before)) {
            stored.links_mut(chain).after = links.after;
        }
        if let Some(stored) = links.after.and_then(|after| self.objects.get_mut(after)) {
            stored.links_mut(chain).before = links.before;
        }
        Some(links)
    }
}

/// Versions are compared as numbers where both are numbers, as servers since 1.35 promise; else any
/// other version counts as newer, since a watch delivers in order.
fn older(new: &Digest, old: &Digest) -> bool {
    super::machine::older(new.resource_version(), old.resource_version())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(uid: &str, version: u32, owner: Option<&str>) -> Arc<Digest> {
        let owners = owner.map_or(String::new(), |owner| {
            format!(r#","ownerReferences":[{{"apiVersion":"v1","kind":"X","name":"o","uid":"{owner}","controller":true}}]"#)
        });
        let json = format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{uid}","namespace":"n","uid":"{uid}","resourceVersion":"{version}"{owners}}}}}"#
        );
        Arc::new(kstatus::digest(json.as_bytes()).unwrap())
    }

    impl Store {
        fn is_empty(&self) -> bool {
            self.objects.len() == 0
                && self.by_uid.is_empty()
                && self.by_owner.is_empty()
                && self.more.is_empty()
        }
    }

    fn uids(digests: &[Arc<Digest>]) -> Vec<String> {
        let mut names: Vec<String> = digests.iter().map(|digest| digest.name().to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn descendants_are_linked_in_either_order_of_arrival() {
        let mut store = Store::default();
        store.upsert(2, 0, object("pod", 1, Some("set")), false);
        store.upsert(1, 0, object("set", 1, Some("root")), false);
        store.upsert(0, 0, object("root", 1, None), false);
        assert_eq!(uids(&store.descendants(Uid::parse("root"))), ["pod", "set"]);
        let pod = store.get(Uid::parse("pod")).unwrap().clone();
        assert_eq!(store.lineage(&pod), ["pod", "set", "root"].map(Uid::parse));
    }

    #[test]
    fn an_older_state_never_replaces_a_newer_one() {
        let mut store = Store::default();
        assert!(store.upsert(0, 0, object("a", 10, None), false));
        assert!(!store.upsert(0, 1, object("a", 9, None), false));
        assert_eq!(store.get(Uid::parse("a")).unwrap().resource_version(), "10");
        assert!(store.sweep(0, 1).is_empty(), "it was seen all the same");
    }

    #[test]
    fn a_list_is_believed_also_when_it_is_older() {
        let mut store = Store::default();
        store.upsert(0, 0, object("a", 10, None), false);
        assert!(store.upsert(0, 1, object("a", 9, None), true));
        assert_eq!(store.get(Uid::parse("a")).unwrap().resource_version(), "9");
    }

    #[test]
    fn a_relist_sweeps_what_it_did_not_show() {
        let mut store = Store::default();
        store.upsert(0, 0, object("a", 1, None), false);
        store.upsert(0, 0, object("b", 2, Some("a")), false);
        store.upsert(0, 1, object("a", 1, None), false);
        assert_eq!(uids(&store.sweep(0, 1)), ["b"]);
        assert!(store.descendants(Uid::parse("a")).is_empty());
    }

    #[test]
    fn an_object_seen_through_two_keys_stays_until_both_forget_it() {
        let mut store = Store::default();
        store.upsert(0, 0, object("a", 1, Some("o")), false);
        store.upsert(1, 0, object("a", 1, Some("o")), false);
        store.drop_key(0);
        assert_eq!(uids(&store.descendants(Uid::parse("o"))), ["a"]);
        store.drop_key(1);
        assert!(store.get(Uid::parse("a")).is_none());
        assert!(store.is_empty());
    }

    #[test]
    fn of_several_states_of_one_object_the_newest_counts_and_it_is_one_child() {
        let mut store = Store::default();
        for (key, version, newest) in
            [(0, 1, 1), (1, 2, 2), (2, 3, 3), (1, 4, 4), (0, 2, 4), (3, 1, 4), (2, 4, 4)]
        {
            store.upsert(key, 0, object("a", version, Some("o")), key == 0);
            assert_eq!(store.get(Uid::parse("a")).unwrap().resource_version(), newest.to_string());
            assert_eq!(uids(&store.descendants(Uid::parse("o"))), ["a"]);
        }
        store.upsert(1, 0, object("a", 5, Some("p")), false);
        assert!(store.descendants(Uid::parse("o")).is_empty());
        assert_eq!(uids(&store.descendants(Uid::parse("p"))), ["a"]);
        for key in [0, 1, 3, 2] {
            assert!(store.remove(key, Uid::parse("a")).is_some());
        }
        assert!(store.is_empty());
    }

    #[test]
    fn what_is_left_of_many_is_found_as_before_and_takes_the_room_of_few() {
        let mut store = Store::default();
        store.upsert(9, 0, object("500", 1, Some("o0")), false);
        for number in 0..1_000 {
            let owner = format!("o{}", number % 10);
            store.upsert(number % 3, 0, object(&number.to_string(), 1, Some(&owner)), false);
        }
        for number in (0..1_000).filter(|number| number % 100 != 0) {
            assert!(store.remove(number % 3, Uid::parse(&number.to_string())).is_some());
        }
        store.trim();
        let left: Vec<String> = (0..1_000).step_by(100).map(|number| number.to_string()).collect();
        assert_eq!(uids(&store.descendants(Uid::parse("o0"))), left);
        assert!(!store.objects.is_sparse());
        let keys: usize = [0, 1, 2, 9].iter().map(|key| store.of_key(*key).len()).sum();
        assert_eq!(keys, 11, "one of them is seen through two keys");
        [0, 1, 2, 9].iter().for_each(|key| drop(store.drop_key(*key)));
        assert!(store.is_empty());
    }

    #[test]
    fn owners_in_a_circle_end() {
        let mut store = Store::default();
        store.upsert(0, 0, object("a", 1, Some("b")), false);
        store.upsert(0, 0, object("b", 1, Some("a")), false);
        let a = store.get(Uid::parse("a")).unwrap().clone();
        assert_eq!(store.lineage(&a).len(), 2);
        assert!(store.descendants(Uid::parse("a")).len() <= 2 * DEPTH);
    }
}
