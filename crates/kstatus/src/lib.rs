#![doc = include_str!("../README.md")]

mod annotations;
mod assess;
mod cause;
mod custom;
mod digest;
mod explain;
mod facts;
mod findings;
mod history;
mod kind;
mod outcome;
mod path;
mod policy;
mod read;
mod rules;
mod scan;
mod surroundings;
mod text;
mod time;
mod uid;
mod verdict;
mod view;

pub use assess::{assess, compute};
pub use cause::{Cause, CauseCode, ObjectRef};
pub use custom::{CustomRule, RuleError, RuleText};
pub use digest::{Digest, NotAnObject, digest, digest_as};
pub use facts::{BindingMode, Facts, StatusSchema};
pub use history::History;
pub use kind::Kind;
pub use path::{JsonPath, NotAPath};
pub use policy::{DEFAULT_HOLDS, Hold, HoldRow, Policy};
pub use rules::{GroupKind, Rule, Rulebook, generated_kinds, metadata_suffices, rules_as_markdown};
pub use surroundings::{EventNote, Surroundings};
pub use time::Timestamp;
pub use uid::Uid;
pub use verdict::{NotAStatus, Progress, Reason, Status, Verdict};
