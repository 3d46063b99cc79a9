//! The words in which the rest of the library talks to a cluster.

use std::sync::Arc;
use std::time::Duration;

/// Which objects of a kind a LIST or WATCH covers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All of them: every namespace, or the objects of a cluster-scoped kind.
    Cluster,
    /// Those of one namespace.
    Namespace(Arc<str>),
    /// One object, by field selector on `metadata.name`: what a role with `resourceNames` may still see.
    Name {
        /// Empty for a cluster-scoped kind.
        namespace: Arc<str>,
        /// The object's name.
        name: Arc<str>,
    },
    /// Those whose labels fit. On WATCH an object that loses the labels is DELETED like one that is gone.
    Labels {
        /// Empty for every namespace, and for a cluster-scoped kind.
        namespace: Arc<str>,
        /// A label selector as the API takes it.
        selector: Arc<str>,
    },
}

impl Scope {
    /// Those of this namespace, or of all when it is empty.
    pub fn of_namespace(namespace: &str) -> Self {
        if namespace.is_empty() { Self::Cluster } else { Self::Namespace(namespace.into()) }
    }

    /// Only those whose labels fit, of the objects of a whole namespace or cluster.
    #[must_use]
    pub fn labelled(self, selector: &str) -> Self {
        let selector = selector.into();
        match self {
            Self::Cluster => Self::Labels { namespace: "".into(), selector },
            Self::Namespace(namespace) | Self::Labels { namespace, .. } => {
                Self::Labels { namespace, selector }
            }
            Self::Name { .. } => self,
        }
    }
}

/// How much of each object the server sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// The whole object.
    Full,
    /// Only `metadata` (managed fields included: no server can leave them out): contents, Secrets
    /// among them, never leave the server.
    MetadataOnly,
}

/// What the server does with fields that a manifest has twice or that the kind does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    /// Refuse the request.
    #[default]
    Strict,
    /// Write, and send a warning.
    Warn,
    /// Write.
    Ignore,
}

/// How a server-side apply is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyParams {
    /// Name under which the server records which fields are ours.
    pub field_manager: String,
    /// Take over fields that another manager owns.
    pub force: bool,
    /// Let the server do everything but store.
    pub dry_run: bool,
    /// What happens to unknown and doubled fields.
    pub validation: Validation,
}

impl ApplyParams {
    /// Without force, for real, strict.
    pub fn new(field_manager: impl Into<String>) -> Self {
        Self {
            field_manager: field_manager.into(),
            force: false,
            dry_run: false,
            validation: Validation::Strict,
        }
    }
}

/// What the server said about an object it wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The object did not exist before (HTTP 201).
    pub created: bool,
    /// Its uid.
    pub uid: String,
    /// The version after the write; the old one when nothing changed, and in a dry run.
    pub resource_version: String,
    /// Generation, for kinds that count it.
    pub generation: Option<i64>,
    /// The object is being deleted: the write will not keep it.
    pub deleting: bool,
    /// A client-side apply of the past still owns fields of it ([`Cluster::take_over`](super::Cluster::take_over)).
    pub has_former_fields: bool,
    /// `Warning` headers, in the server's order.
    pub warnings: Vec<Box<str>>,
}

/// What happens to objects owned by a deleted one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Propagation {
    /// They are deleted after it.
    #[default]
    Background,
    /// It stays until they are gone.
    Foreground,
    /// They stay.
    Orphan,
}

impl Propagation {
    /// The API's spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Background => "Background",
            Self::Foreground => "Foreground",
            Self::Orphan => "Orphan",
        }
    }
}

/// How a delete is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteParams {
    /// What happens to owned objects.
    pub propagation: Propagation,
    /// Let the server do everything but delete.
    pub dry_run: bool,
    /// How long the object may take to stop; `None` is the kind's default. Counted in whole seconds.
    pub grace: Option<Duration>,
}

/// A write that is no server-side apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainWrite {
    /// POST of a new object.
    Create,
    /// PUT of a whole object; with uid and resourceVersion only of that state.
    Replace,
    /// PATCH by a list of tests and changes (RFC 6902).
    JsonPatch,
}

/// What came of a delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// The server took the request.
    Accepted {
        /// Uid of the object meant, when the server named it.
        uid: Option<String>,
        /// True when the object is gone already; else it waits for finalizers, dependents or its
        /// grace period and a watch tells when it is gone.
        removed: bool,
        /// `Warning` headers, in the server's order.
        warnings: Vec<Box<str>>,
    },
    /// There is no such object.
    Gone,
}

/// Which part of a LIST is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListPage<'a> {
    /// Items per page; `None` asks for all of them.
    pub limit: Option<u32>,
    /// `metadata.continue` of the page before.
    pub continue_token: Option<&'a str>,
    /// `Some("0")` accepts whatever the server has in its cache, `None` asks for the newest state.
    pub resource_version: Option<&'a str>,
}

/// Where a watch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchStart<'a> {
    /// After this resourceVersion.
    From(&'a str),
    /// With the present state as ADDED events, ended by a BOOKMARK annotated
    /// `k8s.io/initial-events-end`. Not every server can; see
    /// [`ErrorClass::Invalid`](crate::error::ErrorClass::Invalid).
    StreamingList,
}

/// Which part of a log is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogParams<'a> {
    /// The container; `None` works for pods that have one.
    pub container: Option<&'a str>,
    /// Of the run before the last restart.
    pub previous: bool,
    /// Lines from the end.
    pub lines: Option<u32>,
    /// Bytes at most.
    pub bytes: Option<u32>,
}
