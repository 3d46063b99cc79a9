//! Why an object that left the input is not deleted.

use std::collections::BTreeSet;
use std::fmt;

use super::merge::Fate;
use super::model::Location;
use super::policy::{InventoryPolicy, OWNING_INVENTORY, PolicyRefusal, can_prune};
use super::status::Strategy;
use crate::id::ObjectId;

/// The annotations that keep an object, each with the value that does. Both mean the same.
const KEEP: [(&str, &str); 2] =
    [("cli-utils.sigs.k8s.io/on-remove", "keep"), ("client.lifecycle.config.k8s.io/deletion", "detach")];

/// The namespaces that must not be pruned: those of the input, and the inventory's own.
pub fn namespaces_in_use<'a>(
    input: impl IntoIterator<Item = &'a ObjectId>,
    inventory: &'a Location,
) -> BTreeSet<&'a str> {
    let mut namespaces: BTreeSet<&str> = input.into_iter().map(ObjectId::namespace).collect();
    namespaces.remove("");
    namespaces.insert(inventory.namespace());
    namespaces
}

/// What decides about every candidate of one run.
#[derive(Clone, Copy, Debug)]
pub struct PruneFilters<'a> {
    /// The id of the set.
    pub id: &'a str,
    /// What may be done with objects that do not carry it.
    pub policy: InventoryPolicy,
    /// From [`namespaces_in_use`]; empty when the whole set is destroyed.
    pub namespaces: &'a BTreeSet<&'a str>,
    /// The uids of the objects that this run applied.
    pub applied: &'a BTreeSet<&'a str>,
}

/// Why an object is not deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PruneSkip {
    /// An annotation of the live object keeps it. Our mark is to be taken off
    /// ([`Mark::off`](super::Mark::off)).
    Annotation {
        /// The annotation.
        key: &'static str,
        /// Its value.
        value: &'static str,
    },
    /// It is not ours, or not ours alone.
    Policy(PolicyRefusal),
    /// It is a namespace that objects of the set, or the inventory, live in.
    NamespaceInUse(Box<str>),
    /// It was just applied under another group.
    JustApplied(Box<str>),
}

/// The annotation that keeps a live object from being deleted, if it has one.
pub fn kept_by<'a>(annotation: impl Fn(&str) -> Option<&'a str>) -> Option<PruneSkip> {
    let (key, value) = KEEP.into_iter().find(|(key, value)| annotation(key) == Some(*value))?;
    Some(PruneSkip::Annotation { key, value })
}

impl PruneFilters<'_> {
    /// Whether a live object may be deleted, by its annotations and its uid. (Its dependents are the
    /// graph's business.)
    ///
    /// # Errors
    /// The first reason that keeps it, in the order of [`PruneSkip`].
    pub fn check<'a>(
        &self,
        id: &ObjectId,
        uid: &str,
        annotation: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<(), PruneSkip> {
        if let Some(kept) = kept_by(&annotation) {
            return Err(kept);
        }
        can_prune(self.policy, annotation(OWNING_INVENTORY), self.id).map_err(PruneSkip::Policy)?;
        if id.group_kind().is("", "Namespace") && self.namespaces.contains(id.name()) {
            return Err(PruneSkip::NamespaceInUse(id.name().into()));
        }
        if self.applied.contains(uid) {
            return Err(PruneSkip::JustApplied(uid.into()));
        }
        Ok(())
    }
}

impl PruneSkip {
    /// What the record makes of it. For an object that its annotation keeps only once our mark is off.
    pub fn fate(&self) -> Fate {
        match self {
            Self::Annotation { .. } => Fate::Abandoned,
            Self::Policy(refusal) if refusal.is_owned_by_another() => Fate::Abandoned,
            Self::JustApplied(_) => Fate::Identical,
            Self::Policy(_) | Self::NamespaceInUse(_) => Fate::Skipped(Strategy::Delete),
        }
    }
}

/// kapply's words.
impl fmt::Display for PruneSkip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Annotation { key, value } => write!(f, "annotation prevents deletion ({key:?}: {value:?})"),
            Self::Policy(refusal) => refusal.fmt(f),
            Self::NamespaceInUse(namespace) => write!(f, "namespace still in use: {namespace}"),
            Self::JustApplied(uid) => write!(f, "object just applied (UID: {uid:?})"),
        }
    }
}
