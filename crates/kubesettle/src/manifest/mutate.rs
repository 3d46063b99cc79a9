//! Apply-time mutation: a field of one object becomes (part of) a field of another.

use kstatus::JsonPath;
use serde_json::Value;

use super::check::kind_of;
use super::object::{Object, Substitution, compact};
use crate::id::ObjectId;

/// Puts the values of source fields into a body.
///
/// The rules are those of cli-utils: both paths lead to exactly one field, which exists; without a
/// token the field becomes the value, type and all; with one, which only a text can have, each
/// occurrence becomes the value as text, and none is no error. Integers keep all their digits.
///
/// No message holds a value: sources may be Secrets.
#[derive(Debug)]
pub struct Mutation {
    body: Value,
}

impl Mutation {
    /// Begins with a body as JSON; `None` when it is none.
    pub fn of(body: &[u8]) -> Option<Self> {
        serde_json::from_slice(body).ok().map(|body| Self { body })
    }

    /// Carries one substitution out; `source` is the object it reads from, as JSON.
    ///
    /// # Errors
    /// What does not fit, in one line.
    pub fn take(&mut self, substitution: &Substitution, source: &[u8]) -> Result<(), String> {
        let id = &substitution.source;
        let source: Value = serde_json::from_slice(source).map_err(|_| format!("{id:#} cannot be read"))?;
        let from = only_place(&substitution.source_path, &source, &format!("{id:#}"))?;
        let value = source.pointer(&from).cloned().unwrap_or_default();
        let to = only_place(&substitution.target_path, &self.body, "the object")?;
        let Some(target) = self.body.pointer_mut(&to) else { return Ok(()) };
        *target = match (&substitution.token, &*target) {
            (None, _) => value,
            (Some(token), Value::String(text)) => text.replace(&**token, &as_text(&value)).into(),
            (Some(_), other) => return Err(no_text(&substitution.target_path, other)),
        };
        Ok(())
    }

    /// The body as it is now.
    pub fn into_json(self) -> bytes::Bytes {
        compact(&self.body)
    }
}

/// What is wrong with substitutions as far as the body they are for tells. Behind one that replaces a
/// whole field nothing is known: the next may look into what it brought.
pub(super) fn problems(substitutions: &[Substitution], body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut known = true;
    for (index, substitution) in substitutions.iter().enumerate() {
        let paths = [("sourcePath", &substitution.source_path), ("targetPath", &substitution.target_path)];
        let unread = paths.into_iter().filter_map(|(name, path)| {
            let error = path.parse::<JsonPath>().err()?;
            Some(format!("{name} {path:?}: {error}"))
        });
        let mut wrong: Vec<String> = unread.collect();
        if wrong.is_empty() && known {
            wrong.extend(misses(substitution, body));
        }
        known &= substitution.token.is_some();
        found.extend(wrong.into_iter().map(|message| format!("entry {}: {message}", index + 1)));
    }
    found
}

fn misses(substitution: &Substitution, body: &Value) -> Option<String> {
    let place = match only_place(&substitution.target_path, body, "the object") {
        Ok(place) => place,
        Err(message) => return Some(message),
    };
    let target = body.pointer(&place).filter(|_| substitution.token.is_some())?;
    (!target.is_string()).then(|| no_text(&substitution.target_path, target))
}

fn only_place(path: &str, within: &Value, whose: &str) -> Result<String, String> {
    let read: JsonPath = path.parse().map_err(|error| format!("path {path:?}: {error}"))?;
    let mut places = read.places(within);
    match (places.pop(), places.len()) {
        (Some(place), 0) => Ok(place),
        (None, _) => Err(format!("{whose} has no field {path}")),
        (_, others) => Err(format!("{whose} has {} fields {path}; the path must lead to one", others + 1)),
    }
}

fn no_text(path: &str, target: &Value) -> String {
    format!("field {path} is {}; only a string can hold a token", kind_of(target))
}

/// Texts as they are, anything else as JSON.
fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Object {
    /// The objects whose live fields the body needs before it is complete, each once.
    pub fn mutation_sources(&self) -> Vec<&ObjectId> {
        let mut sources: Vec<&ObjectId> = Vec::new();
        for substitution in self.substitutions() {
            if !sources.contains(&&substitution.source) {
                sources.push(&substitution.source);
            }
        }
        sources
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::id::GroupKind;

    fn substitution(source_path: &str, target_path: &str, token: Option<&str>) -> Substitution {
        Substitution {
            source: ObjectId::new(GroupKind::new("", "ConfigMap"), "shop", "source"),
            version: None,
            source_path: source_path.into(),
            target_path: target_path.into(),
            token: token.map(Into::into),
        }
    }

    fn mutated(substitution: &Substitution, source: &Value, target: &Value) -> Result<Value, String> {
        let mut mutation = Mutation::of(target.to_string().as_bytes()).unwrap();
        mutation.take(substitution, source.to_string().as_bytes())?;
        Ok(mutation.body)
    }

    #[test]
    fn a_value_keeps_its_type_and_a_token_is_replaced_wherever_it_stands() {
        let source = json!({"a": {"text": "t", "whole": 18_446_744_073_709_551_615_u64, "part": 1.5, "yes": true,
            "none": null, "list": [1, "x"], "map": {"k": "v"}}});
        let target = json!({"b": "${x}-${x}"});
        for (path, whole, text) in [
            ("$.a.text", json!("t"), "t-t"),
            ("$.a.whole", json!(18_446_744_073_709_551_615_u64), "18446744073709551615-18446744073709551615"),
            ("$.a.part", json!(1.5), "1.5-1.5"),
            ("$.a.yes", json!(true), "true-true"),
            ("$.a.none", json!(null), "null-null"),
            ("$.a.list", json!([1, "x"]), r#"[1,"x"]-[1,"x"]"#),
            ("$.a.map", json!({"k": "v"}), r#"{"k":"v"}-{"k":"v"}"#),
        ] {
            let replaced = mutated(&substitution(path, "$.b", None), &source, &target).unwrap();
            assert_eq!(replaced["b"], whole, "{path}");
            let replaced = mutated(&substitution(path, "$.b", Some("${x}")), &source, &target).unwrap();
            assert_eq!(replaced["b"], text, "{path}");
        }
        let absent = mutated(&substitution("$.a.text", "$.b", Some("${y}")), &source, &target).unwrap();
        assert_eq!(absent, target, "a token that is not there changes nothing");
    }

    #[test]
    fn what_does_not_fit_is_named_without_a_value() {
        let source = json!({"data": {"password": "hidden", "list": ["hidden", "hidden"]}});
        let target = json!({"n": 7, "list": [1, 2]});
        for (substitution, wanted) in [
            (substitution("$.data.user", "$.n", None), "configmap/source in shop has no field $.data.user"),
            (
                substitution("$.data.list[*]", "$.n", None),
                "configmap/source in shop has 2 fields $.data.list[*]; the path must lead to one",
            ),
            (substitution("$.data.password", "$.m", None), "the object has no field $.m"),
            (
                substitution("$.data.password", "$.list[*]", None),
                "the object has 2 fields $.list[*]; the path must lead to one",
            ),
            (
                substitution("$.data.password", "$.n", Some("x")),
                "field $.n is a number; only a string can hold a token",
            ),
        ] {
            assert_eq!(mutated(&substitution, &source, &target).unwrap_err(), wanted);
        }
    }
}
