//! Kubeconfig files: finding, reading and merging them.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::ConfigError;
use super::environment::Environment;
use crate::cluster::secret::Secret;

/// One or more files merged: the first file to name something decides.
#[derive(Clone, Debug, Default)]
pub(super) struct Kubeconfig {
    /// Files that were read, in order.
    pub(super) files: Vec<PathBuf>,
    /// Files that were looked for but do not exist.
    pub(super) missing: Vec<PathBuf>,
    pub(super) current_context: String,
    pub(super) contexts: Vec<NamedContext>,
    pub(super) clusters: Vec<NamedCluster>,
    pub(super) users: Vec<NamedUser>,
}

/// A file as written. Go's decoder takes null for an empty list, hence the options.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "kebab-case")]
struct Document {
    current_context: Option<String>,
    contexts: Option<Vec<NamedContext>>,
    clusters: Option<Vec<NamedCluster>>,
    users: Option<Vec<NamedUser>>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct NamedContext {
    pub(super) name: String,
    #[serde(default)]
    pub(super) context: Option<Context>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Context {
    pub(super) cluster: Option<String>,
    pub(super) user: Option<String>,
    pub(super) namespace: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct NamedCluster {
    pub(super) name: String,
    #[serde(default)]
    pub(super) cluster: Option<Cluster>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(super) struct Cluster {
    pub(super) server: Option<String>,
    pub(super) insecure_skip_tls_verify: Option<bool>,
    pub(super) certificate_authority: Option<PathBuf>,
    pub(super) certificate_authority_data: Option<String>,
    pub(super) proxy_url: Option<String>,
    pub(super) disable_compression: Option<bool>,
    pub(super) tls_server_name: Option<String>,
    pub(super) extensions: Option<Vec<NamedExtension>>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct NamedExtension {
    pub(super) name: String,
    #[serde(default)]
    pub(super) extension: serde_json::Value,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct NamedUser {
    pub(super) name: String,
    #[serde(default)]
    pub(super) user: Option<User>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(super) struct User {
    pub(super) username: Option<String>,
    pub(super) password: Option<Secret>,
    pub(super) token: Option<Secret>,
    #[serde(rename = "tokenFile")]
    pub(super) token_file: Option<PathBuf>,
    pub(super) client_certificate: Option<PathBuf>,
    pub(super) client_certificate_data: Option<String>,
    pub(super) client_key: Option<PathBuf>,
    pub(super) client_key_data: Option<Secret>,
    #[serde(rename = "as")]
    pub(super) as_user: Option<String>,
    pub(super) as_uid: Option<String>,
    pub(super) as_groups: Option<Vec<String>>,
    pub(super) as_user_extra: Option<std::collections::BTreeMap<String, Vec<String>>>,
    pub(super) auth_provider: Option<AuthProvider>,
    pub(super) exec: Option<Exec>,
}

/// Removed from kubectl in 1.26; named only to be told apart.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AuthProvider {
    pub(super) name: String,
}

/// A credential plugin.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::cluster) struct Exec {
    pub(in crate::cluster) api_version: Option<String>,
    pub(in crate::cluster) command: String,
    pub(in crate::cluster) args: Option<Vec<String>>,
    pub(in crate::cluster) env: Option<Vec<ExecVariable>>,
    pub(in crate::cluster) install_hint: Option<String>,
    pub(in crate::cluster) interactive_mode: Option<String>,
    pub(in crate::cluster) provide_cluster_info: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::cluster) struct ExecVariable {
    pub(in crate::cluster) name: String,
    pub(in crate::cluster) value: String,
}

impl Kubeconfig {
    /// The file of `--kubeconfig` alone, else those of `KUBECONFIG`, else `~/.kube/config`.
    pub(super) fn find(explicit: Option<&Path>, environment: &Environment) -> Result<Self, ConfigError> {
        if let Some(path) = explicit {
            let mut merged = Self::default();
            let document = read(path).map_err(|error| unreadable(path, &error))?;
            merged.add(path, document.as_slice())?;
            return Ok(merged);
        }
        let paths: Vec<PathBuf> = match environment.get("KUBECONFIG") {
            Some(list) => std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect(),
            None => environment.home().map(|home| home.join(".kube").join("config")).into_iter().collect(),
        };
        let mut merged = Self::default();
        for path in paths {
            match read(&path) {
                Ok(document) => merged.add(&path, &document)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => merged.missing.push(path),
                Err(error) => return Err(unreadable(&path, &error)),
            }
        }
        Ok(merged)
    }

    /// True when nothing in it could lead to a cluster.
    pub(super) fn is_empty(&self) -> bool {
        self.contexts.is_empty() && self.clusters.is_empty() && self.users.is_empty()
    }

    pub(super) fn context(&self, name: &str) -> Option<Context> {
        let found = self.contexts.iter().find(|context| context.name == name)?;
        Some(found.context.clone().unwrap_or_default())
    }

    pub(super) fn cluster(&self, name: &str) -> Option<Cluster> {
        let found = self.clusters.iter().find(|cluster| cluster.name == name)?;
        Some(found.cluster.clone().unwrap_or_default())
    }

    pub(super) fn user(&self, name: &str) -> Option<User> {
        let found = self.users.iter().find(|user| user.name == name)?;
        Some(found.user.clone().unwrap_or_default())
    }

    fn add(&mut self, path: &Path, bytes: &[u8]) -> Result<(), ConfigError> {
        let text = std::str::from_utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
            .map_err(|error| unreadable(path, &error))?;
        // Of several YAML documents kubectl reads the first.
        let documents: Vec<Document> = serde_saphyr::from_multiple(text)
            .map_err(|error| unreadable(path, &first_line(&error.to_string())))?;
        let mut document = documents.into_iter().next().unwrap_or_default();
        document.resolve(path.parent().unwrap_or(Path::new("")));
        if self.current_context.is_empty() {
            self.current_context = document.current_context.unwrap_or_default();
        }
        merge(&mut self.contexts, document.contexts, |context| &context.name);
        merge(&mut self.clusters, document.clusters, |cluster| &cluster.name);
        merge(&mut self.users, document.users, |user| &user.name);
        self.files.push(path.to_owned());
        Ok(())
    }
}

impl Document {
    /// Paths in a file are relative to that file.
    fn resolve(&mut self, folder: &Path) {
        let absolute = |path: &mut Option<PathBuf>| {
            if let Some(path) = path.as_mut().filter(|path| !path.as_os_str().is_empty()) {
                *path = folder.join(&*path);
            }
        };
        for cluster in self.clusters.iter_mut().flatten().filter_map(|named| named.cluster.as_mut()) {
            absolute(&mut cluster.certificate_authority);
        }
        for user in self.users.iter_mut().flatten().filter_map(|named| named.user.as_mut()) {
            absolute(&mut user.client_certificate);
            absolute(&mut user.client_key);
            absolute(&mut user.token_file);
            if let Some(exec) = user.exec.as_mut() {
                // A bare name is looked up in PATH.
                let command = Path::new(&exec.command);
                if command.components().count() > 1 && command.is_relative() {
                    exec.command = folder.join(command).to_string_lossy().into_owned();
                }
            }
        }
    }
}

fn merge<T>(into: &mut Vec<T>, more: Option<Vec<T>>, name: impl Fn(&T) -> &str) {
    for entry in more.unwrap_or_default() {
        if !into.iter().any(|known| name(known) == name(&entry)) {
            into.push(entry);
        }
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> ConfigError {
    ConfigError::new(format!("cannot read kubeconfig {}: {error}", path.display()))
}

#[allow(clippy::disallowed_methods, reason = "connection files are read here")]
pub(in crate::cluster) fn read(path: &Path) -> io::Result<Vec<u8>> {
    std::fs::read(path)
}
