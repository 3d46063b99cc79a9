//! Objects of an odd shape, made into what kstatus reads in them: once repaired, the Go library must
//! come to the same verdict, or its difference must have another reason.

use std::cmp::Reverse;

use serde_json::{Map, Value, json};

use crate::generate::NUMBERS;

/// A row of the table of differences that is a matter of reading, not of rules.
pub(crate) struct Repair {
    pub(crate) id: &'static str,
    pub(crate) apply: fn(&mut Value),
    /// Whether kstatus says the same of the object before and after. Not where the repair leaves out
    /// something that tells kstatus more than nothing: that is only how the Go library has to be asked.
    pub(crate) silent: bool,
}

/// In the order in which they are made.
pub(crate) const REPAIRS: &[Repair] = &[
    Repair { id: "D-ODD-STATUS", apply: status, silent: false },
    Repair { id: "D-ODD-FIELD", apply: plain_fields, silent: true },
    Repair { id: "D-ODD-CONDITION", apply: odd_conditions, silent: true },
    Repair { id: "D-ODD-CONTAINER", apply: containers, silent: true },
    Repair { id: "D-POD-GENERATION", apply: pod_generation, silent: true },
    Repair { id: "D-CONDITION-GENERATION", apply: stale_conditions, silent: false },
    Repair { id: "D-CONDITION-NEWEST", apply: repeated_conditions, silent: true },
    Repair { id: "D-CONDITION-ORDER", apply: order_of_conditions, silent: true },
];

/// An integer, a float with an integral value, or either as a string.
fn integer(value: &Value) -> Option<i64> {
    let whole = |number: f64| {
        (number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0).then_some(number as i64)
    };
    match value {
        Value::Number(number) => number.as_i64().or_else(|| number.as_f64().and_then(whole)),
        Value::String(text) => text.parse().ok().or_else(|| {
            let begins = text.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-');
            text.parse().ok().filter(|_| begins).and_then(whole)
        }),
        _ => None,
    }
}

/// Puts another value in the place of one, or takes it out.
fn replace(object: &mut Value, path: &str, with: Option<Value>) {
    let Some((parent, name)) = path.rsplit_once('/') else { return };
    let Some(fields) = object.pointer_mut(parent).and_then(Value::as_object_mut) else { return };
    match with {
        Some(value) => fields.insert(name.to_owned(), value),
        None => fields.remove(name),
    };
}

fn status(object: &mut Value) {
    if !object["status"].is_object() {
        replace(object, "/status", None);
    }
}

fn plain_fields(object: &mut Value) {
    for path in NUMBERS {
        if let Some(value) = object.pointer(path).filter(|value| !value.is_i64()) {
            let number = integer(value).map(Value::from);
            replace(object, path, number);
        }
    }
    if let Some(deletion) = object.pointer("/metadata/deletionTimestamp").filter(|at| !at.is_string()) {
        let at = (!deletion.is_null()).then(|| json!("2025-01-01T00:00:00Z"));
        replace(object, "/metadata/deletionTimestamp", at);
    }
}

fn list(object: &mut Value) -> Option<&mut Vec<Value>> {
    object.pointer_mut("/status/conditions")?.as_array_mut()
}

fn name(condition: &Value) -> &str {
    condition["type"].as_str().unwrap_or_default()
}

/// Types the Go library looks for.
const TYPES: &[&str] = &[
    "Reconciling",
    "Stalled",
    "Ready",
    "Progressing",
    "Available",
    "ReplicaFailure",
    "PodScheduled",
    "Complete",
    "Failed",
    "NamesAccepted",
    "Established",
];

fn odd_conditions(object: &mut Value) {
    let Some(conditions) = object.pointer("/status/conditions") else { return };
    let entries: Vec<Value> = match conditions {
        Value::Array(list) => list.clone(),
        Value::Object(map) => map.iter().filter_map(|(name, entry)| of_map(name, entry)).collect(),
        _ => return replace(object, "/status/conditions", None),
    };
    let mut list: Vec<_> = entries.iter().filter_map(readable).collect();
    for wanted in TYPES {
        if list.iter().any(|condition| name(condition) == *wanted) {
            continue;
        }
        for condition in list.iter_mut().filter(|condition| name(condition).eq_ignore_ascii_case(wanted)) {
            condition["type"] = json!(wanted);
        }
    }
    replace(object, "/status/conditions", Some(Value::Array(list)));
}

fn of_map(name: &str, entry: &Value) -> Option<Value> {
    match entry {
        Value::Object(fields) => {
            let mut condition = fields.clone();
            condition.insert("type".to_owned(), json!(name));
            Some(Value::Object(condition))
        }
        Value::Array(_) | Value::Null => None,
        word => Some(json!({ "type": name, "status": word })),
    }
}

fn readable(entry: &Value) -> Option<Value> {
    let name = entry["type"].as_str().filter(|name| !name.is_empty())?;
    let status = match &entry["status"] {
        Value::Bool(true) => "True",
        Value::Bool(false) => "False",
        Value::String(word) => {
            ["True", "False"].into_iter().find(|plain| plain.eq_ignore_ascii_case(word)).unwrap_or(
                if word.is_empty() || word.eq_ignore_ascii_case("unknown") { "Unknown" } else { word },
            )
        }
        _ => "Unknown",
    };
    let mut condition =
        Map::from_iter([("type".to_owned(), json!(name)), ("status".to_owned(), json!(status))]);
    for key in ["reason", "message", "lastTransitionTime"] {
        condition.extend(entry[key].as_str().map(|text| (key.to_owned(), json!(text))));
    }
    let observed = integer(&entry["observedGeneration"]);
    condition.extend(observed.map(|number| ("observedGeneration".to_owned(), json!(number))));
    Some(Value::Object(condition))
}

fn containers(object: &mut Value) {
    let Some(statuses) = object.pointer("/status/containerStatuses") else { return };
    let items = statuses.as_array().map(|items| {
        let items = items.iter().filter(|item| item.is_object()).map(|item| {
            let mut item = item.clone();
            if !item["name"].is_string() {
                item["name"] = json!("?");
            }
            for path in ["/state/waiting", "/state"] {
                if item.pointer(path).is_some_and(|part| !part.is_object()) {
                    replace(&mut item, path, None);
                }
            }
            if item.pointer("/state/waiting/reason").is_some_and(|reason| !reason.is_string()) {
                replace(&mut item, "/state/waiting/reason", None);
            }
            item
        });
        Value::Array(items.collect())
    });
    replace(object, "/status/containerStatuses", items);
}

fn pod_generation(object: &mut Value) {
    let core = object["apiVersion"].as_str().is_some_and(|version| !version.contains('/'));
    if core && object["kind"] == "Pod" && object.pointer("/status/observedGeneration") == Some(&json!(0)) {
        replace(object, "/status/observedGeneration", None);
    }
}

fn stale_conditions(object: &mut Value) {
    let Some(generation) = object["metadata"]["generation"].as_i64() else { return };
    if let Some(list) = list(object) {
        list.retain(|condition| {
            condition["observedGeneration"].as_i64().is_none_or(|observed| observed >= generation)
        });
    }
}

/// Types whose truth is bad news.
const ALARMS: &[&str] = &["Reconciling", "Stalled", "ReplicaFailure", "Failed"];

/// Of several conditions of one type only the one that counts: the newest, and of those that are
/// equally new the worst.
fn repeated_conditions(object: &mut Value) {
    let Some(list) = list(object) else { return };
    let mut kept: Vec<Value> = Vec::new();
    for condition in list.drain(..) {
        let looked_for = TYPES.contains(&name(&condition));
        match kept.iter_mut().find(|other| looked_for && name(other) == name(&condition)) {
            Some(other) if weight(other) < weight(&condition) => *other = condition,
            Some(_) => {}
            None => kept.push(condition),
        }
    }
    *list = kept;
}

fn weight(condition: &Value) -> impl Ord {
    let text = |key: &str| condition[key].as_str().map(|text| json!(text).to_string());
    let badness = match (condition["status"].as_str(), ALARMS.contains(&name(condition))) {
        (Some("True"), false) | (Some("False"), true) => 0,
        (Some("Unknown") | None, _) => 1,
        (Some("False"), false) | (Some("True"), true) => 3,
        (Some(_), _) => 2,
    };
    (text("lastTransitionTime"), badness, text("reason"), text("message"))
}

/// Bad news first: what is said of an object does not hang on the order of a list.
fn order_of_conditions(object: &mut Value) {
    const FIRST: &[&str] = &["Stalled", "Reconciling", "Failed", "Complete", "NamesAccepted", "Established"];
    if let Some(list) = list(object) {
        list.sort_by_key(|condition| Reverse(FIRST.iter().rev().position(|first| *first == name(condition))));
    }
}
