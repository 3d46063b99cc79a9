//! The names of other objects that an object's body holds, for the kinds where Kubernetes defines
//! what they mean.

use serde_json::Value;

use super::references::{RefKind, Reference};
use crate::id::GroupKind;

/// Where a kind keeps its pod specification.
const POD_SPECS: [(&str, &str, &str); 8] = [
    ("", "Pod", "/spec"),
    ("", "ReplicationController", "/spec/template/spec"),
    ("apps", "DaemonSet", "/spec/template/spec"),
    ("apps", "Deployment", "/spec/template/spec"),
    ("apps", "ReplicaSet", "/spec/template/spec"),
    ("apps", "StatefulSet", "/spec/template/spec"),
    ("batch", "CronJob", "/spec/jobTemplate/spec/template/spec"),
    ("batch", "Job", "/spec/template/spec"),
];

const RBAC: &str = "rbac.authorization.k8s.io";
const ADMISSION: &str = "admissionregistration.k8s.io";

type Reader = fn(&Value, &mut Found);

/// How to read the references that are not in a pod specification.
const READERS: [(&str, &str, Reader); 11] = [
    ("", "PersistentVolumeClaim", |body, found| storage_class(body, found)),
    ("apps", "StatefulSet", |body, found| {
        list(body, "/spec/volumeClaimTemplates").iter().for_each(|claim| storage_class(claim, found));
    }),
    ("networking.k8s.io", "Ingress", |body, found| {
        found.add(RefKind::IngressClass, body, "/spec/ingressClassName")
    }),
    (RBAC, "RoleBinding", binding),
    (RBAC, "ClusterRoleBinding", binding),
    (ADMISSION, "MutatingWebhookConfiguration", webhooks),
    (ADMISSION, "ValidatingWebhookConfiguration", webhooks),
    (ADMISSION, "MutatingAdmissionPolicyBinding", |body, found| {
        found.add(RefKind::MutatingPolicy, body, "/spec/policyName");
    }),
    (ADMISSION, "ValidatingAdmissionPolicyBinding", |body, found| {
        found.add(RefKind::ValidatingPolicy, body, "/spec/policyName");
    }),
    ("apiregistration.k8s.io", "APIService", |body, found| {
        found.add_at(RefKind::ApiService, body.pointer("/spec/service"));
    }),
    ("apiextensions.k8s.io", "CustomResourceDefinition", |body, found| {
        found.add_at(
            RefKind::ConversionService,
            body.pointer("/spec/conversion/webhook/clientConfig/service"),
        );
    }),
];

/// All references of an object, each once.
pub(super) fn references(kind: &GroupKind, body: &Value) -> Box<[Reference]> {
    let mut found = Found(Vec::new());
    for (_, _, path) in POD_SPECS.iter().filter(|(group, name, _)| kind.is(group, name)) {
        if let Some(spec) = body.pointer(path) {
            pod(spec, &mut found);
        }
    }
    for (_, _, read) in READERS.iter().filter(|(group, name, _)| kind.is(group, name)) {
        read(body, &mut found);
    }
    let mut found = found.0;
    found.sort();
    found.dedup();
    found.into()
}

struct Found(Vec<Reference>);

impl Found {
    /// The name at `path`, if there is one.
    fn add(&mut self, kind: RefKind, value: &Value, path: &str) {
        if let Some(name) = text(value, path) {
            self.0.push(Reference { kind, namespace: None, name: name.into() });
        }
    }

    /// The same unless `value` is marked optional: pods start without these.
    fn add_required(&mut self, kind: RefKind, value: Option<&Value>, path: &str) {
        if let Some(value) = value.filter(|value| value.get("optional") != Some(&Value::Bool(true))) {
            self.add(kind, value, path);
        }
    }

    /// A mapping of namespace and name.
    fn add_at(&mut self, kind: RefKind, value: Option<&Value>) {
        if let Some((value, name)) = value.and_then(|value| Some((value, text(value, "/name")?))) {
            let namespace = text(value, "/namespace").map(Into::into);
            self.0.push(Reference { kind, namespace, name: name.into() });
        }
    }
}

fn text<'a>(value: &'a Value, path: &str) -> Option<&'a str> {
    value.pointer(path)?.as_str().filter(|text| !text.is_empty())
}

fn list<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    value.pointer(path).and_then(Value::as_array).map_or(&[], |items| items)
}

fn pod(spec: &Value, found: &mut Found) {
    found.add(RefKind::ServiceAccount, spec, "/serviceAccountName");
    found.add(RefKind::PriorityClass, spec, "/priorityClassName");
    found.add(RefKind::RuntimeClass, spec, "/runtimeClassName");
    for secret in list(spec, "/imagePullSecrets") {
        found.add(RefKind::Secret, secret, "/name");
    }
    for containers in ["/initContainers", "/containers", "/ephemeralContainers"] {
        for container in list(spec, containers) {
            environment(container, found);
        }
    }
    for volume in list(spec, "/volumes") {
        mounted(volume, found);
    }
}

fn environment(container: &Value, found: &mut Found) {
    for variable in list(container, "/env") {
        found.add_required(RefKind::ConfigMap, variable.pointer("/valueFrom/configMapKeyRef"), "/name");
        found.add_required(RefKind::Secret, variable.pointer("/valueFrom/secretKeyRef"), "/name");
    }
    for source in list(container, "/envFrom") {
        found.add_required(RefKind::ConfigMap, source.get("configMapRef"), "/name");
        found.add_required(RefKind::Secret, source.get("secretRef"), "/name");
    }
}

fn mounted(volume: &Value, found: &mut Found) {
    found.add_required(RefKind::ConfigMap, volume.get("configMap"), "/name");
    found.add_required(RefKind::Secret, volume.get("secret"), "/secretName");
    found.add(RefKind::Claim, volume, "/persistentVolumeClaim/claimName");
    found.add(RefKind::StorageClass, volume, "/ephemeral/volumeClaimTemplate/spec/storageClassName");
    for source in list(volume, "/projected/sources") {
        found.add_required(RefKind::ConfigMap, source.get("configMap"), "/name");
        found.add_required(RefKind::Secret, source.get("secret"), "/name");
    }
}

fn storage_class(claim: &Value, found: &mut Found) {
    found.add(RefKind::StorageClass, claim, "/spec/storageClassName");
}

fn binding(body: &Value, found: &mut Found) {
    let role = match text(body, "/roleRef/kind") {
        Some("Role") => RefKind::Role,
        _ => RefKind::ClusterRole,
    };
    found.add(role, body, "/roleRef/name");
    for subject in list(body, "/subjects") {
        if text(subject, "/kind") == Some("ServiceAccount") {
            found.add_at(RefKind::Subject, Some(subject));
        }
    }
}

fn webhooks(body: &Value, found: &mut Found) {
    for webhook in list(body, "/webhooks") {
        found.add_at(RefKind::WebhookService, webhook.pointer("/clientConfig/service"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(group: &str, kind: &str, body: &Value) -> Vec<String> {
        let show = |reference: &Reference| {
            let namespace =
                reference.namespace.as_deref().map_or(String::new(), |namespace| format!("{namespace}/"));
            format!("{:?} {namespace}{}", reference.kind, reference.name)
        };
        references(&GroupKind::new(group, kind), body).iter().map(show).collect()
    }

    #[test]
    fn everything_a_pod_names() {
        let spec = json!({
            "serviceAccountName": "sa", "priorityClassName": "high", "runtimeClassName": "gvisor",
            "imagePullSecrets": [{"name": "pull"}],
            "initContainers": [{"envFrom": [{"configMapRef": {"name": "init"}}, {"secretRef": {"name": "no", "optional": true}}]}],
            "containers": [{"env": [
                {"name": "A", "value": "x"},
                {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "env", "key": "k"}}},
                {"name": "C", "valueFrom": {"secretKeyRef": {"name": "env-secret", "key": "k"}}},
                {"name": "D", "valueFrom": {"configMapKeyRef": {"name": "no", "key": "k", "optional": true}}},
                {"name": "E", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            ]}],
            "volumes": [
                {"name": "a", "configMap": {"name": "mounted"}}, {"name": "b", "secret": {"secretName": "mounted"}},
                {"name": "c", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "d", "projected": {"sources": [{"configMap": {"name": "projected"}}, {"secret": {"name": "projected"}},
                    {"secret": {"name": "no", "optional": true}}, {"downwardAPI": {}}]}},
                {"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "fast"}}}},
                {"name": "f", "emptyDir": {}}, {"name": "g", "configMap": {"name": "mounted"}},
            ],
        });
        let wanted = [
            "ConfigMap env",
            "ConfigMap init",
            "ConfigMap mounted",
            "ConfigMap projected",
            "Secret env-secret",
            "Secret mounted",
            "Secret projected",
            "Secret pull",
            "ServiceAccount sa",
            "Claim data",
            "PriorityClass high",
            "RuntimeClass gvisor",
            "StorageClass fast",
        ];
        assert_eq!(names("", "Pod", &json!({"spec": spec})), wanted);
        let template = json!({"spec": {"template": {"spec": spec}}});
        for (group, kind) in
            [("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "DaemonSet"), ("batch", "Job")]
        {
            assert_eq!(names(group, kind, &template), wanted, "{kind}");
        }
        assert_eq!(names("batch", "CronJob", &json!({"spec": {"jobTemplate": template}})), wanted);
        assert_eq!(names("example.com", "Deployment", &template), [""; 0]);
    }

    #[test]
    fn what_other_kinds_name() {
        let service = json!({"service": {"namespace": "ops", "name": "hook"}});
        let cases = [
            (
                "",
                "PersistentVolumeClaim",
                json!({"spec": {"storageClassName": "fast"}}),
                vec!["StorageClass fast"],
            ),
            ("", "PersistentVolumeClaim", json!({"spec": {"storageClassName": ""}}), vec![]),
            (
                "apps",
                "StatefulSet",
                json!({"spec": {"volumeClaimTemplates": [{"spec": {"storageClassName": "fast"}}]}}),
                vec!["StorageClass fast"],
            ),
            (
                "networking.k8s.io",
                "Ingress",
                json!({"spec": {"ingressClassName": "nginx", "tls": [{"secretName": "cert"}]}}),
                vec!["IngressClass nginx"],
            ),
            (
                RBAC,
                "RoleBinding",
                json!({"roleRef": {"kind": "Role", "name": "r"}, "subjects": [
                    {"kind": "ServiceAccount", "name": "sa", "namespace": "b"}, {"kind": "ServiceAccount", "name": "here"},
                    {"kind": "User", "name": "u"}]}),
                vec!["Role r", "Subject here", "Subject b/sa"],
            ),
            (
                RBAC,
                "RoleBinding",
                json!({"roleRef": {"kind": "ClusterRole", "name": "r"}}),
                vec!["ClusterRole r"],
            ),
            (
                ADMISSION,
                "ValidatingWebhookConfiguration",
                json!({"webhooks": [{"clientConfig": service}, {"clientConfig": {"url": "https://x"}}]}),
                vec!["WebhookService ops/hook"],
            ),
            ("apiregistration.k8s.io", "APIService", json!({"spec": service}), vec!["ApiService ops/hook"]),
            ("apiregistration.k8s.io", "APIService", json!({"spec": {"service": null}}), vec![]),
            (
                "apiextensions.k8s.io",
                "CustomResourceDefinition",
                json!({"spec": {"conversion": {"webhook": {"clientConfig": service}}}}),
                vec!["ConversionService ops/hook"],
            ),
            (
                ADMISSION,
                "ValidatingAdmissionPolicyBinding",
                json!({"spec": {"policyName": "p"}}),
                vec!["ValidatingPolicy p"],
            ),
            (
                ADMISSION,
                "MutatingAdmissionPolicyBinding",
                json!({"spec": {"policyName": "p"}}),
                vec!["MutatingPolicy p"],
            ),
            (
                "autoscaling",
                "HorizontalPodAutoscaler",
                json!({"spec": {"scaleTargetRef": {"name": "web"}}}),
                vec![],
            ),
        ];
        for (group, kind, body, wanted) in cases {
            assert_eq!(names(group, kind, &body), wanted, "{kind} {body}");
        }
    }

    #[test]
    fn nonsense_names_nothing() {
        for body in [
            json!({"spec": {"template": {"spec": []}}}),
            json!({"spec": {"volumes": {"a": 1}}}),
            json!({"spec": 3}),
        ] {
            assert_eq!(names("apps", "Deployment", &body), [""; 0]);
            assert_eq!(names("", "Pod", &body), [""; 0]);
        }
    }
}
