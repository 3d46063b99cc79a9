//! What the server serves: one table of kinds.
//!
//! The table is pure; [`refresh`] fills it. A group that the server cannot tell about at the moment
//! (its own API server is down) keeps what was known of it.

mod parse;
pub(super) mod refresh;
mod table;
#[cfg(test)]
pub(super) mod tests;

use std::sync::Arc;

use crate::id::GroupKind;

/// One kind in one served version: what a URL needs, and what can be done with it. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource(Arc<Parts>);

#[derive(Debug, PartialEq, Eq)]
struct Parts {
    group_kind: GroupKind,
    version: Arc<str>,
    plural: Box<str>,
    singular: Box<str>,
    short_names: Box<[Box<str>]>,
    categories: Box<[Box<str>]>,
    namespaced: bool,
    has_status: bool,
    verbs: Verbs,
}

/// What the server lets clients do with a kind, before asking whether this user may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verbs(u8);

const VERBS: [&str; 8] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

impl Verbs {
    fn collect<'a>(verbs: impl IntoIterator<Item = &'a str>) -> Self {
        let bit = |verb: &str| VERBS.iter().position(|known| *known == verb).map_or(0, |at| 1 << at);
        Self(verbs.into_iter().map(bit).fold(0, |all, bit| all | bit))
    }

    /// True when `verb` (`get`, `list`, `watch`, `create`, `update`, `patch`, `delete`,
    /// `deletecollection`) is offered.
    pub fn has(self, verb: &str) -> bool {
        let wanted = Self::collect([verb]);
        wanted.0 != 0 && self.0 & wanted.0 == wanted.0
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

    /// Group and version as manifests write them: `apps/v1`, `v1`.
    pub fn api_version(&self) -> String {
        match self.group() {
            "" => self.version().to_owned(),
            group => format!("{group}/{}", self.version()),
        }
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

    /// Short names, such as `deploy`.
    pub fn short_names(&self) -> impl Iterator<Item = &str> {
        self.0.short_names.iter().map(AsRef::as_ref)
    }

    /// Categories such as `all`.
    pub fn categories(&self) -> impl Iterator<Item = &str> {
        self.0.categories.iter().map(AsRef::as_ref)
    }

    /// True when each object lives in a namespace.
    pub fn namespaced(&self) -> bool {
        self.0.namespaced
    }

    /// True when the kind keeps its status apart from its spec.
    pub fn has_status(&self) -> bool {
        self.0.has_status
    }

    /// What can be done with it.
    pub fn verbs(&self) -> Verbs {
        self.0.verbs
    }

    /// True for any of the names people use: plural, singular, short name, kind; `word` in lower case.
    fn is_called(&self, word: &str) -> bool {
        self.plural() == word
            || self.singular() == word
            || self.short_names().any(|name| name == word)
            || self.kind().eq_ignore_ascii_case(word)
    }
}
