//! What would go along with an object that is to be pruned, and is not of the set.
//!
//! Asked only about the protected kinds among the objects that left the input, and only where no flag
//! allows them to go: a Namespace costs one list of metadata for each kind that lives in namespaces, a
//! CRD one list of its kind, a claim one list of pods, a volume one read.

use std::collections::HashMap;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use serde::Deserialize;
use serde_json::Value;

use crate::cluster::{Cluster, Content, ListPage, Resource, Scope};
use crate::error::{ApiError, ErrorClass};
use crate::id::{GroupKind, ObjectId};
use crate::inventory::{Holds, Inventory, OWNING_INVENTORY, ProtectedKind, items};
use crate::plan::Live;

/// Lists under way at once.
const AT_ONCE: usize = 8;
/// Objects in a page.
const PAGE: u32 = 500;
/// As many others are counted; more make no difference.
const ENOUGH: usize = 10;

/// What Kubernetes puts into every namespace or keeps beside other objects.
const COMPANIONS: [(&str, &str, &str); 9] = [
    ("", "ConfigMap", "istio-ca-root-cert"),
    ("", "ConfigMap", "kube-root-ca.crt"),
    ("", "ConfigMap", "openshift-service-ca.crt"),
    ("coordination.k8s.io", "Lease", ""),
    ("", "ServiceAccount", "default"),
    ("", "Event", ""),
    ("events.k8s.io", "Event", ""),
    ("", "Endpoints", ""),
    ("metrics.k8s.io", "PodMetrics", ""),
];

/// Looks after the candidates, each with the kind that it defines if it is a CRD.
pub(super) async fn look(
    cluster: &Cluster,
    inventory: &Inventory,
    candidates: impl IntoIterator<Item = &ObjectId>,
    live: &mut HashMap<ObjectId, Live>,
) {
    let looker = Looker { cluster, inventory };
    for id in candidates {
        let Some(found) = live.get_mut(id) else { continue };
        let looked = match ProtectedKind::of(id.group_kind()) {
            Some(ProtectedKind::Namespace) => looker.namespace(id.name()).await,
            Some(ProtectedKind::CustomResourceDefinition) => match &found.defines {
                Some(kind) => looker.definition(kind).await,
                None => Ok(Vec::new()),
            },
            Some(ProtectedKind::PersistentVolumeClaim) => looker.claim(id).await,
            Some(ProtectedKind::PersistentVolume) => looker.volume(id).await,
            None => continue,
        };
        found.holds = match looked {
            Ok(others) => in_words(&others),
            Err(why) => Holds::Unknown(why.into()),
        };
    }
}

fn in_words(others: &[String]) -> Holds {
    match others {
        [] => Holds::OnlyOurs,
        [one] => Holds::Foreign(format!("{one}, which is not of the set").into()),
        [one, ..] if others.len() > ENOUGH => Holds::Foreign(
            format!("more than {ENOUGH} objects that are not of the set, such as {one}").into(),
        ),
        [one, ..] => {
            Holds::Foreign(format!("{} objects that are not of the set, such as {one}", others.len()).into())
        }
    }
}

/// What is found, or why nobody can tell.
type Others = Result<Vec<String>, String>;

struct Looker<'a> {
    cluster: &'a Cluster,
    inventory: &'a Inventory,
}

impl Looker<'_> {
    async fn namespace(&self, name: &str) -> Others {
        let kinds = self.cluster.resources().into_iter();
        let kinds = kinds.filter(|it| it.namespaced() && it.verbs().has("list") && it.verbs().has("delete"));
        let scope = Scope::Namespace(name.into());
        let lists = kinds.map(|resource| {
            let scope = &scope;
            async move { self.others(&resource, scope).await }
        });
        let lists: Vec<Others> = stream::iter(lists).buffered(AT_ONCE).collect().await;
        let mut others = Vec::new();
        let mut unknown = None;
        for list in lists {
            match list {
                Ok(found) => others.extend(found),
                Err(why) => unknown = unknown.or(Some(why)),
            }
        }
        match unknown.filter(|_| others.is_empty()) {
            Some(why) => Err(why),
            None => Ok(others),
        }
    }

    async fn definition(&self, kind: &GroupKind) -> Others {
        match self.cluster.resource(kind, None) {
            Some(resource) => self.others(&resource, &Scope::Cluster).await,
            None => Ok(Vec::new()),
        }
    }

    /// The objects of a kind that are not of the set and that nobody generated, up to a few.
    async fn others(&self, resource: &Resource, scope: &Scope) -> Others {
        let kind = resource.group_kind();
        let mut others = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let page = ListPage { limit: Some(PAGE), continue_token: next.as_deref(), ..ListPage::default() };
            let list = match self.cluster.list(resource, scope, page, Content::MetadataOnly).await {
                // Gone between discovery and now, or never to be listed.
                Err(error) if matches!(error.class, ErrorClass::NotServed | ErrorClass::NamespaceMissing) => {
                    return Ok(others);
                }
                list => list.map_err(|error| not_listed(resource, &error))?,
            };
            for found in read_items(&list) {
                if others.len() <= ENOUGH && !self.is_ours(kind, &found) && !is_companion(kind, &found) {
                    others.push(show(kind, &found.metadata));
                }
            }
            next = token(&list).filter(|_| others.len() <= ENOUGH);
            if next.is_none() {
                return Ok(others);
            }
        }
    }

    fn is_ours(&self, kind: &GroupKind, found: &Found) -> bool {
        let Metadata { name, namespace, annotations, owners } = &found.metadata;
        let mark = annotations.as_ref().and_then(|all| all.get(OWNING_INVENTORY));
        owners.as_ref().is_some_and(|owners| !owners.is_empty())
            || mark.is_some_and(|mark| mark == self.inventory.id())
            || self.is_recorded(kind, namespace, name)
    }

    fn is_recorded(&self, kind: &GroupKind, namespace: &str, name: &str) -> bool {
        self.inventory.entries().contains_key(&ObjectId::new(kind.clone(), namespace, name))
    }

    /// Pods that mount a claim and do not belong to a workload of the set.
    async fn claim(&self, claim: &ObjectId) -> Others {
        let Some(pods) = self.cluster.resource(&GroupKind::new("", "Pod"), None) else {
            return Ok(Vec::new());
        };
        let scope = Scope::Namespace(claim.namespace().into());
        let list = self.cluster.list(&pods, &scope, ListPage::default(), Content::Full).await;
        let list = list.map_err(|error| not_listed(&pods, &error))?;
        let mounting = items(&list).unwrap_or_default().into_iter();
        let mounting = mounting.filter_map(|pod| serde_json::from_slice::<Value>(pod).ok());
        let mounting = mounting.filter(|pod| mounts(pod, claim.name()));
        let others = mounting.filter(|pod| !self.is_pod_of_ours(pod, claim.namespace()));
        Ok(others.map(|pod| format!("pod/{}", text(&pod, "/metadata/name"))).collect())
    }

    /// Whether a pod, or the workload that it is of, is on record.
    fn is_pod_of_ours(&self, pod: &Value, namespace: &str) -> bool {
        let owners = pod.pointer("/metadata/ownerReferences").and_then(Value::as_array);
        let Some(owner) = owners.and_then(|owners| owners.first()) else {
            return self.is_recorded(&GroupKind::new("", "Pod"), namespace, text(pod, "/metadata/name"));
        };
        let (api, kind, name) = (text(owner, "/apiVersion"), text(owner, "/kind"), text(owner, "/name"));
        let recorded = |kind: &str, name: &str| {
            self.is_recorded(&GroupKind::from_api_version(api, kind), namespace, name)
        };
        // The names of what Deployments and CronJobs generate end in a part of their own.
        let root = name.rsplit_once('-').map_or(name, |(root, _)| root);
        recorded(kind, name)
            || (kind == "ReplicaSet" && recorded("Deployment", root))
            || (kind == "Job" && recorded("CronJob", root))
    }

    /// The claim that a volume is bound to.
    async fn volume(&self, id: &ObjectId) -> Others {
        let Some(resource) = self.cluster.resource(id.group_kind(), None) else { return Ok(Vec::new()) };
        let volume = self.cluster.get(&resource, "", id.name(), Content::Full).await;
        let volume = volume.map_err(|error| format!("it cannot be read: {error}"))?.unwrap_or_default();
        let volume: Value = serde_json::from_slice(&volume).unwrap_or_default();
        let (namespace, name) =
            (text(&volume, "/spec/claimRef/namespace"), text(&volume, "/spec/claimRef/name"));
        let claims = GroupKind::new("", "PersistentVolumeClaim");
        if text(&volume, "/status/phase") != "Bound" || self.is_recorded(&claims, namespace, name) {
            return Ok(Vec::new());
        }
        Ok(vec![format!("the data of {:#}", ObjectId::new(claims, namespace, name))])
    }
}

fn mounts(pod: &Value, claim: &str) -> bool {
    let volumes = pod.pointer("/spec/volumes").and_then(Value::as_array);
    let over = matches!(text(pod, "/status/phase"), "Succeeded" | "Failed");
    !over
        && volumes
            .is_some_and(|all| all.iter().any(|it| text(it, "/persistentVolumeClaim/claimName") == claim))
}

fn text<'v>(value: &'v Value, at: &str) -> &'v str {
    value.pointer(at).and_then(Value::as_str).unwrap_or_default()
}

fn is_companion(kind: &GroupKind, found: &Found) -> bool {
    let is_it = |(group, name, only): &(&str, &str, &str)| {
        kind.is(group, name) && (only.is_empty() || found.metadata.name == *only)
    };
    COMPANIONS.iter().any(is_it)
}

fn not_listed(resource: &Resource, error: &ApiError) -> String {
    format!("{} cannot be listed: {error}", resource.plural())
}

fn show(kind: &GroupKind, metadata: &Metadata) -> String {
    format!("{:#}", ObjectId::new(kind.clone(), &metadata.namespace, &metadata.name))
}

#[derive(Deserialize)]
struct Found {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    #[serde(default)]
    namespace: String,
    annotations: Option<HashMap<String, String>>,
    #[serde(rename = "ownerReferences")]
    owners: Option<Vec<serde::de::IgnoredAny>>,
}

fn read_items(list: &Bytes) -> Vec<Found> {
    let items = items(list).unwrap_or_default();
    items.into_iter().filter_map(|item| serde_json::from_slice(item).ok()).collect()
}

fn token(list: &Bytes) -> Option<String> {
    #[derive(Deserialize)]
    struct List {
        metadata: Continue,
    }
    #[derive(Deserialize)]
    struct Continue {
        #[serde(rename = "continue")]
        token: Option<String>,
    }
    let list: List = serde_json::from_slice(list).ok()?;
    list.metadata.token.filter(|token| !token.is_empty())
}
