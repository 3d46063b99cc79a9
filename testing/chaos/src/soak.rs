//! One long watch, and run after run, over what a real server does to a client in weeks: watches that
//! end, versions that are compacted away, tokens that rotate, restarts, a backup that is put back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use harness::{Backup, ControlPlane, Part};
use http::Method;
use kubesettle::cluster::{Cluster, Config, ConfigOptions};
use kubesettle::error::ExitClass;
use kubesettle::event::Operation;
use kubesettle::id::{GroupKind, ObjectId};
use kubesettle::watch::{Hub, Presence, SubscribeOptions, Target, Update};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::direct::{BoxError, Direct};
use crate::phase::{Order, SET};
use crate::proxy::Proxy;
use crate::random::Random;
use crate::schedule::Schedule;
use crate::seed::kubeconfig;

/// What is asked for.
#[derive(Debug, Args)]
pub struct Options {
    /// How long
    #[arg(long, default_value_t = 30)]
    minutes: u64,
}

/// Objects that are watched, and changed all the time.
const OBJECTS: u64 = 60;
const HOME: &str = "soak";
/// Every watch ends after a few seconds, in one of these ways.
const ENDINGS: [&str; 5] =
    ["watch ends", "watch ends in mid-line", "watch connection reset", "ERROR event 410", "GOAWAY"];
/// Between two tokens, between two runs.
const ROTATE: Duration = Duration::from_secs(15);

/// What the long watch knows, and what it costs.
#[derive(Debug, Default, Clone)]
struct Seen {
    /// resourceVersions of the present objects, by name.
    versions: BTreeMap<String, String>,
    updates: u64,
    gaps: u64,
    tasks: usize,
}

/// Runs it to its end and says whether all was well.
///
/// # Errors
/// When it could not be carried out.
pub async fn run(options: &Options) -> Result<ExitCode, BoxError> {
    let plane = tokio::task::spawn_blocking(|| {
        ControlPlane::builder()
            .nodes(1)
            .api_flag("--etcd-compaction-interval=5s")
            .api_flag("--min-request-timeout=5")
            .start()
    });
    let plane = Arc::new(plane.await?.map_err(|error| error.to_string())?);
    let mut soak = Soak::prepare(plane.clone()).await?;
    let wrong = soak.go(Duration::from_secs(60 * options.minutes)).await?;
    drop(soak);
    for what in &wrong {
        println!("{what}");
    }
    println!("{} passed, {} failed", usize::from(wrong.is_empty()), usize::from(!wrong.is_empty()));
    tokio::task::spawn_blocking(move || drop(plane)).await?;
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Soak {
    plane: Arc<ControlPlane>,
    direct: Direct,
    proxy: Proxy,
    kubeconfig: PathBuf,
    token: PathBuf,
    random: Random,
    tokens: u64,
    runs: u64,
    restarts: u64,
    backup: Option<Backup>,
    changes: u64,
}

impl Soak {
    async fn prepare(plane: Arc<ControlPlane>) -> Result<Self, BoxError> {
        let (direct, proxy) = (Direct::new(&plane)?, Proxy::start(&plane, false).await?);
        let folder = plane.dir().join("data").join(HOME);
        tokio::fs::create_dir_all(&folder).await?;
        let (token, path) = (folder.join("token"), folder.join("kubeconfig"));
        tokio::fs::write(&path, kubeconfig(&proxy.url(), plane.ca_path(), &token)).await?;
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": HOME } });
        direct.ask(Method::POST, "/api/v1/namespaces", Some(("application/json", &namespace))).await?;
        let random = Random::of(1, "soak");
        let mut soak = Self {
            plane,
            direct,
            proxy,
            kubeconfig: path,
            token,
            random,
            tokens: 0,
            runs: 0,
            restarts: 0,
            backup: None,
            changes: 0,
        };
        soak.rotate().await?;
        for number in 0..OBJECTS {
            soak.write(number).await?;
        }
        Ok(soak)
    }

    async fn go(&mut self, time: Duration) -> Result<Vec<String>, BoxError> {
        let (stop, stopped) = watch::channel(false);
        let (sender, seen) = watch::channel(Seen::default());
        let path = self.kubeconfig.clone();
        let watching = tokio::task::spawn_blocking(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(follow(path, sender, stopped))
        });
        self.proxy.follow(Schedule::steady(1, &ENDINGS, 60));
        let mut wrong = Vec::new();
        let (began, mut rotated, mut settled) = (Instant::now(), Instant::now(), None);
        let mut restart = time / 4;
        while began.elapsed() < time {
            for _ in 0..20 {
                self.churn().await?;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            if rotated.elapsed() >= ROTATE {
                rotated = Instant::now();
                self.rotate().await?;
                wrong.extend(self.apply().await?);
            }
            if began.elapsed() >= restart {
                restart += time / 4;
                self.restart().await?;
                wrong.extend(self.compare(&seen).await?);
            }
            if settled.is_none() && began.elapsed() >= time / 3 {
                settled = Some((memory(), seen.borrow().tasks));
            }
        }
        self.proxy.follow(Schedule::quiet());
        wrong.extend(self.compare(&seen).await?);
        let last = seen.borrow().clone();
        let (memory_before, tasks_before) = settled.unwrap_or_default();
        println!(
            "{} changes, {} runs, {} tokens ({} requests with an old one), {} restarts, {} updates, {} gaps; \
             memory {memory_before} -> {} KiB, tasks {tasks_before} -> {}",
            self.changes,
            self.runs,
            self.tokens,
            self.proxy.turned_away(),
            self.restarts,
            last.updates,
            last.gaps,
            memory(),
            last.tasks
        );
        if last.tasks > tasks_before + 8 {
            wrong.push(format!("tasks grew from {tasks_before} to {}", last.tasks));
        }
        if memory() > memory_before * 3 / 2 + 16 * 1024 {
            wrong.push(format!("memory grew from {memory_before} to {} KiB", memory()));
        }
        stop.send(true)?;
        let left = watching.await??;
        if left > 0 {
            wrong.push(format!("{left} tasks are left after everything was dropped"));
        }
        for _ in 0..60 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        if self.proxy.open() > 0 {
            wrong.push(format!("{} connections are left open", self.proxy.open()));
        }
        Ok(wrong)
    }

    fn path(number: u64) -> String {
        format!("/api/v1/namespaces/{HOME}/configmaps/object-{number}")
    }

    async fn write(&mut self, number: u64) -> Result<(), BoxError> {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": format!("object-{number}") },
            "data": { "turn": self.random.next().to_string() }
        });
        let path = format!("{}?fieldManager=soak&force=true", Self::path(number));
        self.direct.ask(Method::PATCH, &path, Some(("application/apply-patch+yaml", &object))).await?;
        self.changes += 1;
        Ok(())
    }

    async fn churn(&mut self) -> Result<(), BoxError> {
        let number = self.random.between(0, OBJECTS - 1);
        if self.random.chance(15) {
            self.direct.ask(Method::DELETE, &Self::path(number), None).await?;
            self.changes += 1;
            return Ok(());
        }
        self.write(number).await
    }

    /// The old token is worth nothing from the moment the new one is in the file.
    async fn rotate(&mut self) -> Result<(), BoxError> {
        self.tokens += 1;
        let token = format!("soak-{}", self.tokens);
        tokio::fs::write(&self.token, &token).await?;
        self.proxy.accept_only(&token)
    }

    async fn apply(&mut self) -> Result<Option<String>, BoxError> {
        self.runs += 1;
        let objects = (0..5).map(|number| {
            json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": { "name": format!("of-{SET}-{}", (number + self.runs) % 8), "namespace": HOME },
                "data": { "run": self.runs.to_string() }
            })
        });
        let order = Order {
            kubeconfig: self.kubeconfig.clone(),
            home: HOME.to_owned(),
            operation: Operation::Apply,
            objects: objects.collect(),
        };
        let told = order.carry_out().await?;
        let bad = told.class != ExitClass::Ok || told.tasks_left > 0;
        if bad {
            told.lines.iter().for_each(|line| eprintln!("run {}: {line}", self.runs));
        }
        Ok(bad.then(|| {
            format!("run {}: {:?} {}, {} tasks left", self.runs, told.class, told.message, told.tasks_left)
        }))
    }

    /// Every second time etcd's data goes back to what it was after the time before.
    async fn restart(&mut self) -> Result<(), BoxError> {
        self.restarts += 1;
        let (plane, backup) = (self.plane.clone(), self.backup.take());
        let again = move || {
            let away = || std::thread::sleep(Duration::from_secs(3));
            if backup.is_some() {
                plane.restore(backup.as_ref(), away);
                return None;
            }
            plane.kill(Part::ApiServer);
            away();
            plane.start_again(Part::ApiServer);
            Some(plane.back_up())
        };
        self.backup = tokio::task::spawn_blocking(again).await?;
        Ok(())
    }

    /// The long watch comes to know what the server has.
    async fn compare(&self, seen: &watch::Receiver<Seen>) -> Result<Option<String>, BoxError> {
        let list = self.direct.get(&format!("/api/v1/namespaces/{HOME}/configmaps")).await?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let server: BTreeMap<String, String> = list["items"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|object| (text(&object["metadata"]["name"]), text(&object["metadata"]["resourceVersion"])))
            .filter(|(name, _)| name.starts_with("object-"))
            .collect();
        for _ in 0..900 {
            if seen.borrow().versions == server {
                return Ok(None);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let names = |map: &BTreeMap<String, String>| map.keys().cloned().collect::<BTreeSet<_>>();
        let (theirs, ours) = (names(&server), names(&seen.borrow().versions));
        Ok(Some(format!("the watch does not know what the server has: {ours:?} instead of {theirs:?}")))
    }
}

/// Follows all objects until it is told to stop; returns how many tasks are left then.
async fn follow(
    kubeconfig: PathBuf,
    sender: watch::Sender<Seen>,
    mut stop: watch::Receiver<bool>,
) -> Result<usize, BoxError> {
    let metrics = tokio::runtime::Handle::current().metrics();
    {
        let options = ConfigOptions { kubeconfig: Some(kubeconfig), ..ConfigOptions::default() };
        let cluster = Cluster::connect(Config::load(&options)?).await?;
        let hub = Hub::new(&cluster);
        let targets = (0..OBJECTS).map(|number| Target {
            id: ObjectId::new(GroupKind::new("", "ConfigMap"), HOME, &format!("object-{number}")),
            version: Some("v1".into()),
        });
        let mut subscription = hub.subscribe(targets.collect(), SubscribeOptions::default()).await?;
        loop {
            let update = tokio::select! {
                _ = stop.changed() => break,
                update = subscription.next() => update?,
            };
            sender.send_modify(|seen| {
                seen.updates += 1;
                seen.tasks = metrics.num_alive_tasks();
                match update {
                    Update::Changed(changed) => {
                        for (id, state) in changed {
                            match state.presence {
                                Presence::Present(digest) => {
                                    let version = digest.resource_version().to_owned();
                                    seen.versions.insert(id.name().to_owned(), version);
                                }
                                Presence::Absent { .. } => {
                                    seen.versions.remove(id.name());
                                }
                                _ => {}
                            }
                        }
                    }
                    Update::Gap(_) => seen.gaps += 1,
                    Update::Synced => {}
                }
            });
        }
    }
    for _ in 0..60 {
        if metrics.num_alive_tasks() == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(metrics.num_alive_tasks())
}

/// What this process has in memory, in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
