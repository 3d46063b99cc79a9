//! One object as one line of a ConfigMap's `data`.
//!
//! | object | key | value |
//! | --- | --- | --- |
//! | its kapply key leads back to it and a ConfigMap accepts it | that key | empty, or the status |
//! | any other | `sha256-<digest of the id>` | the id, and the status, as JSON |
//!
//! A hashed key has no underscore, so kapply can never take it for an object: it refuses the inventory
//! instead of working on half of it.

use serde_json::{Map, Value};

use super::hash;
use super::model::Entry;
use super::problem::Fault;
use super::status::ObjectStatus;
use crate::id::{GroupKind, ObjectId};

const HASHED: &str = "sha256-";
const MAX_KEY: usize = 253;

/// The key and the value that record this object.
pub(super) fn line(id: &ObjectId, entry: &Entry, statuses: bool) -> (String, String) {
    let status = entry.status.filter(|_| statuses);
    match plain_key(id) {
        Some(key) => (key, status.map(ObjectStatus::to_json).unwrap_or_default()),
        None => (hashed_key(id), hashed_value(id, status)),
    }
}

/// Reads one line.
pub(super) fn parse(key: &str, value: &str) -> Result<(ObjectId, Entry), Fault> {
    if key.starts_with(HASHED) && !key.contains('_') {
        return parse_hashed(key, value);
    }
    let id =
        parse_plain(key).map_err(|reason| Fault::UnparsableKey { key: key.into(), reason: reason.into() })?;
    Ok((id, Entry { status: ObjectStatus::parse(value) }))
}

/// kapply's key, if it is a faithful one.
fn plain_key(id: &ObjectId) -> Option<String> {
    let key = id.inventory_key();
    let faithful = is_config_map_key(&key) && parse_plain(&key).is_ok_and(|parsed| parsed == *id);
    faithful.then_some(key)
}

fn is_config_map_key(key: &str) -> bool {
    let accepted = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    key.len() <= MAX_KEY && key.bytes().all(accepted) && !key.starts_with("..")
}

/// kapply takes every double underscore for a colon. Only RBAC names are written that way: any other
/// name with a colon could not have been stored, so there the underscores are the name's own.
fn parse_plain(key: &str) -> Result<ObjectId, String> {
    let id = ObjectId::parse_inventory_key(key).map_err(|error| error.to_string())?;
    for (part, text) in [("kind", id.kind()), ("name", id.name())] {
        if text.is_empty() {
            return Err(format!("{key:?} is no inventory key: its {part} is empty"));
        }
    }
    if id.inventory_key() == key {
        return Ok(id);
    }
    let literal = ObjectId::new(id.group_kind().clone(), id.namespace(), &id.name().replace(':', "__"));
    match literal.inventory_key() == key {
        true => Ok(literal),
        false => Err(format!("{key:?} is no inventory key: no object has it")),
    }
}

fn hashed_key(id: &ObjectId) -> String {
    let digest = hash::of_parts(&[id.namespace(), id.name(), id.group(), id.kind()]);
    format!("{HASHED}{}", hash::hex(&digest))
}

fn hashed_value(id: &ObjectId, status: Option<ObjectStatus>) -> String {
    let mut fields = Map::new();
    for (field, text) in
        [("group", id.group()), ("kind", id.kind()), ("name", id.name()), ("namespace", id.namespace())]
    {
        fields.insert(field.to_owned(), text.into());
    }
    if let Some(status) = status {
        fields.insert("status".to_owned(), status.to_value());
    }
    Value::Object(fields).to_string()
}

/// Whether a line of a record names an object.
pub fn is_line(key: &str, value: &str) -> bool {
    parse(key, value).is_ok()
}

fn parse_hashed(key: &str, value: &str) -> Result<(ObjectId, Entry), Fault> {
    let fail = |reason: &str| Fault::BadHashedLine { key: key.into(), reason: reason.into() };
    let Ok(Value::Object(fields)) = serde_json::from_str(value) else {
        return Err(fail("its value is no JSON object"));
    };
    let text = |field: &str| fields.get(field).and_then(Value::as_str);
    let (Some(group), Some(kind), Some(name), Some(namespace)) =
        (text("group"), text("kind"), text("name"), text("namespace"))
    else {
        return Err(fail("its value lacks one of group, kind, name, namespace"));
    };
    let id = ObjectId::new(GroupKind::new(group, kind), namespace, name);
    match hashed_key(&id) == key {
        true => Ok((id, Entry { status: fields.get("status").and_then(ObjectStatus::from_value) })),
        false => Err(fail("its value names another object than its key")),
    }
}
