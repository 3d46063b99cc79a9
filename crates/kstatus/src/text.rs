//! Bounded texts: a message an object carries may be a megabyte long, what is kept of it is not.

/// The longest message kept of any one text of an object, in bytes.
pub(crate) const MESSAGE_LIMIT: usize = 1024;

/// The longest start of `text` that has at most `limit` bytes and ends between characters.
pub(crate) fn prefix(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let end = (0..=limit).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// `text`, cut at the limit with a mark that something is missing.
pub(crate) fn clipped(text: &str) -> String {
    let text = text.trim();
    let kept = prefix(text, MESSAGE_LIMIT);
    if kept.len() == text.len() { kept.to_owned() } else { format!("{kept}…") }
}

/// The start of a text, to say in an error where something is wrong.
pub(crate) fn short(text: &str) -> &str {
    prefix(text, 32)
}
