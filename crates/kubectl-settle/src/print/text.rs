//! Text that comes from the cluster, made safe and short enough for a line.

use unicode_width::UnicodeWidthStr;

/// On one line: runs of white space and control characters become one space, so that nothing from
/// the cluster can move the cursor or forge a line.
pub(crate) fn one_line(text: &str) -> String {
    let clean: String = text.chars().map(|c| if unsafe_to_show(c) { ' ' } else { c }).collect();
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// On as many lines as it has, each cleaned; empty ones left out.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(one_line).filter(|line| !line.is_empty())
}

/// Control characters, and the marks that change the direction of text.
fn unsafe_to_show(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Columns the text takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text and spaces up to `columns`; never cut.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    let mut padded = text.to_owned();
    padded.extend(std::iter::repeat_n(' ', columns.saturating_sub(width(text))));
    padded
}

/// `1 object`, `2 objects`.
pub(crate) fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

/// `a, b, c and 7 more`.
pub(crate) fn listing<T: std::fmt::Display>(items: impl IntoIterator<Item = T>, at_most: usize) -> String {
    let mut items = items.into_iter();
    let shown: Vec<_> = items.by_ref().take(at_most).map(|item| item.to_string()).collect();
    match items.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_moves_the_cursor() {
        assert_eq!(one_line("a\u{1b}[2J\tb\r\nc  d\u{7}\u{202e}e"), "a [2J b c d e");
        assert_eq!(lines("one\n\n two\u{8}x\n").collect::<Vec<_>>(), ["one", "two x"]);
    }

    #[test]
    fn padding_counts_columns_not_bytes() {
        assert_eq!(pad("名", 4), "名  ");
        assert_eq!(pad("longer", 3), "longer");
    }

    #[test]
    fn a_listing_says_what_it_leaves_out() {
        assert_eq!(listing(["a", "b"], 2), "a, b");
        assert_eq!(listing(["a", "b", "c", "d"], 2), "a, b and 2 more");
    }
}
