//! The built-in kinds, one row each.

use std::sync::Arc;

use super::{Access, Kind, resource_id};
use crate::write::schema;

/// Group, version, plural, kind, short names, flags.
///
/// Flags: `n` namespaced, `s` status subresource, `x` scale subresource, `g` counts generations,
/// `r` read-only, `c` create-only.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

const ADMISSION: &str = "admissionregistration.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";
const NETWORKING: &str = "networking.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("", "v1", "componentstatuses", "ComponentStatus", "cs", "r"),
    ("", "v1", "configmaps", "ConfigMap", "cm", "n"),
    ("", "v1", "endpoints", "Endpoints", "ep", "n"),
    ("", "v1", "events", "Event", "ev", "n"),
    ("", "v1", "limitranges", "LimitRange", "limits", "n"),
    ("", "v1", "namespaces", "Namespace", "ns", "s"),
    ("", "v1", "nodes", "Node", "no", "s"),
    ("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", "pvc", "ns"),
    ("", "v1", "persistentvolumes", "PersistentVolume", "pv", "s"),
    ("", "v1", "pods", "Pod", "po", "nsg"),
    ("", "v1", "podtemplates", "PodTemplate", "", "n"),
    ("", "v1", "replicationcontrollers", "ReplicationController", "rc", "nsxg"),
    ("", "v1", "resourcequotas", "ResourceQuota", "quota", "ns"),
    ("", "v1", "secrets", "Secret", "", "n"),
    ("", "v1", "serviceaccounts", "ServiceAccount", "sa", "n"),
    ("", "v1", "services", "Service", "svc", "ns"),
    ("apiregistration.k8s.io", "v1", "apiservices", "APIService", "", "s"),
    ("apps", "v1", "controllerrevisions", "ControllerRevision", "", "n"),
    ("apps", "v1", "daemonsets", "DaemonSet", "ds", "nsg"),
    ("apps", "v1", "deployments", "Deployment", "deploy", "nsxg"),
    ("apps", "v1", "replicasets", "ReplicaSet", "rs", "nsxg"),
    ("apps", "v1", "statefulsets", "StatefulSet", "sts", "nsxg"),
    ("events.k8s.io", "v1", "events", "Event", "ev", "n"),
    (AUTHORIZATION, "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", "", "c"),
    (AUTHORIZATION, "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", "", "c"),
    ("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "hpa", "ns"),
    ("batch", "v1", "cronjobs", "CronJob", "cj", "nsg"),
    ("batch", "v1", "jobs", "Job", "", "nsg"),
    (NETWORKING, "v1", "ingressclasses", "IngressClass", "", "g"),
    (NETWORKING, "v1", "ingresses", "Ingress", "ing", "nsg"),
    (NETWORKING, "v1", "networkpolicies", "NetworkPolicy", "netpol", "ng"),
    ("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", "pdb", "nsg"),
    (RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", "", ""),
    (RBAC, "v1", "clusterroles", "ClusterRole", "", ""),
    (RBAC, "v1", "rolebindings", "RoleBinding", "", "n"),
    (RBAC, "v1", "roles", "Role", "", "n"),
    ("storage.k8s.io", "v1", "storageclasses", "StorageClass", "sc", ""),
    ("storage.k8s.io", "v1", "csidrivers", "CSIDriver", "", ""),
    (ADMISSION, "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", "", "g"),
    (ADMISSION, "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", "", "sg"),
    (ADMISSION, "v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", "", "g"),
    (ADMISSION, "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", "", "g"),
    ("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", "crd,crds", "sg"),
    ("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", "pc", "g"),
    ("coordination.k8s.io", "v1", "leases", "Lease", "", "n"),
    ("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", "", ""),
    ("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", "", "ng"),
];

const DEPRECATED: &[(&str, &str)] =
    &[("endpoints", "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")];

/// In the category `all`.
const ALL: &[&str] = &[
    "pods",
    "replicationcontrollers",
    "services",
    "daemonsets",
    "deployments",
    "replicasets",
    "statefulsets",
    "horizontalpodautoscalers",
    "cronjobs",
    "jobs",
];

/// Every built-in kind.
pub(crate) fn builtin() -> impl Iterator<Item = Kind> {
    ROWS.iter().map(kind)
}

fn kind((group, version, plural, kind, short_names, flags): &Row) -> Kind {
    let has = |flag: char| flags.contains(flag);
    Kind {
        id: resource_id(group, plural).into(),
        group: Arc::from(*group),
        versions: vec![Arc::from(*version)],
        plural: Arc::from(*plural),
        singular: kind.to_lowercase(),
        kind: Arc::from(*kind),
        short_names: short_names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        categories: ALL.contains(plural).then(|| "all".to_owned()).into_iter().collect(),
        namespaced: has('n'),
        status: has('s'),
        scale: has('x'),
        generation: has('g'),
        access: match (has('r'), has('c')) {
            (true, _) => Access::ReadOnly,
            (_, true) => Access::CreateOnly,
            _ => Access::Full,
        },
        deprecated: DEPRECATED.iter().find(|(of, _)| of == plural).map(|(_, text)| *text),
        shape: schema::builtin(group, kind),
        custom: false,
    }
}
