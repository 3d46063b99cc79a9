//! One segment of a stream into trees: YAML, or JSON when it looks like it.

use serde::de::DeserializeSeed;
use serde_json::Value;
use serde_json::value::RawValue;
use serde_saphyr::Error as YamlError;
use serde_saphyr::budget::BudgetBreach;

use super::room;
use super::split::{Segment, newlines};
use super::tree::{Budget, TOO_LARGE, Tree};

/// One parsed document.
#[derive(Debug)]
pub(super) struct Document<'a> {
    pub(super) value: Value,
    /// Its source, which starts on `first_line`.
    pub(super) text: &'a str,
    pub(super) first_line: u32,
    /// The line of the first thing that is no comment.
    pub(super) line: u32,
}

/// Why a document could not be parsed. The message holds nothing of the document but a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) line: u32,
    pub(super) message: String,
}

/// The documents of a segment: one of YAML, any number of JSON.
pub(super) fn documents<'a>(segment: &Segment<'a>, mut each: impl FnMut(Result<Document<'a>, Fault>)) {
    let body = json_body(segment.text);
    if !body.starts_with('{') {
        return each(yaml(segment.text, segment.first_line, segment.content_line));
    }
    let skipped = segment.text.len() - body.len();
    let before = segment.text.get(..skipped).unwrap_or_default();
    let mut rest = body;
    let mut line = segment.first_line + newlines(before.as_bytes());
    while !rest.is_empty() {
        if !rest.starts_with('{') {
            return each(Err(Fault {
                line,
                message: "JSON syntax: something else after an object".to_owned(),
            }));
        }
        match next_json(rest, line) {
            Ok((document, after)) => {
                let used = rest.len() - after.len();
                line += newlines(rest.get(..used).unwrap_or_default().as_bytes());
                rest = after;
                each(Ok(document));
            }
            // What starts like JSON may be YAML in flow style.
            Err(fault) => return each(yaml(rest, line, line).map_err(|other| prefer(rest, fault, other))),
        }
    }
}

/// What follows separators, comments and blanks, when a document in braces comes first.
fn json_body(text: &str) -> &str {
    let text = text.strip_prefix("---").unwrap_or(text).trim_start_matches(BLANKS);
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

fn next_json(text: &str, line: u32) -> Result<(Document<'_>, &str), Fault> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let raw = match values.next() {
        Some(Ok(raw)) => raw.get(),
        Some(Err(error)) => return Err(json_fault(&error, line)),
        None => "null",
    };
    let budget = Budget::for_document(raw.len());
    let tree = Tree(&budget).deserialize(&mut serde_json::Deserializer::from_str(raw));
    let value = tree.map_err(|error| json_fault(&error, line))?;
    let after = text.get(values.byte_offset()..).unwrap_or_default().trim_start_matches(BLANKS);
    Ok((Document { value, text: raw, first_line: line, line }, after))
}

fn json_fault(error: &serde_json::Error, line: u32) -> Fault {
    let text = error.to_string();
    let message = text.rfind(" at line ").and_then(|end| text.get(..end)).unwrap_or(&text);
    let message = match error.is_data() {
        true => message.to_owned(),
        false => format!("JSON syntax: {message}"),
    };
    Fault { line: line + line_offset(error.line()), message }
}

/// Which of two readings of the same text the writer meant.
fn prefer(text: &str, json: Fault, yaml: Fault) -> Fault {
    let inside = text.strip_prefix('{').unwrap_or(text).trim_start_matches(BLANKS);
    if inside.is_empty() || inside.starts_with(['"', '}']) { json } else { yaml }
}

fn yaml(text: &str, first_line: u32, line: u32) -> Result<Document<'_>, Fault> {
    if room::may_be_deep(text) {
        let parsed = room::with_room(|| yaml_tree(text, first_line, line));
        return parsed.map(|value| Document { value, text, first_line, line });
    }
    yaml_tree(text, first_line, line).map(|value| Document { value, text, first_line, line })
}

fn yaml_tree(text: &str, first_line: u32, line: u32) -> Result<Value, Fault> {
    let budget = Budget::for_document(text.len());
    let parsed = serde_saphyr::with_deserializer_from_str_with_options(text, options(text.len()), |yaml| {
        Tree(&budget).deserialize(yaml)
    });
    parsed.map_err(|error| yaml_fault(&error, first_line, line))
}

/// The text of an annotation that holds YAML.
pub(crate) fn embedded(text: &str) -> Result<Value, String> {
    yaml(text, 1, 1).map(|document| document.value).map_err(|fault| fault.message)
}

/// A little less than serde_json reads back.
const MAX_DEPTH: usize = 120;

/// kubectl's reading, and limits that follow the size of the document: only aliases can make more of
/// it than it is, and these are limited by themselves.
fn options(bytes: usize) -> serde_saphyr::Options {
    serde_saphyr::options! {
        legacy_octal_numbers: true,
        // Snippets would show values of Secrets.
        with_snippet: false,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 500_000 },
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            max_events: bytes.saturating_mul(4).saturating_add(1_000_000),
            max_nodes: bytes.saturating_mul(4).saturating_add(1_000_000),
            max_total_scalar_bytes: bytes.saturating_mul(4).saturating_add(64 << 20),
            enforce_alias_anchor_ratio: false,
        },
    }
}

fn yaml_fault(error: &YamlError, first_line: u32, line: u32) -> Fault {
    let at = error.location().map(|location| location.line()).filter(|&line| line > 0);
    let at = at.and_then(|line| usize::try_from(line).ok());
    Fault { line: at.map_or(line, |at| first_line + line_offset(at)), message: yaml_message(error) }
}

fn line_offset(one_based: usize) -> u32 {
    u32::try_from(one_based.saturating_sub(1)).unwrap_or(u32::MAX >> 1)
}

/// Own words wherever the parser's could hold a value.
fn yaml_message(error: &YamlError) -> String {
    let words = match error {
        YamlError::ExternalMessage { msg, .. } => return format!("YAML syntax: {msg}"),
        YamlError::Message { msg, .. } => return msg.clone(),
        YamlError::Unexpected { expected, .. } => return format!("YAML: expected {expected}"),
        YamlError::DuplicateMappingKey { key: Some(key), .. } => {
            return format!("key {key:?} is given twice");
        }
        YamlError::AliasError { error, .. } | YamlError::WithSnippet { error, .. } => {
            return yaml_message(error);
        }
        YamlError::Budget { breach: BudgetBreach::Depth { .. }, .. } => {
            return format!("is nested deeper than {MAX_DEPTH} levels");
        }
        YamlError::Budget { .. }
        | YamlError::AliasReplayLimitExceeded { .. }
        | YamlError::AliasReplayCounterOverflow { .. }
        | YamlError::AliasExpansionLimitExceeded { .. }
        | YamlError::AliasReplayStackDepthExceeded { .. } => TOO_LARGE,
        YamlError::DuplicateMappingKey { .. } => "a key is given twice",
        YamlError::UnknownAnchor { .. } => {
            "YAML: an alias (*name) without its anchor; quote a text that starts with *"
        }
        YamlError::RecursiveReferencesRequireWeakTypes { .. } => "YAML: an alias within its own anchor",
        YamlError::NonFiniteFloat { .. } => "a number that JSON cannot hold",
        YamlError::MergeValueNotMapOrSeqOfMaps { .. } => {
            "YAML: a merge key (<<) takes a mapping, or a list of them"
        }
        YamlError::InvalidBinaryBase64 { .. } => "YAML: a !!binary value that is no base64",
        YamlError::BinaryNotUtf8 { .. } => "YAML: a !!binary value that is no UTF-8 text",
        YamlError::Eof { .. } => "YAML syntax: ends too early",
        _ => "YAML that JSON cannot hold",
    };
    words.to_owned()
}
