//! Server-side apply.

use serde_json::{Value, json};

use super::managed::{self, Author, Conflict, Operation};
use super::{Done, Write, body, commit, schema};
use crate::failure::{Cause, Failure, form_of_kind};
use crate::json::{at, text};
use crate::read::what;
use crate::store::Store;

/// PATCH with `application/apply-patch+yaml`.
pub(crate) fn apply(store: &mut Store, write: &Write<'_>) -> Result<Done, Failure> {
    let manager = write.ask.query.get("fieldManager");
    if manager.is_empty() {
        let cause = Cause::required("fieldManager", "is required for apply patch");
        return Err(Failure::invalid("PatchOptions", "meta.k8s.io", "", &[cause]));
    }
    let (mut config, mut warnings) = body::applied(write)?;
    body::identity(write, &config, write.target)?;
    if !at(&config, &["metadata", "managedFields"]).is_null() {
        return Err(Failure::bad_request("metadata.managedFields must be nil"));
    }
    check_shape(write, &config)?;
    let nameless = text(&config, &["metadata", "name"]).is_empty();
    crate::json::set(&mut config, &["metadata", "name"], write.target.name.as_str());
    warnings.extend(super::validate::warnings(write.kind, &config));
    let live = write.live(store);
    let precondition = Precondition::take(&mut config);
    confine(write, &mut config);
    let (api_version, time) = (write.api_version(), store.stamp());
    let author = Author {
        manager,
        operation: Operation::Apply,
        api_version: &api_version,
        subresource: &write.target.subresource,
        time: &time,
    };
    let Some(live) = live else {
        if write.target.subresource == "status" {
            return Err(Failure::not_found(&what(write.target)));
        }
        if !precondition.uid.is_empty() {
            let why = format!(
                "uid mismatch: the provided object specified uid {}, and no existing object was found",
                precondition.uid
            );
            return Err(Failure::conflict(&what(write.target), &why));
        }
        if nameless {
            let message = format!(
                "the name of the object ({} based on URL) was undeterminable: name must be provided",
                write.target.name
            );
            return Err(Failure::bad_request(message));
        }
        write.user.authorize("create", write.target, &write.target.name)?;
        let merged = managed::apply(&Value::Null, &config, &write.kind.shape, &author, true)
            .map_err(|conflicts| refuse(&conflicts))?;
        let object = commit::create(store, &write.commit(), write.target, merged, None)?;
        return Ok(Done { code: 201, object, warnings });
    };
    precondition.check_version(write, &live)?;
    let force = write.ask.query.is_true("force");
    let mut merged = managed::apply(&live, &config, &write.kind.shape, &author, force)
        .map_err(|conflicts| refuse(&conflicts))?;
    if !precondition.uid.is_empty() {
        crate::json::set(&mut merged, &["metadata", "uid"], precondition.uid);
    }
    let object = commit::update(store, &write.commit(), write.target, &live, merged, None)?;
    Ok(Done { code: 200, object, warnings })
}

/// What the body says about the object that it expects.
struct Precondition {
    uid: String,
    version: String,
}

impl Precondition {
    fn take(config: &mut Value) -> Self {
        let taken = Self {
            uid: text(config, &["metadata", "uid"]).to_owned(),
            version: text(config, &["metadata", "resourceVersion"]).to_owned(),
        };
        for field in ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"] {
            crate::json::remove(config, &["metadata", field]);
        }
        taken
    }

    fn check_version(&self, write: &Write<'_>, live: &Value) -> Result<(), Failure> {
        if self.version.is_empty() || self.version == text(live, &["metadata", "resourceVersion"]) {
            return Ok(());
        }
        Err(commit::modified(write.target))
    }
}

/// A request reaches either everything but the status, or nothing else.
fn confine(write: &Write<'_>, config: &mut Value) {
    let Some(map) = config.as_object_mut() else { return };
    if write.target.subresource == "status" {
        map.retain(|name, _| matches!(name.as_str(), "apiVersion" | "kind" | "metadata" | "status"));
        let name = json!({ "name": write.target.name });
        map.insert("metadata".to_owned(), name);
    } else if write.kind.status {
        map.remove("status");
    }
}

/// A mistake in the shape is told as a server error; real servers do that.
fn check_shape(write: &Write<'_>, config: &Value) -> Result<(), Failure> {
    let errors = schema::check(config, &write.kind.shape);
    let said = match errors.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        many => many.iter().fold("errors:".to_owned(), |said, error| format!("{said}\n  {error}")),
    };
    let kind = form_of_kind(&write.api_version(), &write.kind.kind);
    // As the body names it, not the path.
    let (namespace, name) = (text(config, &["metadata", "namespace"]), text(config, &["metadata", "name"]));
    let message = format!("failed to create typed patch object ({namespace}/{name}; {kind}): {said}");
    Err(Failure::new(500, "", message))
}

fn refuse(conflicts: &[Conflict]) -> Failure {
    let message = match conflicts {
        [one] => format!("Apply failed with 1 conflict: conflict with {}: {}", one.manager, one.path),
        many => {
            let mut managers: Vec<&str> = many.iter().map(|conflict| conflict.manager.as_str()).collect();
            managers.dedup();
            let mut lines = Vec::new();
            for manager in managers {
                lines.push(format!("conflicts with {manager}:"));
                let of_manager = many.iter().filter(|conflict| conflict.manager == manager);
                lines.extend(of_manager.map(|conflict| format!("- {}", conflict.path)));
            }
            format!("Apply failed with {} conflicts: {}", many.len(), lines.join("\n"))
        }
    };
    let causes: Vec<Value> = conflicts
        .iter()
        .map(|conflict| {
            let message = format!("conflict with {}", conflict.manager);
            json!({ "reason": "FieldManagerConflict", "message": message, "field": conflict.path })
        })
        .collect();
    Failure::new(409, "Conflict", message).with_details(json!({ "causes": causes }))
}
