//! How long it takes from an event at the socket to the verdict that it changes: a bare watch in a thread of
//! its own notes when a Deployment is seen to be current, the hub's subscriber when it is told so. Every few
//! seconds a line tells the middle and the 99th percentile; `cargo xtask bench watch` reads the last.
//!
//! The file has one object a line: group, kind, namespace and name, set apart by tabs; all of one kind and
//! namespace.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "an example is a program"
)]

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use kstatus::{Status, Timestamp};
use kubesettle::cluster::{Cluster, Config, ConfigOptions, Content, Environment, Scope, WatchStart};
use kubesettle::id::{GroupKind, ObjectId};
use kubesettle::status::{Judgement, Signal, Watcher};
use kubesettle::watch::{Hub, SubscribeOptions, Target};
use serde::Deserialize;
use serde_json::value::RawValue;

type BoxError = Box<dyn Error + Send + Sync>;

/// When the bare watch saw an object become current, by name.
type Seen = Arc<Mutex<HashMap<String, Instant>>>;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct Named {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    name: String,
}

fn targets(file: &str) -> Result<Vec<ObjectId>, BoxError> {
    let text = std::fs::read_to_string(file)?;
    let target = |line: &str| match line.split('\t').collect::<Vec<_>>()[..] {
        [group, kind, namespace, name] => Ok(ObjectId::new(GroupKind::new(group, kind), namespace, name)),
        _ => Err(BoxError::from(format!("not four fields: {line:?}"))),
    };
    text.lines().map(target).collect()
}

async fn connect() -> Result<Cluster, BoxError> {
    let environment = Environment::from(std::env::vars_os());
    let config = Config::load(&ConfigOptions { environment, ..ConfigOptions::default() })?;
    Ok(Cluster::connect(config).await?)
}

/// Notes when each object becomes current, as early as a client can know it.
async fn tap(of: ObjectId, seen: Seen) -> Result<(), BoxError> {
    let cluster = connect().await?;
    let resource = cluster.resource(of.group_kind(), None).ok_or("the kind is not served")?;
    let scope = Scope::Namespace(of.namespace().into());
    let lifetime = Duration::from_secs(3_600);
    let mut lines =
        cluster.watch(&resource, &scope, WatchStart::StreamingList, lifetime, Content::Full).await?;
    while let Some(line) = lines.next().await? {
        let arrived = Instant::now();
        let line: Line<'_> = serde_json::from_slice(line)?;
        let name = serde_json::from_str::<Named>(line.object.get())?.metadata.name;
        let verdict = kstatus::compute(line.object.get().as_bytes(), clock()?)?;
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        match verdict.status {
            Status::Current => drop(seen.entry(name).or_insert(arrived)),
            _ => drop(seen.remove(&name)),
        }
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let targets = targets(&std::env::args().nth(1).ok_or("usage: latency FILE")?)?;
    let seen = Seen::default();
    if let Some(first) = targets.first().cloned() {
        let seen = seen.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            if let Err(error) =
                runtime.map_err(BoxError::from).and_then(|runtime| runtime.block_on(tap(first, seen)))
            {
                eprintln!("{error}");
            }
        });
    }
    let hub = Hub::new(&connect().await?);
    let judgement = Judgement { at_once: true, ..Judgement::default() };
    let wanted = targets.iter().map(|id| Target { id: id.clone(), version: None }).collect();
    let mut watcher = Watcher::start(&hub, wanted, SubscribeOptions::default(), judgement).await?;
    while !matches!(watcher.next().await?, Signal::Synced) {}
    println!("synced");
    let mut waits = Vec::new();
    let mut told = Instant::now();
    loop {
        let Signal::Verdicts(changed) = watcher.next().await? else { continue };
        let now = Instant::now();
        let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        for target in changed {
            if watcher.verdict(target).is_some_and(|verdict| verdict.status == Status::Current) {
                // Not seen yet: the hub was the quicker one.
                let since = targets.get(target).and_then(|id| seen.get(id.name()));
                waits.push(since.map_or(Duration::ZERO, |since| now.saturating_duration_since(*since)));
            }
        }
        if told.elapsed() > Duration::from_secs(2) && !waits.is_empty() {
            told = now;
            waits.sort_unstable();
            let at = |share: usize| {
                waits.get(waits.len() * share / 100).or(waits.last()).copied().unwrap_or_default()
            };
            println!(
                "{} verdicts, middle {:.1} ms, 99 % {:.1} ms",
                waits.len(),
                millis(at(50)),
                millis(at(99))
            );
        }
    }
}

fn clock() -> Result<Timestamp, BoxError> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    Ok(Timestamp::from_millis(i64::try_from(since.as_millis())?))
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
