//! Looks after the records of sets, outside of any run.
//!
//! What changes a record takes the lock of its set, as a run does, and every write goes to the state that
//! was read: where there is no right to leases, of a run and a repair at the same time one is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;

use super::emit::Emitter;
use super::record::{self, Lock, Locked, Record, SetOptions, Stop};
use crate::cluster::{Cluster, Content, ListPage, PlainWrite, Resource, Scope};
use crate::error::{ApiError, ErrorClass, ExitClass};
use crate::id::ObjectId;
use crate::inventory::{
    Entries, Entry, ID_LABEL, Inventory, Location, OWNING_INVENTORY, PART_OF, Wanted, items,
};

/// How long one request about a record may fail.
const BUDGET: std::time::Duration = std::time::Duration::from_secs(30);

/// The records of a cluster.
#[derive(Clone, Debug)]
pub struct Records {
    cluster: Cluster,
    resource: Resource,
    manager: String,
}

/// Why nothing was done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RecordError {
    /// How a command ends with it.
    pub class: ExitClass,
    /// What stood in the way.
    pub message: String,
}

impl From<Stop> for RecordError {
    fn from(stop: Stop) -> Self {
        Self { class: stop.class, message: stop.message }
    }
}

/// A record as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Where it is.
    pub location: Location,
    /// What its objects are marked with.
    pub id: String,
    /// How many objects it names, in all its parts.
    pub entries: usize,
}

/// What a rebuild came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Objects that were put on record.
    pub added: Vec<ObjectId>,
    /// Objects that carry the mark, in all.
    pub found: usize,
    /// Kinds that could not be looked through, and why.
    pub notes: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    name: String,
    namespace: String,
    uid: String,
    resource_version: String,
    labels: Option<BTreeMap<String, String>>,
    annotations: Option<BTreeMap<String, String>>,
    owner_references: Vec<Owner>,
}

#[derive(Deserialize)]
struct Owner {
    #[serde(default)]
    controller: bool,
}

#[derive(Deserialize)]
struct Found {
    metadata: Metadata,
    #[serde(default)]
    data: Option<BTreeMap<String, String>>,
}

impl Found {
    fn annotation(&self, key: &str) -> Option<&str> {
        self.metadata.annotations.as_ref()?.get(key).map(String::as_str)
    }

    /// What a controller made carries copies of the annotations of what it was made from.
    fn is_generated(&self) -> bool {
        self.metadata.owner_references.iter().any(|owner| owner.controller)
    }
}

impl Records {
    /// Of this cluster; `manager` writes them.
    ///
    /// # Errors
    /// The server has no ConfigMaps.
    pub fn of(cluster: &Cluster, manager: &str) -> Result<Self, RecordError> {
        let resource = record::resource(cluster).map_err(|error| Stop::of(&error, "no records"))?;
        Ok(Self { cluster: cluster.clone(), resource, manager: manager.to_owned() })
    }

    /// The records of a namespace, or of all, by place.
    ///
    /// # Errors
    /// Those of a list.
    pub async fn list(&self, namespace: Option<&str>) -> Result<Vec<Listed>, RecordError> {
        let scope = Scope::of_namespace(namespace.unwrap_or_default()).labelled(ID_LABEL);
        let list = self
            .cluster
            .list(&self.resource, &scope, ListPage::default(), Content::Full)
            .await
            .map_err(|error| Stop::of(&error, "cannot list the records"))?;
        let mut sets: BTreeMap<Location, Listed> = BTreeMap::new();
        for found in parse_items(&list) {
            let id = found.metadata.labels.as_ref().and_then(|labels| labels.get(ID_LABEL)).cloned();
            let name = found.annotation(PART_OF).unwrap_or(&found.metadata.name);
            let location = Location::new(&found.metadata.namespace, name);
            let listed = sets.entry(location.clone()).or_insert_with(|| Listed {
                location,
                id: id.unwrap_or_default(),
                entries: 0,
            });
            listed.entries += found.data.map_or(0, |data| data.len());
        }
        Ok(sets.into_values().collect())
    }

    /// One record.
    ///
    /// # Errors
    /// There is none, or it cannot be trusted.
    pub async fn show(&self, set: &SetOptions) -> Result<Inventory, RecordError> {
        Ok(self.open(set).await?.inventory().clone())
    }

    async fn open(&self, set: &SetOptions) -> Result<Record, RecordError> {
        let record = Record::open(&self.cluster, set.clone(), &self.manager, BUDGET, None).await?;
        if !record.inventory().exists() {
            return Err(usage(format!("there is no inventory {}", record.inventory().location())));
        }
        Ok(record)
    }

    /// Drops one line of a record; returns where it stood.
    ///
    /// # Errors
    /// There is no such line, or the write is refused.
    pub async fn forget(&self, set: &SetOptions, line: &str) -> Result<Location, RecordError> {
        self.locked(set, self.drop_line(&set.wanted, line)).await
    }

    /// Does some work while no run of the set is under way.
    async fn locked<T>(
        &self,
        set: &SetOptions,
        work: impl Future<Output = Result<T, RecordError>>,
    ) -> Result<T, RecordError> {
        // Who holds the lock is told by the error; nobody listens to the rest.
        let (nobody, _) = mpsc::channel(1);
        let lock = match Lock::acquire(&self.cluster, set, Duration::ZERO, &mut Emitter::new(nobody)).await? {
            Locked::Ours(lock) => Some(lock),
            Locked::Without(_) | Locked::NoNamespace => None,
        };
        let done = work.await;
        if let Some(lock) = lock {
            lock.release(false).await;
        }
        done
    }

    async fn drop_line(&self, wanted: &Wanted, line: &str) -> Result<Location, RecordError> {
        for found in self.parts(wanted).await? {
            if found.data.as_ref().is_some_and(|data| data.contains_key(line)) {
                return self.drop_lines(&found, &[line]).await;
            }
        }
        Err(usage(format!("the inventory {} has no line {line:?}", wanted.location())))
    }

    async fn parts(&self, wanted: &Wanted) -> Result<Vec<Found>, RecordError> {
        let texts = record::read(&self.cluster, &self.resource, wanted).await;
        let texts = texts.map_err(|error| Stop::of(&error, "cannot read the inventory"))?;
        let location = wanted.location();
        let ours = |found: &Found| {
            found.metadata.name == location.name() || found.annotation(PART_OF) == Some(location.name())
        };
        let parts = texts.iter().filter_map(|text| serde_json::from_slice(text).ok()).filter(ours);
        Ok(parts.collect())
    }

    async fn drop_lines(&self, part: &Found, lines: &[&str]) -> Result<Location, RecordError> {
        let mut steps = vec![same_version(part)];
        steps.extend(lines.iter().map(|line| json!({ "op": "remove", "path": pointer("/data", line) })));
        self.patch(part, &steps).await
    }

    async fn patch(&self, part: &Found, steps: &[serde_json::Value]) -> Result<Location, RecordError> {
        let (namespace, name) = (&*part.metadata.namespace, &*part.metadata.name);
        let body = serde_json::Value::from(steps.to_vec()).to_string().into();
        let (how, manager) = (PlainWrite::JsonPatch, &self.manager);
        let answer = self.cluster.write(how, &self.resource, namespace, name, body, manager).await;
        let location = Location::new(namespace, name);
        answer.map_err(|error| Stop::of(&error, &format!("cannot change ConfigMap {location}")))?;
        Ok(location)
    }

    /// Puts the objects of a second record with the same id on the record of a set, and removes the
    /// second; returns how many came.
    ///
    /// # Errors
    /// The two have not the same id, or one of them cannot be read or written.
    pub async fn adopt(&self, set: &SetOptions, from: &str) -> Result<usize, RecordError> {
        self.locked(set, self.take_over(set, from)).await
    }

    async fn take_over(&self, set: &SetOptions, from: &str) -> Result<usize, RecordError> {
        let namespace = set.wanted.location().namespace().to_owned();
        let other = Wanted::named(&namespace, from).map_err(|error| usage(error.to_string()))?;
        if other.location() == set.wanted.location() {
            return Err(usage(String::from("--from names the set itself")));
        }
        let mut other = self.open(&SetOptions { wanted: other, ..set.clone() }).await?;
        let mut record = self.open(set).await?;
        let (id, theirs) = (record.inventory().id(), other.inventory().id());
        if id != theirs {
            let text = format!(
                "{} has inventory-id {theirs:?} and {} has {id:?}: their objects belong to different sets",
                other.inventory().location(),
                record.inventory().location()
            );
            return Err(RecordError { class: ExitClass::Refused, message: text });
        }
        let mut entries = record.inventory().entries().clone();
        let before = entries.len();
        for (id, entry) in other.inventory().entries() {
            entries.entry(id.clone()).or_insert(*entry);
        }
        let came = entries.len() - before;
        record.write(entries, "adopt", None).await?;
        other.remove(None).await?;
        Ok(came)
    }

    /// Finds the objects that carry the mark of a set, and puts those on record that are missing. A
    /// record whose label was lost, or that has lines which name no object, is mended first.
    ///
    /// # Errors
    /// The record is past mending, or cannot be written.
    pub async fn rebuild(&self, set: &SetOptions) -> Result<Rebuilt, RecordError> {
        self.locked(set, self.find_again(set)).await
    }

    async fn find_again(&self, set: &SetOptions) -> Result<Rebuilt, RecordError> {
        self.mend(&set.wanted).await?;
        let mut record = Record::open(&self.cluster, set.clone(), &self.manager, BUDGET, None).await?;
        let mut rebuilt = Rebuilt::default();
        let home = record.inventory().location().namespace().to_owned();
        let marked = self.marked(record.inventory().id(), &home, &mut rebuilt).await;
        let mut entries: Entries = record.inventory().entries().clone();
        for id in marked {
            if !entries.contains_key(&id) {
                entries.insert(id.clone(), Entry::default());
                rebuilt.added.push(id);
            }
        }
        if !rebuilt.added.is_empty() {
            record.write(entries, "rebuild", None).await?;
        }
        Ok(rebuilt)
    }

    async fn mend(&self, wanted: &Wanted) -> Result<(), RecordError> {
        for part in self.parts(wanted).await? {
            let labelled = part.metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(ID_LABEL));
            if !labelled {
                let label = match &part.metadata.labels {
                    Some(_) => json!({
                        "op": "add", "path": pointer("/metadata/labels", ID_LABEL), "value": wanted.id(None),
                    }),
                    None => json!({
                        "op": "add", "path": "/metadata/labels", "value": { ID_LABEL: wanted.id(None) },
                    }),
                };
                self.patch(&part, &[same_version(&part), label]).await?;
                return Box::pin(self.mend(wanted)).await;
            }
            let data = part.data.iter().flatten();
            let broken = data.filter(|(key, value)| !crate::inventory::is_line(key, value));
            let broken: Vec<&str> = broken.map(|(key, _)| key.as_str()).collect();
            if !broken.is_empty() {
                self.drop_lines(&part, &broken).await?;
            }
        }
        Ok(())
    }

    /// Every object with the mark, each once: one that is served under two groups has one uid.
    async fn marked(&self, id: &str, home: &str, rebuilt: &mut Rebuilt) -> BTreeSet<ObjectId> {
        let (mut marked, mut uids) = (BTreeSet::new(), BTreeSet::new());
        for resource in self.cluster.resources() {
            if !(resource.verbs().has("list") && resource.verbs().has("delete")) {
                continue;
            }
            let list = match self.metadata(&resource, home).await {
                Ok(list) => list,
                Err(error) => {
                    rebuilt.notes.push(format!("{} was not looked through: {error}", resource.group_kind()));
                    continue;
                }
            };
            let ours = |found: &Found| found.annotation(OWNING_INVENTORY) == Some(id);
            for found in parse_items(&list).into_iter().filter(ours).filter(|found| !found.is_generated()) {
                if uids.insert(found.metadata.uid.clone()) {
                    let (namespace, name) = (&found.metadata.namespace, &found.metadata.name);
                    marked.insert(ObjectId::new(resource.group_kind().clone(), namespace, name));
                }
            }
        }
        rebuilt.found = marked.len();
        marked
    }

    /// The metadata of a kind's objects, where the user may look: everywhere, else beside the record.
    async fn metadata(&self, resource: &Resource, home: &str) -> Result<bytes::Bytes, ApiError> {
        let (page, content) = (ListPage::default(), Content::MetadataOnly);
        match self.cluster.list(resource, &Scope::Cluster, page, content).await {
            Err(error) if error.class == ErrorClass::Forbidden && resource.namespaced() => {
                self.cluster.list(resource, &Scope::Namespace(home.into()), page, content).await
            }
            list => list,
        }
    }
}

fn parse_items(list: &[u8]) -> Vec<Found> {
    let items = items(list).unwrap_or_default();
    items.into_iter().filter_map(|item| serde_json::from_slice(item).ok()).collect()
}

/// The change is only meant for the state that was read.
fn same_version(part: &Found) -> serde_json::Value {
    json!({ "op": "test", "path": "/metadata/resourceVersion", "value": part.metadata.resource_version })
}

fn pointer(place: &str, key: &str) -> String {
    format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn usage(message: String) -> RecordError {
    RecordError { class: ExitClass::Usage, message }
}
