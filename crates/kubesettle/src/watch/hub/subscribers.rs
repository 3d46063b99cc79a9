//! Who wants what.

use std::collections::HashSet;
use std::sync::Arc;

use kstatus::Uid;

use crate::id::ObjectId;
use crate::watch::scope::Width;
use crate::watch::{Target, TargetState};

use super::{Subscriber, Sync, Task, Watched};

impl Task {
    pub(super) fn subscribe(
        &mut self,
        id: u32,
        targets: Vec<Target>,
        width: Width,
        labels: Option<Arc<str>>,
    ) {
        let subscriber = Subscriber {
            targets: HashSet::new(),
            width,
            labels,
            dirty: Vec::new(),
            is_dirty: HashSet::new(),
            gaps: Vec::new(),
            sync: Sync::Pending,
            asking: None,
        };
        self.subscribers.insert(id, subscriber);
        self.want(id, targets);
    }

    /// Lets a subscriber have these targets too; it is synced when the state of all is known.
    pub(super) fn want(&mut self, id: u32, targets: Vec<Target>) {
        let Some(subscriber) = self.subscribers.get_mut(&id) else { return };
        subscriber.sync = Sync::Pending;
        let (width, labels) = (subscriber.width, subscriber.labels.clone());
        let (mut fresh, mut new) = (Vec::new(), Vec::new());
        for Target { id: target, version } in targets {
            if !subscriber.targets.insert(target.clone()) {
                continue;
            }
            let entry = self.targets.entry(target.clone()).or_insert_with(|| {
                fresh.push(target.clone());
                Box::new(Watched {
                    version,
                    width,
                    labels: labels.clone(),
                    key: None,
                    serial: 0,
                    doubt: None,
                    uid: None,
                    marks: None,
                    last: None,
                    subscribers: Vec::new(),
                    curious: HashSet::new(),
                    child_keys: Vec::new(),
                    next_child: None,
                    events: None,
                })
            });
            entry.subscribers.push(id);
            new.push(target);
        }
        self.open(fresh);
        new.iter().for_each(|target| self.mark(target));
        self.check_sync();
    }

    /// Takes these targets from a subscriber.
    pub(super) fn unwant(&mut self, id: u32, targets: &[ObjectId]) {
        let Some(subscriber) = self.subscribers.get_mut(&id) else { return };
        let mut gone = Vec::new();
        for target in targets {
            if subscriber.targets.remove(target) {
                if subscriber.is_dirty.remove(target) {
                    subscriber.dirty.retain(|dirty| dirty != target);
                }
                gone.push(target);
            }
        }
        gone.into_iter().for_each(|target| self.let_go(id, target));
        self.check_sync();
    }

    pub(super) fn depart(&mut self, id: u32) {
        let Some(subscriber) = self.subscribers.remove(&id) else { return };
        subscriber.targets.iter().for_each(|target| self.let_go(id, target));
    }

    fn let_go(&mut self, id: u32, target: &ObjectId) {
        let Some(watched) = self.targets.get_mut(target) else { return };
        watched.subscribers.retain(|other| *other != id);
        self.children(id, target, false);
        self.events(id, target, false);
        if self.targets.get(target).is_none_or(|watched| !watched.subscribers.is_empty()) {
            return;
        }
        let Some(watched) = self.targets.remove(target) else { return };
        let Watched { uid, key, .. } = *watched;
        if let Some(uid) = uid {
            self.target_of.remove(uid, target);
            self.disown(uid);
        }
        if let Some(key) = key {
            self.release(key);
            self.forget(key, target, uid);
        }
    }

    /// Keeps nothing of a target that nobody wants. A key that closes anyway keeps all it has until
    /// then: the next user need not list again.
    fn forget(&mut self, key: u32, target: &ObjectId, uid: Option<Uid>) {
        let Some(used) = self.keys.get(&key).filter(|used| used.leases > 0) else { return };
        used.interest.send_if_modified(|interest| interest.drop_name(target.namespace(), target.name()));
        // What a child explains may need it still.
        if used.interest.borrow().generated_by.is_empty()
            && let Some(uid) = uid
        {
            self.store.remove(key, uid);
        }
    }

    pub(super) fn snapshot(&self, id: u32) -> Vec<(ObjectId, TargetState)> {
        let Some(subscriber) = self.subscribers.get(&id) else { return Vec::new() };
        let state = |target: &ObjectId| Some((target.clone(), self.state(target)?));
        subscriber.targets.iter().filter_map(state).collect()
    }
}
