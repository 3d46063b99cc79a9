//! The inventory of a tracked run: read before anything else, written before the first object and
//! after the last, under a lock where the user may have one.
//!
//! Everything that decides is pure and lives in [`crate::inventory`]; here are the requests.

mod lock;
mod members;
mod patience;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Deserialize;

use super::emit::Emitter;
use crate::cluster::{Cluster, Content, ListPage, PlainWrite, Resource, Scope};
use crate::error::{ApiError, ErrorClass, ExitClass};
use crate::id::{GroupKind, ObjectId};
use crate::inventory::{
    Entries, ID_LABEL, Inventory, Mark, Outcomes, Wanted, Write, WriteKind, WriteOptions, items, part_names,
};

pub(super) use lock::{Lock, Locked, Renewed};
pub(super) use patience::{Patience, ask};

/// Which set a run is about, and how its record is kept.
#[derive(Clone, Debug)]
pub struct SetOptions {
    /// The set.
    pub wanted: Wanted,
    /// Keep the status of each object in the record too.
    pub statuses: bool,
    /// How long to wait for another run of the same set.
    pub lock_timeout: Duration,
    /// Who we are, in the lock.
    pub holder: crate::inventory::lease::Holder,
}

/// Why a run stops before its first write.
#[derive(Debug)]
pub(super) struct Stop {
    pub class: ExitClass,
    pub message: String,
}

impl Stop {
    pub(super) fn of(error: &ApiError, doing: &str) -> Self {
        let class = match error.class {
            ErrorClass::Unauthorized => ExitClass::Unreachable,
            class if class.passes() => ExitClass::Unknown,
            ErrorClass::Replaced => ExitClass::Refused,
            _ => ExitClass::Failed,
        };
        Self { class, message: format!("{doing}: {error}") }
    }
}

/// The record of one run.
pub(super) struct Record {
    cluster: Cluster,
    keeper: Keeper,
    inventory: Inventory,
    options: SetOptions,
    manager: String,
    /// What stood in it before this run wrote, and what this run made of it.
    old: Entries,
    written: Entries,
    /// Names that no part of it may take.
    taken: BTreeSet<String>,
    /// How long one of its requests may fail.
    budget: Duration,
}

/// What keeps the record.
enum Keeper {
    /// ConfigMaps.
    ConfigMaps(Resource),
    /// The objects themselves, and a parent that says where they are.
    Members(Box<members::Known>),
}

#[derive(Deserialize)]
struct Answer {
    metadata: AnswerMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnswerMeta {
    uid: String,
    resource_version: String,
}

/// What of a ConfigMap is ours to say.
#[derive(Deserialize, PartialEq)]
struct Contents {
    metadata: ContentsMeta,
    #[serde(default)]
    data: BTreeMap<String, String>,
}

#[derive(Deserialize, PartialEq)]
struct ContentsMeta {
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

impl Record {
    /// Reads the inventory; one that does not exist is empty.
    pub(super) async fn open(
        cluster: &Cluster,
        options: SetOptions,
        manager: &str,
        budget: Duration,
        emit: Option<&mut Emitter>,
    ) -> Result<Self, Stop> {
        if options.wanted.is_applyset() {
            let (inventory, known) = members::open(cluster, &options.wanted, budget).await?;
            let keeper = Keeper::Members(Box::new(known));
            return Ok(Self::new(cluster, keeper, inventory, options, manager, budget));
        }
        let (resource, inventory) = inventory(cluster, &options.wanted, budget, emit).await?;
        Ok(Self::new(cluster, Keeper::ConfigMaps(resource), inventory, options, manager, budget))
    }

    fn new(
        cluster: &Cluster,
        keeper: Keeper,
        inventory: Inventory,
        options: SetOptions,
        manager: &str,
        budget: Duration,
    ) -> Self {
        let old = inventory.entries().clone();
        let (cluster, manager) = (cluster.clone(), manager.to_owned());
        Self {
            cluster,
            keeper,
            inventory,
            options,
            manager,
            written: old.clone(),
            old,
            taken: BTreeSet::new(),
            budget,
        }
    }

    /// What every object of the set carries.
    pub(super) fn mark(&self) -> Mark {
        self.options.wanted.mark(self.inventory.id())
    }

    pub(super) fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// What stood in it before this run.
    pub(super) fn old(&self) -> &Entries {
        &self.old
    }

    /// Leaves the names of these objects to them, when the record needs another part.
    pub(super) fn leave_names_to<'a>(&mut self, objects: impl Iterator<Item = &'a ObjectId>) {
        let home = self.inventory.location().namespace();
        let beside = objects.filter(|id| id.group_kind().is("", "ConfigMap") && id.namespace() == home);
        self.taken = beside.map(|id| id.name().to_owned()).collect();
    }

    /// Makes the record hold these entries.
    pub(super) async fn write(
        &mut self,
        mut entries: Entries,
        run: &str,
        mut emit: Option<&mut Emitter>,
    ) -> Result<usize, Stop> {
        if let Keeper::Members(known) = &mut self.keeper {
            let written = known.write(&self.cluster, entries.clone(), &mut self.inventory).await;
            written.map_err(|error| Stop::of(&error, "cannot write the parent of the ApplySet"))?;
            self.written = entries;
            return Ok(1);
        }
        let mut options = WriteOptions {
            statuses: self.options.statuses,
            run: Some(run.to_owned()),
            avoid: self.taken.clone(),
            ..WriteOptions::default()
        };
        // A create that meets an object there is planned anew around that name.
        for _ in 0..16 {
            let (mut taken, mut again) = (None, false);
            for write in self.inventory.writes(&entries, &options) {
                match self.send(&write, emit.as_deref_mut()).await {
                    Ok(()) => {}
                    Err(error)
                        if write.kind() == WriteKind::Create
                            && error.class == ErrorClass::Replaced
                            && write.target() != self.inventory.location() =>
                    {
                        taken = Some(write.target().name().to_owned());
                        break;
                    }
                    Err(error) if self.went_back(&write, &error).await => {
                        self.read_again(emit.as_deref_mut()).await?;
                        // Whatever either of them knows of may be there.
                        let back = self.inventory.entries().clone();
                        entries = back.into_iter().chain(entries).collect();
                        again = true;
                        break;
                    }
                    Err(error) => {
                        let why = match error.class {
                            ErrorClass::Replaced => "another run changed it meanwhile",
                            class if class.passes() => "there is no answer",
                            _ => "it was refused",
                        };
                        return Err(Stop::of(&error, &format!("cannot {write}, {why}")));
                    }
                }
            }
            match taken {
                Some(name) => drop(options.avoid.insert(name)),
                None if again => {}
                None => {
                    self.written = entries;
                    return Ok(self.inventory.shards().count());
                }
            }
        }
        Err(Stop {
            class: ExitClass::Failed,
            message: String::from("no free name for a part of the inventory"),
        })
    }

    /// The server's data went back, and with it the record: what it names now may be there again.
    pub(super) async fn read_again(&mut self, emit: Option<&mut Emitter>) -> Result<(), Stop> {
        if let Keeper::ConfigMaps(_) = &self.keeper {
            let wanted = &self.options.wanted;
            (_, self.inventory) = inventory(&self.cluster, wanted, self.budget, emit).await?;
            let back = self.inventory.entries().clone();
            self.old = back.into_iter().chain(std::mem::take(&mut self.old)).collect();
        }
        Ok(())
    }

    /// What would be left of the set after the run.
    pub(super) fn remainder(&self, outcomes: &Outcomes) -> Entries {
        crate::inventory::after(&self.old, &self.written, outcomes)
    }

    /// Removes the inventory itself.
    pub(super) async fn remove(&mut self, mut emit: Option<&mut Emitter>) -> Result<(), Stop> {
        if let Keeper::Members(known) = &mut self.keeper {
            let removed = known.remove(&self.cluster, &mut self.inventory).await;
            return removed.map_err(|error| Stop::of(&error, "cannot remove the parent of the ApplySet"));
        }
        for write in self.inventory.removal() {
            let sent = self.send(&write, emit.as_deref_mut()).await;
            sent.map_err(|error| Stop::of(&error, &format!("cannot {write}")))?;
        }
        Ok(())
    }

    /// Sends a write until it is done. One whose answer was lost may be met by its own work as a
    /// conflict: then what stands there decides.
    async fn send(&mut self, write: &Write, mut emit: Option<&mut Emitter>) -> Result<(), ApiError> {
        let mut patience = Patience::new(self.budget);
        let mut unsure = false;
        let doing = format!("cannot {write}");
        loop {
            let sent = match self.send_once(write).await {
                Err(error) if unsure && error.class == ErrorClass::Replaced => {
                    self.done_already(write).await.and_then(|done| done.ok_or(error))
                }
                sent => sent,
            };
            match sent {
                Ok((uid, version)) => {
                    self.inventory.wrote(write, &uid, &version);
                    return Ok(());
                }
                Err(error) if patience.bears(&error, &doing, emit.as_deref_mut()).await => unsure = true,
                Err(error) => return Err(error),
            }
        }
    }

    /// Answers uid and resourceVersion of what stands there now.
    async fn send_once(&self, write: &Write) -> Result<(String, String), ApiError> {
        let (namespace, name) = (write.target().namespace(), write.target().name());
        let Keeper::ConfigMaps(resource) = &self.keeper else { return Ok(Default::default()) };
        let body = write.body().clone();
        let how = match write.kind() {
            WriteKind::Create => PlainWrite::Create,
            WriteKind::Replace => PlainWrite::Replace,
            WriteKind::Delete => {
                self.cluster.delete_with(resource, namespace, name, body).await?;
                return Ok((String::new(), String::new()));
            }
        };
        let answer = self.cluster.write(how, resource, namespace, name, body, &self.manager).await?;
        let answer: Answer = serde_json::from_slice(&answer).map_err(|error| {
            ApiError::local(ErrorClass::Protocol, format!("the answer to a write of the inventory: {error}"))
        })?;
        Ok((answer.metadata.uid, answer.metadata.resource_version))
    }

    /// What stands there is older than what this run wrote, or nothing does: a backup was put in its
    /// place, or somebody took it away.
    async fn went_back(&self, write: &Write, error: &ApiError) -> bool {
        let Keeper::ConfigMaps(resource) = &self.keeper else { return false };
        let met = matches!(error.class, ErrorClass::Replaced | ErrorClass::NotFound);
        if !met || write.kind() != WriteKind::Replace {
            return false;
        }
        let (namespace, name) = (write.target().namespace(), write.target().name());
        let Ok(found) = self.cluster.get(resource, namespace, name, Content::MetadataOnly).await else {
            return false;
        };
        let read = |json: &[u8]| serde_json::from_slice::<Answer>(json).ok().map(|answer| answer.metadata);
        match (read(write.body()), found.as_deref().and_then(read)) {
            (Some(ours), Some(theirs)) => is_older(&theirs.resource_version, &ours.resource_version),
            (_, None) => found.is_none(),
            (None, _) => false,
        }
    }

    /// Uid and resourceVersion, if exactly that stands there which was to be written.
    async fn done_already(&self, write: &Write) -> Result<Option<(String, String)>, ApiError> {
        let (namespace, name) = (write.target().namespace(), write.target().name());
        let Keeper::ConfigMaps(resource) = &self.keeper else { return Ok(None) };
        let found = self.cluster.get(resource, namespace, name, Content::Full).await?;
        let read = |json: &[u8]| serde_json::from_slice::<Contents>(json).ok();
        Ok(found.and_then(|found| {
            let (wanted, there) = (read(write.body())?, read(&found)?);
            let answer: Answer = serde_json::from_slice(&found).ok()?;
            (wanted == there).then_some((answer.metadata.uid, answer.metadata.resource_version))
        }))
    }
}

/// Compares resourceVersions, where both are numbers.
fn is_older(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|version| version.parse::<u64>().ok());
    one.zip(other).is_some_and(|(one, other)| one < other)
}

/// The inventory as it stands in ConfigMaps.
async fn inventory(
    cluster: &Cluster,
    wanted: &Wanted,
    budget: Duration,
    emit: Option<&mut Emitter>,
) -> Result<(Resource, Inventory), Stop> {
    let resource =
        resource(cluster).map_err(|error| Stop { class: ExitClass::Unknown, message: error.to_string() })?;
    let doing = format!("cannot read the inventory {}", wanted.location());
    let texts = ask(budget, &doing, emit, || read(cluster, &resource, wanted)).await;
    let texts = texts.map_err(|error| Stop::of(&error, &doing))?;
    let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    let inventory = Inventory::read(wanted, &texts)
        .map_err(|problems| Stop { class: ExitClass::Refused, message: problems.to_string() })?;
    Ok((resource, inventory))
}

/// The mark that the objects of a set have, or will have.
///
/// # Errors
/// Those of a read.
pub async fn mark_of(cluster: &Cluster, wanted: &Wanted) -> Result<Mark, ApiError> {
    if wanted.is_applyset() {
        return Ok(wanted.mark(wanted.id(None)));
    }
    let location = wanted.location();
    let resource = resource(cluster)?;
    let first = cluster.get(&resource, location.namespace(), location.name(), Content::MetadataOnly).await?;
    let stored = first.and_then(|json| {
        let json: serde_json::Value = serde_json::from_slice(&json).ok()?;
        Some(json.pointer("/metadata/labels")?.get(ID_LABEL)?.as_str()?.to_owned())
    });
    Ok(wanted.mark(&wanted.id_given(stored)))
}

pub(super) fn resource(cluster: &Cluster) -> Result<Resource, ApiError> {
    cluster.resource(&GroupKind::new("", "ConfigMap"), Some("v1")).ok_or_else(|| {
        let message = "the server does not say that it serves ConfigMaps";
        ApiError::local(ErrorClass::NotServed, message)
    })
}

/// Every ConfigMap that may belong to the set: those with its label, else the one of its name and
/// those it names.
pub(super) async fn read(
    cluster: &Cluster,
    resource: &Resource,
    wanted: &Wanted,
) -> Result<Vec<Vec<u8>>, ApiError> {
    let location = wanted.location();
    let (namespace, name) = (location.namespace(), location.name());
    let mut texts = Vec::new();
    let Some(first) = cluster.get(resource, namespace, name, Content::Full).await? else { return Ok(texts) };
    let parts = part_names(&first).unwrap_or_default();
    texts.push(first.to_vec());
    if parts.is_empty() {
        return Ok(texts);
    }
    let scope = Scope::Namespace(namespace.into());
    match cluster.list(resource, &scope, ListPage::default(), Content::Full).await {
        Ok(list) => {
            let found = items(&list).unwrap_or_default();
            texts.extend(found.into_iter().map(<[u8]>::to_vec));
        }
        Err(error) if error.class == ErrorClass::Forbidden => {
            for part in parts {
                let text = cluster.get(resource, namespace, &part, Content::Full).await?;
                texts.extend(text.map(|text| text.to_vec()));
            }
        }
        Err(error) => return Err(error),
    }
    Ok(texts)
}
