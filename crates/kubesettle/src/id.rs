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

/// The other spellings, both shared with kapply.
impl ObjectId {
    /// The object's key in an inventory: `<namespace>_<name>_<group>_<kind>`.
    ///
    /// RBAC names may hold colons, which a ConfigMap key may not: they are written as two
    /// underscores. Not every object has a key that leads back to it, see [`Self::has_faithful_key`].
    pub fn inventory_key(&self) -> String {
        let name = match RBAC_KINDS.contains(&self.kind()) && self.group() == RBAC_GROUP {
            true => self.name().replace(':', ENCODED_COLON),
            false => self.name().to_owned(),
        };
        [self.namespace(), &name, self.group(), self.kind()].join("_")
    }

    /// Reads an inventory key: the first underscore ends the namespace, the last two enclose the
    /// group, the rest is the name, in which every double underscore is a colon.
    pub fn parse_inventory_key(key: &str) -> Result<Self, InvalidKey> {
        let fail = |reason| InvalidKey { key: key.to_owned(), reason };
        let (namespace, rest) = key.split_once('_').ok_or_else(|| fail("has no underscore"))?;
        let (rest, kind) = rest.rsplit_once('_').ok_or_else(|| fail("has no kind"))?;
        let (name, group) = rest.rsplit_once('_').ok_or_else(|| fail("has no group"))?;
        let name = name.replace(ENCODED_COLON, ":");
        if name.contains('_') {
            return Err(fail("has too many fields"));
        }
        Ok(Self::new(GroupKind::new(group, kind), namespace, &name))
    }

    /// Whether [`Self::inventory_key`] leads back to this object and a ConfigMap accepts it. Names
    /// with an underscore, and names with a colon outside of RBAC, have no such key.
    pub fn has_faithful_key(&self) -> bool {
        let key = self.inventory_key();
        let accepted = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        key.len() <= MAX_CONFIG_MAP_KEY
            && key.bytes().all(accepted)
            && Self::parse_inventory_key(&key).is_ok_and(|id| id == *self)
    }

    /// The object as the depends-on annotation writes it: `<group>/<kind>/<name>` or
    /// `<group>/namespaces/<namespace>/<kind>/<name>`, with an empty group for the core group.
    pub fn reference(&self) -> String {
        let (group, kind, name) = (self.group(), self.kind(), self.name());
        match self.namespace() {
            "" => format!("{group}/{kind}/{name}"),
            namespace => format!("{group}/namespaces/{namespace}/{kind}/{name}"),
        }
    }

    /// Reads one reference of a depends-on annotation; blanks around it do not count.
    pub fn parse_reference(text: &str) -> Result<Self, InvalidReference> {
        let fail = |reason| InvalidReference { text: text.trim().to_owned(), reason };
        let fields: Vec<&str> = text.trim().split('/').collect();
        let (group, namespace, kind, name) = match *fields {
            [group, kind, name] => (group, None, kind, name),
            [group, "namespaces", namespace, kind, name] => (group, Some(namespace), kind, name),
            [_, other, _, _, _] => return Err(fail(ReferenceFault::NotNamespaces(other.to_owned()))),
            _ => return Err(fail(ReferenceFault::FieldCount(fields.len()))),
        };
        let empty = [("kind", kind), ("name", name), ("namespace", namespace.unwrap_or("-"))]
            .into_iter()
            .find_map(|(field, value)| value.is_empty().then_some(field));
        match empty {
            Some(field) => Err(fail(ReferenceFault::Empty(field))),
            None => Ok(Self::new(GroupKind::new(group, kind), namespace.unwrap_or_default(), name)),
        }
    }
}

const RBAC_GROUP: &str = "rbac.authorization.k8s.io";
const RBAC_KINDS: [&str; 4] = ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"];
const ENCODED_COLON: &str = "__";
const MAX_CONFIG_MAP_KEY: usize = 253;

/// A text that is no inventory key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key:?} is no inventory key (<namespace>_<name>_<group>_<kind>): it {reason}")]
pub struct InvalidKey {
    key: String,
    reason: &'static str,
}

/// A text that names no object in a depends-on annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidReference {
    text: String,
    reason: ReferenceFault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ReferenceFault {
    FieldCount(usize),
    NotNamespaces(String),
    Empty(&'static str),
}

impl fmt::Display for InvalidReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            ReferenceFault::FieldCount(found) => {
                write!(f, "expected 3 or 5 fields, found {found}: {:?}", self.text)
            }
            ReferenceFault::NotNamespaces(found) => {
                write!(f, "expected \"namespaces\" as second field, found {found:?}: {:?}", self.text)
            }
            ReferenceFault::Empty(field) => write!(f, "the {field} is empty: {:?}", self.text),
        }
    }
}

impl std::error::Error for InvalidReference {}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn id(group: &str, kind: &str, namespace: &str, name: &str) -> ObjectId {
        ObjectId::new(GroupKind::new(group, kind), namespace, name)
    }

    #[test]
    fn inventory_keys_there_and_back() {
        let rows = [
            ("shop_web_apps_Deployment", id("apps", "Deployment", "shop", "web")),
            ("shop_web__Service", id("", "Service", "shop", "web")),
            ("_shop__Namespace", id("", "Namespace", "", "shop")),
            (
                "_widgets.example.com_apiextensions.k8s.io_CustomResourceDefinition",
                id("apiextensions.k8s.io", "CustomResourceDefinition", "", "widgets.example.com"),
            ),
            (
                "ops_system____leader_rbac.authorization.k8s.io_Role",
                id(RBAC_GROUP, "Role", "ops", "system::leader"),
            ),
            (
                "_system__node_rbac.authorization.k8s.io_ClusterRole",
                id(RBAC_GROUP, "ClusterRole", "", "system:node"),
            ),
            (
                "______rbac.authorization.k8s.io_ClusterRoleBinding",
                id(RBAC_GROUP, "ClusterRoleBinding", "", "::"),
            ),
            ("x_a__b_rbac.authorization.k8s.io_RoleBinding", id(RBAC_GROUP, "RoleBinding", "x", "a:b")),
        ];
        for (key, id) in rows {
            assert_eq!(id.inventory_key(), key);
            assert_eq!(ObjectId::parse_inventory_key(key), Ok(id.clone()));
            assert!(id.has_faithful_key(), "{key}");
        }
    }

    #[test]
    fn a_double_underscore_is_a_colon_in_every_kind() {
        let found = ObjectId::parse_inventory_key("x_a__b__ConfigMap");
        assert_eq!(found, Ok(id("", "ConfigMap", "x", "a:b")));
    }

    #[test]
    fn what_is_no_inventory_key() {
        let rows = [
            ("", "has no underscore"),
            ("shop", "has no underscore"),
            ("shop_web", "has no kind"),
            ("shop_web_Deployment", "has no group"),
            ("shop_web_extra_apps_Deployment", "has too many fields"),
            ("shop_a_b__c_rbac.authorization.k8s.io_Role", "has too many fields"),
            ("shop____x_rbac.authorization.k8s.io_Role", "has too many fields"),
        ];
        for (key, wanted) in rows {
            let found = ObjectId::parse_inventory_key(key).map_err(|error| error.reason);
            assert_eq!(found, Err(wanted), "{key}");
        }
        let text = ObjectId::parse_inventory_key("shop").map_err(|error| error.to_string());
        let wanted = "\"shop\" is no inventory key (<namespace>_<name>_<group>_<kind>): it has no underscore";
        assert_eq!(text, Err(wanted.to_owned()));
    }

    #[test]
    fn some_objects_have_no_faithful_key() {
        let long = "x".repeat(250);
        for id in [
            id("", "Secret", "x", "a:b"),
            id(RBAC_GROUP, "Role", "x", "a_b"),
            id(RBAC_GROUP, "Role", "x", "a__b"),
            id(RBAC_GROUP, "Role", "x", "a b"),
            id("", "ConfigMap", "x", &long),
        ] {
            assert!(!id.has_faithful_key(), "{id}");
        }
    }

    #[test]
    fn references_there_and_back() {
        let rows = [
            ("apps/namespaces/shop/Deployment/web", id("apps", "Deployment", "shop", "web")),
            ("/namespaces/shop/Service/web", id("", "Service", "shop", "web")),
            ("/Namespace/shop", id("", "Namespace", "", "shop")),
            (
                "rbac.authorization.k8s.io/ClusterRole/system:node",
                id(RBAC_GROUP, "ClusterRole", "", "system:node"),
            ),
            ("/namespaces/namespaces/Pod/namespaces", id("", "Pod", "namespaces", "namespaces")),
        ];
        for (text, id) in rows {
            assert_eq!(id.reference(), text);
            assert_eq!(ObjectId::parse_reference(text), Ok(id.clone()));
            assert_eq!(ObjectId::parse_reference(&format!("  {text}\n")), Ok(id));
        }
    }

    #[test]
    fn what_is_no_reference() {
        let rows = [
            ("", "expected 3 or 5 fields, found 1: \"\""),
            ("web", "expected 3 or 5 fields, found 1: \"web\""),
            (" Deployment/web ", "expected 3 or 5 fields, found 2: \"Deployment/web\""),
            ("apps/v1/Deployment/web", "expected 3 or 5 fields, found 4: \"apps/v1/Deployment/web\""),
            ("a/namespaces/b/c/d/e", "expected 3 or 5 fields, found 6: \"a/namespaces/b/c/d/e\""),
            ("a/b/c/d/e", "expected \"namespaces\" as second field, found \"b\": \"a/b/c/d/e\""),
            ("//web", "the kind is empty: \"//web\""),
            ("apps/Deployment/", "the name is empty: \"apps/Deployment/\""),
            (
                "apps/namespaces//Deployment/web",
                "the namespace is empty: \"apps/namespaces//Deployment/web\"",
            ),
        ];
        for (text, wanted) in rows {
            let found = ObjectId::parse_reference(text).map_err(|error| error.to_string());
            assert_eq!(found, Err(wanted.to_owned()), "{text}");
        }
    }
}
