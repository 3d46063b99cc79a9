//! Discovery documents, old and new, into groups.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;

use super::table::{Group, Version};
use super::{Parts, Resource, Verbs};
use crate::id::GroupKind;

/// What `/api` or `/apis` answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Document {
    /// Everything at once (Kubernetes 1.26 and later).
    Aggregated(Vec<Group>),
    /// Only names: each group and version needs a request of its own.
    Names(Vec<GroupNames>),
}

/// A group with the names of its versions, preferred one first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GroupNames {
    pub(super) name: String,
    pub(super) versions: Vec<String>,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
struct AggregatedList<'a> {
    #[serde(borrow, default)]
    items: Vec<AggregatedGroup<'a>>,
}

#[derive(Deserialize)]
struct AggregatedGroup<'a> {
    #[serde(borrow, default)]
    metadata: Named<'a>,
    #[serde(borrow, default)]
    versions: Vec<AggregatedVersion<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Named<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct AggregatedVersion<'a> {
    #[serde(borrow)]
    version: Cow<'a, str>,
    #[serde(borrow, default)]
    freshness: Cow<'a, str>,
    #[serde(borrow, default)]
    resources: Option<Vec<AggregatedResource<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AggregatedResource<'a> {
    #[serde(borrow)]
    resource: Cow<'a, str>,
    #[serde(borrow, default)]
    response_kind: Option<ResponseKind<'a>>,
    #[serde(borrow, default)]
    scope: Cow<'a, str>,
    #[serde(borrow, default)]
    singular_resource: Cow<'a, str>,
    #[serde(borrow, default)]
    short_names: Vec<Cow<'a, str>>,
    #[serde(borrow, default)]
    categories: Vec<Cow<'a, str>>,
    #[serde(borrow, default)]
    verbs: Vec<Cow<'a, str>>,
    #[serde(borrow, default)]
    subresources: Vec<Subresource<'a>>,
}

#[derive(Deserialize)]
struct ResponseKind<'a> {
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Subresource<'a> {
    #[serde(borrow, default)]
    subresource: Cow<'a, str>,
}

/// `/api` of old servers.
#[derive(Deserialize)]
struct CoreVersions {
    #[serde(default)]
    versions: Vec<String>,
}

/// `/apis` of old servers.
#[derive(Deserialize)]
struct GroupList {
    #[serde(default)]
    groups: Vec<LegacyGroup>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LegacyGroup {
    name: String,
    #[serde(default)]
    versions: Vec<LegacyVersion>,
    #[serde(default)]
    preferred_version: Option<LegacyVersion>,
}

#[derive(Deserialize)]
struct LegacyVersion {
    version: String,
}

/// `/api/v1`, `/apis/apps/v1` of old servers.
#[derive(Deserialize)]
struct ResourceList<'a> {
    #[serde(borrow, default)]
    resources: Vec<LegacyResource<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LegacyResource<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    singular_name: Cow<'a, str>,
    #[serde(default)]
    namespaced: bool,
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    verbs: Vec<Cow<'a, str>>,
    #[serde(borrow, default)]
    short_names: Vec<Cow<'a, str>>,
    #[serde(borrow, default)]
    categories: Vec<Cow<'a, str>>,
}

/// Reads an answer of `/api` or `/apis`, in whichever form the server chose.
pub(super) fn document(body: &[u8]) -> serde_json::Result<Document> {
    let head: Head<'_> = serde_json::from_slice(body)?;
    Ok(match &*head.kind {
        "APIGroupDiscoveryList" => {
            let list: AggregatedList<'_> = serde_json::from_slice(body)?;
            Document::Aggregated(list.items.into_iter().map(aggregated_group).collect())
        }
        "APIVersions" => {
            let core: CoreVersions = serde_json::from_slice(body)?;
            Document::Names(vec![GroupNames { name: String::new(), versions: core.versions }])
        }
        _ => {
            let list: GroupList = serde_json::from_slice(body)?;
            Document::Names(list.groups.into_iter().map(group_names).collect())
        }
    })
}

/// Reads the resources of one group and version from an old server.
pub(super) fn resources(body: &[u8], group: &str, version: &str) -> serde_json::Result<Vec<Resource>> {
    let list: ResourceList<'_> = serde_json::from_slice(body)?;
    let (group, version): (Arc<str>, Arc<str>) = (group.into(), version.into());
    let has_status = |plural: &str| {
        list.resources.iter().any(|other| other.name.strip_suffix("/status").is_some_and(|of| of == plural))
    };
    let main =
        list.resources.iter().filter(|resource| !resource.name.contains('/') && !resource.kind.is_empty());
    Ok(main
        .map(|resource| {
            Resource(Arc::new(Parts {
                group_kind: GroupKind::new(group.clone(), &*resource.kind),
                version: version.clone(),
                plural: (&*resource.name).into(),
                singular: singular(&resource.singular_name, &resource.kind),
                short_names: boxed(&resource.short_names),
                categories: boxed(&resource.categories),
                namespaced: resource.namespaced,
                has_status: has_status(&resource.name),
                verbs: Verbs::collect(resource.verbs.iter().map(AsRef::as_ref)),
            }))
        })
        .collect())
}

fn group_names(group: LegacyGroup) -> GroupNames {
    let mut versions: Vec<String> = group.versions.into_iter().map(|version| version.version).collect();
    if let Some(preferred) = group.preferred_version
        && let Some(at) = versions.iter().position(|version| *version == preferred.version)
        && let Some(front) = versions.get_mut(..=at)
    {
        front.rotate_right(1);
    }
    GroupNames { name: group.name, versions }
}

fn aggregated_group(group: AggregatedGroup<'_>) -> Group {
    let name: Arc<str> = group.metadata.name.as_deref().unwrap_or_default().into();
    let versions = group.versions.into_iter().map(|version| aggregated_version(&name, version)).collect();
    Group { name, versions }
}

fn aggregated_version(group: &Arc<str>, version: AggregatedVersion<'_>) -> Version {
    let name: Arc<str> = (&*version.version).into();
    let resources: Vec<Resource> = version
        .resources
        .unwrap_or_default()
        .iter()
        .filter_map(|resource| aggregated_resource(group, &name, resource))
        .collect();
    // A stale version lists what the server last saw, or nothing when it never saw any.
    let unknown = resources.is_empty() && version.freshness == "Stale";
    Version { name, resources: (!unknown).then_some(resources) }
}

fn aggregated_resource(
    group: &Arc<str>,
    version: &Arc<str>,
    resource: &AggregatedResource<'_>,
) -> Option<Resource> {
    let kind = &*resource.response_kind.as_ref()?.kind;
    if kind.is_empty() {
        return None;
    }
    Some(Resource(Arc::new(Parts {
        group_kind: GroupKind::new(group.clone(), kind),
        version: version.clone(),
        plural: (&*resource.resource).into(),
        singular: singular(&resource.singular_resource, kind),
        short_names: boxed(&resource.short_names),
        categories: boxed(&resource.categories),
        namespaced: resource.scope == "Namespaced",
        has_status: resource.subresources.iter().any(|sub| sub.subresource == "status"),
        verbs: Verbs::collect(resource.verbs.iter().map(AsRef::as_ref)),
    })))
}

fn singular(given: &str, kind: &str) -> Box<str> {
    if given.is_empty() { kind.to_lowercase().into() } else { given.into() }
}

fn boxed(names: &[Cow<'_, str>]) -> Box<[Box<str>]> {
    names.iter().map(|name| Box::from(&**name)).collect()
}
