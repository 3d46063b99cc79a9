use crate::id::GroupKind;

use super::object::Scope;

/// What a CustomResourceDefinition of the input says about the kind it defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrdFacts {
    pub(super) group_kind: GroupKind,
    pub(super) plural: Box<str>,
    pub(super) scope: Scope,
    pub(super) served: Box<[Box<str>]>,
    pub(super) status: StatusSchema,
}

/// How much of a status the schema of a custom kind promises. Several served versions: the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StatusSchema {
    /// No status.
    None,
    /// A status without conditions.
    Plain,
    /// `status.conditions`.
    Conditions,
}

impl CrdFacts {
    /// The kind that is defined.
    pub fn group_kind(&self) -> &GroupKind {
        &self.group_kind
    }

    /// The name in URLs.
    pub fn plural(&self) -> &str {
        &self.plural
    }

    /// Whether objects of the kind live in namespaces.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The served versions, in the order of the manifest.
    pub fn served(&self) -> impl Iterator<Item = &str> {
        self.served.iter().map(|version| &**version)
    }

    /// What the schema says about the status.
    pub fn status(&self) -> StatusSchema {
        self.status
    }
}
