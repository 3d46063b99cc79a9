//! Which loops run, and for whom.

use std::collections::HashMap;
use std::sync::Arc;

use kstatus::Kind;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::cluster::{Content, Resource, Scope};
use crate::error::ApiError;
use crate::id::{GroupKind, ObjectId};
use crate::watch::scope::{self, Means, Names};
use crate::watch::slab::Place;
use crate::watch::stream::Loop;
use crate::watch::wanted::Interest;

use super::targets::Unsettled;
use super::{Done, Key, KeyName, LINGER, Lease, Look, PROBE, Task, Watched, names_of};

impl Task {
    /// Finds or opens the watches that cover these targets.
    pub(super) fn open(&mut self, targets: Vec<Place>) {
        // What is watched alike.
        let mut groups: HashMap<(GroupKind, Arc<Look>), Vec<ObjectId>> = HashMap::new();
        for target in targets {
            let Some(Watched { id, look, .. }) = self.targets.get(target) else { continue };
            groups.entry((id.group_kind().clone(), look.clone())).or_default().push(id.clone());
        }
        for ((kind, look), mut targets) in groups {
            let served = self
                .cluster
                .resource(&kind, look.version.as_deref())
                .or_else(|| self.cluster.resource(&kind, None));
            // A name without a namespace is no object of a kind that has them.
            if served.as_ref().is_some_and(Resource::namespaced) {
                targets.retain(|id| !id.namespace().is_empty());
            }
            match served {
                Some(resource) if !resource.verbs().has("watch") => {
                    for (means, names) in scope::one_by_one(&names_of(&targets)) {
                        self.assign(&resource, means, &names);
                    }
                }
                Some(resource) => {
                    let open = self.open_means(&kind, resource.version());
                    for (means, names) in scope::choose(&names_of(&targets), look.width, &open) {
                        let means = match &look.labels {
                            Some(labels) => means.labelled(labels),
                            None => means,
                        };
                        self.assign(&resource, means, &names);
                    }
                }
                None => {
                    self.probe.get_or_insert((Instant::now() + PROBE.0, PROBE.0));
                }
            }
        }
    }

    /// What observes this kind already.
    fn open_means(&self, kind: &GroupKind, version: &str) -> Vec<&Means> {
        let works = |id: &u32| self.keys.get(id).is_some_and(|key| key.stopped.is_none());
        self.key_names
            .iter()
            .filter(|(name, id)| name.kind == *kind && *name.version == *version && works(id))
            .map(|(name, _)| &name.means)
            .collect()
    }

    /// Lets one key observe these names.
    pub(super) fn assign(&mut self, resource: &Resource, means: Means, names: &Names) {
        let names = names.iter().flat_map(|(of, names)| names.iter().map(move |name| (of, name)));
        let find = |(namespace, name): (&Arc<str>, &Arc<str>)| {
            self.targets.find(resource.group_kind(), namespace, name)
        };
        let covered: Vec<Place> = names.filter_map(find).collect();
        let id = |place: &Place| self.targets.get(*place).map(|watched| &watched.id);
        let names = Arc::new(covered.iter().filter_map(id).collect());
        let interest = Interest { names, ..Interest::default() };
        let lease = self.lease(resource, means, &interest, covered.len());
        for target in covered {
            if let Some(watched) = self.targets.get_mut(target) {
                watched.observe_by(Some(lease));
            }
            if self.targets.unsettled(target).is_some() {
                self.targets.unsettle(target, Unsettled::believe);
            }
        }
    }

    /// Takes leases on a key, opening it or widening its interest where needed.
    pub(super) fn lease(
        &mut self,
        resource: &Resource,
        means: Means,
        interest: &Interest,
        leases: usize,
    ) -> Lease {
        let kind = resource.group_kind().clone();
        let name = KeyName { kind, version: resource.version().into(), means };
        if !interest.generated_by.is_empty() {
            self.explain();
        }
        if let Some(id) = self.key_names.get(&name).copied()
            && let Some(key) = self.keys.get_mut(&id)
        {
            key.leases += leases;
            if key.interest.send_if_modified(|mine| mine.widen(interest)) {
                self.again.remove(&id);
            }
            let (serial, is_wide) = (key.interest.borrow().serial, key.is_wide());
            self.lingering.retain(|(_, lingering)| *lingering != id);
            if is_wide {
                self.linger(id);
            }
            return Lease { key: id, serial };
        }
        let id = self.next_id();
        let first = Interest { serial: 1, ..interest.clone() };
        let (sender, receiver) = watch::channel(first);
        let task = self.start(id, resource, &name.means, receiver);
        self.key_names.insert(name.clone(), id);
        let key = Key {
            name,
            interest: sender,
            task,
            leases,
            epoch: 0,
            synced: 0,
            asked_again: None,
            listing: false,
            version: None,
            rewinds: 0,
            rewound: false,
            gap: None,
            stopped: None,
        };
        self.keys.insert(id, key);
        Lease { key: id, serial: 1 }
    }

    pub(super) fn start(
        &mut self,
        key: u32,
        resource: &Resource,
        means: &Means,
        interest: watch::Receiver<Interest>,
    ) -> AbortHandle {
        let api_version = match resource.group() {
            "" => resource.version().to_owned(),
            group => format!("{group}/{}", resource.version()),
        };
        let kind = Kind::new(&api_version, resource.kind());
        let content = if self.rules.metadata_suffices(&kind) { Content::MetadataOnly } else { Content::Full };
        let scope = match means {
            Means::Watch(scope) => scope.clone(),
            Means::Poll(namespace) => Scope::Namespace(namespace.clone()),
        };
        let task = Loop {
            key,
            cluster: self.cluster.clone(),
            rules: self.rules.clone(),
            resource: resource.clone(),
            kind,
            scope,
            content,
            interest,
            owners: self.owners.subscribe(),
            hub: self.to_hub.clone(),
        };
        let streaming = !self.no_streaming.contains(resource.group_kind());
        let poll = matches!(means, Means::Poll(_));
        self.tasks.spawn(async move {
            if poll {
                task.poll().await;
            } else {
                task.run(streaming).await;
            }
            Done::Loop
        })
    }

    pub(super) fn release(&mut self, id: u32) {
        let Some(key) = self.keys.get_mut(&id) else { return };
        key.leases = key.leases.saturating_sub(1);
        if key.leases == 0 || key.is_wide() {
            self.linger(id);
        }
    }

    /// In a while it is to be seen what of a key nobody needs any more.
    fn linger(&mut self, id: u32) {
        self.lingering.retain(|(_, lingering)| *lingering != id);
        self.lingering.push((Instant::now() + LINGER, id));
    }

    pub(super) fn close_lingering(&mut self) {
        let now = Instant::now();
        let (due, rest) = std::mem::take(&mut self.lingering).into_iter().partition(|(at, _)| *at <= now);
        self.lingering = rest;
        let due: Vec<(Instant, u32)> = due;
        for (_, id) in due {
            match self.keys.get(&id) {
                Some(key) if key.leases > 0 => self.narrow(id),
                _ => self.close(id),
            }
        }
    }

    /// Lets a key that is still in use forget what it was widened for, if nobody looks any more.
    fn narrow(&mut self, id: u32) {
        let Some(key) = self.keys.get(&id) else { return };
        let used = |so: fn(&Unsettled, u32) -> bool| self.targets.all_unsettled().any(|(_, of)| so(of, id));
        let generated = key.is_generated() && !used(Unsettled::looks_into);
        let notes = key.interest.borrow().notes && !used(Unsettled::listens_to);
        if generated || notes {
            key.interest.send_modify(|interest| interest.narrow(generated, notes));
        }
        if notes {
            self.notes.drop_key(id);
        }
        if generated {
            self.again.remove(&id);
            self.store.clear_strangers(id);
            for digest in self.store.of_key(id) {
                if let Some(uid) = digest.uid().filter(|_| !self.is_named(id, &digest)) {
                    self.store.remove(id, uid);
                    self.touch(&digest);
                    self.disown(uid);
                }
            }
            self.store.trim();
            self.end_explaining();
        }
    }

    pub(super) fn close(&mut self, id: u32) {
        let Some(key) = self.keys.remove(&id) else { return };
        key.task.abort();
        self.key_names.remove(&key.name);
        self.lingering.retain(|(_, lingering)| *lingering != id);
        self.again.remove(&id);
        self.notes.drop_key(id);
        for digest in self.store.drop_key(id) {
            self.touch(&digest);
            digest.uid().into_iter().for_each(|uid| self.disown(uid));
        }
        self.store.trim();
        self.end_explaining();
    }

    pub(super) fn start_probe(&mut self) {
        self.probing = true;
        let cluster = self.cluster.clone();
        self.tasks.spawn(async move { Done::Probe(cluster.refresh_discovery().await) });
    }

    pub(super) fn probed(&mut self, result: &Result<(), ApiError>) {
        self.probing = false;
        if let Err(error) = result {
            tracing::debug!(%error, "discovery failed");
        }
        let unserved = self.targets.iter().filter(|(_, watched)| watched.key().is_none());
        let unserved: Vec<Place> = unserved.map(|(target, _)| target).collect();
        let pause = self.probe.take().map_or(PROBE.0, |(_, pause)| (pause * 2).min(PROBE.1));
        if unserved.is_empty() {
            return;
        }
        self.open(unserved.clone());
        if result.is_ok() {
            self.confirm(&unserved);
        }
        if let Some((at, next)) = &mut self.probe {
            *at = Instant::now() + pause;
            *next = pause;
        }
    }

    /// Discovery has answered: what has no watch is of a kind that is not served.
    fn confirm(&mut self, unserved: &[Place]) {
        for target in unserved.iter().copied() {
            let still = self.targets.get(target).is_some_and(|watched| watched.key().is_none());
            let doubted = still && self.targets.unsettled(target).is_some();
            if doubted && self.targets.unsettle(target, Unsettled::believe) == Some(true) {
                self.mark(target);
            }
        }
    }
}
