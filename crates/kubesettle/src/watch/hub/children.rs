//! What targets generated: whose it is, and which watches show it.
//!
//! An object is *ours* when its owners lead to a target. Owners are watched before what they own, so
//! that a list can be told apart in one go: of what is ours the digest is kept, of others the edge to
//! their owner. When an edge turns out to be ours after all, the whole state of its key is asked for
//! once more.

use std::sync::Arc;
use std::time::Duration;

use kstatus::{Digest, Uid};
use tokio::time::Instant;

use super::targets::{Unsettled, Watched};
use super::{Key, Lease, Task, kind_of};
use crate::cluster::{Resource, Scope};
use crate::id::{GroupKind, ObjectId};
use crate::watch::scope::{Means, Width};
use crate::watch::slab::Place;
use crate::watch::wanted::{Interest, LIMBO, Owners};

/// How long to collect what turns out to be ours before it is asked for.
const COLLECT: Duration = Duration::from_secs(1);
/// The least time between two such questions about one key.
const AGAIN: Duration = Duration::from_secs(5);

impl Task {
    pub(super) fn children(&mut self, subscriber: u32, target: Place, wanted: bool) {
        if !wanted {
            let is_last = |of: &mut Unsettled| {
                of.curious.retain(|other| *other != subscriber);
                of.curious.is_empty()
            };
            let looked = self.targets.unsettled(target).is_some();
            if looked && self.targets.unsettle(target, is_last) == Some(true) {
                self.release_children(target);
            }
            return;
        }
        let is_first = self.targets.unsettle(target, |of| {
            let known = of.curious.contains(&subscriber);
            if !known {
                of.curious.push(subscriber);
            }
            let first = !known && of.child_keys.is_empty();
            if first {
                of.next_child = Some(0);
            }
            first
        });
        if is_first == Some(true) {
            self.lease_next(target);
            self.mark(target);
        }
    }

    fn release_children(&mut self, target: Place) {
        let leases = self.targets.unsettle(target, |of| {
            of.next_child = None;
            std::mem::take(&mut of.child_keys)
        });
        leases.into_iter().flatten().for_each(|lease| self.release(lease.key));
    }

    /// What it generated; `None` while nobody asked for it or it is not known yet.
    pub(super) fn children_of(&self, watched: &Watched, unsettled: &Unsettled) -> Option<Vec<Arc<Digest>>> {
        let Unsettled { next_child, child_keys, .. } = unsettled;
        let known = next_child.is_none() && child_keys.iter().all(|lease| self.is_known(lease));
        let family = || watched.uid().map_or_else(Vec::new, |uid| self.store.descendants(uid));
        (known && !child_keys.is_empty()).then(family)
    }

    /// A key is known or will not be soon: whoever waited for that leases the next one.
    pub(super) fn go_on(&mut self, key: u32) {
        let waits = |of: &Unsettled| {
            of.next_child.is_some() && of.child_keys.last().is_some_and(|lease| lease.key == key)
        };
        let waiting = self.targets.all_unsettled().filter(|(_, of)| waits(of));
        let waiting: Vec<Place> = waiting.map(|(target, _)| target).collect();
        waiting.into_iter().for_each(|target| self.lease_next(target));
    }

    /// Leases the keys of generated kinds up to the first that is not known yet.
    fn lease_next(&mut self, target: Place) {
        let Some(watched) = self.targets.get(target) else { return };
        let (id, width) = (watched.id.clone(), watched.look.width);
        let generated = self.rules.generated_kinds(&kind_of(id.group_kind(), ""));
        let interest = self.generated_by(&id);
        loop {
            let Some(next) = self.targets.unsettled(target).and_then(|of| of.next_child) else { return };
            let kind = generated.get(usize::from(next)).copied();
            self.targets.unsettle(target, |of| {
                of.next_child = next.checked_add(1).filter(|_| kind.is_some());
            });
            let Some((group, kind)) = kind else { return };
            let kind = GroupKind::new(group, kind);
            let Some(resource) = self.cluster.resource(&kind, None) else {
                continue;
            };
            let means = Means::Watch(match width {
                Width::Cluster if !self.by_namespace.contains(&kind) => Scope::Cluster,
                _ => Scope::Namespace(id.namespace().into()),
            });
            let lease = self.lease(&resource, means, &interest, 1);
            self.targets.unsettle(target, |of| of.child_keys.push(lease));
            let more = usize::from(next) + 1 < generated.len();
            if !self.is_decided(lease) && more {
                return;
            }
        }
    }

    fn generated_by(&self, target: &ObjectId) -> Interest {
        let generated = self.rules.generated_kinds(&kind_of(target.group_kind(), ""));
        let kinds = generated.iter().map(|(_, kind)| *kind);
        let generated_by = std::iter::once(target.kind()).chain(kinds).map(Box::from).collect();
        Interest { generated_by, ..Interest::default() }
    }

    /// What all namespaces show of generated objects may not be seen: each target's own is looked into.
    /// False when there is nobody to do that for.
    pub(super) fn look_by_namespace(&mut self, id: u32, resource: &Resource) -> bool {
        let lookers = self.targets.all_unsettled().filter(|(_, of)| of.looks_into(id));
        let id_of = |place: Place| self.targets.get(place).map(|watched| (place, watched.id.clone()));
        let lookers = lookers.filter_map(|(place, _)| id_of(place));
        let lookers: Vec<_> = lookers.filter(|(_, target)| !target.namespace().is_empty()).collect();
        self.by_namespace.insert(resource.group_kind().clone());
        for (place, target) in &lookers {
            let means = Means::Watch(Scope::Namespace(target.namespace().into()));
            let instead = self.lease(resource, means, &self.generated_by(target), 1);
            self.targets.unsettle(*place, |of| {
                let leases = of.child_keys.iter_mut().filter(|lease| lease.key == id);
                leases.for_each(|lease| *lease = instead);
            });
        }
        !lookers.is_empty()
    }

    fn is_decided(&self, lease: Lease) -> bool {
        let Some(key) = self.keys.get(&lease.key) else { return true };
        key.synced >= lease.serial || key.stopped.is_some() || key.gap.is_some()
    }

    /// Takes note of a new state: is it ours, and what did it generate itself?
    pub(super) fn adopt(&mut self, key: u32, digest: &Digest) {
        let (Some(uid), Some(owner)) = (digest.uid(), digest.controller()) else { return };
        if self.is_owner(owner) {
            if self.rules.generates(digest.kind()) {
                self.own(uid);
            }
        } else if !self.is_named(key, digest) {
            self.limbo.push_back((Instant::now() + LIMBO, key, uid));
        }
    }

    fn is_owner(&self, uid: Uid) -> bool {
        self.owners.borrow().contains(&uid)
    }

    pub(super) fn is_named(&self, key: u32, digest: &Digest) -> bool {
        self.keys.get(&key).is_some_and(|key| key.names(digest))
    }

    /// Somebody looks at what was generated: from here on it is known who may have done so.
    pub(super) fn explain(&mut self) {
        if std::mem::replace(&mut self.explaining, true) {
            return;
        }
        let generates = |watched: &Watched| self.rules.generates(&kind_of(watched.id.group_kind(), ""));
        let targets = self.targets.iter().filter(|(_, watched)| generates(watched));
        let uids: Vec<Uid> = targets.filter_map(|(_, watched)| watched.uid()).collect();
        uids.into_iter().for_each(|uid| self.own(uid));
    }

    /// Forgets that when no key shows what was generated any more.
    pub(super) fn end_explaining(&mut self) {
        if self.explaining && !self.keys.values().any(Key::is_generated) {
            self.explaining = false;
            self.owners.send_replace(Owners::default());
        }
    }

    /// An object of ours may have generated others: those are ours too.
    pub(super) fn own(&mut self, uid: Uid) {
        let mut open = vec![uid];
        while let Some(uid) = open.pop() {
            if !self.owners.send_if_modified(|owners| owners.insert(uid)) {
                continue;
            }
            for key in self.store.with_strangers_of(uid) {
                self.wants_again(key, uid);
            }
            let parents = |child: &&Arc<Digest>| self.rules.generates(child.kind());
            open.extend(self.store.children(uid).filter(parents).filter_map(|child| child.uid()));
        }
    }

    /// The opposite of [`own`](Self::own), for an object that is gone or that nobody wants any more.
    pub(super) fn disown(&mut self, uid: Uid) {
        if self.is_target(uid) || self.store.get(uid).is_some() && self.leads_to_target(uid) {
            return;
        }
        let mut open = vec![uid];
        while let Some(uid) = open.pop() {
            let had = self.owners.send_if_modified(|owners| owners.remove(&uid));
            if had {
                open.extend(self.store.children(uid).filter_map(|child| child.uid()));
            }
        }
    }

    fn is_target(&self, uid: Uid) -> bool {
        self.targets.of_uid(uid).next().is_some()
    }

    fn leads_to_target(&self, uid: Uid) -> bool {
        let Some(digest) = self.store.get(uid) else { return false };
        self.store.lineage(digest).iter().any(|uid| self.is_target(*uid))
    }

    /// An object of which only the owner is to be kept, if that.
    pub(super) fn stranger(&mut self, key: u32, uid: Uid, owner: Option<Uid>) {
        let ours = owner.is_some_and(|owner| self.is_owner(owner));
        if !ours && let Some(digest) = self.store.remove(key, uid) {
            self.touch(&digest);
            self.disown(uid);
        }
        let shows = self.keys.get(&key).is_some_and(Key::is_generated);
        let Some(owner) = owner.filter(|_| shows) else { return };
        if self.store.of(key, uid).is_none() {
            self.store.add_stranger(key, owner, uid);
        }
        // The loop did not know yet: what it has just seen was not digested.
        if ours {
            self.wants_again(key, owner);
        }
    }

    /// Lets go of what was new and whose owner has not appeared.
    pub(super) fn end_limbo(&mut self) {
        let now = Instant::now();
        while let Some((_, key, uid)) = self.limbo.pop_front_if(|(at, _, _)| *at <= now) {
            let Some(digest) = self.store.of(key, uid).cloned() else { continue };
            let owner = digest.controller();
            if !self.is_named(key, &digest) && !owner.is_some_and(|owner| self.is_owner(owner)) {
                self.stranger(key, uid, owner);
            }
        }
        if self.limbo.capacity() / 4 > self.limbo.len() {
            self.limbo.shrink_to(self.limbo.len() * 2);
        }
        self.store.trim();
    }

    /// The state of a key is to be told again, for what this owner generated.
    fn wants_again(&mut self, id: u32, owner: Uid) {
        let Some(key) = self.keys.get(&id) else { return };
        let now = Instant::now();
        let due = key.asked_again.map_or(now, |last| last + AGAIN).max(now + COLLECT);
        self.again.entry(id).or_insert(due);
        let serial = key.interest.borrow().serial + 1;
        let mut line = vec![owner];
        line.extend(self.store.get(owner).into_iter().flat_map(|digest| self.store.lineage(digest)));
        let targets: Vec<Place> = line.into_iter().flat_map(|uid| self.targets.of_uid(uid)).collect();
        for target in targets {
            if self.targets.unsettled(target).is_some_and(|of| of.looks_into(id)) {
                self.targets.unsettle(target, |of| {
                    let leases = of.child_keys.iter_mut().filter(|lease| lease.key == id);
                    leases.for_each(|lease| lease.serial = serial);
                });
            }
        }
    }

    pub(super) fn ask_again(&mut self) {
        let now = Instant::now();
        let due: Vec<u32> = self.again.iter().filter(|(_, at)| **at <= now).map(|(key, _)| *key).collect();
        for id in due {
            self.again.remove(&id);
            if let Some(key) = self.keys.get_mut(&id) {
                key.asked_again = Some(now);
                key.interest.send_modify(|interest| interest.serial += 1);
            }
        }
    }
}
