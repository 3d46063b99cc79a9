//! What is served: discovery in one document and in many, the version, and health.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::answer::Reply;
use crate::ask::Ask;
use crate::failure::Failure;
use crate::kinds::Kind;
use crate::store::Store;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Answers paths that name no resource.
pub(crate) fn discovery(store: &Store, ask: &Ask) -> Result<Reply, Failure> {
    let path = ask.path.trim_end_matches('/');
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match parts.as_slice() {
        ["api"] => Ok(root(store, ask, true)),
        ["apis"] => Ok(root(store, ask, false)),
        ["api", version] => resources(store, "", version),
        ["apis", group] => one_group(store, group),
        ["apis", group, version] => resources(store, group, version),
        ["version"] => Ok(Reply::json(200, &version())),
        ["healthz" | "livez" | "readyz"] => {
            Ok(Reply { media_type: "text/plain; charset=utf-8", ..Reply::new(200, "ok") })
        }
        ["openapi", "v3"] => Ok(Reply::json(200, &openapi(store))),
        _ => Err(Failure::no_page()),
    }
}

fn version() -> Value {
    json!({
        "major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36", "gitVersion": "v1.36.3",
        "gitCommit": "", "gitTreeState": "clean", "buildDate": "", "goVersion": "", "compiler": "gc", "platform": "linux/amd64",
    })
}

/// Kinds by group and version; versions of one group in the order of preference.
type Groups = BTreeMap<Arc<str>, Vec<(Arc<str>, Vec<Arc<Kind>>)>>;

fn groups(store: &Store) -> Groups {
    let mut groups = Groups::new();
    for resource in store.resources.values() {
        let kind = &resource.kind;
        for version in &kind.versions {
            let versions = groups.entry(kind.group.clone()).or_default();
            match versions.iter_mut().find(|(name, _)| name == version) {
                Some((_, kinds)) => kinds.push(kind.clone()),
                None => versions.push((version.clone(), vec![kind.clone()])),
            }
        }
    }
    groups
}

fn root(store: &Store, ask: &Ask, core: bool) -> Reply {
    let groups = groups(store);
    let wanted = groups.into_iter().filter(|(name, _)| name.is_empty() == core);
    let aggregated = store.settings.aggregated_discovery && ask.accept.contains("as=APIGroupDiscoveryList");
    if aggregated {
        let items: Vec<Value> = wanted.map(|(group, versions)| aggregated_group(&group, &versions)).collect();
        let document = json!({ "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items });
        let body = document.to_string();
        let hash = body.bytes().fold(1469598103934665603_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211)
        });
        let etag = format!("\"{hash:016X}\"");
        let code = if ask.if_none_match == etag { 304 } else { 200 };
        let body = if code == 304 { String::new() } else { body };
        return Reply { media_type: AGGREGATED, etag: Some(etag), ..Reply::new(code, body) };
    }
    if core {
        return Reply::json(
            200,
            &json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [] }),
        );
    }
    let groups: Vec<Value> = wanted.map(|(group, versions)| legacy_group(&group, &versions)).collect();
    Reply::json(200, &json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups }))
}

fn aggregated_group(group: &str, versions: &[(Arc<str>, Vec<Arc<Kind>>)]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .map(|(version, kinds)| {
            let resources: Vec<Value> = kinds.iter().map(|kind| aggregated_resource(kind, version)).collect();
            json!({ "version": &**version, "resources": resources, "freshness": "Current" })
        })
        .collect();
    let metadata = if group.is_empty() {
        json!({ "creationTimestamp": null })
    } else {
        json!({ "name": group, "creationTimestamp": null })
    };
    json!({ "metadata": metadata, "versions": versions })
}

fn aggregated_resource(kind: &Kind, version: &str) -> Value {
    let response = json!({ "group": &*kind.group, "version": version, "kind": &*kind.kind });
    let mut resource = json!({
        "resource": &*kind.plural,
        "responseKind": response,
        "scope": scope(kind),
        "singularResource": kind.singular,
        "verbs": kind.access.verbs(),
    });
    if !kind.short_names.is_empty() {
        resource["shortNames"] = json!(kind.short_names);
    }
    if !kind.categories.is_empty() {
        resource["categories"] = json!(kind.categories);
    }
    let subresources: Vec<Value> = subresources(kind)
        .map(|(name, of)| json!({ "subresource": name, "responseKind": of, "verbs": ["get", "patch", "update"] }))
        .collect();
    if !subresources.is_empty() {
        resource["subresources"] = subresources.into();
    }
    resource
}

fn scope(kind: &Kind) -> &'static str {
    if kind.namespaced { "Namespaced" } else { "Cluster" }
}

fn subresources(kind: &Kind) -> impl Iterator<Item = (&'static str, Value)> {
    let own = json!({ "group": &*kind.group, "version": kind.preferred(), "kind": &*kind.kind });
    let scale = json!({ "group": "autoscaling", "version": "v1", "kind": "Scale" });
    [("status", kind.status, own), ("scale", kind.scale, scale)]
        .into_iter()
        .filter_map(|(name, there, response)| there.then_some((name, response)))
}

fn legacy_group(group: &str, versions: &[(Arc<str>, Vec<Arc<Kind>>)]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .map(|(version, _)| json!({ "groupVersion": format!("{group}/{version}"), "version": &**version }))
        .collect();
    json!({ "name": group, "versions": versions, "preferredVersion": versions.first() })
}

fn one_group(store: &Store, group: &str) -> Result<Reply, Failure> {
    let groups = groups(store);
    let versions = groups.get(group).filter(|_| !group.is_empty()).ok_or_else(Failure::no_page)?;
    let mut answer = legacy_group(group, versions);
    answer["kind"] = "APIGroup".into();
    answer["apiVersion"] = "v1".into();
    Ok(Reply::json(200, &answer))
}

fn resources(store: &Store, group: &str, version: &str) -> Result<Reply, Failure> {
    let groups = groups(store);
    let versions = groups.get(group).ok_or_else(Failure::no_page)?;
    let (_, kinds) = versions.iter().find(|(name, _)| **name == *version).ok_or_else(Failure::no_page)?;
    let mut resources = Vec::new();
    for kind in kinds {
        let mut main = json!({
            "name": &*kind.plural, "singularName": kind.singular, "namespaced": kind.namespaced, "kind": &*kind.kind,
            "verbs": kind.access.verbs(),
        });
        if !kind.short_names.is_empty() {
            main["shortNames"] = json!(kind.short_names);
        }
        if !kind.categories.is_empty() {
            main["categories"] = json!(kind.categories);
        }
        resources.push(main);
        for (name, response) in subresources(kind) {
            resources.push(json!({
                "name": format!("{}/{name}", kind.plural), "singularName": "", "namespaced": kind.namespaced,
                "kind": response["kind"], "verbs": ["get", "patch", "update"],
            }));
        }
    }
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    Ok(Reply::json(
        200,
        &json!({ "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources }),
    ))
}

fn openapi(store: &Store) -> Value {
    let mut paths = serde_json::Map::new();
    for (group, versions) in groups(store) {
        for (version, _) in versions {
            let path =
                if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") };
            let url = format!("/openapi/v3/{path}");
            paths.insert(path, json!({ "serverRelativeURL": url }));
        }
    }
    json!({ "paths": paths })
}
