//! What stands inside the lines: names, causes, awaited objects, times.

use std::time::Duration;

use kstatus::{Cause, ObjectRef, Timestamp};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::FieldCause;
use crate::event::Awaited;
use crate::id::ObjectId;

/// An object's name, with the four keys of every line about an object.
#[derive(Serialize)]
pub(super) struct Named<'a> {
    group: &'a str,
    kind: &'a str,
    name: &'a str,
    namespace: &'a str,
}

impl<'a> From<&'a ObjectId> for Named<'a> {
    fn from(id: &'a ObjectId) -> Self {
        Self { group: id.group(), kind: id.kind(), name: id.name(), namespace: id.namespace() }
    }
}

/// A link of a cause chain; it lives in the namespace of the judged object.
#[derive(Serialize)]
struct Link<'a> {
    group: &'a str,
    kind: &'a str,
    name: &'a str,
}

impl<'a> From<&'a ObjectRef> for Link<'a> {
    fn from(object: &'a ObjectRef) -> Self {
        Self { group: object.kind.group(), kind: object.kind.kind(), name: &object.name }
    }
}

/// What stands in the way of an object.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CauseParts<'a> {
    code: &'a str,
    message: &'a str,
    object: Link<'a>,
    chain: Vec<Link<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    fatal: bool,
    count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    fails_at: Option<Timestamp>,
}

impl<'a> From<&'a Cause> for CauseParts<'a> {
    fn from(cause: &'a Cause) -> Self {
        Self {
            code: cause.code.as_str(),
            message: &cause.message,
            object: Link::from(&cause.object),
            chain: cause.chain.iter().map(Link::from).collect(),
            container: cause.container.as_deref(),
            since: cause.since,
            fatal: cause.fatal,
            count: cause.count,
            fails_at: cause.fails_at,
        }
    }
}

/// A field that the server named in an error.
#[derive(Serialize)]
pub(super) struct Field<'a> {
    field: &'a str,
    message: &'a str,
}

impl<'a> From<&'a FieldCause> for Field<'a> {
    fn from(cause: &'a FieldCause) -> Self {
        Self { field: &cause.field, message: &cause.message }
    }
}

/// An object whose wait goes on.
#[derive(Serialize)]
pub(super) struct Waited<'a> {
    group: &'a str,
    kind: &'a str,
    name: &'a str,
    namespace: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    seconds: Box<RawValue>,
}

impl<'a> From<&'a Awaited> for Waited<'a> {
    fn from(awaited: &'a Awaited) -> Self {
        let verdict = awaited.verdict.as_ref();
        let Named { group, kind, name, namespace } = Named::from(&awaited.id);
        Self {
            group,
            kind,
            name,
            namespace,
            status: verdict.map(|v| v.status.as_str()),
            reason: verdict.map(|v| v.reason.as_str()),
            message: verdict.map(|v| v.message.as_str()),
            seconds: seconds(awaited.since),
        }
    }
}

/// Seconds with three decimals.
pub(super) fn seconds(time: Duration) -> Box<RawValue> {
    let text = format!("{}.{:03}", time.as_secs(), time.subsec_millis());
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
