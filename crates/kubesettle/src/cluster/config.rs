//! How to reach a cluster: kubeconfig files, overrides and the in-cluster account.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The environment variables that matter here, handed in by the caller: the library never reads the
/// process's environment itself.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: Vec<(OsString, OsString)>,
}

impl<I: IntoIterator<Item = (OsString, OsString)>> From<I> for Environment {
    fn from(variables: I) -> Self {
        Self {
            variables: variables.into_iter().collect(),
        }
    }
}

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
    /// zero is for ever. Watches have none of it.
    pub request_timeout: Option<Duration>,
    /// `--proxy-url`.
    pub proxy_url: Option<String>,
    /// `--disable-compression`.
    pub disable_compression: bool,
    /// Sent as `User-Agent`; empty means `kubesettle/VERSION`.
    pub user_agent: String,
    /// `KUBECONFIG`, `HOME`, the proxy variables, `KUBERNETES_SERVICE_HOST` and `_PORT`.
    pub environment: Environment,
}

/// Where a cluster is and who we are there.
#[derive(Clone, Debug)]
pub struct Config {
    namespace: String,
    server: String,
}

/// No usable configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    message: Box<str>,
    hint: Option<Box<str>>,
}

impl ConfigError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl Config {
    /// Reads kubeconfig files as kubectl does and lays the options over them. Credential plugins are
    /// not run here but when connecting.
    ///
    /// # Errors
    /// Files that cannot be read, names that are not in them, values that make no sense; the message
    /// names the file and what is there.
    pub fn load(options: &ConfigOptions) -> Result<Self, ConfigError> {
        let _ = options;
        Err(ConfigError {
            message: "no configuration".into(),
            hint: None,
        })
    }

    /// The namespace for objects that name none: `--namespace`, the context's, or `default`.
    pub fn default_namespace(&self) -> &str {
        &self.namespace
    }

    /// The server's URL.
    pub fn server(&self) -> &str {
        &self.server
    }
}
