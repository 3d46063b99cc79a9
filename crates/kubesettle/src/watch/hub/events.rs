//! Events about targets and what they generated: which watches show them.

use std::sync::Arc;

use kstatus::{Digest, EventNote, Uid};

use crate::cluster::Scope;
use crate::id::GroupKind;
use crate::watch::scope::{Means, Width};
use crate::watch::slab::Place;
use crate::watch::wanted::Interest;

use super::targets::{Unsettled, Watched};
use super::{Key, Lease, Task};

impl Task {
    /// Observes the events of the target's namespace, or no longer. Whoever may not see them does
    /// without: that is no gap.
    pub(super) fn events(&mut self, subscriber: u32, target: Place, wanted: bool) {
        if !wanted {
            let is_last = |of: &mut Unsettled| {
                of.listeners.retain(|other| *other != subscriber);
                of.events.take_if(|_| of.listeners.is_empty())
            };
            let listens = self.targets.unsettled(target).is_some();
            let lease = listens.then(|| self.targets.unsettle(target, is_last)).flatten().flatten();
            lease.into_iter().for_each(|lease| self.release(lease.key));
            return;
        }
        let is_first = self.targets.unsettle(target, |of| {
            let first = of.listeners.is_empty();
            if !of.listeners.contains(&subscriber) {
                of.listeners.push(subscriber);
            }
            first
        });
        let Some(watched) = self.targets.get(target).filter(|_| is_first == Some(true)) else { return };
        let means = Means::Watch(match (watched.look.width, watched.id.namespace()) {
            (Width::Cluster, _) => Scope::Cluster,
            // Events about objects of no namespace stand there.
            (Width::Fitting | Width::Namespaces, "") => Scope::Namespace("default".into()),
            (Width::Fitting | Width::Namespaces, namespace) => Scope::Namespace(namespace.into()),
        });
        let interest = Interest { notes: true, ..Interest::default() };
        let resource = self.cluster.resource(&GroupKind::new("", "Event"), Some("v1"));
        let lease = resource.map(|resource| self.lease(&resource, means, &interest, 1));
        self.targets.unsettle(target, |of| of.events = lease);
        self.mark(target);
    }

    /// What is known about these; `None` while nobody asked or it is not known yet.
    pub(super) fn events_about(
        &self,
        watched: &Watched,
        unsettled: &Unsettled,
        children: &[Arc<Digest>],
    ) -> Option<Vec<EventNote>> {
        if unsettled.listeners.is_empty() {
            return None;
        }
        let Some(lease) = &unsettled.events else { return Some(Vec::new()) };
        let family = watched.uid().into_iter().chain(children.iter().filter_map(|child| child.uid()));
        self.is_known(lease).then(|| self.notes.about(lease.key, family))
    }

    /// True when all that the lease asked for has been told, or will not be.
    pub(super) fn is_known(&self, lease: &Lease) -> bool {
        let known = |key: &Key| key.synced >= lease.serial || key.stopped.is_some();
        self.keys.get(&lease.key).is_none_or(known)
    }

    /// Takes an event, and tells those whom it concerns.
    pub(super) fn note(&mut self, key: u32, event: Uid, note: EventNote) {
        let (Some(about), Some(epoch)) = (note.about, self.keys.get(&key).map(|key| key.epoch)) else {
            return;
        };
        if self.notes.put(key, epoch, event, note) {
            self.touch_uid(about);
        }
    }
}
