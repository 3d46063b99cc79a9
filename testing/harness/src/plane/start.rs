//! Starting a control plane, step by step.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::parts::{Part, Parts, Recipe};
use super::{Builder, ControlPlane, Dir, flags, keep_logs_on_panic, nodes};
use crate::audit::{self, AuditLog};
use crate::binaries::{self, Binary};
use crate::credentials::{self, Credentials};
use crate::error::{Context, Error};
use crate::pki::Pki;
use crate::ports::Port;
use crate::{Api, guard, wait};

/// Generous: the machine may be busy with other things.
const READY_LIMIT: Duration = Duration::from_secs(120);

pub(super) fn start(options: &Builder) -> Result<ControlPlane, Error> {
    // Found first: a build that is needed takes minutes, and nothing should run meanwhile.
    let programs = options
        .parts()
        .map(|part| Ok((part, binaries::path(part.binary())?)))
        .collect::<Result<Vec<_>, Error>>()?;
    let kubectl = binaries::path(Binary::Kubectl)?;

    let (plane, ports) = prepare(kubectl)?;
    for (part, program) in programs {
        plane.launch(part, program, ports, options)?;
        match part {
            Part::ApiServer => {
                plane.await_ready("the API server to be ready", |plane| plane.is_ready())?;
                nodes::create(&plane.api, options.nodes)?;
            }
            Part::Etcd | Part::ControllerManager | Part::Scheduler | Part::Kwok => {}
        }
    }
    if options.controllers {
        plane.await_ready("the default service account", |plane| plane.has_default_account("default"))?;
    }
    plane.await_ready("all nodes to be ready", |plane| nodes::all_ready(&plane.api, options.nodes))?;
    Ok(plane)
}

/// A control plane with its files and ports, and nothing running.
fn prepare(kubectl: PathBuf) -> Result<(ControlPlane, flags::Ports), Error> {
    let dir = make_dir()?;
    keep_logs_on_panic(&dir);
    let reserved = [Port::reserve()?, Port::reserve()?, Port::reserve()?];
    let [etcd, etcd_peer, api] = reserved.each_ref().map(Port::number);
    let pki = Pki::create(&dir.path.join("pki"))?;
    let credentials = Credentials::random()?;
    credentials.write_tokens(&dir.path.join("tokens.csv"))?;
    audit::write_policy(&dir.path.join("audit-policy.yaml"))?;
    let url = format!("https://127.0.0.1:{api}");
    let kubeconfig = dir.path.join("kubeconfig.yaml");
    let plane = ControlPlane {
        parts: Parts::new(),
        api: Api::new(&url, &pki.ca_pem, credentials.token(credentials::HARNESS))?,
        audit: AuditLog::new(dir.data().join("audit.log")),
        admin: credentials.write_kubeconfig(kubeconfig, &url, &pki.ca, credentials::ADMIN, "default")?,
        kubectl,
        users: AtomicUsize::new(0),
        kubeconfigs: AtomicUsize::new(0),
        url,
        pki,
        credentials,
        ports: reserved,
        dir,
    };
    Ok((plane, flags::Ports { etcd, etcd_peer, api }))
}

fn make_dir() -> Result<Dir, Error> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let base = std::env::temp_dir();
    let path = base.join(format!("kubesettle-{}-{number}", std::process::id()));
    // The place of an earlier process with this id, whose logs were kept.
    let _ = fs::remove_dir_all(&path);
    guard::directory(&path);
    let made = fs::DirBuilder::new().mode(0o700).create(&path);
    made.context(|| format!("cannot make {}", path.display()))?;
    let dir = Dir { path };
    for part in [dir.logs(), dir.data(), dir.path.join("home")] {
        fs::create_dir_all(&part).context(|| format!("cannot make {}", part.display()))?;
    }
    Ok(dir)
}

impl Builder {
    fn parts(&self) -> impl Iterator<Item = Part> {
        Part::ALL.into_iter().filter(|part| match part {
            Part::Etcd | Part::ApiServer => true,
            Part::ControllerManager | Part::Scheduler => self.controllers,
            Part::Kwok => self.kwok,
        })
    }
}

impl Part {
    fn binary(self) -> Binary {
        match self {
            Self::Etcd => Binary::Etcd,
            Self::ApiServer => Binary::KubeApiserver,
            Self::ControllerManager => Binary::KubeControllerManager,
            Self::Scheduler => Binary::KubeScheduler,
            Self::Kwok => Binary::Kwok,
        }
    }
}

impl ControlPlane {
    fn launch(
        &self,
        part: Part,
        program: PathBuf,
        ports: flags::Ports,
        options: &Builder,
    ) -> Result<(), Error> {
        let kubeconfig = |user: &str| {
            let path = self.dir.path.join(format!("{}.kubeconfig", part.name()));
            self.credentials.write_kubeconfig(path, &self.url, &self.pki.ca, user, "default")
        };
        let args = match part {
            Part::Etcd => flags::etcd(&self.dir, ports),
            Part::ApiServer => flags::apiserver(&self.dir, ports, &self.pki, &options.api_flags),
            Part::ControllerManager => {
                flags::controller_manager(&kubeconfig(credentials::CONTROLLER_MANAGER)?, &self.pki)
            }
            Part::Scheduler => flags::scheduler(&kubeconfig(credentials::SCHEDULER)?),
            Part::Kwok => flags::kwok(&kubeconfig(credentials::KWOK)?, &options.stages),
        };
        let log = self.dir.logs().join(format!("{}.log", part.name()));
        self.parts.start(Recipe { part, program, args, home: self.dir.path.join("home"), log })
    }

    /// Waits, and gives up at once when a part has ended.
    fn await_ready(&self, what: &str, ready: impl Fn(&Self) -> bool) -> Result<(), Error> {
        let state = wait::poll(READY_LIMIT, || match self.parts.check() {
            Err(error) => Some(Err(error)),
            Ok(()) => ready(self).then_some(Ok(())),
        });
        let logs = self.dir.logs();
        let result =
            state.unwrap_or_else(|| Err(Error::new(format!("waited {READY_LIMIT:?} in vain for {what}"))));
        result.map_err(|error| {
            // The directory goes with this value; a person needs the logs.
            super::FAILED.store(true, Ordering::Relaxed);
            guard::keep(&self.dir.path);
            error.next(format!("read the logs in {}", logs.display()))
        })
    }

    /// Whether pods may be made in a namespace: admission refuses them before its account exists.
    pub(crate) fn has_default_account(&self, namespace: &str) -> bool {
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/default");
        self.api.get(&path).is_ok_and(|reply| reply.status == 200)
    }
}
