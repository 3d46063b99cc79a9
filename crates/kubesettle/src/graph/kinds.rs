//! kapply's order of kinds. Here it only decides who goes first among those that are free.

use crate::id::ObjectId;

/// Kinds that go first, in this order. The rest follows by group and kind.
const FIRST: [(&str, &str); 22] = [
    ("", "Namespace"),
    ("", "ResourceQuota"),
    ("storage.k8s.io", "StorageClass"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("", "ServiceAccount"),
    ("extensions", "PodSecurityPolicy"),
    ("policy", "PodSecurityPolicy"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("", "ConfigMap"),
    ("", "Secret"),
    ("", "Service"),
    ("", "LimitRange"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("extensions", "Deployment"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("batch", "CronJob"),
    ("policy", "PodDisruptionBudget"),
];

/// The kind that goes last.
const LAST: (&str, &str) = ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration");

/// A key that sorts objects: rank of the kind, group, kind, namespace, name.
pub(super) fn sort_key(id: &ObjectId) -> (usize, &str, &str, &str, &str) {
    let kind = (id.group(), id.kind());
    let rank = match kind == LAST {
        true => FIRST.len() + 1,
        false => FIRST.iter().position(|first| *first == kind).unwrap_or(FIRST.len()),
    };
    (rank, id.group(), id.kind(), id.namespace(), id.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::GroupKind;

    #[test]
    fn kinds_sort_as_with_kapply() {
        let id = |group: &str, kind: &str, namespace: &str, name: &str| {
            ObjectId::new(GroupKind::new(group, kind), namespace, name)
        };
        let sorted = [
            id("", "Namespace", "", "z"),
            id("apiextensions.k8s.io", "CustomResourceDefinition", "", "a"),
            id("", "ServiceAccount", "a", "a"),
            id("", "ConfigMap", "a", "b"),
            id("", "ConfigMap", "b", "a"),
            id("apps", "Deployment", "a", "a"),
            id("apps", "StatefulSet", "a", "a"),
            id("policy", "PodDisruptionBudget", "a", "a"),
            id("", "Pod", "a", "a"),
            id("apps", "DaemonSet", "a", "a"),
            id("batch", "Job", "a", "a"),
            id("zzz", "Thing", "a", "a"),
            id("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "a"),
        ];
        assert!(sorted.is_sorted_by_key(sort_key));
    }
}
