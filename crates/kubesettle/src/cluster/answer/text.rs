//! Making what servers and proxies say fit for a line.

use http::StatusCode;
use serde::de::IgnoredAny;

/// Bytes of a message that are kept; some answers repeat a whole Job template.
pub(super) const MESSAGE: usize = 1024;
/// The same for one field.
pub(super) const CAUSE: usize = 512;
/// The same for a proxy's web page.
const PAGE: usize = 200;

/// For an answer without words.
pub(super) fn nothing_said(code: u16) -> String {
    match StatusCode::from_u16(code).ok().and_then(|status| status.canonical_reason()) {
        Some(reason) => format!("the server answered {code} {reason}"),
        None => format!("the server answered {code}"),
    }
}

/// Cuts the middle out of long text: the start names the field and the end says what is wrong.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let tail = limit / 3;
    let head = text.floor_char_boundary(limit - tail);
    let tail = text.ceil_char_boundary(text.len() - tail);
    let (head, _) = text.split_at(head);
    let (_, tail) = text.split_at(tail);
    format!("{head} … {tail}")
}

/// Values that an error repeats whole, such as the template of a Job that cannot be changed, up to this
/// many bytes: longer ones hide what is wrong with them.
const VALUE: usize = 160;
const INVALID: &str = "Invalid value: ";

/// Takes long objects and lists out of what an error says about a value.
pub(super) fn without_objects(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, value)) = rest.split_once(INVALID) {
        out.push_str(before);
        out.push_str(INVALID);
        rest = value;
        let mark = match value.as_bytes().first() {
            Some(b'{') => "{…}",
            Some(b'[') => "[…]",
            _ => continue,
        };
        let mut values = serde_json::Deserializer::from_str(value).into_iter::<IgnoredAny>();
        let whole = values.next().is_some_and(|value| value.is_ok());
        let after = value.get(values.byte_offset()..).filter(|after| value.len() - after.len() > VALUE);
        if let Some(after) = after.filter(|_| whole) {
            out.push_str(mark);
            rest = after;
        }
    }
    out + rest
}

/// Takes out what an error about a Secret repeats of it: the server shows a value of the wrong type or
/// a refused one as it was sent.
pub(super) fn without_values(text: &str) -> String {
    const NOT_SHOWN: &str = "(not shown)";
    let line = |line: &str| {
        if let Some((before, _)) = line.split_once(", got ") {
            return format!("{before}, got {NOT_SHOWN}");
        }
        match line.split_once(INVALID) {
            Some((before, after)) => {
                let why = after.rsplit_once(": ").map_or("refused", |(_, why)| why);
                format!("{before}{INVALID}{NOT_SHOWN}: {why}")
            }
            None => line.to_owned(),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The words of an HTML page on one line; `None` when `text` is no page.
pub(super) fn page(text: &str) -> Option<String> {
    let start = text.trim_start().get(..14).unwrap_or(text).to_ascii_lowercase();
    if !(start.starts_with("<!doctype html") || start.starts_with("<html") || start.starts_with("<head")) {
        return None;
    }
    let words = match between(text, "<title>", "</title>") {
        Some(title) if !title.trim().is_empty() => title.to_owned(),
        _ => without_tags(text),
    };
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(shorten(&words, PAGE))
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let lower = text.to_ascii_lowercase();
    let start = lower.find(open)? + open.len();
    let end = start + lower.get(start..)?.find(close)?;
    text.get(start..end)
}

fn without_tags(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for letter in text.chars() {
        match letter {
            '<' => inside = true,
            '>' => {
                inside = false;
                out.push(' ');
            }
            _ if !inside => out.push(letter),
            _ => {}
        }
    }
    out
}
