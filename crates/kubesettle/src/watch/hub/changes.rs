//! What the loops tell.

use std::sync::Arc;

use kstatus::Digest;

use crate::error::{ApiError, ErrorClass};
use crate::id::{GroupKind, ObjectId};
use crate::watch::machine::older;
use crate::watch::slab::Place;
use crate::watch::stream::{Batch, Change};
use crate::watch::{Gap, Marks};

use super::targets::Unsettled;
use super::{Look, Task, namespace_of, number};

impl Task {
    pub(super) fn batch(&mut self, batch: Batch) {
        let id = batch.key;
        let mut marks = None;
        for change in batch.changes {
            // A batch of a key that was closed meanwhile has nobody to tell.
            let Some(key) = self.keys.get_mut(&id) else { return };
            match change {
                Change::Begin => {
                    key.epoch += 1;
                    self.store.clear_strangers(id);
                    key.listing = true;
                    key.rewound = false;
                }
                Change::Rewound => key.rewound = true,
                Change::Marks(read) => marks = Some(self.marks.share(*read)),
                // On its way when it was dropped.
                Change::Upsert(digest) if !key.is_wide() && !key.names(&digest) => marks = None,
                Change::Upsert(digest) => {
                    let epoch = key.epoch;
                    let kind = key.name.kind.clone();
                    let listed = key.listing;
                    if key.synced > 0 && !listed {
                        key.version = key.version.max(number(digest.resource_version()));
                    }
                    if listed && self.store.is_ahead_of(id, &digest) {
                        key.rewound = true;
                    }
                    if !self.identify(id, &kind, &digest, marks.take(), listed) {
                        continue;
                    }
                    if self.store.upsert(id, epoch, digest.clone(), listed) {
                        self.adopt(id, &digest);
                        self.touch(&digest);
                    }
                }
                Change::Stranger { uid, owner } => self.stranger(id, uid, owner),
                Change::Gone { uid, owner } => {
                    if let Some(owner) = owner {
                        self.store.remove_stranger(id, owner, uid);
                    }
                    if let Some(digest) = self.store.remove(id, uid) {
                        self.note_last(&digest);
                        self.touch(&digest);
                        self.disown(uid);
                    } else if let Some(about) = self.notes.remove(id, uid) {
                        self.touch_uid(about);
                    }
                }
                Change::Note(event, note) => self.note(id, event, *note),
                // A list tells anew how far the server is.
                Change::Version(version) if key.listing => key.version = number(&version),
                Change::Version(version) => key.version = key.version.max(number(&version)),
                Change::Synced(serial) => self.synced(id, serial),
                Change::Gap(error) => self.gap(id, error),
                Change::Contact => {
                    if key.gap.take().is_some() {
                        self.mark_key(id);
                    }
                }
                Change::Unlabelled { namespace, name } => {
                    let target = ObjectId::new(key.name.kind.clone(), &namespace, &name);
                    self.unlabelled(id, &target);
                }
                Change::Unreadable { namespace, name, why } => {
                    let target = ObjectId::new(key.name.kind.clone(), &namespace, &name);
                    self.cannot_be_read(id, &target, why);
                }
                Change::PassedOver(reason) => {
                    let (kind, namespace) = (key.name.kind.clone(), namespace_of(&key.name.means));
                    self.tell_gap(id, &Gap { kind, namespace, reason });
                }
                Change::NoStreaming => {
                    self.no_streaming.insert(key.name.kind.clone());
                }
                Change::Stopped(error) => self.stopped(id, error),
            }
        }
    }

    /// Notes which life of a target this object is; false for one that was followed by the one that is
    /// known, when a server repeats what it has told.
    pub(super) fn identify(
        &mut self,
        key: u32,
        kind: &GroupKind,
        digest: &Digest,
        marks: Option<Arc<Marks>>,
        listed: bool,
    ) -> bool {
        let Some(uid) = digest.uid() else { return true };
        let found = self.targets.find(kind, digest.namespace().unwrap_or_default(), digest.name());
        let Some(target) = found else { return true };
        let Some(watched) = self.targets.get(target).filter(|watched| watched.key() == Some(key)) else {
            return true;
        };
        if let Some(known) = watched.uid().filter(|known| *known != uid && !listed) {
            let last = || self.targets.unsettled(target).and_then(|of| of.last.as_ref());
            if self.store.get(known).or_else(last).is_some_and(|known| was_before(digest, known)) {
                return false;
            }
        }
        // While it is being deleted an object says nothing else any more.
        let before = self.store.get(uid).filter(|before| digest.deleting() && !before.deleting()).cloned();
        if before.is_some() || self.targets.unsettled(target).is_some() {
            self.targets.unsettle(target, |of| {
                of.believe();
                if before.is_some() || !digest.deleting() {
                    of.last = before;
                }
            });
        }
        if let Some(watched) = self.targets.get_mut(target).filter(|watched| watched.marks != marks) {
            watched.marks = marks;
        }
        let before = self.targets.set_uid(target, Some(uid));
        if before != Some(uid) {
            before.into_iter().for_each(|before| self.disown(before));
            if self.explaining && self.rules.generates(digest.kind()) {
                self.own(uid);
            }
        }
        true
    }

    /// A target has lost the labels that it was looked for by: it is followed by its name.
    fn unlabelled(&mut self, key: u32, target: &ObjectId) {
        let Some(target) = self.targets.find_id(target) else { return };
        let Some(watched) = self.targets.get_mut(target).filter(|watched| watched.key() == Some(key)) else {
            return;
        };
        watched.look = self.looks.share(Look { labels: None, ..(*watched.look).clone() });
        let (id, uid) = (watched.id.clone(), watched.uid());
        if let Some(used) = self.keys.get(&key) {
            used.interest.send_if_modified(|interest| interest.drop_name(id.namespace(), id.name()));
        }
        if let Some(uid) = uid {
            self.store.remove(key, uid);
        }
        self.open(vec![target]);
        self.release(key);
        self.mark(target);
    }

    /// There is such an object, and no more is known.
    fn cannot_be_read(&mut self, key: u32, target: &ObjectId, why: Box<str>) {
        let Some(epoch) = self.keys.get(&key).map(|key| key.epoch) else { return };
        let Some(target) = self.targets.find_id(target) else { return };
        if self.targets.get(target).is_none_or(|watched| watched.key() != Some(key)) {
            return;
        }
        self.targets.unsettle(target, |of| {
            of.doubt = Some(Arc::new(ApiError::local(ErrorClass::Protocol, why)));
            of.unreadable = Some(epoch);
        });
        self.mark(target);
    }

    /// Ends the doubts that the whole state, as it has just been told, did not confirm.
    fn end_doubts(&mut self, key: u32, epoch: u32) {
        let of_key = |place: Place| self.targets.get(place).is_some_and(|of| of.key() == Some(key));
        let doubted = self
            .targets
            .all_unsettled()
            .filter(|(place, of)| of.unreadable.is_some_and(|seen| seen != epoch) && of_key(*place));
        let ended: Vec<Place> = doubted.map(|(place, _)| place).collect();
        for target in ended {
            self.targets.unsettle(target, Unsettled::believe);
        }
    }

    pub(super) fn synced(&mut self, id: u32, serial: u64) {
        let Some(key) = self.keys.get_mut(&id) else { return };
        key.synced = serial;
        key.listing = false;
        key.rewinds += u32::from(std::mem::take(&mut key.rewound));
        key.gap = None;
        key.stopped = None;
        if self.trials.get(&id).is_some_and(|trial| trial.serial <= serial) {
            self.granted(id);
        }
        let Some(key) = self.keys.get(&id) else { return };
        let epoch = key.epoch;
        self.refused.remove(&key.name.kind);
        self.end_doubts(id, epoch);
        self.notes.sweep(id, epoch);
        for digest in self.store.sweep(id, epoch) {
            self.touch(&digest);
            digest.uid().into_iter().for_each(|uid| self.disown(uid));
        }
        self.store.trim();
        self.targets.trim();
        self.go_on(id);
        self.mark_key(id);
        self.check_sync();
    }

    pub(super) fn gap(&mut self, id: u32, error: ApiError) {
        let Some(key) = self.keys.get_mut(&id) else { return };
        let gap = Gap {
            kind: key.name.kind.clone(),
            namespace: namespace_of(&key.name.means),
            reason: format!("contact is lost and sought again: {error}").into(),
        };
        key.gap = Some(Arc::new(error));
        self.tell_gap(id, &gap);
        self.go_on(id);
        self.mark_key(id);
        self.check_sync();
    }

    /// Finds the targets of a key among the objects that it holds already.
    pub(super) fn identify_all(&mut self, id: u32) {
        let Some(kind) = self.keys.get(&id).map(|key| key.name.kind.clone()) else { return };
        for digest in self.store.of_key(id) {
            let found = self.targets.find(&kind, digest.namespace().unwrap_or_default(), digest.name());
            let marks = found.and_then(|target| self.targets.get(target)?.marks.clone());
            self.identify(id, &kind, &digest, marks, true);
        }
    }

    /// Keeps the last state of a target that is gone, if none from before its deletion is known.
    fn note_last(&mut self, digest: &Arc<Digest>) {
        let Some(uid) = digest.uid() else { return };
        let targets: Vec<Place> = self.targets.of_uid(uid).collect();
        for target in targets {
            self.targets.unsettle(target, |of| of.last = of.last.take().or_else(|| Some(digest.clone())));
        }
    }
}

/// By the time of creation, which has no more than seconds, and then by the version.
fn was_before(one: &Digest, other: &Digest) -> bool {
    match (one.created(), other.created()) {
        (Some(one), Some(other)) if one != other => one < other,
        _ => older(one.resource_version(), other.resource_version()),
    }
}
