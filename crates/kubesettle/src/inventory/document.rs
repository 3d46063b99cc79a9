//! A ConfigMap as JSON, with everything kept that is not ours to decide.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Field names of `metadata` that have a place of their own, and those that only the server writes and
/// that would only be carried back to it: managed fields alone are as large as the data.
const NOT_KEPT: &[&str] = &[
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "labels",
    "annotations",
    "managedFields",
    "creationTimestamp",
    "generation",
    "selfLink",
];

/// A ConfigMap.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Document {
    pub(super) namespace: Box<str>,
    pub(super) name: Box<str>,
    /// Empty when it does not exist yet.
    pub(super) uid: Box<str>,
    pub(super) resource_version: Box<str>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) data: BTreeMap<String, String>,
    /// Other fields of `metadata`: finalizers, owner references.
    metadata: Map<String, Value>,
    /// `binaryData` and `immutable`.
    rest: Map<String, Value>,
}

#[derive(Deserialize)]
struct Wire {
    metadata: Map<String, Value>,
    #[serde(default)]
    data: Option<BTreeMap<String, String>>,
    #[serde(default, rename = "binaryData")]
    binary_data: Option<Value>,
    #[serde(default)]
    immutable: Option<Value>,
}

impl Document {
    /// A ConfigMap that does not exist yet.
    pub(super) fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.into(), name: name.into(), ..Self::default() }
    }

    /// Reads the JSON of a ConfigMap.
    pub(super) fn parse(json: &[u8]) -> Result<Self, String> {
        let wire: Wire = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let text = |key: &str| wire.metadata.get(key).and_then(Value::as_str).unwrap_or_default();
        let texts = |key: &str| match wire.metadata.get(key) {
            Some(value) => Option::<BTreeMap<String, String>>::deserialize(value)
                .map(Option::unwrap_or_default)
                .map_err(|error| format!("metadata.{key}: {error}")),
            None => Ok(BTreeMap::new()),
        };
        let kept = wire.metadata.iter().filter(|(key, _)| !NOT_KEPT.contains(&key.as_str()));
        let rest = [("binaryData", wire.binary_data.clone()), ("immutable", wire.immutable.clone())];
        Ok(Self {
            namespace: text("namespace").into(),
            name: text("name").into(),
            uid: text("uid").into(),
            resource_version: text("resourceVersion").into(),
            labels: texts("labels")?,
            annotations: texts("annotations")?,
            metadata: kept.map(|(key, value)| (key.clone(), value.clone())).collect(),
            rest: rest.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect(),
            data: wire.data.unwrap_or_default(),
        })
    }

    /// The same as something that is yet to be created.
    pub(super) fn as_new(&self) -> Self {
        Self { uid: Box::default(), resource_version: Box::default(), ..self.clone() }
    }

    pub(super) fn exists(&self) -> bool {
        !self.uid.is_empty()
    }

    /// The body of a POST (nothing exists yet) or of a PUT (with the uid and the version that it
    /// replaces), compact, all keys in alphabetical order.
    pub(super) fn body(&self) -> Bytes {
        let mut metadata = self.metadata.clone();
        for (key, text) in [
            ("name", &self.name),
            ("namespace", &self.namespace),
            ("resourceVersion", &self.resource_version),
            ("uid", &self.uid),
        ] {
            if !text.is_empty() {
                metadata.insert(key.to_owned(), text[..].into());
            }
        }
        for (key, texts) in [("annotations", &self.annotations), ("labels", &self.labels)] {
            if !texts.is_empty() {
                metadata.insert(key.to_owned(), object(texts));
            }
        }
        let mut body = self.rest.clone();
        body.insert("apiVersion".to_owned(), "v1".into());
        body.insert("data".to_owned(), object(&self.data));
        body.insert("kind".to_owned(), "ConfigMap".into());
        body.insert("metadata".to_owned(), sorted(metadata));
        sorted(body).to_string().into()
    }

    /// The body of a DELETE that only takes what was read.
    pub(super) fn delete_body(&self) -> Bytes {
        serde_json::json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": { "resourceVersion": &*self.resource_version, "uid": &*self.uid },
        })
        .to_string()
        .into()
    }
}

fn object(texts: &BTreeMap<String, String>) -> Value {
    texts.iter().map(|(key, text)| (key.clone(), Value::from(text.as_str()))).collect()
}

/// Keys in alphabetical order, whatever order this build's JSON objects keep.
fn sorted(fields: Map<String, Value>) -> Value {
    let fields: BTreeMap<String, Value> = fields.into_iter().collect();
    Value::Object(fields.into_iter().collect())
}
