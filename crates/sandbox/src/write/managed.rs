//! `metadata.managedFields`: who owns which fields.

use serde_json::{Map, Value, json};

use super::fields::{self, Fields};
use super::schema::Shape;
use crate::json::{list, text};

/// How a manager writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Apply,
    Update,
}

impl Operation {
    fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// Who writes, how, and when.
#[derive(Clone, Debug)]
pub(crate) struct Author<'a> {
    pub(crate) manager: &'a str,
    pub(crate) operation: Operation,
    pub(crate) api_version: &'a str,
    pub(crate) subresource: &'a str,
    pub(crate) time: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    manager: String,
    operation: String,
    api_version: String,
    subresource: String,
    time: String,
    fields: Fields,
}

/// A field that another manager owns and that would change.
#[derive(Clone, Debug)]
pub(crate) struct Conflict {
    /// As messages name the manager.
    pub(crate) manager: String,
    pub(crate) path: String,
}

/// Fields that nobody owns.
const UNOWNED: &[&[&str]] = &[
    &["apiVersion"],
    &["kind"],
    &["metadata", "name"],
    &["metadata", "namespace"],
    &["metadata", "generateName"],
    &["metadata", "creationTimestamp"],
    &["metadata", "deletionTimestamp"],
    &["metadata", "deletionGracePeriodSeconds"],
    &["metadata", "selfLink"],
    &["metadata", "uid"],
    &["metadata", "generation"],
    &["metadata", "managedFields"],
    &["metadata", "resourceVersion"],
];

impl Entry {
    fn is(&self, author: &Author<'_>) -> bool {
        self.manager == author.manager
            && self.operation == author.operation.as_str()
            && self.subresource == author.subresource
    }

    fn shown(&self) -> String {
        let mut shown = format!("\"{}\"", self.manager);
        if !self.subresource.is_empty() {
            shown = format!("{shown} with subresource \"{}\"", self.subresource);
        }
        if self.operation == "Update" {
            shown = format!("{shown} using {}", self.api_version);
        }
        shown
    }

    fn order(&self) -> (&str, &str, &str) {
        (&self.operation, &self.time, &self.manager)
    }
}

pub(crate) fn read(object: &Value) -> Vec<Entry> {
    let entries = list(object, &["metadata", "managedFields"]).iter();
    entries
        .map(|entry| Entry {
            manager: text(entry, &["manager"]).to_owned(),
            operation: text(entry, &["operation"]).to_owned(),
            api_version: text(entry, &["apiVersion"]).to_owned(),
            subresource: text(entry, &["subresource"]).to_owned(),
            time: text(entry, &["time"]).to_owned(),
            fields: Fields::decode(&entry["fieldsV1"]),
        })
        .collect()
}

pub(crate) fn write(object: &mut Value, mut entries: Vec<Entry>) {
    entries.retain(|entry| !entry.fields.is_empty());
    entries.sort_by(|a, b| a.order().cmp(&b.order()));
    if entries.is_empty() {
        crate::json::remove(object, &["metadata", "managedFields"]);
        return;
    }
    let written: Vec<Value> = entries
        .iter()
        .map(|entry| {
            let mut written = json!({
                "manager": entry.manager, "operation": entry.operation, "apiVersion": entry.api_version,
                "fieldsType": "FieldsV1", "fieldsV1": entry.fields.encode(),
            });
            if !entry.time.is_empty() {
                written["time"] = entry.time.as_str().into();
            }
            if !entry.subresource.is_empty() {
                written["subresource"] = entry.subresource.as_str().into();
            }
            written
        })
        .collect();
    crate::json::set(object, &["metadata", "managedFields"], written);
}

/// Lays `config` over `live` as `author`, who stops owning what is not in it any more.
///
/// # Errors
/// The fields of others that would change, unless `force` takes them over.
pub(crate) fn apply(
    live: &Value,
    config: &Value,
    shape: &Shape,
    author: &Author<'_>,
    force: bool,
) -> Result<Value, Vec<Conflict>> {
    let mut entries = read(live);
    let mut owned = Fields::of(config, shape);
    strip(&mut owned, author.subresource);
    // A null is owned, but it takes nothing away.
    let mut values = config.clone();
    crate::json::drop_nulls(&mut values);
    let mut merged = fields::merge(live, &values, shape);
    let mut leave =
        entries.iter().find(|entry| entry.is(author)).map(|entry| entry.fields.clone()).unwrap_or_default();
    leave.minus_kept(&owned);
    for entry in entries.iter().filter(|entry| !entry.is(author)) {
        leave.minus_kept(&entry.fields);
    }
    fields::remove(&mut merged, &leave, shape);
    let (changed, removed) = fields::compare(live, &merged, shape);
    let mut conflicts = Vec::new();
    for entry in entries.iter_mut().filter(|entry| !entry.is(author)) {
        let taken = entry.fields.intersection(&changed);
        if !force {
            let manager = entry.shown();
            conflicts
                .extend(taken.paths().into_iter().map(|path| Conflict { manager: manager.clone(), path }));
        }
        entry.fields.minus(&taken);
        entry.fields.minus(&removed);
    }
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    own(&mut entries, author, owned, !changed.is_empty() || !removed.is_empty());
    write(&mut merged, entries);
    Ok(merged)
}

/// Notes in `new` that `author` made what differs from `live`.
pub(crate) fn update(live: &Value, new: &mut Value, shape: &Shape, author: &Author<'_>) {
    let mut entries = read(live);
    let (mut changed, mut removed) = fields::compare(live, new, shape);
    strip(&mut changed, author.subresource);
    strip(&mut removed, author.subresource);
    if changed.is_empty() && removed.is_empty() {
        write(new, entries);
        return;
    }
    for entry in &mut entries {
        if !entry.is(author) {
            entry.fields.minus(&changed);
        }
        entry.fields.minus(&removed);
    }
    let mut owned =
        entries.iter().find(|entry| entry.is(author)).map(|entry| entry.fields.clone()).unwrap_or_default();
    let former = owned.clone();
    owned.union(&changed);
    let more = owned != former;
    own(&mut entries, author, owned, more);
    write(new, entries);
}

/// Sets what `author` owns. The time of its entry changes only with `now`; a manager who never changed
/// anything has none.
fn own(entries: &mut Vec<Entry>, author: &Author<'_>, fields: Fields, now: bool) {
    let former = entries.iter().position(|entry| entry.is(author)).map(|at| entries.remove(at).time);
    let time = if now { author.time.to_owned() } else { former.unwrap_or_default() };
    entries.push(Entry {
        manager: author.manager.to_owned(),
        operation: author.operation.as_str().to_owned(),
        api_version: author.api_version.to_owned(),
        subresource: author.subresource.to_owned(),
        time,
        fields,
    });
}

/// Leaves out what nobody owns, and what a request to this subresource cannot change.
fn strip(fields: &mut Fields, subresource: &str) {
    if subresource == "status" {
        fields.keep_only("status");
        return;
    }
    for path in UNOWNED {
        fields.drop_path(path);
    }
}

/// True when two objects are the same but for their versions and the times at which managers wrote.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    if !same_fields(a, b, &["metadata"]) {
        return false;
    }
    let (a_meta, b_meta) = (&a["metadata"], &b["metadata"]);
    same_fields(a_meta, b_meta, &["managedFields", "resourceVersion"])
        && (a_meta["managedFields"] == b_meta["managedFields"] || managers(a) == managers(b))
}

/// True when two objects have the same fields, leaving some out of account.
pub(crate) fn same_fields(a: &Value, b: &Value, but: &[&str]) -> bool {
    let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else { return a == b };
    let all = |map: &Map<String, Value>| map.keys().filter(|name| !but.contains(&name.as_str())).count();
    let same = |(name, value): (&String, &Value)| but.contains(&name.as_str()) || b.get(name) == Some(value);
    all(a) == all(b) && a.iter().all(same)
}

fn managers(object: &Value) -> Vec<Entry> {
    let mut entries = read(object);
    entries.iter_mut().for_each(|entry| entry.time.clear());
    entries.sort_by(|a, b| (a.order(), &a.subresource).cmp(&(b.order(), &b.subresource)));
    entries
}
