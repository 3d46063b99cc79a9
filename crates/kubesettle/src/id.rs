//! What names an object: group, kind, namespace and name, and the uid that tells two lives of one name apart.
//!
//! The API version is no part of an identity: `apps/v1` and `apps/v1beta1` show the same Deployment
//! (the inventory format of kapply leaves it out for the same reason).

use std::fmt;
use std::sync::Arc;

/// An API group and a kind, such as `apps` and `Deployment`. The core group is the empty string.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKind {
    group: Arc<str>,
    kind: Arc<str>,
}

impl GroupKind {
    /// Both parts as the API spells them: group in lower case, kind in CamelCase.
    pub fn new(group: impl Into<Arc<str>>, kind: impl Into<Arc<str>>) -> Self {
        Self { group: group.into(), kind: kind.into() }
    }

    /// From an object's `apiVersion` and `kind`: `apps/v1` has group `apps`, `v1` the core group.
    pub fn from_api_version(api_version: &str, kind: &str) -> Self {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        Self::new(group, kind)
    }

    /// The API group; empty for the core group.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The kind in CamelCase.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// True when both parts are the given ones.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        &*self.group == group && &*self.kind == kind
    }
}

/// kubectl's spelling: `deployment.apps`, `service`.
impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind.to_lowercase())?;
        if self.group.is_empty() { Ok(()) } else { write!(f, ".{}", self.group) }
    }
}

impl fmt::Debug for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The name of one object in one cluster. Cheap to clone and to compare.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(Arc<Parts>);

#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Parts {
    namespace: Box<str>,
    group_kind: GroupKind,
    name: Box<str>,
}

impl ObjectId {
    /// `namespace` is empty for cluster-scoped objects.
    pub fn new(group_kind: GroupKind, namespace: &str, name: &str) -> Self {
        Self(Arc::new(Parts { namespace: namespace.into(), group_kind, name: name.into() }))
    }

    /// Group and kind.
    pub fn group_kind(&self) -> &GroupKind {
        &self.0.group_kind
    }

    /// The API group; empty for the core group.
    pub fn group(&self) -> &str {
        self.0.group_kind.group()
    }

    /// The kind in CamelCase.
    pub fn kind(&self) -> &str {
        self.0.group_kind.kind()
    }

    /// The namespace; empty for cluster-scoped objects.
    pub fn namespace(&self) -> &str {
        &self.0.namespace
    }

    /// The object's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The same object as somebody sees it in another namespace (defaulting moves an object there).
    #[must_use]
    pub fn in_namespace(&self, namespace: &str) -> Self {
        Self::new(self.0.group_kind.clone(), namespace, &self.0.name)
    }
}

/// `deployment.apps/web`; the alternate form `{:#}` adds ` in NAMESPACE` when there is one.
impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0.group_kind, self.0.name)?;
        if f.alternate() && !self.0.namespace.is_empty() {
            write!(f, " in {}", self.0.namespace)?;
        }
        Ok(())
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
