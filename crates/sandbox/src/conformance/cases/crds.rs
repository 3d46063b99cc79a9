//! CRDs and what they define.

use serde_json::{Value, json};

use super::super::{Case, Expect};
use super::VERSION;

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const CRD: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/foos.$ns.example.com";
const FOOS: &str = "/apis/$ns.example.com/v1/namespaces/$ns/foos";

fn crd(size: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": "foos.$ns.example.com" },
        "spec": {
            "group": "$ns.example.com", "scope": "Namespaced", "names": { "plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "subresources": { "status": {} }, "schema": { "openAPIV3Schema": {
                "type": "object", "properties": {
                    "spec": { "type": "object", "properties": { "size": { "type": size } } },
                    "status": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
                },
            } } }],
        },
    })
}

fn foo(name: &str) -> Value {
    json!({ "apiVersion": "$ns.example.com/v1", "kind": "Foo", "metadata": { "name": name }, "spec": { "size": 1 } })
}

fn path(name: &str) -> String {
    format!("{FOOS}/{name}")
}

/// A CRD whose kind is served and can be listed.
fn served(name: &'static str) -> Case {
    Case::new(name)
        .cluster_wide()
        .apply(path("a"), foo("a"))
        .code(404)
        .expect(Expect::Message("404 page not found".to_owned()))
        .header("content-type", "text/plain")
        .apply(CRD, crd("integer"))
        .code(201)
        .get(CRD)
        .condition("NamesAccepted", "True", "NoConflicts")
        .condition("Established", "True", "InitialNamesAccepted")
        .within(10)
        .apply(path("a"), foo("a"))
        .code(201)
        .within(10)
        .get(FOOS)
        .code(200)
        .within(10)
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        served("a custom resource is served once its CRD is established, and keeps its version when applied again")
            .save("list", VERSION)
            .is("/kind", "FooList")
            .is("/items/0/kind", "Foo")
            .get(path("a"))
            .is("/metadata/generation", 1)
            .save("version", VERSION)
            .apply(path("a"), foo("a"))
            .code(200)
            .text(VERSION, "$version")
            .apply(path("a"), json!({ "apiVersion": "$ns.example.com/v1", "kind": "Foo", "spec": { "nope": 1 } }))
            .refused(500, "", "failed to create typed patch object (/; $ns.example.com/v1, Kind=Foo): .spec.nope: field not declared in schema")
            .apply(path("b"), json!({ "apiVersion": "$ns.example.com/v1", "kind": "Foo", "metadata": { "name": "b", "uid": "x" } }))
            .refused(409, "Conflict", "uid mismatch")
            .delete(CRD, ""),
        served("a changed CRD makes older versions too old")
            .get(FOOS)
            .save("old", VERSION)
            .apply(CRD, crd("number"))
            .code(200)
            .apply(path("b"), foo("b"))
            .code(201)
            .within(5)
            .get(format!("{FOOS}?watch=1&timeoutSeconds=2&resourceVersion=$old"))
            .expect(Expect::Error(410, "too old resource version: $old (".to_owned()))
            .within(10)
            .delete(CRD, ""),
        served("a deleted CRD takes its objects along")
            .delete(CRD, "")
            .code(200)
            .present("/metadata/deletionTimestamp")
            .is("/metadata/finalizers", json!(["customresourcecleanup.apiextensions.k8s.io"]))
            .get(path("a"))
            .code(404)
            .expect(Expect::Message("404 page not found".to_owned()))
            .within(20)
            .get(CRD)
            .code(404)
            .within(20),
        Case::new("a dry run of a CRD serves nothing")
            .cluster_wide()
            .apply(format!("{CRD}?dryRun=All"), crd("integer"))
            .code(201)
            .apply(format!("{}?dryRun=All", path("a")), foo("a"))
            .code(404)
            .expect(Expect::Message("404 page not found".to_owned())),
        Case::new("a CRD's name is made of plural and group")
            .apply(format!("{CRDS}/x.y"), {
                let mut wrong = crd("integer");
                wrong["metadata"]["name"] = json!("x.y");
                wrong
            })
            .refused(422, "Invalid", "metadata.name: Invalid value: \"x.y\": must be spec.names.plural+\".\"+spec.group"),
    ]
}
