mod applyset;
mod crash;
mod guard;
mod lease;
mod merge;
mod name;
mod parts;
mod policy;
mod problems;
mod prune;
mod stored;

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use serde_json::{Value, json};

use super::{
    Actuation, Entries, Entry, ID_LABEL, Inventory, ObjectStatus, PARTS, Reconcile, Strategy, Wanted, Write,
    WriteKind, part_names,
};
use crate::id::{GroupKind, ObjectId};

const NAMESPACE: &str = "shop";

fn id(group: &str, kind: &str, namespace: &str, name: &str) -> ObjectId {
    ObjectId::new(GroupKind::new(group, kind), namespace, name)
}

/// A ConfigMap in the namespace of the tests.
fn cm(name: &str) -> ObjectId {
    id("", "ConfigMap", NAMESPACE, name)
}

fn plain<'a>(ids: impl IntoIterator<Item = &'a ObjectId>) -> Entries {
    ids.into_iter().map(|id| (id.clone(), Entry::default())).collect()
}

fn names(entries: &Entries) -> Vec<&str> {
    entries.keys().map(ObjectId::name).collect()
}

fn set(name: &str) -> Wanted {
    Wanted::named(NAMESPACE, name).unwrap()
}

fn new_inventory() -> Inventory {
    Inventory::read(&set("inv"), &[]).unwrap()
}

/// The JSON of a ConfigMap as a server has it.
fn config_map(name: &str, id: &str, annotations: Value, data: Value) -> Vec<u8> {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": data,
        "metadata": {
            "name": name, "namespace": NAMESPACE, "uid": format!("uid-{name}"), "resourceVersion": "1",
            "labels": { ID_LABEL: id }, "annotations": annotations,
        },
    })
    .to_string()
    .into_bytes()
}

/// The ConfigMaps of one namespace, kept as a server keeps them.
#[derive(Clone, Default)]
struct Server {
    objects: BTreeMap<String, Value>,
    version: u64,
    writes: usize,
}

impl Server {
    /// Carries one write out; panics where a real server would refuse.
    fn send(&mut self, write: &Write) -> (String, String) {
        self.version += 1;
        self.writes += 1;
        let name = write.target().name().to_owned();
        let mut body: Value = serde_json::from_slice(write.body()).unwrap();
        let (stored_uid, stored_version) = match self.objects.get(&name) {
            Some(stored) => {
                (stored["metadata"]["uid"].clone(), stored["metadata"]["resourceVersion"].clone())
            }
            None => (Value::Null, Value::Null),
        };
        let named = |at: &Value| (at["uid"].clone(), at["resourceVersion"].clone());
        let (expected, uid) = match write.kind() {
            WriteKind::Create => (named(&body["metadata"]), format!("uid-{}", self.version)),
            WriteKind::Replace => (named(&body["metadata"]), stored_uid.as_str().unwrap().to_owned()),
            WriteKind::Delete => (named(&body["preconditions"]), String::new()),
        };
        assert_eq!(expected, (stored_uid, stored_version), "{write} meets another object");
        if write.kind() == WriteKind::Delete {
            self.objects.remove(&name);
        } else {
            body["metadata"]["uid"] = uid.clone().into();
            body["metadata"]["resourceVersion"] = self.version.to_string().into();
            self.objects.insert(name, body);
        }
        (uid, self.version.to_string())
    }

    /// What a reader with the right to list finds.
    fn read(&self, wanted: &Wanted) -> Inventory {
        self.read_those(wanted, |_| true)
    }

    /// What a reader finds that may only get ConfigMaps by name.
    fn read_by_name(&self, wanted: &Wanted) -> Inventory {
        let first = wanted.location().name();
        let mut named = vec![first.to_owned()];
        if let Some(first) = self.objects.get(first) {
            named.extend(part_names(first.to_string().as_bytes()).unwrap());
        }
        self.read_those(wanted, |name| named.iter().any(|known| known == name))
    }

    fn read_those(&self, wanted: &Wanted, which: impl Fn(&str) -> bool) -> Inventory {
        let texts = self.objects.iter().filter(|(name, _)| which(name)).map(|(_, object)| object.to_string());
        let texts: Vec<String> = texts.collect();
        let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        Inventory::read(wanted, &texts).unwrap()
    }

    fn index(&self, name: &str) -> Option<&str> {
        self.objects.get(name)?["metadata"]["annotations"].get(PARTS)?.as_str()
    }
}

fn any_status() -> impl proptest::strategy::Strategy<Value = Option<ObjectStatus>> {
    let word = |words: usize| 0..words;
    let status = (word(Strategy::ALL.len()), word(Actuation::ALL.len()), word(Reconcile::ALL.len()))
        .prop_map(|(strategy, actuation, reconcile)| ObjectStatus {
            strategy: Strategy::ALL[strategy],
            actuation: Actuation::ALL[actuation],
            reconcile: Reconcile::ALL[reconcile],
        });
    proptest::option::of(status)
}

/// Names as they are, as some kinds allow them, and as nobody would believe.
fn any_id() -> impl proptest::strategy::Strategy<Value = ObjectId> {
    let group =
        prop_oneof![Just(""), Just("apps"), Just("rbac.authorization.k8s.io"), Just("a_b"), Just("ä")];
    let kind = prop_oneof![Just("ConfigMap"), Just("ClusterRole"), Just("Role"), Just(""), Just("W_K")];
    let namespace = prop_oneof![Just(""), Just("shop"), Just("a-b"), Just("n_s"), Just(".."), Just("ü")];
    let name = prop_oneof![
        "[a-z]([-a-z0-9]{0,8}[a-z0-9])?",
        "[a-z:_]{0,6}",
        "sha256-[a-f0-9]{0,4}",
        "[a-z]{240,253}",
        ".{0,6}",
        Just("system:controller:a__b_c".to_owned()),
    ];
    (group, kind, namespace, name)
        .prop_map(|(group, kind, namespace, name)| id(group, kind, namespace, &name))
}
