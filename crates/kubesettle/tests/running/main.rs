//! Whole runs against an API server in memory under a paused clock: tracked sets that lose nothing,
//! killed at any request; order, failure, cancellation.
#![allow(clippy::unwrap_used, reason = "tests")]

mod crash;
mod guard;
mod hands;
mod late;
mod linger;
mod mutation;
mod order;
mod others;
mod outside;
mod recreate;
mod renewed;
mod rules;
mod scene;
mod sets;
mod trouble;
