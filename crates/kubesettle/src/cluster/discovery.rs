//! What the server serves.

use std::sync::Arc;

use crate::id::GroupKind;

/// One kind in one served version: what a URL needs, and what can be done with it. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource(Arc<Parts>);

#[derive(Debug, PartialEq, Eq)]
struct Parts {
    group_kind: GroupKind,
    version: Box<str>,
    plural: Box<str>,
    singular: Box<str>,
    namespaced: bool,
    verbs: Verbs,
}

/// What the server lets clients do with a kind, before asking whether this user may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verbs(u16);

impl Verbs {
    /// True when `verb` (`get`, `list`, `watch`, `patch`…) is offered.
    pub fn has(self, verb: &str) -> bool {
        let _ = (self.0, verb);
        false
    }
}

impl Resource {
    /// Group and kind.
    pub fn group_kind(&self) -> &GroupKind {
        &self.0.group_kind
    }

    /// The API group; empty for the core group.
    pub fn group(&self) -> &str {
        self.0.group_kind.group()
    }

    /// The served version, such as `v1`.
    pub fn version(&self) -> &str {
        &self.0.version
    }

    /// The kind in CamelCase.
    pub fn kind(&self) -> &str {
        self.0.group_kind.kind()
    }

    /// The name in URLs, such as `deployments`.
    pub fn plural(&self) -> &str {
        &self.0.plural
    }

    /// The name of one, such as `deployment`.
    pub fn singular(&self) -> &str {
        &self.0.singular
    }

    /// True when each object lives in a namespace.
    pub fn namespaced(&self) -> bool {
        self.0.namespaced
    }

    /// What can be done with it.
    pub fn verbs(&self) -> Verbs {
        self.0.verbs
    }
}
