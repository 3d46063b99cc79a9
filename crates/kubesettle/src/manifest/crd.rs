use serde_json::Value;

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

/// What `body` defines, when it is a CustomResourceDefinition. Missing parts are for the server to
/// complain about.
pub(super) fn facts(kind: &GroupKind, body: &Value) -> Option<CrdFacts> {
    if !kind.is("apiextensions.k8s.io", "CustomResourceDefinition") {
        return None;
    }
    let text = |path: &str| body.pointer(path).and_then(Value::as_str);
    let versions =
        body.pointer("/spec/versions").and_then(Value::as_array).map_or(&[][..], |versions| versions);
    let served = || versions.iter().filter(|version| version.get("served") == Some(&Value::Bool(true)));
    Some(CrdFacts {
        group_kind: GroupKind::new(text("/spec/group")?, text("/spec/names/kind")?),
        plural: text("/spec/names/plural")?.into(),
        scope: if text("/spec/scope") == Some("Cluster") { Scope::Cluster } else { Scope::Namespaced },
        served: served().filter_map(|version| version.get("name")?.as_str()).map(Into::into).collect(),
        status: served().map(status_schema).max().unwrap_or(StatusSchema::None),
    })
}

fn status_schema(version: &Value) -> StatusSchema {
    match version.pointer("/schema/openAPIV3Schema/properties/status") {
        None => StatusSchema::None,
        Some(status) => match status.pointer("/properties/conditions") {
            None => StatusSchema::Plain,
            Some(_) => StatusSchema::Conditions,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_definition_is_read() {
        let version = |name: &str, served: bool, status: Value| json!({"name": name, "served": served, "schema": {"openAPIV3Schema": {"properties": status}}});
        let crd = |versions: Value| {
            let body = json!({"spec": {"group": "example.com", "scope": "Cluster", "versions": versions,
                "names": {"kind": "Widget", "plural": "widgets"}}});
            facts(&GroupKind::new("apiextensions.k8s.io", "CustomResourceDefinition"), &body).unwrap()
        };
        let plain = json!({"status": {"type": "object"}});
        let conditions = json!({"status": {"properties": {"conditions": {"type": "array"}}}});
        let facts =
            crd(json!([version("v1", true, plain.clone()), version("v2", false, conditions.clone())]));
        assert!(facts.group_kind().is("example.com", "Widget"));
        assert_eq!((facts.plural(), facts.scope()), ("widgets", Scope::Cluster));
        assert_eq!(facts.served().collect::<Vec<_>>(), ["v1"]);
        assert_eq!(facts.status(), StatusSchema::Plain);
        assert_eq!(crd(json!([version("v1", true, conditions)])).status(), StatusSchema::Conditions);
        assert_eq!(crd(json!([version("v1", true, json!({}))])).status(), StatusSchema::None);
    }

    #[test]
    fn other_kinds_define_nothing() {
        assert_eq!(facts(&GroupKind::new("", "Pod"), &json!({})), None);
        let crd = GroupKind::new("apiextensions.k8s.io", "CustomResourceDefinition");
        assert_eq!(facts(&crd, &json!({"spec": {"group": "example.com"}})), None);
    }
}
