//! Fields that an earlier client-side apply left behind, made our own, so that those which are in the
//! manifest no more really go.
//!
//! A client-side apply records its fields under an Update manager. A server-side apply does not
//! remove what somebody else owns: without this step a dropped field would stay for ever, and a
//! changed one would be a conflict with ourselves (KEP-555; client-go does the same in
//! `util/csaupgrade`).

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::Cluster;
use super::discovery::Resource;
use super::types::{Content, PlainWrite};
use crate::error::{ApiError, ErrorClass};

/// Managers of client-side applies: kubectl's, that of older ones, and what the server calls the time
/// before it kept records. The last two are taken over only with a last-applied annotation beside
/// them: without it they are somebody else's work.
const FORMER: [(&str, bool); 3] =
    [("kubectl-client-side-apply", false), ("kubectl", true), ("before-first-apply", true)];
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// As much of a `managedFields` entry as tells whose it is.
#[derive(Deserialize)]
pub(super) struct Entry {
    #[serde(default)]
    manager: String,
    #[serde(default)]
    operation: String,
    #[serde(default)]
    subresource: Option<String>,
}

#[derive(Deserialize, Default)]
pub(super) struct Annotations<'a> {
    #[serde(rename = "kubectl.kubernetes.io/last-applied-configuration", borrow, default)]
    last_applied: Option<&'a RawValue>,
}

/// True when a client-side apply owns fields of the object.
pub(super) fn has_former(entries: &[Entry], annotations: Option<&Annotations<'_>>) -> bool {
    let marked = annotations.is_some_and(|annotations| annotations.last_applied.is_some());
    entries.iter().any(|entry| entry.is_former(marked))
}

impl Entry {
    fn is_former(&self, marked: bool) -> bool {
        let known = FORMER.iter().any(|(name, needs_mark)| *name == self.manager && (marked || !needs_mark));
        known && self.operation == "Update" && self.subresource.as_deref().unwrap_or_default().is_empty()
    }
}

/// True when a conflict is with a client-side apply of the past.
pub(super) fn conflicts_with_former(error: &ApiError) -> bool {
    error.class == ErrorClass::FieldConflict
        && (names_former(&error.message) || error.causes.iter().any(|cause| names_former(&cause.message)))
}

/// True when a conflict is with nobody else.
fn conflicts_with_former_only(error: &ApiError) -> bool {
    error.class == ErrorClass::FieldConflict
        && !error.causes.is_empty()
        && error.causes.iter().all(|cause| names_former(&cause.message))
}

fn names_former(message: &str) -> bool {
    FORMER.iter().any(|(name, _)| message.contains(&format!("\"{name}\"")))
}

#[derive(Serialize)]
struct Step<'a> {
    op: &'static str,
    path: &'static str,
    value: &'a Value,
}

/// The JSON patch that makes the fields ours; `None` when there are none. It fails when the object
/// has changed since it was read.
fn patch(object: &Value, manager: &str) -> Option<Bytes> {
    let metadata = object.get("metadata")?;
    let marked = metadata.pointer("/annotations").and_then(|all| all.get(LAST_APPLIED)).is_some();
    let entries = metadata.get("managedFields")?.as_array()?;
    let is_former = |entry: &Value| {
        serde_json::from_value::<Entry>(entry.clone()).is_ok_and(|entry| entry.is_former(marked))
    };
    let (former, mut kept): (Vec<Value>, Vec<Value>) = entries.iter().cloned().partition(is_former);
    let first = former.first()?;
    let mut fields = Value::Object(Map::new());
    for entry in &former {
        merge(&mut fields, entry.get("fieldsV1").unwrap_or(&Value::Null));
    }
    let ours = |entry: &&mut Value| {
        let subresource = entry.get("subresource").and_then(Value::as_str).unwrap_or_default();
        entry["manager"] == manager && entry["operation"] == "Apply" && subresource.is_empty()
    };
    match kept.iter_mut().find(ours) {
        Some(entry) => {
            let mut all = entry.get("fieldsV1").cloned().unwrap_or_default();
            merge(&mut all, &fields);
            entry["fieldsV1"] = all;
        }
        None => kept.push(json!({
            "manager": manager,
            "operation": "Apply",
            "apiVersion": first["apiVersion"],
            "time": first["time"],
            "fieldsType": "FieldsV1",
            "fieldsV1": fields,
        })),
    }
    let (kept, version) = (Value::Array(kept), metadata.get("resourceVersion")?);
    let steps = [
        Step { op: "replace", path: "/metadata/managedFields", value: &kept },
        Step { op: "replace", path: "/metadata/resourceVersion", value: version },
    ];
    serde_json::to_vec(&steps).ok().map(Bytes::from)
}

/// The union of two field sets, which nested maps stand for.
pub(super) fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert_with(|| Value::Object(Map::new())), value);
            }
        }
        (into, Value::Object(from)) => *into = Value::Object(from.clone()),
        _ => {}
    }
}

impl Cluster {
    /// Makes the fields of earlier client-side applies this manager's own; false when there are none.
    ///
    /// # Errors
    /// Those of a read and a write; `Replaced` when the object changed in between.
    pub async fn take_over(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        manager: &str,
    ) -> Result<bool, ApiError> {
        let Some(object) = self.get(resource, namespace, name, Content::MetadataOnly).await? else {
            return Ok(false);
        };
        let object: Value = serde_json::from_slice(&object).map_err(|error| {
            ApiError::local(ErrorClass::Protocol, format!("the server's answer is no object: {error}"))
        })?;
        let Some(patch) = patch(&object, manager) else { return Ok(false) };
        self.write(PlainWrite::JsonPatch, resource, namespace, name, patch, manager).await?;
        Ok(true)
    }

    /// True when a conflict is with a client-side apply of the past, whose fields can be taken over.
    pub fn conflicts_with_the_past(error: &ApiError) -> bool {
        conflicts_with_former(error)
    }

    /// True when a conflict is with such an apply and with nobody else: a real apply would not meet it.
    pub fn conflicts_only_with_the_past(error: &ApiError) -> bool {
        conflicts_with_former_only(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(annotations: Value, managed: Value) -> Value {
        json!({"metadata": {"resourceVersion": "7", "annotations": annotations, "managedFields": managed}})
    }

    fn entry(manager: &str, operation: &str, fields: Value) -> Value {
        json!({"manager": manager, "operation": operation, "apiVersion": "v1", "time": "t", "fieldsV1": fields})
    }

    fn managers(object: &Value) -> Option<Vec<String>> {
        let steps: Value = serde_json::from_slice(&patch(object, "kubesettle")?).unwrap();
        assert_eq!(steps[1]["value"], "7", "only this state of the object is meant");
        let entries = steps[0]["value"].as_array().unwrap().clone();
        Some(
            entries
                .iter()
                .map(|entry| format!("{} {}", entry["manager"].as_str().unwrap(), entry["fieldsV1"]))
                .collect(),
        )
    }

    #[test]
    fn fields_of_a_client_side_apply_join_ours() {
        let live = object(
            json!({}),
            json!([
                entry("kubectl-client-side-apply", "Update", json!({"f:data": {"f:a": {}, "f:b": {}}})),
                entry("kubesettle", "Apply", json!({"f:data": {"f:a": {}, "f:c": {}}})),
                entry("controller", "Update", json!({"f:status": {}})),
            ]),
        );
        assert_eq!(
            managers(&live).unwrap(),
            [r#"kubesettle {"f:data":{"f:a":{},"f:b":{},"f:c":{}}}"#, r#"controller {"f:status":{}}"#]
        );
    }

    #[test]
    fn before_our_first_apply_the_entry_becomes_ours() {
        let live =
            object(json!({}), json!([entry("kubectl-client-side-apply", "Update", json!({"f:data": {}}))]));
        assert_eq!(managers(&live).unwrap(), [r#"kubesettle {"f:data":{}}"#]);
    }

    #[test]
    fn what_older_tools_left_is_taken_only_with_their_annotation_beside_it() {
        for name in ["kubectl", "before-first-apply"] {
            let managed = json!([entry(name, "Update", json!({"f:data": {}}))]);
            assert_eq!(managers(&object(json!({}), managed.clone())), None, "{name}");
            assert!(managers(&object(json!({LAST_APPLIED: "{}"}), managed)).is_some(), "{name}");
        }
    }

    #[test]
    fn a_conflict_with_somebody_else_is_not_one_with_the_past_only() {
        let conflict = |managers: &[&str]| ApiError {
            causes: managers
                .iter()
                .map(|manager| crate::error::FieldCause {
                    field: ".data.a".into(),
                    message: format!("conflict with \"{manager}\" using v1").into(),
                })
                .collect(),
            ..ApiError::local(ErrorClass::FieldConflict, "conflicts")
        };
        let both = conflict(&["kubectl", "hpa"]);
        assert!(conflicts_with_former(&both) && !conflicts_with_former_only(&both));
        assert!(conflicts_with_former_only(&conflict(&["kubectl-client-side-apply", "kubectl"])));
        assert!(!conflicts_with_former_only(&conflict(&[])));
    }

    #[test]
    fn nobody_elses_fields_are_taken() {
        let managed = json!([
            entry("kubectl-edit", "Update", json!({"f:data": {}})),
            entry("kubectl-client-side-apply", "Apply", json!({"f:data": {}})),
            {"manager": "kubectl-client-side-apply", "operation": "Update", "subresource": "status", "fieldsV1": {}},
        ]);
        assert_eq!(managers(&object(json!({LAST_APPLIED: "{}"}), managed)), None);
    }
}
