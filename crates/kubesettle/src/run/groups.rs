//! Whether a kind that is not served has only gone missing, or is gone with its definition.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use crate::cluster::{Cluster, Content, ListPage, Scope};
use crate::id::{GroupKind, ObjectId};
use crate::inventory::{Inventory, items};
use crate::plan::{Live, LiveState};

/// What lets kinds of a group be served. The name of either ends in the group.
const DEFINITIONS: [(&str, &str); 2] =
    [("apiextensions.k8s.io", "CustomResourceDefinition"), ("apiregistration.k8s.io", "APIService")];

#[derive(Deserialize)]
struct Named {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
}

/// Marks the objects on record whose group nothing defines any more. Asks only when a kind of one is not
/// served; whoever may not list definitions knows less, and then everything stays on record.
pub(super) async fn look(cluster: &Cluster, inventory: &Inventory, live: &mut HashMap<ObjectId, Live>) {
    let is_lost = |id: &&ObjectId| {
        // Groups without a dot are the server's own.
        id.group().contains('.')
            && !id.group().ends_with(".k8s.io")
            && live.get(*id).is_some_and(|found| found.state == LiveState::NotServed)
    };
    let lost: Vec<ObjectId> = inventory.entries().keys().filter(is_lost).cloned().collect();
    if lost.is_empty() {
        return;
    }
    let Some(defined) = defined(cluster).await else { return };
    for id in lost {
        if !defined.contains(id.group())
            && let Some(found) = live.get_mut(&id)
        {
            found.state = LiveState::GroupGone;
        }
    }
}

/// The groups that something defines; `None` when that cannot be told.
async fn defined(cluster: &Cluster) -> Option<HashSet<String>> {
    let mut groups = HashSet::new();
    for (group, kind) in DEFINITIONS {
        let resource = cluster.resource(&GroupKind::new(group, kind), None)?;
        let list = cluster.list(&resource, &Scope::Cluster, ListPage::default(), Content::MetadataOnly).await;
        let list = list.ok()?;
        for item in items(&list).ok()? {
            let found: Named = serde_json::from_slice(item).ok()?;
            groups.extend(found.metadata.name.split_once('.').map(|(_, group)| group.to_owned()));
        }
    }
    Some(groups)
}
