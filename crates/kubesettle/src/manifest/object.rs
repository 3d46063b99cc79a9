use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value};

use super::check;
use super::crd::CrdFacts;
use super::load;
use super::problem::{InputProblems, Place};
use super::references::Reference;
use crate::id::{GroupKind, ObjectId};

/// The annotation that lists the objects an object waits for.
pub const DEPENDS_ON: &str = "config.kubernetes.io/depends-on";
/// The annotation that takes field values from other objects at apply time.
pub const APPLY_TIME_MUTATION: &str = "config.kubernetes.io/apply-time-mutation";
/// The label that makes a ConfigMap the template of an inventory, or an inventory.
pub const INVENTORY_ID: &str = "cli-utils.sigs.k8s.io/inventory-id";

/// Whether a kind lives in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Objects have a namespace.
    Namespaced,
    /// Objects have none.
    Cluster,
    /// Nobody asked yet, or the kind is not served yet.
    Unknown,
}

/// One object of the input, checked, as compact JSON.
///
/// Cheap to clone. `Debug` shows the name and the place, never the body.
#[derive(Clone)]
pub struct Object {
    pub(super) id: ObjectId,
    pub(super) api_version: Arc<str>,
    pub(super) json: Bytes,
    pub(super) place: Place,
    pub(super) on_disk: bool,
    pub(super) scope: Scope,
    pub(super) facts: Arc<Facts>,
}

/// What later steps ask about an object, read once.
#[derive(Clone, Default)]
pub(super) struct Facts {
    pub(super) labels: Pairs,
    pub(super) annotations: Pairs,
    pub(super) depends_on: Box<[ObjectId]>,
    pub(super) substitutions: Box<[Substitution]>,
    pub(super) references: Box<[Reference]>,
    pub(super) crd: Option<Box<CrdFacts>>,
}

pub(super) type Pairs = Box<[(Box<str>, Box<str>)]>;

/// One entry of the apply-time mutation annotation: a field of another object that becomes (part
/// of) a field of this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Substitution {
    /// The object to read from. Its namespace is empty until it is known whether the kind has one;
    /// [`Object::substitutions`] after [`resolve`](super::Manifests::resolve) gives the target's.
    pub source: ObjectId,
    /// The version to read it in, where the annotation names one; else any.
    pub version: Option<Box<str>>,
    /// JSONPath of the field to read.
    pub source_path: Box<str>,
    /// JSONPath of the field to write.
    pub target_path: Box<str>,
    /// The text within the target field to replace; without it the whole field is.
    pub token: Option<Box<str>>,
}

impl Object {
    /// What names it. The namespace is final only after [`resolve`](super::Manifests::resolve).
    pub fn id(&self) -> &ObjectId {
        &self.id
    }

    /// Group and kind.
    pub fn group_kind(&self) -> &GroupKind {
        self.id.group_kind()
    }

    /// `apps/v1`, as written.
    pub fn api_version(&self) -> &str {
        &self.api_version
    }

    /// The version without the group: `v1`.
    pub fn version(&self) -> &str {
        self.api_version.rsplit_once('/').map_or(&self.api_version, |(_, version)| version)
    }

    /// The body as compact JSON, ready to be sent. Sharing it copies nothing.
    pub fn json(&self) -> &Bytes {
        &self.json
    }

    /// File and line it comes from.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Whether the kind has namespaces, as far as is known.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The value of one of the labels that steer this tool or kapply.
    pub fn label(&self, key: &str) -> Option<&str> {
        find(&self.facts.labels, key)
    }

    /// The value of one of the annotations that steer this tool, kapply or kubectl.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        find(&self.facts.annotations, key)
    }

    /// The inventory id, when this is an inventory (template).
    pub fn inventory_id(&self) -> Option<&str> {
        let template = self.id.group_kind().is("", "ConfigMap");
        self.label(INVENTORY_ID).filter(|id| template && !id.is_empty())
    }

    /// The objects that the depends-on annotation names.
    pub fn depends_on(&self) -> &[ObjectId] {
        &self.facts.depends_on
    }

    /// The entries of the apply-time mutation annotation.
    pub fn substitutions(&self) -> &[Substitution] {
        &self.facts.substitutions
    }

    /// What a CustomResourceDefinition defines.
    pub fn crd(&self) -> Option<&CrdFacts> {
        self.facts.crd.as_deref()
    }

    /// An object as the cluster holds it, to be ordered together with those of the input. Its place
    /// is `cluster`. Metadata alone is enough, if apiVersion and kind are there.
    ///
    /// # Errors
    ///
    /// The bytes are no object, or an annotation that orders objects cannot be read.
    pub fn from_live(json: &[u8]) -> Result<Self, InputProblems> {
        check::live(json).map_err(InputProblems::new)
    }

    /// The body with these annotations set.
    pub fn json_with_annotations(&self, annotations: &[(&str, &str)]) -> Bytes {
        self.json_with("annotations", annotations)
    }

    /// The body with these labels set.
    pub fn json_with_labels(&self, labels: &[(&str, &str)]) -> Bytes {
        self.json_with("labels", labels)
    }

    fn json_with(&self, field: &str, pairs: &[(&str, &str)]) -> Bytes {
        self.edited(|metadata| {
            let entry = metadata.entry(field).or_insert_with(|| Value::Object(Map::new()));
            if entry.is_null() {
                *entry = Value::Object(Map::new());
            }
            if let Value::Object(map) = entry {
                map.extend(pairs.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))));
            }
        })
    }

    /// The line of a field, such as `spec.template.spec.containers[0].image`, in the file the object
    /// comes from; that of the nearest field around it when it is not written out. A key with dots
    /// goes in brackets: `metadata.labels["a.b/c"]`.
    ///
    /// The file is read again for this. `None` when it has changed since, or was no file.
    pub fn line_of(&self, path: &str) -> Option<u32> {
        load::line_of(self, path)
    }

    /// Moves the object, body and all. `None` takes the namespace away.
    pub(super) fn set_namespace(&mut self, namespace: Option<&str>) {
        self.json = self.edited(|metadata| {
            match namespace {
                Some(namespace) => metadata.insert("namespace".to_owned(), namespace.into()),
                None => metadata.remove("namespace"),
            };
        });
        self.id = self.id.in_namespace(namespace.unwrap_or_default());
    }

    fn edited(&self, edit: impl FnOnce(&mut Map<String, Value>)) -> Bytes {
        let Ok(mut body) = serde_json::from_slice::<Value>(&self.json) else { return self.json.clone() };
        if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
            edit(metadata);
        }
        compact(&body)
    }

    pub(crate) fn references(&self) -> &[Reference] {
        &self.facts.references
    }
}

/// JSON without a spare byte, in either sense.
pub(crate) fn compact(body: &Value) -> Bytes {
    // A tree with text keys always has a JSON form.
    serde_json::to_vec(body).unwrap_or_default().into_boxed_slice().into()
}

fn find<'a>(pairs: &'a Pairs, key: &str) -> Option<&'a str> {
    pairs.iter().find(|(k, _)| &**k == key).map(|(_, value)| &**value)
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#} ({})", self.id, self.place)
    }
}
