//! The example folder, whose order the README shows.

use std::path::PathBuf;

use kubesettle::graph::{Gate, Graph, GraphOptions};
use kubesettle::id::GroupKind;
use kubesettle::manifest::{LoadOptions, Manifests, ResolveOptions, ScopeAnswer, Source, StatusSchema};

fn scope_of(kind: &GroupKind, _: &str) -> ScopeAnswer {
    match (kind.group(), kind.kind()) {
        ("", "Namespace") | ("apiextensions.k8s.io", _) => ScopeAnswer::Cluster,
        ("shop.example.com", _) => ScopeAnswer::UnknownKind { near: Vec::new() },
        _ => ScopeAnswer::Namespaced,
    }
}

#[test]
fn the_shop_loads_and_has_one_order() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    let source = Source::Path { path: folder, recursive: false };
    let manifests = Manifests::load(&[source], &LoadOptions::default()).unwrap();
    assert!(manifests.warnings().is_empty());
    let crd = manifests.objects().iter().find_map(|object| object.crd()).unwrap();
    assert_eq!(crd.status(), StatusSchema::Conditions);
    let (set, graph) =
        Graph::of_input(manifests, scope_of, &ResolveOptions::default(), &GraphOptions::default()).unwrap();
    let ids: Vec<String> =
        graph.order().iter().map(|&node| set.objects()[node as usize].id().to_string()).collect();
    assert_eq!(
        ids,
        [
            "namespace/shop",
            "customresourcedefinition.apiextensions.k8s.io/discounts.shop.example.com",
            "serviceaccount/web",
            "role.rbac.authorization.k8s.io/discount-reader",
            "rolebinding.rbac.authorization.k8s.io/web-reads-discounts",
            "configmap/settings",
            "secret/database",
            "service/database",
            "service/web",
            "deployment.apps/search",
            "statefulset.apps/database",
            "deployment.apps/web",
            "cronjob.batch/nightly-report",
            "poddisruptionbudget.policy/web",
            "daemonset.apps/image-cache",
            "horizontalpodautoscaler.autoscaling/search",
            "job.batch/migrate-schema",
            "ingress.networking.k8s.io/web",
            "networkpolicy.networking.k8s.io/database",
            "discount.shop.example.com/welcome",
        ]
    );
    assert!(graph.external().is_empty() && graph.warnings().is_empty());
    let web =
        set.objects().iter().position(|object| object.id().to_string() == "deployment.apps/web").unwrap();
    let mut why: Vec<String> = graph
        .dependencies(web as u32)
        .iter()
        .map(|edge| format!("{} {} {:?}", edge.origin, set.objects()[edge.node as usize].id(), edge.gate))
        .collect();
    why.sort();
    let applied = Gate::Applied;
    assert_eq!(
        why,
        [
            "depends on statefulset.apps/database Settled".to_owned(),
            "is in namespace/shop Usable".to_owned(),
            format!("reads configmap/settings {applied:?}"),
            format!("reads secret/database {applied:?}"),
            format!("runs as serviceaccount/web {applied:?}"),
        ]
    );
}
