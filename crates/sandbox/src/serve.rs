//! From a request to what answers it.

use std::sync::Arc;

use http::Response;
use serde_json::{Value, json};

use crate::answer::{Body, Reply};
use crate::ask::{Ask, Target, verb};
use crate::failure::Failure;
use crate::kinds::{Access, Kind, resource_id};
use crate::read::{self, ListAnswer, Selector, Watcher};
use crate::service::Inner;
use crate::store::Store;
use crate::users::{User, Users};
use crate::write::{self, Done, Write};

/// A success.
#[derive(Debug)]
pub(crate) enum Outcome {
    Reply(Reply),
    List(ListAnswer),
    Watch(Box<Watcher>),
}

impl Outcome {
    pub(crate) fn into_response(self, inner: Arc<Inner>) -> Response<Body> {
        match self {
            Self::Reply(reply) => reply.into_response(),
            Self::List(list) => list.into_response(),
            Self::Watch(watcher) => watcher.into_response(inner),
        }
    }
}

/// The object that a request is about: of the path, or selected by field.
pub(crate) fn name_of(ask: &Ask, target: &Target) -> String {
    if !target.name.is_empty() {
        return target.name.clone();
    }
    let fields = Selector::parse("", "", "", ask.query.get("fieldSelector")).ok();
    fields.and_then(|selector| selector.name().map(str::to_owned)).unwrap_or_default()
}

/// Carries a request out.
pub(crate) fn serve(store: &mut Store, users: &Users, ask: &Ask) -> Result<Outcome, Failure> {
    let user = users.authenticate(ask.token.as_deref())?;
    let Some(target) = Target::parse(&ask.path) else {
        if user.is_anonymous() {
            let why = format!("User \"{}\" cannot get path \"{}\"", user.name(), ask.path);
            return Err(Failure::new(403, "Forbidden", format!("forbidden: {why}")).with_details(json!({})));
        }
        return read::discovery::discovery(store, ask).map(Outcome::Reply);
    };
    let verb = verb(ask, &target);
    let name = name_of(ask, &target);
    user.authorize(verb, &target, &name)?;
    let kind = kind(store, &target)?;
    reinitialize(store, &kind, verb)?;
    match verb {
        "watch" | "list" => {
            let selector = Selector::parse(
                &kind.id,
                &target.namespace,
                ask.query.get("labelSelector"),
                &selected(ask, &target),
            )?;
            if kind.access == Access::CreateOnly {
                return Err(not_allowed("the server does not allow this method on the requested resource"));
            }
            if verb == "list" {
                return read::list(store, ask, &target, &kind, &selector).map(Outcome::List);
            }
            if kind.access == Access::ReadOnly {
                return Err(not_allowed(format!(
                    "watch is not supported on resources of kind \"{}\"",
                    kind.plural
                )));
            }
            read::watch(store, ask, &target, &kind, selector).map(|watcher| Outcome::Watch(Box::new(watcher)))
        }
        "get" => {
            write::check_subresource(&kind, &target)?;
            let body = read::get(store, ask, &target, &kind)?;
            let mut reply = Reply::new(200, body);
            reply.warnings.extend(kind.deprecated.map(str::to_owned));
            Ok(Outcome::Reply(reply))
        }
        _ => change(store, &Write { ask, target: &target, kind: &kind, user: &user }, verb),
    }
}

/// A watch of one object by its path is one by name.
fn selected(ask: &Ask, target: &Target) -> String {
    if target.name.is_empty() {
        return ask.query.get("fieldSelector").to_owned();
    }
    format!("metadata.name={}", target.name)
}

fn change(store: &mut Store, write: &Write<'_>, verb: &str) -> Result<Outcome, Failure> {
    if write.kind.access == Access::CreateOnly && verb == "create" {
        return review(write.user, write.ask);
    }
    if write.kind.access != Access::Full {
        return Err(not_allowed("the server does not allow this method on the requested resource"));
    }
    let view = read::view(&write.ask.accept)?;
    let done = match verb {
        "create" => write::create(store, write)?,
        "update" => write::update(store, write)?,
        "patch" => write::patch(store, write)?,
        "delete" => return write::delete(store, write).map(|body| Outcome::Reply(Reply::json(200, &body))),
        _ => return Err(not_allowed("the server does not allow this method on the requested resource")),
    };
    let Done { code, object, warnings } = done;
    let form = read::form(write.kind, &write.target.version, view);
    Ok(Outcome::Reply(Reply { warnings, ..Reply::new(code, read::render(&object, &form)) }))
}

fn not_allowed(message: impl Into<String>) -> Failure {
    Failure::new(405, "MethodNotAllowed", message).with_details(json!({}))
}

/// The kind at a path. Custom kinds are known to a router that answers in plain text.
fn kind(store: &Store, target: &Target) -> Result<Arc<Kind>, Failure> {
    let found = store.kind(&resource_id(&target.group, &target.plural));
    if let Some(kind) = found.filter(|kind| kind.serves(&target.version)) {
        return Ok(kind);
    }
    let mut kinds = store.resources.values().map(|resource| &resource.kind);
    let built_in = kinds.any(|kind| *kind.group == *target.group && !kind.custom);
    Err(if built_in { Failure::no_resource() } else { Failure::no_page() })
}

/// The storage of a custom kind is made when it is first asked for.
fn reinitialize(store: &mut Store, kind: &Kind, verb: &str) -> Result<(), Failure> {
    if !matches!(verb, "list" | "watch") || !store.unready.remove(&kind.id) {
        return Ok(());
    }
    let mut failure = Failure::new(429, "TooManyRequests", "storage is (re)initializing")
        .with_details(json!({ "retryAfterSeconds": 1 }));
    failure.retry_after = Some(1);
    Err(failure)
}

/// `SelfSubjectAccessReview`: may the one who asks do it?
fn review(user: &User, ask: &Ask) -> Result<Outcome, Failure> {
    let mut review: Value =
        serde_json::from_slice(&ask.body).map_err(|error| Failure::bad_request(error.to_string()))?;
    let wanted = &review["spec"]["resourceAttributes"];
    let field = |name: &str| wanted[name].as_str().unwrap_or_default().to_owned();
    let target = Target {
        group: field("group"),
        version: field("version"),
        plural: field("resource"),
        namespace: field("namespace"),
        name: field("name"),
        subresource: field("subresource"),
    };
    review["status"] = json!({ "allowed": user.allowed(&field("verb"), &target) });
    Ok(Outcome::Reply(Reply::json(201, &review)))
}
