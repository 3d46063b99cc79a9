//! The record of an ApplySet: its members themselves, found by the label they carry, and a parent that says
//! where to look for them.

use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt, TryStreamExt};

use std::time::Duration;

use super::{Answer, Stop, ask};
use crate::cluster::{ApplyParams, Cluster, Content, ListPage, Resource, Scope};
use crate::error::{ApiError, ErrorClass, ExitClass};
use crate::id::{GroupKind, ObjectId};
use crate::inventory::applyset::{self, Members, PART_OF, Parent};
use crate::inventory::{Entries, Entry, Inventory, Wanted};

/// How many lists are asked for at once.
const AT_ONCE: usize = 16;
/// Who owns the parent's label and annotations; the same as with kubectl, whose set it may be.
const MANAGER: &str = "kubectl-applyset";

/// What is known of an ApplySet besides its members.
#[derive(Debug)]
pub(super) struct Known {
    parent: ObjectId,
    resource: Resource,
    found: Option<Parent>,
    /// Kinds that could not be looked through because they are not served. They stay in the parent.
    unserved: Vec<GroupKind>,
    /// How long one request may fail.
    budget: Duration,
}

/// Reads the parent and finds the members. A parent that does not exist has none.
pub(super) async fn open(
    cluster: &Cluster,
    wanted: &Wanted,
    budget: Duration,
) -> Result<(Inventory, Known), Stop> {
    let parent = wanted.location().object();
    let refused = |why: String| Stop {
        class: ExitClass::Refused,
        message: format!("{parent:#} cannot be the parent of an ApplySet: {why}"),
    };
    let Some(resource) = cluster.resource(parent.group_kind(), None) else {
        return Err(refused(format!("the cluster serves no kind {}", parent.group_kind())));
    };
    let doing = format!("cannot read the ApplySet {parent:#}");
    let get = || cluster.get(&resource, parent.namespace(), parent.name(), Content::Full);
    let json = ask(budget, &doing, None, get).await.map_err(|error| Stop::of(&error, &doing))?;
    let found = json.map(|json| Parent::read(&json, wanted.id(None))).transpose().map_err(refused)?;
    let ours = ["ConfigMap", "Secret"].iter().any(|kind| parent.group_kind().is("", kind));
    if found.is_none() && !ours {
        return Err(refused(format!(
            "it does not exist, and only ConfigMaps and Secrets are made; create it, with the label {}={} and \
             the annotations {}={} and {}=",
            applyset::ID,
            wanted.id(None),
            applyset::TOOLING,
            applyset::TOOL,
            applyset::GROUP_KINDS,
        )));
    }
    let mut known = Known { parent, resource, found, unserved: Vec::new(), budget };
    let (ids, notes) = known.look(cluster, wanted.id(None)).await?;
    let entries: Entries = ids.into_iter().map(|id| (id, Entry::default())).collect();
    let versions = known.found.as_ref().map(|parent| (&*parent.uid, &*parent.resource_version));
    Ok((Inventory::of_members(wanted, entries, versions, notes), known))
}

impl Known {
    async fn look(&mut self, cluster: &Cluster, id: &str) -> Result<(Vec<ObjectId>, Vec<String>), Stop> {
        let Some(found) = &self.found else { return Ok((Vec::new(), Vec::new())) };
        let mut namespaces: Vec<&str> = found.members.namespaces.iter().map(String::as_str).collect();
        if !self.parent.namespace().is_empty() {
            namespaces.push(self.parent.namespace());
        }
        let (mut lists, mut notes) = (Vec::new(), Vec::new());
        let selector = format!("{PART_OF}={id}");
        for kind in &found.members.kinds {
            match cluster.resource(kind, None) {
                Some(resource) if resource.namespaced() => {
                    let scopes = namespaces.iter().map(|name| Scope::of_namespace(name).labelled(&selector));
                    lists.extend(scopes.map(|scope| (resource.clone(), scope)));
                }
                Some(resource) => lists.push((resource, Scope::Cluster.labelled(&selector))),
                None => {
                    notes.push(format!("members of kind {kind} were not looked for: it is not served"));
                    self.unserved.push(kind.clone());
                }
            }
        }
        let lists: Vec<BoxFuture<'_, _>> = lists
            .iter()
            .map(|(resource, scope)| {
                Box::pin(list(cluster, resource, scope, self.budget)) as BoxFuture<'_, _>
            })
            .collect();
        let members: Vec<Vec<ObjectId>> = stream::iter(lists).buffered(AT_ONCE).try_collect().await?;
        Ok((members.into_iter().flatten().collect(), notes))
    }

    /// Makes the parent say where these are, and those that nobody could look for.
    pub(super) async fn write(
        &mut self,
        cluster: &Cluster,
        entries: Entries,
        inventory: &mut Inventory,
    ) -> Result<(), ApiError> {
        let mut members = Members::of(entries.keys(), &self.parent);
        members.kinds.extend(self.unserved.iter().cloned());
        if let Some(found) = self.found.as_ref().filter(|_| !self.unserved.is_empty()) {
            members.namespaces.extend(found.members.namespaces.iter().cloned());
        }
        let answer = self.apply(cluster, Some(&members)).await?;
        inventory.members_are(entries, Some((&answer.metadata.uid, &answer.metadata.resource_version)));
        let bare = self.found.as_ref().is_none_or(|found| found.bare);
        let (uid, resource_version) = (answer.metadata.uid, answer.metadata.resource_version);
        self.found = Some(Parent { uid, resource_version, members, bare });
        Ok(())
    }

    /// Removes a parent that is nothing else; any other is one no more.
    pub(super) async fn remove(
        &mut self,
        cluster: &Cluster,
        inventory: &mut Inventory,
    ) -> Result<(), ApiError> {
        if let Some(found) = &self.found {
            let (namespace, name) = (self.parent.namespace(), self.parent.name());
            if found.bare {
                let options = serde_json::json!({
                    "apiVersion": "v1", "kind": "DeleteOptions",
                    "preconditions": { "uid": found.uid, "resourceVersion": found.resource_version },
                });
                let options = bytes::Bytes::from(options.to_string());
                let doing = "cannot remove the parent of the ApplySet";
                let delete = || cluster.delete_with(&self.resource, namespace, name, options.clone());
                ask(self.budget, doing, None, delete).await?;
            } else {
                self.apply(cluster, None).await?;
            }
        }
        self.found = None;
        inventory.members_are(Entries::new(), None);
        Ok(())
    }

    async fn apply(&self, cluster: &Cluster, members: Option<&Members>) -> Result<Answer, ApiError> {
        let uid = self.found.as_ref().map(|found| &*found.uid);
        let body = applyset::parent_body(&self.parent, &self.resource.api_version(), uid, members);
        let params = ApplyParams { force: true, ..ApplyParams::new(MANAGER) };
        let (namespace, name) = (self.parent.namespace(), self.parent.name());
        let doing = "cannot write the parent of the ApplySet";
        let apply = || cluster.apply_and_read(&self.resource, namespace, name, body.clone(), &params);
        let (_, json) = ask(self.budget, doing, None, apply).await?;
        serde_json::from_slice(&json).map_err(|error| {
            ApiError::local(ErrorClass::Protocol, format!("the answer to a write of the parent: {error}"))
        })
    }
}

async fn list(
    cluster: &Cluster,
    resource: &Resource,
    scope: &Scope,
    budget: Duration,
) -> Result<Vec<ObjectId>, Stop> {
    let doing = || format!("cannot look for the members of the ApplySet among {}", resource.group_kind());
    let look = || cluster.list(resource, scope, ListPage::default(), Content::MetadataOnly);
    let list = ask(budget, &doing(), None, look).await;
    let list = list.map_err(|error| Stop::of(&error, &doing()))?;
    applyset::listed(resource.group_kind(), &list).map_err(|error| {
        let error = ApiError::local(ErrorClass::Protocol, error.to_string());
        Stop::of(&error, &doing())
    })
}
