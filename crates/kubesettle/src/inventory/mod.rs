//! The record of what is ours: which objects a set has, kept in the cluster in ConfigMaps that kapply
//! reads and writes too.
//!
//! ```text
//!  ConfigMaps ──read──► Inventory ──before──► entries ──writes──► requests, sent one after the other
//!      ▲                    ▲                                                │
//!      │                    └─────────────────── wrote ◄─────────────────────┤
//!      └───────────────────────── the cluster ◄──────────────────────────────┘
//!
//!  … the run … ──outcomes──► after ──► entries ──writes──► requests
//! ```
//!
//! Pure: nothing here waits, asks or keeps time.
//!
//! # Contract
//!
//! * Every object that a run may create is in the record before the run's first object is written, and
//!   everything that was in it still is.
//! * Writes are ordered so that a writer which dies between any two of them has lost nothing.
//! * An entry leaves only when its object is certain not to need it any more.
//! * Up to 2,000 objects that kapply can record, the `data` of the one ConfigMap is byte for byte what
//!   kapply writes. Beyond that kapply finds several ConfigMaps, or a key that it cannot read, and
//!   refuses; [`Limits::ONE_OBJECT`] gives such an inventory back.

pub mod applyset;
mod document;
mod guard;
pub(crate) mod hash;
mod key;
mod layout;
pub mod lease;
mod mark;
mod merge;
mod model;
mod name;
mod policy;
mod problem;
mod prune;
mod read;
mod status;
mod template;
#[cfg(test)]
mod tests;
mod write;

pub use guard::{
    GuardRefusal, Holds, InvalidKind, InvalidPruneMax, ProtectedKind, PruneCandidate, PruneGuard, PruneMax,
};
pub use key::is_line;
pub use layout::Limits;
pub use mark::{Mark, MarkForm};
pub use merge::{Fate, Outcomes, after, before};
pub use model::{Entries, Entry, Inventory, Location, Shard};
pub use name::{InvalidName, check_id, set_id, set_location, set_of_id};
pub use policy::{IdMatch, InventoryPolicy, OWNING_INVENTORY, PolicyRefusal, can_apply, can_prune};
pub use problem::{Fault, Problem, Problems};
pub use prune::{PruneFilters, PruneSkip, kept_by, namespaces_in_use};
pub use read::{Wanted, items, part_names};
pub use status::{Actuation, ObjectStatus, Reconcile, Strategy};
pub use template::{TEMPLATE_FILE, template};
pub use write::{Write, WriteKind, WriteOptions};

/// The label of every ConfigMap of an inventory; its value is the set's id.
pub const ID_LABEL: &str = "cli-utils.sigs.k8s.io/inventory-id";
/// The annotation of the first ConfigMap that names the others, separated by commas.
pub const PARTS: &str = "kubesettle.io/inventory-parts";
/// The annotation of every other ConfigMap that names the first.
pub const PART_OF: &str = "kubesettle.io/inventory-part-of";
/// The annotation of the first ConfigMap that names the run which wrote it last.
pub const RUN: &str = "kubesettle.io/run";
