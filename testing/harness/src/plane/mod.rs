//! One control plane: what a test holds in its hands.

mod builder;
mod data;
mod flags;
mod nodes;
mod parts;
mod start;

use std::ffi::OsStr;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

pub use builder::Builder;
pub use data::Backup;
pub use parts::Part;

use crate::audit::{AuditLog, Mark, Requests};
use crate::credentials::{ADMIN, Credentials};
use crate::namespace::Namespace;
use crate::pki::Pki;
use crate::ports::Port;
use crate::user::UserBuilder;
use crate::{Api, Finished, TcpProxy, guard, run};

/// A running control plane of this process.
///
/// Dropping it ends all its processes and removes its directory; after a panic the logs stay and
/// their place is printed.
#[derive(Debug)]
pub struct ControlPlane {
    // Fields are dropped in this order: the processes end before their directory goes.
    parts: parts::Parts,
    pub(crate) api: Api,
    audit: AuditLog,
    admin: PathBuf,
    kubectl: PathBuf,
    pub(crate) users: AtomicUsize,
    kubeconfigs: AtomicUsize,
    pub(crate) url: String,
    pki: Pki,
    pub(crate) credentials: Credentials,
    /// Of etcd's clients, of etcd's peers, of the API server.
    ports: [Port; 3],
    dir: Dir,
}

impl ControlPlane {
    /// A control plane with options.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The address of the API server, `https://127.0.0.1:PORT`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The same for a forwarder of a test's own. Its certificate names 127.0.0.1 and localhost.
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.ports[2].number()).into()
    }

    /// A kubeconfig of a user with every right (named `admin` in the audit log).
    pub fn admin_kubeconfig(&self) -> &Path {
        &self.admin
    }

    /// The same user through a counting proxy.
    pub fn admin_kubeconfig_via(&self, proxy: &TcpProxy) -> PathBuf {
        self.write_kubeconfig(ADMIN, &proxy.url(), "default")
    }

    /// The CA certificate that signs the API server's.
    pub fn ca_path(&self) -> &Path {
        &self.pki.ca
    }

    /// Certificate and key of the API server, for a proxy in front of it that ends TLS itself.
    pub fn serving_identity(&self) -> (&Path, &Path) {
        (&self.pki.serving_cert, &self.pki.serving_key)
    }

    /// The bearer token of a user with every right (named `admin` in the audit log).
    pub fn admin_token(&self) -> String {
        self.credentials.token(ADMIN)
    }

    /// The kubectl binary that belongs to this control plane.
    pub fn kubectl_path(&self) -> &Path {
        &self.kubectl
    }

    /// A client of the harness for single requests, which are not counted.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// The directory of this control plane; whatever a test puts there goes with it.
    pub fn dir(&self) -> &Path {
        &self.dir.path
    }

    /// A command with the admin's kubeconfig in its environment and nothing of the person's own.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env("KUBECONFIG", &self.admin)
            .env("HOME", self.dir.path.join("home"))
            .env("KUBECACHEDIR", self.dir.path.join("home/kubecache"))
            .env("TZ", "UTC");
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs kubectl as admin, for two minutes at most.
    pub fn kubectl<A: AsRef<OsStr>>(&self, args: &[A]) -> Finished {
        let mut command = self.command(&self.kubectl);
        command.args(args);
        run(command, Duration::from_secs(120))
    }

    /// Runs `kubectl apply -f -` on a manifest.
    ///
    /// # Panics
    ///
    /// When kubectl refuses it.
    #[track_caller]
    pub fn apply(&self, manifest: &str) {
        let mut command = self.command(&self.kubectl);
        command.args(["apply", "--server-side", "--force-conflicts", "-f", "-"]);
        crate::spawn(command, manifest.as_bytes()).finish(Duration::from_secs(120)).success();
    }

    /// A new namespace for one test, named `PREFIX-…`; deleted, without waiting, when it is dropped.
    ///
    /// # Panics
    ///
    /// When it cannot be made.
    #[track_caller]
    pub fn namespace(&self, prefix: &str) -> Namespace<'_> {
        Namespace::create(self, prefix)
    }

    /// A new user without rights, to which [`UserBuilder::can`] adds some.
    pub fn user(&self, label: &str) -> UserBuilder<'_> {
        UserBuilder::new(self, label)
    }

    /// The requests that reached the API server so far, from every user but the control plane's own
    /// parts and the harness. Complete for requests whose answer was received before this call.
    pub fn requests(&self) -> Requests {
        self.audit.read(&self.api)
    }

    /// A point in time for [`Requests::since`].
    pub fn mark(&self) -> Mark {
        self.requests().end()
    }

    /// A new proxy in front of the API server that counts connections and bytes.
    ///
    /// # Panics
    ///
    /// When no port is free.
    pub fn proxy(&self) -> TcpProxy {
        TcpProxy::start(self.address()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A kubeconfig for any user at any address.
    pub(crate) fn write_kubeconfig(&self, user: &str, server: &str, namespace: &str) -> PathBuf {
        let number = self.kubeconfigs.fetch_add(1, Ordering::Relaxed);
        let path = self.dir.path.join(format!("kubeconfig-{user}-{number}.yaml"));
        self.credentials
            .write_kubeconfig(path, server, &self.pki.ca, user, namespace)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

/// The directory of one control plane.
#[derive(Debug)]
pub(crate) struct Dir {
    pub(crate) path: PathBuf,
}

impl Dir {
    pub(crate) fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// What is of no use to a reader of logs.
    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }
}

/// Set by the panic hook: some test of this process has failed.
static FAILED: AtomicBool = AtomicBool::new(false);

impl Drop for Dir {
    fn drop(&mut self) {
        if FAILED.load(Ordering::Relaxed) || std::env::var_os("KUBESETTLE_KEEP_LOGS").is_some() {
            let _ = fs::remove_dir_all(self.data());
        } else {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Tells where the logs are when a test fails, and keeps them.
fn keep_logs_on_panic(dir: &Dir) {
    if std::env::var_os("KUBESETTLE_KEEP_LOGS").is_some() {
        guard::keep(&dir.path);
    }
    let (path, logs) = (dir.path.clone(), dir.logs());
    let told = AtomicBool::new(false);
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        previous(info);
        FAILED.store(true, Ordering::Relaxed);
        if logs.is_dir() && !told.swap(true, Ordering::Relaxed) {
            guard::keep(&path);
            eprintln!("note: the logs of the control plane are kept in {}", logs.display());
        }
    }));
}
