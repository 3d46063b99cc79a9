//! The sandbox as a client meets it.

mod client;
mod watching;
mod writing;
