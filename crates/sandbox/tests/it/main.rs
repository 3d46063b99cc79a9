//! The sandbox as a client meets it.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "a test")]

mod access;
mod client;
mod conformance;
mod faults;
mod listening;
mod running;
mod watching;
mod writing;
