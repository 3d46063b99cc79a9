//! A kind of one's own that is judged in code: a Backup has settled when the ConfigMap that its
//! controller wrote for it says so. The reader is asked before any rule, and looks at a child.
//!
//! ```text
//! cargo run -p kubesettle --example reader
//! ```
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use kstatus::{Digest, GroupKind, Kind, Reader, Rulebook, Status, Surroundings, Verdict};
use kubesettle::cluster::Cluster;
use kubesettle::id::{self, ObjectId};
use kubesettle::status::{Judgement, Signal, Watcher};
use kubesettle::watch::{Hub, SubscribeOptions, Target};
use sandbox::Sandbox;
use serde::Deserialize;
use serde_json::{Value, json};

/// Judges Backups.
#[derive(Debug)]
struct Backups;

#[derive(Deserialize)]
struct Report {
    data: Written,
}

#[derive(Deserialize)]
struct Written {
    files: Box<str>,
}

impl Reader for Backups {
    fn reads(&self, kind: &Kind) -> bool {
        kind.is("example.com", "Backup")
    }

    fn children(&self) -> &[GroupKind] {
        &[("", "ConfigMap")]
    }

    /// Of a report only how many files were written: the rest of it is not kept.
    fn keep(&self, kind: &Kind, json: &[u8]) -> Option<Box<[u8]>> {
        let report: Report = serde_json::from_slice(json).ok().filter(|_| kind.kind() == "ConfigMap")?;
        Some(report.data.files.as_bytes().into())
    }

    fn judge(&self, _: &Digest, around: &Surroundings<'_>) -> Option<Verdict> {
        let report = around.children.iter().find_map(|child| std::str::from_utf8(child.kept()?).ok());
        Some(match report {
            None => Verdict::new(Status::InProgress, "NoReport", "nothing was written yet"),
            Some("0") => Verdict::new(Status::Failed, "EmptyBackup", "the report names no files"),
            Some(files) => Verdict::new(Status::Current, "Written", format!("{files} files were written")),
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let sandbox = Sandbox::builder().build();
    judge(&sandbox, &mut |verdict| println!("{}: {}", verdict.status, verdict.message)).await
}

/// Watches a Backup from its beginning until it has settled.
pub(crate) async fn judge(sandbox: &Sandbox, tell: &mut dyn FnMut(&Verdict)) -> Result<(), Box<dyn Error>> {
    sandbox.create(definition());
    tokio::time::sleep(Duration::from_secs(1)).await;
    let cluster = Cluster::from_service(sandbox.service(), "default");
    cluster.refresh_discovery().await?;
    let hub = Hub::with_rules(&cluster, Rulebook::default().with_reader(Arc::new(Backups)));
    let id = ObjectId::new(id::GroupKind::new("example.com", "Backup"), "default", "nightly");
    let backup = sandbox.create(json!({"apiVersion": "example.com/v1", "kind": "Backup",
        "metadata": {"name": "nightly", "namespace": "default"}}));
    let uid = backup.as_ref().and_then(|backup| backup["metadata"]["uid"].as_str()).unwrap_or_default();
    let judgement = Judgement { at_once: true, ..Judgement::default() };
    let target = Target { id, version: None };
    let mut watcher = Watcher::start(&hub, vec![target], SubscribeOptions::default(), judgement).await?;
    loop {
        let Signal::Verdicts(changed) = watcher.next().await? else { continue };
        for verdict in changed.into_iter().filter_map(|target| watcher.verdict(target)) {
            tell(verdict);
            match verdict.status {
                // Its controller, played by us.
                Status::InProgress => drop(sandbox.create(report(uid))),
                Status::Current => return Ok(()),
                _ => {}
            }
        }
    }
}

fn report(uid: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"files": "12"},
        "metadata": {"name": "nightly-report", "namespace": "default", "ownerReferences": [{
            "apiVersion": "example.com/v1", "kind": "Backup", "name": "nightly", "uid": uid, "controller": true}]}})
}

fn definition() -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "backups.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "backups", "singular": "backup", "kind": "Backup", "listKind": "BackupList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})
}
