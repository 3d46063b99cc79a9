use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

/// Where manifests come from. Sources keep their order; objects are reported in it.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file of any name, or a folder of `.yaml`, `.yml` and `.json` files.
    Path {
        /// The file or folder.
        path: PathBuf,
        /// Whether to go into the folders of a folder.
        recursive: bool,
    },
    /// What the caller read from standard input.
    Stdin(Bytes),
    /// What the caller got elsewhere: a URL, the output of a renderer.
    Bytes {
        /// What to call it in messages.
        name: Arc<str>,
        /// The text.
        data: Bytes,
    },
}

/// What to do when some of the input is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InvalidPolicy {
    /// Any problem makes the whole call fail.
    #[default]
    Refuse,
    /// Go on with the good objects; the problems come beside them.
    Skip,
}

/// How to read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadOptions {
    /// The most bytes one file or other source may have. Default 256 MiB.
    pub max_bytes: u64,
    /// Whether no object at all is fine. Default: it is an error.
    pub allow_empty: bool,
    /// What to do when some of the input is wrong.
    pub invalid: InvalidPolicy,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { max_bytes: 256 << 20, allow_empty: false, invalid: InvalidPolicy::default() }
    }
}

/// What is known about a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScopeAnswer {
    /// Its objects live in namespaces.
    Namespaced,
    /// Its objects have no namespace.
    Cluster,
    /// The cluster does not serve it (in this version).
    UnknownKind {
        /// Names like it that are served, best first, as a person would write them.
        near: Vec<String>,
    },
}

/// What to do about a kind that neither the cluster serves nor a CRD of the set defines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownKinds {
    /// It is a problem.
    #[default]
    Refuse,
    /// Keep the object: something may define the kind later. Its scope stays [`Unknown`](super::Scope::Unknown).
    /// A kind of a group without a dot is a problem all the same: no CRD can define it.
    Wait,
}

/// How to fill in namespaces.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ResolveOptions {
    /// The namespace for namespaced objects that name none. Without it they are a problem.
    pub default_namespace: Option<Arc<str>>,
    /// Whether another namespace in a manifest is a problem, as it is when a user gives `-n`.
    pub enforce_namespace: bool,
    /// What to do about unknown kinds.
    pub unknown_kinds: UnknownKinds,
    /// What to do when some of the input is wrong.
    pub invalid: InvalidPolicy,
}
