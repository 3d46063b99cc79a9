//! What a user may not watch is watched more narrowly; what was denied is tried again now and then.

use std::sync::Arc;

use tokio::time::Instant;

use crate::cluster::Scope;
use crate::error::{ApiError, ErrorClass};
use crate::id::ObjectId;
use crate::watch::scope::{self, Means};
use crate::watch::wanted::Interest;
use crate::watch::{Gap, Presence};

use super::targets::Unsettled;
use super::{Key, KeyName, Lease, PROBE, RETRY_DENIED, Task, names_of, namespace_of};

/// A denied look that is tried again, and the serial of the interest that covers its targets.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) denied: Denied,
    pub(super) serial: u64,
}

/// A look that was denied, with the targets that it would have covered.
#[derive(Debug, Clone)]
pub(super) struct Denied {
    pub(super) name: KeyName,
    pub(super) targets: Vec<ObjectId>,
}

impl Task {
    /// A loop gave up: its kind is gone, or a narrower look is needed.
    pub(super) fn stopped(&mut self, id: u32, error: ApiError) {
        let Some(key) = self.keys.get(&id) else { return };
        let name = key.name.clone();
        let places = self.targets_of(id);
        let targets: Vec<ObjectId> =
            places.iter().filter_map(|place| Some(self.targets.get(*place)?.id.clone())).collect();
        let uses = |of: &Unsettled| of.looks_into(id) || of.listens_to(id);
        let shown = targets.is_empty() && self.targets.all_unsettled().any(|(_, of)| uses(of));
        if let Some(trial) = self.trials.remove(&id) {
            self.deny(trial.denied);
            // Somebody may have come to use it in the meantime.
            if targets.is_empty() && !shown {
                return self.close(id);
            }
        }
        // The kind is served, and this cannot be done with it.
        let not_offered = error.status == Some(405);
        if error.class == ErrorClass::NotServed && !not_offered {
            let pause = self.refused.get(&name.kind).map_or(PROBE.0, |pause| (*pause * 2).min(PROBE.1));
            self.refused.insert(name.kind.clone(), pause);
            if shown {
                let again = Denied { name, targets };
                self.denied.push((Instant::now() + pause, again));
                return self.stop(id, error);
            }
            // One server of several may be behind the others: discovery has the last word. What was
            // absent stays so whichever it is.
            let error = Arc::new(error);
            for target in places {
                let Some(watched) = self.targets.get(target) else { continue };
                let absent = matches!(self.presence(target, watched), Presence::Absent { .. });
                if let Some(watched) = self.targets.get_mut(target) {
                    watched.observe_by(None);
                }
                self.targets.unsettle(target, |of| {
                    of.believe();
                    of.doubt = (!absent).then(|| error.clone());
                });
                self.mark(target);
            }
            self.go_on(id);
            self.close(id);
            self.probe.get_or_insert((Instant::now() + pause, pause));
            self.check_sync();
            return;
        }
        let narrower = match error.class {
            ErrorClass::Forbidden => scope::narrower(&name.means, &names_of(&targets)),
            _ if not_offered && name.means.width() > 0 => scope::one_by_one(&names_of(&targets)),
            _ => Vec::new(),
        };
        let forbidden = error.class == ErrorClass::Forbidden;
        if forbidden && shown && self.look_elsewhere(id, &name, &error) {
            return;
        }
        let next = match narrower.first() {
            None if targets.is_empty() => "what was generated stays unknown",
            None => "these objects stay unknown",
            Some((Means::Watch(Scope::Name { .. }), _)) => "each object is watched by its name",
            Some((Means::Watch(_), _)) => "each namespace is watched by itself",
            Some((Means::Poll(_), _)) => "each object is asked for every few seconds",
        };
        let gap = Gap {
            kind: name.kind.clone(),
            namespace: namespace_of(&name.means),
            reason: format!("{error}; {next}").into(),
        };
        self.tell_gap(id, &gap);
        if forbidden {
            self.deny(Denied { name: name.clone(), targets: targets.clone() });
        }
        if narrower.is_empty() {
            return self.stop(id, error);
        }
        let resource = self.cluster.resource(&name.kind, Some(&name.version));
        self.close(id);
        if let Some(resource) = resource {
            for (means, names) in narrower {
                self.assign(&resource, means, &names);
            }
        }
    }

    /// Nothing can be seen through this key for the time being.
    fn stop(&mut self, id: u32, error: ApiError) {
        if let Some(key) = self.keys.get_mut(&id) {
            key.stopped = Some(Arc::new(error));
        }
        for digest in self.store.drop_key(id) {
            self.touch(&digest);
            digest.uid().into_iter().for_each(|uid| self.disown(uid));
        }
        self.go_on(id);
        self.mark_key(id);
        self.check_sync();
    }

    /// A key that shows what was generated, or events, may not be watched. True when that is not news, or
    /// when each namespace is looked into instead.
    fn look_elsewhere(&mut self, id: u32, name: &KeyName, error: &ApiError) -> bool {
        if self.keys.get(&id).is_some_and(|key| key.stopped.is_some()) {
            self.deny(Denied { name: name.clone(), targets: Vec::new() });
            return true;
        }
        let resource = self.cluster.resource(&name.kind, Some(&name.version));
        let (Means::Watch(Scope::Cluster), Some(resource)) = (&name.means, resource) else { return false };
        let reason = format!("{error}; each namespace is watched by itself").into();
        let gap = Gap { kind: name.kind.clone(), namespace: namespace_of(&name.means), reason };
        self.tell_gap(id, &gap);
        let others_do = self.look_by_namespace(id, &resource);
        if others_do {
            self.close(id);
        }
        others_do
    }

    /// Starts a loop anew that was denied and that somebody still has a lease on. Until it has told
    /// all, what it shows counts as denied. Events explain, and are done without where they are forbidden.
    fn restart(&mut self, name: &KeyName) {
        let Some(id) = self.key_names.get(name).copied() else { return };
        let resource = self.cluster.resource(&name.kind, Some(&name.version));
        let (Some(resource), Some(key)) = (resource, self.keys.get(&id)) else { return };
        let Some(why) = &key.stopped else { return };
        let done_without = why.class == ErrorClass::Forbidden && key.interest.borrow().notes;
        if key.leases == 0 || done_without {
            return;
        }
        let interest = key.interest.subscribe();
        let task = self.start(id, &resource, &name.means, interest);
        if let Some(key) = self.keys.get_mut(&id) {
            key.task = task;
        }
    }

    /// Remembers to try this look again.
    fn deny(&mut self, denied: Denied) {
        self.denied.push((Instant::now() + RETRY_DENIED, denied));
    }

    /// Tries again what was denied a while ago, for targets that somebody still wants.
    pub(super) fn retry_denied(&mut self) {
        let now = Instant::now();
        let (due, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.denied).into_iter().partition(|(at, _)| *at <= now);
        self.denied = rest;
        for (_, mut denied) in due {
            if denied.targets.is_empty() {
                self.restart(&denied.name);
                continue;
            }
            denied.targets.retain(|target| self.targets.find_id(target).is_some());
            let resource = self.cluster.resource(&denied.name.kind, Some(&denied.name.version));
            let (Some(resource), false) = (resource, denied.targets.is_empty()) else { continue };
            // The key of the first refusal may still stand, closed to all.
            if let Some(id) = self.key_names.get(&denied.name).copied()
                && self.keys.get(&id).is_some_and(|key| key.stopped.is_some())
            {
                self.key_names.remove(&denied.name);
            }
            let names = Arc::new(denied.targets.iter().collect());
            let interest = Interest { names, ..Interest::default() };
            let Lease { key, serial } =
                self.lease(&resource, denied.name.means.clone(), &interest, denied.targets.len());
            self.trials.insert(key, Trial { denied, serial });
            if self.keys.get(&key).is_some_and(|key| key.synced >= serial) {
                self.granted(key);
            }
        }
    }

    /// A look that had been denied is allowed now: its targets are observed by it from here on.
    pub(super) fn granted(&mut self, id: u32) {
        let Some(Trial { denied: Denied { name, targets }, serial }) = self.trials.remove(&id) else {
            return;
        };
        let width = name.means.width();
        for target in &targets {
            let narrower = |key: &Key| key.stopped.is_some() || key.name.means.width() < width;
            let place = self.targets.find_id(target);
            let Some((place, watched)) = place.and_then(|place| Some((place, self.targets.get_mut(place)?)))
            else {
                self.release(id);
                continue;
            };
            let before = watched.key();
            if before.and_then(|key| self.keys.get(&key)).is_some_and(|key| !narrower(key)) {
                self.release(id);
                continue;
            }
            watched.observe_by(Some(Lease { key: id, serial }));
            self.targets.set_uid(place, None);
            before.into_iter().for_each(|narrow| self.release(narrow));
        }
        self.denied.retain(|(_, denied)| {
            let done =
                !denied.targets.is_empty() && denied.targets.iter().all(|target| targets.contains(target));
            !done || denied.name.means.width() > width
        });
        self.identify_all(id);
    }
}
