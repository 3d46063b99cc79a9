//! The way to an API server. Only this module knows kube, hyper and HTTP.

mod config;
mod discovery;
mod lines;
mod types;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

pub use config::{Config, ConfigError, ConfigOptions, Environment};
pub use discovery::{Resource, Verbs};
pub use lines::Lines;
pub use types::{
    ApplyParams, Content, DeleteParams, Deletion, ListPage, Propagation, Scope, Validation,
    WatchStart, Written,
};

use crate::error::{ApiError, ErrorClass};
use crate::id::GroupKind;

/// A connected cluster. Cheap to clone; all clones share connections and discovery.
///
/// No request is repeated in here, with one exception: after a 401 the credentials are renewed once
/// and the request is sent again. Everything else is told to the caller, who can show it.
#[derive(Clone, Debug)]
pub struct Cluster(Arc<Inner>);

#[derive(Debug)]
struct Inner {}

/// No contact with the cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConnectError {
    /// `Unreachable` or `TimedOut`, `Unauthorized` or `Forbidden` when the credentials were
    /// rejected, else what the server answered.
    pub class: ErrorClass,
    message: Box<str>,
    hint: Box<str>,
}

impl ConnectError {
    /// What a person can do about it.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

fn unfinished<T>() -> Result<T, ApiError> {
    Err(ApiError::local(ErrorClass::Protocol, "not connected"))
}

impl Cluster {
    /// Connects and learns what the server serves.
    ///
    /// # Errors
    /// Says what was tried and why it failed.
    pub async fn connect(config: Config) -> Result<Self, ConnectError> {
        let _ = config;
        Ok(Self(Arc::new(Inner {})))
    }

    /// The kind as the server serves it now: in `version` when one is wanted, else in the version it
    /// prefers. `None`: not served, as far as the last discovery saw.
    pub fn resource(&self, kind: &GroupKind, version: Option<&str>) -> Option<Resource> {
        let _ = (kind, version);
        None
    }

    /// Kinds that somebody who wrote `kind` may have meant, best first.
    pub fn near_kinds(&self, kind: &GroupKind) -> Vec<String> {
        let _ = kind;
        Vec::new()
    }

    /// Asks the server again what it serves; at most once a second, callers in between share one
    /// answer. A group that fails keeps its old entries.
    ///
    /// # Errors
    /// Those of the request; the old table stays.
    pub async fn refresh_discovery(&self) -> Result<(), ApiError> {
        unfinished()
    }

    /// Grows whenever the table of kinds changed.
    pub fn discovery_epoch(&self) -> u64 {
        0
    }

    /// Server-side apply of `body` (JSON or YAML of one object). `namespace` is empty for
    /// cluster-scoped kinds.
    ///
    /// # Errors
    /// Every class a write can end with.
    pub async fn apply(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        body: Bytes,
        params: &ApplyParams,
    ) -> Result<Written, ApiError> {
        let _ = (resource, namespace, name, body, params);
        unfinished()
    }

    /// As [`apply`](Self::apply), with the whole object as the server has it after the write.
    ///
    /// # Errors
    /// As `apply`.
    pub async fn apply_and_read(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        body: Bytes,
        params: &ApplyParams,
    ) -> Result<(Written, Bytes), ApiError> {
        let _ = (resource, namespace, name, body, params);
        unfinished()
    }

    /// Deletes one object, only if it has `uid` when one is given.
    ///
    /// # Errors
    /// `Replaced` when the object has another uid.
    pub async fn delete(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        uid: Option<&str>,
        params: &DeleteParams,
    ) -> Result<Deletion, ApiError> {
        let _ = (resource, namespace, name, uid, params);
        unfinished()
    }

    /// One object as JSON; `None` when it does not exist.
    ///
    /// # Errors
    /// `NotServed` when the kind does not exist.
    pub async fn get(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        content: Content,
    ) -> Result<Option<Bytes>, ApiError> {
        let _ = (resource, namespace, name, content);
        unfinished()
    }

    /// One page of a list as JSON.
    ///
    /// # Errors
    /// `Expired` when the continue token is too old.
    pub async fn list(
        &self,
        resource: &Resource,
        scope: &Scope,
        page: ListPage<'_>,
        content: Content,
    ) -> Result<Bytes, ApiError> {
        let _ = (resource, scope, page, content);
        unfinished()
    }

    /// Opens a watch that the server ends after `timeout`.
    ///
    /// # Errors
    /// Those that come as an HTTP status; later ones are ERROR lines.
    pub async fn watch(
        &self,
        resource: &Resource,
        scope: &Scope,
        start: WatchStart<'_>,
        timeout: Duration,
        content: Content,
    ) -> Result<Lines, ApiError> {
        let _ = (resource, scope, start, timeout, content);
        unfinished()
    }
}
