//! One run of the library through the proxy, as a program of its own: its own runtime, connections and
//! credentials.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use kubesettle::cluster::{Cluster, Config, ConfigOptions, ConnectError};
use kubesettle::error::ExitClass;
use kubesettle::event::{Action, Body, Conclusion, Event, Operation, Outcome};
use kubesettle::graph::GraphOptions;
use kubesettle::id::ObjectId;
use kubesettle::inventory::{self, lease::Holder};
use kubesettle::manifest::{LoadOptions, Manifests, ResolveOptions, Source, UnknownKinds};
use kubesettle::run::{Run, RunOptions, SetOptions, prepare};
use kubesettle::watch::Hub;
use serde_json::Value;

use crate::direct::BoxError;

/// The name of every set.
pub(crate) const SET: &str = "chaos";

/// The phases of a seed, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Apply,
    Change,
    Destroy,
}

impl Step {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Change => "change",
            Self::Destroy => "destroy",
        }
    }
}

/// What a run is to do.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) kubeconfig: PathBuf,
    pub(crate) home: String,
    pub(crate) operation: Operation,
    pub(crate) objects: Vec<Value>,
}

/// What a run said in the end of one object.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) action: Option<Action>,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) finished: u32,
    pub(crate) conclusion: Option<Conclusion>,
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) class: ExitClass,
    pub(crate) message: String,
    /// By the key that the inventory would have.
    pub(crate) objects: BTreeMap<String, Said>,
    pub(crate) lines: Vec<String>,
    /// Tasks that were left a while after everything was dropped.
    pub(crate) tasks_left: usize,
    pub(crate) time: Duration,
}

/// Every run is a process of its own.
static NEXT: AtomicU32 = AtomicU32::new(1);

/// Longer than any run with its own limit may take.
const HANGS: Duration = Duration::from_secs(240);
const LIMIT: Duration = Duration::from_secs(120);
/// How often the first contact is tried.
const TRIES: u32 = 20;

impl Order {
    /// Runs to the end on a thread of its own.
    pub(crate) async fn carry_out(self) -> Result<Told, BoxError> {
        let thread = tokio::task::spawn_blocking(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(self.watched())
        });
        thread.await?
    }

    async fn watched(self) -> Result<Told, BoxError> {
        let began = tokio::time::Instant::now();
        let told = tokio::time::timeout(HANGS, self.run()).await;
        let mut told = told.map_err(|_| format!("the run hangs: no end within {HANGS:?}"))??;
        told.time = began.elapsed();
        let metrics = tokio::runtime::Handle::current().metrics();
        for _ in 0..60 {
            told.tasks_left = metrics.num_alive_tasks();
            if told.tasks_left == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(told)
    }

    async fn run(self) -> Result<Told, BoxError> {
        let options = ConfigOptions {
            kubeconfig: Some(self.kubeconfig.clone()),
            // HTTP/1.1 has no pings: only this finds a black hole.
            request_timeout: Some(Duration::from_secs(20)),
            ..ConfigOptions::default()
        };
        let config = Config::load(&options)?;
        let cluster = match connect(&config).await {
            Ok(cluster) => cluster,
            Err(error) => return Ok(Told::no_contact(&error.to_string())),
        };
        let mut list = Value::from_iter([("apiVersion", "v1"), ("kind", "List")]);
        list["items"] = self.objects.clone().into();
        let source = Source::Bytes { name: "set.json".into(), data: Bytes::from(list.to_string()) };
        let mut load = LoadOptions::default();
        load.allow_empty = true;
        let manifests = Manifests::load(&[source], &load)?;
        let mut resolve = ResolveOptions::default();
        resolve.default_namespace = Some(self.home.as_str().into());
        resolve.unknown_kinds = UnknownKinds::Wait;
        let wanted = prepare(&cluster, manifests, &resolve, &GraphOptions::default())?;
        let hub = Hub::new(&cluster);
        let mut run = Run::start(&cluster, &hub, self.operation, wanted, self.options()?);
        let mut events = Vec::new();
        while let Some(event) = run.next().await {
            events.push(event);
        }
        Ok(Told::of(&events))
    }

    fn options(&self) -> Result<RunOptions, BoxError> {
        let mut options = RunOptions::new("kubesettle");
        options.apply.force = true;
        options.timeout = Some(LIMIT);
        options.tracking.allow_empty = true;
        options.set = Some(SetOptions {
            wanted: inventory::Wanted::named(&self.home, SET)?,
            statuses: false,
            lock_timeout: Duration::from_secs(60),
            holder: Holder::new("chaos", "here", NEXT.fetch_add(1, Ordering::Relaxed), "run"),
        });
        Ok(options)
    }
}

/// A person tries again when the first contact fails.
async fn connect(config: &Config) -> Result<Cluster, ConnectError> {
    let mut tries = 1;
    loop {
        match Cluster::connect(config.clone()).await {
            Err(error) if tries == TRIES => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(300)).await,
            connected => return connected,
        }
        tries += 1;
    }
}

impl Told {
    fn no_contact(message: &str) -> Self {
        Self {
            class: ExitClass::Unreachable,
            message: message.to_owned(),
            objects: BTreeMap::new(),
            lines: Vec::new(),
            tasks_left: 0,
            time: Duration::ZERO,
        }
    }

    fn of(events: &[Event]) -> Self {
        let mut told = Self::no_contact("the events ended without an end");
        told.class = ExitClass::Internal;
        for event in events {
            told.lines.push(format!("{:8.3} {:?}", event.elapsed.as_secs_f64(), event.body));
            match &event.body {
                Body::Finished { id, action, outcome } => {
                    let said = told.object(id);
                    said.action = Some(*action);
                    said.outcome = Some(outcome.clone());
                    said.finished += 1;
                }
                Body::Concluded { id, conclusion } => told.object(id).conclusion = Some(conclusion.clone()),
                Body::End { class, message } => {
                    told.class = *class;
                    told.message = message.as_deref().unwrap_or_default().to_owned();
                }
                _ => {}
            }
        }
        told
    }

    fn object(&mut self, id: &ObjectId) -> &mut Said {
        self.objects.entry(id.inventory_key()).or_insert(Said {
            action: None,
            outcome: None,
            finished: 0,
            conclusion: None,
        })
    }
}
