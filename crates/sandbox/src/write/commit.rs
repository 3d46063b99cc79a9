//! From a new state of an object to the stored one: system fields, defaults, rules, generation, and
//! whether anything changed at all.

use std::sync::Arc;

use serde_json::{Value, json};

use super::managed::{self, Author};
use super::{defaults, validate};
use crate::ask::Target;
use crate::failure::{Cause, Failure};
use crate::json::{at, list, remove, set, text};
use crate::kinds::Kind;
use crate::read::what;
use crate::store::{Key, Object, Store};

/// How a state is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Commit<'a> {
    pub(crate) kind: &'a Arc<Kind>,
    pub(crate) version: &'a str,
    pub(crate) subresource: &'a str,
    pub(crate) dry_run: bool,
}

/// Fields of the metadata that only the server sets.
const KEPT: &[&str] = &[
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "resourceVersion",
    "name",
    "namespace",
];

/// Somebody else was faster.
pub(crate) fn modified(target: &Target) -> Failure {
    let why = "the object has been modified; please apply your changes to the latest version and try again";
    Failure::conflict(&what(target), why)
}

/// A version in the new state must be that of the old one.
pub(crate) fn check_version(target: &Target, live: &Value, new: &Value) -> Result<(), Failure> {
    let wanted = text(new, &["metadata", "resourceVersion"]);
    if wanted.is_empty() || wanted == text(live, &["metadata", "resourceVersion"]) {
        return Ok(());
    }
    Err(modified(target))
}

/// Stores a new object.
pub(crate) fn create(
    store: &mut Store,
    commit: &Commit<'_>,
    target: &Target,
    mut new: Value,
    author: Option<&Author<'_>>,
) -> Result<Arc<Object>, Failure> {
    let kind = commit.kind;
    admit(store, kind, target)?;
    for field in KEPT {
        remove(&mut new, &["metadata", field]);
    }
    set(&mut new, &["metadata", "name"], target.name.as_str());
    if kind.namespaced {
        set(&mut new, &["metadata", "namespace"], target.namespace.as_str());
    }
    if kind.status {
        remove(&mut new, &["status"]);
    }
    set(&mut new, &["apiVersion"], kind.api_version(commit.version));
    set(&mut new, &["kind"], &*kind.kind);
    defaults::create(store, kind, &mut new);
    let causes = validate::create(kind, &new);
    if !causes.is_empty() {
        return Err(Failure::invalid(&kind.kind, &kind.group, &target.name, &causes));
    }
    if let Some(author) = author {
        remove(&mut new, &["metadata", "managedFields"]);
        let empty = skeleton(kind, &new);
        managed::update(&empty, &mut new, &kind.shape, author);
    }
    let uid = store.next_uid();
    set(&mut new, &["metadata", "uid"], &*uid);
    set(&mut new, &["metadata", "creationTimestamp"], store.stamp());
    if kind.generation || kind.custom {
        set(&mut new, &["metadata", "generation"], 1);
    }
    if commit.dry_run {
        return Ok(Arc::new(Object::new(&mut new)));
    }
    defaults::created(kind, &mut new);
    store.put(&kind.id, new).ok_or_else(Failure::no_resource)
}

/// Parts that an object of a built-in kind has before anything is in it.
const ALWAYS_THERE: &[&[&str]] = &[
    &["spec"],
    &["spec", "strategy"],
    &["spec", "updateStrategy"],
    &["spec", "template"],
    &["spec", "template", "metadata"],
    &["spec", "template", "spec"],
    &["spec", "jobTemplate"],
    &["spec", "jobTemplate", "metadata"],
    &["spec", "jobTemplate", "spec"],
    &["spec", "jobTemplate", "spec", "template"],
    &["spec", "jobTemplate", "spec", "template", "metadata"],
    &["spec", "jobTemplate", "spec", "template", "spec"],
];

/// The empty object that a new one is compared with to say what its author added.
fn skeleton(kind: &Kind, new: &Value) -> Value {
    let mut empty = json!({ "metadata": {} });
    if kind.custom {
        return empty;
    }
    for path in ALWAYS_THERE.iter().filter(|path| at(new, path).is_object()) {
        set(&mut empty, path, json!({}));
        let containers: Vec<&str> = path.iter().copied().chain(["containers"]).collect();
        if at(new, &containers).is_array() {
            set(&mut empty, &containers, json!([]));
        }
    }
    empty
}

/// May new content come here?
fn admit(store: &Store, kind: &Kind, target: &Target) -> Result<(), Failure> {
    if kind.namespaced {
        let Some(terminating) = store.namespace_terminating(&target.namespace) else {
            let namespace = Target {
                plural: "namespaces".to_owned(),
                name: target.namespace.clone(),
                ..Target::default()
            };
            return Err(Failure::not_found(&what(&namespace)));
        };
        if terminating {
            return Err(namespace_terminating(target));
        }
    }
    let crd = kind
        .custom
        .then(|| store.find("apiextensions.k8s.io", "customresourcedefinitions", "", &kind.id))
        .flatten();
    if crd.is_some_and(|crd| !at(&crd, &["metadata", "deletionTimestamp"]).is_null()) {
        let why = "create not allowed while custom resource definition is terminating";
        return Err(Failure::forbidden(&what(target), why));
    }
    Ok(())
}

fn namespace_terminating(target: &Target) -> Failure {
    let namespace = &target.namespace;
    let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
    let mut failure = Failure::forbidden(&what(target), &why);
    let mut details = failure.status()["details"].clone();
    details["causes"] = json!([{
        "reason": "NamespaceTerminating",
        "message": format!("namespace {namespace} is being terminated"),
        "field": "metadata.namespace",
    }]);
    failure = failure.with_details(details);
    failure
}

/// Stores a changed object; nothing happens when nothing changed. An object that only waited for its
/// last finalizer to go is gone afterwards.
pub(crate) fn update(
    store: &mut Store,
    commit: &Commit<'_>,
    target: &Target,
    live: &Value,
    mut new: Value,
    author: Option<&Author<'_>>,
) -> Result<Arc<Object>, Failure> {
    let kind = commit.kind;
    check_uid(kind, target, live, &mut new)?;
    for field in KEPT {
        keep(live, &mut new, &["metadata", field]);
    }
    set(&mut new, &["apiVersion"], kind.api_version(commit.version));
    set(&mut new, &["kind"], &*kind.kind);
    match commit.subresource {
        "status" => {
            let status = new["status"].take();
            let managed = at(&new, &["metadata", "managedFields"]).clone();
            new = live.clone();
            put_or_drop(&mut new, &["status"], status);
            put_or_drop(&mut new, &["metadata", "managedFields"], managed);
        }
        "finalize" => {
            let finalizers = at(&new, &["spec", "finalizers"]).clone();
            new = live.clone();
            put_or_drop(&mut new, &["spec", "finalizers"], finalizers);
        }
        _ => {
            if kind.status {
                keep(live, &mut new, &["status"]);
            }
            defaults::update(kind, live, &mut new);
            let causes = validate::update(kind, live, &new);
            if !causes.is_empty() {
                return Err(Failure::invalid(&kind.kind, &kind.group, &target.name, &causes));
            }
        }
    }
    if let Some(author) = author {
        managed::update(live, &mut new, &kind.shape, author);
    }
    if commit.subresource != "status" && counts(kind, live, &new) {
        let generation = at(live, &["metadata", "generation"]).as_i64().unwrap_or(0);
        set(&mut new, &["metadata", "generation"], generation + 1);
    }
    let key = Key::new(&target.namespace, &target.name);
    let terminating = !at(live, &["metadata", "deletionTimestamp"]).is_null();
    let held = !list(&new, &["metadata", "finalizers"]).is_empty()
        || (&*kind.plural == "namespaces" && !list(&new, &["spec", "finalizers"]).is_empty())
        || (&*kind.plural == "pods"
            && at(&new, &["metadata", "deletionGracePeriodSeconds"]).as_i64() != Some(0));
    let ends = terminating && !held;
    if !ends && managed::same(live, &new) {
        return store.get(&kind.id, &key).cloned().ok_or_else(|| Failure::not_found(&what(target)));
    }
    if commit.dry_run {
        return Ok(Arc::new(Object::new(&mut new)));
    }
    if ends {
        let last = Arc::new(Object::new(&mut new));
        store.remove(&kind.id, &key);
        return Ok(last);
    }
    store.put(&kind.id, new).ok_or_else(Failure::no_resource)
}

fn check_uid(kind: &Kind, target: &Target, live: &Value, new: &mut Value) -> Result<(), Failure> {
    let present = text(live, &["metadata", "uid"]).to_owned();
    let wanted = text(new, &["metadata", "uid"]);
    if !wanted.is_empty() && wanted != present {
        let cause = Cause::invalid("metadata.uid", &format!("\"{wanted}\""), "field is immutable");
        return Err(Failure::invalid(&kind.kind, &kind.group, &target.name, &[cause.clone(), cause]));
    }
    set(new, &["metadata", "uid"], present);
    Ok(())
}

fn keep(live: &Value, new: &mut Value, path: &[&str]) {
    put_or_drop(new, path, at(live, path).clone());
}

fn put_or_drop(value: &mut Value, path: &[&str], new: Value) {
    if new.is_null() { remove(value, path) } else { set(value, path, new) }
}

/// Does the change count as a new generation?
fn counts(kind: &Kind, live: &Value, new: &Value) -> bool {
    if !kind.generation && !kind.custom {
        return false;
    }
    let but: &[&str] = if kind.status || !kind.custom { &["metadata", "status"] } else { &["metadata"] };
    !managed::same_fields(live, new, but)
}
