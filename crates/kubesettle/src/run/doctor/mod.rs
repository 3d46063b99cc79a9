//! Why an object does not go: who put its finalizers there and whether that lives, what a namespace still
//! holds, which API groups do not answer.
//!
//! Looked at once for an object whose deletion takes longer than a moment. Whoever may not look is told
//! less; nothing here fails a run, and no finalizer is ever taken off.

mod read;

use bytes::Bytes;
use serde_json::Value;

use crate::cluster::{Cluster, Content, ListPage, Resource, Scope};
use crate::id::{GroupKind, ObjectId};
use crate::inventory::items;

use read::{Holder, holders, text};

/// As many objects of a kind, or kinds of a namespace, are named.
const NAMED: usize = 3;

/// Kinds that a controller may be made of.
const WORKLOADS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];

/// Sentences about what holds the object; none when it is gone or there is nothing to say.
pub(super) async fn examine(cluster: &Cluster, id: &ObjectId, ours: &str) -> Vec<String> {
    let Some(object) = read_one(cluster, id).await else { return Vec::new() };
    let mut said = Vec::new();
    for holder in holders(&object) {
        said.extend(about(cluster, &holder, ours).await);
    }
    if id.group_kind().is("", "Namespace") {
        said.extend(content(cluster, id.name(), &object).await);
        if read::is_in_the_dark(&object) {
            said.extend(dead_groups(cluster).await);
        }
    }
    said
}

async fn about(cluster: &Cluster, holder: &Holder, ours: &str) -> Option<String> {
    let Holder { finalizer, known, manager } = holder;
    if let Some(why) = known {
        return Some(format!("finalizer {finalizer}: {why}"));
    }
    let (manager, when) = manager.as_ref()?;
    if manager == ours || manager.starts_with("kubectl") {
        return Some(format!(
            "finalizer {finalizer} came with the manifest ({manager}): nothing tells who takes it off"
        ));
    }
    let lives = match workloads(cluster, manager).await {
        Ok(found) if found.is_empty() => "no workload of that name is there".to_owned(),
        Ok(found) => found.join(", "),
        Err(()) => "whether it runs cannot be seen".to_owned(),
    };
    Some(format!("finalizer {finalizer} was set by {manager}, which last wrote at {when}; {lives}"))
}

/// Workloads that bear the name of a field manager, with how many of their pods are ready. An error
/// when they may not all be looked at.
async fn workloads(cluster: &Cluster, manager: &str) -> Result<Vec<String>, ()> {
    let mut found = Vec::new();
    for kind in WORKLOADS {
        let resource = cluster.resource(&GroupKind::new("apps", kind), None).ok_or(())?;
        let all = list(cluster, &resource, &Scope::Cluster, Content::MetadataOnly).await.ok_or(())?;
        for one in all.iter().filter(|one| is_named(one, manager)).take(NAMED) {
            let (namespace, name) = (text(one, "/metadata/namespace"), text(one, "/metadata/name"));
            let id = ObjectId::new(resource.group_kind().clone(), namespace, name);
            if let Some(workload) = read_one(cluster, &id).await {
                let (ready, wanted) = read::ready(&workload);
                found.push(format!("{id:#} has {ready} of {wanted} pods ready"));
            }
        }
    }
    Ok(found)
}

fn is_named(object: &Value, manager: &str) -> bool {
    let label = object.pointer("/metadata/labels/app.kubernetes.io~1name").and_then(Value::as_str);
    text(object, "/metadata/name") == manager || label == Some(manager)
}

/// Names of what a namespace says it still holds, with their finalizers.
async fn content(cluster: &Cluster, namespace: &str, object: &Value) -> Vec<String> {
    let mut said = Vec::new();
    let scope = Scope::Namespace(namespace.into());
    for (plural, group) in read::remaining(object).into_iter().take(NAMED) {
        let all = cluster.resources();
        let Some(resource) = all.iter().find(|it| it.plural() == plural && it.group() == group) else {
            continue;
        };
        let found = list(cluster, resource, &scope, Content::MetadataOnly).await.unwrap_or_default();
        for one in found.iter().take(NAMED) {
            let id = ObjectId::new(resource.group_kind().clone(), namespace, text(one, "/metadata/name"));
            let held: Vec<String> = holders(one).into_iter().map(|holder| holder.finalizer).collect();
            said.push(match held.as_slice() {
                [] => format!("still there: {id:#}"),
                held => format!("still there: {id:#}, held by finalizers: {}", held.join(", ")),
            });
        }
    }
    said
}

/// APIServices that do not answer: a namespace cannot tell whether it holds objects of their kinds.
async fn dead_groups(cluster: &Cluster) -> Vec<String> {
    let Some(resource) = cluster.resource(&GroupKind::new("apiregistration.k8s.io", "APIService"), None)
    else {
        return Vec::new();
    };
    let all = list(cluster, &resource, &Scope::Cluster, Content::Full).await.unwrap_or_default();
    let dead = all.iter().filter_map(|one| Some((text(one, "/metadata/name"), read::dead(one)?)));
    let say = |(name, why)| {
        format!(
            "apiservice/{name} does not answer ({why}): mend its service, or delete it if it is not needed"
        )
    };
    dead.map(say).collect()
}

async fn read_one(cluster: &Cluster, id: &ObjectId) -> Option<Value> {
    let resource = cluster.resource(id.group_kind(), None)?;
    let found: Bytes = cluster.get(&resource, id.namespace(), id.name(), Content::Full).await.ok()??;
    serde_json::from_slice(&found).ok()
}

async fn list(cluster: &Cluster, resource: &Resource, scope: &Scope, content: Content) -> Option<Vec<Value>> {
    let list = cluster.list(resource, scope, ListPage::default(), content).await.ok()?;
    let found = items(&list).unwrap_or_default();
    Some(found.into_iter().filter_map(|item| serde_json::from_slice(item).ok()).collect())
}
