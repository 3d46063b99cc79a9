//! `inventory`: look after the records of sets.

use std::path::Path;
use std::time::Duration;

use kubesettle::cluster::{Cluster, Config};
use kubesettle::error::ExitClass;
use kubesettle::inventory::{Wanted, lease::Holder};
use kubesettle::manifest::{InvalidPolicy, LoadOptions, Manifests, Source};
use kubesettle::run::{RecordError, Records, SetOptions};
use serde_json::json;

use super::signals::Signals;
use super::{Stop, contact};
use crate::args::{GoDuration, InventoryCommand, WhichArgs};
use crate::exit::Failure;
use crate::print::Page;
use crate::settings::Upkeep;

/// Does it.
pub(crate) fn run(upkeep: &Upkeep, json: bool, page: &mut Page) -> Result<ExitClass, Stop> {
    let config = Config::load(&upkeep.cluster).map_err(Failure::from)?;
    contact::run(async {
        let mut signals = Signals::listen();
        let cluster = contact::connect(config, &mut signals).await?;
        tokio::select! {
            done = work(upkeep, &cluster, json, page) => done?,
            () = signals.next() => return Err(Failure::new(ExitClass::Interrupted, "interrupted").into()),
        }
        Ok(ExitClass::Ok)
    })
}

async fn work(upkeep: &Upkeep, cluster: &Cluster, json: bool, page: &mut Page) -> Result<(), Stop> {
    let records = Records::of(cluster, "kubesettle").map_err(failed)?;
    let set = |which: &WhichArgs| set(upkeep, which, cluster.default_namespace());
    match &upkeep.what {
        InventoryCommand::List { all_namespaces } => {
            let namespace = (!all_namespaces.unwrap_or(false)).then(|| cluster.default_namespace().clone());
            for one in records.list(namespace.as_deref()).await.map_err(failed)? {
                let (namespace, name) = (one.location.namespace(), one.location.name());
                page.out.push_str(&match json {
                    true => format!(
                        "{}\n",
                        json!({
                            "type": "inventory", "namespace": namespace, "name": name, "id": one.id,
                            "entries": one.entries,
                        })
                    ),
                    false => format!("{}  {} objects  id {}\n", one.location, one.entries, one.id),
                });
            }
        }
        InventoryCommand::Show(which) => {
            let inventory = records.show(&set(which)?).await.map_err(failed)?;
            for (id, entry) in inventory.entries() {
                let key = id.inventory_key();
                page.out.push_str(&match (json, entry.status) {
                    (true, status) => format!(
                        "{}\n",
                        json!({
                            "type": "entry", "line": key, "group": id.group(), "kind": id.kind(),
                            "name": id.name(), "namespace": id.namespace(),
                            "status": status.and_then(|status| {
                                serde_json::from_str::<serde_json::Value>(&status.to_json()).ok()
                            }),
                        })
                    ),
                    (false, None) => format!("{key}\n"),
                    (false, Some(status)) => format!("{key}  {}\n", status.to_json()),
                });
            }
            for note in inventory.notes() {
                page.err.push_str(&format!("warning: {note}\n"));
            }
        }
        InventoryCommand::Forget { which, line } => {
            let place = records.forget(&set(which)?, line).await.map_err(failed)?;
            page.out.push_str(&format!("{line} is no longer on record in ConfigMap {place}\n"));
        }
        InventoryCommand::Adopt { which, from } => {
            let set = set(which)?;
            let came = records.adopt(&set, from).await.map_err(failed)?;
            let place = set.wanted.location();
            page.out.push_str(&format!(
                "{came} objects of {from} are on record in {place} now, {from} is removed\n"
            ));
        }
        InventoryCommand::Rebuild(which) => {
            let set = set(which)?;
            let rebuilt = records.rebuild(&set).await.map_err(failed)?;
            for id in &rebuilt.added {
                page.out.push_str(&format!("{id:#} is on record again\n"));
            }
            let (found, added) = (rebuilt.found, rebuilt.added.len());
            page.out.push_str(&format!("{found} objects carry the mark of the set, {added} were missing\n"));
            for note in &rebuilt.notes {
                page.err.push_str(&format!("warning: {note}\n"));
            }
        }
    }
    Ok(())
}

fn set(upkeep: &Upkeep, which: &WhichArgs, namespace: &str) -> Result<SetOptions, Stop> {
    let wanted = match (&which.set, &which.directory) {
        (None, Some(folder)) => template(folder)?,
        (name, _) => {
            let name = name.as_deref().unwrap_or_default();
            Wanted::named(namespace, name).map_err(|error| Failure::usage(error.to_string()))?
        }
    };
    let (user, host) = &upkeep.me;
    let lock_timeout = which.lock_timeout.map_or(Duration::ZERO, |GoDuration(time)| time);
    let holder = Holder::new(user, host, std::process::id(), "inventory");
    Ok(SetOptions { wanted, statuses: true, lock_timeout, holder })
}

/// The set of a folder with a template.
fn template(folder: &Path) -> Result<Wanted, Stop> {
    let mut options = LoadOptions::default();
    options.invalid = InvalidPolicy::Skip;
    let source = Source::Path { path: folder.to_owned(), recursive: true };
    let manifests = Manifests::load(&[source], &options)
        .map_err(|error| Stop::Input { problems: error.into_problems(), besides: None })?;
    let found = manifests.objects().iter().find(|object| object.inventory_id().is_some());
    let Some(object) = found else {
        let text = format!("{} has no inventory template", folder.display());
        return Err(Failure::usage(text)
            .hint("init writes one, or give the name of a set with --set")
            .into());
    };
    Ok(Wanted::template(object.json()).map_err(|error| Failure::usage(error.to_string()))?)
}

fn failed(error: RecordError) -> Stop {
    Failure::new(error.class, error.message).into()
}
