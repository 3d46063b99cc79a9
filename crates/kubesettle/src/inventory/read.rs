//! From the ConfigMaps that were found to one inventory, or to everything that is wrong with it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::document::Document;
use super::key;
use super::model::{Entries, Inventory, Location, Part, union};
use super::name::{self, InvalidName};
use super::problem::{Fault, Problem, Problems};
use super::{ID_LABEL, Mark, MarkForm, PART_OF, PARTS, applyset};
use crate::id::ObjectId;

/// The set that a run is about.
#[derive(Clone, Debug)]
pub struct Wanted {
    location: Location,
    id: Id,
    fresh: Document,
}

#[derive(Clone, Debug)]
enum Id {
    /// Any other is an error.
    Exactly(Box<str>),
    /// What the cluster has, else this one.
    AsStored(Box<str>),
    /// That of an ApplySet, which follows from its parent.
    ApplySet(Box<str>),
}

impl Wanted {
    /// The set of this name. An inventory that kapply made keeps its id; a new one gets
    /// [`set_id`](super::set_id).
    ///
    /// # Errors
    /// A namespace or a name that no ConfigMap can have.
    pub fn named(namespace: &str, name: &str) -> Result<Self, InvalidName> {
        let location = name::set_location(namespace, name)?;
        let id = name::set_id(&location);
        let fresh = labelled(Document::new(namespace, name), &id);
        Ok(Self { location, id: Id::AsStored(id.into()), fresh })
    }

    /// The set of an inventory template, given as the JSON of its ConfigMap. Its labels and annotations
    /// are those of the inventory when that must be created.
    ///
    /// # Errors
    /// A template that is no ConfigMap or lacks the label.
    pub fn template(json: &[u8]) -> Result<Self, Problems> {
        let document = Document::parse(json).map_err(|reason| {
            Problem::new(&Location::new("", ""), "", Fault::NotUnderstood { reason: reason.into() })
        })?;
        let location = Location::new(&document.namespace, &document.name);
        let Some(id) = id_of(&document) else {
            return Err(Problem::new(&location, &document.name, Fault::NoLabel).into());
        };
        Ok(Self { location, id: Id::Exactly(id.into()), fresh: document.as_new() })
    }

    /// The ApplySet of this parent.
    pub fn applyset(parent: &ObjectId) -> Self {
        let location = Location::of_parent(parent);
        let fresh = Document::new(location.namespace(), location.name());
        Self { location, id: Id::ApplySet(applyset::id(parent).into()), fresh }
    }

    /// True for an ApplySet.
    pub fn is_applyset(&self) -> bool {
        matches!(self.id, Id::ApplySet(_))
    }

    /// How objects of the set are marked; `id` is the one it has.
    pub fn mark(&self, id: &str) -> Mark {
        Mark::new(if self.is_applyset() { MarkForm::PartOf } else { MarkForm::Owner }, id)
    }

    /// Where its first ConfigMap, or its parent, is.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Where the inventory of a template really is, when there is none of the template's name and one
    /// other has its id. kapply up to v0.37 goes by the id alone.
    fn renamed(&self, documents: &[Document]) -> Option<Location> {
        let Id::Exactly(id) = &self.id else { return None };
        let mut here = documents.iter().filter(|found| *found.namespace == *self.location.namespace());
        if here.clone().any(|found| *found.name == *self.location.name()) {
            return None;
        }
        let is_first =
            |found: &&Document| id_of(found) == Some(id) && !found.annotations.contains_key(PART_OF);
        let only = here.find(is_first)?;
        here.find(is_first).is_none().then(|| Location::new(&only.namespace, &only.name))
    }

    /// The id of the set, when its first ConfigMap has this one, or has none or does not exist.
    pub fn id_given(&self, stored: Option<String>) -> String {
        match &self.id {
            Id::Exactly(id) | Id::ApplySet(id) => id.to_string(),
            Id::AsStored(id) => stored.filter(|id| !id.is_empty()).unwrap_or_else(|| id.to_string()),
        }
    }

    /// The id that the label selector asks for: of the first ConfigMap if that was read already, else
    /// the one that a new inventory gets.
    pub fn id<'a>(&'a self, first: Option<&'a Inventory>) -> &'a str {
        let (Id::Exactly(id) | Id::AsStored(id) | Id::ApplySet(id)) = &self.id;
        first.map_or(id, |inventory| &inventory.id)
    }
}

fn labelled(mut document: Document, id: &str) -> Document {
    document.labels.insert(ID_LABEL.to_owned(), id.to_owned());
    document
}

fn id_of(document: &Document) -> Option<&str> {
    document.labels.get(ID_LABEL).map(String::as_str).filter(|id| !id.is_empty())
}

/// The ConfigMaps of a list, each as JSON of its own.
///
/// # Errors
/// A text that is no list.
pub fn items(list: &[u8]) -> Result<Vec<&[u8]>, serde_json::Error> {
    #[derive(Deserialize)]
    struct List<'a> {
        /// May be null, but not missing.
        #[serde(borrow, deserialize_with = "Deserialize::deserialize")]
        items: Option<Vec<&'a RawValue>>,
    }
    let list: List<'_> = serde_json::from_slice(list)?;
    Ok(list.items.unwrap_or_default().into_iter().map(|item| item.get().as_bytes()).collect())
}

/// The parts that a first ConfigMap names: what to read by name where listing is not allowed.
///
/// # Errors
/// A text that is no ConfigMap.
pub fn part_names(first: &[u8]) -> Result<Vec<String>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Wire {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        #[serde(default)]
        annotations: Option<BTreeMap<String, String>>,
    }
    let wire: Wire = serde_json::from_slice(first)?;
    let annotations = wire.metadata.annotations.unwrap_or_default();
    Ok(annotations.get(PARTS).map(|names| split(names)).unwrap_or_default())
}

fn split(names: &str) -> Vec<String> {
    names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

impl Inventory {
    /// Reads an inventory from the ConfigMaps that may belong to it: best all with its id (one LIST
    /// with the label selector) and the one of its name, else the first and the parts it names.
    /// Others among them do no harm. An inventory that does not exist is empty.
    ///
    /// Parts that a crashed writer left behind are taken in: those that say whose part they are but
    /// are not named by the first ConfigMap, and those whose first ConfigMap is gone.
    ///
    /// The inventory of a template may have another name than the template; then
    /// [`Inventory::location`] is the place to go by.
    ///
    /// # Errors
    /// Everything that is wrong, at once. Nothing may be written then.
    pub fn read(wanted: &Wanted, config_maps: &[&[u8]]) -> Result<Self, Problems> {
        let mut set = &wanted.location;
        let mut problems = Vec::new();
        let mut documents = Vec::new();
        let mut seen = BTreeSet::new();
        for json in config_maps {
            match Document::parse(json) {
                Ok(found) if !seen.insert((found.namespace.clone(), found.name.clone())) => {}
                Ok(found) => documents.push(found),
                Err(reason) => {
                    let fault = Fault::NotUnderstood { reason: reason.into() };
                    problems.push(Problem::new(set, set.name(), fault));
                }
            }
        }

        let renamed = wanted.renamed(&documents);
        set = renamed.as_ref().unwrap_or(set);
        let mut sorted = Sorted::new(set, documents);
        if renamed.is_some() {
            sorted.notes.push(format!(
                "the template names {}, the inventory with its id is {set}: that one is used",
                wanted.location
            ));
        }
        let stored = sorted.parts.first().and_then(id_of);
        let id: Box<str> = match &wanted.id {
            Id::Exactly(id) | Id::ApplySet(id) => id.clone(),
            Id::AsStored(id) => stored.map_or_else(|| id.clone(), Into::into),
        };
        for part in &sorted.parts {
            let fault = match id_of(part) {
                None => Fault::NoLabel,
                Some(found) if *found != *id => Fault::WrongId { expected: id.clone(), found: found.into() },
                Some(_) => continue,
            };
            problems.push(Problem::new(set, &part.name, fault));
        }
        for other in sorted.others.iter().filter(|other| id_of(other) == Some(&*id)) {
            let other = Location::new(&other.namespace, &other.name);
            problems.push(Problem::new(set, set.name(), Fault::SameId { id: id.clone(), other }));
        }

        let parts: Vec<Part> =
            sorted.parts.into_iter().map(|document| part(set, document, &mut problems)).collect();
        Problems::check(problems)?;
        let fresh = labelled(wanted.fresh.clone(), &id);
        Ok(Self { location: set.clone(), id, entries: union(&parts), parts, fresh, notes: sorted.notes })
    }
}

fn part(set: &Location, document: Document, problems: &mut Vec<Problem>) -> Part {
    let mut entries = Entries::new();
    for (key, value) in &document.data {
        match key::parse(key, value) {
            Ok((id, entry)) => {
                entries.insert(id, entry);
            }
            Err(fault) => problems.push(Problem::new(set, &document.name, fault)),
        }
    }
    Part { document, entries }
}

/// The ConfigMaps that were found, told apart.
struct Sorted {
    /// The first, then those that it names, then those that only say so themselves.
    parts: Vec<Document>,
    others: Vec<Document>,
    notes: Vec<String>,
}

impl Sorted {
    fn new(set: &Location, mut documents: Vec<Document>) -> Self {
        let here = |document: &Document| *document.namespace == *set.namespace();
        let is_first = |document: &Document| here(document) && *document.name == *set.name();
        documents.sort_by(|a, b| (a.name.len(), &a.name).cmp(&(b.name.len(), &b.name)));

        let first = documents.iter().position(is_first).map(|at| documents.remove(at));
        let named = first.as_ref().and_then(|first| first.annotations.get(PARTS));
        let named = named.map(|names| split(names)).unwrap_or_default();
        let mut notes = Vec::new();
        let mut parts: Vec<Document> = first.into_iter().collect();
        for name in &named {
            let is_named = |document: &Document| here(document) && *document.name == **name;
            match documents.iter().position(is_named) {
                Some(at) => parts.push(documents.remove(at)),
                // A crash before that part was written, or somebody deleted it.
                None => notes.push(format!(
                    "ConfigMap {set} names its part {name}, which does not exist; \
                     kubectl settle inventory rebuild -n {} --set {} finds what it may have named",
                    set.namespace(),
                    set.name()
                )),
            }
        }
        let says_so = |document: &Document| {
            here(document) && document.annotations.get(PART_OF).is_some_and(|of| of == set.name())
        };
        let (left, others): (Vec<_>, Vec<_>) = documents.into_iter().partition(says_so);
        notes.extend(left.iter().map(|part| {
            format!(
                "ConfigMap {}/{} is a part of {set} that is not named there; it counts",
                part.namespace, part.name
            )
        }));
        parts.extend(left);
        Self { parts, others, notes }
    }
}
