use std::collections::HashMap;

use crate::kind::Kind;
use crate::read::Leaf;

/// When a StorageClass binds a claim to a volume.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BindingMode {
    /// As soon as the claim exists.
    Immediate,
    /// When the first pod that uses the claim has been scheduled (`WaitForFirstConsumer`).
    FirstConsumer,
}

/// What the schema of a custom kind promises about its status.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StatusSchema {
    /// `status.conditions` is declared: somebody will write it.
    Conditions,
    /// A status is declared, without conditions, or without any detail.
    Other,
    /// No status is declared: nobody will ever write one.
    None,
}

/// What is known of the cluster besides the objects judged. `Default`: nothing.
///
/// One value serves all objects of a run. Nothing known is never wrong, only less exact: a claim
/// of an unknown StorageClass is judged by its events, a kind of an unknown schema gets a short
/// grace.
#[derive(Clone, Default, Debug)]
pub struct Facts {
    classes: HashMap<Box<str>, BindingMode>,
    default_class: Option<Box<str>>,
    schemas: HashMap<Kind, StatusSchema>,
}

impl Facts {
    /// Records the binding mode of a StorageClass.
    pub fn set_storage_class(&mut self, name: &str, mode: BindingMode, is_default: bool) {
        self.classes.insert(name.into(), mode);
        if is_default {
            self.default_class = Some(name.into());
        }
    }

    /// Records what the schema of a kind promises. Only custom kinds are ever looked up.
    pub fn set_status_schema(&mut self, kind: Kind, schema: StatusSchema) {
        self.schemas.insert(kind, schema);
    }

    /// The binding mode of a StorageClass; without a name that of the default class.
    pub fn binding_mode(&self, class: Option<&str>) -> Option<BindingMode> {
        let name = class.or(self.default_class.as_deref())?;
        self.classes.get(name).copied()
    }

    /// What the schema of a kind promises, as far as it is known.
    pub fn status_schema(&self, kind: &Kind) -> Option<StatusSchema> {
        self.schemas.get(kind).copied()
    }

    /// Takes what there is to learn from an object: a StorageClass or a CustomResourceDefinition
    /// as the API server returns it. Other objects, and what is no object, teach nothing.
    pub fn learn(&mut self, json: &[u8]) {
        if let Some([kind]) = Leaf::document(json, ["kind"])
            && let Some(kind) = kind.text()
        {
            self.learn_as(&kind, json);
        }
    }

    /// [`learn`](Self::learn) from an object whose kind is known from elsewhere: the items of a list
    /// do not carry it.
    pub fn learn_as(&mut self, kind: &str, json: &[u8]) {
        let names = ["metadata", "volumeBindingMode", "spec"];
        let Some([metadata, binding, spec]) = Leaf::document(json, names) else {
            return;
        };
        match kind {
            "StorageClass" => {
                let [name, annotations] = metadata.fields(["name", "annotations"]);
                let is_default = [
                    "storageclass.kubernetes.io/is-default-class",
                    "storageclass.beta.kubernetes.io/is-default-class",
                ]
                .into_iter()
                .any(|key| annotations.field(key).text().as_deref() == Some("true"));
                let mode = match binding.text().as_deref() {
                    Some("WaitForFirstConsumer") => BindingMode::FirstConsumer,
                    _ => BindingMode::Immediate,
                };
                if let Some(name) = name.text() {
                    self.set_storage_class(&name, mode, is_default);
                }
            }
            "CustomResourceDefinition" => self.learn_schemas(spec),
            _ => {}
        }
    }

    fn learn_schemas(&mut self, spec: Leaf<'_>) {
        let [group, names, versions] = spec.fields(["group", "names", "versions"]);
        let (Some(group), Some(kind)) = (group.text(), names.field("kind").text()) else {
            return;
        };
        for version in versions.items() {
            let [name, schema, subresources] = version.fields(["name", "schema", "subresources"]);
            let Some(name) = name.text() else { continue };
            let root = schema.field("openAPIV3Schema");
            let status = root.path(&["properties", "status"]);
            let promise = if status.path(&["properties", "conditions"]).is_some() {
                StatusSchema::Conditions
            } else if status.is_some() || subresources.field("status").is_some() || is_free(root) {
                StatusSchema::Other
            } else {
                StatusSchema::None
            };
            self.set_status_schema(Kind::new(&format!("{group}/{name}"), &kind), promise);
        }
    }
}

/// A schema that keeps fields it does not name may get a status it does not name.
fn is_free(root: Leaf<'_>) -> bool {
    root.field("x-kubernetes-preserve-unknown-fields").flag() == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_teaches_what_its_versions_promise() {
        let mut facts = Facts::default();
        facts.learn(
            br#"{"kind": "CustomResourceDefinition", "spec": {"group": "example.com",
            "names": {"kind": "Widget"}, "versions": [
                {"name": "v1", "schema": {"openAPIV3Schema": {"properties": {"status": {"properties": {"conditions": {}}}}}}},
                {"name": "v2", "schema": {"openAPIV3Schema": {}}, "subresources": {"status": {}}},
                {"name": "v3", "schema": {"openAPIV3Schema": {"x-kubernetes-preserve-unknown-fields": true}}},
                {"name": "v4", "schema": {"openAPIV3Schema": {"properties": {"spec": {}}}}}]}}"#,
        );
        let schema =
            |version: &str| facts.status_schema(&Kind::new(&format!("example.com/{version}"), "Widget"));
        let of_all = ["v1", "v2", "v3", "v4", "v5"].map(schema);
        let (other, none) = (Some(StatusSchema::Other), Some(StatusSchema::None));
        assert_eq!(of_all, [Some(StatusSchema::Conditions), other, other, none, None]);
    }

    #[test]
    fn a_claim_without_a_class_takes_the_default_one() {
        let mut facts = Facts::default();
        facts.learn(
            br#"{"kind": "StorageClass", "metadata": {"name": "local", "annotations":
            {"storageclass.kubernetes.io/is-default-class": "true"}}, "volumeBindingMode": "WaitForFirstConsumer"}"#,
        );
        facts.learn(br#"{"kind": "StorageClass", "metadata": {"name": "fast"}}"#);
        assert_eq!(facts.binding_mode(None), Some(BindingMode::FirstConsumer));
        assert_eq!(facts.binding_mode(Some("fast")), Some(BindingMode::Immediate));
        assert_eq!(facts.binding_mode(Some("gone")), None);
    }
}
