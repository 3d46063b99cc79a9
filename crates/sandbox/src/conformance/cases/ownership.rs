//! Who owns which fields, as `managedFields` tells it.

use serde_json::{Value, json};

use super::super::{Case, Expect};
use super::{MAPS, VERSION, deployment, deployment_path, map, map_path, map_with, with};

const OWNED: &str = "/metadata/managedFields/0/fieldsV1";
const CONTAINER: &str = "/metadata/managedFields/0/fieldsV1/f:spec/f:template/f:spec/f:containers";

fn by(manager: &str, path: &str) -> String {
    format!("{path}?fieldManager={manager}")
}

/// A Deployment with one container that has more fields.
fn container(more: Value) -> Value {
    let mut container = json!({ "name": "c", "image": "image:1" });
    crate::json::merge(&mut container, &more);
    with(deployment("d"), "/spec/template/spec/containers", json!([container]))
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("what is applied is owned leaf by leaf, and keyed items with themselves")
            .apply(map_path("a"), map_with(json!({ "labels": { "x": "y" }, "finalizers": ["example.com/a"] })))
            .code(201)
            .is(OWNED, json!({
                "f:metadata": { "f:labels": { "f:x": {} }, "f:finalizers": { "v:\"example.com/a\"": {} } },
                "f:data": { "f:k": {} },
            }))
            .delete(map_path("a"), "")
            .apply(map_path("a"), map("a", json!({})))
            .apply(deployment_path("d"), container(json!({
                "env": [{ "name": "A", "value": "1" }], "ports": [{ "containerPort": 80 }], "args": ["a", "b"],
                "volumeMounts": [{ "name": "v", "mountPath": "/v" }],
                "resources": { "requests": { "cpu": "1" } },
            })))
            .code(422)
            .apply(deployment_path("d"), container(json!({
                "env": [{ "name": "A", "value": "1" }], "ports": [{ "containerPort": 80 }], "args": ["a", "b"],
                "resources": { "requests": { "cpu": "1" } },
            })))
            .code(201)
            .is(CONTAINER, json!({ "k:{\"name\":\"c\"}": {
                ".": {}, "f:name": {}, "f:image": {}, "f:args": {},
                "f:env": { "k:{\"name\":\"A\"}": { ".": {}, "f:name": {}, "f:value": {} } },
                "f:ports": { "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": { ".": {}, "f:containerPort": {} } },
                "f:resources": { "f:requests": { "f:cpu": {} } },
            } }))
            .is("/metadata/managedFields/0/fieldsV1/f:spec/f:selector", json!({})),
        Case::new("an item of a list that two managers apply goes with the last of them")
            .apply(deployment_path("d"), container(json!({ "env": [{ "name": "A", "value": "1" }, { "name": "B", "value": "2" }] })))
            .code(201)
            .apply(by("t2", &deployment_path("d")), container(json!({ "env": [{ "name": "A", "value": "1" }] })))
            .code(200)
            .apply(deployment_path("d"), container(json!({})))
            .code(200)
            .is("/spec/template/spec/containers/0/env", json!([{ "name": "A", "value": "1" }]))
            .apply(by("t2", &deployment_path("d")), container(json!({})))
            .code(200)
            .absent("/spec/template/spec/containers/0/env"),
        Case::new("a list without keys is owned as a whole")
            .apply(deployment_path("d"), container(json!({ "args": ["a", "b"] })))
            .code(201)
            .apply(by("t2", &deployment_path("d")), container(json!({ "args": ["a", "c"] })))
            .refused(409, "Conflict", "Apply failed with 1 conflict: conflict with \"t1\": .spec.template.spec.containers[name=\"c\"].args")
            .apply(deployment_path("d"), container(json!({ "args": ["c"] })))
            .code(200)
            .is("/spec/template/spec/containers/0/args", json!(["c"])),
        Case::new("one who applies the same value shares the field and may change it no more alone")
            .apply(map_path("a"), map("a", json!({ "k": "1" })))
            .apply(by("t2", &map_path("a")), map("a", json!({ "k": "1" })))
            .code(200)
            .apply(map_path("a"), map("a", json!({ "k": "2" })))
            .refused(409, "Conflict", "conflict with \"t2\": .data.k")
            .apply(by("t2", &map_path("a")), map("a", json!({})))
            .code(200)
            .is("/data/k", "1")
            .apply(map_path("a"), map("a", json!({ "k": "2" })))
            .code(200),
        Case::new("an update takes over what it changes")
            .apply(map_path("a"), map("a", json!({ "k": "1", "l": "1" })))
            .merge(by("u", &map_path("a")), json!({ "data": { "k": "2", "m": "3" } }))
            .code(200)
            .is(OWNED, json!({ "f:data": { "f:l": {} } }))
            .is("/metadata/managedFields/1/manager", "u")
            .is("/metadata/managedFields/1/operation", "Update")
            .is("/metadata/managedFields/1/fieldsV1", json!({ "f:data": { "f:k": {}, "f:m": {} } }))
            .apply(map_path("a"), map("a", json!({ "l": "1" })))
            .code(200)
            .is("/data", json!({ "k": "2", "l": "1", "m": "3" })),
        Case::new("what is created by POST is owned with its maps")
            .post(by("u", MAPS), map_with(json!({ "labels": { "x": "y" } })))
            .code(201)
            .is(OWNED, json!({
                "f:metadata": { "f:labels": { ".": {}, "f:x": {} } },
                "f:data": { ".": {}, "f:k": {} },
            })),
        Case::new("a status that is written is owned apart")
            .apply(deployment_path("d"), with(deployment("d"), "/spec/paused", json!(true)))
            .code(201)
            .apply(format!("{}/status?fieldManager=s", deployment_path("d")), json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "d", "labels": { "ignored": "x" } },
                "status": { "collisionCount": 5 },
            }))
            .code(200)
            .is("/status/collisionCount", 5)
            .absent("/metadata/labels")
            .expect(Expect::Message("\"fieldsV1\":{\"f:status\":{\"f:collisionCount\":{}}}".to_owned())),
        Case::new("null in an applied field takes nothing away, but is owned")
            .apply(map_path("a"), map("a", json!({ "k": "1" })))
            .save("version", VERSION)
            .apply(map_path("a"), with(map("a", json!({ "k": "1" })), "/metadata/labels", Value::Null))
            .code(200)
            .differs(VERSION, "$version")
            .is(OWNED, json!({ "f:metadata": { "f:labels": {} }, "f:data": { "f:k": {} } })),
        Case::new("a mount needs its volume")
            .apply(deployment_path("d"), container(json!({ "volumeMounts": [{ "name": "v", "mountPath": "/v" }] })))
            .refused(422, "Invalid", "spec.template.spec.containers[0].volumeMounts[0].name: Not found: \"v\"")
            .is("/details/causes/0/reason", "FieldValueNotFound"),
        Case::new("what a Deployment is created with by POST is owned down to its defaults")
            .post(format!("{}?fieldManager=u", super::DEPLOYMENTS), container(json!({ "env": [{ "name": "A", "value": "1" }], "ports": [{ "containerPort": 80 }] })))
            .code(201)
            .is("/metadata/managedFields/0/fieldsV1/f:spec/f:strategy", json!({
                "f:type": {}, "f:rollingUpdate": { ".": {}, "f:maxSurge": {}, "f:maxUnavailable": {} },
            }))
            .is("/metadata/managedFields/0/fieldsV1/f:spec/f:template/f:metadata", json!({ "f:labels": { ".": {}, "f:app": {} } }))
            .is(CONTAINER, json!({ "k:{\"name\":\"c\"}": {
                ".": {}, "f:name": {}, "f:image": {}, "f:imagePullPolicy": {}, "f:resources": {},
                "f:terminationMessagePath": {}, "f:terminationMessagePolicy": {},
                "f:env": { ".": {}, "k:{\"name\":\"A\"}": { ".": {}, "f:name": {}, "f:value": {} } },
                "f:ports": { ".": {}, "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": { ".": {}, "f:containerPort": {}, "f:protocol": {} } },
            } })),
        Case::new("labels that are applied no more are gone, and so is their map")
            .apply(map_path("a"), map_with(json!({ "labels": { "x": "y" }, "annotations": { "a": "b" } })))
            .apply(map_path("a"), map_with(json!({})))
            .code(200)
            .absent("/metadata/labels")
            .absent("/metadata/annotations"),
        Case::new("several unknown fields are told together")
            .apply(deployment_path("d"), with(with(deployment("d"), "/spec/foo", json!(1)), "/spec/template/spec/bar", json!(1)))
            .code(500),
    ]
}
