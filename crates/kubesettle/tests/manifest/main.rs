//! Manifests as users write them, through the public face of the module.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "this is all test code"
)]

mod files;
mod objects;
mod problems;
mod readings;
mod resolve;
mod shop;

use kubesettle::manifest::{Manifests, Problem};
use serde_json::Value;

/// The good objects of a text, as trees.
fn bodies(text: &str) -> Vec<Value> {
    let manifests = Manifests::parse("a.yaml", text.as_bytes()).unwrap();
    manifests.objects().iter().map(|object| serde_json::from_slice(object.json()).unwrap()).collect()
}

/// What is wrong with a text, hints included; empty when nothing is.
fn complaints(text: &[u8]) -> String {
    Manifests::parse("a.yaml", text).map_or_else(|problems| problems.to_string(), |_| String::new())
}

fn lines(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

/// A ConfigMap with more lines below its name.
fn config_map(name: &str, more: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n{more}")
}
