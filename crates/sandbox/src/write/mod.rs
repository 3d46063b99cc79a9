//! Requests that change what is stored.

mod apply;
mod body;
pub(crate) mod commit;
mod defaults;
mod delete;
mod fields;
mod json_patch;
pub(crate) mod managed;
pub(crate) mod schema;
mod validate;

use std::sync::Arc;

use serde_json::Value;

use crate::ask::{Ask, Target};
use crate::failure::Failure;
use crate::json::{set, text};
use crate::kinds::Kind;
use crate::read::what;
use crate::store::{Key, Object, Store};
use crate::users::User;

pub(crate) use apply::apply;
pub(crate) use delete::{CRD_CLEANUP, FOREGROUND, ORPHAN, Propagation, delete, delete_object};

use commit::Commit;
use managed::{Author, Operation};

/// What a write led to.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: u16,
    pub(crate) object: Arc<Object>,
    pub(crate) warnings: Vec<String>,
}

/// What a request to write is about.
pub(crate) struct Write<'a> {
    pub(crate) ask: &'a Ask,
    pub(crate) target: &'a Target,
    pub(crate) kind: &'a Arc<Kind>,
    pub(crate) user: &'a User,
}

const FORMATS: &str = "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

impl Write<'_> {
    fn key(&self) -> Key {
        Key::new(&self.target.namespace, &self.target.name)
    }

    fn api_version(&self) -> String {
        self.kind.api_version(&self.target.version)
    }

    fn live(&self, store: &Store) -> Option<Value> {
        Some(store.get(&self.kind.id, &self.key())?.whole(self.kind, &self.target.version))
    }

    /// The name under which the request's fields are recorded.
    fn manager(&self) -> String {
        match self.ask.query.get("fieldManager") {
            "" => self
                .ask
                .user_agent
                .split('/')
                .next()
                .filter(|name| !name.is_empty())
                .unwrap_or("unknown")
                .to_owned(),
            name => name.to_owned(),
        }
    }

    fn commit(&self) -> Commit<'_> {
        Commit {
            kind: self.kind,
            version: &self.target.version,
            subresource: &self.target.subresource,
            dry_run: self.ask.dry_run(),
        }
    }
}

/// Status may be written apart where a kind has that subresource; nothing else below an object is known.
pub(crate) fn check_subresource(kind: &Kind, target: &Target) -> Result<(), Failure> {
    match target.subresource.as_str() {
        "" => Ok(()),
        "status" if kind.status => Ok(()),
        "finalize" if &*kind.plural == "namespaces" => Ok(()),
        _ => Err(Failure::no_resource()),
    }
}

/// POST.
pub(crate) fn create(store: &mut Store, write: &Write<'_>) -> Result<Done, Failure> {
    let (mut new, warnings) = body::object(write)?;
    let mut target = write.target.clone();
    target.name = text(&new, &["metadata", "name"]).to_owned();
    let prefix = text(&new, &["metadata", "generateName"]).to_owned();
    if target.name.is_empty() && !prefix.is_empty() {
        let uid = store.next_uid();
        target.name = format!("{prefix}{}", &uid[uid.len() - 5..]);
        set(&mut new, &["metadata", "name"], target.name.as_str());
    }
    body::identity(write, &new, &target)?;
    let key = Key::new(&target.namespace, &target.name);
    if store.get(&write.kind.id, &key).is_some() {
        return Err(Failure::already_exists(&what(&target)));
    }
    let (api_version, manager, time) = (write.api_version(), write.manager(), store.stamp());
    let author = Author {
        manager: &manager,
        operation: Operation::Update,
        api_version: &api_version,
        subresource: "",
        time: &time,
    };
    let object = commit::create(store, &write.commit(), &target, new, Some(&author))?;
    Ok(Done { code: 201, object, warnings })
}

/// PUT.
pub(crate) fn update(store: &mut Store, write: &Write<'_>) -> Result<Done, Failure> {
    check_subresource(write.kind, write.target)?;
    let (new, warnings) = body::object(write)?;
    body::identity(write, &new, write.target)?;
    let object = replace(store, write, |_| Ok(new))?;
    Ok(Done { code: 200, object, warnings })
}

/// PATCH in any of its forms.
pub(crate) fn patch(store: &mut Store, write: &Write<'_>) -> Result<Done, Failure> {
    check_subresource(write.kind, write.target)?;
    match write.ask.media_type() {
        "application/apply-patch+yaml" => apply(store, write),
        "application/json-patch+json" => {
            let patch = serde_json::from_slice(&write.ask.body)
                .map_err(|error| Failure::bad_request(error.to_string()))?;
            let object = replace(store, write, |live| json_patch::apply(live, &patch))?;
            Ok(Done { code: 200, object, warnings: Vec::new() })
        }
        "application/merge-patch+json" => {
            let patch = body::patch(write)?;
            let object = replace(store, write, |live| {
                let mut new = live.clone();
                crate::json::merge(&mut new, &patch);
                Ok(new)
            })?;
            Ok(Done { code: 200, object, warnings: Vec::new() })
        }
        "application/strategic-merge-patch+json" if !write.kind.custom => {
            let patch = body::patch(write)?;
            let object = replace(store, write, |live| {
                let mut new = fields::merge(live, &patch, &write.kind.shape);
                crate::json::drop_nulls(&mut new);
                Ok(new)
            })?;
            Ok(Done { code: 200, object, warnings: Vec::new() })
        }
        _ => Err(Failure::new(415, "UnsupportedMediaType", FORMATS)),
    }
}

fn replace(
    store: &mut Store,
    write: &Write<'_>,
    change: impl FnOnce(&Value) -> Result<Value, Failure>,
) -> Result<Arc<Object>, Failure> {
    let live = write.live(store).ok_or_else(|| Failure::not_found(&what(write.target)))?;
    let new = change(&live)?;
    commit::check_version(write.target, &live, &new)?;
    let (api_version, manager, time) = (write.api_version(), write.manager(), store.stamp());
    let author = Author {
        manager: &manager,
        operation: Operation::Update,
        api_version: &api_version,
        subresource: &write.target.subresource,
        time: &time,
    };
    commit::update(store, &write.commit(), write.target, &live, new, Some(&author))
}
