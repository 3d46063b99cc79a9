//! From a server's answer to an [`ApiError`]: one table, read from the top, first match wins.
//!
//! Neither the status code nor the reason alone tells what to do. A schema mistake is a 500, a
//! missing kind and a missing object are both 404, and a role, a quota and a policy all say 403.

#[cfg(test)]
mod tests;
mod text;

use std::borrow::Cow;
use std::time::Duration;

use http::HeaderMap;
use http::header::{DATE, RETRY_AFTER};
use serde::Deserialize;

use crate::error::{ApiError, ErrorClass, FieldCause};

/// A pattern; what is empty fits everything.
struct Rule {
    /// Status codes.
    codes: &'static [u16],
    /// Reason of one of the causes.
    cause: &'static str,
    /// Contained in the message.
    text: &'static str,
    /// What the answer must look like.
    form: Form,
    class: ErrorClass,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Any,
    /// A Status object.
    Status,
    /// A Status about another kind than the one asked for.
    Elsewhere,
    /// Plain text, or nothing.
    Plain,
    /// A web page: from something that is not an API server.
    Html,
}

const fn rule(codes: &'static [u16], text: &'static str, class: ErrorClass) -> Rule {
    Rule { codes, cause: "", text, form: Form::Any, class }
}

const fn cause(codes: &'static [u16], cause: &'static str, class: ErrorClass) -> Rule {
    Rule { codes, cause, text: "", form: Form::Any, class }
}

const fn form(codes: &'static [u16], text: &'static str, form: Form, class: ErrorClass) -> Rule {
    Rule { codes, cause: "", text, form, class }
}

use ErrorClass as E;

const RULES: &[Rule] = &[
    rule(&[401], "", E::Unauthorized),
    // Whatever status the webhook chose.
    rule(&[], "denied the request", E::Denied),
    rule(&[], "denied request: ", E::Denied),
    rule(&[], "failed calling webhook", E::Unavailable),
    rule(&[], "conversion webhook for ", E::Unavailable),
    rule(&[500], "failed to create typed patch object", E::Schema),
    rule(&[400], "failed to create typed patch object", E::Schema),
    rule(&[400, 422, 500], "field not declared in schema", E::Schema),
    // What the schema lets pass and the type does not take: quantities, times, base64.
    rule(&[400, 422, 500], "unable to convert unstructured object", E::Schema),
    rule(&[400], "strict decoding", E::Schema),
    rule(&[400], "cannot be handled as a", E::Schema),
    cause(&[403], "NamespaceTerminating", E::Terminating),
    rule(&[403], "because it is being terminated", E::Terminating),
    rule(&[403], "custom resource definition is terminating", E::Terminating),
    rule(&[403], "exceeded quota", E::QuotaExceeded),
    // A new namespace gets its account a moment later.
    rule(&[403], "error looking up service account", E::Unavailable),
    rule(&[403], "\" cannot ", E::Forbidden),
    rule(&[403], "attempting to grant", E::Forbidden),
    form(&[403], "forbidden", Form::Status, E::Denied),
    rule(&[403], "", E::Forbidden),
    form(&[404], "namespaces \"", Form::Elsewhere, E::NamespaceMissing),
    rule(&[404], "could not find the requested resource", E::NotServed),
    form(&[404], "", Form::Status, E::NotFound),
    form(&[404], "", Form::Plain, E::NotServed),
    rule(&[405], "", E::NotServed),
    cause(&[409], "FieldManagerConflict", E::FieldConflict),
    // The write lost a race for the quota's counter, not for the object.
    form(&[409], "resourcequotas \"", Form::Elsewhere, E::Unavailable),
    rule(&[409], "ensuring all content is removed", E::Terminating),
    form(&[409], "", Form::Status, E::Replaced),
    rule(&[410], "", E::Expired),
    cause(&[504], "ResourceVersionTooLarge", E::Expired),
    rule(&[], "Too large resource version", E::Expired),
    rule(&[413], "", E::TooLarge),
    rule(&[400, 500], "request is too large", E::TooLarge),
    rule(&[500], "larger than max", E::TooLarge),
    rule(&[422], "Too long: may not be more than 1048576", E::TooLarge),
    rule(&[422], "Too long: must have at most 1048576", E::TooLarge),
    rule(&[422], "Too long: may not be more than 262144", E::TooLarge),
    rule(&[422], "Too long: must have at most 262144", E::TooLarge),
    rule(&[422], "metadata.uid: Invalid value", E::Replaced),
    rule(&[422], "field is immutable", E::Immutable),
    rule(&[422], "is immutable", E::Immutable),
    rule(&[422], "may not be changed", E::Immutable),
    rule(&[422], "may not change", E::Immutable),
    rule(&[422], "cannot be changed", E::Immutable),
    rule(&[422], "cannot change roleRef", E::Immutable),
    rule(&[422], "Forbidden: updates to ", E::Immutable),
    rule(&[422], "updates to parameters are forbidden", E::Immutable),
    rule(&[422], "", E::Invalid),
    rule(&[429], "", E::Throttled),
    rule(&[500], "resourceVersion: Invalid value", E::BadRequest),
    rule(&[500], "etcdserver: ", E::Unavailable),
    rule(&[500], "context deadline exceeded", E::Unavailable),
    rule(&[500], "connection refused", E::Unavailable),
    rule(&[408], "", E::TimedOut),
    rule(&[502, 503, 504], "", E::Unavailable),
    form(&[], "", Form::Html, E::Protocol),
];

/// The part of a Status object that matters.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Status<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    message: Option<Cow<'a, str>>,
    #[serde(borrow)]
    reason: Option<Cow<'a, str>>,
    code: Option<u16>,
    #[serde(borrow)]
    details: Option<Details<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Details<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    causes: Option<Vec<Cause<'a>>>,
    retry_after_seconds: Option<u64>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Cause<'a> {
    #[serde(borrow)]
    reason: Cow<'a, str>,
    #[serde(borrow)]
    message: Cow<'a, str>,
    #[serde(borrow)]
    field: Cow<'a, str>,
}

/// Sorts an answer that is not a success. `asked` is the plural name of the kind that the request
/// was about.
pub(super) fn sort(code: u16, headers: &HeaderMap, body: &[u8], asked: &str) -> ApiError {
    let status = serde_json::from_slice::<Status<'_>>(body).ok().filter(|status| status.kind == "Status");
    let header = wait_of(headers);
    match status {
        Some(status) if asked == "secrets" => from_status(code, header, &status.without_values(), asked),
        Some(status) => from_status(code, header, &status, asked),
        None => from_text(code, header, body),
    }
}

/// Seconds to wait, from `Retry-After`: a number, or a moment on the server's own clock.
fn wait_of(headers: &HeaderMap) -> Option<u64> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let asked = text(RETRY_AFTER)?;
    let at = |text| httpdate::parse_http_date(text).ok();
    asked.parse().ok().or_else(|| Some(at(asked)?.duration_since(at(text(DATE)?)?).ok()?.as_secs()))
}

impl Status<'_> {
    /// The same without what it repeats of the object.
    fn without_values(mut self) -> Self {
        let hide = |text: &mut Cow<'_, str>| *text = Cow::Owned(text::without_values(text));
        self.message.iter_mut().for_each(hide);
        let causes = self.details.iter_mut().filter_map(|details| details.causes.as_mut()).flatten();
        causes.map(|cause| &mut cause.message).for_each(hide);
        self
    }
}

/// Sorts the Status object of a watch's ERROR event.
pub(crate) fn status_error(object: &[u8]) -> ApiError {
    match serde_json::from_slice::<Status<'_>>(object) {
        Ok(status) => from_status(status.code.unwrap_or(500), None, &status, ""),
        Err(error) => {
            ApiError::local(E::Protocol, format!("the watch reported an error that is no Status: {error}"))
        }
    }
}

fn from_status(code: u16, header: Option<u64>, status: &Status<'_>, asked: &str) -> ApiError {
    let details = status.details.as_ref();
    let causes = details.and_then(|details| details.causes.as_deref()).unwrap_or_default();
    let kind = details.map_or("", |details| &details.kind);
    let form = if !kind.is_empty() && kind != asked { Form::Elsewhere } else { Form::Status };
    let message = status.message.as_deref().unwrap_or_default();
    let class = class_of(code, form, message, |wanted| causes.iter().any(|cause| cause.reason == wanted));
    let seconds = details.and_then(|details| details.retry_after_seconds).filter(|seconds| *seconds > 0);
    let message = match (message.trim(), status.reason.as_deref()) {
        ("", Some(reason)) if !reason.is_empty() => format!("{} ({reason})", text::nothing_said(code)),
        ("", _) => text::nothing_said(code),
        (said, _) => text::shorten(&text::without_objects(said), text::MESSAGE),
    };
    ApiError {
        class,
        status: Some(code),
        message: message.into(),
        causes: fields(causes),
        retry_after: seconds.or(header).map(Duration::from_secs),
    }
}

fn from_text(code: u16, header: Option<u64>, body: &[u8]) -> ApiError {
    let said = String::from_utf8_lossy(body);
    let said = said.trim();
    let (form, message) = match text::page(said) {
        Some(page) => (Form::Html, format!("{}: {page}", text::nothing_said(code))),
        None if said.is_empty() => (Form::Plain, text::nothing_said(code)),
        None => (Form::Plain, text::shorten(said, text::MESSAGE)),
    };
    ApiError {
        class: class_of(code, form, said, |_| false),
        status: Some(code),
        message: message.into(),
        causes: Vec::new(),
        retry_after: header.map(Duration::from_secs),
    }
}

fn class_of(code: u16, form: Form, message: &str, has_cause: impl Fn(&str) -> bool) -> ErrorClass {
    let fits = |rule: &&Rule| {
        let form_fits = match rule.form {
            Form::Any => true,
            Form::Status => matches!(form, Form::Status | Form::Elsewhere),
            other => form == other,
        };
        form_fits
            && (rule.codes.is_empty() || rule.codes.contains(&code))
            && (rule.text.is_empty() || message.contains(rule.text))
            && (rule.cause.is_empty() || has_cause(rule.cause))
    };
    match RULES.iter().find(fits) {
        Some(rule) => rule.class,
        None if code >= 500 => E::ServerError,
        None if code >= 400 => E::BadRequest,
        None => E::Protocol,
    }
}

fn fields(causes: &[Cause<'_>]) -> Vec<FieldCause> {
    let mut fields: Vec<FieldCause> = Vec::with_capacity(causes.len());
    for cause in causes {
        let field = FieldCause {
            field: (&*cause.field).into(),
            message: text::shorten(&text::without_objects(&cause.message), text::CAUSE).into(),
        };
        // The server names some fields twice.
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
    fields
}
