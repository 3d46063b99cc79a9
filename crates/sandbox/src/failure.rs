//! Refusals, in the words of the real server.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use serde_json::{Value, json};

/// An answer that is no success. Boxed: it is rare and large.
#[derive(Clone, Debug)]
pub(crate) struct Failure(Box<Refusal>);

#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) code: u16,
    pub(crate) form: Form,
    pub(crate) retry_after: Option<u64>,
    /// The real server takes this long before it says so.
    pub(crate) after: Duration,
}

#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// Plain text: from the router, before any kind is known.
    Text(String),
    /// A Status object.
    Status { reason: Option<&'static str>, message: String, details: Value, metadata: Value },
}

impl Deref for Failure {
    type Target = Refusal;

    fn deref(&self) -> &Refusal {
        &self.0
    }
}

impl DerefMut for Failure {
    fn deref_mut(&mut self) -> &mut Refusal {
        &mut self.0
    }
}

impl Failure {
    fn with(code: u16, form: Form) -> Self {
        Self(Box::new(Refusal { code, form, retry_after: None, after: Duration::ZERO }))
    }

    pub(crate) fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        let reason = (!reason.is_empty()).then_some(reason);
        let form =
            Form::Status { reason, message: message.into(), details: Value::Null, metadata: json!({}) };
        Self::with(code, form)
    }

    pub(crate) fn text(code: u16, text: impl Into<String>) -> Self {
        Self::with(code, Form::Text(text.into()))
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// The router knows no such path.
    pub(crate) fn no_page() -> Self {
        Self::text(404, "404 page not found\n")
    }

    /// The group is served, the resource is not.
    pub(crate) fn no_resource() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource").with_details(json!({}))
    }

    pub(crate) fn not_found(what: &What<'_>) -> Self {
        Self::new(404, "NotFound", format!("{} \"{}\" not found", what.resource(), what.name))
            .with_details(what.details())
    }

    pub(crate) fn already_exists(what: &What<'_>) -> Self {
        Self::new(409, "AlreadyExists", format!("{} \"{}\" already exists", what.resource(), what.name))
            .with_details(what.details())
    }

    pub(crate) fn conflict(what: &What<'_>, why: &str) -> Self {
        let message =
            format!("Operation cannot be fulfilled on {} \"{}\": {why}", what.resource(), what.name);
        Self::new(409, "Conflict", message).with_details(what.details())
    }

    pub(crate) fn forbidden(what: &What<'_>, why: &str) -> Self {
        let message = match what.name {
            "" => format!("{} is forbidden: {why}", what.resource()),
            name => format!("{} \"{name}\" is forbidden: {why}", what.resource()),
        };
        Self::new(403, "Forbidden", message).with_details(what.details())
    }

    /// 422 about fields of an object; `kind` as `Deployment.apps`.
    pub(crate) fn invalid(kind: &str, group: &str, name: &str, causes: &[Cause]) -> Self {
        let said: Vec<String> =
            causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
        let said = match said.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let shown = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
        let mut details = json!({ "name": name, "kind": kind });
        if !group.is_empty() {
            details["group"] = group.into();
        }
        if name.is_empty() {
            details.as_object_mut().map(|details| details.remove("name"));
        }
        details["causes"] = causes
            .iter()
            .map(|cause| json!({ "reason": cause.reason, "message": cause.message, "field": cause.field }))
            .collect();
        Self::new(422, "Invalid", format!("{shown} \"{name}\" is invalid: {said}")).with_details(details)
    }

    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// A version that this server has not reached yet.
    pub(crate) fn too_large_version(asked: u64, current: u64) -> Self {
        let details = json!({
            "causes": [{ "reason": "ResourceVersionTooLarge", "message": "Too large resource version" }],
            "retryAfterSeconds": 1,
        });
        let mut failure = Self::new(
            504,
            "Timeout",
            format!("Timeout: Too large resource version: {asked}, current: {current}"),
        )
        .with_details(details);
        failure.retry_after = Some(1);
        failure.after = Duration::from_millis(3100);
        failure
    }

    pub(crate) fn with_details(mut self, new: Value) -> Self {
        if let Form::Status { details, .. } = &mut self.form {
            *details = new;
        }
        self
    }

    pub(crate) fn with_metadata(mut self, new: Value) -> Self {
        if let Form::Status { metadata, .. } = &mut self.form {
            *metadata = new;
        }
        self
    }

    /// The Status object; also what an ERROR event of a watch carries.
    pub(crate) fn status(&self) -> Value {
        match &self.form {
            Form::Text(text) => {
                json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": text, "code": self.code })
            }
            Form::Status { reason, message, details, metadata } => {
                let mut status = json!({
                    "kind": "Status", "apiVersion": "v1", "metadata": metadata,
                    "status": "Failure", "message": message, "code": self.code,
                });
                if let Some(reason) = reason {
                    status["reason"] = (*reason).into();
                }
                if !details.is_null() {
                    status["details"] = details.clone();
                }
                status
            }
        }
    }
}

/// What a refusal is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct What<'a> {
    pub(crate) group: &'a str,
    pub(crate) plural: &'a str,
    pub(crate) name: &'a str,
}

impl What<'_> {
    /// `deployments.apps`.
    fn resource(&self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }

    fn details(&self) -> Value {
        let mut details = json!({ "kind": self.plural });
        if !self.name.is_empty() {
            details["name"] = self.name.into();
        }
        if !self.group.is_empty() {
            details["group"] = self.group.into();
        }
        details
    }
}

/// One field that is not right.
#[derive(Clone, Debug)]
pub(crate) struct Cause {
    pub(crate) reason: &'static str,
    pub(crate) field: String,
    pub(crate) message: String,
}

impl Cause {
    pub(crate) fn invalid(field: impl Into<String>, value: &str, why: &str) -> Self {
        Self {
            reason: "FieldValueInvalid",
            field: field.into(),
            message: format!("Invalid value: {value}: {why}"),
        }
    }

    pub(crate) fn required(field: impl Into<String>, why: &str) -> Self {
        let message =
            if why.is_empty() { "Required value".to_owned() } else { format!("Required value: {why}") };
        Self { reason: "FieldValueRequired", field: field.into(), message }
    }

    pub(crate) fn not_found(field: impl Into<String>, value: &str) -> Self {
        Self { reason: "FieldValueNotFound", field: field.into(), message: format!("Not found: \"{value}\"") }
    }

    pub(crate) fn forbidden(field: impl Into<String>, why: &str) -> Self {
        Self { reason: "FieldValueForbidden", field: field.into(), message: format!("Forbidden: {why}") }
    }
}

/// A kind as messages name it: `apps/v1, Kind=Deployment`.
pub(crate) fn form_of_kind(api_version: &str, kind: &str) -> String {
    format!("{api_version}, Kind={kind}")
}
