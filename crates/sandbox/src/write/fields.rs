//! Sets of fields: what a manager owns, what an object has, and what differs between two objects.
//!
//! A set is a tree whose steps are spelled as in `managedFields`: `f:NAME` for a field,
//! `k:{…}` for an item of a keyed list, `v:…` for an item of a set.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::schema::Shape;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    /// The place itself is in the set.
    member: bool,
    below: BTreeMap<String, Fields>,
}

impl Fields {
    fn leaf() -> Self {
        Self { member: true, below: BTreeMap::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.member && self.below.values().all(Self::is_empty)
    }

    /// Everything that a manager who applies `value` owns.
    pub(crate) fn of(value: &Value, shape: &Shape) -> Self {
        let mut fields = Self::default();
        match (parts(value, shape), value) {
            (Some(parts), _) if !parts.is_empty() => {
                for (step, part, shape) in parts {
                    let mut below = Self::of(part, shape);
                    below.member |= !step.starts_with("f:");
                    fields.below.insert(step, below);
                }
            }
            _ => fields.member = true,
        }
        fields
    }

    /// Everything that comes with `value` where there was nothing: maps and lists themselves, too.
    fn added(value: &Value, shape: &Shape) -> Self {
        let mut fields = Self { member: true, ..Self::default() };
        for (step, part, shape) in parts(value, shape).unwrap_or_default() {
            fields.below.insert(step, Self::added(part, shape));
        }
        fields
    }

    pub(crate) fn union(&mut self, other: &Self) {
        self.member |= other.member;
        for (step, fields) in &other.below {
            self.below.entry(step.clone()).or_default().union(fields);
        }
    }

    /// Takes away what is in `other`.
    pub(crate) fn minus(&mut self, other: &Self) {
        self.member &= !other.member;
        for (step, fields) in &other.below {
            if let Some(mine) = self.below.get_mut(step) {
                mine.minus(fields);
            }
        }
        self.tidy();
    }

    /// Takes away what is in `other` and every place that holds something of `other`.
    pub(crate) fn minus_kept(&mut self, other: &Self) {
        self.member &= other.is_empty();
        for (step, fields) in &other.below {
            if let Some(mine) = self.below.get_mut(step) {
                mine.minus_kept(fields);
            }
        }
        self.tidy();
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let both = self
            .below
            .iter()
            .filter_map(|(step, mine)| Some((step.clone(), mine.intersection(other.below.get(step)?))));
        let mut fields = Self { member: self.member && other.member, below: both.collect() };
        fields.tidy();
        fields
    }

    fn tidy(&mut self) {
        self.below.retain(|_, fields| !fields.is_empty());
    }

    /// Takes a place and all below it away.
    pub(crate) fn drop_path(&mut self, path: &[&str]) {
        match path {
            [] => {}
            [last] => {
                self.below.remove(&format!("f:{last}"));
            }
            [first, rest @ ..] => {
                if let Some(fields) = self.below.get_mut(&format!("f:{first}")) {
                    fields.drop_path(rest);
                }
            }
        }
        self.tidy();
    }

    /// Keeps only one field of the top and what is below it.
    pub(crate) fn keep_only(&mut self, field: &str) {
        let step = format!("f:{field}");
        self.below.retain(|known, _| *known == step);
    }

    /// The members as messages name them: `.spec.containers[name="c"].image`.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.write_paths("", &mut out);
        out
    }

    fn write_paths(&self, at: &str, out: &mut Vec<String>) {
        if self.member && !at.is_empty() {
            out.push(at.to_owned());
        }
        for (step, fields) in &self.below {
            fields.write_paths(&format!("{at}{}", shown(step)), out);
        }
    }

    /// As `fieldsV1`.
    pub(crate) fn encode(&self) -> Value {
        let mut map = Map::new();
        if self.member && !self.below.is_empty() {
            map.insert(".".to_owned(), Value::Object(Map::new()));
        }
        map.extend(self.below.iter().map(|(step, fields)| (step.clone(), fields.encode())));
        Value::Object(map)
    }

    pub(crate) fn decode(value: &Value) -> Self {
        let Some(map) = value.as_object() else { return Self::default() };
        let below = map
            .iter()
            .filter(|(step, _)| *step != ".")
            .map(|(step, value)| (step.clone(), Self::decode_below(value)));
        Self { member: false, below: below.collect() }
    }

    fn decode_below(value: &Value) -> Self {
        let mut fields = Self::decode(value);
        fields.member = value.as_object().is_none_or(|map| map.is_empty() || map.contains_key("."));
        fields
    }
}

/// A step as messages show it.
fn shown(step: &str) -> String {
    if let Some(name) = step.strip_prefix("f:") {
        return format!(".{name}");
    }
    if let Some(value) = step.strip_prefix("v:") {
        return format!("[={value}]");
    }
    let key: Value =
        step.strip_prefix("k:").and_then(|key| serde_json::from_str(key).ok()).unwrap_or_default();
    let parts: Vec<String> =
        key.as_object().into_iter().flatten().map(|(name, value)| format!("{name}={value}")).collect();
    format!("[{}]", parts.join(","))
}

/// The parts that are owned one by one; `None` when the value is owned as a whole.
fn parts<'a>(value: &'a Value, shape: &'a Shape) -> Option<Vec<(String, &'a Value, &'a Shape)>> {
    match (value, shape) {
        (Value::Object(map), shape) if !shape.is_atomic() => {
            Some(map.iter().map(|(name, value)| (format!("f:{name}"), value, shape.field(name))).collect())
        }
        (Value::Array(items), Shape::Keyed { item, .. }) => Some(
            items
                .iter()
                .filter_map(|value| Some((format!("k:{}", shape.key_of(value)?), value, &**item)))
                .collect(),
        ),
        (Value::Array(items), Shape::Set) => {
            Some(items.iter().map(|value| (format!("v:{value}"), value, &Shape::Any)).collect())
        }
        _ => None,
    }
}

/// What `new` has otherwise than `old`: fields added or changed, and fields removed.
pub(crate) fn compare(old: &Value, new: &Value, shape: &Shape) -> (Fields, Fields) {
    let (mut changed, mut removed) = (Fields::default(), Fields::default());
    let (Some(old_parts), Some(new_parts)) = (parts(old, shape), parts(new, shape)) else {
        if old.is_null() && !new.is_null() {
            return (Fields::added(new, shape), removed);
        }
        if !old.is_null() && new.is_null() {
            return (changed, Fields::of(old, shape));
        }
        changed.member = old != new;
        return (changed, removed);
    };
    let old_parts: BTreeMap<String, (&Value, &Shape)> =
        old_parts.into_iter().map(|(step, value, shape)| (step, (value, shape))).collect();
    let new_parts: BTreeMap<String, (&Value, &Shape)> =
        new_parts.into_iter().map(|(step, value, shape)| (step, (value, shape))).collect();
    for (step, (new, shape)) in &new_parts {
        let below = match old_parts.get(step) {
            Some((old, _)) => compare(old, new, shape),
            None => (Fields::added(new, shape), Fields::default()),
        };
        changed.below.insert(step.clone(), below.0);
        removed.below.insert(step.clone(), below.1);
    }
    for (step, (old, shape)) in &old_parts {
        if !new_parts.contains_key(step) {
            let mut gone = Fields::of(old, shape);
            gone.union(&Fields::leaf());
            removed.below.insert(step.clone(), gone);
        }
    }
    changed.tidy();
    removed.tidy();
    (changed, removed)
}

/// `config` laid over `live`.
pub(crate) fn merge(live: &Value, config: &Value, shape: &Shape) -> Value {
    match (live, config) {
        (Value::Object(live), Value::Object(config)) if !shape.is_atomic() => {
            let mut merged = live.clone();
            for (name, new) in config {
                let old = live.get(name).unwrap_or(&Value::Null);
                merged.insert(name.clone(), merge(old, new, shape.field(name)));
            }
            Value::Object(merged)
        }
        (Value::Array(live), Value::Array(config)) => match shape {
            Shape::Keyed { item, .. } => merge_keyed(live, config, shape, item),
            Shape::Set => {
                let mut merged = live.clone();
                merged.extend(config.iter().filter(|value| !live.contains(value)).cloned());
                merged.into()
            }
            _ => config.clone().into(),
        },
        _ => config.clone(),
    }
}

fn merge_keyed(live: &[Value], config: &[Value], shape: &Shape, item: &Shape) -> Value {
    let mut merged = live.to_vec();
    for new in config {
        let key = shape.key_of(new);
        match merged.iter_mut().find(|old| shape.key_of(old) == key) {
            Some(old) => *old = merge(old, new, item),
            None => merged.push(new.clone()),
        }
    }
    merged.into()
}

/// Takes the fields of a set out of `value`; what is empty then goes too.
pub(crate) fn remove(value: &mut Value, fields: &Fields, shape: &Shape) {
    match value {
        Value::Object(map) if !shape.is_atomic() => {
            for (step, fields) in &fields.below {
                let Some(name) = step.strip_prefix("f:") else { continue };
                let Some(below) = map.get_mut(name) else { continue };
                if !fields.below.is_empty() {
                    remove(below, fields, shape.field(name));
                }
                let empty = below.as_object().is_some_and(Map::is_empty)
                    || below.as_array().is_some_and(Vec::is_empty);
                if empty || (fields.member && fields.below.is_empty()) {
                    map.remove(name);
                }
            }
        }
        Value::Array(items) => {
            items.retain_mut(|item| {
                let (step, item_shape) = match shape {
                    Shape::Keyed { item: item_shape, .. } => {
                        (shape.key_of(item).map(|key| format!("k:{key}")), &**item_shape)
                    }
                    Shape::Set => (Some(format!("v:{item}")), &Shape::Any),
                    _ => (None, &Shape::Any),
                };
                let Some(fields) = step.and_then(|step| fields.below.get(&step)) else { return true };
                if fields.member {
                    return false;
                }
                remove(item, fields, item_shape);
                true
            });
        }
        _ => {}
    }
}
