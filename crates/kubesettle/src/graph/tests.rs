use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::manifest::{DEPENDS_ON, Object};

fn live(body: &Value) -> Object {
    Object::from_live(body.to_string().as_bytes()).unwrap()
}

/// `KIND/NAME`, or `KIND/NAMESPACE/NAME`, of a few well-known kinds.
fn named(text: &str, more: Value) -> Object {
    let parts: Vec<&str> = text.split('/').collect();
    let (kind, namespace, name) = match *parts {
        [kind, name] => (kind, None, name),
        [kind, namespace, name] => (kind, Some(namespace), name),
        _ => panic!("{text}"),
    };
    let api_version = match kind {
        "Deployment" | "StatefulSet" => "apps/v1",
        "CustomResourceDefinition" => "apiextensions.k8s.io/v1",
        "ValidatingWebhookConfiguration" => "admissionregistration.k8s.io/v1",
        "APIService" => "apiregistration.k8s.io/v1",
        "RoleBinding" | "Role" | "ClusterRole" => "rbac.authorization.k8s.io/v1",
        "Ingress" | "IngressClass" => "networking.k8s.io/v1",
        "Widget" => "example.com/v1",
        _ => "v1",
    };
    let mut body = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
    if let Some(namespace) = namespace {
        body["metadata"]["namespace"] = json!(namespace);
    }
    for (key, value) in more.as_object().unwrap() {
        match key.as_str() {
            "annotations" => body["metadata"]["annotations"] = value.clone(),
            "depends-on" => body["metadata"]["annotations"] = json!({DEPENDS_ON: value}),
            _ => body[key] = value.clone(),
        }
    }
    live(&body)
}

fn build(objects: &[Object]) -> Graph {
    Graph::build(objects, &GraphOptions::default()).unwrap()
}

/// All edges, as `from: origin: to: gate`.
fn edges(objects: &[Object]) -> Vec<String> {
    let graph = build(objects);
    let name = |node: u32| format!("{:#}", objects[node as usize].id());
    let of = |node: u32| graph.dependencies(node).iter().map(move |edge| (node, edge));
    (0..objects.len() as u32)
        .flat_map(of)
        .map(|(from, edge)| format!("{} {} {} [{:?}]", name(from), edge.origin, name(edge.node), edge.gate))
        .collect()
}

#[test]
fn content_waits_for_its_namespace_and_custom_resources_for_their_kind() {
    let crd = json!({"spec": {"group": "example.com", "names": {"kind": "Widget", "plural": "widgets"}}});
    let objects = [
        named("Widget/shop/w", json!({})),
        named("CustomResourceDefinition/widgets.example.com", crd),
        named("Namespace/shop", json!({})),
        named("ConfigMap/other/c", json!({})),
    ];
    assert_eq!(
        edges(&objects),
        [
            "widget.example.com/w in shop is defined by customresourcedefinition.apiextensions.k8s.io/widgets.example.com [Usable]",
            "widget.example.com/w in shop is in namespace/shop [Usable]",
        ]
    );
}

#[test]
fn annotations_order_and_what_is_outside_is_kept() {
    let mutation =
        r#"[{"sourceRef": {"kind": "ConfigMap", "name": "c"}, "sourcePath": "$.a", "targetPath": "$.kind"}]"#;
    let objects = [
        named(
            "ConfigMap/shop/a",
            json!({"depends-on": "/namespaces/shop/ConfigMap/b, apps/namespaces/ops/Deployment/x"}),
        ),
        named("ConfigMap/shop/b", json!({"annotations": {crate::manifest::APPLY_TIME_MUTATION: mutation}})),
        named("ConfigMap/shop/c", json!({})),
    ];
    assert_eq!(
        edges(&objects),
        [
            "configmap/a in shop depends on configmap/b in shop [Settled]",
            "configmap/b in shop takes a value from configmap/c in shop [Settled]",
        ]
    );
    let outside = build(&objects).external().to_vec();
    assert_eq!(outside.len(), 1);
    assert_eq!((outside[0].node, outside[0].origin), (0, EdgeOrigin::DependsOn));
    assert_eq!(format!("{:#}", outside[0].id), "deployment.apps/x in ops");
}

#[test]
fn bodies_give_edges_that_only_want_the_apply() {
    let pod = json!({"serviceAccountName": "sa", "volumes": [{"configMap": {"name": "c"}}, {"secret": {"secretName": "absent"}}]});
    let objects = [
        named("Deployment/shop/web", json!({"spec": {"template": {"spec": pod}}})),
        named("ConfigMap/shop/c", json!({})),
        named("ConfigMap/other/c", json!({})),
        named("ServiceAccount/shop/sa", json!({})),
        named("Ingress/shop/i", json!({"spec": {"ingressClassName": "nginx"}})),
        named("IngressClass/nginx", json!({})),
        named(
            "RoleBinding/shop/b",
            json!({"roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "ServiceAccount", "name": "sa", "namespace": "shop"}]}),
        ),
        named("Role/shop/r", json!({})),
    ];
    assert_eq!(
        edges(&objects),
        [
            "deployment.apps/web in shop reads configmap/c in shop [Applied]",
            "deployment.apps/web in shop runs as serviceaccount/sa in shop [Applied]",
            "ingress.networking.k8s.io/i in shop is served by ingressclass.networking.k8s.io/nginx [Applied]",
            "rolebinding.rbac.authorization.k8s.io/b in shop grants to serviceaccount/sa in shop [Applied]",
            "rolebinding.rbac.authorization.k8s.io/b in shop grants role.rbac.authorization.k8s.io/r in shop [Applied]",
        ]
    );
    let off = GraphOptions { inferred: false, ..GraphOptions::default() };
    assert!(Graph::build(&objects, &off).unwrap().dependencies(0).is_empty());
}

#[test]
fn webhooks_wait_for_what_answers_them() {
    let labels =
        |app: &str| json!({"spec": {"template": {"metadata": {"labels": {"app": app, "tier": "x"}}}}});
    let service = json!({"service": {"namespace": "ops", "name": "hook"}});
    let objects = [
        named("ValidatingWebhookConfiguration/guard", json!({"webhooks": [{"clientConfig": service}]})),
        named("Service/ops/hook", json!({"spec": {"selector": {"app": "hook"}}})),
        named("Deployment/ops/hook", labels("hook")),
        named("Deployment/ops/other", labels("other")),
        named("Deployment/elsewhere/hook", labels("hook")),
        named("APIService/v1.metrics", json!({"spec": service})),
    ];
    let guard = "validatingwebhookconfiguration.admissionregistration.k8s.io/guard";
    let api = "apiservice.apiregistration.k8s.io/v1.metrics";
    assert_eq!(
        edges(&objects),
        [
            format!("{guard} calls service/hook in ops [Applied]"),
            format!("{guard} is answered by deployment.apps/hook in ops [Settled]"),
            format!("{api} is served by service/hook in ops [Settled]"),
            format!("{api} is answered by deployment.apps/hook in ops [Settled]"),
        ]
    );
    let order = build(&objects).order().to_vec();
    let at = |node: u32| order.iter().position(|other| *other == node).unwrap();
    assert!(at(2) < at(0) && at(1) < at(0));
}

#[test]
fn one_edge_a_pair_with_the_strictest_gate() {
    let pod = json!({"spec": {"volumes": [{"configMap": {"name": "c"}}]}, "depends-on": "/namespaces/shop/ConfigMap/c"});
    let objects = [named("Pod/shop/p", pod), named("ConfigMap/shop/c", json!({}))];
    assert_eq!(edges(&objects), ["pod/p in shop depends on configmap/c in shop [Settled]"]);
}

#[test]
fn an_inferred_edge_gives_way_to_a_declared_one() {
    let web = json!({"spec": {"template": {"spec": {"volumes": [{"configMap": {"name": "c"}}]}}}});
    let objects = [
        named("Deployment/shop/web", web),
        named("ConfigMap/shop/c", json!({"depends-on": "apps/namespaces/shop/Deployment/web"})),
    ];
    assert_eq!(edges(&objects), ["configmap/c in shop depends on deployment.apps/web in shop [Settled]"]);
    assert_eq!(
        build(&objects).warnings()[0].to_string(),
        "cluster: deployment.apps/web: reads configmap/c in shop, which does not count for the order: it would be a cycle"
    );
}

#[test]
fn a_cycle_is_told_without_those_who_only_wait_for_it() {
    let on = |name: &str| json!({"depends-on": format!("/namespaces/shop/ConfigMap/{name}")});
    let objects = [
        named("ConfigMap/shop/waits", on("b")),
        named("ConfigMap/shop/a", on("b")),
        named("ConfigMap/shop/b", on("c")),
        named(
            "ConfigMap/shop/c",
            json!({"depends-on": "/namespaces/shop/ConfigMap/a,/namespaces/shop/ConfigMap/d"}),
        ),
        named("ConfigMap/shop/d", on("c")),
        named("ConfigMap/shop/self", on("self")),
        named("ConfigMap/shop/free", json!({})),
    ];
    let cycles = Graph::build(&objects, &GraphOptions::default()).unwrap_err();
    assert_eq!(cycles.cycles().iter().map(|c| &*c.members).collect::<Vec<_>>(), [&[1, 2, 3, 4][..], &[5]]);
    assert_eq!(
        cycles.to_string(),
        "cluster: configmap/c: dependency cycle: configmap/c in shop depends on configmap/d in shop, which depends on \
         configmap/c in shop; also part of the knot: configmap/a in shop, configmap/b in shop\n\
         cluster: configmap/self: dependency cycle: configmap/self in shop depends on configmap/self in shop"
    );
}

#[test]
fn a_namespace_cannot_wait_for_its_content() {
    let objects = [
        named("Namespace/shop", json!({"depends-on": "/namespaces/shop/ConfigMap/c"})),
        named("ConfigMap/shop/c", json!({})),
    ];
    let cycles = Graph::build(&objects, &GraphOptions::default()).unwrap_err();
    assert_eq!(&*cycles.cycles()[0].members, [0, 1]);
}

/// A random set: declared edges among all nodes, inferred ones from the odd nodes (Pods) to the even
/// ones (ConfigMaps).
#[derive(Clone, Debug)]
struct Plan {
    nodes: usize,
    declared: Vec<(usize, usize)>,
    inferred: Vec<(usize, usize)>,
}

fn plans(max_declared: usize) -> impl Strategy<Value = Plan> {
    (2_usize..9).prop_flat_map(move |nodes| {
        let edge = (0..nodes, 0..nodes);
        let declared = prop::collection::vec(edge.clone(), 0..max_declared);
        let inferred = prop::collection::vec(edge, 0..8);
        (declared, inferred).prop_map(move |(mut declared, inferred)| {
            declared.sort();
            declared.dedup();
            let inferred = inferred.into_iter().filter(|(from, to)| from % 2 == 1 && to % 2 == 0).collect();
            Plan { nodes, declared, inferred }
        })
    })
}

impl Plan {
    fn kind(node: usize) -> &'static str {
        if node % 2 == 1 { "Pod" } else { "ConfigMap" }
    }

    fn objects(&self) -> Vec<Object> {
        let object = |node: usize| {
            let reference = |(_, to): &&(usize, usize)| format!("/namespaces/x/{}/n{to}", Self::kind(*to));
            let on: Vec<String> =
                self.declared.iter().filter(|edge| edge.0 == node).map(|edge| reference(&edge)).collect();
            let volume = |(_, to): &(usize, usize)| json!({"configMap": {"name": format!("n{to}")}});
            let volumes: Vec<Value> =
                self.inferred.iter().filter(|edge| edge.0 == node).map(volume).collect();
            let annotations = if on.is_empty() { json!({}) } else { json!({DEPENDS_ON: on.join(",")}) };
            let more = json!({"annotations": annotations, "spec": {"volumes": volumes}});
            named(&format!("{}/x/n{node}", Self::kind(node)), more)
        };
        (0..self.nodes).map(object).collect()
    }

    /// Who can reach whom in one or more steps.
    fn reach(&self) -> Vec<Vec<bool>> {
        let mut reach = vec![vec![false; self.nodes]; self.nodes];
        for &(from, to) in &self.declared {
            reach[from][to] = true;
        }
        for via in 0..self.nodes {
            for from in 0..self.nodes {
                for to in 0..self.nodes {
                    reach[from][to] |= reach[from][via] && reach[via][to];
                }
            }
        }
        reach
    }

    fn knots(&self) -> Vec<Vec<u32>> {
        let reach = self.reach();
        let mutual = |a: usize, b: usize| reach[a][b] && reach[b][a];
        let knot = |a: usize| (0..self.nodes).filter(|&b| mutual(a, b)).map(|b| b as u32).collect();
        let mut knots: Vec<Vec<u32>> = (0..self.nodes).map(knot).collect();
        knots.retain(|knot| !knot.is_empty());
        knots.sort();
        knots.dedup();
        knots
    }

    /// The length of the shortest way from a node of the knot back to it.
    fn shortest(&self, knot: &[u32]) -> usize {
        let from = |start: u32| {
            let mut at = std::collections::BTreeSet::from([start as usize]);
            (1..).find(|_| {
                at = self.declared.iter().filter(|edge| at.contains(&edge.0)).map(|edge| edge.1).collect();
                at.contains(&(start as usize))
            })
        };
        knot.iter().filter_map(|&start| from(start)).min().unwrap()
    }
}

proptest! {
    #[test]
    fn order_respects_every_edge(plan in plans(4)) {
        let objects = plan.objects();
        if let Ok(graph) = Graph::build(&objects, &GraphOptions::default()) {
            prop_assert_eq!(graph.order().len(), objects.len());
            let at = |node: u32| graph.order().iter().position(|&other| other == node).unwrap();
            for node in 0..objects.len() as u32 {
                for edge in graph.dependencies(node) {
                    prop_assert!(at(edge.node) < at(node));
                    let back = graph.dependents(edge.node).iter().find(|back| back.node == node).unwrap();
                    prop_assert_eq!((back.gate, back.origin), (edge.gate, edge.origin));
                }
            }
            for (from, to) in &plan.declared {
                prop_assert!(graph.dependencies(*from as u32).iter().any(|edge| edge.node == *to as u32));
            }
        }
    }

    #[test]
    fn cycles_are_reported_exactly(plan in plans(12)) {
        let knots = plan.knots();
        match Graph::build(&plan.objects(), &GraphOptions::default()) {
            Ok(_) => prop_assert!(knots.is_empty()),
            Err(found) => {
                let mut members: Vec<Vec<u32>> = found.cycles().iter().map(|cycle| cycle.members.to_vec()).collect();
                members.sort();
                prop_assert_eq!(&members, &knots);
                for cycle in found.cycles() {
                    prop_assert_eq!(cycle.path.len(), plan.shortest(&cycle.members));
                    for (nth, from) in cycle.path.iter().enumerate() {
                        let to = cycle.path[(nth + 1) % cycle.path.len()];
                        prop_assert!(plan.declared.contains(&(*from as usize, to as usize)));
                    }
                }
            }
        }
    }

    #[test]
    fn the_arrangement_of_the_objects_changes_nothing((plan, seed) in (plans(7), any::<u64>())) {
        let objects = plan.objects();
        let mut arranged = objects.clone();
        let mut seed = seed;
        for last in (1..arranged.len()).rev() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            arranged.swap(last, (seed >> 33) as usize % (last + 1));
        }
        let options = GraphOptions::default();
        match (Graph::build(&objects, &options), Graph::build(&arranged, &options)) {
            (Ok(one), Ok(other)) => {
                let ids = |graph: &Graph, objects: &[Object]| -> Vec<_> {
                    graph.order().iter().map(|&node| objects[node as usize].id().clone()).collect()
                };
                prop_assert_eq!(ids(&one, &objects), ids(&other, &arranged));
                prop_assert_eq!(one.warnings(), other.warnings());
                let (mut one, mut other) = (edges(&objects), edges(&arranged));
                one.sort();
                other.sort();
                prop_assert_eq!(one, other);
            }
            (Err(one), Err(other)) => prop_assert_eq!(one.to_string(), other.to_string()),
            _ => prop_assert!(false, "one arrangement has a cycle, the other has none"),
        }
    }
}

#[test]
fn on_removal_webhooks_go_first_and_custom_objects_before_what_may_look_after_them() {
    let crd = json!({"spec": {"group": "example.com", "names": {"kind": "Widget", "plural": "widgets"}}});
    let objects = [
        named("Namespace/ops", json!({})),
        named("CustomResourceDefinition/widgets.example.com", crd),
        named("Widget/ops/w", json!({})),
        named("Deployment/ops/operator", json!({})),
        named("ConfigMap/ops/after", json!({"depends-on": "example.com/namespaces/ops/Widget/w"})),
        named("ClusterRole/rights", json!({})),
        named("ValidatingWebhookConfiguration/hook", json!({})),
    ];
    let options = GraphOptions::removal();
    let graph = Graph::build(&objects, &options).unwrap();
    let way: Vec<String> =
        graph.order().iter().rev().map(|node| objects[*node as usize].id().name().to_owned()).collect();
    let at = |name: &str| way.iter().position(|known| known == name).unwrap();
    for (first, then) in [
        ("hook", "w"),
        ("hook", "operator"),
        ("after", "w"),
        ("w", "operator"),
        ("w", "rights"),
        ("w", "widgets.example.com"),
        ("operator", "ops"),
    ] {
        assert!(at(first) < at(then), "{first} before {then}: {way:?}");
    }
    assert!(at("operator") < at("widgets.example.com"), "by kapply's order of kinds: {way:?}");
    assert!(graph.warnings().is_empty());
}
