//! POST, PUT, merge patches, and the status apart.

use serde_json::{Value, json};

use super::super::Case;
use super::{MAPS, VERSION, deployment, deployment_path, map, map_path, with};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("what exists cannot be created again")
            .post(MAPS, map("a", json!({ "k": "v" })))
            .code(201)
            .is("/metadata/managedFields/0/operation", "Update")
            .is("/metadata/managedFields/0/manager", "conformance")
            .post(MAPS, map("a", json!({})))
            .refused(409, "AlreadyExists", "configmaps \"a\" already exists")
            .is("/details", json!({ "name": "a", "kind": "configmaps" })),
        Case::new("an update needs the newest version")
            .post(MAPS, map("a", json!({ "k": "1" })))
            .save("old", VERSION)
            .merge(map_path("a"), json!({ "data": { "k": "2", "l": "1" } }))
            .code(200)
            .is("/data", json!({ "k": "2", "l": "1" }))
            .merge(map_path("a"), json!({ "data": { "l": null } }))
            .code(200)
            .is("/data", json!({ "k": "2" }))
            .put(map_path("a"), with(map("a", json!({ "k": "3" })), "/metadata/resourceVersion", json!("$old")))
            .refused(409, "Conflict", "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again")
            .put(map_path("a"), map("a", json!({ "k": "4" })))
            .code(200)
            .put(map_path("absent"), map("absent", json!({})))
            .refused(404, "NotFound", "configmaps \"absent\" not found"),
        Case::new("a patch that changes nothing is no new version")
            .post(MAPS, map("a", json!({ "k": "1" })))
            .save("version", VERSION)
            .merge(map_path("a"), json!({ "data": { "k": "1" } }))
            .code(200)
            .text(VERSION, "$version"),
        Case::new("a patch of something absent, and one in an unknown form")
            .merge(map_path("absent"), json!({}))
            .refused(404, "NotFound", "configmaps \"absent\" not found")
            .merge(map_path("absent"), json!({}))
            .media_type("application/unknown+json")
            .code(415),
        Case::new("a generated name begins as asked for")
            .post(MAPS, generated())
            .code(201)
            .differs("/metadata/name", "")
            .is("/metadata/generateName", "made-"),
        Case::new("the status is written apart and is no new generation")
            .apply(deployment_path("d"), with(deployment("d"), "/spec/paused", json!(true)))
            .code(201)
            .merge(format!("{}/status", deployment_path("d")), json!({ "status": { "collisionCount": 3 }, "spec": { "replicas": 7 } }))
            .code(200)
            .is("/status/collisionCount", 3)
            .is("/spec/replicas", 0)
            .is("/metadata/generation", 1)
            .apply(deployment_path("d"), with(deployment("d"), "/spec/paused", json!(false)))
            .code(200)
            .is("/metadata/generation", 2)
            .apply(format!("{}/status?fieldManager=s", deployment_path("absent")), deployment("absent"))
            .code(404),
        Case::new("server defaults are there, and owned by nobody who applied")
            .apply(deployment_path("d"), deployment("d"))
            .is("/spec/progressDeadlineSeconds", 600)
            .is("/spec/revisionHistoryLimit", 10)
            .is("/spec/strategy", json!({ "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": "25%", "maxSurge": "25%" } }))
            .is("/spec/template/spec/restartPolicy", "Always")
            .is("/spec/template/spec/containers/0/imagePullPolicy", "IfNotPresent")
            .absent("/metadata/managedFields/0/fieldsV1/f:spec/f:strategy")
            .apply("/api/v1/namespaces/$ns/services/s", json!({
                "apiVersion": "v1", "kind": "Service", "metadata": { "name": "s" }, "spec": { "ports": [{ "port": 80 }] },
            }))
            .code(201)
            .is("/spec/type", "ClusterIP")
            .present("/spec/clusterIP")
            .is("/spec/ports", json!([{ "port": 80, "protocol": "TCP", "targetPort": 80 }]))
            .is("/metadata/managedFields/0/fieldsV1/f:spec/f:ports", json!({
                "k:{\"port\":80,\"protocol\":\"TCP\"}": { ".": {}, "f:port": {} },
            }))
            .apply("/api/v1/namespaces/$ns/secrets/s", json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" }, "stringData": { "k": "plain" },
            }))
            .code(201)
            .is("/type", "Opaque")
            .is("/data/k", "cGxhaW4=")
            .absent("/stringData"),
        Case::new("empty metadata is not kept")
            .apply(map_path("a"), with(map("a", json!({})), "/metadata/labels", json!({})))
            .code(201)
            .absent("/metadata/labels")
            .absent("/data"),
    ]
}

fn generated() -> Value {
    let mut object = map("a", json!({}));
    object["metadata"] = json!({ "generateName": "made-" });
    object
}
