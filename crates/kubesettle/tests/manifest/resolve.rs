//! Namespaces and kinds, with what a cluster would answer.

use kubesettle::graph::{Graph, GraphOptions};
use kubesettle::id::GroupKind;
use kubesettle::manifest::{
    InvalidPolicy, LoadOptions, Manifests, ResolveOptions, Resolved, Scope, ScopeAnswer, Source, UnknownKinds,
};
use serde_json::Value;

use crate::lines;

/// A small cluster.
pub(crate) fn scope_of(kind: &GroupKind, version: &str) -> ScopeAnswer {
    let rows = [
        ("", "v1", "Namespace", ScopeAnswer::Cluster),
        ("", "v1", "ConfigMap", ScopeAnswer::Namespaced),
        ("apps", "v1", "Deployment", ScopeAnswer::Namespaced),
        ("apiextensions.k8s.io", "v1", "CustomResourceDefinition", ScopeAnswer::Cluster),
        ("rbac.authorization.k8s.io", "v1", "ClusterRole", ScopeAnswer::Cluster),
    ];
    let known = rows
        .into_iter()
        .find(|(group, served, name, _)| kind.is(group, name) && ["", *served].contains(&version));
    let near = if kind.kind() == "Deploymnet" { vec!["Deployment (apps/v1)".to_owned()] } else { Vec::new() };
    known.map_or(ScopeAnswer::UnknownKind { near }, |(_, _, _, scope)| scope)
}

fn options(edit: impl FnOnce(&mut ResolveOptions)) -> ResolveOptions {
    let mut options = ResolveOptions::default();
    edit(&mut options);
    options
}

fn resolve(text: &str, options: &ResolveOptions) -> Result<Resolved, String> {
    let manifests = Manifests::parse("a.yaml", text.as_bytes()).unwrap();
    manifests.resolve(scope_of, options).map_err(|problems| problems.to_string())
}

fn document(api_version: &str, kind: &str, metadata: &str) -> String {
    format!("---\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{{metadata}}}\n")
}

const CRD: &str = "---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions: [{name: v1, served: true}, {name: v2, served: false}]
";

#[test]
fn namespaces_are_filled_in_or_dropped() {
    let text = document("v1", "ConfigMap", "name: a")
        + &document("v1", "ConfigMap", "name: a, namespace: b")
        + &document("v1", "Namespace", "name: c, namespace: d");
    let resolved = resolve(&text, &options(|o| o.default_namespace = Some("shop".into()))).unwrap();
    let shown: Vec<String> = resolved.objects().iter().map(|object| format!("{:#}", object.id())).collect();
    assert_eq!(shown, ["configmap/a in shop", "configmap/a in b", "namespace/c"]);
    let namespaces: Vec<Value> = resolved
        .objects()
        .iter()
        .map(|object| serde_json::from_slice::<Value>(object.json()).unwrap()["metadata"]["namespace"].take())
        .collect();
    assert_eq!(namespaces, ["shop".into(), "b".into(), Value::Null]);
    let scopes: Vec<Scope> = resolved.objects().iter().map(|object| object.scope()).collect();
    assert_eq!(scopes, [Scope::Namespaced, Scope::Namespaced, Scope::Cluster]);
    assert_eq!(
        lines(resolved.warnings()),
        ["a.yaml:10: namespace/c: the kind has no namespaces; left out metadata.namespace \"d\""]
    );
}

#[test]
fn namespaces_that_cannot_be_right_are_refused() {
    let a = document("v1", "ConfigMap", "name: a");
    let b = document("v1", "ConfigMap", "name: b, namespace: b");
    let none = "a.yaml:2: configmap/a: has no metadata.namespace, and there is no default\n  set metadata.namespace, or give a default with -n";
    assert_eq!(resolve(&(a.clone() + &b), &ResolveOptions::default()).unwrap_err(), none);
    let enforced = options(|o| {
        o.default_namespace = Some("shop".into());
        o.enforce_namespace = true;
    });
    let other = "a.yaml:6: configmap/b: is in namespace \"b\", but \"shop\" was asked for\n  leave out -n, or give -n b";
    assert_eq!(resolve(&(a.clone() + &b), &enforced).unwrap_err(), other);
    let twice = a + &document("v1", "ConfigMap", "name: a, namespace: shop");
    let same =
        "a.yaml:6: configmap/a: is the same object as at a.yaml:2, now that their namespaces are filled in";
    assert_eq!(resolve(&twice, &enforced).unwrap_err(), same);
}

#[test]
fn kinds_are_known_from_the_cluster_or_from_the_set() {
    let widget = document("example.com/v1", "Widget", "name: w, namespace: x");
    let resolved = resolve(&(widget.clone() + CRD), &ResolveOptions::default()).unwrap();
    assert_eq!(resolved.objects()[0].scope(), Scope::Namespaced);
    let rows = [
        (widget.clone(), "unknown kind Widget (example.com/v1)"),
        (
            document("example.com/v2", "Widget", "name: w") + CRD,
            "version v2 is not served; its CRD at a.yaml:6 serves v1",
        ),
        (
            document("example.com/v1", "Wigdet", "name: w") + CRD,
            "unknown kind Wigdet (example.com/v1)\n  did you mean Widget (example.com/v1)?",
        ),
        (
            document("apps/v1", "Deploymnet", "name: w"),
            "unknown kind Deploymnet (apps/v1)\n  did you mean Deployment (apps/v1)?",
        ),
        (document("apps/v1beta1", "Deployment", "name: w"), "unknown kind Deployment (apps/v1beta1)"),
    ];
    for (text, wanted) in rows {
        let found = resolve(&text, &ResolveOptions::default()).unwrap_err();
        assert_eq!(found.split_once("/w: ").unwrap().1, wanted, "{text}");
    }
    let waiting = options(|o| {
        o.unknown_kinds = UnknownKinds::Wait;
        o.default_namespace = Some("shop".into());
    });
    let resolved = resolve(&(widget + &document("a.b/v1", "C", "name: c")), &waiting).unwrap();
    let shown: Vec<String> =
        resolved.objects().iter().map(|object| format!("{:#} {:?}", object.id(), object.scope())).collect();
    assert_eq!(shown, ["widget.example.com/w in x Unknown", "c.a.b/c Unknown"]);
}

#[test]
fn references_are_checked_against_kinds() {
    let on = |reference: &str| {
        document(
            "v1",
            "ConfigMap",
            &format!("name: a, namespace: x, annotations: {{config.kubernetes.io/depends-on: {reference}}}"),
        )
    };
    let rows = [
        ("apps/Deployment/d", "the kind has namespaces: write <group>/namespaces/<namespace>/<kind>/<name>"),
        ("/namespaces/x/Namespace/d", "the kind has no namespaces: write <group>/<kind>/<name>"),
        ("apps/namespaces/x/Deploymnet/d", "unknown kind Deploymnet (apps)"),
    ];
    for (reference, wanted) in rows {
        let wanted = format!(
            "a.yaml:2: configmap/a: annotation config.kubernetes.io/depends-on: {reference:?}: {wanted}"
        );
        assert_eq!(resolve(&on(reference), &ResolveOptions::default()).unwrap_err(), wanted);
    }
    assert!(resolve(&on("apps/namespaces/x/Deployment/d"), &ResolveOptions::default()).is_ok());
}

#[test]
fn a_mutation_source_is_looked_for_beside_its_target() {
    let mutated = |source: &str| {
        let annotation = format!(
            "'[{{\"sourceRef\": {{{source}}}, \"sourcePath\": \"$.a\", \"targetPath\": \"$.kind\"}}]'"
        );
        document(
            "v1",
            "ConfigMap",
            &format!("name: a, annotations: {{config.kubernetes.io/apply-time-mutation: {annotation}}}"),
        )
    };
    let shop = options(|o| o.default_namespace = Some("shop".into()));
    let source = |text: &str| {
        resolve(text, &shop).map(|resolved| resolved.objects()[0].substitutions()[0].source.reference())
    };
    assert_eq!(
        source(&mutated(r#""kind": "ConfigMap", "name": "b""#)).unwrap(),
        "/namespaces/shop/ConfigMap/b"
    );
    assert_eq!(source(&mutated(r#""kind": "Namespace", "name": "b""#)).unwrap(), "/Namespace/b");
    assert_eq!(
        source(&mutated(r#""kind": "ConfigMap", "name": "a""#)).unwrap_err(),
        "a.yaml:2: configmap/a: takes a value from itself at apply time"
    );
}

#[test]
fn the_inventory_template_is_taken_out() {
    let template = |name: &str| {
        document(
            "v1",
            "ConfigMap",
            &format!("name: {name}, namespace: x, labels: {{cli-utils.sigs.k8s.io/inventory-id: {name}}}"),
        )
    };
    let resolved =
        resolve(&(template("i") + &document("v1", "Namespace", "name: x")), &ResolveOptions::default())
            .unwrap();
    assert_eq!(resolved.template().and_then(|object| object.inventory_id()), Some("i"));
    assert_eq!(resolved.objects().len(), 1);
    let two = resolve(&(template("i") + &template("j")), &ResolveOptions::default()).unwrap_err();
    assert_eq!(two, "a.yaml:6: configmap/j: is a second inventory template; the first is at a.yaml:2");
}

#[test]
fn all_problems_of_all_steps_come_together_or_are_skipped() {
    let on = |name: &str, other: &str| {
        document(
            "v1",
            "ConfigMap",
            &format!(
                "name: {name}, namespace: x, annotations: {{config.kubernetes.io/depends-on: /namespaces/x/ConfigMap/{other}}}"
            ),
        )
    };
    let text = "kind: x\n".to_owned()
        + &document("a.b/v1", "C", "name: c")
        + &on("a", "b")
        + &on("b", "a")
        + &document("v1", "ConfigMap", "name: good, namespace: x")
        + &document("v1", "ConfigMap", "name: twice, namespace: x")
        + &document("v1", "ConfigMap", "name: twice, namespace: x");
    let load = || {
        let mut options = LoadOptions::default();
        options.invalid = InvalidPolicy::Skip;
        let source = Source::Bytes { name: "a.yaml".into(), data: text.clone().into() };
        Manifests::load(&[source], &options).unwrap()
    };
    let problems =
        Graph::of_input(load(), scope_of, &ResolveOptions::default(), &GraphOptions::default()).unwrap_err();
    let wanted = "\
a.yaml:1: apiVersion and metadata.name are missing
a.yaml:3: c.a.b/c: unknown kind C (a.b/v1)
a.yaml:7: configmap/a: dependency cycle: configmap/a in x depends on configmap/b in x, which depends on configmap/a in x
  take one of these dependencies away (a.yaml:7, a.yaml:11)
a.yaml:23: configmap/twice: is the same object as at a.yaml:19";
    assert_eq!(problems.to_string(), wanted);
    let skip = options(|o| o.invalid = InvalidPolicy::Skip);
    let (resolved, graph) = Graph::of_input(load(), scope_of, &skip, &GraphOptions::default()).unwrap();
    let ids: Vec<String> = resolved.objects().iter().map(|object| object.id().to_string()).collect();
    assert_eq!((ids, graph.len()), (vec!["configmap/good".to_owned()], 1));
    let invalid: Vec<String> = resolved.invalid().map(ToString::to_string).collect();
    assert_eq!(invalid, ["configmap/twice", "c.a.b/c", "configmap/a", "configmap/b"]);
    assert_eq!(resolved.problems().len(), 4);
}
