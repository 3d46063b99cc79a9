//! What the end-to-end tests have in common: running the program, reading what it says, writing
//! manifests, and looking at what is on the cluster.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test writes files, reads its environment, and says by a panic that it cannot go on"
)]

mod binary;
mod files;
mod following;
mod lines;
pub mod manifests;
mod settle;
mod webhook;
mod world;

use std::time::Duration;

pub use binary::binary;
pub use files::Folder;
pub use following::Following;
pub use lines::Lines;
pub use settle::{Settle, settle};
pub use webhook::Webhook;
pub use world::{World, get, named, unique};

/// How long anything may take before a test gives up on it. A guard against a hang, not a measure.
pub const LIMIT: Duration = Duration::from_secs(180);

/// The same for something that a run is about to say.
pub const SOON: Duration = Duration::from_secs(60);
