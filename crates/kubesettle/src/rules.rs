//! Rules for the status of custom kinds, as people write them down: in a file, or on the definition of
//! the kind.
//!
//! ```yaml
//! rules:
//! - match: {group: example.com, kind: Widget}
//!   current: '{.status.phase}=Ready'
//!   failed: '{.status.phase}=Broken'
//!   message: '{.status.note}'
//! ```
//!
//! The annotation `kubesettle.io/status-rule` of a CustomResourceDefinition holds the same without
//! `match`. `docs/custom-rules.md` describes both.

use std::path::Path;

use kstatus::{CustomRule, RuleText};
use serde_json::{Map, Value};

use crate::manifest::stream::{self, Item};
use crate::manifest::{InputProblems, Place, Problem, Source, embedded};

/// The annotation of a CustomResourceDefinition that holds the rule for its kind.
pub const STATUS_RULE: &str = "kubesettle.io/status-rule";

/// A file of rules has no reason to be larger.
const MAX_BYTES: u64 = 4 << 20;

/// Reads files of rules; earlier ones come first.
///
/// # Errors
///
/// Everything that is wrong with them, with file and line.
pub fn load(files: &[impl AsRef<Path>]) -> Result<Vec<CustomRule>, InputProblems> {
    let source = |file: &Path| Source::Path { path: file.to_owned(), recursive: false };
    read(&files.iter().map(|file| source(file.as_ref())).collect::<Vec<_>>())
}

/// The same for text at hand.
///
/// # Errors
///
/// Everything that is wrong with it.
pub fn parse(name: &str, text: &[u8]) -> Result<Vec<CustomRule>, InputProblems> {
    read(&[Source::Bytes { name: name.into(), data: text.to_vec().into() }])
}

fn read(sources: &[Source]) -> Result<Vec<CustomRule>, InputProblems> {
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    stream::each(sources, MAX_BYTES, |item| match item {
        Ok(item) => document(&item, &mut rules, &mut problems),
        Err(problem) => problems.push(problem),
    });
    if problems.is_empty() { Ok(rules) } else { Err(InputProblems::new(problems)) }
}

/// The rules that the definitions among these objects carry, and what is wrong with others.
pub fn of_definitions<'a>(
    objects: impl IntoIterator<Item = (&'a [u8], &'a Place)>,
) -> (Vec<CustomRule>, Vec<Problem>) {
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    for (json, place) in objects {
        match of_definition(json, place) {
            Some(Ok(rule)) => rules.push(rule),
            Some(Err(why)) => {
                let message = format!("the annotation {STATUS_RULE} is left out of account: {why}");
                problems.push(Problem::new(place.clone(), message));
            }
            None => {}
        }
    }
    (rules, problems)
}

fn of_definition(json: &[u8], place: &Place) -> Option<Result<CustomRule, String>> {
    // Most objects are none of this; looking for the name costs less than reading them.
    memchr::memmem::find(json, STATUS_RULE.as_bytes())?;
    let body: Value = serde_json::from_slice(json).ok()?;
    let text = |path: &str| body.pointer(path).and_then(Value::as_str);
    if text("/kind") != Some("CustomResourceDefinition") {
        return None;
    }
    let rule = body.pointer("/metadata/annotations")?.get(STATUS_RULE)?.as_str()?;
    let (group, kind) = (text("/spec/group")?, text("/spec/names/kind")?);
    let read = || {
        let Value::Object(map) = embedded(rule)? else { return Err("is no mapping".to_owned()) };
        unknown(&map, FIELDS).map_or(Ok(()), |key| Err(format!("does not know {key:?}")))?;
        let at = format!("the definition of {kind} ({place})");
        rule_of(&map, group, kind, &at).map_err(|(field, why)| format!("{field}: {why}"))
    };
    Some(read())
}

/// What a rule may say besides what it is for.
const FIELDS: &[&str] = &["current", "failed", "message", "ignoreGeneration"];
const WITH_MATCH: &[&str] = &["match", "current", "failed", "message", "ignoreGeneration"];

fn document(item: &Item<'_>, rules: &mut Vec<CustomRule>, problems: &mut Vec<Problem>) {
    let origin = &item.origin;
    let mut wrong = |path: &str, message: String| problems.push(Problem::new(origin.at(path), message));
    let Ok(Value::Object(body)) = &item.value else {
        return wrong("", "a file of rules is a mapping with the key rules".to_owned());
    };
    if let Some(key) = unknown(body, &["rules"]) {
        wrong(key, format!("{key:?} is not known; expected rules"));
    }
    let Some(Value::Array(list)) = body.get("rules") else {
        return wrong("rules", "rules must be a list".to_owned());
    };
    for (nth, rule) in list.iter().enumerate() {
        let path = format!("rules[{nth}]");
        let Value::Object(map) = rule else {
            wrong(&path, "a rule is a mapping".to_owned());
            continue;
        };
        if let Some(key) = unknown(map, WITH_MATCH) {
            let message = format!("{key:?} is not known; a rule has {}", WITH_MATCH.join(", "));
            wrong(&format!("{path}.{key}"), message);
            continue;
        }
        let matched = map.get("match").and_then(Value::as_object);
        let part = |key: &str| matched.and_then(|matched| matched.get(key)?.as_str());
        let odd = matched.and_then(|matched| unknown(matched, &["group", "kind"]));
        let (Some(group), Some(kind), None) = (part("group"), part("kind"), odd) else {
            let message = "match must name group and kind, such as {group: example.com, kind: Widget}";
            wrong(&format!("{path}.match"), message.to_owned());
            continue;
        };
        match rule_of(map, group, kind, &origin.at(&path).to_string()) {
            Ok(rule) => rules.push(rule),
            Err((field, why)) => wrong(&format!("{path}.{field}"), format!("{field}: {why}")),
        }
    }
}

type Wrong = (&'static str, String);

fn rule_of(map: &Map<String, Value>, group: &str, kind: &str, place: &str) -> Result<CustomRule, Wrong> {
    let text = |field: &'static str| match map.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        // `current: true` is CEL, and YAML's own.
        Some(Value::Bool(true)) => Ok(Some("true")),
        Some(Value::Bool(false)) => Ok(Some("false")),
        Some(_) => Err((field, "must be a text; quote it, since braces begin a mapping in YAML".to_owned())),
    };
    let ignores_generation = match map.get("ignoreGeneration") {
        None => false,
        Some(Value::Bool(ignores)) => *ignores,
        Some(_) => return Err(("ignoreGeneration", "must be true or false".to_owned())),
    };
    let Some(current) = text("current")? else {
        return Err(("current", "is missing: a rule says when an object is current".to_owned()));
    };
    let (failed, message) = (text("failed")?, text("message")?);
    let rule = RuleText { group, kind, current, failed, message, ignores_generation, place };
    CustomRule::new(&rule).map_err(|error| (error.field, error.message))
}

fn unknown<'m>(map: &'m Map<String, Value>, known: &[&str]) -> Option<&'m str> {
    map.keys().map(String::as_str).find(|key| !known.contains(key))
}

#[cfg(test)]
mod tests {
    use kstatus::Kind;

    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let error = parse("r.yaml", text.as_bytes()).expect_err(text);
        error.problems().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_of_rules_is_read_in_order() {
        let rules = parse(
            "r.yaml",
            b"rules:\n- match: {group: example.com, kind: Widget}\n  current: '{.status.up}'\n- match: {group: example.com, kind: '*'}\n  current: '{.a}={.b}'\n  failed: '{.c}=x'\n  message: '{.m}'\n  ignoreGeneration: true\n",
        )
        .expect("good rules");
        let of = |kind| {
            let kind = Kind::new("example.com/v1", kind);
            rules.iter().find(|rule| rule.is_for(&kind)).map(CustomRule::place)
        };
        assert_eq!((of("Widget"), of("Gadget")), (Some("r.yaml:2"), Some("r.yaml:4")));
    }

    #[test]
    fn everything_wrong_with_a_file_is_told_with_its_line() {
        let text = "rules:\n- match: {group: example.com}\n  current: '{.a}'\n- match: {group: a, kind: B}\n  current: '{.a'\n- match: {group: a, kind: B}\n  curent: '{.a}'\n- match: {group: a, kind: B}\n  failed: '{.a}'\n- 3\n- match: {group: a, kind: B}\n  current: {.a: x}\n";
        let told = problems(text);
        let lines: Vec<&str> = told.iter().map(|line| line.split(": ").next().unwrap_or_default()).collect();
        assert_eq!(
            lines,
            ["r.yaml:2", "r.yaml:5", "r.yaml:7", "r.yaml:8", "r.yaml:10", "r.yaml:12"],
            "{told:#?}"
        );
        assert_eq!(problems("- a\n"), ["r.yaml:1: a file of rules is a mapping with the key rules"]);
        assert!(problems("rules: [\n")[0].starts_with("r.yaml:"));
        assert_eq!(problems("rulez: []\n").len(), 2);
    }

    #[test]
    fn a_definition_carries_the_rule_for_its_kind() {
        let json = |rule: &str| {
            serde_json::json!({"kind": "CustomResourceDefinition", "metadata": {"annotations": {STATUS_RULE: rule}},
                "spec": {"group": "example.com", "names": {"kind": "Widget"}}})
            .to_string()
        };
        let place = Place::new("crd.yaml", 7);
        let of = |rule: &str| of_definitions([(json(rule).as_bytes(), &place)]);
        let (rules, problems) = of("current: '{.status.up}'");
        assert_eq!(problems, []);
        assert!(rules[0].is_for(&Kind::new("example.com/v2", "Widget")));
        assert_eq!(rules[0].place(), "the definition of Widget (crd.yaml:7)");
        for (rule, part) in
            [("up", "no mapping"), ("when: x", "\"when\""), ("current: '{.a'", "current: "), ("a: [", "YAML")]
        {
            let (rules, problems) = of(rule);
            assert!(rules.is_empty() && problems[0].to_string().contains(part), "{problems:?}");
        }
        let other =
            br#"{"kind": "ConfigMap", "metadata": {"annotations": {"kubesettle.io/status-rule": "x"}}}"#;
        assert_eq!(of_definitions([(&other[..], &place)]), (vec![], vec![]));
    }
}
