//! The annotations that order objects, parsed.

use serde_json::Value;

use super::check::{Origin, kind_of};
use super::decode;
use super::object::{APPLY_TIME_MUTATION, DEPENDS_ON, Substitution};
use super::problem::Problem;
use crate::id::{GroupKind, ObjectId};

/// What an annotation says, and what is wrong with it.
type Parsed<T> = (Box<[T]>, Vec<Problem>);

pub(super) fn depends_on<'a>(
    annotation: impl Fn(&'static str) -> Option<&'a str>,
    origin: &Origin<'_>,
) -> Parsed<ObjectId> {
    parsed(DEPENDS_ON, annotation, origin, |text| {
        let mut found: Vec<ObjectId> = Vec::new();
        let mut wrong = Vec::new();
        for reference in text.split(',') {
            match ObjectId::parse_reference(reference) {
                _ if text.trim().is_empty() => wrong.push("is empty".to_owned()),
                Err(error) => wrong.push(error.to_string()),
                Ok(id) if found.contains(&id) => wrong.push(format!("names {} twice", id.reference())),
                Ok(id) => found.push(id),
            }
        }
        (found, wrong)
    })
}

pub(super) fn substitutions<'a>(
    annotation: impl Fn(&'static str) -> Option<&'a str>,
    origin: &Origin<'_>,
) -> Parsed<Substitution> {
    parsed(APPLY_TIME_MUTATION, annotation, origin, |text| {
        let entries = match decode::embedded(text) {
            Ok(Value::Array(entries)) if !entries.is_empty() => entries,
            Ok(Value::Array(_) | Value::Null) => return (Vec::new(), vec!["is empty".to_owned()]),
            Ok(other) => return (Vec::new(), vec![format!("must be a list, not {}", kind_of(&other))]),
            Err(message) => return (Vec::new(), vec![message]),
        };
        let mut found = Vec::new();
        let mut wrong = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            match substitution(entry) {
                Ok(substitution) => found.push(substitution),
                Err(message) => wrong.push(format!("entry {}: {message}", index + 1)),
            }
        }
        (found, wrong)
    })
}

fn parsed<'a, T>(
    key: &'static str,
    annotation: impl Fn(&'static str) -> Option<&'a str>,
    origin: &Origin<'_>,
    parse: impl Fn(&str) -> (Vec<T>, Vec<String>),
) -> Parsed<T> {
    let Some(text) = annotation(key) else { return Parsed::default() };
    let (found, wrong) = parse(text);
    let problem = |message| {
        let place = origin.at(&format!("metadata.annotations[{key:?}]"));
        Problem::new(place, format!("annotation {key}: {message}"))
    };
    (found.into(), wrong.into_iter().map(problem).collect())
}

fn substitution(entry: &Value) -> Result<Substitution, String> {
    let source = match entry.get("sourceRef") {
        Some(source @ Value::Object(_)) => source,
        Some(other) => return Err(format!("sourceRef must be a mapping, not {}", kind_of(other))),
        None => return Err("sourceRef is missing".to_owned()),
    };
    let kind = required(source, "sourceRef.", "kind")?;
    let name = required(source, "sourceRef.", "name")?;
    let namespace = optional(source, "sourceRef.", "namespace")?.unwrap_or_default();
    let api_version = optional(source, "sourceRef.", "apiVersion")?.unwrap_or_default();
    let (group_kind, version) = match optional(source, "sourceRef.", "group")? {
        Some(group) => (GroupKind::new(group, kind), None),
        None => {
            let version = api_version.rsplit('/').next().filter(|version| !version.is_empty());
            (GroupKind::from_api_version(api_version, kind), version)
        }
    };
    Ok(Substitution {
        source: ObjectId::new(group_kind, namespace, name),
        version: version.map(Into::into),
        source_path: required(entry, "", "sourcePath")?.into(),
        target_path: required(entry, "", "targetPath")?.into(),
        token: optional(entry, "", "token")?.map(Into::into),
    })
}

fn required<'a>(value: &'a Value, prefix: &str, field: &str) -> Result<&'a str, String> {
    optional(value, prefix, field)?.ok_or_else(|| format!("{prefix}{field} is missing"))
}

fn optional<'a>(value: &'a Value, prefix: &str, field: &str) -> Result<Option<&'a str>, String> {
    match value.get(field) {
        Some(Value::String(text)) => Ok(Some(&**text).filter(|text| !text.is_empty())),
        Some(Value::Null) | None => Ok(None),
        Some(other) => Err(format!("{prefix}{field} must be a string, not {}", kind_of(other))),
    }
}
