//! Broken input and the exact words it gets.

use kubesettle::manifest::Manifests;

use crate::{complaints, config_map};

/// An annotation on a ConfigMap named a; it stands on line 6.
fn annotated(key: &str, value: &str) -> String {
    config_map("a", &format!("  annotations:\n    config.kubernetes.io/{key}: {value}\n"))
}

#[test]
fn what_is_wrong_with_one_document() {
    let no_object = "\n  each document holds one object: a mapping with apiVersion, kind and metadata";
    let quotes = "\n  put the value in quotes";
    let template = "\n  this looks like a template: render it first";
    let rows: &[(&str, &str)] = &[
        ("", "a.yaml: no objects found"),
        ("# nothing\n---\n", "a.yaml: no objects found"),
        (
            "kind: {a: b\nc: d\n",
            "a.yaml:2: YAML syntax: while parsing a flow mapping, did not find expected ',' or '}'",
        ),
        ("a:\n\tb: c\n", "a.yaml:2: YAML syntax: tabs disallowed within this context (block indentation)"),
        ("a: @b\n", "a.yaml:1: YAML syntax: unexpected character: `@'"),
        ("a: b: c\n", "a.yaml:1: YAML syntax: mapping values are not allowed in this context"),
        ("a: \"b\n", "a.yaml:1: YAML syntax: unclosed quote"),
        ("a: *b\n", "a.yaml:1: YAML: an alias (*name) without its anchor; quote a text that starts with *"),
        ("a: &a {b: *a}\n", "a.yaml:1: YAML: an alias within its own anchor"),
        ("a: 1\n<<: 2\n", "a.yaml:2: YAML: a merge key (<<) takes a mapping, or a list of them"),
        ("a: !!binary '%'\n", "a.yaml:1: YAML: a !!binary value that is no base64"),
        ("a: .inf\n", "a.yaml:1: a number that JSON cannot hold"),
        ("? {a: b}\n: c\n", "a.yaml:1: YAML: expected string scalar"),
        ("a: 1\nb: 2\na: 3\n", "a.yaml:3: key \"a\" is given twice"),
        ("name: {{ .Values.name }}\n", &format!("a.yaml:1: YAML: expected string scalar{template}")),
        (
            "{{- if .Values.x }}\na: b\n",
            &format!("a.yaml:1: YAML syntax: \"-\" is only valid inside a block{template}"),
        ),
        ("{\"a\": 1,\n \"b\": ]}", "a.yaml:2: JSON syntax: expected value"),
        ("{\"a\": 1,\n \"a\": 2}", "a.yaml:2: key \"a\" is given twice"),
        (
            "{\"kind\": \"C\"} x",
            "a.yaml:1: apiVersion and metadata.name are missing\na.yaml:1: JSON syntax: something else after an object",
        ),
        ("text\n", &format!("a.yaml:1: is a string, not an object{no_object}")),
        ("\n- kind: x\n", &format!("a.yaml:2: is a list, not an object{no_object}")),
        ("[{}]", &format!("a.yaml:1: is a list, not an object{no_object}")),
        ("3", &format!("a.yaml:1: is a number, not an object{no_object}")),
        (
            "replicas: 3\n",
            "a.yaml:1: apiVersion, kind and metadata.name are missing\n  this is no Kubernetes object; leave the file out",
        ),
        ("kind: C\nmetadata: {name: a}\n", "a.yaml:1: apiVersion is missing"),
        ("apiVersion: v1\nmetadata: {name: a}\n", "a.yaml:1: kind is missing"),
        ("apiVersion: v1\nkind: C\n", "a.yaml:1: metadata.name is missing"),
        ("apiVersion: v1\nkind: C\nmetadata: {name: ''}\n", "a.yaml:1: metadata.name is missing"),
        (
            "apiVersion: v1\nkind: C\nmetadata:\n  name: 3\n",
            "a.yaml:4: metadata.name must be a string, not a number",
        ),
        ("apiVersion: v1\nkind: C\nmetadata: [a]\n", "a.yaml:3: metadata must be a mapping, not a list"),
        (
            "apiVersion: 1\nkind: [C]\nmetadata: {name: a, namespace: 3}\n",
            "a.yaml:1: apiVersion must be a string, not a number\na.yaml:2: kind must be a string, not a list\n\
             a.yaml:3: metadata.namespace must be a string, not a number",
        ),
        (
            "apiVersion: a/b/c\nkind: C\nmetadata: {name: a}\n",
            "a.yaml:1: c.a/a: apiVersion \"a/b/c\" is neither VERSION nor GROUP/VERSION",
        ),
        (
            "apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: j-\n",
            "a.yaml:4: has only metadata.generateName: every apply would create another object\n  \
             give it a metadata.name, or create it with `kubectl create`",
        ),
        (
            "apiVersion: v1\nkind: C\nmetadata:\n  name: a/b\n",
            "a.yaml:4: c/a/b: metadata.name \"a/b\" cannot be part of a URL\n  it may not hold / or %",
        ),
        (
            &config_map("a", "  labels:\n    on: true\n    b: 1\n    c: [x]\n"),
            &format!(
                "a.yaml:6: configmap/a: metadata.labels[\"on\"] must be a string, not a boolean{quotes}\n\
                 a.yaml:7: configmap/a: metadata.labels[\"b\"] must be a string, not a number{quotes}\n\
                 a.yaml:8: configmap/a: metadata.labels[\"c\"] must be a string, not a list"
            ),
        ),
        (
            &config_map("a", "  annotations: [x]\n"),
            "a.yaml:5: configmap/a: metadata.annotations must be a mapping, not a list",
        ),
        (
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n",
            "a.yaml:1: is a kustomization, not an object of a cluster\n  give its folder to -k, or leave the file out",
        ),
        ("apiVersion: v1\nkind: List\n", "a.yaml:1: a List without items"),
        ("kind: List\nitems: {}\n", "a.yaml:1: items must be a list"),
    ];
    for (text, wanted) in rows {
        assert_eq!(complaints(text.as_bytes()), *wanted, "{text:?}");
    }
}

#[test]
fn a_kustomization_is_known_by_its_name_too() {
    let text = b"resources: [a.yaml]\n";
    for name in ["kustomization.yaml", "shop/kustomization.yml", "shop/Kustomization"] {
        let said = Manifests::parse(name, text).unwrap_err().to_string();
        assert!(said.contains("give its folder to -k"), "{name}: {said}");
    }
    assert!(complaints(text).contains("this is no Kubernetes object"));
}

#[test]
fn what_is_wrong_with_an_annotation() {
    let mutation = |entry: &str| annotated("apply-time-mutation", &format!("'[{entry}]'"));
    let source = "sourceRef: {kind: C, name: b}";
    let rows = [
        (annotated("depends-on", "''"), "depends-on: is empty"),
        (
            annotated("depends-on", "apps/Deployment"),
            "depends-on: expected 3 or 5 fields, found 2: \"apps/Deployment\"",
        ),
        (annotated("depends-on", "/C/a,"), "depends-on: expected 3 or 5 fields, found 1: \"\""),
        (
            annotated("depends-on", "a/b/c/d/e"),
            "depends-on: expected \"namespaces\" as second field, found \"b\": \"a/b/c/d/e\"",
        ),
        (annotated("depends-on", "//b"), "depends-on: the kind is empty: \"//b\""),
        (annotated("depends-on", "/C/b, /C/b"), "depends-on: names /C/b twice"),
        (annotated("apply-time-mutation", "'[]'"), "apply-time-mutation: is empty"),
        (annotated("apply-time-mutation", "'a: b'"), "apply-time-mutation: must be a list, not a mapping"),
        (annotated("apply-time-mutation", "'[{'"), "apply-time-mutation: YAML syntax: unclosed bracket '{'"),
        (mutation("{sourcePath: a}"), "apply-time-mutation: entry 1: sourceRef is missing"),
        (
            mutation("{sourceRef: a}"),
            "apply-time-mutation: entry 1: sourceRef must be a mapping, not a string",
        ),
        (mutation("{sourceRef: {kind: C}}"), "apply-time-mutation: entry 1: sourceRef.name is missing"),
        (
            mutation("{sourceRef: {kind: 1}}"),
            "apply-time-mutation: entry 1: sourceRef.kind must be a string, not a number",
        ),
        (mutation(&format!("{{{source}}}")), "apply-time-mutation: entry 1: sourcePath is missing"),
        (
            mutation(&format!("{{{source}, sourcePath: a}}")),
            "apply-time-mutation: entry 1: targetPath is missing",
        ),
        (
            mutation(&format!("{{{source}, sourcePath: a, targetPath: $.kind}}")),
            "apply-time-mutation: entry 1: sourcePath \"a\": a path begins with $: $.spec.replicas",
        ),
        (
            mutation(&format!("{{{source}, sourcePath: $.a, targetPath: $.data.b}}")),
            "apply-time-mutation: entry 1: the object has no field $.data.b",
        ),
        (
            mutation(&format!("{{{source}, sourcePath: $.a, targetPath: $.metadata, token: x}}")),
            "apply-time-mutation: entry 1: field $.metadata is a mapping; only a string can hold a token",
        ),
    ];
    for (text, wanted) in rows {
        let wanted = format!("a.yaml:6: configmap/a: annotation config.kubernetes.io/{wanted}");
        assert_eq!(complaints(text.as_bytes()), wanted, "{text}");
    }
}

#[test]
fn good_annotations_are_read() {
    let text = annotated("depends-on", "apps/namespaces/x/Deployment/d , /ConfigMap/c")
        + "    config.kubernetes.io/apply-time-mutation: |\n      - {sourceRef: {apiVersion: apps/v1, kind: Deployment, name: d}, \
           sourcePath: $.a, targetPath: $.kind, token: '${t}'}\n      - {sourceRef: {group: apps, kind: Deployment, name: e, namespace: ops}, \
           sourcePath: $.c, targetPath: $.metadata}\n";
    let manifests = Manifests::parse("a.yaml", text.as_bytes()).unwrap();
    let [object] = manifests.objects() else { panic!() };
    let on: Vec<String> = object.depends_on().iter().map(|id| id.reference()).collect();
    assert_eq!(on, ["apps/namespaces/x/Deployment/d", "/ConfigMap/c"]);
    let [first, second] = object.substitutions() else { panic!() };
    assert_eq!(
        (first.source.reference(), &*first.source_path, first.token.as_deref()),
        ("apps/Deployment/d".into(), "$.a", Some("${t}"))
    );
    assert_eq!(
        (second.source.reference(), &*second.target_path, second.token.as_deref()),
        ("apps/namespaces/ops/Deployment/e".into(), "$.metadata", None)
    );
}

#[test]
fn one_broken_document_hides_no_other() {
    let text = "a: [\n---\nkind: x\n---\napiVersion: v1\nkind: C\nmetadata: {name: a}\n---\n{\"a\": ]}\n---\napiVersion: v1\nkind: C\nmetadata: {name: a}\n";
    let wanted = "\
a.yaml:1: YAML syntax: unclosed bracket '['
a.yaml:3: apiVersion and metadata.name are missing
a.yaml:9: JSON syntax: expected value
a.yaml:11: c/a: is the same object as at a.yaml:5";
    assert_eq!(complaints(text.as_bytes()), wanted);
}

#[test]
fn items_of_a_list_have_their_own_lines() {
    let text = "kind: List\nitems:\n- apiVersion: v1\n  kind: C\n  metadata:\n    name: 5\n-\n  kind: C\n- {kind: List, items: [text]}\n";
    let wanted = "\
a.yaml:6: metadata.name must be a string, not a number
a.yaml:8: apiVersion and metadata.name are missing
a.yaml:9: is a string, not an object
  each document holds one object: a mapping with apiVersion, kind and metadata";
    assert_eq!(complaints(text.as_bytes()), wanted);
}

/// A value that must not come out again.
const CANARY: &str = "c4n4ry";

#[test]
fn no_value_of_a_secret_is_ever_shown() {
    let secret = |rest: &str| format!("apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n{rest}");
    let broken = [
        format!("stringData:\n  a: *{CANARY}\n"),
        format!("stringData:\n  a: @{CANARY}\n"),
        format!("stringData:\n  a: \"{CANARY}\n"),
        format!("stringData:\n  a: \"\\q{CANARY}\"\n"),
        format!("stringData:\n  a: {CANARY}: x\n"),
        format!("stringData:\n  a: [{CANARY}\n"),
        format!("stringData:\n  a: !!binary \"{CANARY}!\"\n"),
        format!("stringData:\n  a: {CANARY}\n  a: {CANARY}\n"),
        format!("stringData:\n  a: !!int {CANARY}\n"),
        format!("stringData:\n  a: !!float {CANARY}\n"),
        format!("stringData:\n  a: !!bool {CANARY}\n"),
        format!("stringData: &{CANARY} [*{CANARY}]\n"),
        format!("stringData:\n  <<: {CANARY}\n"),
        format!("stringData:\n  a: |{CANARY}\n"),
        format!("stringData:\n  a: %{CANARY}\n b: c\n"),
        format!("  labels: {{a: [{CANARY}]}}\n"),
        format!("  annotations: {CANARY}\n"),
        format!("  namespace: [{CANARY}]\n"),
    ];
    for rest in broken {
        let text = secret(&rest);
        let problems = Manifests::parse("a.yaml", text.as_bytes()).expect_err(&rest);
        for shown in [problems.to_string(), format!("{problems:?}")] {
            assert!(!shown.contains(CANARY), "{rest}\n{shown}");
        }
    }
    let json = format!(
        r#"{{"apiVersion": "v1", "kind": "Secret", "metadata": {{"name": "s"}}, "stringData": {{"a": "{CANARY}", "b": "{CANARY}}}"#
    );
    assert!(!complaints(json.as_bytes()).contains(CANARY));
    let good =
        Manifests::parse("a.yaml", secret(&format!("stringData: {{a: {CANARY}}}\n")).as_bytes()).unwrap();
    assert!(!format!("{good:?} {:?}", good.objects()[0]).contains(CANARY));
}
