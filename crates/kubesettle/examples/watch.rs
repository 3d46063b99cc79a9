//! Follows objects, says when all are current, and goes on until it is killed: what
//! `cargo xtask bench watch` measures beside the status watcher of cli-utils.
//!
//! The file has one object a line: group, kind, namespace and name, set apart by tabs.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "an example is a program")]

use std::collections::HashSet;
use std::error::Error;

use kstatus::Status;
use kubesettle::cluster::{Cluster, Config, ConfigOptions, Environment};
use kubesettle::id::{GroupKind, ObjectId};
use kubesettle::status::{Judgement, Signal, Watcher};
use kubesettle::watch::{Hub, SubscribeOptions, Target};

fn target(line: &str) -> Result<Target, Box<dyn Error>> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [group, kind, namespace, name] = fields[..] else {
        return Err(format!("not four fields: {line:?}").into());
    };
    Ok(Target { id: ObjectId::new(GroupKind::new(group, kind), namespace, name), version: None })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("usage: watch FILE")?;
    let targets: Vec<Target> =
        std::fs::read_to_string(file)?.lines().map(target).collect::<Result<_, _>>()?;
    let environment = Environment::from(std::env::vars_os());
    let config = Config::load(&ConfigOptions { environment, ..ConfigOptions::default() })?;
    let cluster = Cluster::connect(config).await?;
    let hub = Hub::new(&cluster);
    let judgement = Judgement { at_once: true, ..Judgement::default() };
    let all = targets.len();
    let mut watcher = Watcher::start(&hub, targets, SubscribeOptions::default(), judgement).await?;
    let mut current = HashSet::new();
    let mut said = false;
    loop {
        let Signal::Verdicts(changed) = watcher.next().await? else { continue };
        for target in changed {
            if watcher.verdict(target).is_some_and(|verdict| verdict.status == Status::Current) {
                current.insert(target);
            } else {
                current.remove(&target);
            }
        }
        if current.len() == all && !std::mem::replace(&mut said, true) {
            println!("current");
        }
    }
}
