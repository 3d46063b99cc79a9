//! How to reach a cluster: kubeconfig files, kubectl's flags and the in-cluster account.

mod environment;
mod kubeconfig;
mod proxy;
mod resolve;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderMap, Uri};

pub use environment::Environment;
pub(in crate::cluster) use kubeconfig::{Exec, read as read_file};
pub(in crate::cluster) use proxy::port_of;

use super::secret::Secret;

/// kubectl's connection flags. Everything left empty comes from the kubeconfig.
#[derive(Clone, Debug, Default)]
pub struct ConfigOptions {
    /// `--kubeconfig`: this file only; it must exist.
    pub kubeconfig: Option<PathBuf>,
    /// `--context`.
    pub context: Option<String>,
    /// `--cluster`.
    pub cluster: Option<String>,
    /// `--user`.
    pub user: Option<String>,
    /// `--namespace`.
    pub namespace: Option<String>,
    /// `--server`.
    pub server: Option<String>,
    /// `--token`.
    pub token: Option<String>,
    /// `--as`.
    pub as_user: Option<String>,
    /// `--as-group`.
    pub as_groups: Vec<String>,
    /// `--as-uid`.
    pub as_uid: Option<String>,
    /// `--certificate-authority`.
    pub certificate_authority: Option<PathBuf>,
    /// `--client-certificate`.
    pub client_certificate: Option<PathBuf>,
    /// `--client-key`.
    pub client_key: Option<PathBuf>,
    /// `--insecure-skip-tls-verify`.
    pub insecure_skip_tls_verify: bool,
    /// `--tls-server-name`.
    pub tls_server_name: Option<String>,
    /// `--request-timeout`: how long the server may take to answer one request; `None` is 60 s,
    /// zero is for ever. It does not end watches.
    pub request_timeout: Option<Duration>,
    /// `--proxy-url`.
    pub proxy_url: Option<String>,
    /// `--disable-compression`.
    pub disable_compression: bool,
    /// Sent as `User-Agent`; empty means `kubesettle/VERSION (OS/ARCHITECTURE)`.
    pub user_agent: String,
    /// `KUBECONFIG`, `HOME`, the proxy variables, `KUBERNETES_SERVICE_HOST` and `_PORT`.
    pub environment: Environment,
}

/// Where a cluster is and who we are there.
#[derive(Clone, Debug)]
pub struct Config {
    /// For people: `context "dev" of ~/.kube/config`.
    pub(super) origin: String,
    pub(super) namespace: String,
    pub(super) server: String,
    pub(super) trust: Trust,
    pub(super) tls_server_name: Option<String>,
    pub(super) identity: Option<Identity>,
    pub(super) auth: Auth,
    pub(super) proxy: Option<Uri>,
    /// User agent and impersonation.
    pub(super) headers: HeaderMap,
    /// Until the head of an answer is there; `None` is for ever.
    pub(super) answer_timeout: Option<Duration>,
    /// Lists may come compressed.
    pub(super) compression: bool,
}

/// Which server certificates are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Those that the operating system trusts.
    System,
    /// Those signed by one of these (PEM).
    Certificates(Vec<u8>),
    /// All.
    Anything,
}

/// A client certificate, as PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) certificate: Vec<u8>,
    pub(super) key: Secret,
}

/// What is sent as `Authorization`.
#[derive(Clone, Debug)]
pub(super) enum Auth {
    None,
    Basic {
        user: String,
        password: Secret,
    },
    Token(Secret),
    /// Read again every minute and after a 401.
    TokenFile(PathBuf),
    /// A plugin, with the cluster as it wants to be told about it.
    Plugin {
        exec: Box<Exec>,
        cluster: Option<serde_json::Value>,
    },
}

/// No usable configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    message: Box<str>,
    hint: Option<Box<str>>,
}

impl ConfigError {
    fn new(message: impl Into<Box<str>>) -> Self {
        Self { message: message.into(), hint: None }
    }

    fn with_hint(mut self, hint: impl Into<Box<str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl Config {
    /// Reads kubeconfig files as kubectl does and lays the options over them. Without any file or
    /// `--server` the account of the pod is used, if this is one. Credential plugins are not run here
    /// but when connecting.
    ///
    /// # Errors
    /// Files that cannot be read, names that are not in them, values that make no sense; the message
    /// names the file and what is there.
    pub fn load(options: &ConfigOptions) -> Result<Self, ConfigError> {
        resolve::load(options)
    }

    /// The namespace for objects that name none: `--namespace`, the context's, or `default`.
    pub fn default_namespace(&self) -> &str {
        &self.namespace
    }

    /// The server's URL.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Where this came from, for people: `context "dev" of ~/.kube/config`.
    pub fn origin(&self) -> &str {
        &self.origin
    }
}
