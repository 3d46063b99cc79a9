use std::borrow::Cow;
use std::fmt;

use crate::annotations::{self, ReadyWhen};
use crate::cause::{CauseCode, ObjectRef};
use crate::kind::Kind;
use crate::outcome::Own;
use crate::policy::Hold;
use crate::read::Leaf;
use crate::rules::{self, Rule, Rulebook};
use crate::time::Timestamp;
use crate::uid::Uid;
use crate::verdict::Status;
use crate::view::{Meta, View};

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
///
/// A digest holds the object's identity, its place among its owners, its own verdict and the
/// faults found on it. Everything that depends on other objects, on time or on settings is left to
/// [`assess`](crate::assess), so a digest never goes stale: it is as true as the object it was
/// made from.
#[derive(Clone, Debug)]
pub struct Digest {
    uid: Option<Uid>,
    controller: Option<Uid>,
    kind: Kind,
    /// Namespace, name and resourceVersion, one after the other.
    text: Box<str>,
    namespace_end: u16,
    name_end: u16,
    steps: u16,
    /// Of [`DELETING`] and so on.
    flags: u8,
    generation: Number,
    /// In milliseconds.
    created: Number,
    revision: u64,
    own: Own,
    rare: Option<Box<Rare>>,
}

const DELETING: u8 = 1;
const ORDERED: u8 = 2;
const NEEDS_CHILDREN: u8 = 4;
const UNDATED: u8 = 8;

/// A number that may be missing, in half the room of an `Option`.
#[derive(Clone, Copy, Debug)]
struct Number(i64);

impl Number {
    fn new(number: Option<i64>) -> Self {
        Self(number.unwrap_or(i64::MIN))
    }

    fn get(self) -> Option<i64> {
        (self.0 != i64::MIN).then_some(self.0)
    }
}

/// What few objects have.
#[derive(Clone, Debug)]
struct Rare {
    holds: Option<Box<[(CauseCode, Hold)]>>,
    ready_when: Option<ReadyWhen>,
    /// What readers keep.
    kept: Option<Box<[u8]>>,
}

/// Digests an object that says its own type.
///
/// # Errors
///
/// When the bytes are not a JSON object in UTF-8. Every JSON object has a digest, whatever is or
/// is not in it.
pub fn digest(json: &[u8]) -> Result<Digest, NotAnObject> {
    Rulebook::default().digest(json)
}

/// Digests an object whose type is known from elsewhere: the items of a list do not carry it.
///
/// # Errors
///
/// When the bytes are not a JSON object in UTF-8.
pub fn digest_as(kind: &Kind, json: &[u8]) -> Result<Digest, NotAnObject> {
    Rulebook::default().digest_as(kind, json)
}

impl Rulebook {
    /// [`digest`] by these rules.
    ///
    /// # Errors
    ///
    /// When the bytes are not a JSON object in UTF-8.
    pub fn digest(&self, json: &[u8]) -> Result<Digest, NotAnObject> {
        let [api_version, kind, rest @ ..] = Leaf::document(json, TOP).ok_or(NotAnObject)?;
        let [api_version, kind] = [api_version, kind].map(|leaf| leaf.text().unwrap_or_default());
        Ok(read(self, Kind::new(&api_version, &kind), rest, json))
    }

    /// [`digest_as`] by these rules.
    ///
    /// # Errors
    ///
    /// When the bytes are not a JSON object in UTF-8.
    pub fn digest_as(&self, kind: &Kind, json: &[u8]) -> Result<Digest, NotAnObject> {
        let [_, _, rest @ ..] = Leaf::document(json, TOP).ok_or(NotAnObject)?;
        Ok(read(self, kind.clone(), rest, json))
    }
}

impl Rulebook {
    /// The rule that decides on an object by itself. What [`assess`](crate::assess) adds (causes
    /// and their holds, graces, what surrounds it) is told by the verdict.
    ///
    /// # Errors
    ///
    /// When the bytes are not a JSON object in UTF-8.
    pub fn rule(&self, json: &[u8]) -> Result<Rule, NotAnObject> {
        let [api_version, kind, metadata, spec, status] = Leaf::document(json, TOP).ok_or(NotAnObject)?;
        let [api_version, kind] = [api_version, kind].map(|leaf| leaf.text().unwrap_or_default());
        let kind = Kind::new(&api_version, &kind);
        let view = View::new(&kind, meta_of(metadata), spec, status);
        Ok(rules::judge(self, &view, json).1.rule(&kind))
    }
}

fn meta_of(metadata: Leaf<'_>) -> Meta<'_> {
    let [generation, deletion, annotations, labels, finalizers] =
        metadata.fields(["generation", "deletionTimestamp", "annotations", "labels", "finalizers"]);
    Meta { generation: generation.int(), deletion, annotations, labels, finalizers }
}

const TOP: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "status"];

fn read(book: &Rulebook, kind: Kind, [metadata, spec, status]: [Leaf<'_>; 3], json: &[u8]) -> Digest {
    let [
        name,
        namespace,
        uid,
        version,
        generation,
        created,
        deletion,
        owners,
        annotations,
        labels,
        finalizers,
    ] = metadata.fields([
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "ownerReferences",
        "annotations",
        "labels",
        "finalizers",
    ]);
    let generation = generation.int();
    let meta = Meta { generation, deletion, annotations, labels, finalizers };
    let view = View::new(&kind, meta, spec, status);
    let (own, _) = rules::judge(book, &view, json);
    let unsettled = own.status() != Status::Current;
    let steps = if unsettled { rules::steps_of(&view) } else { 0 };
    let revision = rules::revision_of(&view);
    let ordered = rules::replaces_in_order(&view);
    let undated = rules::is_undated(book, &view, status);
    let deleting = own.status() == Status::Terminating;
    let (ready_when, holds) = annotations::read(annotations);
    drop(view);
    let kept = book.keep(&kind, json);
    let rare = (holds.is_some() || ready_when.is_some() || kept.is_some())
        .then(|| Box::new(Rare { holds, ready_when, kept }));
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    let flags = flag(deleting, DELETING)
        | flag(ordered, ORDERED)
        | flag(book.needs_children(&kind), NEEDS_CHILDREN)
        | flag(undated, UNDATED);

    let part = |leaf: Leaf<'_>| {
        let text = leaf.text().unwrap_or_default();
        crate::text::prefix(&text, 1024).to_owned()
    };
    let [namespace, name, version] = [namespace, name, version].map(|leaf| match leaf.text() {
        Some(Cow::Borrowed(text)) => Cow::Borrowed(crate::text::prefix(text, 1024)),
        _ => Cow::Owned(part(leaf)),
    });
    let place = |at: usize| u16::try_from(at).unwrap_or(0);
    Digest {
        uid: uid.text().map(|uid| Uid::parse(&uid)),
        controller: controller_of(owners),
        namespace_end: place(namespace.len()),
        name_end: place(namespace.len() + name.len()),
        text: [namespace, name, version].concat().into(),
        kind,
        generation: Number::new(generation),
        created: Number::new(created.text().and_then(|at| Timestamp::parse(&at)).map(Timestamp::as_millis)),
        revision,
        own,
        steps,
        flags,
        rare,
    }
}

/// The owner reference with `controller: true`, else the only one there is.
fn controller_of(owners: Leaf<'_>) -> Option<Uid> {
    let mut controller = None;
    let mut only = None;
    let mut count = 0_usize;
    owners.for_each(|owner| {
        let [uid, controls] = owner.fields(["uid", "controller"]);
        let uid = uid.text().map(|uid| Uid::parse(&uid));
        count += 1;
        only = uid;
        if controls.flag() == Some(true) && controller.is_none() {
            controller = uid;
        }
    });
    controller.or(only.filter(|_| count == 1))
}

impl Digest {
    /// Group, version and kind.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The namespace; `None` for objects of the cluster.
    pub fn namespace(&self) -> Option<&str> {
        let namespace = self.text.get(..self.namespace_end.into())?;
        (!namespace.is_empty()).then_some(namespace)
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.text.get(self.namespace_end.into()..self.name_end.into()).unwrap_or_default()
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
        self.generation.get()
    }

    /// `metadata.resourceVersion`, empty when there is none. Opaque.
    pub fn resource_version(&self) -> &str {
        self.text.get(self.name_end.into()..).unwrap_or_default()
    }

    /// Whether the object is being deleted, or its kind says that it is on its way out.
    pub fn deleting(&self) -> bool {
        self.flags & DELETING != 0
    }

    /// `metadata.creationTimestamp`.
    pub fn created(&self) -> Option<Timestamp> {
        self.created.get().map(Timestamp::from_millis)
    }

    /// What the object says about itself, before anything around it is looked at.
    pub fn own_status(&self) -> Status {
        self.own.status()
    }

    /// Whether descendants could explain the verdict: the object's own status is not settled, and
    /// its kind generates others ([`generated_kinds`](crate::generated_kinds)), or a reader needs
    /// them.
    pub fn wants_children(&self) -> bool {
        let unsettled = matches!(self.own.status(), Status::InProgress | Status::Failed);
        self.needs_children() || (unsettled && !crate::generated_kinds(&self.kind).is_empty())
    }

    /// Whether there is no verdict without the descendants, whatever state the object is in: a
    /// [`Reader`](crate::Reader) looks at them.
    pub fn needs_children(&self) -> bool {
        self.flags & NEEDS_CHILDREN != 0
    }

    /// Whether there is a status that does not tell which generation it is about. After a change of the
    /// object it may be that of before. Only custom kinds are undated: those of Kubernetes itself either
    /// tell, or say nothing that a change makes untrue.
    pub fn is_undated(&self) -> bool {
        self.flags & UNDATED != 0
    }

    /// What a [`Reader`](crate::Reader) kept of the object.
    pub fn kept(&self) -> Option<&[u8]> {
        self.rare.as_deref()?.kept.as_deref()
    }

    /// What names the object for people.
    pub fn object_ref(&self) -> ObjectRef {
        ObjectRef { kind: self.kind.clone(), name: self.name().into(), uid: self.uid }
    }

    /// Bytes kept for this digest: the value itself and what it owns, without what it shares
    /// (the [`Kind`]).
    pub fn kept_bytes(&self) -> usize {
        let rare = self.rare.as_deref().map_or(0, |rare| {
            let holds = rare.holds.as_deref().map_or(0, std::mem::size_of_val);
            std::mem::size_of_val(rare) + holds + rare.kept.as_deref().map_or(0, <[u8]>::len)
        });
        std::mem::size_of::<Self>() + self.text.len() + self.own.heap_bytes() + rare
    }

    pub(crate) fn own(&self) -> &Own {
        &self.own
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn steps(&self) -> u16 {
        self.steps
    }

    pub(crate) fn is_ordered(&self) -> bool {
        self.flags & ORDERED != 0
    }

    pub(crate) fn ready_when(&self) -> Option<ReadyWhen> {
        self.rare.as_deref()?.ready_when
    }

    /// The hold the object asks for itself.
    pub(crate) fn hold(&self, code: CauseCode) -> Option<Hold> {
        let holds = self.rare.as_deref()?.holds.as_deref()?;
        holds.iter().find(|(of, _)| *of == code).map(|(_, hold)| *hold)
    }
}
