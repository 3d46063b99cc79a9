//! Namespaces that are missing or on their way out.

use serde_json::json;

use super::super::Case;
use super::{map, map_with};

pub(super) fn cases() -> Vec<Case> {
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "$ns-two" } });
    let maps = |name: &str| format!("/api/v1/namespaces/$ns-two/configmaps/{name}");
    vec![
        Case::new("content needs its namespace, also in a dry run")
            .apply("/api/v1/namespaces/$ns-missing/configmaps/a", map("a", json!({})))
            .refused(404, "NotFound", "namespaces \"$ns-missing\" not found")
            .is("/details/kind", "namespaces")
            .apply("/api/v1/namespaces/$ns-missing/configmaps/a?dryRun=All", map("a", json!({})))
            .refused(404, "NotFound", "namespaces \"$ns-missing\" not found"),
        Case::new("a namespace on its way out takes changes but nothing new")
            .apply("/api/v1/namespaces/$ns-two", &namespace)
            .code(201)
            .is("/status/phase", "Active")
            .is("/spec/finalizers", json!(["kubernetes"]))
            .text("/metadata/labels/kubernetes.io~1metadata.name", "$ns-two")
            .apply(maps("a"), map_with(json!({ "finalizers": ["example.com/hold"] })))
            .code(201)
            .delete("/api/v1/namespaces/$ns-two", "")
            .code(200)
            .is("/status/phase", "Terminating")
            .present("/metadata/deletionTimestamp")
            .apply(maps("new"), map("new", json!({})))
            .refused(403, "Forbidden", "configmaps \"new\" is forbidden: unable to create new content in namespace $ns-two because it is being terminated")
            .is("/details/causes/0/reason", "NamespaceTerminating")
            .is("/details/causes/0/field", "metadata.namespace")
            .apply(format!("{}?dryRun=All", maps("new")), map("new", json!({})))
            .code(403)
            .apply(maps("a"), map_with(json!({ "finalizers": ["example.com/hold"], "labels": { "x": "y" } })))
            .code(200)
            .apply("/api/v1/namespaces/$ns-two", &namespace)
            .code(200)
            .present("/metadata/deletionTimestamp")
            .get("/api/v1/namespaces/$ns-two")
            .condition("NamespaceContentRemaining", "True", "SomeResourcesRemain")
            .condition("NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain")
            .condition("NamespaceDeletionContentFailure", "False", "ContentDeleted")
            .condition("NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered")
            .within(30)
            .apply(maps("a"), map_with(json!({})))
            .code(200)
            .get(maps("a"))
            .code(404)
            .get("/api/v1/namespaces/$ns-two")
            .code(404)
            .within(30),
        Case::new("a missing namespace cannot be deleted")
            .delete("/api/v1/namespaces/$ns-missing", "")
            .refused(404, "NotFound", "namespaces \"$ns-missing\" not found"),
    ]
}
