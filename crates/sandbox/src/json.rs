//! Small helpers for JSON trees.

use serde_json::{Map, Value};

/// The value below `path`; `Null` when there is none.
pub(crate) fn at<'a>(value: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(value, |value, field| &value[*field])
}

/// The text below `path`; empty when there is none.
pub(crate) fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    at(value, path).as_str().unwrap_or_default()
}

/// The number below `path`.
pub(crate) fn number(value: &Value, path: &[&str]) -> Option<i64> {
    at(value, path).as_i64()
}

/// The list below `path`; empty when there is none.
pub(crate) fn list<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path).as_array().map_or(&[], Vec::as_slice)
}

/// The object at `value`; anything else there is replaced by an empty one.
pub(crate) fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("it was made an object"),
    }
}

/// Sets the value below `path`, making objects on the way.
pub(crate) fn set(value: &mut Value, path: &[&str], new: impl Into<Value>) {
    let mut place = value;
    for field in path {
        place = object(place).entry(*field).or_insert(Value::Null);
    }
    *place = new.into();
}

/// Sets the value below `path` when there is none, or `null`.
pub(crate) fn default(value: &mut Value, path: &[&str], new: impl Into<Value>) {
    if at(value, path).is_null() {
        set(value, path, new);
    }
}

/// Takes the value below `path` away.
pub(crate) fn remove(value: &mut Value, path: &[&str]) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut place = value;
    for field in parents {
        match place.get_mut(*field) {
            Some(next) => place = next,
            None => return,
        }
    }
    if let Some(map) = place.as_object_mut() {
        map.remove(*last);
    }
}

/// Takes `null` fields away, at every depth; a server keeps none.
pub(crate) fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Merges a JSON merge patch (RFC 7396) into `value`.
pub(crate) fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *value = patch.clone();
        return;
    };
    let map = object(value);
    for (field, new) in patch {
        if new.is_null() {
            map.remove(field);
        } else {
            merge(map.entry(field.clone()).or_insert(Value::Null), new);
        }
    }
}
