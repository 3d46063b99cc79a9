//! Who may talk to the API server: the static token file, and kubeconfigs for its users.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Context, Error};

/// Users without any right of their own, handed out one by one by [`crate::ControlPlane::user`].
pub(crate) const LIMITED_USERS: usize = 1000;

/// The person's or test's user with every right.
pub(crate) const ADMIN: &str = "admin";
/// The user of the harness itself; its requests are not counted.
pub(crate) const HARNESS: &str = "harness";
pub(crate) const CONTROLLER_MANAGER: &str = "system:kube-controller-manager";
pub(crate) const SCHEDULER: &str = "system:kube-scheduler";
pub(crate) const KWOK: &str = "kwok";

const MASTERS: [&str; 5] = [ADMIN, HARNESS, CONTROLLER_MANAGER, SCHEDULER, KWOK];

/// The name of a limited user.
pub(crate) fn limited(number: usize) -> String {
    format!("user-{number:02}")
}

/// The secrets of one control plane. Other people on the machine can reach its port.
#[derive(Debug)]
pub(crate) struct Credentials {
    secret: String,
}

impl Credentials {
    pub(crate) fn random() -> Result<Self, Error> {
        let mut bytes = [0; 16];
        File::open("/dev/urandom")
            .and_then(|mut source| source.read_exact(&mut bytes))
            .context(|| "cannot read /dev/urandom".to_owned())?;
        Ok(Self { secret: bytes.iter().map(|byte| format!("{byte:02x}")).collect() })
    }

    /// The bearer token of a user.
    pub(crate) fn token(&self, user: &str) -> String {
        format!("{}-{}", user.replace(':', "-"), self.secret)
    }

    /// Writes the file for `--token-auth-file`.
    pub(crate) fn write_tokens(&self, path: &Path) -> Result<(), Error> {
        let mut lines = String::new();
        for user in MASTERS {
            let _ = writeln!(lines, "{},{user},{user},\"system:masters\"", self.token(user));
        }
        for user in (0..LIMITED_USERS).map(limited) {
            let _ = writeln!(lines, "{},{user},{user}", self.token(&user));
        }
        fs::write(path, lines).context(|| format!("cannot write {}", path.display()))
    }

    /// Writes a kubeconfig with one context, and returns its path.
    pub(crate) fn write_kubeconfig(
        &self,
        path: PathBuf,
        server: &str,
        ca: &Path,
        user: &str,
        namespace: &str,
    ) -> Result<PathBuf, Error> {
        let text = format!(
            "\
apiVersion: v1
kind: Config
current-context: test
clusters:
- name: test
  cluster:
    server: {server}
    certificate-authority: {ca:?}
users:
- name: {user:?}
  user:
    token: {token}
contexts:
- name: test
  context:
    cluster: test
    user: {user:?}
    namespace: {namespace}
",
            token = self.token(user),
        );
        fs::write(&path, text).context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}
