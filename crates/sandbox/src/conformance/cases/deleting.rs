//! DELETE and finalizers.

use serde_json::{Value, json};

use super::super::Case;
use super::{VERSION, map, map_path, map_with};

pub(super) fn cases() -> Vec<Case> {
    let held = || map_with(json!({ "finalizers": ["example.com/hold"] }));
    vec![
        Case::new("what nothing holds is gone at once")
            .apply(map_path("a"), map("a", json!({})))
            .save("uid", "/metadata/uid")
            .delete(map_path("a"), "")
            .code(200)
            .is("/kind", "Status")
            .is("/status", "Success")
            .text("/details/uid", "$uid")
            .get(map_path("a"))
            .refused(404, "NotFound", "configmaps \"a\" not found")
            .is("/details", json!({ "name": "a", "kind": "configmaps" }))
            .delete(map_path("a"), "")
            .code(404),
        Case::new("a finalizer holds an object until the last one is taken away by an apply")
            .apply(map_path("a"), held())
            .code(201)
            .delete(map_path("a"), "")
            .code(200)
            .is("/kind", "ConfigMap")
            .present("/metadata/deletionTimestamp")
            .save("version", VERSION)
            .apply(map_path("a"), map_with(json!({ "finalizers": ["example.com/hold"], "labels": { "x": "y" } })))
            .code(200)
            .present("/metadata/deletionTimestamp")
            .differs(VERSION, "$version")
            .apply(map_path("a"), map_with(json!({ "finalizers": ["example.com/hold", "example.com/more"] })))
            .refused(422, "Invalid", "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted")
            .apply(map_path("a"), map_with(json!({})))
            .code(200)
            .present("/metadata/deletionTimestamp")
            .get(map_path("a"))
            .code(404),
        Case::new("preconditions name the object that is meant")
            .apply(map_path("a"), map("a", json!({})))
            .save("uid", "/metadata/uid")
            .delete(map_path("a"), options(json!({ "preconditions": { "uid": "other" } })))
            .refused(409, "Conflict", "the UID in the precondition (other) does not match the UID in record ($uid). The object might have been deleted and then recreated")
            .delete(map_path("a"), options(json!({ "preconditions": { "resourceVersion": "1" } })))
            .code(409)
            .delete(map_path("a"), r#"{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"$uid"}}"#)
            .code(200),
        Case::new("a dry run deletes nothing")
            .apply(map_path("a"), map("a", json!({})))
            .delete(format!("{}?dryRun=All", map_path("a")), "")
            .code(200)
            .is("/status", "Success")
            .delete(map_path("a"), options(json!({ "dryRun": ["All"] })))
            .code(200)
            .get(map_path("a"))
            .code(200),
        Case::new("an owner that is gone takes what it owns along, unless that is orphaned")
            .apply(map_path("owner"), map("owner", json!({})))
            .save("uid", "/metadata/uid")
            .apply(map_path("owned"), owned("owned"))
            .delete(map_path("owner"), options(json!({ "propagationPolicy": "Background" })))
            .code(200)
            .get(map_path("owned"))
            .code(404)
            .within(20)
            .apply(map_path("owner"), map("owner", json!({})))
            .save("uid", "/metadata/uid")
            .apply(map_path("kept"), owned("kept"))
            .delete(map_path("owner"), options(json!({ "propagationPolicy": "Orphan" })))
            .code(200)
            .get(map_path("owner"))
            .code(404)
            .within(20)
            .get(map_path("kept"))
            .code(200)
            .absent("/metadata/ownerReferences"),
        Case::new("in the foreground an owner waits for what it owns")
            .apply(map_path("owner"), map("owner", json!({})))
            .save("uid", "/metadata/uid")
            .apply(map_path("owned"), owned("owned"))
            .delete(map_path("owner"), options(json!({ "propagationPolicy": "Foreground" })))
            .code(200)
            .is("/metadata/finalizers", json!(["foregroundDeletion"]))
            .get(map_path("owner"))
            .code(404)
            .within(20)
            .get(map_path("owned"))
            .code(404),
    ]
}

fn options(more: Value) -> Value {
    let mut options = json!({ "apiVersion": "v1", "kind": "DeleteOptions" });
    crate::json::merge(&mut options, &more);
    options
}

fn owned(name: &str) -> Value {
    let mut object = map(name, json!({}));
    object["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "$uid", "blockOwnerDeletion": true,
    }]);
    object
}
