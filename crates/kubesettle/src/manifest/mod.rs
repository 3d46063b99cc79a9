//! From files, folders and streams to checked objects.
//!
//! Two steps. [`Manifests::load`] reads and checks what can be checked without a cluster.
//! [`Manifests::resolve`] then asks which kinds have namespaces, fills in the default namespace and
//! checks the rest. Both report everything that is wrong, not the first thing; to get the problems
//! of both steps in one report, load with [`InvalidPolicy::Skip`] and let `resolve` refuse.
//!
//! # How the input is read
//!
//! * YAML as kubectl reads it (YAML 1.1 booleans, octals and merge keys), except that a key given
//!   twice is an error. JSON as well, also several objects in a row. Integers keep all 64 bits, which
//!   they do not with kubectl above 2^63. Three odd spellings differ: `tRUE` is a boolean here and a
//!   text there, `0X1F` and `1_000.5` are texts here and numbers there; and a key `on:` stays `on`
//!   here and becomes `true` there.
//! * A folder gives its `.yaml`, `.yml` and `.json` files, sorted, and those of its folders only when
//!   asked. Unlike with kubectl, hidden files and folders are left out. Links to files are followed,
//!   links to folders are not.
//! * Kind `List` and typed lists (`RoleList`) are taken apart; their items inherit the kind.
//! * Empty documents and objects with the annotation `config.kubernetes.io/local-config` are left
//!   out. (kapply leaves the latter out whatever the value; here `"false"` keeps them, as kustomize
//!   means it.)
//!
//! # What is changed in an object
//!
//! * Annotations that tools leave about the file (`config.kubernetes.io/path`, `…/index`, the legacy
//!   and the `internal.config.kubernetes.io/` ones) are removed, as kapply does.
//! * What only a dump of a live object has is removed with a warning: `metadata.managedFields` (the
//!   server refuses it), `resourceVersion` and `uid` (would be a conflict), `selfLink`, the deletion
//!   marks, and the annotation of client-side apply. `status` stays: a server with a status
//!   subresource ignores it, and without one it is a field like others.
//! * `resolve` sets `metadata.namespace`, or removes it where the kind has none.

mod annotations;
mod check;
mod crd;
mod decode;
mod extract;
mod list;
mod load;
mod locate;
mod mutate;
pub(crate) mod near;
mod object;
mod options;
mod problem;
mod read;
mod references;
mod resolve;
mod room;
mod selector;
mod split;
pub(crate) mod stream;
mod tree;

pub(crate) use decode::embedded;
pub(crate) use load::no_objects;
pub(crate) use object::compact;

pub use crd::{CrdFacts, StatusSchema};
pub use mutate::Mutation;
pub use object::{APPLY_TIME_MUTATION, DEPENDS_ON, INVENTORY_ID, Object, Scope, Substitution};
pub use options::{InvalidPolicy, LoadOptions, ResolveOptions, ScopeAnswer, Source, UnknownKinds};
pub use problem::{InputProblems, Place, Problem};
pub use references::RefKind;
pub use resolve::Resolved;
pub use selector::{LabelSelector, SelectorError};

/// The objects of an input, each checked for itself.
#[derive(Debug)]
pub struct Manifests {
    objects: Vec<Object>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Manifests {
    /// The good objects, in input order.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Leaves out the objects for which `keep` says no.
    pub fn retain(&mut self, keep: impl FnMut(&Object) -> bool) {
        self.objects.retain(keep);
    }

    /// What was wrong with the others. Empty unless loaded with [`InvalidPolicy::Skip`].
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// What was put right in passing.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }
}
