//! Two runs in one program: each loads its manifests, plans, applies and waits; both watch through one
//! hub, so what both have in common is watched once.
//!
//! ```text
//! cargo run -p kubesettle --example embed
//! ```
//!
//! It runs against an API server in memory. For a real one, take this cluster instead:
//! `Cluster::connect(Config::load(&ConfigOptions::default())?).await?`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use kubesettle::cluster::Cluster;
use kubesettle::event::{Body, Event, Operation};
use kubesettle::graph::GraphOptions;
use kubesettle::manifest::{LoadOptions, Manifests, ResolveOptions, Source};
use kubesettle::run::{Run, RunOptions, prepare};
use kubesettle::watch::Hub;
use sandbox::Sandbox;

const FRONT: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: front, namespace: default}
data: {colour: green}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: front
  namespace: default
  annotations: {config.kubernetes.io/depends-on: /namespaces/default/ConfigMap/front}
spec:
  replicas: 2
  selector: {matchLabels: {app: front}}
  template:
    metadata: {labels: {app: front}}
    spec: {containers: [{name: app, image: front:1}]}
";

/// The same as another team has it.
fn back() -> String {
    FRONT.replace("front", "back")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let sandbox = Sandbox::builder().nodes(2, 64_000).build();
    let cluster = Cluster::from_service(sandbox.service(), "default");
    cluster.refresh_discovery().await?;
    two_runs(&cluster, &mut |name, event| {
        if let Some(line) = line(event) {
            println!("{:>7.3}s  {name:<6} {line}", event.elapsed.as_secs_f64());
        }
    })
    .await
}

/// Applies both sets at the same time and hands every event to `tell`.
pub(crate) async fn two_runs(
    cluster: &Cluster,
    tell: &mut dyn FnMut(&str, &Event),
) -> Result<(), Box<dyn Error>> {
    let hub = Hub::new(cluster);
    let mut front = start(cluster, &hub, FRONT)?;
    let mut back = start(cluster, &hub, &back())?;
    let mut running = [true, true];
    while running.contains(&true) {
        let ([front_runs, back_runs], name, event) = (running, "front", &mut front);
        let (name, event) = tokio::select! {
            event = event.next(), if front_runs => (name, event),
            event = back.next(), if back_runs => ("back", event),
        };
        match event {
            Some(event) => tell(name, &event),
            None => running[usize::from(name == "back")] = false,
        }
    }
    Ok(())
}

/// From text to a run under way.
fn start(cluster: &Cluster, hub: &Hub, text: &str) -> Result<Run, Box<dyn Error>> {
    let source = Source::Bytes { name: "example".into(), data: text.to_owned().into() };
    let manifests = Manifests::load(&[source], &LoadOptions::default())?;
    let wanted = prepare(cluster, manifests, &ResolveOptions::default(), &GraphOptions::default())?;
    Ok(Run::start(cluster, hub, Operation::Apply, wanted, RunOptions::new("embedder")))
}

/// The events that a person would want to see.
fn line(event: &Event) -> Option<String> {
    Some(match &event.body {
        Body::Start(start) => format!("{} objects", start.objects),
        Body::Finished { id, outcome, .. } => format!("{id}: {outcome:?}"),
        Body::Verdict { id, verdict } => format!("{id}: {}, {}", verdict.status, verdict.message),
        Body::Concluded { id, conclusion } => format!("{id}: {conclusion:?}"),
        Body::End { class, .. } => format!("end: {class:?}"),
        _ => return None,
    })
}
