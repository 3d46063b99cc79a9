//! What an object that does not go tells about who holds it.

use serde_json::Value;

/// Finalizers whose owner is known, with what has to happen before it takes them off.
const KNOWN: [(&str, &str); 13] = [
    ("kubernetes.io/pvc-protection", "a pod still mounts the claim"),
    ("kubernetes.io/pv-protection", "a claim is still bound to the volume"),
    ("foregroundDeletion", "objects that it owns are not gone"),
    ("orphan", "the garbage collector has to let go of what it owns"),
    ("customresourcecleanup.apiextensions.k8s.io", "objects of the kind that it defines are not gone"),
    ("batch.kubernetes.io/job-tracking", "the Job controller has not counted it yet"),
    ("service.kubernetes.io/load-balancer-cleanup", "the cloud's controller has to remove the load balancer"),
    ("snapshot.storage.kubernetes.io/pvc-as-source-protection", "a snapshot of the claim is being taken"),
    ("external-attacher/", "the storage driver has to detach the volume"),
    ("external-provisioner.volume.kubernetes.io/finalizer", "the storage driver has to delete the volume"),
    ("resources-finalizer.argocd.argoproj.io", "Argo CD has to delete what the Application manages"),
    ("finalizers.fluxcd.io", "the Flux controller of its kind has to take it off"),
    ("chaos-mesh/records", "Chaos Mesh has to end the experiment"),
];

/// One finalizer, and what the object tells about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pub finalizer: String,
    /// What its owner waits for, where that is known.
    pub known: Option<&'static str>,
    /// The field manager that put it there, and when that last wrote.
    pub manager: Option<(String, String)>,
}

/// Everything that holds an object.
pub(super) fn holders(object: &Value) -> Vec<Holder> {
    texts(object, "/metadata/finalizers")
        .map(|finalizer| Holder {
            finalizer: finalizer.to_owned(),
            known: KNOWN.iter().find(|(name, _)| finalizer.starts_with(name)).map(|(_, why)| *why),
            manager: manager(object, finalizer),
        })
        .collect()
}

fn manager(object: &Value, finalizer: &str) -> Option<(String, String)> {
    let key = format!("v:\"{finalizer}\"");
    let entries = object.pointer("/metadata/managedFields")?.as_array()?;
    let entry = entries.iter().find(|entry| {
        let owned = entry.pointer("/fieldsV1/f:metadata/f:finalizers").and_then(Value::as_object);
        owned.is_some_and(|owned| owned.contains_key(&key))
    })?;
    Some((text(entry, "/manager").to_owned(), text(entry, "/time").to_owned()))
}

/// The kinds that a namespace says it still holds: plural name and group.
pub(super) fn remaining(namespace: &Value) -> Vec<(String, String)> {
    let said = condition(namespace, "NamespaceContentRemaining");
    let Some((_, list)) = said.split_once(": ") else { return Vec::new() };
    let kinds = list.split(", ").filter_map(|part| part.split_once(" has "));
    kinds
        .filter_map(|(kind, _)| kind.split_once('.'))
        .map(|(plural, group)| (plural.to_owned(), group.to_owned()))
        .collect()
}

/// True when a namespace says that it could not find out what it holds.
pub(super) fn is_in_the_dark(namespace: &Value) -> bool {
    !condition(namespace, "NamespaceDeletionDiscoveryFailure").is_empty()
        || !condition(namespace, "NamespaceDeletionGroupVersionParsingFailure").is_empty()
}

/// What a condition that is True says.
fn condition<'v>(object: &'v Value, name: &str) -> &'v str {
    let all = object.pointer("/status/conditions").and_then(Value::as_array);
    let found = all.into_iter().flatten().find(|one| text(one, "/type") == name);
    found.filter(|one| text(one, "/status") == "True").map_or("", |one| text(one, "/message"))
}

/// Why an APIService does not answer; `None` when it does.
pub(super) fn dead(service: &Value) -> Option<String> {
    let all = service.pointer("/status/conditions").and_then(Value::as_array)?;
    let available = all.iter().find(|one| text(one, "/type") == "Available")?;
    (text(available, "/status") != "True")
        .then(|| format!("{}: {}", text(available, "/reason"), text(available, "/message")))
}

/// Pods that are ready and pods that are wanted, of a workload.
pub(super) fn ready(workload: &Value) -> (i64, i64) {
    let number = |at: &str| workload.pointer(at).and_then(Value::as_i64);
    let wanted = number("/spec/replicas").or(number("/status/desiredNumberScheduled")).unwrap_or(1);
    (number("/status/readyReplicas").or(number("/status/numberReady")).unwrap_or(0), wanted)
}

pub(super) fn text<'v>(value: &'v Value, at: &str) -> &'v str {
    value.pointer(at).and_then(Value::as_str).unwrap_or_default()
}

fn texts<'v>(value: &'v Value, at: &str) -> impl Iterator<Item = &'v str> {
    value.pointer(at).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_finalizer_is_known_by_its_name_or_by_who_set_it() {
        let object = json!({"metadata": {
            "finalizers": ["kubernetes.io/pvc-protection", "example.com/cleanup", "example.com/other"],
            "managedFields": [
                {"manager": "kubectl", "time": "t1", "fieldsV1": {"f:data": {}}},
                {"manager": "widget-operator", "time": "t2", "fieldsV1": {"f:metadata": {"f:finalizers":
                    {".": {}, "v:\"example.com/cleanup\"": {}}}}},
            ],
        }});
        let found = holders(&object);
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].known, Some("a pod still mounts the claim"));
        assert_eq!(found[1].manager, Some(("widget-operator".into(), "t2".into())));
        assert_eq!((found[2].known, &found[2].manager), (None, &None));
    }

    #[test]
    fn a_namespace_names_what_it_holds_and_what_it_cannot_see() {
        let namespace = |kind: &str, status: &str, message: &str| json!({"status": {"conditions": [{"type": kind, "status": status, "message": message}]}});
        let said = "Some resources are remaining: configmaps. has 1 resource instances, widgets.example.com has 2 resource instances";
        assert_eq!(
            remaining(&namespace("NamespaceContentRemaining", "True", said)),
            [("configmaps".into(), String::new()), ("widgets".into(), "example.com".into())]
        );
        assert!(remaining(&namespace("NamespaceContentRemaining", "False", said)).is_empty());
        let failed = namespace("NamespaceDeletionDiscoveryFailure", "True", "Discovery failed");
        assert!(is_in_the_dark(&failed) && !is_in_the_dark(&json!({})));
    }
}
