use std::path::PathBuf;
use std::time::Duration;

use super::resolve::load_with_account;
use super::*;
use crate::cluster::testing::Folder;

/// Two contexts, the first one current.
const DEV: &str = r#"
apiVersion: v1
kind: Config
current-context: dev
preferences: {}
contexts:
- name: dev
  context: {cluster: dev, user: dev, namespace: shop}
- name: test
  context: {cluster: test, user: missing}
clusters:
- name: dev
  cluster: {server: "https://dev.example.com:6443/", certificate-authority: ca.pem, tls-server-name: inner}
- name: test
  cluster: {server: "https://test.example.com", insecure-skip-tls-verify: true}
users:
- name: dev
  user: {token: canary, tokenFile: "", as-groups: null}
"#;

struct Case {
    folder: Folder,
    options: ConfigOptions,
}

impl Case {
    fn new(name: &str) -> Self {
        Self { folder: Folder::new(&format!("config-{name}")), options: ConfigOptions::default() }
    }

    /// Writes a file and makes `KUBECONFIG` the list of these names.
    fn with(mut self, files: &[(&str, &str)], list: &[&str]) -> Self {
        for (name, text) in files {
            self.folder.write(name, text);
        }
        let list = std::env::join_paths(list.iter().map(|name| self.folder.path().join(name))).unwrap();
        self.options.environment = Environment::from([("KUBECONFIG".into(), list)]);
        self
    }

    fn load(&self) -> Result<Config, ConfigError> {
        load_with_account(&self.options, &self.folder.path().join("account"))
    }

    fn shown(&self, text: &str) -> String {
        text.replace(&self.folder.path().display().to_string(), "DIR")
    }

    fn error(&self) -> String {
        self.shown(&self.load().unwrap_err().to_string())
    }
}

#[test]
fn the_current_context_decides() {
    let case = Case::new("current").with(&[("config", DEV), ("ca.pem", "PEM")], &["config"]);
    let config = case.load().unwrap();
    assert_eq!(config.server(), "https://dev.example.com:6443");
    assert_eq!(config.default_namespace(), "shop");
    assert_eq!(config.tls_server_name.as_deref(), Some("inner"));
    assert_eq!(config.trust, Trust::Certificates(b"PEM".to_vec()), "relative to the file");
    assert!(matches!(&config.auth, Auth::Token(token) if token.expose() == "canary"));
    assert_eq!(case.shown(config.origin()), r#"context "dev" of DIR/config"#);
    assert!(!format!("{config:?}").contains("canary"), "secrets stay out of debug output");
    let agent = config.headers.get("user-agent").unwrap().to_str().unwrap();
    assert!(agent.starts_with("kubesettle/"), "{agent}");
    assert_eq!(config.answer_timeout, Some(Duration::from_secs(60)));
    assert!(config.compression);
}

#[test]
fn missing_names_are_told_with_what_is_there() {
    let mut case = Case::new("missing").with(&[("config", DEV), ("ca.pem", "")], &["config"]);
    case.options.context = Some("prod".to_owned());
    assert_eq!(case.error(), r#"context "prod" not found in DIR/config; contexts: dev, test"#);
    case.options.context = None;
    case.options.cluster = Some("prod".to_owned());
    assert_eq!(case.error(), r#"cluster "prod" not found in DIR/config; clusters: dev, test"#);
    case.options.cluster = None;
    case.options.user = Some("root".to_owned());
    assert_eq!(case.error(), r#"user "root" not found in DIR/config; users: dev"#);
    case.options.user = None;
    case.options.context = Some("test".to_owned());
    assert!(matches!(case.load().unwrap().auth, Auth::None), "a context's user may be missing");
}

#[test]
fn the_home_folder_is_shown_as_people_write_it() {
    let mut case = Case::new("home");
    case.folder.write(".kube/config", DEV);
    case.options.environment =
        Environment::from([("HOME".into(), case.folder.path().as_os_str().to_owned())]);
    case.options.context = Some("prod".to_owned());
    assert_eq!(case.error(), r#"context "prod" not found in ~/.kube/config; contexts: dev, test"#);
}

#[test]
fn of_several_files_the_first_to_say_something_counts() {
    let first = r#"
clusters: null
contexts:
- name: dev
  context: {cluster: dev, user: dev, namespace: first}
users:
- name: dev
  user: {client-certificate: certs/c.pem, client-key: certs/k.pem}
"#;
    let files = [
        ("a/config", first),
        ("a/certs/c.pem", "CERT"),
        ("a/certs/k.pem", "KEY"),
        ("b/config", DEV),
        ("b/ca.pem", "PEM"),
    ];
    let case = Case::new("merge").with(&files, &["absent", "a/config", "b/config"]);
    let config = case.load().unwrap();
    assert_eq!(config.default_namespace(), "first");
    assert_eq!(config.server(), "https://dev.example.com:6443", "the cluster is in the second");
    let identity = config.identity.unwrap();
    assert_eq!((identity.certificate.as_slice(), identity.key.expose()), (&b"CERT"[..], "KEY"));
    assert!(matches!(config.auth, Auth::None), "users are not mixed");
}

#[test]
fn without_files_there_is_the_pod_and_then_an_error() {
    let case = Case::new("none").with(&[], &["absent"]);
    assert_eq!(case.error(), "no kubeconfig: DIR/absent does not exist, and this is not a pod");

    let mut case = Case::new("pod");
    for (name, text) in [("token", "t"), ("ca.crt", "PEM"), ("namespace", "apps\n")] {
        case.folder.write(&format!("account/{name}"), text);
    }
    let pod = [("KUBERNETES_SERVICE_HOST", "fd00::1"), ("KUBERNETES_SERVICE_PORT", "443")];
    case.options.environment = Environment::from(pod.map(|(name, value)| (name.into(), value.into())));
    let config = case.load().unwrap();
    assert_eq!((config.server(), config.default_namespace()), ("https://[fd00::1]:443", "apps"));
    assert_eq!(config.origin(), "this pod's service account");
    assert!(matches!(&config.auth, Auth::TokenFile(path) if path.ends_with("account/token")));
    assert_eq!(config.trust, Trust::Certificates(b"PEM".to_vec()));
}

#[test]
fn an_explicit_file_must_exist_and_be_readable() {
    let mut case = Case::new("explicit").with(&[("config", DEV)], &["config"]);
    case.options.kubeconfig = Some(case.folder.path().join("other"));
    assert!(case.error().starts_with("cannot read kubeconfig DIR/other: "), "{}", case.error());
    case.folder.write("other", "contexts: [");
    assert!(case.error().starts_with("cannot read kubeconfig DIR/other: "), "{}", case.error());
    case.folder.write("other", &format!("{DEV}---\nsomething: else\n"));
    case.folder.write("ca.pem", "PEM");
    assert_eq!(case.load().unwrap().default_namespace(), "shop", "the first document counts");
    case.folder.write("other", "\n");
    assert_eq!(case.error(), "nothing in DIR/other, and this is not a pod");
    case.folder.write("other", &DEV.replace("current-context: dev", "current-context: ''"));
    assert_eq!(case.error(), "no current context in DIR/other; contexts: dev, test");
}

#[test]
fn flags_win_over_files() {
    let mut case =
        Case::new("flags").with(&[("config", DEV), ("ca.pem", "PEM"), ("mine.pem", "MINE")], &["config"]);
    let folder = case.folder.path().to_owned();
    let options = &mut case.options;
    options.server = Some("https://other.example.com".to_owned());
    options.token = Some("other".to_owned());
    options.namespace = Some("mine".to_owned());
    options.certificate_authority = Some(folder.join("mine.pem"));
    options.as_user = Some("jane".to_owned());
    options.as_groups = vec!["a".to_owned(), "b".to_owned()];
    options.as_uid = Some("7".to_owned());
    options.user_agent = "tool/1".to_owned();
    options.request_timeout = Some(Duration::ZERO);
    options.disable_compression = true;
    options.proxy_url = Some("socks5://proxy".to_owned());
    let config = case.load().unwrap();
    assert_eq!((config.server(), config.default_namespace()), ("https://other.example.com", "mine"));
    assert_eq!(config.tls_server_name, None, "the file's name belongs to the file's server");
    assert_eq!(config.trust, Trust::Certificates(b"MINE".to_vec()));
    assert!(matches!(&config.auth, Auth::Token(token) if token.expose() == "other"));
    assert_eq!(config.answer_timeout, None);
    assert!(!config.compression);
    assert_eq!(config.proxy.unwrap().host(), Some("proxy"));
    let headers = |name: &str| -> Vec<String> {
        config.headers.get_all(name).iter().map(|value| value.to_str().unwrap().to_owned()).collect()
    };
    assert_eq!(headers("impersonate-user"), ["jane"]);
    assert_eq!(headers("impersonate-group"), ["a", "b"]);
    assert_eq!(headers("impersonate-uid"), ["7"]);
    assert_eq!(headers("user-agent"), ["tool/1"]);

    case.options.certificate_authority = None;
    case.options.insecure_skip_tls_verify = true;
    assert_eq!(case.load().unwrap().trust, Trust::Anything);
    case.options.as_user = None;
    assert!(case.error().contains("needs a user to act as"), "{}", case.error());
}

#[test]
fn a_server_alone_is_enough() {
    let mut case = Case::new("server");
    case.options.server = Some("localhost:8080".to_owned());
    let config = case.load().unwrap();
    assert_eq!((config.server(), config.origin()), ("http://localhost:8080", "the command line"));
    case.options.insecure_skip_tls_verify = true;
    assert_eq!(case.load().unwrap().server(), "https://localhost:8080", "TLS flags mean TLS");
    for bad in ["ftp://a", "https://", "https://a b"] {
        case.options.server = Some(bad.to_owned());
        assert!(case.error().contains("server address"), "{bad}: {}", case.error());
    }
}

#[test]
fn inline_data_wins_and_bad_data_is_named() {
    let file = |data: &str| {
        format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
             clusters: [{{name: c, cluster: {{server: 'https://a', certificate-authority: /nowhere, certificate-authority-data: '{data}'}}}}]\n\
             users: [{{name: u, user: {{username: me, password: pw}}}}]\n"
        )
    };
    let case = Case::new("data").with(&[("config", &file("UEVN"))], &["config"]);
    let config = case.load().unwrap();
    assert_eq!(config.trust, Trust::Certificates(b"PEM".to_vec()));
    assert!(matches!(config.auth, Auth::Basic { .. }));
    case.folder.write("config", &file("?"));
    assert!(case.error().starts_with("certificate authority data is not base64"), "{}", case.error());
    case.folder.write("config", &file(""));
    assert!(case.error().starts_with("cannot read certificate authority /nowhere"), "{}", case.error());
}

#[test]
fn plugins_are_found_beside_their_file() {
    let file = |command: &str| {
        format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
             clusters: [{{name: c, cluster: {{server: 'https://a', extensions: [{{name: client.authentication.k8s.io/exec, extension: {{audience: x}}}}]}}}}]\n\
             users: [{{name: u, user: {{exec: {{apiVersion: v, command: '{command}', args: null, provideClusterInfo: true}}}}}}]\n"
        )
    };
    let case = Case::new("plugin").with(&[("config", &file("./bin/login"))], &["config"]);
    let command = |case: &Case| match case.load().unwrap().auth {
        Auth::Plugin { exec, cluster } => {
            let cluster = cluster.unwrap();
            assert_eq!(cluster, serde_json::json!({"server": "https://a", "config": {"audience": "x"}}));
            exec.command
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(PathBuf::from(command(&case)), case.folder.path().join("./bin/login"));
    case.folder.write("config", &file("aws"));
    assert_eq!(command(&case), "aws", "looked up in PATH");
    let mut case = case;
    case.options.token = Some("t".to_owned());
    assert!(matches!(case.load().unwrap().auth, Auth::Token(_)), "--token needs no plugin");
}
