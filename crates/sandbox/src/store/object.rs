//! One stored object: its identity decoded, the rest as JSON bytes that all readers share.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::json::{list, text};
use crate::kinds::Kind;

/// Where an object is within its resource. The namespace of cluster-scoped objects is empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) namespace: Arc<str>,
    pub(crate) name: Arc<str>,
}

impl Key {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

/// The state of an object at one version.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) key: Key,
    pub(crate) uid: Arc<str>,
    pub(crate) version: u64,
    pub(crate) labels: Arc<BTreeMap<String, String>>,
    /// Uids of its owners.
    pub(crate) owners: Arc<[Box<str>]>,
    /// It has a deletion timestamp.
    pub(crate) terminating: bool,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    /// Everything but `apiVersion` and `kind`.
    Json(Bytes),
    /// One of many objects that differ in name, uid and version only.
    Cast(Arc<Mould>),
}

/// How much of an object goes out, and under which name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// All of it.
    Full {
        /// The kind's name.
        kind: Arc<str>,
        /// Group and version as asked for.
        api_version: Arc<str>,
    },
    /// All of it without `kind` and `apiVersion`, as items of built-in lists.
    Bare,
    /// `PartialObjectMetadata`.
    Metadata,
}

impl Form {
    pub(crate) fn full(kind: &Kind, version: &str) -> Self {
        Self::Full { kind: kind.kind.clone(), api_version: kind.api_version(version).into() }
    }
}

impl Object {
    /// From a whole object, which has its name, uid and version.
    pub(crate) fn new(value: &mut Value) -> Self {
        if let Some(map) = value.as_object_mut() {
            map.remove("apiVersion");
            map.remove("kind");
        }
        let labels = value["metadata"]["labels"].as_object();
        let labels = labels
            .into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
        let owners = list(value, &["metadata", "ownerReferences"]);
        Self {
            key: Key::new(text(value, &["metadata", "namespace"]), text(value, &["metadata", "name"])),
            uid: text(value, &["metadata", "uid"]).into(),
            version: text(value, &["metadata", "resourceVersion"]).parse().unwrap_or(0),
            labels: Arc::new(labels.collect()),
            owners: owners.iter().map(|owner| text(owner, &["uid"]).into()).collect(),
            terminating: value["metadata"]["deletionTimestamp"].is_string(),
            body: Body::Json(Bytes::from(value.to_string())),
        }
    }

    pub(crate) fn cast(mould: Arc<Mould>, key: Key, uid: Arc<str>, version: u64) -> Self {
        Self {
            key,
            uid,
            version,
            labels: mould.labels.clone(),
            owners: Arc::from([]),
            terminating: false,
            body: Body::Cast(mould),
        }
    }

    /// The object as a tree, without `apiVersion` and `kind`.
    pub(crate) fn value(&self) -> Value {
        serde_json::from_slice(&self.bytes()).unwrap_or_default()
    }

    /// The object as a tree that names its kind.
    pub(crate) fn whole(&self, kind: &Kind, version: &str) -> Value {
        let mut value = self.value();
        value["apiVersion"] = kind.api_version(version).into();
        value["kind"] = (*kind.kind).into();
        value
    }

    fn bytes(&self) -> Bytes {
        match &self.body {
            Body::Json(bytes) => bytes.clone(),
            Body::Cast(mould) => {
                let mut out = Vec::new();
                mould.pour(self, &mut out);
                out.into()
            }
        }
    }

    /// Writes the object in one of its forms.
    pub(crate) fn render(&self, form: &Form, out: &mut Vec<u8>) {
        match form {
            Form::Full { kind, api_version } => {
                out.extend_from_slice(b"{\"kind\":\"");
                out.extend_from_slice(kind.as_bytes());
                out.extend_from_slice(b"\",\"apiVersion\":\"");
                out.extend_from_slice(api_version.as_bytes());
                out.extend_from_slice(b"\",");
                let bytes = self.bytes();
                out.extend_from_slice(bytes.get(1..).unwrap_or_default());
            }
            Form::Bare => out.extend_from_slice(&self.bytes()),
            Form::Metadata => {
                #[derive(Deserialize)]
                struct Only<'a> {
                    #[serde(borrow)]
                    metadata: &'a RawValue,
                }
                out.extend_from_slice(
                    b"{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":",
                );
                let bytes = self.bytes();
                let metadata =
                    serde_json::from_slice::<Only<'_>>(&bytes).map_or("{}", |only| only.metadata.get());
                out.extend_from_slice(metadata.as_bytes());
                out.push(b'}');
            }
        }
    }

    /// The same state under another version: what a watch sends for an object that left its selection.
    pub(crate) fn under_version(&self, version: u64) -> Self {
        let mut value = self.value();
        value["metadata"]["resourceVersion"] = version.to_string().into();
        Self::new(&mut value)
    }
}

/// The common part of many like objects.
#[derive(Debug)]
pub(crate) struct Mould {
    pieces: Vec<Piece>,
    labels: Arc<BTreeMap<String, String>>,
}

#[derive(Debug)]
enum Piece {
    Text(Box<[u8]>),
    Name,
    Uid,
    Version,
}

/// Stands in the mould for what differs; no real object has it.
const NAME: &str = "@name@";
const UID: &str = "@uid@";
const VERSION: &str = "@version@";

impl Mould {
    /// From an object of which name, uid and version are replaced in each copy.
    pub(crate) fn new(mut value: Value) -> Self {
        value["metadata"]["name"] = NAME.into();
        value["metadata"]["uid"] = UID.into();
        value["metadata"]["resourceVersion"] = VERSION.into();
        let object = Object::new(&mut value);
        let text = value.to_string();
        let mut pieces = Vec::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find('@') {
            let marks = [(NAME, Piece::Name), (UID, Piece::Uid), (VERSION, Piece::Version)];
            let found = marks.into_iter().find(|(mark, _)| rest[at..].starts_with(mark));
            let (length, piece) = found.map_or((1, None), |(mark, piece)| (mark.len(), Some(piece)));
            let kept = if piece.is_some() { at } else { at + 1 };
            pieces.push(Piece::Text(rest.as_bytes()[..kept].into()));
            pieces.extend(piece);
            rest = &rest[at + length..];
        }
        pieces.push(Piece::Text(rest.as_bytes().into()));
        Self { pieces, labels: object.labels }
    }

    fn pour(&self, object: &Object, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                Piece::Name => out.extend_from_slice(object.key.name.as_bytes()),
                Piece::Uid => out.extend_from_slice(object.uid.as_bytes()),
                Piece::Version => out.extend_from_slice(object.version.to_string().as_bytes()),
            }
        }
    }
}
