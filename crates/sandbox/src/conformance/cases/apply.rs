//! Server-side apply that succeeds.

use serde_json::{Value, json};

use super::super::Case;
use super::{VERSION, deployment, deployment_path, map, map_path, map_with, with};

const TIME: &str = "/metadata/managedFields/0/time";

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("applying creates, changes, and leaves alone what is the same")
            .apply(map_path("a"), map("a", json!({ "k": "v" })))
            .code(201)
            .save("one", VERSION)
            .save("time", TIME)
            .apply(map_path("a"), map("a", json!({ "k": "v" })))
            .code(200)
            .text(VERSION, "$one")
            .text(TIME, "$time")
            .apply(map_path("a"), map("a", json!({ "k": "w" })))
            .code(200)
            .differs(VERSION, "$one")
            .is("/data/k", "w"),
        Case::new("a Deployment that is applied again keeps version and generation")
            .apply(deployment_path("d"), deployment("d"))
            .code(201)
            .get(deployment_path("d"))
            .is("/status/observedGeneration", 1)
            .present("/status/conditions/1")
            .within(10)
            .save("version", VERSION)
            .apply(deployment_path("d"), deployment("d"))
            .code(200)
            .text(VERSION, "$version")
            .is("/metadata/generation", 1),
        Case::new("the same value of another manager is a new version")
            .apply(map_path("a"), map("a", json!({ "k": "v" })))
            .save("version", VERSION)
            .apply(format!("{}?fieldManager=t2", map_path("a")), map("a", json!({ "k": "v" })))
            .code(200)
            .differs(VERSION, "$version")
            .is("/metadata/managedFields/0/manager", "t2")
            .absent("/metadata/managedFields/0/time"),
        Case::new("a dry run answers as if and stores nothing")
            .apply(format!("{}?dryRun=All", deployment_path("d")), deployment("d"))
            .code(201)
            .get(deployment_path("d"))
            .code(404)
            .apply(deployment_path("d"), deployment("d"))
            .code(201)
            .get(deployment_path("d"))
            .is("/status/observedGeneration", 1)
            .present("/status/conditions/1")
            .within(10)
            .save("version", VERSION)
            .apply(format!("{}?dryRun=All", deployment_path("d")), with(deployment("d"), "/spec/paused", json!(true)))
            .code(200)
            .text(VERSION, "$version")
            .is("/metadata/generation", 2),
        Case::new("a field that is not applied any more goes unless somebody else owns it")
            .apply(map_path("a"), map("a", json!({ "mine": "1", "ours": "2" })))
            .apply(format!("{}?fieldManager=t2", map_path("a")), map("a", json!({ "ours": "2" })))
            .apply(map_path("a"), map("a", json!({ "new": "3" })))
            .code(200)
            .is("/data", json!({ "new": "3", "ours": "2" })),
        Case::new("a conflict names managers and fields, and force takes them over")
            .apply(map_path("a"), map("a", json!({ "k": "1", "l": "1" })))
            .apply(format!("{}?fieldManager=t2", map_path("a")), map("a", json!({ "k": "2" })))
            .refused(409, "Conflict", "Apply failed with 1 conflict: conflict with \"t1\": .data.k")
            .apply(format!("{}?fieldManager=t2", map_path("a")), map("a", json!({ "k": "2", "l": "2" })))
            .refused(409, "Conflict", "Apply failed with 2 conflicts: conflicts with \"t1\":\n- .data.k\n- .data.l")
            .is("/details", json!({ "causes": [
                { "reason": "FieldManagerConflict", "message": "conflict with \"t1\"", "field": ".data.k" },
                { "reason": "FieldManagerConflict", "message": "conflict with \"t1\"", "field": ".data.l" },
            ] }))
            .apply(format!("{}?fieldManager=t2&force=true", map_path("a")), map("a", json!({ "k": "2" })))
            .code(200)
            .is("/data", json!({ "k": "2", "l": "1" }))
            .apply(map_path("a"), map("a", json!({ "k": "1", "l": "1" })))
            .refused(409, "Conflict", "conflict with \"t2\": .data.k"),
        Case::new("a conflict with an update names its version")
            .post(format!("{}?fieldManager=other", super::MAPS), map("a", json!({ "k": "1" })))
            .code(201)
            .apply(map_path("a"), map("a", json!({ "k": "2" })))
            .refused(409, "Conflict", "Apply failed with 1 conflict: conflict with \"other\" using v1: .data.k"),
        Case::new("containers of different managers live side by side")
            .apply(deployment_path("d"), deployment("d"))
            .code(201)
            .apply(format!("{}?fieldManager=t2", deployment_path("d")), json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "d" },
                "spec": { "template": { "spec": { "containers": [{ "name": "side", "image": "side:1" }] } } },
            }))
            .code(200)
            .present("/spec/template/spec/containers/1")
            .apply(deployment_path("d"), deployment("d"))
            .code(200)
            .present("/spec/template/spec/containers/1")
            .apply(format!("{}?fieldManager=t2", deployment_path("d")), json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "d" },
            }))
            .code(200)
            .absent("/spec/template/spec/containers/1"),
        Case::new("fields that only the server sets are ignored")
            .apply(map_path("a"), map_with(json!({})))
            .save("version", VERSION)
            .apply(map_path("a"), r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","creationTimestamp":null,"generation":5,"uid":"","resourceVersion":"","managedFields":null},"data":{"k":"v"}}"#)
            .code(200)
            .text(VERSION, "$version"),
        Case::new("a status in an applied Deployment is ignored")
            .apply(deployment_path("d"), deployment("d"))
            .code(201)
            .get(deployment_path("d"))
            .is("/status/observedGeneration", 1)
            .present("/status/conditions/1")
            .within(10)
            .save("version", VERSION)
            .apply(deployment_path("d"), with(deployment("d"), "/status", json!({ "replicas": 7 })))
            .code(200)
            .text(VERSION, "$version"),
        Case::new("the right uid is no hindrance, another one is")
            .apply(map_path("a"), map_with(json!({})))
            .save("uid", "/metadata/uid")
            .apply(map_path("a"), map_with(json!({ "uid": "$uid" })))
            .code(200)
            .apply(map_path("a"), map_with(json!({ "uid": "00000000-0000-0000-0000-000000000000" })))
            .refused(422, "Invalid", "ConfigMap \"a\" is invalid: ")
            .expect(super::super::Expect::Message("metadata.uid: Invalid value: \"00000000-0000-0000-0000-000000000000\": field is immutable".to_owned()))
            .is("/details/causes/0/reason", "FieldValueInvalid")
            .is("/details/causes/0/field", "metadata.uid"),
        Case::new("a uid means: never create")
            .apply(map_path("a"), map_with(json!({ "uid": "00000000-0000-0000-0000-000000000000" })))
            .refused(409, "Conflict", "Operation cannot be fulfilled on configmaps \"a\": uid mismatch: the provided object specified uid 00000000-0000-0000-0000-000000000000, and no existing object was found"),
        Case::new("a version must be the newest, unless there is no object")
            .apply(map_path("a"), map_with(json!({ "resourceVersion": "12345" })))
            .code(201)
            .save("old", VERSION)
            .apply(map_path("a"), map("a", json!({ "k": "w" })))
            .save("new", VERSION)
            .apply(map_path("a"), with(map("a", json!({ "k": "w" })), "/metadata/resourceVersion", json!("$old")))
            .refused(409, "Conflict", "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again")
            .is("/details", json!({ "name": "a", "kind": "configmaps" }))
            .apply(map_path("a"), with(map("a", json!({ "k": "w" })), "/metadata/resourceVersion", json!("$new")))
            .code(200),
        Case::new("a body may leave out its name when the object exists")
            .apply(map_path("a"), without_name(map("a", json!({ "k": "v" }))))
            .refused(
                400,
                "BadRequest",
                "the name of the object (a based on URL) was undeterminable: name must be provided",
            )
            .apply(map_path("a"), map("a", json!({ "k": "v" })))
            .code(201)
            .apply(map_path("a"), without_name(map("a", json!({ "k": "w" }))))
            .code(200)
            .is("/metadata/name", "a")
            .is("/data/k", "w"),
        Case::new("metadata alone can be asked for")
            .apply(map_path("a"), map_with(json!({})))
            .accept("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
            .code(201)
            .is("/kind", "PartialObjectMetadata")
            .is("/apiVersion", "meta.k8s.io/v1")
            .absent("/data")
            .present("/metadata/managedFields"),
        Case::new("doubled keys are a warning, or nothing, or refused, as asked for")
            .apply(format!("{}?fieldValidation=Strict", map_path("a")), DOUBLED)
            .refused(400, "BadRequest", "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 1: key \"k\" already set in map")
            .apply(format!("{}?fieldValidation=Warn", map_path("a")), DOUBLED)
            .code(201)
            .header("warning", "299 - \"line 1: key \\\"k\\\" already set in map\"")
            .apply(map_path("a"), DOUBLED)
            .code(200)
            .header("warning", "already set in map")
            .apply(format!("{}?fieldValidation=Ignore", map_path("a")), DOUBLED)
            .code(200)
            .header("warning", ""),
        Case::new("deprecated fields and kinds come with a warning")
            .apply(
                format!("{}?fieldValidation=Strict&dryRun=All", deployment_path("d")),
                with(deployment("d"), "/spec/template/spec/nodeSelector", json!({ "beta.kubernetes.io/os": "linux" })),
            )
            .code(201)
            .header("warning", "299 - \"spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use \\\"kubernetes.io/os\\\" instead\"")
            .apply("/api/v1/namespaces/$ns/endpoints/e", json!({ "apiVersion": "v1", "kind": "Endpoints", "metadata": { "name": "e" } }))
            .code(201)
            .header("warning", "299 - \"v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\""),
    ]
}

const DOUBLED: &str =
    r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1","k":"2"}}"#;

fn without_name(mut object: Value) -> Value {
    crate::json::remove(&mut object, &["metadata", "name"]);
    object
}
