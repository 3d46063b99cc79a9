//! What the server fills in when a manifest leaves it out.

use serde_json::{Value, json};

use crate::json::{at, default, list, remove, set, text};
use crate::kinds::Kind;
use crate::store::Store;

/// Resource, path, value: set when nothing is there.
fn table(resource: &str) -> Vec<(&'static [&'static str], Value)> {
    match resource {
        "deployments.apps" => vec![
            (&["spec", "replicas"], json!(1)),
            (&["spec", "revisionHistoryLimit"], json!(10)),
            (&["spec", "progressDeadlineSeconds"], json!(600)),
            (&["spec", "strategy", "type"], json!("RollingUpdate")),
        ],
        "replicasets.apps" | "replicationcontrollers" => vec![(&["spec", "replicas"], json!(1))],
        "statefulsets.apps" => vec![
            (&["spec", "replicas"], json!(1)),
            (&["spec", "revisionHistoryLimit"], json!(10)),
            (&["spec", "podManagementPolicy"], json!("OrderedReady")),
            (&["spec", "updateStrategy", "type"], json!("RollingUpdate")),
        ],
        "daemonsets.apps" => vec![
            (&["spec", "revisionHistoryLimit"], json!(10)),
            (&["spec", "updateStrategy", "type"], json!("RollingUpdate")),
        ],
        "jobs.batch" => vec![
            (&["spec", "parallelism"], json!(1)),
            (&["spec", "completions"], json!(1)),
            (&["spec", "backoffLimit"], json!(6)),
            (&["spec", "completionMode"], json!("NonIndexed")),
            (&["spec", "suspend"], json!(false)),
            (&["spec", "podReplacementPolicy"], json!("TerminatingOrFailed")),
        ],
        "cronjobs.batch" => vec![
            (&["spec", "concurrencyPolicy"], json!("Allow")),
            (&["spec", "suspend"], json!(false)),
            (&["spec", "successfulJobsHistoryLimit"], json!(3)),
            (&["spec", "failedJobsHistoryLimit"], json!(1)),
        ],
        "services" => vec![
            (&["spec", "type"], json!("ClusterIP")),
            (&["spec", "sessionAffinity"], json!("None")),
            (&["spec", "internalTrafficPolicy"], json!("Cluster")),
            (&["spec", "ipFamilies"], json!(["IPv4"])),
            (&["spec", "ipFamilyPolicy"], json!("SingleStack")),
        ],
        "namespaces" => vec![(&["spec", "finalizers"], json!(["kubernetes"]))],
        "secrets" => vec![(&["type"], json!("Opaque"))],
        "persistentvolumeclaims" => vec![(&["spec", "volumeMode"], json!("Filesystem"))],
        "persistentvolumes" => vec![
            (&["spec", "volumeMode"], json!("Filesystem")),
            (&["spec", "persistentVolumeReclaimPolicy"], json!("Retain")),
        ],
        "storageclasses.storage.k8s.io" => {
            vec![(&["reclaimPolicy"], json!("Delete")), (&["volumeBindingMode"], json!("Immediate"))]
        }
        "customresourcedefinitions.apiextensions.k8s.io" => {
            vec![(&["spec", "conversion", "strategy"], json!("None"))]
        }
        _ => Vec::new(),
    }
}

/// The state in which objects of a kind begin.
fn first_status(resource: &str) -> Option<Value> {
    match resource {
        "namespaces" => Some(json!({ "phase": "Active" })),
        "pods" | "persistentvolumeclaims" => Some(json!({ "phase": "Pending" })),
        "persistentvolumes" => Some(json!({ "phase": "Available" })),
        "services" => Some(json!({ "loadBalancer": {} })),
        "ingresses.networking.k8s.io" => Some(json!({ "loadBalancer": {} })),
        "customresourcedefinitions.apiextensions.k8s.io" => Some(
            json!({ "conditions": [], "acceptedNames": { "plural": "", "kind": "" }, "storedVersions": [] }),
        ),
        "deployments.apps" | "statefulsets.apps" | "replicasets.apps" | "jobs.batch" | "cronjobs.batch" => {
            Some(json!({}))
        }
        "daemonsets.apps" => Some(json!({
            "currentNumberScheduled": 0, "desiredNumberScheduled": 0, "numberMisscheduled": 0, "numberReady": 0,
        })),
        _ => None,
    }
}

/// Defaults of a new object.
pub(super) fn create(store: &Store, kind: &Kind, new: &mut Value) {
    fill(kind, new);
    if let Some(status) = first_status(&kind.id) {
        set(new, &["status"], status);
    }
    match &*kind.id {
        "namespaces" => {
            let name = text(new, &["metadata", "name"]).to_owned();
            set(new, &["metadata", "labels", "kubernetes.io/metadata.name"], name);
        }
        "services"
            if text(new, &["spec", "type"]) != "ExternalName"
                && at(new, &["spec", "clusterIP"]).is_null() =>
        {
            let count = store.version();
            let address = format!("10.96.{}.{}", count >> 8 & 0xff, count & 0xff);
            set(new, &["spec", "clusterIP"], address.as_str());
            set(new, &["spec", "clusterIPs"], json!([address]));
        }
        "persistentvolumeclaims" if store.settings.volumes => {
            let mut finalizers = list(new, &["metadata", "finalizers"]).to_vec();
            finalizers.push("kubernetes.io/pvc-protection".into());
            set(new, &["metadata", "finalizers"], finalizers);
        }
        _ => {}
    }
}

/// What a new object gets that its uid is part of.
pub(super) fn created(kind: &Kind, new: &mut Value) {
    if &*kind.id == "jobs.batch" && at(new, &["spec", "manualSelector"]).as_bool() != Some(true) {
        let uid = text(new, &["metadata", "uid"]).to_owned();
        let name = text(new, &["metadata", "name"]).to_owned();
        set(new, &["spec", "selector", "matchLabels"], json!({ "batch.kubernetes.io/controller-uid": uid }));
        for (label, value) in [
            ("batch.kubernetes.io/controller-uid", &uid),
            ("batch.kubernetes.io/job-name", &name),
            ("controller-uid", &uid),
            ("job-name", &name),
        ] {
            set(new, &["spec", "template", "metadata", "labels", label], value.as_str());
        }
    }
}

/// Defaults of a changed object, and what cannot be left out any more.
pub(super) fn update(kind: &Kind, live: &Value, new: &mut Value) {
    let sticky: &[&[&str]] = match &*kind.id {
        "services" => &[&["spec", "clusterIP"], &["spec", "clusterIPs"]],
        "jobs.batch" => &[&["spec", "selector"]],
        "persistentvolumeclaims" => &[&["spec", "volumeName"], &["spec", "storageClassName"]],
        "namespaces" => &[&["spec"], &["metadata", "labels", "kubernetes.io/metadata.name"]],
        _ => &[],
    };
    for path in sticky {
        if !at(live, path).is_null() {
            default(new, path, at(live, path).clone());
        }
    }
    fill(kind, new);
}

fn fill(kind: &Kind, new: &mut Value) {
    for (path, value) in table(&kind.id) {
        // A field may have the wrong type here: that is for the rules to say.
        if path.len() == 1 || at(new, &path[..1]).is_object() || at(new, &path[..1]).is_null() {
            default(new, path, value);
        }
    }
    match &*kind.id {
        "deployments.apps" if text(new, &["spec", "strategy", "type"]) == "RollingUpdate" => {
            default(new, &["spec", "strategy", "rollingUpdate", "maxUnavailable"], "25%");
            default(new, &["spec", "strategy", "rollingUpdate", "maxSurge"], "25%");
        }
        "secrets" => encode_strings(new),
        "services" => services_ports(new),
        _ => {}
    }
    for path in [
        &["spec"] as &[&str],
        &["spec", "template", "spec"],
        &["spec", "jobTemplate", "spec", "template", "spec"],
    ] {
        if at(new, path).is_object() && !list(at(new, path), &["containers"]).is_empty() && !kind.custom {
            pod_spec(new, path);
        }
    }
}

fn pod_spec(new: &mut Value, path: &[&str]) {
    let inside = |field: &'static str| path.iter().copied().chain([field]).collect::<Vec<_>>();
    for (field, value) in [
        ("restartPolicy", json!("Always")),
        ("dnsPolicy", json!("ClusterFirst")),
        ("terminationGracePeriodSeconds", json!(30)),
        ("schedulerName", json!("default-scheduler")),
        ("securityContext", json!({})),
    ] {
        default(new, &inside(field), value);
    }
    for field in ["containers", "initContainers"] {
        let mut containers = list(at(new, path), &[field]).to_vec();
        for container in &mut containers {
            default(container, &["resources"], json!({}));
            default(container, &["terminationMessagePath"], "/dev/termination-log");
            default(container, &["terminationMessagePolicy"], "File");
            let latest = text(container, &["image"])
                .rsplit('/')
                .next()
                .is_some_and(|image| !image.contains(':') || image.ends_with(":latest"));
            default(container, &["imagePullPolicy"], if latest { "Always" } else { "IfNotPresent" });
            if let Some(ports) = container.get_mut("ports").and_then(Value::as_array_mut) {
                ports.iter_mut().for_each(|port| default(port, &["protocol"], "TCP"));
            }
        }
        if !containers.is_empty() {
            set(new, &inside(field), containers);
        }
    }
}

fn services_ports(new: &mut Value) {
    let mut ports = list(new, &["spec", "ports"]).to_vec();
    for port in &mut ports {
        default(port, &["protocol"], "TCP");
        let number = port["port"].clone();
        default(port, &["targetPort"], number);
    }
    if !ports.is_empty() {
        set(new, &["spec", "ports"], ports);
    }
}

/// Moves `stringData` to `data`.
fn encode_strings(new: &mut Value) {
    let Some(plain) = new.get("stringData").and_then(Value::as_object).cloned() else { return };
    remove(new, &["stringData"]);
    for (name, value) in plain {
        set(new, &["data", &name], base64(value.as_str().unwrap_or_default().as_bytes()));
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let padded = [chunk[0], chunk.get(1).copied().unwrap_or(0), chunk.get(2).copied().unwrap_or(0)];
        let bits = u32::from(padded[0]) << 16 | u32::from(padded[1]) << 8 | u32::from(padded[2]);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn strings_of_secrets_are_encoded() {
        for (plain, encoded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(super::base64(plain.as_bytes()), encoded);
        }
    }
}
