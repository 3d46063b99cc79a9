//! Placeholder head.
pub mod id;
