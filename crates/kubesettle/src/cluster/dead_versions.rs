//! Records of ownership that name an API version which is not served any more.
//!
//! The server converts what a manager owns to the version that the manager used, and fails every
//! server-side apply when that version has been taken out of a CRD. The records are rewritten to the
//! version that is used now; who owns what stays as it is.

use bytes::Bytes;
use serde_json::{Value, json};

use super::Cluster;
use super::discovery::Resource;
use super::take_over::merge;
use super::types::{Content, PlainWrite};
use crate::error::{ApiError, ErrorClass};

/// True when an apply may have failed for such a record.
fn may_be(error: &ApiError) -> bool {
    error.class == ErrorClass::Schema || error.message.contains("invalid group/version")
}

/// The JSON patch that rewrites the records; `None` when there is nothing to rewrite. It fails when the
/// object has changed since it was read.
fn patch(object: &Value, now: &str, is_dead: impl Fn(&str) -> bool) -> Option<Bytes> {
    let metadata = object.get("metadata")?;
    let mut kept: Vec<Value> = Vec::new();
    let mut found = false;
    for entry in metadata.get("managedFields")?.as_array()? {
        let mut entry = entry.clone();
        if entry.get("apiVersion").and_then(Value::as_str).is_some_and(&is_dead) {
            entry["apiVersion"] = now.into();
            found = true;
        }
        let same = |other: &&mut Value| {
            let keys = ["manager", "operation", "apiVersion", "subresource"];
            keys.iter().all(|key| other.get(*key) == entry.get(*key))
        };
        match kept.iter_mut().find(same) {
            Some(other) => merge(&mut other["fieldsV1"], &entry["fieldsV1"]),
            None => kept.push(entry),
        }
    }
    let steps = json!([
        { "op": "replace", "path": "/metadata/managedFields", "value": kept },
        { "op": "replace", "path": "/metadata/resourceVersion", "value": metadata.get("resourceVersion")? },
    ]);
    found.then(|| Bytes::from(steps.to_string()))
}

impl Cluster {
    /// Rewrites records of ownership in versions that are not served any more, when `error` may come
    /// from one; false when there are none.
    ///
    /// # Errors
    /// Those of a read and a write; `Replaced` when the object changed in between.
    pub async fn leave_dead_versions(
        &self,
        error: &ApiError,
        resource: &Resource,
        namespace: &str,
        name: &str,
        manager: &str,
    ) -> Result<bool, ApiError> {
        if !may_be(error) {
            return Ok(false);
        }
        let Some(object) = self.get(resource, namespace, name, Content::MetadataOnly).await? else {
            return Ok(false);
        };
        let Ok(object) = serde_json::from_slice::<Value>(&object) else { return Ok(false) };
        let is_dead = |api_version: &str| {
            let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
            group == resource.group() && self.resource(resource.group_kind(), Some(version)).is_none()
        };
        let Some(patch) = patch(&object, &resource.api_version(), is_dead) else { return Ok(false) };
        self.write(PlainWrite::JsonPatch, resource, namespace, name, patch, manager).await?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_records_in_dead_versions_are_rewritten_and_two_of_one_manager_become_one() {
        let entry = |manager: &str, version: &str, fields: Value| json!({ "manager": manager, "operation": "Apply", "apiVersion": version, "fieldsV1": fields });
        let object = |entries: Value| json!({"metadata": {"resourceVersion": "7", "managedFields": entries}});
        let live = object(json!([
            entry("us", "example.com/v1beta1", json!({"f:spec": {"f:a": {}}})),
            entry("us", "example.com/v1", json!({"f:spec": {"f:b": {}}})),
            entry("them", "example.com/v1beta1", json!({"f:spec": {"f:c": {}}})),
        ]));
        let is_dead = |version: &str| version == "example.com/v1beta1";
        let steps: Value = serde_json::from_slice(&patch(&live, "example.com/v1", is_dead).unwrap()).unwrap();
        assert_eq!(
            steps[0]["value"],
            json!([
                entry("us", "example.com/v1", json!({"f:spec": {"f:a": {}, "f:b": {}}})),
                entry("them", "example.com/v1", json!({"f:spec": {"f:c": {}}})),
            ])
        );
        assert_eq!(steps[1]["value"], "7", "only this state of the object is meant");
        let alive = object(json!([entry("us", "example.com/v1", json!({}))]));
        assert!(patch(&alive, "example.com/v1", is_dead).is_none());
    }

    #[test]
    fn other_failures_are_not_looked_into() {
        let error = |class, message: &str| ApiError::local(class, message);
        assert!(may_be(&error(ErrorClass::Schema, "field not declared in schema")));
        assert!(may_be(&error(
            ErrorClass::ServerError,
            "request to convert CR to an invalid group/version: x/v1"
        )));
        assert!(!may_be(&error(ErrorClass::Invalid, "spec.size: Invalid value")));
    }
}
