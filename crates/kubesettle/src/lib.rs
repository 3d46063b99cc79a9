//! Applies a set of Kubernetes objects, watches it with as few requests and bytes as possible, says
//! truthfully when each object has settled and why not when it has not, and takes the set away again.
//!
//! ```text
//!  files ─► manifest ─► graph ─► plan ─► run ──(apply, delete)──► cluster ──► API server
//!                                         ▲ │                        ▲             │
//!                                verdicts │ └─► events               │ list+watch  │
//!                                   status ◄── digests ── watch ◄────┴─────────────┘
//! ```
//!
//! Modules use each other one way, from `run` down to `id`; `docs/architecture.md` has the rules and
//! a test keeps them.

pub mod cluster;
pub mod dump;
pub mod error;
pub mod event;
pub mod graph;
pub mod id;
pub mod inventory;
pub mod manifest;
pub mod plan;
pub mod rules;
pub mod run;
pub mod status;
pub mod watch;
