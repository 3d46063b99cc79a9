//! What a run has to know of the cluster besides its own objects.

use kstatus::Facts;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::cluster::{Cluster, Content, ListPage, Scope};
use crate::id::GroupKind;
use crate::plan::Wanted;
use crate::watch::Target;

#[derive(Deserialize)]
struct Items<'a> {
    #[serde(borrow, default)]
    items: Vec<&'a RawValue>,
}

/// Learns from the input, and before that from the cluster: how its StorageClasses bind, when claims
/// are among the targets. A claim that binds late is not waited for, or it would wait for a pod that
/// waits for it. Whoever may not read StorageClasses knows less; that is no error.
pub(super) async fn learn(cluster: &Cluster, wanted: &Wanted, targets: &[Target], facts: &mut Facts) {
    let is_claim = |target: &Target| target.id.group_kind().is("", "PersistentVolumeClaim");
    if targets.iter().any(is_claim) {
        storage_classes(cluster, facts).await;
    }
    for object in wanted.objects() {
        facts.learn(object.json());
    }
}

async fn storage_classes(cluster: &Cluster, facts: &mut Facts) {
    let kind = GroupKind::new("storage.k8s.io", "StorageClass");
    let Some(resource) = cluster.resource(&kind, None) else { return };
    let page = ListPage { resource_version: Some("0"), ..ListPage::default() };
    let Ok(list) = cluster.list(&resource, &Scope::Cluster, page, Content::Full).await else { return };
    let Ok(list) = serde_json::from_slice::<Items<'_>>(&list) else { return };
    for class in list.items {
        facts.learn_as("StorageClass", class.get().as_bytes());
    }
}
