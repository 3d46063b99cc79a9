//! Everything the server knows: objects by resource and key, the events that led there, and what
//! is to be done later. Nothing in here waits or reads a clock; time is what callers say it is.

mod agenda;
mod backup;
mod history;
mod object;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

pub(crate) use agenda::{Agenda, Look};
pub use backup::Backup;
pub(crate) use history::{Change, Event, History};
pub(crate) use object::{Form, Key, Mould, Object};

use crate::clock::Clock;
use crate::kinds::{Kind, resource_id};
use crate::settings::Settings;
use crate::streams::Streams;

/// One resource with its objects.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) kind: Arc<Kind>,
    pub(crate) objects: BTreeMap<Key, Arc<Object>>,
    pub(crate) history: History,
}

/// Where an object is: resource id and key.
pub(crate) type Place = (Arc<str>, Key);

#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) settings: Settings,
    pub(crate) clock: Clock,
    /// The time of whatever is being done.
    pub(crate) now: Instant,
    pub(crate) resources: BTreeMap<Arc<str>, Resource>,
    pub(crate) agenda: Agenda,
    pub(crate) streams: Streams,
    /// Instants that controllers remember about an object, by uid and name.
    pub(crate) marks: HashMap<(Arc<str>, &'static str), Instant>,
    /// Custom resources whose next LIST or WATCH meets a storage that is being made.
    pub(crate) unready: BTreeSet<Arc<str>>,
    /// The generation of each CRD that is served.
    pub(crate) served: BTreeMap<Arc<str>, i64>,
    version: u64,
    uids: u64,
    owned: HashMap<Box<str>, BTreeSet<Place>>,
    by_uid: HashMap<Arc<str>, Place>,
    changed: watch::Sender<u64>,
}

impl Store {
    pub(crate) fn new(settings: Settings, changed: watch::Sender<u64>) -> Self {
        let clock = Clock::new(settings.epoch);
        let mut store = Self {
            now: Instant::now(),
            clock,
            resources: BTreeMap::new(),
            agenda: Agenda::default(),
            streams: Streams::default(),
            marks: HashMap::new(),
            unready: BTreeSet::new(),
            served: BTreeMap::new(),
            version: 0,
            uids: settings.seed,
            owned: HashMap::new(),
            by_uid: HashMap::new(),
            settings,
            changed,
        };
        for kind in crate::kinds::builtin() {
            store.serve(kind);
        }
        store
    }

    /// Adds a resource, or changes how it is served; its objects stay.
    pub(crate) fn serve(&mut self, kind: Kind) {
        let kind = Arc::new(kind);
        let since = self.version;
        let limit = self.settings.history;
        self.resources
            .entry(kind.id.clone())
            .and_modify(|resource| resource.kind = kind.clone())
            .or_insert_with(|| Resource {
                kind,
                objects: BTreeMap::new(),
                history: History::new(since, limit),
            });
    }

    /// The newest version that anything has.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// A new version.
    pub(crate) fn next_version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    /// A uid that no object had yet; the same ones in each run with the same seed.
    pub(crate) fn next_uid(&mut self) -> Arc<str> {
        self.uids = self.uids.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let (high, low) = (mix(self.uids), mix(self.uids ^ 0x5555_5555_5555_5555));
        format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            low >> 48 & 0xfff,
            low & 0xffff_ffff_ffff
        )
        .into()
    }

    /// The present time as objects tell it.
    pub(crate) fn stamp(&self) -> String {
        self.clock.stamp(self.now)
    }

    pub(crate) fn kind(&self, resource: &str) -> Option<Arc<Kind>> {
        self.resources.get(resource).map(|resource| resource.kind.clone())
    }

    /// The resource of a kind given by `apiVersion` and `kind`.
    pub(crate) fn kind_of(&self, api_version: &str, kind: &str) -> Option<Arc<Kind>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let mut kinds = self.resources.values().map(|resource| &resource.kind);
        kinds.find(|known| *known.group == *group && *known.kind == *kind && known.serves(version)).cloned()
    }

    pub(crate) fn get(&self, resource: &str, key: &Key) -> Option<&Arc<Object>> {
        self.resources.get(resource)?.objects.get(key)
    }

    /// The object as a tree that names its kind in the preferred version.
    pub(crate) fn value(&self, resource: &str, key: &Key) -> Option<Value> {
        let resource = self.resources.get(resource)?;
        Some(resource.objects.get(key)?.whole(&resource.kind, resource.kind.preferred()))
    }

    pub(crate) fn by_uid(&self, uid: &str) -> Option<&Place> {
        self.by_uid.get(uid)
    }

    /// Objects that name `uid` as an owner.
    pub(crate) fn owned_by(&self, uid: &str) -> Vec<Place> {
        self.owned.get(uid).into_iter().flatten().cloned().collect()
    }

    /// Objects of `resource` that name `uid` as an owner, in order of their names.
    pub(crate) fn children(&self, uid: &str, resource: &str) -> Vec<(Key, Value)> {
        let places = self.owned.get(uid).into_iter().flatten().filter(|(of, _)| **of == *resource);
        places.filter_map(|(of, key)| Some((key.clone(), self.get(of, key)?.value()))).collect()
    }

    /// Stores an object under a new version and tells everybody.
    pub(crate) fn put(&mut self, resource: &str, mut value: Value) -> Option<Arc<Object>> {
        let version = self.next_version();
        value["metadata"]["resourceVersion"] = version.to_string().into();
        let object = Arc::new(Object::new(&mut value));
        let id = self.insert(resource, object.clone())?;
        let place = (id, object.key.clone());
        for owner in &*object.owners {
            self.owned.entry(owner.clone()).or_default().insert(place.clone());
        }
        self.by_uid.insert(object.uid.clone(), place.clone());
        self.soon(&place.0, &place.1);
        self.look_at_owners(&object);
        self.tell();
        Some(object)
    }

    /// Stores one of very many like objects, which no controller looks at.
    pub(crate) fn put_foreign(&mut self, resource: &str, object: Object) {
        self.insert(resource, Arc::new(object));
    }

    fn insert(&mut self, resource: &str, object: Arc<Object>) -> Option<Arc<str>> {
        let entry = self.resources.get_mut(resource)?;
        let previous = entry.objects.insert(object.key.clone(), object.clone());
        let id = entry.kind.id.clone();
        let change = if previous.is_some() { Change::Modified } else { Change::Added };
        entry.history.push(Event { version: object.version, change, object, previous: previous.clone() });
        if let Some(previous) = previous {
            self.forget_owners(&id, &previous);
        }
        Some(id)
    }

    /// Takes an object away and tells everybody.
    pub(crate) fn remove(&mut self, resource: &str, key: &Key) -> Option<Arc<Object>> {
        let previous = self.resources.get_mut(resource)?.objects.remove(key)?;
        let version = self.next_version();
        let entry = self.resources.get_mut(resource)?;
        let last = Arc::new(previous.under_version(version));
        let id = entry.kind.id.clone();
        entry.history.push(Event {
            version,
            change: Change::Deleted,
            object: last.clone(),
            previous: Some(previous.clone()),
        });
        self.forget_owners(&id, &previous);
        self.by_uid.remove(&previous.uid);
        self.marks.retain(|(uid, _), _| *uid != previous.uid);
        for (resource, key) in self.owned_by(&previous.uid) {
            self.soon(&resource, &key);
        }
        self.look_at_owners(&previous);
        self.tell();
        Some(last)
    }

    fn forget_owners(&mut self, id: &Arc<str>, object: &Object) {
        for owner in &*object.owners {
            if let Some(places) = self.owned.get_mut(owner) {
                places.remove(&(id.clone(), object.key.clone()));
                if places.is_empty() {
                    self.owned.remove(owner);
                }
            }
        }
    }

    fn look_at_owners(&mut self, object: &Object) {
        for owner in &*object.owners {
            if let Some((resource, key)) = self.by_uid.get(&**owner).cloned() {
                self.soon(&resource, &key);
            }
        }
    }

    /// Has a controller look at an object after the usual latency.
    pub(crate) fn soon(&mut self, resource: &str, key: &Key) {
        self.look_at(self.now + self.settings.step, resource, key);
    }

    /// Has a controller look at an object at some time.
    pub(crate) fn look_at(&mut self, at: Instant, resource: &str, key: &Key) {
        self.agenda.add(at, Look { resource: resource.into(), key: key.clone() });
    }

    /// Remembers the present time about an object, unless one was remembered before.
    pub(crate) fn mark(&mut self, uid: &str, name: &'static str) -> Instant {
        let now = self.now;
        *self.marks.entry((uid.into(), name)).or_insert(now)
    }

    /// Remembers the present time about an object in place of an earlier one.
    pub(crate) fn mark_anew(&mut self, uid: &str, name: &'static str) {
        self.marks.insert((uid.into(), name), self.now);
    }

    pub(crate) fn marked(&self, uid: &str, name: &'static str) -> Option<Instant> {
        self.marks.get(&(Arc::from(uid), name)).copied()
    }

    /// Wakes everything that waits for news.
    pub(crate) fn tell(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// Older versions can be neither watched nor listed from now on; watches that are open go on.
    pub(crate) fn compact(&mut self) {
        let version = self.version;
        self.resources.values_mut().for_each(|resource| resource.history.refuse_before(version));
    }

    /// Looks for `name` in a namespace of a resource given by group and plural.
    pub(crate) fn find(&self, group: &str, plural: &str, namespace: &str, name: &str) -> Option<Value> {
        self.value(&resource_id(group, plural), &Key::new(namespace, name))
    }

    /// The namespace's state, when there is such a namespace.
    pub(crate) fn namespace_terminating(&self, name: &str) -> Option<bool> {
        Some(self.get("namespaces", &Key::new("", name))?.terminating)
    }
}

/// Spreads the bits of a counter (splitmix64).
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}
