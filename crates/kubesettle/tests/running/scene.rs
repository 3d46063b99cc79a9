//! A sandbox, and runs on it that are told by their events.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use kstatus::Rulebook;
use kubesettle::cluster::Cluster;
use kubesettle::error::ExitClass;
use kubesettle::event::{Body, Conclusion, Event, Operation, Outcome};
use kubesettle::graph::GraphOptions;
use kubesettle::inventory::{self, lease::Holder};
use kubesettle::manifest::{LoadOptions, Manifests, ResolveOptions, Source, UnknownKinds};
use kubesettle::run::{Run, RunOptions, SetOptions, prepare};
use kubesettle::watch::Hub;
use sandbox::Sandbox;

pub(crate) const SET: &str = "shop";

/// Every run is a process of its own.
static NEXT: AtomicU32 = AtomicU32::new(1);

/// What came of a run.
pub(crate) struct Told {
    pub(crate) events: Vec<Event>,
}

impl Told {
    pub(crate) fn class(&self) -> Option<ExitClass> {
        self.events.iter().rev().find_map(|event| match &event.body {
            Body::End { class, .. } => Some(*class),
            _ => None,
        })
    }

    pub(crate) fn message(&self) -> String {
        let end = self.events.iter().rev().find_map(|event| match &event.body {
            Body::End { message, .. } => message.clone(),
            _ => None,
        });
        end.map(String::from).unwrap_or_default()
    }

    /// The outcome of an object's action, by its name.
    pub(crate) fn outcome(&self, name: &str) -> Option<&Outcome> {
        self.events.iter().find_map(|event| match &event.body {
            Body::Finished { id, outcome, .. } if id.name() == name => Some(outcome),
            _ => None,
        })
    }

    pub(crate) fn conclusions(&self) -> HashMap<String, Conclusion> {
        let concluded = self.events.iter().filter_map(|event| match &event.body {
            Body::Concluded { id, conclusion } => Some((id.name().to_owned(), conclusion.clone())),
            _ => None,
        });
        concluded.collect()
    }

    /// Position of the first event that fits.
    pub(crate) fn position(&self, fits: impl Fn(&Body) -> bool) -> Option<usize> {
        self.events.iter().position(|event| fits(&event.body))
    }

    pub(crate) fn finished(&self, name: &str) -> usize {
        self.position(|body| matches!(body, Body::Finished { id, .. } if id.name() == name)).unwrap()
    }

    pub(crate) fn concluded(&self, name: &str) -> usize {
        self.position(|body| matches!(body, Body::Concluded { id, .. } if id.name() == name)).unwrap()
    }
}

/// A program that is started anew for every run, as the command line is.
pub(crate) struct Scene {
    pub(crate) sandbox: Sandbox,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self { sandbox: Sandbox::builder().nodes(2, 64_000).build() }
    }

    async fn cluster(&self) -> Option<Cluster> {
        let cluster = Cluster::from_service(self.sandbox.service(), "default");
        cluster.refresh_discovery().await.ok()?;
        Some(cluster)
    }

    pub(crate) fn options() -> RunOptions {
        let mut options = RunOptions::new("kubesettle");
        options.timeout = Some(Duration::from_secs(120));
        options.retry_budget = Duration::from_secs(5);
        options
    }

    pub(crate) fn tracked() -> RunOptions {
        let mut options = Self::options();
        options.set = Some(SetOptions {
            wanted: inventory::Wanted::named("default", SET).unwrap(),
            statuses: false,
            lock_timeout: Duration::from_secs(60),
            holder: Holder::new("test", "host", NEXT.fetch_add(1, Ordering::Relaxed), "run"),
        });
        options
    }

    /// Starts a run; `None` when the cluster is not reached.
    pub(crate) async fn start(&self, operation: Operation, text: &str, options: RunOptions) -> Option<Run> {
        let cluster = self.cluster().await?;
        let source = Source::Bytes { name: "test.yaml".into(), data: Bytes::from(text.to_owned()) };
        let mut load = LoadOptions::default();
        load.allow_empty = true;
        let manifests = Manifests::load(&[source], &load).unwrap();
        let mut resolve = ResolveOptions::default();
        resolve.default_namespace = Some("default".into());
        resolve.unknown_kinds = UnknownKinds::Wait;
        let wanted = prepare(&cluster, manifests, &resolve, &GraphOptions::default()).unwrap();
        let rules = Rulebook::default().with_rules(wanted.rules().iter().cloned());
        Some(Run::start(&cluster, &Hub::with_rules(&cluster, rules), operation, wanted, options))
    }

    /// Runs to the end.
    pub(crate) async fn run(&self, operation: Operation, text: &str, options: RunOptions) -> Told {
        let mut run = self.start(operation, text, options).await.unwrap();
        let mut events = Vec::new();
        while let Some(event) = run.next().await {
            events.push(event);
        }
        Told { events }
    }

    /// Runs to the end, and acts once when the first verdict on `name` is told.
    pub(crate) async fn meanwhile(
        &self,
        operation: Operation,
        text: &str,
        options: RunOptions,
        name: &str,
        act: impl FnOnce(&Sandbox),
    ) -> Told {
        let mut run = self.start(operation, text, options).await.unwrap();
        let (mut events, mut act) = (Vec::new(), Some(act));
        while let Some(event) = run.next().await {
            if matches!(&event.body, Body::Verdict { id, .. } if id.name() == name)
                && let Some(act) = act.take()
            {
                act(&self.sandbox);
            }
            events.push(event);
        }
        Told { events }
    }

    pub(crate) async fn apply(&self, text: &str) -> Told {
        self.run(Operation::Apply, text, Self::tracked()).await
    }

    pub(crate) async fn destroy(&self) -> Told {
        self.run(Operation::Destroy, "", Self::tracked()).await
    }

    /// Names of the ConfigMaps in the record.
    pub(crate) fn recorded(&self) -> BTreeSet<String> {
        let record = self.sandbox.get("configmaps", "default", SET);
        let data = record.and_then(|record| record["data"].as_object().cloned()).unwrap_or_default();
        data.keys().filter_map(|key| Some(key.split('_').nth(1)?.to_owned())).collect()
    }

    /// Names of the live ConfigMaps that carry our mark.
    pub(crate) fn marked(&self) -> BTreeSet<String> {
        let all = self.sandbox.list("configmaps", "default").into_iter();
        let ours = all.filter(|object| {
            object["metadata"]["annotations"]["config.k8s.io/owning-inventory"].as_str().is_some()
        });
        ours.filter_map(|object| Some(object["metadata"]["name"].as_str()?.to_owned())).collect()
    }

    /// No object of ours is ever outside of the record.
    pub(crate) fn assert_nothing_lost(&self, when: &str) {
        let (marked, recorded) = (self.marked(), self.recorded());
        assert!(marked.is_subset(&recorded), "{when}: {marked:?} live and marked, {recorded:?} recorded");
    }
}

pub(crate) fn config_maps(names: &[(&str, &str)]) -> String {
    names
        .iter()
        .map(|(name, value)| {
            format!(
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: default}}\ndata: {{key: \"{value}\"}}\n"
            )
        })
        .collect()
}
