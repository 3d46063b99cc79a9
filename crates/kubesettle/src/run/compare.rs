//! What an apply would make of an object, asked of the server.

use bytes::Bytes;
use serde_json::Value;

use crate::cluster::{ApplyParams, Cluster, Content, Resource};
use crate::error::ApiError;
use crate::event::Outcome;
use crate::id::ObjectId;
use crate::plan::{keeping_marks, mark_in};

/// An object as it is and as it would be.
#[derive(Debug)]
pub struct Comparison {
    /// The object as the cluster has it, as JSON; `None` when it does not exist.
    pub live: Option<Bytes>,
    /// The object as it would be after the apply, as JSON.
    pub merged: Bytes,
    /// What the server warns of.
    pub warnings: Vec<Box<str>>,
}

/// Asks the server what applying `body` would make of an object. Nothing is stored. The mark of a set that
/// the live object has stays, unless the body has one.
///
/// # Errors
/// Every class that an apply can end with, except conflicts about fields that an earlier client-side
/// apply owns: a real apply takes those over first.
pub async fn compare(
    cluster: &Cluster,
    resource: &Resource,
    id: &ObjectId,
    body: Bytes,
    params: &ApplyParams,
) -> Result<Comparison, ApiError> {
    let (namespace, name) = (id.namespace(), id.name());
    let params = ApplyParams { dry_run: true, ..params.clone() };
    let live = cluster.get(resource, namespace, name, Content::Full).await?;
    let there: Option<Value> = live.as_deref().and_then(|live| serde_json::from_slice(live).ok());
    let body = keeping_marks(body, |form| mark_in(there.as_ref()?, form));
    let answer = match cluster.apply_and_read(resource, namespace, name, body.clone(), &params).await {
        Err(conflict) if Cluster::conflicts_only_with_the_past(&conflict) => {
            let params = ApplyParams { force: true, ..params };
            cluster.apply_and_read(resource, namespace, name, body, &params).await
        }
        answer => answer,
    };
    let (written, merged) = answer?;
    Ok(Comparison { live: live.filter(|_| !written.created), merged, warnings: written.warnings })
}

impl Comparison {
    /// Created, configured or unchanged.
    pub fn outcome(&self) -> Outcome {
        match &self.live {
            None => Outcome::Created,
            Some(live) if stable(live) == stable(&self.merged) => Outcome::Unchanged,
            Some(_) => Outcome::Configured,
        }
    }
}

/// The object without what differs between two answers although nothing changed.
fn stable(object: &[u8]) -> Option<Value> {
    let mut object: Value = serde_json::from_slice(object).ok()?;
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
        for record in metadata.get_mut("managedFields").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(record) = record.as_object_mut() {
                record.remove("time");
            }
        }
    }
    Some(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_times_are_no_difference_and_owners_are() {
        let object = |version: &str, manager: &str, time: &str| {
            let record = serde_json::json!({ "manager": manager, "time": time });
            let object = serde_json::json!({
                "metadata": { "resourceVersion": version, "managedFields": [record] }, "data": { "a": "b" },
            });
            Bytes::from(object.to_string())
        };
        let outcome = |merged| {
            let live = Some(object("1", "us", "then"));
            Comparison { live, merged, warnings: Vec::new() }.outcome()
        };
        assert_eq!(outcome(object("2", "us", "now")), Outcome::Unchanged);
        assert_eq!(outcome(object("1", "them", "then")), Outcome::Configured);
    }
}
