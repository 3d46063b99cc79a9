//! From changed objects to the subscribers they concern.

use std::collections::HashMap;

use kstatus::Uid;

use crate::id::ObjectId;
use crate::watch::slab::Place;
use crate::watch::{Gap, Presence, TargetState, Update};

use super::{Subscriber, Sync, Task, Watched};

impl Task {
    /// Marks every target that this object is or belongs to.
    pub(super) fn touch(&mut self, digest: &kstatus::Digest) {
        for uid in self.store.lineage(digest) {
            for target in self.targets.of_uid(uid) {
                mark(&mut self.subscribers, target);
            }
        }
    }

    /// Marks every target that the object of this uid is or belongs to.
    pub(super) fn touch_uid(&mut self, uid: Uid) {
        if let Some(digest) = self.store.get(uid).cloned() {
            self.touch(&digest);
        }
    }

    pub(super) fn mark(&mut self, target: Place) {
        mark(&mut self.subscribers, target);
    }

    /// The targets that this key observes.
    pub(super) fn targets_of(&self, id: u32) -> Vec<Place> {
        let Some(key) = self.keys.get(&id) else { return Vec::new() };
        let interest = key.interest.borrow();
        let named = interest.names.iter().filter_map(|target| self.targets.find_id(target));
        let observes = |place: &Place| self.targets.get(*place).is_some_and(|of| of.key() == Some(id));
        named.filter(observes).collect()
    }

    pub(super) fn mark_key(&mut self, id: u32) {
        let about = self.targets.all_unsettled();
        let about = about.filter(|(_, of)| of.looks_into(id) || of.listens_to(id)).map(|(place, _)| place);
        for target in about.chain(self.targets_of(id)) {
            mark(&mut self.subscribers, target);
        }
    }

    pub(super) fn tell_gap(&mut self, key: u32, gap: &Gap) {
        let about = self.targets.all_unsettled().filter(|(_, of)| of.looks_into(key));
        let concerned: Vec<Place> = about.map(|(place, _)| place).chain(self.targets_of(key)).collect();
        for subscriber in self.subscribers.values_mut() {
            if !subscriber.gaps.contains(gap)
                && concerned.iter().any(|target| subscriber.targets.contains(*target))
            {
                subscriber.gaps.push(gap.clone());
            }
        }
    }

    pub(super) fn check_sync(&mut self) {
        let mut subscribers = std::mem::take(&mut self.subscribers);
        for subscriber in subscribers.values_mut().filter(|subscriber| subscriber.sync == Sync::Pending) {
            let of = |place: Place| self.targets.get(place).map(|watched| self.presence(place, watched));
            let silent = |place: &Place| matches!(of(*place), Some(Presence::Pending));
            // Nearly always the one that was waited for already.
            if subscriber.silent.is_some_and(|of| subscriber.targets.contains(of) && silent(&of)) {
                continue;
            }
            subscriber.silent = subscriber.targets.iter().find(silent);
            if subscriber.silent.is_none() {
                subscriber.sync = Sync::Due;
            }
        }
        self.subscribers = subscribers;
    }

    pub(super) fn presence(&self, target: Place, watched: &Watched) -> Presence {
        let unsettled = self.targets.unsettled(target);
        let doubt = || unsettled.and_then(|of| of.doubt.clone());
        let Some(key) = watched.key().and_then(|id| self.keys.get(&id)) else {
            return doubt().map_or(Presence::NotServed, Presence::Unknown);
        };
        if let Some(error) = &key.stopped {
            return Presence::Unknown(error.clone());
        }
        if let Some(doubt) = doubt() {
            return Presence::Unknown(doubt);
        }
        match watched.uid().and_then(|uid| self.store.get(uid)) {
            Some(digest) => Presence::Present(digest.clone()),
            None if key.synced >= watched.serial() => {
                let last = unsettled.and_then(|of| of.last.clone());
                Presence::Absent { as_of: key.version, last }
            }
            None => key.gap.clone().map_or(Presence::Pending, Presence::Unknown),
        }
    }

    pub(super) fn state(&self, target: Place) -> Option<(ObjectId, TargetState)> {
        let watched = self.targets.get(target)?;
        let unsettled = self.targets.unsettled(target);
        let key = watched.key().and_then(|id| self.keys.get(&id)).filter(|key| key.stopped.is_none());
        let doubt = || unsettled.and_then(|of| of.doubt.clone());
        let gap = key.map_or_else(doubt, |key| key.gap.clone());
        let rewinds = key.map_or(0, |key| key.rewinds);
        let children = unsettled.and_then(|of| self.children_of(watched, of));
        let events =
            unsettled.and_then(|of| self.events_about(watched, of, children.as_deref().unwrap_or_default()));
        let (presence, marks) = (self.presence(target, watched), watched.marks.clone());
        Some((watched.id.clone(), TargetState { presence, marks, children, events, gap, rewinds }))
    }

    /// Answers every subscriber who asks and whom there is something to tell.
    pub(super) fn deliver(&mut self) {
        let ready: Vec<u32> = self
            .subscribers
            .iter()
            .filter(|(_, s)| {
                s.asking.is_some() && (!s.dirty.is_empty() || !s.gaps.is_empty() || s.sync == Sync::Due)
            })
            .map(|(id, _)| *id)
            .collect();
        for id in ready {
            let Some(subscriber) = self.subscribers.get_mut(&id) else { continue };
            let Some(asking) = subscriber.asking.take_if(|asking| !asking.is_closed()) else { continue };
            if let Some(gap) = subscriber.gaps.pop() {
                let _ = asking.send(Update::Gap(gap));
                continue;
            }
            let dirty = std::mem::take(&mut subscriber.dirty);
            if dirty.is_empty() {
                subscriber.sync = Sync::Told;
                let _ = asking.send(Update::Synced);
                continue;
            }
            let mut changed = Vec::with_capacity(dirty.len());
            changed.extend(dirty.iter().filter_map(|target| self.state(target)));
            let _ = asking.send(Update::Changed(changed));
        }
    }
}

fn mark(subscribers: &mut HashMap<u32, Subscriber>, target: Place) {
    for subscriber in subscribers.values_mut().filter(|subscriber| subscriber.targets.contains(target)) {
        subscriber.dirty.insert(target);
    }
}
