//! What YAML and JSON mean. The right column is what kubectl 1.32 makes of the same text, except in
//! the rows that say otherwise.

use kubesettle::manifest::Manifests;
use serde_json::{Value, json};

use crate::{bodies, complaints};

fn read(value: &str) -> Value {
    bodies(&format!("apiVersion: v1\nkind: C\nmetadata: {{name: a}}\nv: {value}\n")).remove(0)["v"].take()
}

#[test]
fn scalars_as_kubectl_reads_them() {
    let rows = [
        ("yes", json!(true)),
        ("no", json!(false)),
        ("on", json!(true)),
        ("off", json!(false)),
        ("y", json!(true)),
        ("n", json!(false)),
        ("Yes", json!(true)),
        ("TRUE", json!(true)),
        ("\"yes\"", json!("yes")),
        ("0644", json!(420)),
        ("0o644", json!(420)),
        ("0o8", json!("0o8")),
        ("08", json!(8)),
        ("0x1F", json!(31)),
        ("0b101", json!(5)),
        ("1_000", json!(1000)),
        ("+1", json!(1)),
        ("-0", json!(0)),
        ("9223372036854775807", json!(i64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("9007199254740993", json!(9_007_199_254_740_993_u64)),
        ("12345678901234567890123", json!(12345678901234567890123_f64)),
        ("18446744073709551616", json!(18446744073709551616_f64)),
        ("1e3", json!(1000)),
        ("1.0", json!(1)),
        ("012e1", json!(120)),
        (".5", json!(0.5)),
        ("0.1", json!(0.1)),
        ("1e21", json!(1e21)),
        ("~", json!(null)),
        ("null", json!(null)),
        ("Null", json!(null)),
        ("", json!(null)),
        ("!!binary aGVsbG8=", json!("hello")),
        ("!foo bar", json!("bar")),
        ("!!str 12", json!("12")),
        ("!!int \"3\"", json!(3)),
        ("2001-12-14", json!("2001-12-14")),
        ("12:30:45", json!("12:30:45")),
        ("=", json!("=")),
        ("'it''s'", json!("it's")),
        ("\"\\u00e9\\x41\\n\"", json!("éA\n")),
        ("|\n  a\n  b\n", json!("a\nb\n")),
        (">-\n  a\n  b\n", json!("a b")),
        ("{a: [1, {b: c}]}", json!({"a": [1, {"b": "c"}]})),
    ];
    for (text, wanted) in rows {
        assert_eq!(read(text), wanted, "{text:?}");
    }
}

#[test]
fn scalars_read_otherwise_than_kubectl_does() {
    let rows = [
        // kubectl: 18446744073709552000, which is another number.
        ("18446744073709551615", json!(u64::MAX)),
        // kubectl: the text "tRUE".
        ("tRUE", json!(true)),
        // kubectl: 31.
        ("0X1F", json!("0X1F")),
        // kubectl: 1000.5.
        ("1_000.5", json!("1_000.5")),
    ];
    for (text, wanted) in rows {
        assert_eq!(read(text), wanted, "{text:?}");
    }
}

#[test]
fn mappings_as_kubectl_reads_them() {
    let merged = "x: &x {a: 1, b: 2}\nv:\n  <<: *x\n  b: 3\n";
    let several = "x: &x {a: 1}\ny: &y {a: 2, b: 2}\nv: {<<: [*x, *y]}\n";
    let keys = "v: {1: a, 0644: b, true: c, 1.5: d}\n";
    let rows = [
        (merged, json!({"a": 1, "b": 3})),
        (several, json!({"a": 1, "b": 2})),
        ("v: &v [1]\nw: *v\n", json!([1])),
        (keys, json!({"1": "a", "0644": "b", "true": "c", "1.5": "d"})),
        // kubectl makes the key "true" of this one, and "420" of the one above.
        ("v: {on: 1}\n", json!({"on": 1})),
    ];
    for (text, wanted) in rows {
        let head = "apiVersion: v1\nkind: C\nmetadata: {name: a}\n";
        assert_eq!(bodies(&format!("{head}{text}"))[0]["v"], wanted, "{text}");
    }
}

#[test]
fn streams_of_all_shapes() {
    let rows = [
        ("{0}\n---\n{1}", 2),
        ("---\n{0}\n---\n---\n# nothing\n---\nnull\n---\n{1}\n...\n", 2),
        ("%YAML 1.1\n---\n{0}", 1),
        ("--- # first\n{0}\n--- # second\n{1}", 2),
        ("{0}\r\n---\r\n{1}", 2),
        ("\u{feff}{0}\n---\n\u{feff}{1}", 2),
        ("{J0}", 1),
        ("{J0}{J1}", 2),
        ("{J0}\n\n{J1}\n", 2),
        ("\n  {J0}\n---\n{J1}\n", 2),
        ("{0}\n---\n{J1}", 2),
        ("{F0}\n---\n{F1}", 2),
        ("{J0}\n{F1}", 2),
    ];
    for (shape, count) in rows {
        let mut text = shape.to_owned();
        for nth in ["0", "1"] {
            let json = format!(r#"{{"apiVersion": "v1", "kind": "C", "metadata": {{"name": "n{nth}"}}}}"#);
            let flow = format!("{{apiVersion: v1, kind: C, metadata: {{name: n{nth}}}}}");
            let block = format!("apiVersion: v1\nkind: C\nmetadata:\n  name: n{nth}");
            text = text.replace(&format!("{{J{nth}}}"), &json).replace(&format!("{{F{nth}}}"), &flow);
            text = text.replace(&format!("{{{nth}}}"), &block);
        }
        let names: Vec<Value> = bodies(&text).iter().map(|body| body["metadata"]["name"].clone()).collect();
        assert_eq!(names, [json!("n0"), json!("n1")][..count], "{shape:?}");
    }
}

#[test]
fn numbers_of_json_keep_their_digits() {
    let body = bodies(
        r#"{"apiVersion":"v1","kind":"C","metadata":{"name":"a"},"v":[9007199254740993,18446744073709551615,1.0,-5]}"#,
    );
    assert_eq!(body[0]["v"].to_string(), "[9007199254740993,18446744073709551615,1,-5]");
}

#[test]
fn every_object_knows_its_line() {
    let text = "# head\n\napiVersion: v1\nkind: C\nmetadata: {name: a}\n---\n# c\n---\nkind: List\nitems:\n- apiVersion: v1\n  kind: C\n  metadata: {name: b}\n-\n  apiVersion: v1\n  kind: C\n  metadata: {name: c}\n---\n{\"apiVersion\": \"v1\", \"kind\": \"C\",\n \"metadata\": {\"name\": \"d\"}}\n{\"apiVersion\": \"v1\", \"kind\": \"C\", \"metadata\": {\"name\": \"e\"}}\n";
    let manifests = Manifests::parse("a.yaml", text.as_bytes()).unwrap();
    let places: Vec<String> = manifests.objects().iter().map(|object| object.place().to_string()).collect();
    assert_eq!(places, ["a.yaml:3", "a.yaml:11", "a.yaml:15", "a.yaml:19", "a.yaml:21"]);
}

#[test]
fn typed_lists_give_their_kind_to_their_items() {
    let text = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleList\nitems:\n- metadata: {name: a, namespace: x}\n- kind: Role\n  metadata: {name: b}\n";
    let manifests = Manifests::parse("a.yaml", text.as_bytes()).unwrap();
    let ids: Vec<String> = manifests.objects().iter().map(|object| format!("{:#}", object.id())).collect();
    assert_eq!(ids, ["role.rbac.authorization.k8s.io/a in x", "role.rbac.authorization.k8s.io/b"]);
}

#[test]
fn marks_of_tools_are_removed_and_local_files_left_out() {
    let annotated = |annotations: &str| {
        format!("apiVersion: v1\nkind: C\nmetadata: {{name: a, annotations: {{{annotations}}}}}\n")
    };
    let kept = bodies(&annotated(
        "config.kubernetes.io/path: x, config.kubernetes.io/index: '0', internal.config.kubernetes.io/id: '1', mine: x",
    ));
    assert_eq!(kept[0]["metadata"]["annotations"], json!({"mine": "x"}));
    let none = bodies(&annotated("config.kubernetes.io/path: x"));
    assert_eq!(none[0]["metadata"], json!({"name": "a"}));
    assert_eq!(bodies(&annotated("config.kubernetes.io/local-config: 'false'")).len(), 1);
    for value in ["'true'", "'yes'", "''", "true"] {
        let text = annotated(&format!("config.kubernetes.io/local-config: {value}"));
        assert_eq!(complaints(text.as_bytes()), "a.yaml: no objects found", "{value}");
    }
}

#[test]
fn a_dump_of_a_live_object_is_cleaned() {
    let text = "apiVersion: v1\nkind: C\nmetadata:\n  name: a\n  uid: 0-1\n  resourceVersion: '5'\n  generation: 3\n  creationTimestamp: null\n  selfLink: /x\n  managedFields: [{}]\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{}'\nstatus: {phase: Active}\n";
    let manifests = Manifests::parse("a.yaml", text.as_bytes()).unwrap();
    let body: Value = serde_json::from_slice(manifests.objects()[0].json()).unwrap();
    assert_eq!(
        body,
        json!({"apiVersion": "v1", "kind": "C", "metadata": {"name": "a", "generation": 3}, "status": {"phase": "Active"}})
    );
    assert_eq!(
        crate::lines(manifests.warnings()),
        [
            "a.yaml:1: c/a: left out what belongs to a live object: metadata.managedFields, metadata.resourceVersion, \
          metadata.uid, metadata.selfLink, annotation kubectl.kubernetes.io/last-applied-configuration"
        ]
    );
}

#[test]
fn thousands_of_documents_and_megabytes_of_one() {
    let one = |name: usize| {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d{name}\n  labels: {{app: d{name}}}\nspec:\n  replicas: 3\n  \
             template:\n    spec:\n      containers:\n      - name: c\n        image: registry.example/app:{name}\n        env:\n        - name: A\n          value: b\n"
        )
    };
    let stream: String = (0..5_000).map(one).collect();
    assert_eq!(bodies(&stream).len(), 5_000);
    let list: String =
        (0..1_500).map(|n| one(n).replace('\n', "\n  ").replacen("---\n", "\n-\n", 1)).collect();
    let list = format!("apiVersion: v1\nkind: List\nitems:{list}");
    assert_eq!(bodies(&list).len(), 1_500);
    let property = |n: usize| {
        format!("              field{n}: {{type: string, description: 'some words about field {n}'}}\n")
    };
    let properties: String = (0..15_000).map(property).collect();
    let crd = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: widgets.example.com}}\nspec:\n  group: example.com\n  \
         names: {{kind: Widget, plural: widgets}}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      \
         openAPIV3Schema:\n        properties:\n          spec:\n            properties:\n{properties}"
    );
    assert!(crd.len() > 1_000_000);
    assert_eq!(bodies(&crd).len(), 1);
}

#[test]
fn many_aliases_of_one_anchor_are_fine_but_their_multiplication_is_not() {
    let fine: String = (0..2_000).map(|n| format!("v{n}: *a\n")).collect();
    assert_eq!(
        bodies(&format!("apiVersion: v1\nkind: C\nmetadata: {{name: a}}\na: &a {{x: y}}\n{fine}")).len(),
        1
    );
    let bomb: String =
        (1..12).map(|n| format!("v{n}: &v{n} [{}]\n", vec![format!("*v{}", n - 1); 9].join(", "))).collect();
    let too_much = "the document unfolds to too much: its aliases multiply";
    assert_eq!(complaints(format!("v0: &v0 [x]\n{bomb}").as_bytes()), format!("a.yaml:7: {too_much}"));
    let large = format!("v: &v {}\nw: [{}]\n", "x".repeat(1 << 20), "*v, ".repeat(100));
    assert_eq!(complaints(large.as_bytes()), format!("a.yaml:2: {too_much}"));
}
