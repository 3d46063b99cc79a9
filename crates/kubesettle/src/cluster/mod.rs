//! The way to an API server. Only this module knows HTTP.
//!
//! ```text
//!  Config ─► Cluster ─► requests ─► send (headers, credentials) ─► transport ─► one connection for requests
//!               │                        │                                  └─► one for each 80 watches
//!            discovery                 answer: what an error means
//! ```

mod answer;
mod config;
mod connect_error;
mod credentials;
mod dead_versions;
mod discovery;
mod inflate;
mod lines;
mod requests;
mod secret;
mod send;
mod take_over;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod time;
mod transport;
mod types;
mod url;
mod warnings;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::Full;

pub(crate) use answer::status_error;
pub use config::{Config, ConfigError, ConfigOptions, Environment};
pub use connect_error::ConnectError;
pub use discovery::{Resource, Verbs};
pub use lines::Lines;
pub use types::{
    ApplyParams, Content, DeleteParams, Deletion, ListPage, LogParams, PlainWrite, Propagation, Scope,
    Validation, WatchStart, Written,
};

use self::credentials::Credentials;
use self::discovery::refresh::Discovery;
use self::send::Inner;
use self::time::ServerTime;
use self::transport::{ClientCertificate, Network, Transport, client_of};
use crate::error::{ApiError, ErrorClass};
use crate::id::GroupKind;

/// A connected cluster. Cheap to clone; all clones share connections, credentials and discovery.
///
/// No request is repeated in here, with one exception: after a 401 the credentials are renewed once
/// and the request is sent again. Everything else is told to the caller, who can show it. Every call
/// may be dropped while it waits; the server may then have done the work or not.
#[derive(Clone, Debug)]
pub struct Cluster(Arc<Inner>);

impl Cluster {
    /// Connects and learns what the server serves. Runs the credential plugin if there is one.
    ///
    /// # Errors
    /// Says what was tried and why it failed.
    pub async fn connect(config: Config) -> Result<Self, ConnectError> {
        let failed = |error: &ApiError| ConnectError::new(&config, error);
        let unusable = |message: String| failed(&ApiError::local(ErrorClass::BadRequest, message));
        let certificate = Arc::new(ClientCertificate::default());
        let network = Network::new(&config, certificate.clone()).map_err(unusable)?;
        let credentials = Credentials::new(config.auth.clone(), certificate).map_err(unusable)?;
        let cluster = Self(Arc::new(Inner {
            transport: Transport::network(network, config.answer_timeout),
            credentials,
            discovery: Discovery::default(),
            base: config.server.clone(),
            headers: config.headers.clone(),
            namespace: config.namespace.as_str().into(),
            compression: config.compression,
            time: ServerTime::default(),
        }));
        cluster.refresh_discovery().await.map_err(|error| failed(&error))?;
        Ok(cluster)
    }

    /// A cluster behind a tower service in this process: no sockets, no credentials. Nothing is asked
    /// before the first [`refresh_discovery`](Self::refresh_discovery).
    pub fn from_service<S, B>(service: S, default_namespace: &str) -> Self
    where
        S: tower::Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
        S::Future: Send + 'static,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        Self(Arc::new(Inner {
            transport: Transport::in_process(client_of(service)),
            credentials: Credentials::none(),
            discovery: Discovery::default(),
            base: "http://in-process".to_owned(),
            headers: HeaderMap::new(),
            namespace: default_namespace.into(),
            compression: true,
            time: ServerTime::default(),
        }))
    }

    /// What time it is on the server's clock, as far as the `Date` of its last answer tells: within two
    /// seconds. Our own time when it tells nothing.
    pub fn time(&self) -> SystemTime {
        self.0.time.at(SystemTime::now())
    }

    /// The namespace for objects that name none.
    pub fn default_namespace(&self) -> &Arc<str> {
        &self.0.namespace
    }

    /// True when long answers may come compressed.
    pub(crate) fn compresses(&self) -> bool {
        self.0.compression
    }

    /// The server's URL, for people.
    pub fn server(&self) -> &str {
        &self.0.base
    }

    /// The kind as the server serves it now: in `version` when one is wanted, else in the version it
    /// prefers. `None`: not served, as far as the last discovery saw.
    pub fn resource(&self, kind: &GroupKind, version: Option<&str>) -> Option<Resource> {
        self.0.discovery.table().get(kind, version).cloned()
    }

    /// Kinds that a person means by `word`, best first: plural, singular, short name or kind, alone
    /// or with `.group` or `.version.group`.
    pub fn resources_named(&self, word: &str) -> Vec<Resource> {
        self.0.discovery.table().named(word)
    }

    /// Every kind that is served, in its preferred version and in the server's order.
    pub fn resources(&self) -> Vec<Resource> {
        self.0.discovery.table().preferred().cloned().collect()
    }

    /// Kinds that somebody who wrote `kind` may have meant, best first, such as `Deployment (apps/v1)`.
    pub fn near_kinds(&self, kind: &GroupKind) -> Vec<String> {
        self.0.discovery.table().near(kind)
    }

    /// Asks the server again what it serves. Callers at the same time share one answer; calls in
    /// close succession wait, from 50 ms up to one second each. A group that fails keeps its old
    /// entries.
    ///
    /// # Errors
    /// Those of the request; the old table stays.
    pub async fn refresh_discovery(&self) -> Result<(), ApiError> {
        self.0.discovery.refresh(&self.0).await
    }

    /// Grows whenever the table of kinds changed.
    pub fn discovery_epoch(&self) -> u64 {
        self.0.discovery.epoch()
    }

    /// The server's version, such as `v1.36.3`.
    ///
    /// # Errors
    /// Those of the request.
    pub async fn server_version(&self) -> Result<String, ApiError> {
        requests::server_version(&self.0).await
    }

    /// Server-side apply of `body` (JSON or YAML of one object). `namespace` is empty for
    /// cluster-scoped kinds. Only metadata comes back.
    ///
    /// # Errors
    /// Every class that a write can end with.
    pub async fn apply(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        body: Bytes,
        params: &ApplyParams,
    ) -> Result<Written, ApiError> {
        let only = Content::MetadataOnly;
        requests::apply(&self.0, resource, namespace, name, body, params, only)
            .await
            .map(|(written, _)| written)
    }

    /// As [`apply`](Self::apply), with the whole object as the server has it after the write, or
    /// would have it after a dry run.
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
        requests::apply(&self.0, resource, namespace, name, body, params, Content::Full).await
    }

    /// A write that is no apply; answers the object as it is afterwards. `name` is not used by a create.
    ///
    /// # Errors
    /// Every class that a write can end with; `Replaced` when the body's resourceVersion is not the
    /// newest or a created object exists.
    pub async fn write(
        &self,
        how: PlainWrite,
        resource: &Resource,
        namespace: &str,
        name: &str,
        body: Bytes,
        field_manager: &str,
    ) -> Result<Bytes, ApiError> {
        requests::write(&self.0, how, resource, namespace, name, body, field_manager).await
    }

    /// Deletes one object with `DeleteOptions` given as JSON.
    ///
    /// # Errors
    /// As [`delete`](Self::delete).
    pub async fn delete_with(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        options: Bytes,
    ) -> Result<Deletion, ApiError> {
        requests::delete_with(&self.0, resource, namespace, name, options).await
    }

    /// Deletes one object, only if it has `uid` when one is given.
    ///
    /// # Errors
    /// `Replaced` when the object has another uid, `NotServed` when the kind does not exist.
    pub async fn delete(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        uid: Option<&str>,
        params: &DeleteParams,
    ) -> Result<Deletion, ApiError> {
        requests::delete(&self.0, resource, namespace, name, uid, params).await
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
        requests::get(&self.0, resource, namespace, name, content).await
    }

    /// One page of a list as JSON.
    ///
    /// # Errors
    /// `Expired` when the continue token or the version is too old or too new.
    pub async fn list(
        &self,
        resource: &Resource,
        scope: &Scope,
        page: ListPage<'_>,
        content: Content,
    ) -> Result<Bytes, ApiError> {
        requests::list(&self.0, resource, scope, page, content).await
    }

    /// Opens a watch with bookmarks that the server ends after `timeout` (whole seconds, at least one).
    ///
    /// # Errors
    /// Those that come as an HTTP status; later ones are ERROR lines. `Invalid` from a server that
    /// knows no streaming list.
    pub async fn watch(
        &self,
        resource: &Resource,
        scope: &Scope,
        start: WatchStart<'_>,
        timeout: Duration,
        content: Content,
    ) -> Result<Lines, ApiError> {
        requests::watch(&self.0, resource, scope, start, timeout, content).await
    }

    /// The end of a container's log, as the container wrote it.
    ///
    /// # Errors
    /// `BadRequest` when the container has not started.
    pub async fn logs(&self, namespace: &str, pod: &str, params: &LogParams<'_>) -> Result<Bytes, ApiError> {
        requests::logs(&self.0, namespace, pod, params).await
    }
}
