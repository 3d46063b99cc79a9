//! What is ours, and where that stands.

use std::collections::BTreeMap;
use std::fmt;

use super::Wanted;
use super::document::Document;
use super::status::ObjectStatus;
use crate::id::{GroupKind, ObjectId};

/// Where an inventory is: the namespace and the name of its first ConfigMap, or of the parent of an
/// ApplySet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    namespace: Box<str>,
    name: Box<str>,
    /// The kind of a parent that is no ConfigMap.
    kind: Option<GroupKind>,
}

impl Location {
    /// Both as the API spells them. Nothing is checked; see [`Wanted`](super::Wanted) for that.
    pub fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.into(), name: name.into(), kind: None }
    }

    /// Where the parent of an ApplySet is.
    pub fn of_parent(parent: &ObjectId) -> Self {
        let kind = (!parent.group_kind().is("", "ConfigMap")).then(|| parent.group_kind().clone());
        Self { namespace: parent.namespace().into(), name: parent.name().into(), kind }
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name of the first ConfigMap.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The namespace as an object: when it is in the input it must be applied before the inventory is
    /// written.
    pub fn namespace_object(&self) -> ObjectId {
        ObjectId::new(GroupKind::new("", "Namespace"), "", &self.namespace)
    }

    /// The first ConfigMap, or the parent, as an object: it must not be in the input itself.
    pub fn object(&self) -> ObjectId {
        let kind = self.kind.clone().unwrap_or_else(|| GroupKind::new("", "ConfigMap"));
        ObjectId::new(kind, &self.namespace, &self.name)
    }
}

/// `default/shop`.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// What is recorded of one object besides its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// How the last run went; `None` when statuses are not kept.
    pub status: Option<ObjectStatus>,
}

/// The objects of an inventory, ordered.
pub type Entries = BTreeMap<ObjectId, Entry>;

/// The record of what is ours, as far as the cluster is known to hold it.
///
/// # Contract
///
/// * [`Inventory::entries`] is the union of all parts as last read or written. It never runs ahead of
///   the cluster: a wish becomes a list of writes ([`Inventory::writes`]), and each write changes the
///   record when the server has answered ([`Inventory::wrote`]).
/// * An inventory that could not be read as a whole is a list of problems, never a smaller inventory.
/// * Labels, annotations and other metadata that we do not know survive every write.
#[derive(Clone, Debug)]
pub struct Inventory {
    pub(super) location: Location,
    pub(super) id: Box<str>,
    pub(super) entries: Entries,
    /// What the cluster holds; the first ConfigMap, when it exists, comes first.
    pub(super) parts: Vec<Part>,
    /// What the first ConfigMap looks like when it must be created.
    pub(super) fresh: Document,
    pub(super) notes: Vec<String>,
}

/// One ConfigMap of an inventory as the cluster holds it.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) document: Document,
    pub(super) entries: Entries,
}

/// What is known of one ConfigMap of an inventory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its uid.
    pub uid: &'a str,
    /// The version that was read or written last.
    pub resource_version: &'a str,
    /// How many objects it names.
    pub entries: usize,
}

impl Inventory {
    /// The members of an ApplySet; `parent` has its uid and resourceVersion, if it exists.
    pub fn of_members(
        wanted: &Wanted,
        entries: Entries,
        parent: Option<(&str, &str)>,
        notes: Vec<String>,
    ) -> Self {
        let location = wanted.location().clone();
        let mut inventory = Self {
            id: wanted.id(None).into(),
            entries: Entries::new(),
            parts: Vec::new(),
            fresh: Document::new(location.namespace(), location.name()),
            location,
            notes,
        };
        inventory.members_are(entries, parent);
        inventory
    }

    /// Takes note of what an ApplySet consists of now.
    pub fn members_are(&mut self, entries: Entries, parent: Option<(&str, &str)>) {
        let document = |(uid, version): (&str, &str)| {
            let mut document = self.fresh.clone();
            document.uid = uid.into();
            document.resource_version = version.into();
            document
        };
        let part = parent.map(|parent| Part { document: document(parent), entries });
        self.parts = part.into_iter().collect();
        self.refresh_entries();
    }

    /// Where it is.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The value of the label, and of the annotation on every object of the set.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The objects that the cluster has on record.
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    /// True when the cluster holds at least one part of it.
    pub fn exists(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The ConfigMaps it stands in, the first one first.
    pub fn shards(&self) -> impl Iterator<Item = Shard<'_>> {
        self.parts.iter().map(|part| Shard {
            name: &part.document.name,
            uid: &part.document.uid,
            resource_version: &part.document.resource_version,
            entries: part.entries.len(),
        })
    }

    /// What a person should know of how it was found: parts that a crash left behind, parts that are
    /// missing.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(super) fn refresh_entries(&mut self) {
        self.entries = union(&self.parts);
    }
}

/// Every object of every part. An object that stands in two keeps the status of the earlier part.
pub(super) fn union(parts: &[Part]) -> Entries {
    let mut all = Entries::new();
    for (id, entry) in parts.iter().flat_map(|part| &part.entries) {
        let known = all.entry(id.clone()).or_insert(*entry);
        known.status = known.status.or(entry.status);
    }
    all
}
