//! The digests of all observed objects, found by key, by uid and by owner.
//!
//! A relist marks a new epoch and sweeps what was not seen in it: there is never a second store, and
//! deletions that happened out of sight fall out like any other.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use kstatus::{Digest, Uid};

/// Deeper than any chain of owners that controllers make.
const DEPTH: usize = 6;

#[derive(Debug)]
struct Stored {
    digest: Arc<Digest>,
    epoch: u32,
}

/// What one key shows.
#[derive(Debug, Default)]
struct Shown {
    objects: HashMap<Uid, Stored>,
    /// Objects of others that something of ours may turn out to own: owner and object. A tree has the
    /// least room to spare of what finds all of one owner.
    strangers: BTreeSet<(Uid, Uid)>,
}

/// All objects of all keys.
#[derive(Debug, Default)]
pub(super) struct Store {
    keys: HashMap<u32, Shown>,
    /// A key that holds the uid; the same object may be seen through several.
    by_uid: HashMap<Uid, u32>,
    children: HashMap<Uid, Vec<Uid>>,
}

impl Store {
    /// Keeps the object unless a newer state of it is known; false when it was not kept. `listed`: it
    /// comes from a list, which a server answers with what is so now, also after its data went back.
    pub(super) fn upsert(&mut self, key: u32, epoch: u32, digest: Arc<Digest>, listed: bool) -> bool {
        let Some(uid) = digest.uid() else { return false };
        let Shown { objects, strangers } = self.keys.entry(key).or_default();
        if let Some(stored) = objects.get_mut(&uid) {
            stored.epoch = epoch;
            if !listed && older(&digest, &stored.digest) {
                return false;
            }
        }
        let owner = digest.controller();
        if let Some(owner) = owner {
            strangers.remove(&(owner, uid));
        }
        let before =
            objects.insert(uid, Stored { digest, epoch }).and_then(|before| before.digest.controller());
        self.by_uid.insert(uid, key);
        if before != owner {
            self.unlink(uid, before);
        }
        if let Some(owner) = owner {
            let siblings = self.children.entry(owner).or_default();
            if !siblings.contains(&uid) {
                siblings.push(uid);
            }
        }
        true
    }

    /// Forgets the object and returns its last state.
    pub(super) fn remove(&mut self, key: u32, uid: Uid) -> Option<Arc<Digest>> {
        let removed = self.keys.get_mut(&key)?.objects.remove(&uid)?.digest;
        match self.keys.iter().find(|(_, shown)| shown.objects.contains_key(&uid)) {
            Some((other, _)) => {
                self.by_uid.insert(uid, *other);
            }
            None => {
                self.by_uid.remove(&uid);
                self.unlink(uid, removed.controller());
            }
        }
        Some(removed)
    }

    /// Forgets what was not seen in this epoch and returns the last states.
    pub(super) fn sweep(&mut self, key: u32, epoch: u32) -> Vec<Arc<Digest>> {
        let Some(shown) = self.keys.get(&key) else { return Vec::new() };
        let unseen: Vec<Uid> =
            shown.objects.iter().filter(|(_, stored)| stored.epoch != epoch).map(|(uid, _)| *uid).collect();
        unseen.into_iter().filter_map(|uid| self.remove(key, uid)).collect()
    }

    /// Forgets everything of a key and returns the last states.
    pub(super) fn drop_key(&mut self, key: u32) -> Vec<Arc<Digest>> {
        let uids: Vec<Uid> =
            self.keys.get(&key).map(|shown| shown.objects.keys().copied().collect()).unwrap_or_default();
        let removed = uids.into_iter().filter_map(|uid| self.remove(key, uid)).collect();
        self.keys.remove(&key);
        removed
    }

    /// Everything that a key holds.
    pub(super) fn of_key(&self, key: u32) -> Vec<Arc<Digest>> {
        let objects = self.keys.get(&key).map(|shown| &shown.objects);
        objects.into_iter().flatten().map(|(_, stored)| stored.digest.clone()).collect()
    }

    /// What this key shows of an object.
    pub(super) fn of(&self, key: u32, uid: Uid) -> Option<&Arc<Digest>> {
        self.keys.get(&key)?.objects.get(&uid).map(|stored| &stored.digest)
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
        self.children.get(&uid).into_iter().flatten().filter_map(|child| self.get(*child))
    }

    pub(super) fn get(&self, uid: Uid) -> Option<&Arc<Digest>> {
        self.of(*self.by_uid.get(&uid)?, uid)
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
            for child in self.children.get(&parent).into_iter().flatten() {
                if let Some(digest) = self.get(*child) {
                    found.push(digest.clone());
                    open.push((*child, depth + 1));
                }
            }
        }
        found
    }

    /// Gives back the room of tables that have become much emptier.
    pub(super) fn trim(&mut self) {
        for shown in self.keys.values_mut() {
            trim(&mut shown.objects);
        }
        trim(&mut self.by_uid);
        trim(&mut self.children);
    }

    fn unlink(&mut self, uid: Uid, owner: Option<Uid>) {
        let Some(owner) = owner else { return };
        if let Some(siblings) = self.children.get_mut(&owner) {
            siblings.retain(|sibling| *sibling != uid);
            if siblings.is_empty() {
                self.children.remove(&owner);
            }
        }
    }
}

fn trim<V>(table: &mut HashMap<Uid, V>) {
    if table.capacity() > 64 && table.capacity() / 4 > table.len() {
        table.shrink_to(table.len() * 2);
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
        assert!(store.children.is_empty() && store.by_uid.is_empty());
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
