//! Events about targets and what they generated: which watches show them.

use std::sync::Arc;

use kstatus::{Digest, EventNote, Uid};

use crate::cluster::Scope;
use crate::id::{GroupKind, ObjectId};
use crate::watch::scope::{Means, Width};
use crate::watch::wanted::Interest;

use super::{Key, Lease, Listening, Task, Watched};

impl Task {
    /// Observes the events of the target's namespace, or no longer. Whoever may not see them does
    /// without: that is no gap.
    pub(super) fn events(&mut self, subscriber: u32, target: &ObjectId, wanted: bool) {
        let Some(watched) = self.targets.get_mut(target) else { return };
        if !wanted {
            let Some(listening) = &mut watched.events else { return };
            listening.who.retain(|other| *other != subscriber);
            if listening.who.is_empty()
                && let Some(lease) = watched.events.take().and_then(|listening| listening.lease)
            {
                self.release(lease.key);
            }
            return;
        }
        if let Some(listening) = &mut watched.events {
            if !listening.who.contains(&subscriber) {
                listening.who.push(subscriber);
            }
            return;
        }
        let means = Means::Watch(match (watched.width, target.namespace()) {
            (Width::Cluster, _) => Scope::Cluster,
            // Events about objects of no namespace stand there.
            (Width::Fitting | Width::Namespaces, "") => Scope::Namespace("default".into()),
            (Width::Fitting | Width::Namespaces, namespace) => Scope::Namespace(namespace.into()),
        });
        let interest = Interest { notes: true, ..Interest::default() };
        let resource = self.cluster.resource(&GroupKind::new("", "Event"), Some("v1"));
        let lease = resource.map(|resource| self.lease(&resource, means, &interest, 1));
        if let Some(watched) = self.targets.get_mut(target) {
            watched.events = Some(Box::new(Listening { who: vec![subscriber], lease }));
        }
        self.mark(target);
    }

    /// What is known about these; `None` while nobody asked or it is not known yet.
    pub(super) fn events_about(&self, watched: &Watched, children: &[Arc<Digest>]) -> Option<Vec<EventNote>> {
        let listening = watched.events.as_ref()?;
        let Some(lease) = &listening.lease else { return Some(Vec::new()) };
        let family = watched.uid.into_iter().chain(children.iter().filter_map(|child| child.uid()));
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
