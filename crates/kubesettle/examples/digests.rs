//! List and watch without any verdict: the hub keeps a digest of each object that somebody wants, and
//! tells what changed. A controller, a cache or a waiter of one's own may stand on this layer.
//!
//! ```text
//! cargo run -p kubesettle --example digests
//! ```
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use kubesettle::cluster::Cluster;
use kubesettle::id::{GroupKind, ObjectId};
use kubesettle::watch::{Hub, Presence, SubscribeOptions, Target, Update};
use sandbox::Sandbox;
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let sandbox = Sandbox::builder().build();
    follow(&sandbox, &mut |line| println!("{line}")).await
}

/// Follows two objects through the life of one.
pub(crate) async fn follow(sandbox: &Sandbox, tell: &mut dyn FnMut(String)) -> Result<(), Box<dyn Error>> {
    let cluster = Cluster::from_service(sandbox.service(), "default");
    cluster.refresh_discovery().await?;
    let hub = Hub::new(&cluster);
    let names = ["here", "not-here"];
    let targets = names.map(|name| Target {
        id: ObjectId::new(GroupKind::new("", "ConfigMap"), "default", name),
        version: None,
    });
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "here", "namespace": "default"}});
    sandbox.create(map);
    let mut subscription = hub.subscribe(targets.into(), SubscribeOptions::default()).await?;
    let mut synced = false;
    loop {
        match subscription.next().await? {
            // Everything wanted has been told once: what happens from here on are changes.
            Update::Synced => {
                synced = true;
                sandbox.edit("configmaps", "default", "here", |map| map["data"] = json!({"a": "b"}));
                sandbox.delete("configmaps", "default", "here");
                tell(String::from("synced"));
            }
            Update::Gap(gap) => tell(format!("{}: {}", gap.kind, gap.reason)),
            Update::Changed(states) => {
                for (id, state) in states {
                    let gone = synced && matches!(state.presence, Presence::Absent { .. });
                    tell(match state.presence {
                        Presence::Present(digest) => {
                            format!("{id}: there, owned by {:?}", digest.controller())
                        }
                        Presence::Absent { .. } => format!("{id}: not there"),
                        Presence::NotServed => format!("{id}: of no known kind"),
                        Presence::Unknown(error) => format!("{id}: {error}"),
                        Presence::Pending => continue,
                    });
                    if gone {
                        return Ok(());
                    }
                }
            }
        }
    }
}
