//! From files and flags to one configuration.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use http::header::{HeaderName, USER_AGENT};
use http::{HeaderMap, HeaderValue, Uri};

use super::environment::Environment;
use super::kubeconfig::{Cluster, Kubeconfig, User, read};
use super::{Auth, Config, ConfigError, ConfigOptions, Identity, Trust, proxy};
use crate::cluster::secret::Secret;

const DEFAULT_ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
const EXEC_EXTENSION: &str = "client.authentication.k8s.io/exec";

pub(super) fn load(options: &ConfigOptions) -> Result<Config, ConfigError> {
    load_with_account(options, Path::new(ACCOUNT))
}

/// `account` is the folder of the pod's service account.
pub(super) fn load_with_account(options: &ConfigOptions, account: &Path) -> Result<Config, ConfigError> {
    let files = Kubeconfig::find(options.kubeconfig.as_deref(), &options.environment)?;
    let chosen = Chosen::from_kubeconfig(&files, options)?;
    let chosen = match chosen {
        Some(chosen) => chosen,
        None => match Chosen::from_account(account, &options.environment) {
            Some(chosen) => chosen,
            None => return Err(nothing(&files, options)),
        },
    };
    chosen.finish(options)
}

/// What the files or the pod say, before flags.
#[derive(Default)]
struct Chosen {
    origin: String,
    namespace: Option<String>,
    cluster: Cluster,
    user: User,
}

impl Chosen {
    /// `None` when there is neither a context nor a server to go to.
    fn from_kubeconfig(files: &Kubeconfig, options: &ConfigOptions) -> Result<Option<Self>, ConfigError> {
        let wanted = |flag: &Option<String>| flag.clone().filter(|name| !name.is_empty());
        let shown = shown_list(&files.files, &options.environment);
        let absent = |what: &str, name: &str, there: Vec<&str>| {
            let place = if shown.is_empty() { "any kubeconfig".to_owned() } else { shown.clone() };
            let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
            ConfigError::new(format!("{what} {name:?} not found in {place}; {what}s: {there}"))
        };

        let name = wanted(&options.context).unwrap_or_else(|| files.current_context.clone());
        let context = if name.is_empty() {
            super::kubeconfig::Context::default()
        } else {
            files.context(&name).ok_or_else(|| {
                absent("context", &name, files.contexts.iter().map(|known| known.name.as_str()).collect())
            })?
        };

        let cluster_name = wanted(&options.cluster).or_else(|| context.cluster.clone()).unwrap_or_default();
        let cluster = if cluster_name.is_empty() { None } else { files.cluster(&cluster_name) };
        let server = wanted(&options.server);
        if cluster.is_none() && !cluster_name.is_empty() && (server.is_none() || options.cluster.is_some()) {
            let there = files.clusters.iter().map(|known| known.name.as_str()).collect();
            return Err(absent("cluster", &cluster_name, there));
        }

        let user_name = wanted(&options.user).or(context.user).unwrap_or_default();
        let user = files.user(&user_name);
        if user.is_none() && options.user.is_some() && !user_name.is_empty() {
            let there = files.users.iter().map(|known| known.name.as_str()).collect();
            return Err(absent("user", &user_name, there));
        }

        if cluster.is_none() && server.is_none() {
            return Ok(None);
        }
        let origin = match (shown.is_empty(), name.as_str()) {
            (true, _) => "the command line".to_owned(),
            (false, "") => shown,
            (false, name) => format!("context {name:?} of {shown}"),
        };
        Ok(Some(Self {
            origin,
            namespace: context.namespace.filter(|namespace| !namespace.is_empty()),
            cluster: cluster.unwrap_or_default(),
            user: user.unwrap_or_default(),
        }))
    }

    /// The account that every pod gets; `None` outside a pod.
    fn from_account(folder: &Path, environment: &Environment) -> Option<Self> {
        let host = environment.text("KUBERNETES_SERVICE_HOST")?;
        let port = environment.text("KUBERNETES_SERVICE_PORT")?;
        let token_file = folder.join("token");
        read(&token_file).ok()?;
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let authority = folder.join("ca.crt");
        let file_namespace =
            || Some(String::from_utf8(read(&folder.join("namespace")).ok()?).ok()?.trim().to_owned());
        Some(Self {
            origin: "this pod's service account".to_owned(),
            namespace: environment.text("POD_NAMESPACE").map(str::to_owned).or_else(file_namespace),
            cluster: Cluster {
                server: Some(format!("https://{host}:{port}")),
                certificate_authority: read(&authority).is_ok().then_some(authority),
                ..Cluster::default()
            },
            user: User { token_file: Some(token_file), ..User::default() },
        })
    }

    fn finish(mut self, options: &ConfigOptions) -> Result<Config, ConfigError> {
        let context = |error: ConfigError, origin: &str| ConfigError {
            message: format!("{}, from {origin}", error.message).into(),
            hint: error.hint,
        };
        self.overlay(options);
        let (origin, explicit) = (self.origin.clone(), self.cluster.proxy_url.clone());
        let (mut config, server) = self.build(options).map_err(|error| context(error, &origin))?;
        config.proxy = match explicit.filter(|url| !url.is_empty()) {
            Some(url) => Some(proxy::parse(&url).map_err(|error| context(ConfigError::new(error), &origin))?),
            None => proxy::of_environment(&server, &options.environment).map_err(ConfigError::new)?,
        };
        Ok(config)
    }

    /// Flags over files, with the side effects that client-go has.
    fn overlay(&mut self, options: &ConfigOptions) {
        let cluster = &mut self.cluster;
        let given = |flag: &Option<String>| flag.clone().filter(|value| !value.is_empty());
        if let Some(server) = given(&options.server) {
            cluster.server = Some(server);
            // The name in the file belongs to the server in the file.
            cluster.tls_server_name = None;
        }
        if let Some(name) = given(&options.tls_server_name) {
            cluster.tls_server_name = Some(name);
        }
        if options.insecure_skip_tls_verify || options.certificate_authority.is_some() {
            cluster.insecure_skip_tls_verify = Some(options.insecure_skip_tls_verify);
            cluster.certificate_authority = options.certificate_authority.clone();
            cluster.certificate_authority_data = None;
        }
        if let Some(proxy) = given(&options.proxy_url) {
            cluster.proxy_url = Some(proxy);
        }

        let user = &mut self.user;
        if let Some(token) = given(&options.token) {
            user.token = Some(Secret::new(token));
            user.token_file = None;
            user.exec = None;
            user.auth_provider = None;
        }
        if let Some(path) = &options.client_certificate {
            user.client_certificate = Some(path.clone());
            user.client_certificate_data = None;
        }
        if let Some(path) = &options.client_key {
            user.client_key = Some(path.clone());
            user.client_key_data = None;
        }
        if let Some(name) = given(&options.as_user) {
            user.as_user = Some(name);
        }
        if let Some(uid) = given(&options.as_uid) {
            user.as_uid = Some(uid);
        }
        if !options.as_groups.is_empty() {
            user.as_groups = Some(options.as_groups.clone());
        }
    }

    /// All but the proxy.
    fn build(self, options: &ConfigOptions) -> Result<(Config, Uri), ConfigError> {
        let Self { origin, namespace, cluster, user } = self;
        let identity = identity(&user)?;
        let trust = trust(&cluster)?;
        let wants_tls = trust != Trust::System || identity.is_some();
        let (server_text, server) = server_url(cluster.server.as_deref().unwrap_or_default(), wants_tls)?;
        let headers = headers(&user, &options.user_agent)?;
        let answer_timeout = match options.request_timeout {
            None => Some(DEFAULT_ANSWER_TIMEOUT),
            Some(Duration::ZERO) => None,
            Some(timeout) => Some(timeout),
        };
        let namespace = options.namespace.clone().filter(|name| !name.is_empty()).or(namespace);
        let config = Config {
            origin,
            namespace: namespace.unwrap_or_else(|| "default".to_owned()),
            tls_server_name: cluster.tls_server_name.clone().filter(|name| !name.is_empty()),
            auth: auth(user, &cluster, &trust)?,
            server: server_text,
            trust,
            identity,
            proxy: None,
            headers,
            answer_timeout,
            compression: !options.disable_compression && cluster.disable_compression != Some(true),
        };
        Ok((config, server))
    }
}

fn server_url(text: &str, wants_tls: bool) -> Result<(String, Uri), ConfigError> {
    if text.is_empty() {
        return Err(ConfigError::new("the cluster has no server address"));
    }
    let whole = match (text.contains("://"), wants_tls) {
        (true, _) => text.to_owned(),
        (false, true) => format!("https://{text}"),
        (false, false) => format!("http://{text}"),
    };
    let whole = whole.trim_end_matches('/').to_owned();
    let bad = |why: &dyn std::fmt::Display| ConfigError::new(format!("server address {text:?}: {why}"));
    let uri: Uri = whole.parse().map_err(|error| bad(&error))?;
    match uri.scheme_str() {
        Some("http" | "https") if uri.host().is_some_and(|host| !host.is_empty()) => Ok((whole, uri)),
        Some("http" | "https") => Err(bad(&"no host")),
        _ => Err(bad(&"neither http nor https")),
    }
}

fn trust(cluster: &Cluster) -> Result<Trust, ConfigError> {
    if cluster.insecure_skip_tls_verify == Some(true) {
        return Ok(Trust::Anything);
    }
    let data = cluster.certificate_authority_data.as_deref();
    let pem = data_or_file("certificate authority", data, cluster.certificate_authority.as_deref())?;
    Ok(pem.map_or(Trust::System, Trust::Certificates))
}

fn identity(user: &User) -> Result<Option<Identity>, ConfigError> {
    let certificate = data_or_file(
        "client certificate",
        user.client_certificate_data.as_deref(),
        user.client_certificate.as_deref(),
    )?;
    let key_data = user.client_key_data.as_ref().map(Secret::expose);
    let key = data_or_file("client key", key_data, user.client_key.as_deref())?;
    match (certificate, key) {
        (None, None) => Ok(None),
        (Some(certificate), Some(key)) => {
            let key = String::from_utf8(key).map_err(|_| ConfigError::new("the client key is not PEM"))?;
            Ok(Some(Identity { certificate, key: Secret::new(key) }))
        }
        (Some(_), None) => Err(ConfigError::new("a client certificate without its key")),
        (None, Some(_)) => Err(ConfigError::new("a client key without its certificate")),
    }
}

/// Inline base64 wins over a file; empty means absent.
fn data_or_file(what: &str, data: Option<&str>, file: Option<&Path>) -> Result<Option<Vec<u8>>, ConfigError> {
    if let Some(data) = data.filter(|data| !data.is_empty()) {
        let packed: String = data.split_ascii_whitespace().collect();
        let decoded = base64::engine::general_purpose::STANDARD.decode(packed);
        return decoded
            .map(Some)
            .map_err(|error| ConfigError::new(format!("{what} data is not base64: {error}")));
    }
    match file.filter(|path| !path.as_os_str().is_empty()) {
        None => Ok(None),
        Some(path) => read(path)
            .map(Some)
            .map_err(|error| ConfigError::new(format!("cannot read {what} {}: {error}", path.display()))),
    }
}

fn auth(user: User, cluster: &Cluster, trust: &Trust) -> Result<Auth, ConfigError> {
    if let Some(path) = user.token_file.filter(|path| !path.as_os_str().is_empty()) {
        return Ok(Auth::TokenFile(path));
    }
    if let Some(token) = user.token.filter(|token| !token.is_empty()) {
        return Ok(Auth::Token(token));
    }
    if let Some(name) = user.username.filter(|name| !name.is_empty()) {
        return Ok(Auth::Basic { user: name, password: user.password.unwrap_or_default() });
    }
    if let Some(exec) = user.exec {
        if exec.command.is_empty() {
            return Err(ConfigError::new("the credential plugin has no command"));
        }
        let cluster = exec.provide_cluster_info.then(|| cluster_info(cluster, trust));
        return Ok(Auth::Plugin { exec: Box::new(exec), cluster });
    }
    match user.auth_provider {
        Some(provider) => Err(ConfigError::new(format!(
            "the auth provider {:?} is no longer supported by Kubernetes clients",
            provider.name
        ))
        .with_hint("use a credential plugin (exec) in the kubeconfig")),
        None => Ok(Auth::None),
    }
}

/// The cluster as a plugin with `provideClusterInfo` is told about it.
fn cluster_info(cluster: &Cluster, trust: &Trust) -> serde_json::Value {
    let authority = match trust {
        Trust::Certificates(pem) => Some(base64::engine::general_purpose::STANDARD.encode(pem)),
        Trust::System | Trust::Anything => None,
    };
    let extension = cluster.extensions.iter().flatten().find(|extension| extension.name == EXEC_EXTENSION);
    let mut info = serde_json::Map::new();
    let mut set = |name: &str, value: Option<serde_json::Value>| {
        if let Some(value) = value {
            info.insert(name.to_owned(), value);
        }
    };
    set("server", cluster.server.clone().map(Into::into));
    set("tls-server-name", cluster.tls_server_name.clone().map(Into::into));
    set("insecure-skip-tls-verify", cluster.insecure_skip_tls_verify.map(Into::into));
    set("certificate-authority-data", authority.map(Into::into));
    set("proxy-url", cluster.proxy_url.clone().map(Into::into));
    set("config", extension.map(|extension| extension.extension.clone()));
    info.into()
}

fn headers(user: &User, agent: &str) -> Result<HeaderMap, ConfigError> {
    let own = format!(
        "kubesettle/{} ({}/{})",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    let mut headers = HeaderMap::new();
    let mut add = |name: HeaderName, value: &str| {
        let bad = |_| ConfigError::new(format!("{name} cannot be {value:?}"));
        let value = HeaderValue::from_str(value).map_err(bad)?;
        headers.append(name, value);
        Ok(())
    };
    add(USER_AGENT, if agent.is_empty() { &own } else { agent })?;
    let groups = user.as_groups.as_deref().unwrap_or_default();
    let extra = user.as_user_extra.as_ref();
    match user.as_user.as_deref().filter(|name| !name.is_empty()) {
        Some(name) => add(HeaderName::from_static("impersonate-user"), name)?,
        None if user.as_uid.is_some()
            || !groups.is_empty()
            || extra.is_some_and(|extra| !extra.is_empty()) =>
        {
            return Err(ConfigError::new("a group, uid or extra to act as needs a user to act as")
                .with_hint("add --as USER"));
        }
        None => return Ok(headers),
    }
    if let Some(uid) = &user.as_uid {
        add(HeaderName::from_static("impersonate-uid"), uid)?;
    }
    for group in groups {
        add(HeaderName::from_static("impersonate-group"), group)?;
    }
    for (key, values) in extra.into_iter().flatten() {
        let name = format!("impersonate-extra-{}", super::super::url::encoded_segment(&key.to_lowercase()));
        let bad = |_| ConfigError::new(format!("as-user-extra key {key:?} is no header name"));
        let name: HeaderName = name.parse().map_err(bad)?;
        for value in values {
            add(name.clone(), value)?;
        }
    }
    Ok(headers)
}

fn nothing(files: &Kubeconfig, options: &ConfigOptions) -> ConfigError {
    let environment = &options.environment;
    if !files.is_empty() {
        let place = shown_list(&files.files, environment);
        let names: Vec<&str> = files.contexts.iter().map(|context| context.name.as_str()).collect();
        return ConfigError::new(format!("no current context in {place}; contexts: {}", names.join(", ")))
            .with_hint("choose one with --context, or with kubectl config use-context");
    }
    let looked: Vec<PathBuf> = files.files.iter().chain(&files.missing).cloned().collect();
    let message = match (files.files.is_empty(), looked.is_empty()) {
        (_, true) => "no kubeconfig: neither KUBECONFIG nor HOME is set".to_owned(),
        (true, false) => format!("no kubeconfig: {} does not exist", shown_list(&looked, environment)),
        (false, false) => format!("nothing in {}", shown_list(&files.files, environment)),
    };
    ConfigError::new(format!("{message}, and this is not a pod"))
        .with_hint("set KUBECONFIG, or pass --kubeconfig FILE")
}

/// Paths as people write them.
fn shown_list(paths: &[PathBuf], environment: &Environment) -> String {
    let home = environment.home();
    let shown = |path: &PathBuf| match home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    };
    paths.iter().map(shown).collect::<Vec<_>>().join(", ")
}
