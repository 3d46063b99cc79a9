//! What is known of kinds as such, whatever the state of an object.

use crate::kind::Kind;
use crate::outcome::Plain;
use crate::verdict::Status;

/// A group and a kind.
pub type GroupKind = (&'static str, &'static str);

const POD: GroupKind = ("", "Pod");
const REPLICA_SET: GroupKind = ("apps", "ReplicaSet");

const GENERATED: &[(GroupKind, &[GroupKind])] = &[
    (("apps", "Deployment"), &[REPLICA_SET, POD]),
    (("apps", "StatefulSet"), &[POD]),
    (("apps", "DaemonSet"), &[POD]),
    (("apps", "ReplicaSet"), &[POD]),
    (("", "ReplicationController"), &[POD]),
    (("batch", "Job"), &[POD]),
    (("batch", "CronJob"), &[("batch", "Job"), POD]),
    (("argoproj.io", "Rollout"), &[REPLICA_SET, POD]),
];

/// The kinds a controller generates for an object of this kind, at any depth; empty for most.
pub fn generated_kinds(kind: &Kind) -> &'static [GroupKind] {
    GENERATED.iter().find(|((group, name), _)| kind.is(group, name)).map_or(&[], |(_, generated)| *generated)
}

/// Kinds without a status: to exist is to be current.
pub(super) const STATUSLESS: &[GroupKind] = &[
    ("", "ConfigMap"),
    ("", "Secret"),
    ("", "ServiceAccount"),
    ("", "Endpoints"),
    ("", "LimitRange"),
    ("", "PodTemplate"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("apps", "ControllerRevision"),
    ("coordination.k8s.io", "Lease"),
    ("discovery.k8s.io", "EndpointSlice"),
    ("networking.k8s.io", "IngressClass"),
    ("networking.k8s.io", "NetworkPolicy"),
    ("node.k8s.io", "RuntimeClass"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "CSIDriver"),
    ("storage.k8s.io", "CSINode"),
    ("storage.k8s.io", "StorageClass"),
    ("storage.k8s.io", "VolumeAttributesClass"),
];

/// Whether the verdict on this kind needs nothing but metadata, so that a watcher can ask the
/// server for metadata only (`PartialObjectMetadata`).
pub fn metadata_suffices(kind: &Kind) -> bool {
    STATUSLESS.iter().any(|(group, name)| kind.is(group, name))
}

/// The verdict on kinds without a status.
pub(super) const ALWAYS_READY: Plain =
    Plain { status: Status::Current, reason: "AlwaysReady", message: "Resource is always ready" };

pub(super) fn without_status(kind: &Kind) -> bool {
    metadata_suffices(kind)
}

/// Groups Kubernetes itself serves: their kinds without rules of their own have no controller that
/// would have to be waited for.
const BUILT_IN_GROUPS: &[&str] = &[
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

pub(super) fn is_built_in(kind: &Kind) -> bool {
    BUILT_IN_GROUPS.contains(&kind.group())
}
