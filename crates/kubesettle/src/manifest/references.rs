use super::object::Scope;

/// A place in an object's body that names another object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reference {
    pub(crate) kind: RefKind,
    /// `None`: the namespace of the object itself, or none at all for kinds without.
    pub(crate) namespace: Option<Box<str>>,
    pub(crate) name: Box<str>,
}

/// What is named, and in which role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefKind {
    /// A ConfigMap that a pod mounts or reads variables from.
    ConfigMap,
    /// A Secret that a pod mounts, reads variables from or pulls images with.
    Secret,
    /// The ServiceAccount that a pod runs as.
    ServiceAccount,
    /// A claim that a pod mounts.
    Claim,
    /// The priority class of a pod.
    PriorityClass,
    /// The runtime class of a pod.
    RuntimeClass,
    /// The storage class of a claim.
    StorageClass,
    /// The class of an Ingress.
    IngressClass,
    /// The Role that a binding grants.
    Role,
    /// The ClusterRole that a binding grants.
    ClusterRole,
    /// The ServiceAccount that a binding grants to.
    Subject,
    /// The Service that an admission webhook calls.
    WebhookService,
    /// The Service behind an aggregated API.
    ApiService,
    /// The Service that converts between versions of a custom kind.
    ConversionService,
    /// The policy that a ValidatingAdmissionPolicyBinding puts in force.
    ValidatingPolicy,
    /// The policy that a MutatingAdmissionPolicyBinding puts in force.
    MutatingPolicy,
}

struct Row {
    group: &'static str,
    kind: &'static str,
    scope: Scope,
    words: &'static str,
}

impl RefKind {
    /// Group and kind of what is named.
    pub fn target(self) -> (&'static str, &'static str) {
        let row = self.row();
        (row.group, row.kind)
    }

    pub(crate) fn scope(self) -> Scope {
        self.row().scope
    }

    /// The relation in words, to stand between two objects: `reads`.
    pub fn words(self) -> &'static str {
        self.row().words
    }

    fn row(self) -> Row {
        use Scope::{Cluster, Namespaced};
        let (group, kind, scope, words) = match self {
            Self::ConfigMap => ("", "ConfigMap", Namespaced, "reads"),
            Self::Secret => ("", "Secret", Namespaced, "reads"),
            Self::ServiceAccount => ("", "ServiceAccount", Namespaced, "runs as"),
            Self::Claim => ("", "PersistentVolumeClaim", Namespaced, "mounts"),
            Self::PriorityClass => ("scheduling.k8s.io", "PriorityClass", Cluster, "has priority"),
            Self::RuntimeClass => ("node.k8s.io", "RuntimeClass", Cluster, "runs under"),
            Self::StorageClass => ("storage.k8s.io", "StorageClass", Cluster, "is stored by"),
            Self::IngressClass => ("networking.k8s.io", "IngressClass", Cluster, "is served by"),
            Self::Role => ("rbac.authorization.k8s.io", "Role", Namespaced, "grants"),
            Self::ClusterRole => ("rbac.authorization.k8s.io", "ClusterRole", Cluster, "grants"),
            Self::Subject => ("", "ServiceAccount", Namespaced, "grants to"),
            Self::WebhookService => ("", "Service", Namespaced, "calls"),
            Self::ApiService => ("", "Service", Namespaced, "is served by"),
            Self::ConversionService => ("", "Service", Namespaced, "is converted by"),
            Self::ValidatingPolicy => {
                ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", Cluster, "enforces")
            }
            Self::MutatingPolicy => {
                ("admissionregistration.k8s.io", "MutatingAdmissionPolicy", Cluster, "enforces")
            }
        };
        Row { group, kind, scope, words }
    }
}
