//! From changed objects to the subscribers they concern.

use std::collections::HashSet;

use kstatus::Uid;

use crate::id::ObjectId;
use crate::watch::{Gap, Presence, TargetState, Update};

use super::{Sync, Task, Watched};

impl Task {
    /// Marks every target that this object is or belongs to.
    pub(super) fn touch(&mut self, digest: &kstatus::Digest) {
        for uid in self.store.lineage(digest) {
            let targets: Vec<ObjectId> = self.target_of.of(uid).cloned().collect();
            targets.iter().for_each(|target| self.mark(target));
        }
    }

    /// Marks every target that the object of this uid is or belongs to.
    pub(super) fn touch_uid(&mut self, uid: Uid) {
        if let Some(digest) = self.store.get(uid).cloned() {
            self.touch(&digest);
        }
    }

    pub(super) fn mark(&mut self, target: &ObjectId) {
        let Some(watched) = self.targets.get(target) else { return };
        for id in &watched.subscribers {
            if let Some(subscriber) = self.subscribers.get_mut(id)
                && subscriber.is_dirty.insert(target.clone())
            {
                subscriber.dirty.push(target.clone());
            }
        }
    }

    pub(super) fn mark_key(&mut self, id: u32) {
        let concerned: Vec<ObjectId> = self
            .targets
            .iter()
            .filter(|(_, w)| w.key == Some(id) || w.looks_into(id) || w.listens_to(id))
            .map(|(target, _)| target.clone())
            .collect();
        concerned.iter().for_each(|target| self.mark(target));
    }

    pub(super) fn tell_gap(&mut self, key: u32, gap: &Gap) {
        let concerned: HashSet<u32> = self
            .targets
            .values()
            .filter(|watched| watched.key == Some(key) || watched.looks_into(key))
            .flat_map(|watched| watched.subscribers.iter().copied())
            .collect();
        for id in concerned {
            if let Some(subscriber) = self.subscribers.get_mut(&id)
                && !subscriber.gaps.contains(gap)
            {
                subscriber.gaps.push(gap.clone());
            }
        }
    }

    pub(super) fn check_sync(&mut self) {
        let waiting: Vec<u32> = self
            .subscribers
            .iter()
            .filter(|(_, subscriber)| subscriber.sync == Sync::Pending)
            .filter(|(_, subscriber)| {
                subscriber.targets.iter().all(|target| {
                    self.targets.get(target).is_none_or(|w| !matches!(self.presence(w), Presence::Pending))
                })
            })
            .map(|(id, _)| *id)
            .collect();
        for id in waiting {
            if let Some(subscriber) = self.subscribers.get_mut(&id) {
                subscriber.sync = Sync::Due;
            }
        }
    }

    pub(super) fn presence(&self, watched: &Watched) -> Presence {
        let Some(key) = watched.key.and_then(|id| self.keys.get(&id)) else {
            return watched.doubt.clone().map_or(Presence::NotServed, Presence::Unknown);
        };
        if let Some(error) = &key.stopped {
            return Presence::Unknown(error.clone());
        }
        if let Some(doubt) = &watched.doubt {
            return Presence::Unknown(doubt.clone());
        }
        match watched.uid.and_then(|uid| self.store.get(uid)) {
            Some(digest) => Presence::Present(digest.clone()),
            None if key.synced >= watched.serial => {
                Presence::Absent { as_of: key.version, last: watched.last.clone() }
            }
            None => key.gap.clone().map_or(Presence::Pending, Presence::Unknown),
        }
    }

    pub(super) fn state(&self, target: &ObjectId) -> Option<TargetState> {
        let watched = self.targets.get(target)?;
        let key = watched.key.and_then(|id| self.keys.get(&id)).filter(|key| key.stopped.is_none());
        let gap = key.map_or_else(|| watched.doubt.clone(), |key| key.gap.clone());
        let rewinds = key.map_or(0, |key| key.rewinds);
        let all = watched.next_child.is_none() && watched.child_keys.iter().all(|lease| self.is_known(lease));
        let children = (all && !watched.child_keys.is_empty())
            .then(|| watched.uid.map_or_else(Vec::new, |uid| self.store.descendants(uid)));
        let events = self.events_about(watched, children.as_deref().unwrap_or_default());
        let (presence, marks) = (self.presence(watched), watched.marks.clone());
        Some(TargetState { presence, marks, children, events, gap, rewinds })
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
            subscriber.is_dirty.clear();
            let dirty = std::mem::take(&mut subscriber.dirty);
            if dirty.is_empty() {
                subscriber.sync = Sync::Told;
                let _ = asking.send(Update::Synced);
                continue;
            }
            let changed = dirty
                .into_iter()
                .filter_map(|target| self.state(&target).map(|state| (target, state)))
                .collect();
            let _ = asking.send(Update::Changed(changed));
        }
    }
}
