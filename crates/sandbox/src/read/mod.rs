//! Requests that change nothing.

pub(crate) mod discovery;
mod list;
mod selector;
mod watch;

use crate::ask::{Ask, Target};
use crate::failure::{Failure, What};
use crate::kinds::Kind;
use crate::store::{Form, Key, Object, Store};

pub(crate) use list::{ListAnswer, list};
pub(crate) use selector::Selector;
pub(crate) use watch::{Watcher, watch};

/// What the `Accept` header asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Full,
    Metadata,
    MetadataList,
}

const NOT_ACCEPTABLE: &str = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// The first alternative of the `Accept` header that this server has.
pub(crate) fn view(accept: &str) -> Result<View, Failure> {
    if accept.trim().is_empty() {
        return Ok(View::Full);
    }
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        if !matches!(parts.next(), Some("application/json" | "*/*" | "application/*")) {
            continue;
        }
        match parts.find_map(|part| part.strip_prefix("as=")) {
            None => return Ok(View::Full),
            Some("PartialObjectMetadata") => return Ok(View::Metadata),
            Some("PartialObjectMetadataList") => return Ok(View::MetadataList),
            Some(_) => {}
        }
    }
    Err(Failure::text(406, NOT_ACCEPTABLE))
}

/// In which form single objects go out.
pub(crate) fn form(kind: &Kind, version: &str, view: View) -> Form {
    match view {
        View::Full => Form::full(kind, version),
        View::Metadata | View::MetadataList => Form::Metadata,
    }
}

/// GET of one object.
pub(crate) fn get(store: &Store, ask: &Ask, target: &Target, kind: &Kind) -> Result<Vec<u8>, Failure> {
    let view = view(&ask.accept)?;
    if let Some(version) = asked_version(ask)? {
        known(store, version)?;
    }
    let object = find(store, target, kind)?;
    Ok(render(object, &form(kind, &target.version, view)))
}

/// The object that a path names.
pub(crate) fn find<'a>(store: &'a Store, target: &Target, kind: &Kind) -> Result<&'a Object, Failure> {
    let key = Key::new(&target.namespace, &target.name);
    store.get(&kind.id, &key).map(AsRef::as_ref).ok_or_else(|| Failure::not_found(&what(target)))
}

pub(crate) fn what(target: &Target) -> What<'_> {
    What { group: &target.group, plural: &target.plural, name: &target.name }
}

pub(crate) fn render(object: &Object, form: &Form) -> Vec<u8> {
    let mut out = Vec::new();
    object.render(form, &mut out);
    out
}

/// The parameter `resourceVersion`, when there is one.
fn asked_version(ask: &Ask) -> Result<Option<u64>, Failure> {
    match ask.query.get("resourceVersion") {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| {
            let message = format!("resourceVersion: Invalid value: \"{text}\": strconv.ParseUint: parsing \"{text}\": invalid syntax");
            Failure::new(500, "", message)
        }),
    }
}

/// Refuses a version from the future.
fn known(store: &Store, version: u64) -> Result<(), Failure> {
    if version > store.version() {
        return Err(Failure::too_large_version(version, store.version()));
    }
    Ok(())
}

fn bad_list_options(field: &str, why: &str) -> Failure {
    Failure::invalid("ListOptions", "meta.k8s.io", "", &[crate::failure::Cause::forbidden(field, why)])
}
