//! Writes that are refused.

use serde_json::json;

use super::super::Case;
use super::{MAPS, deployment, deployment_path, map, map_path, map_with, with};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = schema();
    cases.extend(rules());
    cases.extend([
        Case::new("an apply needs a field manager")
            .step("PATCH", map_path("a"), "application/apply-patch+yaml", map("a", json!({})))
            .refused(422, "Invalid", "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch"),
        Case::new("an apply must not say who manages what")
            .apply(map_path("a"), map_with(json!({ "managedFields": [] })))
            .refused(400, "BadRequest", "metadata.managedFields must be nil"),
        Case::new("name, namespace and kind must be those of the path")
            .apply(map_path("a"), map("b", json!({})))
            .refused(400, "BadRequest", "the name of the object (b) does not match the name on the URL (a)")
            .apply(map_path("a"), map_with(json!({ "namespace": "elsewhere" })))
            .refused(400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request")
            .apply(deployment_path("d"), with(deployment("d"), "/kind", json!("ReplicaSet")))
            .refused(400, "BadRequest", "invalid object type: apps/v1, Kind=ReplicaSet"),
        Case::new("what is no YAML is refused")
            .apply(map_path("a"), "{{{")
            .refused(400, "BadRequest", "error decoding YAML: error converting YAML to JSON: yaml: "),
        Case::new("only one form of apply is known")
            .apply(map_path("a"), map("a", json!({})))
            .media_type("application/apply-patch+json")
            .code(415)
            .apply(map_path("a"), map("a", json!({})))
            .media_type("application/apply-patch+cbor")
            .code(415),
        Case::new("a strict POST refuses an unknown field")
            .post(format!("{MAPS}?fieldValidation=Strict"), with(map("a", json!({})), "/foo", json!(1)))
            .refused(400, "BadRequest", "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \"foo\""),
    ]);
    cases
}

/// Mistakes in the shape of an applied object are told as server errors without a reason.
fn schema() -> Vec<Case> {
    let doubled = json!([{ "name": "c", "image": "i", "env": [{ "name": "A", "value": "1" }, { "name": "A", "value": "2" }] }]);
    let failed = "failed to create typed patch object (/d; apps/v1, Kind=Deployment): ";
    vec![
        Case::new("an unknown field is a server error without a reason, whatever validation is asked for")
            .apply(deployment_path("d"), with(deployment("d"), "/spec/foo", json!(1)))
            .refused(500, "", format!("{failed}.spec.foo: field not declared in schema"))
            .apply(
                format!("{}?fieldValidation=Ignore", deployment_path("d")),
                with(deployment("d"), "/spec/foo", json!(1)),
            )
            .refused(500, "", format!("{failed}.spec.foo: field not declared in schema")),
        Case::new("a wrong type is a server error")
            .apply(deployment_path("d"), with(deployment("d"), "/spec/replicas", json!("three")))
            .refused(500, "", format!("{failed}.spec.replicas: expected numeric (int or float), got string")),
        Case::new("two items of one key are a server error")
            .apply(deployment_path("d"), with(deployment("d"), "/spec/template/spec/containers", doubled))
            .refused(
                500,
                "",
                "spec.template.spec.containers[name=\"c\"].env: duplicate entries for key [name=\"A\"]",
            ),
    ]
}

fn rules() -> Vec<Case> {
    let job = |image: &str| {
        json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "j" },
            "spec": { "suspend": true, "template": { "spec": { "restartPolicy": "Never", "containers": [{ "name": "c", "image": image }] } } },
        })
    };
    let secret = |kind: &str| json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" }, "type": kind });
    let job_path = "/apis/batch/v1/namespaces/$ns/jobs/j";
    let secret_path = "/api/v1/namespaces/$ns/secrets/s";
    let selector = with(
        with(deployment("d"), "/spec/selector/matchLabels", json!({ "app": "other" })),
        "/spec/template/metadata/labels",
        json!({ "app": "other" }),
    );
    vec![
        Case::new("a value out of range is invalid")
            .apply(deployment_path("d"), with(deployment("d"), "/spec/replicas", json!(-1)))
            .refused(422, "Invalid", "Deployment.apps \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0")
            .is("/details/causes/0/field", "spec.replicas"),
        Case::new("a selector cannot be changed")
            .apply(deployment_path("d"), deployment("d"))
            .code(201)
            .apply(deployment_path("d"), selector)
            .refused(422, "Invalid", "spec.selector: Invalid value: ")
            .expect(super::super::Expect::Message("field is immutable".to_owned())),
        Case::new("a Job's template cannot be changed")
            .apply(job_path, job("image:1"))
            .code(201)
            .apply(job_path, job("image:1"))
            .code(200)
            .apply(job_path, job("image:2"))
            .refused(422, "Invalid", "spec.template.spec: Invalid value: ")
            .expect(super::super::Expect::Message("field is immutable".to_owned())),
        Case::new("a Secret's type cannot be changed")
            .apply(secret_path, secret("example.com/a"))
            .code(201)
            .apply(secret_path, secret("example.com/b"))
            .refused(422, "Invalid", "type: Invalid value: \"example.com/b\": field is immutable"),
        Case::new("an immutable ConfigMap stays as it is")
            .apply(map_path("a"), with(map("a", json!({ "k": "1" })), "/immutable", json!(true)))
            .code(201)
            .apply(map_path("a"), with(map("a", json!({ "k": "2" })), "/immutable", json!(true)))
            .refused(422, "Invalid", "data: Forbidden: field is immutable when `immutable` is set"),
        Case::new("a bad name is invalid")
            .apply(map_path("A_b"), map("A_b", json!({})))
            .refused(422, "Invalid", "metadata.name: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must consist of"),
    ]
}
