//! Labels that objects of the input must have, as kubectl's `-l` has them.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use super::object::Object;

/// Which objects are meant, by their labels: `app=web,tier!=db,env in (a,b),env notin (c),new,!old,size>3`.
/// All of it must hold. A label that is not there differs from every value.
///
/// Source: the label selectors of the Kubernetes API. Unlike there, an empty one is an error: it would mean
/// everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelSelector {
    text: Box<str>,
    needs: Vec<(Box<str>, Need)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Need {
    OneOf(Vec<Box<str>>),
    NoneOf(Vec<Box<str>>),
    There,
    NotThere,
    Above(i64),
    Below(i64),
}

/// A text that is no selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} selects no labels: {why}; write it as kubectl takes it, such as app=web,tier!=db")]
pub struct SelectorError {
    text: Box<str>,
    why: Box<str>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Body {
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    labels: Option<BTreeMap<String, String>>,
}

impl LabelSelector {
    /// True for an object of the input that has the labels.
    pub fn admits(&self, object: &Object) -> bool {
        let Body { metadata } = serde_json::from_slice(object.json()).unwrap_or_default();
        let labels = metadata.labels.unwrap_or_default();
        self.matches(|key| labels.get(key).map(String::as_str))
    }

    fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.needs.iter().all(|(key, need)| need.met(label(key)))
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for LabelSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let needs: Result<Vec<_>, String> = parts(text).into_iter().map(|part| one(part.trim())).collect();
        match needs {
            Ok(needs) => Ok(Self { text: text.into(), needs }),
            Err(why) => Err(SelectorError { text: text.into(), why: why.into() }),
        }
    }
}

impl Need {
    fn met(&self, value: Option<&str>) -> bool {
        let among = |values: &[Box<str>]| value.is_some_and(|value| values.iter().any(|one| &**one == value));
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::OneOf(values) => among(values),
            Self::NoneOf(values) => !among(values),
            Self::There => value.is_some(),
            Self::NotThere => value.is_none(),
            Self::Above(least) => number().is_some_and(|number| number > *least),
            Self::Below(most) => number().is_some_and(|number| number < *most),
        }
    }
}

/// The requirements: commas between parentheses divide values.
fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

fn one(part: &str) -> Result<(Box<str>, Need), String> {
    if part.is_empty() {
        return Err("a label is missing".to_owned());
    }
    if let Some(found) = part.strip_suffix(')').and_then(|part| part.split_once('(')) {
        return listed(found.0, found.1);
    }
    if let Some((left, right)) = part.split_once("!=") {
        return Ok((key(left)?, Need::NoneOf(vec![value(right)?])));
    }
    if let Some((left, right)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return Ok((key(left)?, Need::OneOf(vec![value(right)?])));
    }
    if let Some((left, right)) = part.split_once('>') {
        return Ok((key(left)?, Need::Above(number(right)?)));
    }
    if let Some((left, right)) = part.split_once('<') {
        return Ok((key(left)?, Need::Below(number(right)?)));
    }
    match part.strip_prefix('!') {
        Some(left) => Ok((key(left)?, Need::NotThere)),
        None => Ok((key(part)?, Need::There)),
    }
}

fn listed(head: &str, values: &str) -> Result<(Box<str>, Need), String> {
    let values = values.split(',').map(value).collect::<Result<Vec<_>, _>>()?;
    match head.trim().split_once(char::is_whitespace).map(|(left, word)| (left, word.trim())) {
        Some((left, "in")) => Ok((key(left)?, Need::OneOf(values))),
        Some((left, "notin")) => Ok((key(left)?, Need::NoneOf(values))),
        _ => Err("parentheses come after in or notin".to_owned()),
    }
}

fn number(text: &str) -> Result<i64, String> {
    text.trim().parse().map_err(|_| format!("{:?} is no whole number", text.trim()))
}

fn key(text: &str) -> Result<Box<str>, String> {
    let text = text.trim();
    let (prefix, name) = text.rsplit_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    let domain = |prefix: &str| {
        let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
        (1..=253).contains(&prefix.len()) && prefix.chars().all(word)
    };
    match !name.is_empty() && is_word(name) && prefix.is_none_or(domain) {
        true => Ok(text.into()),
        false => Err(format!("{text:?} is no key of a label")),
    }
}

fn value(text: &str) -> Result<Box<str>, String> {
    let text = text.trim();
    if is_word(text) { Ok(text.into()) } else { Err(format!("{text:?} is no value of a label")) }
}

/// What a value may be, and, unless it is empty, a key's name.
fn is_word(text: &str) -> bool {
    let end = |c: char| c.is_ascii_alphanumeric();
    let inner = |c: char| end(c) || matches!(c, '-' | '_' | '.');
    text.is_empty()
        || text.len() <= 63 && text.starts_with(end) && text.ends_with(end) && text.chars().all(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_selected_as_kubectl_does() {
        let labels = BTreeMap::from([("app", "web"), ("example.com/tier", ""), ("size", "5")]);
        for (text, expected) in [
            ("app=web", true),
            ("app==web", true),
            (" app = web ", true),
            ("app=db", false),
            ("app!=db", true),
            ("app!=web", false),
            ("none!=web", true),
            ("app", true),
            ("none", false),
            ("!app", false),
            ("!none", true),
            ("example.com/tier=", true),
            ("app in (db, web)", true),
            ("app in (db)", false),
            ("app notin (db,x)", true),
            ("app notin (web)", false),
            ("none in (a)", false),
            ("none notin (a)", true),
            ("size>4", true),
            ("size>5", false),
            ("size<6", true),
            ("app>1", false),
            ("app=web,size", true),
            ("app=web,!size", false),
            ("app in (a,web),size=5", true),
        ] {
            let selector: LabelSelector = text.parse().expect(text);
            assert_eq!(selector.matches(|key| labels.get(key).copied()), expected, "{text}");
        }
    }

    #[test]
    fn what_selects_nothing_is_named_with_the_reason() {
        for (text, why) in [
            ("", "missing"),
            ("app=web,", "missing"),
            ("=web", "key"),
            ("-a=b", "key"),
            ("/a", "key"),
            ("a=b=c", "value"),
            ("a=b c", "value"),
            ("a in b", "key"),
            ("a of (b)", "in or notin"),
            ("a>b", "whole number"),
        ] {
            let error = text.parse::<LabelSelector>().expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
