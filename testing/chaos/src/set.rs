//! The objects of one seed: a set in two versions, and where each lives at the server.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::random::Random;

/// The names of one seed's things.
#[derive(Debug, Clone)]
pub(crate) struct Set {
    /// The namespace of the set and of what others have beside it; not part of the set.
    pub(crate) home: String,
    /// A namespace that is part of the set.
    own: Option<String>,
    group: String,
    random: Random,
}

/// Which state of the set is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edition {
    First,
    Second,
}

/// A kind of the set, as a path.
struct Kind {
    kind: &'static str,
    api: &'static str,
    plural: &'static str,
}

const KINDS: [Kind; 7] = [
    Kind { kind: "ConfigMap", api: "api/v1", plural: "configmaps" },
    Kind { kind: "Secret", api: "api/v1", plural: "secrets" },
    Kind { kind: "Service", api: "api/v1", plural: "services" },
    Kind { kind: "ServiceAccount", api: "api/v1", plural: "serviceaccounts" },
    Kind { kind: "Deployment", api: "apis/apps/v1", plural: "deployments" },
    Kind { kind: "Namespace", api: "api/v1", plural: "namespaces" },
    Kind {
        kind: "CustomResourceDefinition",
        api: "apis/apiextensions.k8s.io/v1",
        plural: "customresourcedefinitions",
    },
];

impl Set {
    pub(crate) fn of(seed: u64, round: &str) -> Self {
        let mut random = Random::of(seed, "set");
        let name = format!("chaos-{round}{seed}");
        let own = random.chance(15).then(|| format!("{name}-own"));
        Self { own, group: format!("s{seed}{round}.chaos.test"), home: name, random }
    }

    /// The objects, in the order of the file.
    pub(crate) fn objects(&self, edition: Edition) -> Vec<Value> {
        let mut random = self.random.clone();
        let second = edition == Edition::Second;
        let value = if second { "two" } else { "one" };
        let maps = random.between(3, 6);
        let mut objects = vec![self.definition()];
        let (gone, come) = (random.between(1, 2), random.between(0, 2));
        for number in 0..maps + come {
            let stays = if second { number >= gone } else { number < maps };
            if stays {
                let value = if number % 2 == 0 { value } else { "same" };
                objects.push(self.named(
                    "v1",
                    "ConfigMap",
                    &format!("map-{number}"),
                    json!({ "data": { "key": value } }),
                ));
            }
        }
        objects.push(self.named("v1", "Secret", "secret", json!({ "data": { "key": "dmFsdWU=" } })));
        objects.push(self.named("v1", "ServiceAccount", "account", json!({})));
        let ports = json!([{ "port": 80, "protocol": "TCP", "targetPort": 8080 }]);
        objects.push(self.named(
            "v1",
            "Service",
            "web",
            json!({ "spec": { "selector": { "app": "web-0" }, "ports": ports } }),
        ));
        let (deployments, things) = (random.between(1, 2), random.between(1, 3));
        for number in 0..deployments {
            if !(second && number == 1) {
                objects.push(self.deployment(&format!("web-{number}"), value));
            }
        }
        for number in 0..things {
            if !(second && number == 2) {
                let api = format!("{}/v1", self.group);
                objects.push(self.named(
                    &api,
                    "Thing",
                    &format!("thing-{number}"),
                    json!({ "spec": { "size": value } }),
                ));
            }
        }
        if let Some(own) = &self.own {
            objects.push(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": own } }));
            let mut inside = self.named("v1", "ConfigMap", "inside", json!({ "data": { "key": value } }));
            inside["metadata"]["namespace"] = json!(own);
            objects.push(inside);
        }
        objects
    }

    fn named(&self, api: &str, kind: &str, name: &str, rest: Value) -> Value {
        let mut object = json!({
            "apiVersion": api, "kind": kind, "metadata": { "name": name, "namespace": self.home }
        });
        if let (Some(object), Value::Object(rest)) = (object.as_object_mut(), rest) {
            object.extend(rest);
        }
        object
    }

    fn deployment(&self, name: &str, value: &str) -> Value {
        let labels = json!({ "app": name });
        let container =
            json!({ "name": "main", "image": "shop:1", "env": [{ "name": "EDITION", "value": value }] });
        let template = json!({ "metadata": { "labels": labels }, "spec": { "containers": [container] } });
        let spec = json!({ "replicas": 1, "selector": { "matchLabels": labels }, "template": template });
        self.named("apps/v1", "Deployment", name, json!({ "spec": spec }))
    }

    fn definition(&self) -> Value {
        let schema = json!({ "openAPIV3Schema": {
            "type": "object",
            "properties": { "spec": { "type": "object", "properties": { "size": { "type": "string" } } } }
        } });
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": { "name": format!("things.{}", self.group) },
            "spec": {
                "group": self.group, "scope": "Namespaced",
                "names": { "plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList" },
                "versions": [{ "name": "v1", "served": true, "storage": true, "schema": schema }]
            }
        })
    }

    /// Where every object of either edition is at the server, by its key.
    pub(crate) fn places(&self) -> BTreeMap<String, String> {
        let all = self.objects(Edition::First).into_iter().chain(self.objects(Edition::Second));
        all.map(|object| (key(&object), self.path(&object))).collect()
    }

    /// The path of an object.
    pub(crate) fn path(&self, object: &Value) -> String {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        format!("{}/{name}", self.collection(object))
    }

    fn collection(&self, object: &Value) -> String {
        let (kind, meta) = (object["kind"].as_str().unwrap_or_default(), &object["metadata"]);
        let (api, plural) = match KINDS.iter().find(|known| known.kind == kind) {
            Some(known) => (known.api.to_owned(), known.plural),
            None => (format!("apis/{}/v1", self.group), "things"),
        };
        match meta["namespace"].as_str() {
            Some(namespace) => format!("/{api}/namespaces/{namespace}/{plural}"),
            None => format!("/{api}/{plural}"),
        }
    }
}

/// The key of an object in an inventory: `NAMESPACE_NAME_GROUP_KIND`.
pub(crate) fn key(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let api = text(&object["apiVersion"]);
    let group = api.split_once('/').map_or("", |(group, _)| group);
    let meta = &object["metadata"];
    format!("{}_{}_{group}_{}", text(&meta["namespace"]), text(&meta["name"]), text(&object["kind"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_edition_has_objects_that_the_other_has_not() {
        for seed in 0..50 {
            let set = Set::of(seed, "");
            let keys = |edition| set.objects(edition).iter().map(key).collect::<Vec<_>>();
            let (first, second) = (keys(Edition::First), keys(Edition::Second));
            assert!(first.iter().any(|key| !second.contains(key)), "seed {seed}");
            assert!((8..=20).contains(&first.len()), "seed {seed}: {}", first.len());
        }
    }
}
