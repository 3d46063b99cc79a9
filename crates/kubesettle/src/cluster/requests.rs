//! The requests of a run, each one HTTP exchange.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde::Deserialize;

use super::discovery::Resource;
use super::lines::Lines;
use super::send::{Ask, Inner};
use super::take_over;
use super::types::{
    ApplyParams, Content, DeleteParams, Deletion, ListPage, LogParams, PlainWrite, Scope, Validation,
    WatchStart, Written,
};
use super::url::{self, Url};
use super::warnings;
use crate::error::{ApiError, ErrorClass};

const JSON: &str = "application/json";
/// For LIST and WATCH of whole objects; servers that cannot leave managed fields out ignore the wish.
const LEAN: &str = "application/json;drop=metadata.managedFields,application/json";
/// For GET, PATCH and WATCH.
const PARTIAL: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
/// For LIST. On WATCH it would be a success with an empty stream.
const PARTIAL_LIST: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
const JSON_PATCH: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// Largest object and largest page taken, as they are when they are no longer compressed.
const OBJECT: usize = 64 << 20;
const PAGE: usize = 1 << 30;

/// What every written object's answer is read for.
#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow, default)]
    metadata: Metadata<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow)]
    uid: Cow<'a, str>,
    #[serde(borrow)]
    resource_version: Cow<'a, str>,
    generation: Option<i64>,
    #[serde(borrow)]
    deletion_timestamp: Option<Cow<'a, str>>,
    managed_fields: Option<Vec<take_over::Entry>>,
    #[serde(borrow)]
    annotations: Option<take_over::Annotations<'a>>,
}

/// What answers a DELETE: the object, or a Status with the object's uid.
#[derive(Deserialize)]
struct Deleted<'a> {
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    metadata: Metadata<'a>,
    #[serde(borrow, default)]
    details: DeletedDetails<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct DeletedDetails<'a> {
    #[serde(borrow)]
    uid: Option<Cow<'a, str>>,
}

pub(super) async fn apply(
    inner: &Inner,
    resource: &Resource,
    namespace: &str,
    name: &str,
    body: Bytes,
    params: &ApplyParams,
    content: Content,
) -> Result<(Written, Bytes), ApiError> {
    let target = Url::new(url::object(resource, namespace, name))
        .with("fieldManager", &params.field_manager)
        .with("force", if params.force { "true" } else { "false" })
        .with("fieldValidation", validation(params.validation))
        .with_some("dryRun", params.dry_run.then_some("All"))
        .into_string();
    let accept = match content {
        Content::Full => JSON,
        Content::MetadataOnly => PARTIAL,
    };
    let ask = Ask::new(Method::PATCH, target, accept).with_body(APPLY, body);
    let answer = inner.check(inner.head(ask).await?, resource.plural()).await?;
    let created = answer.status().as_u16() == 201;
    let warnings = warnings::collect(answer.headers());
    let body = inner.transport.collect(answer.into_body(), OBJECT).await?;
    let object: Object<'_> = serde_json::from_slice(&body).map_err(|error| not_understood(&error))?;
    let metadata = object.metadata;
    let written = Written {
        created,
        uid: metadata.uid.into_owned(),
        resource_version: metadata.resource_version.into_owned(),
        generation: metadata.generation,
        deleting: metadata.deletion_timestamp.is_some(),
        has_former_fields: take_over::has_former(
            metadata.managed_fields.as_deref().unwrap_or_default(),
            metadata.annotations.as_ref(),
        ),
        warnings,
    };
    Ok((written, body))
}

pub(super) async fn delete(
    inner: &Inner,
    resource: &Resource,
    namespace: &str,
    name: &str,
    uid: Option<&str>,
    params: &DeleteParams,
) -> Result<Deletion, ApiError> {
    let mut options = serde_json::json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": params.propagation.as_str(),
    });
    if let Some(options) = options.as_object_mut() {
        if let Some(uid) = uid {
            options.insert("preconditions".to_owned(), serde_json::json!({ "uid": uid }));
        }
        if let Some(grace) = params.grace {
            options.insert("gracePeriodSeconds".to_owned(), grace.as_secs().into());
        }
        if params.dry_run {
            options.insert("dryRun".to_owned(), serde_json::json!(["All"]));
        }
    }
    delete_with(inner, resource, namespace, name, options.to_string().into()).await.map(|deletion| {
        match deletion {
            Deletion::Accepted { uid, removed, warnings } => {
                Deletion::Accepted { uid, removed: removed && !params.dry_run, warnings }
            }
            Deletion::Gone => Deletion::Gone,
        }
    })
}

pub(super) async fn delete_with(
    inner: &Inner,
    resource: &Resource,
    namespace: &str,
    name: &str,
    options: Bytes,
) -> Result<Deletion, ApiError> {
    let ask = Ask::new(Method::DELETE, url::object(resource, namespace, name), JSON).with_body(JSON, options);
    let answer = match inner.check(inner.head(ask).await?, resource.plural()).await {
        Err(error) if is_absent(&error) => return Ok(Deletion::Gone),
        answer => answer?,
    };
    let warnings = warnings::collect(answer.headers());
    let body = inner.transport.collect(answer.into_body(), OBJECT).await?;
    let deleted: Deleted<'_> = serde_json::from_slice(&body).map_err(|error| not_understood(&error))?;
    let finished = deleted.kind == "Status";
    let uid = if finished { deleted.details.uid } else { Some(deleted.metadata.uid) };
    let uid = uid.filter(|uid| !uid.is_empty()).map(Cow::into_owned);
    Ok(Deletion::Accepted { uid, removed: finished, warnings })
}

/// A write that is no apply: of a record of ours, or of one field.
pub(super) async fn write(
    inner: &Inner,
    how: PlainWrite,
    resource: &Resource,
    namespace: &str,
    name: &str,
    body: Bytes,
    field_manager: &str,
) -> Result<Bytes, ApiError> {
    let (method, path, media) = match how {
        PlainWrite::Create => (Method::POST, url::collection(resource, namespace), JSON),
        PlainWrite::Replace => (Method::PUT, url::object(resource, namespace, name), JSON),
        PlainWrite::JsonPatch => (Method::PATCH, url::object(resource, namespace, name), JSON_PATCH),
    };
    let target = Url::new(path).with("fieldManager", field_manager).into_string();
    let answer = inner.head(Ask::new(method, target, JSON).with_body(media, body)).await?;
    inner.success(answer, resource.plural(), OBJECT).await
}

pub(super) async fn get(
    inner: &Inner,
    resource: &Resource,
    namespace: &str,
    name: &str,
    content: Content,
) -> Result<Option<Bytes>, ApiError> {
    let accept = match content {
        Content::Full => JSON,
        Content::MetadataOnly => PARTIAL,
    };
    let ask = Ask::new(Method::GET, url::object(resource, namespace, name), accept);
    let answer = inner.head(ask).await?;
    match inner.success(answer, resource.plural(), OBJECT).await {
        Err(error) if is_absent(&error) => Ok(None),
        body => body.map(Some),
    }
}

pub(super) async fn list(
    inner: &Inner,
    resource: &Resource,
    scope: &Scope,
    page: ListPage<'_>,
    content: Content,
) -> Result<Bytes, ApiError> {
    let limit = page.limit.map(|limit| limit.to_string());
    let target = url::scope(resource, scope)
        .with_some("limit", limit.as_deref())
        .with_some("continue", page.continue_token)
        // The token holds the version of the list that it continues.
        .with_some("resourceVersion", page.resource_version.filter(|_| page.continue_token.is_none()))
        .into_string();
    let accept = match content {
        Content::Full => LEAN,
        Content::MetadataOnly => PARTIAL_LIST,
    };
    let ask = Ask::new(Method::GET, target, accept).compressed(inner.compression);
    inner.success(inner.head(ask).await?, resource.plural(), PAGE).await
}

pub(super) async fn watch(
    inner: &Inner,
    resource: &Resource,
    scope: &Scope,
    start: WatchStart<'_>,
    timeout: Duration,
    content: Content,
) -> Result<Lines, ApiError> {
    let url = url::scope(resource, scope)
        .with("watch", "1")
        .with("allowWatchBookmarks", "true")
        .with("timeoutSeconds", &timeout.as_secs().max(1).to_string());
    let url = match start {
        WatchStart::From(version) => url.with("resourceVersion", version),
        WatchStart::StreamingList => url
            .with("sendInitialEvents", "true")
            .with("resourceVersionMatch", "NotOlderThan")
            .with("resourceVersion", ""),
    };
    let accept = match content {
        Content::Full => LEAN,
        Content::MetadataOnly => PARTIAL,
    };
    let (answer, stream) = inner.watch_head(Ask::new(Method::GET, url.into_string(), accept)).await?;
    let answer = inner.check(answer, resource.plural()).await?;
    Ok(Lines::new(answer.into_body(), stream))
}

/// Anything else below the server's address.
pub(super) async fn raw(inner: &Inner, target: String, asked: &str) -> Result<Bytes, ApiError> {
    let answer = inner.head(Ask::new(Method::GET, target, "*/*")).await?;
    inner.success(answer, asked, OBJECT).await
}

fn is_absent(error: &ApiError) -> bool {
    matches!(error.class, ErrorClass::NotFound | ErrorClass::NamespaceMissing)
}

fn validation(validation: Validation) -> &'static str {
    match validation {
        Validation::Strict => "Strict",
        Validation::Warn => "Warn",
        Validation::Ignore => "Ignore",
    }
}

fn not_understood(error: &serde_json::Error) -> ApiError {
    ApiError::local(ErrorClass::Protocol, format!("the server's answer is no object: {error}"))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VersionInfo {
    git_version: String,
}

pub(super) async fn server_version(inner: &Inner) -> Result<String, ApiError> {
    let body = raw(inner, "/version".to_owned(), "").await?;
    let info: VersionInfo = serde_json::from_slice(&body).map_err(|error| not_understood(&error))?;
    Ok(info.git_version)
}

pub(super) async fn logs(
    inner: &Inner,
    namespace: &str,
    pod: &str,
    params: &LogParams<'_>,
) -> Result<Bytes, ApiError> {
    let (lines, bytes) =
        (params.lines.map(|lines| lines.to_string()), params.bytes.map(|bytes| bytes.to_string()));
    let target = Url::new(url::log(namespace, pod))
        .with_some("container", params.container)
        .with_some("previous", params.previous.then_some("true"))
        .with_some("tailLines", lines.as_deref())
        .with_some("limitBytes", bytes.as_deref())
        .into_string();
    raw(inner, target, "pods").await
}
