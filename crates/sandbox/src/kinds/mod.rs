//! The kinds that are served: a table of built-in ones, and those that CRDs add.

mod builtin;

use std::sync::Arc;

use crate::write::schema::Shape;

pub(crate) use builtin::builtin;

/// One resource of the API, in all its versions.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    /// `deployments.apps`: how the store and the tests name it.
    pub(crate) id: Arc<str>,
    pub(crate) group: Arc<str>,
    /// Served versions, preferred one first.
    pub(crate) versions: Vec<Arc<str>>,
    pub(crate) plural: Arc<str>,
    pub(crate) singular: String,
    pub(crate) kind: Arc<str>,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) namespaced: bool,
    pub(crate) status: bool,
    pub(crate) scale: bool,
    /// `metadata.generation` counts changes of everything but metadata and status.
    pub(crate) generation: bool,
    pub(crate) access: Access,
    /// Text of the `Warning` header on every use.
    pub(crate) deprecated: Option<&'static str>,
    /// Which fields there are, and which lists are keyed.
    pub(crate) shape: Arc<Shape>,
    /// Defined by a CRD: its items name their kind in lists.
    pub(crate) custom: bool,
}

/// Which requests a resource takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// All of them.
    Full,
    /// GET and LIST.
    ReadOnly,
    /// POST: a question rather than an object.
    CreateOnly,
}

impl Access {
    pub(crate) fn verbs(self) -> &'static [&'static str] {
        match self {
            Self::Full => {
                &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
            }
            Self::ReadOnly => &["get", "list"],
            Self::CreateOnly => &["create"],
        }
    }
}

impl Kind {
    /// `apps/v1`, `v1`.
    pub(crate) fn api_version(&self, version: &str) -> String {
        if self.group.is_empty() { version.to_owned() } else { format!("{}/{version}", self.group) }
    }

    pub(crate) fn preferred(&self) -> &str {
        self.versions.first().map_or("v1", |version| version)
    }

    pub(crate) fn serves(&self, version: &str) -> bool {
        self.versions.iter().any(|served| **served == *version)
    }
}

/// How a resource is named in the store: `pods`, `deployments.apps`.
pub(crate) fn resource_id(group: &str, plural: &str) -> String {
    if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") }
}
