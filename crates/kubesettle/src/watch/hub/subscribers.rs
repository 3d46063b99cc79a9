//! Who wants what.

use std::sync::Arc;

use kstatus::Uid;

use crate::id::ObjectId;
use crate::watch::scope::Width;
use crate::watch::slab::Place;
use crate::watch::{Target, TargetState};

use super::{Bits, Look, Subscriber, Sync, Task, Watched};

impl Task {
    pub(super) fn subscribe(
        &mut self,
        id: u32,
        targets: Vec<Target>,
        width: Width,
        labels: Option<Arc<str>>,
    ) {
        let subscriber = Subscriber {
            targets: Bits::default(),
            width,
            labels,
            dirty: Bits::default(),
            gaps: Vec::new(),
            sync: Sync::Pending,
            silent: None,
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
            let look = self.looks.share(Look { version, width, labels: labels.clone() });
            let (target, is_fresh) = self.targets.admit(target, look);
            if is_fresh {
                fresh.push(target);
            }
            if subscriber.targets.insert(target) {
                new.push(target);
            }
        }
        self.open(fresh);
        new.into_iter().for_each(|target| self.mark(target));
        self.check_sync();
    }

    /// Takes these targets from a subscriber.
    pub(super) fn unwant(&mut self, id: u32, targets: &[ObjectId]) {
        let Some(subscriber) = self.subscribers.get_mut(&id) else { return };
        let mut gone = Vec::new();
        for target in targets {
            if let Some(target) = self.targets.find_id(target)
                && subscriber.targets.remove(target)
            {
                subscriber.dirty.remove(target);
                gone.push(target);
            }
        }
        gone.into_iter().for_each(|target| self.let_go(id, target));
        self.targets.trim();
        self.check_sync();
    }

    pub(super) fn depart(&mut self, id: u32) {
        let Some(subscriber) = self.subscribers.remove(&id) else { return };
        subscriber.targets.iter().for_each(|target| self.let_go(id, target));
        self.targets.trim();
    }

    fn let_go(&mut self, id: u32, target: Place) {
        self.children(id, target, false);
        self.events(id, target, false);
        if self.subscribers.values().any(|subscriber| subscriber.targets.contains(target)) {
            return;
        }
        let uid = self.targets.set_uid(target, None);
        let Some(watched) = self.targets.remove(target) else { return };
        if let Some(uid) = uid {
            self.disown(uid);
        }
        if let Some(key) = watched.key() {
            self.release(key);
            self.forget(key, &watched, uid);
        }
    }

    /// Keeps nothing of a target that nobody wants. A key that closes anyway keeps all it has until
    /// then: the next user need not list again.
    fn forget(&mut self, key: u32, Watched { id, .. }: &Watched, uid: Option<Uid>) {
        let Some(used) = self.keys.get(&key).filter(|used| used.leases > 0) else { return };
        used.interest.send_if_modified(|interest| interest.drop_name(id.namespace(), id.name()));
        // What a child explains may need it still.
        if used.interest.borrow().generated_by.is_empty()
            && let Some(uid) = uid
        {
            self.store.remove(key, uid);
        }
    }

    pub(super) fn snapshot(&self, id: u32) -> Vec<(ObjectId, TargetState)> {
        let Some(subscriber) = self.subscribers.get(&id) else { return Vec::new() };
        subscriber.targets.iter().filter_map(|target| self.state(target)).collect()
    }
}
