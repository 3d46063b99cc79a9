//! The rules that tests meet: required fields, ranges, what cannot be changed.

use serde_json::Value;

use crate::failure::Cause;
use crate::json::{at, list, text};
use crate::kinds::Kind;

/// A kind, a field that must not change, and how the server says so.
type Fixed = (&'static str, &'static [&'static str], Refusal);

#[derive(Clone, Copy)]
enum Refusal {
    /// With the new value.
    Immutable(&'static str),
    /// Without it.
    Forbidden(&'static str),
}

const IMMUTABLE: Refusal = Refusal::Immutable("field is immutable");
const ROLE: Refusal = Refusal::Immutable("cannot change roleRef");
const CLAIM: &str = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

const FIXED: &[Fixed] = &[
    ("deployments.apps", &["spec", "selector"], IMMUTABLE),
    ("replicasets.apps", &["spec", "selector"], IMMUTABLE),
    ("daemonsets.apps", &["spec", "selector"], IMMUTABLE),
    ("jobs.batch", &["spec", "selector"], IMMUTABLE),
    ("jobs.batch", &["spec", "completions"], IMMUTABLE),
    ("secrets", &["type"], IMMUTABLE),
    ("rolebindings.rbac.authorization.k8s.io", &["roleRef"], ROLE),
    ("clusterrolebindings.rbac.authorization.k8s.io", &["roleRef"], ROLE),
    (
        "storageclasses.storage.k8s.io",
        &["provisioner"],
        Refusal::Forbidden("updates to provisioner are forbidden."),
    ),
    (
        "storageclasses.storage.k8s.io",
        &["parameters"],
        Refusal::Forbidden("updates to parameters are forbidden."),
    ),
    ("persistentvolumeclaims", &["spec", "accessModes"], Refusal::Forbidden(CLAIM)),
    ("persistentvolumeclaims", &["spec", "storageClassName"], Refusal::Forbidden(CLAIM)),
    ("services", &["spec", "clusterIP"], Refusal::Immutable("may not change once set")),
];

const STATEFUL_SET: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
const STATEFUL_SET_FREE: &[&str] = &[
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// What is wrong with a new object.
pub(super) fn create(kind: &Kind, new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let name = text(new, &["metadata", "name"]);
    if name.is_empty() {
        causes.push(Cause::required("metadata.name", "name or generateName is required"));
    } else if !valid_name(kind, name) {
        causes.push(Cause::invalid("metadata.name", &format!("\"{name}\""), SUBDOMAIN));
    }
    causes.extend(always(kind, new));
    causes
}

/// What is wrong with a change.
pub(super) fn update(kind: &Kind, live: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = always(kind, new);
    for (of, path, refusal) in FIXED.iter().filter(|(of, ..)| **of == *kind.id) {
        let (old, new) = (at(live, path), at(new, path));
        let unset =
            *of == "services" && old.is_null() || *path == ["spec", "storageClassName"] && old.is_null();
        if old != new && !unset {
            causes.push(refuse(*refusal, path, new));
        }
    }
    if &*kind.id == "jobs.batch" && template(live) != template(new) {
        let path = ["spec", "template", "spec"];
        causes.push(refuse(IMMUTABLE, &path, at(new, &path)));
    }
    if &*kind.id == "statefulsets.apps" && fixed_part(live) != fixed_part(new) {
        causes.push(Cause::forbidden("spec", STATEFUL_SET));
    }
    if at(live, &["immutable"]).as_bool() == Some(true) && ["configmaps", "secrets"].contains(&&*kind.id) {
        for field in ["data", "binaryData"] {
            if live[field] != new[field] {
                causes.push(Cause::forbidden(field, "field is immutable when `immutable` is set"));
            }
        }
    }
    if !at(live, &["metadata", "deletionTimestamp"]).is_null() {
        let before = list(live, &["metadata", "finalizers"]);
        let added: Vec<String> = list(new, &["metadata", "finalizers"])
            .iter()
            .filter(|finalizer| !before.contains(finalizer))
            .map(ToString::to_string)
            .collect();
        if !added.is_empty() {
            let why = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                added.join(", ")
            );
            causes.push(Cause::forbidden("metadata.finalizers", &why));
        }
    }
    causes
}

fn refuse(refusal: Refusal, path: &[&str], new: &Value) -> Cause {
    match refusal {
        Refusal::Immutable(why) => Cause::invalid(path.join("."), &new.to_string(), why),
        Refusal::Forbidden(why) => Cause::forbidden(path.join("."), why),
    }
}

/// The part of a Job's template that cannot change.
fn template(value: &Value) -> &Value {
    at(value, &["spec", "template", "spec"])
}

fn fixed_part(value: &Value) -> Value {
    let mut spec = value["spec"].clone();
    if let Some(spec) = spec.as_object_mut() {
        spec.retain(|field, _| !STATEFUL_SET_FREE.contains(&field.as_str()));
    }
    spec
}

fn always(kind: &Kind, new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for path in [["spec", "replicas"], ["spec", "parallelism"], ["spec", "backoffLimit"]] {
        if let Some(number) = at(new, &path).as_i64().filter(|number| *number < 0 && !kind.custom) {
            causes.push(Cause::invalid(
                path.join("."),
                &number.to_string(),
                "must be greater than or equal to 0",
            ));
        }
    }
    match &*kind.id {
        "deployments.apps" | "replicasets.apps" | "daemonsets.apps" | "statefulsets.apps" => {
            workload(new, &mut causes)
        }
        "jobs.batch" => containers(new, &["spec", "template", "spec"], &[], &mut causes),
        "pods" => containers(new, &["spec"], &[], &mut causes),
        "services" if text(new, &["spec", "type"]) != "ExternalName" => {
            let headless = text(new, &["spec", "clusterIP"]) == "None";
            if list(new, &["spec", "ports"]).is_empty() && !headless {
                causes.push(Cause::required("spec.ports", ""));
            }
        }
        "customresourcedefinitions.apiextensions.k8s.io" => {
            let name = text(new, &["metadata", "name"]);
            if name
                != format!("{}.{}", text(new, &["spec", "names", "plural"]), text(new, &["spec", "group"]))
            {
                causes.push(Cause::invalid(
                    "metadata.name",
                    &format!("\"{name}\""),
                    "must be spec.names.plural+\".\"+spec.group",
                ));
            }
        }
        _ => {}
    }
    causes
}

fn workload(new: &Value, causes: &mut Vec<Cause>) {
    let claims = list(new, &["spec", "volumeClaimTemplates"]).iter();
    let claims: Vec<&str> = claims.map(|claim| text(claim, &["metadata", "name"])).collect();
    let selector = at(new, &["spec", "selector"]);
    if selector.is_null() {
        causes.push(Cause::required("spec.selector", ""));
    }
    let labels = at(new, &["spec", "template", "metadata", "labels"]);
    let wanted = selector["matchLabels"].as_object();
    if wanted.into_iter().flatten().any(|(name, value)| labels[name.as_str()] != *value) {
        causes.push(Cause::invalid(
            "spec.template.metadata.labels",
            &labels.to_string(),
            "`selector` does not match template `labels`",
        ));
    }
    containers(new, &["spec", "template", "spec"], &claims, causes);
}

/// `claims` are volumes that the Pods get besides those of their own.
fn containers(new: &Value, path: &[&str], claims: &[&str], causes: &mut Vec<Cause>) {
    let spec = at(new, path);
    let field = |rest: &str| format!("{}.{rest}", path.join("."));
    let containers = list(spec, &["containers"]);
    if containers.is_empty() {
        causes.push(Cause::required(field("containers"), ""));
    }
    let volumes: Vec<&str> = list(spec, &["volumes"]).iter().map(|volume| text(volume, &["name"])).collect();
    for (index, container) in containers.iter().enumerate() {
        for name in ["name", "image"] {
            if text(container, &[name]).is_empty() {
                causes.push(Cause::required(field(&format!("containers[{index}].{name}")), ""));
            }
        }
        for (mount, name) in
            list(container, &["volumeMounts"]).iter().map(|mount| text(mount, &["name"])).enumerate()
        {
            if !volumes.contains(&name) && !claims.contains(&name) {
                causes.push(Cause::not_found(
                    field(&format!("containers[{index}].volumeMounts[{mount}].name")),
                    name,
                ));
            }
        }
    }
}

fn valid_name(kind: &Kind, name: &str) -> bool {
    if &*kind.group == "rbac.authorization.k8s.io" {
        return !name.contains(['/', '%']);
    }
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let parts = name.split('.').all(|part| {
        let bytes = part.as_bytes();
        bytes.first().is_some_and(|byte| plain(*byte))
            && bytes.last().is_some_and(|byte| plain(*byte))
            && bytes.iter().all(|byte| plain(*byte) || *byte == b'-')
    });
    parts && name.len() <= 253
}

/// What is not refused but said.
pub(super) fn warnings(kind: &Kind, new: &Value) -> Vec<String> {
    let mut warnings: Vec<String> = kind.deprecated.map(str::to_owned).into_iter().collect();
    for path in [&["spec"] as &[&str], &["spec", "template", "spec"]] {
        let selector = at(new, path).get("nodeSelector").and_then(Value::as_object);
        for old in ["beta.kubernetes.io/os", "beta.kubernetes.io/arch"] {
            if selector.is_some_and(|selector| selector.contains_key(old)) && !kind.custom {
                let new = old.replace("beta.", "");
                warnings.push(format!(
                    "{}.nodeSelector[{old}]: deprecated since v1.14; use \"{new}\" instead",
                    path.join(".")
                ));
            }
        }
    }
    warnings
}
