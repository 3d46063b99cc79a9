use std::fmt;

use crate::kind::Kind;
use crate::read::Leaf;
use crate::time::Timestamp;
use crate::uid::Uid;

/// The bytes are not a JSON object (in UTF-8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotAnObject;

impl fmt::Display for NotAnObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a JSON object")
    }
}

impl std::error::Error for NotAnObject {}

/// What any later step needs of one object: a few hundred bytes that stand for it.
#[derive(Clone, Debug)]
pub struct Digest {
    kind: Kind,
    namespace: Option<Box<str>>,
    name: Box<str>,
    resource_version: Box<str>,
    uid: Option<Uid>,
    controller: Option<Uid>,
    generation: Option<i64>,
    created: Option<Timestamp>,
    deleting: bool,
}

/// Digests an object that says its own type.
pub fn digest(json: &[u8]) -> Result<Digest, NotAnObject> {
    let object = Leaf::document(json).ok_or(NotAnObject)?;
    let [api_version, kind] = object.fields(["apiVersion", "kind"]);
    let kind = Kind::new(
        &api_version.text().unwrap_or_default(),
        &kind.text().unwrap_or_default(),
    );
    Ok(read(kind, object))
}

/// Digests an object whose type is known from elsewhere: items of a list do not carry it.
pub fn digest_as(kind: &Kind, json: &[u8]) -> Result<Digest, NotAnObject> {
    Ok(read(kind.clone(), Leaf::document(json).ok_or(NotAnObject)?))
}

fn read(kind: Kind, object: Leaf<'_>) -> Digest {
    let [
        name,
        namespace,
        uid,
        version,
        generation,
        created,
        deleted,
        owners,
    ] = object.field("metadata").fields([
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "ownerReferences",
    ]);
    let owners = owners.items();
    let controller = owners
        .iter()
        .find(|owner| owner.field("controller").flag() == Some(true))
        .or(match owners.as_slice() {
            [only] => Some(only),
            _ => None,
        })
        .and_then(|owner| owner.field("uid").text());
    Digest {
        kind,
        namespace: namespace
            .text()
            .filter(|n| !n.is_empty())
            .map(|n| n.as_ref().into()),
        name: name.text().unwrap_or_default().as_ref().into(),
        resource_version: version.text().unwrap_or_default().as_ref().into(),
        uid: uid.text().map(|uid| Uid::parse(&uid)),
        controller: controller.map(|uid| Uid::parse(&uid)),
        generation: generation.int(),
        created: created.text().and_then(|at| Timestamp::parse(&at)),
        deleting: deleted.text().is_some_and(|at| !at.is_empty()),
    }
}

impl Digest {
    /// Group, version and kind.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The namespace; `None` for objects of the cluster.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The uid, which every object on a server has.
    pub fn uid(&self) -> Option<Uid> {
        self.uid
    }

    /// The uid of the owner that controls this object: the owner reference with
    /// `controller: true`, else the only owner reference there is.
    pub fn controller(&self) -> Option<Uid> {
        self.controller
    }

    /// `metadata.generation`.
    pub fn generation(&self) -> Option<i64> {
        self.generation
    }

    /// `metadata.resourceVersion`, empty when there is none. Opaque.
    pub fn resource_version(&self) -> &str {
        &self.resource_version
    }

    /// Whether the object is being deleted.
    pub fn deleting(&self) -> bool {
        self.deleting
    }

    /// `metadata.creationTimestamp`.
    pub fn created(&self) -> Option<Timestamp> {
        self.created
    }

    /// Whether descendants could explain the verdict: the object's own status is not settled, and
    /// its kind generates others ([`generated_kinds`](crate::generated_kinds)).
    pub fn wants_children(&self) -> bool {
        !crate::generated_kinds(&self.kind).is_empty()
    }
}
