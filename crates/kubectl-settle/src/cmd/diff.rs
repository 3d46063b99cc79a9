//! `diff`: how objects would change, as a unified diff of their YAML.

use std::sync::Arc;

use bytes::Bytes;
use kubesettle::cluster::{ApplyParams, Cluster, Config, Resource};
use kubesettle::error::{ApiError, ErrorClass, ExitClass};
use kubesettle::event::Operation;
use kubesettle::graph::GraphOptions;
use kubesettle::id::ObjectId;
use kubesettle::inventory::Mark;
use kubesettle::manifest::{Manifests, Object, UnknownKinds};
use kubesettle::plan::{Wanted, marked};
use kubesettle::run::{compare, complete, mark_of, prepare};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::signals::Signals;
use super::{Stop, contact, input};
use crate::exit::Failure;
use crate::print::out::Out;
use crate::print::{self, Page, Sides};
use crate::settings::Diff;

/// How many objects are compared at once.
const AT_ONCE: usize = 16;

/// Compares.
pub(crate) fn run(diff: &Diff, out: &mut Out) -> Result<ExitClass, Stop> {
    let manifests = input::load(&diff.subject, Operation::Status)?;
    let config =
        Config::load(&diff.subject.cluster).map_err(|error| input::stop(&diff.subject, &manifests, error))?;
    contact::run(connected(diff, config, manifests, out))
}

async fn connected(
    diff: &Diff,
    config: Config,
    manifests: Manifests,
    out: &mut Out,
) -> Result<ExitClass, Stop> {
    let mut signals = Signals::listen();
    let resolving = input::resolve_options(&diff.subject, &config, UnknownKinds::Wait);
    let cluster = contact::connect(config, &mut signals)
        .await
        .map_err(|error| input::stop(&diff.subject, &manifests, error))?;
    let wanted = prepare(&cluster, manifests, &resolving, &GraphOptions::default())
        .map_err(|error| Stop::Input { problems: error.into_problems(), besides: None })?;
    let mut page = Page::default();
    print::left_out(wanted.problems(), &mut page);
    let mark = match input::set(&diff.subject, &wanted, &cluster)? {
        Some(set) => Some(mark_of(&cluster, &set).await.map_err(|error| refused(&error))?),
        None => None,
    };
    let mut params = ApplyParams::new(&*diff.write.field_manager);
    params.force = diff.write.force_conflicts;
    params.validation = diff.write.validate.into();
    let found = tokio::select! {
        found = all(&cluster, &wanted, mark.as_ref(), &params) => found,
        () = signals.next() => return Err(Failure::new(ExitClass::Interrupted, "interrupted").into()),
    };
    let mut class = ExitClass::Ok;
    for (object, found) in wanted.objects().iter().zip(found) {
        match found {
            Ok(sides) => {
                if let Some(source) = comes_later(&wanted, object) {
                    let id = object.id();
                    let note =
                        format!("note: {id:#}: the value that it takes from {source:#} may still change\n");
                    page.err.push_str(&note);
                }
                let text = print::diff(&sides, out.palette());
                if !text.is_empty() {
                    class = class.or(ExitClass::Failed);
                    page.out.push_str(&text);
                }
            }
            Err(error) => {
                let failure = refused(&error);
                page.err.push_str(&format!("error: {:#}: {}\n", object.id(), failure.message()));
                class = class.or(failure.class());
            }
        }
    }
    out.write(&mut page);
    Ok(class)
}

/// Both sides of every object, in the order of the input.
async fn all(
    cluster: &Cluster,
    wanted: &Wanted,
    mark: Option<&Mark>,
    params: &ApplyParams,
) -> Vec<Result<Sides, ApiError>> {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let params = Arc::new(params.clone());
    let mut tasks = JoinSet::new();
    let mut found: Vec<_> = wanted.objects().iter().map(|_| None).collect();
    for (at, object) in wanted.objects().iter().enumerate() {
        let id = object.id().clone();
        let body = marked(object, mark);
        let Some(resource) = cluster.resource(id.group_kind(), Some(object.version())) else {
            found[at] = Some(unserved(wanted, object, body));
            continue;
        };
        let fresh = comes_with(wanted, "Namespace", id.namespace());
        let (cluster, params, places) = (cluster.clone(), params.clone(), places.clone());
        let (object, awaited) = (object.clone(), comes_later(wanted, object).is_some());
        tasks.spawn(async move {
            let _place = places.acquire_owned().await;
            let sides = match complete(&cluster, &object, body.clone()).await {
                Ok(body) => one(&cluster, &resource, &id, body, &params, fresh).await,
                // Its value comes with the set: the rest is compared.
                Err(error) if error.class == ErrorClass::NotFound && awaited => {
                    one(&cluster, &resource, &id, body, &params, fresh).await
                }
                Err(error) => Err(error),
            };
            (at, sides)
        });
    }
    while let Some(done) = tasks.join_next().await {
        if let Ok((at, sides)) = done {
            found[at] = Some(sides);
        }
    }
    let lost = || Err(ApiError::local(ErrorClass::Protocol, "it was not compared"));
    found.into_iter().map(|sides| sides.unwrap_or_else(lost)).collect()
}

async fn one(
    cluster: &Cluster,
    resource: &Resource,
    id: &ObjectId,
    body: Bytes,
    params: &ApplyParams,
    fresh: bool,
) -> Result<Sides, ApiError> {
    let version = resource.api_version();
    match compare(cluster, resource, id, body.clone(), params).await {
        Ok(found) => Ok(Sides { id: id.clone(), version, live: found.live, merged: found.merged }),
        // Its namespace comes from the same set: all of it is new.
        Err(error) if error.class == ErrorClass::NamespaceMissing && fresh => {
            Ok(Sides { id: id.clone(), version, live: None, merged: body })
        }
        Err(error) => Err(error),
    }
}

/// An object of a kind that is not there: new, if the set brings the kind.
fn unserved(wanted: &Wanted, object: &Object, body: Bytes) -> Result<Sides, ApiError> {
    let kind = object.group_kind();
    let brought = wanted.objects().iter().filter_map(|other| other.crd()).any(|crd| crd.group_kind() == kind);
    if !brought {
        let text = format!("the cluster serves no kind {} in {}", kind.kind(), object.api_version());
        return Err(ApiError::local(ErrorClass::NotServed, text));
    }
    Ok(Sides { id: object.id().clone(), version: object.api_version().to_owned(), live: None, merged: body })
}

/// The object of the set that this one takes a value from.
fn comes_later<'w>(wanted: &Wanted, object: &'w Object) -> Option<&'w ObjectId> {
    let brought = |source: &&ObjectId| wanted.objects().iter().any(|other| other.id() == *source);
    object.mutation_sources().into_iter().find(brought)
}

fn comes_with(wanted: &Wanted, kind: &str, name: &str) -> bool {
    wanted.objects().iter().any(|object| object.group_kind().is("", kind) && object.id().name() == name)
}

/// Code 1 means a difference here, so what the server refuses has another.
fn refused(error: &ApiError) -> Failure {
    let class = match error.class {
        ErrorClass::Unauthorized | ErrorClass::Unreachable => ExitClass::Unreachable,
        ErrorClass::TimedOut | ErrorClass::Forbidden => ExitClass::Unknown,
        ErrorClass::Protocol => ExitClass::Internal,
        ErrorClass::FieldConflict | ErrorClass::Denied => ExitClass::Refused,
        _ => ExitClass::Usage,
    };
    Failure::new(class, error.to_string())
}
