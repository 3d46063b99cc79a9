//! Does an applied object fit its kind?

use std::collections::BTreeSet;

use serde_json::Value;

use super::Shape;

/// What does not fit, as `.spec.foo: field not declared in schema`.
pub(crate) fn check(value: &Value, shape: &Shape) -> Vec<String> {
    let mut errors = Vec::new();
    walk(value, shape, "", &mut errors);
    errors
}

fn walk(value: &Value, shape: &Shape, at: &str, errors: &mut Vec<String>) {
    if value.is_null() {
        return;
    }
    match (shape, value) {
        (Shape::Any, _) | (Shape::Text, Value::String(_)) | (Shape::Bool, Value::Bool(_)) => {}
        (Shape::Integer | Shape::Number | Shape::IntOrText, Value::Number(_))
        | (Shape::IntOrText, Value::String(_)) => {}
        (Shape::Struct { fields, open, .. }, Value::Object(map)) => {
            for (name, value) in map {
                match fields.get(name) {
                    Some(shape) => walk(value, shape, &format!("{at}.{name}"), errors),
                    None if *open => {}
                    None => errors.push(format!("{at}.{name}: field not declared in schema")),
                }
            }
        }
        (Shape::Map { value: shape, .. }, Value::Object(map)) => {
            map.iter().for_each(|(name, value)| walk(value, shape, &format!("{at}.{name}"), errors));
        }
        (Shape::List(item), Value::Array(items)) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, value)| walk(value, item, &format!("{at}[{index}]"), errors));
        }
        (Shape::Keyed { item, .. }, Value::Array(items)) => keyed(items, item, shape, at, errors),
        (Shape::Set, Value::Array(items)) => {
            let mut seen = BTreeSet::new();
            for value in items {
                if !seen.insert(value.to_string()) {
                    errors.push(format!("{at}: duplicate entries for key [={value}]"));
                }
            }
        }
        (shape, value) => errors.push(format!(
            "{}: expected {}, got {}",
            if at.is_empty() { "." } else { at },
            wanted(shape),
            got(value)
        )),
    }
}

fn keyed(items: &[Value], item: &Shape, shape: &Shape, at: &str, errors: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for value in items {
        let key = shape.key_of(value).unwrap_or_default();
        let shown = shown(&key);
        if !seen.insert(key) {
            errors.push(format!("{at}: duplicate entries for key {shown}"));
        }
        walk(value, item, &format!("{at}{shown}"), errors);
    }
}

fn shown(key: &str) -> String {
    let key: Value = serde_json::from_str(key).unwrap_or_default();
    let parts: Vec<String> =
        key.as_object().into_iter().flatten().map(|(name, value)| format!("{name}={value}")).collect();
    format!("[{}]", parts.join(","))
}

fn wanted(shape: &Shape) -> &'static str {
    match shape {
        Shape::Any => "anything",
        Shape::Text => "string",
        Shape::Integer | Shape::Number => "numeric (int or float)",
        Shape::IntOrText => "numeric (int or float) or string",
        Shape::Bool => "boolean",
        Shape::Struct { .. } | Shape::Map { .. } => "map",
        Shape::List(_) | Shape::Keyed { .. } | Shape::Set => "list",
    }
}

fn got(value: &Value) -> String {
    match value {
        Value::String(_) => "string".to_owned(),
        Value::Number(_) => "int".to_owned(),
        Value::Bool(_) => "boolean".to_owned(),
        Value::Array(_) => "list".to_owned(),
        Value::Object(_) => "map".to_owned(),
        Value::Null => "null".to_owned(),
    }
}
