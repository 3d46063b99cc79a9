//! The end-to-end scenarios of cli-utils, told anew. `docs/cli-utils-scenarios.md` says which of its
//! scenarios each of these shows.

mod invalid;
mod keeping;
mod layers;
mod lifecycle;
mod outcomes;
mod ownership;

use e2e::manifests::stream;
use e2e::{Lines, World};
use serde_json::Value;

/// The mark of the inventory that owns an object.
const OWNER: &str = "config.k8s.io/owning-inventory";

pub(crate) fn tests() -> Vec<libtest_mimic::Trial> {
    let modules = [
        outcomes::tests(),
        layers::tests(),
        lifecycle::tests(),
        keeping::tests(),
        ownership::tests(),
        invalid::tests(),
    ];
    modules.into_iter().flatten().collect()
}

/// A tracked set in a namespace of its own.
struct Set {
    world: World,
    name: &'static str,
}

impl Set {
    fn new(prefix: &str) -> Self {
        Self { world: World::new(prefix), name: "first" }
    }

    #[track_caller]
    fn apply(&self, objects: &[Value]) -> Lines {
        self.apply_with(&[], objects)
    }

    #[track_caller]
    fn apply_with(&self, flags: &[&str], objects: &[Value]) -> Lines {
        self.world.settle(&["apply", "--set", self.name]).args(flags).input(stream(objects)).json()
    }

    #[track_caller]
    fn destroy(&self, flags: &[&str]) -> Lines {
        self.world.settle(&["destroy", "--set", self.name]).args(flags).json()
    }

    /// The record as it is on the cluster; null when there is none.
    fn record(&self) -> Value {
        self.record_of(self.name)
    }

    fn record_of(&self, name: &str) -> Value {
        self.world.get("v1", "configmaps", name)
    }

    /// What the record lists, as `NAMESPACE_NAME_GROUP_KIND` without the test's own namespace.
    fn recorded(&self) -> Vec<String> {
        let data = self.record()["data"].as_object().cloned().unwrap_or_default();
        data.keys().map(|key| key.replace(&format!("{}_", self.world.name()), "")).collect()
    }

    /// The set that owns an object: its name, empty when none does.
    fn owner(&self, version: &str, plural: &str, name: &str) -> String {
        let object = self.world.get(version, plural, name);
        let mark = object["metadata"]["annotations"][OWNER].as_str().unwrap_or_default();
        mark.trim_start_matches(&format!("{}_", self.world.name())).to_owned()
    }

    /// How an annotation names an object of the test's namespace.
    fn on(&self, group: &str, kind: &str, name: &str) -> String {
        format!("{group}/namespaces/{}/{kind}/{name}", self.world.name())
    }
}

/// A set of objects is the same in any order.
#[track_caller]
fn assert_recorded(set: &Set, expected: &[&str]) {
    let mut recorded = set.recorded();
    recorded.sort();
    assert_eq!(recorded, expected);
}
