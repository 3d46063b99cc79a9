use std::sync::Arc;

use super::parse::{Document, GroupNames, document, resources};
use super::table::{Group, Table, Version};
use super::{Parts, Resource, Verbs};
use crate::id::GroupKind;

/// A kind that offers everything, for tests.
pub(in crate::cluster) fn resource(
    group: &str,
    version: &str,
    kind: &str,
    plural: &str,
    namespaced: bool,
) -> Resource {
    Resource(Arc::new(Parts {
        group_kind: GroupKind::new(group, kind),
        version: version.into(),
        plural: plural.into(),
        singular: kind.to_lowercase().into(),
        short_names: Box::new([]),
        categories: Box::new([]),
        namespaced,
        has_status: true,
        verbs: Verbs(u8::MAX),
    }))
}

/// What a current server answers for `/apis`, cut down.
pub(in crate::cluster) const APIS: &str = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[
 {"metadata":{"name":"apps","creationTimestamp":null},"versions":[
  {"version":"v1","freshness":"Current","resources":[
   {"resource":"deployments","responseKind":{"group":"apps","version":"v1","kind":"Deployment"},"scope":"Namespaced",
    "singularResource":"deployment","verbs":["create","delete","get","list","patch","watch"],"shortNames":["deploy"],
    "categories":["all"],"subresources":[{"subresource":"scale","verbs":["get"]},{"subresource":"status","verbs":["get"]}]}]}]},
 {"metadata":{"name":"autoscaling"},"versions":[
  {"version":"v2","freshness":"Current","resources":[
   {"resource":"horizontalpodautoscalers","responseKind":{"kind":"HorizontalPodAutoscaler"},"scope":"Namespaced","verbs":["get"],"shortNames":["hpa"]}]},
  {"version":"v1","freshness":"Current","resources":[
   {"resource":"horizontalpodautoscalers","responseKind":{"kind":"HorizontalPodAutoscaler"},"scope":"Namespaced","verbs":["get"],"shortNames":["hpa"]}]}]},
 {"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]}]}"#;

/// The same for `/api`.
pub(in crate::cluster) const API: &str = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[
 {"metadata":{"creationTimestamp":null},"versions":[{"version":"v1","freshness":"Current","resources":[
   {"resource":"configmaps","responseKind":{"group":"","version":"v1","kind":"ConfigMap"},"scope":"Namespaced",
    "singularResource":"configmap","verbs":["get","list","watch","patch"],"shortNames":["cm"]},
   {"resource":"namespaces","responseKind":{"kind":"Namespace"},"scope":"Cluster","singularResource":"namespace","verbs":["get"],"shortNames":["ns"]}]}]}]}"#;

fn aggregated(text: &str) -> Vec<Group> {
    match document(text.as_bytes()).unwrap() {
        Document::Aggregated(groups) => groups,
        Document::Names(names) => panic!("not aggregated: {names:?}"),
    }
}

fn table() -> Table {
    let groups = aggregated(API).into_iter().chain(aggregated(APIS)).collect();
    Table::new(groups, &Table::default())
}

#[test]
fn kinds_are_found_in_the_wanted_or_the_preferred_version() {
    let table = table();
    let deployment = table.get(&GroupKind::new("apps", "Deployment"), None).unwrap();
    assert_eq!(deployment.api_version(), "apps/v1");
    assert_eq!(deployment.plural(), "deployments");
    assert!(deployment.namespaced() && deployment.has_status());
    assert!(
        deployment.verbs().has("watch")
            && !deployment.verbs().has("update")
            && !deployment.verbs().has("fly")
    );
    assert_eq!(deployment.categories().collect::<Vec<_>>(), ["all"]);

    let hpa = GroupKind::new("autoscaling", "HorizontalPodAutoscaler");
    assert_eq!(table.get(&hpa, None).unwrap().version(), "v2");
    assert_eq!(table.get(&hpa, Some("v1")).unwrap().version(), "v1");
    assert_eq!(table.get(&hpa, Some("v3")), None);
    let namespace = table.get(&GroupKind::new("", "Namespace"), Some("v1")).unwrap();
    assert!(!namespace.namespaced() && !namespace.has_status());
    assert_eq!(namespace.api_version(), "v1");
}

#[test]
fn a_stale_group_keeps_its_old_entries() {
    let metrics = GroupKind::new("metrics.k8s.io", "PodMetrics");
    let fresh = Group {
        name: "metrics.k8s.io".into(),
        versions: vec![Version {
            name: "v1beta1".into(),
            resources: Some(vec![resource("metrics.k8s.io", "v1beta1", "PodMetrics", "pods", true)]),
        }],
    };
    let before = Table::new(vec![fresh], &Table::default());
    let after = Table::new(aggregated(APIS), &before);
    assert!(after.get(&metrics, None).is_some(), "stale, so it stays");
    assert!(after.is_complete());
    let never_seen = table();
    assert!(never_seen.get(&metrics, None).is_none());
    assert!(!never_seen.is_complete());
    let gone = Table::new(aggregated(API), &before);
    assert!(gone.get(&metrics, None).is_none(), "not listed, so it is gone");
}

#[test]
fn people_name_kinds_in_many_ways() {
    let table = table();
    let rows = [
        ("deploy", "apps/v1"),
        ("deployments", "apps/v1"),
        ("Deployment", "apps/v1"),
        ("deployment.apps", "apps/v1"),
        ("deployments.v1.apps", "apps/v1"),
        ("hpa", "autoscaling/v2"),
        ("hpa.v1.autoscaling", "autoscaling/v1"),
        ("cm", "v1"),
        ("cm.v1", "v1"),
        ("cm.v1.", "v1"),
    ];
    for (word, expected) in rows {
        let found: Vec<String> = table.named(word).iter().map(Resource::api_version).collect();
        assert_eq!(found, [expected], "{word}");
    }
    for word in ["nothing", "deploy.batch", "hpa.v3.autoscaling"] {
        assert!(table.named(word).is_empty(), "{word}");
    }
}

#[test]
fn near_kinds_help_with_slips() {
    let table = table();
    let near = |group: &str, kind: &str| table.near(&GroupKind::new(group, kind));
    assert_eq!(near("extensions", "Deployment"), ["Deployment (apps/v1)"]);
    assert_eq!(near("apps", "Deploymnet"), ["Deployment (apps/v1)"]);
    assert_eq!(near("", "Configmap"), ["ConfigMap (v1)"]);
    assert_eq!(near("apps", "Gateway"), [""; 0]);
}

#[test]
fn old_servers_give_names_and_then_lists() {
    let core = r#"{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]}"#;
    let names = |name: &str, versions: &[&str]| GroupNames {
        name: name.to_owned(),
        versions: versions.iter().map(|version| (*version).to_owned()).collect(),
    };
    assert_eq!(document(core.as_bytes()).unwrap(), Document::Names(vec![names("", &["v1"])]));
    let groups = r#"{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"autoscaling",
        "versions":[{"groupVersion":"autoscaling/v2beta2","version":"v2beta2"},{"groupVersion":"autoscaling/v1","version":"v1"}],
        "preferredVersion":{"groupVersion":"autoscaling/v1","version":"v1"}}]}"#;
    assert_eq!(
        document(groups.as_bytes()).unwrap(),
        Document::Names(vec![names("autoscaling", &["v1", "v2beta2"])])
    );
    let list = r#"{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[
        {"name":"deployments","singularName":"","namespaced":true,"kind":"Deployment","verbs":["get"],"shortNames":["deploy"]},
        {"name":"deployments/status","singularName":"","namespaced":true,"kind":"Deployment","verbs":["get"]}]}"#;
    let found = resources(list.as_bytes(), "apps", "v1").unwrap();
    assert_eq!(found.len(), 1, "subresources are no kinds");
    let deployment = found.first().unwrap();
    assert_eq!((deployment.singular(), deployment.has_status()), ("deployment", true));
}
