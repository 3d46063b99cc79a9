//! A stream into documents, before anything is parsed: one broken document hides no other.

use super::problem::{Place, Problem};

/// A part of a stream between separators that holds more than comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment<'a> {
    pub(super) text: &'a str,
    /// The line that `text` starts on.
    pub(super) first_line: u32,
    /// The line of the first thing that is no comment.
    pub(super) content_line: u32,
}

/// The bytes as text, or what they are instead.
pub(super) fn text<'a>(data: &'a [u8], place: &Place) -> Result<&'a str, Problem> {
    if data.starts_with(&[0xff, 0xfe]) || data.starts_with(&[0xfe, 0xff]) {
        let problem = Problem::new(place.clone(), "is UTF-16 text; manifests are UTF-8");
        return Err(problem.hint("save the file as UTF-8 (in PowerShell: `Out-File -Encoding utf8`)"));
    }
    let text = std::str::from_utf8(data).map_err(|error| {
        let good = data.get(..error.valid_up_to()).unwrap_or_default();
        match memchr::memchr(0, data) {
            Some(_) => Problem::new(place.clone(), "is a binary file"),
            None => Problem::new(place.at_line(1 + newlines(good)), "is not UTF-8 text"),
        }
    })?;
    match memchr::memchr(0, data) {
        Some(_) => Err(Problem::new(place.clone(), "is a binary file")),
        None => Ok(text),
    }
}

pub(super) fn newlines(text: &[u8]) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', text).count()).unwrap_or(u32::MAX)
}

/// The segments of a stream. A separator line belongs to the segment that it opens when content stands
/// on it.
pub(super) fn segments(text: &str) -> Vec<Segment<'_>> {
    let mut found = Vec::new();
    let mut open = Open { start: 0, first_line: 1, content_line: None };
    let (mut offset, mut line) = (0, 0);
    for raw in text.split_inclusive('\n') {
        line += 1;
        let start = offset;
        offset += raw.len();
        match Line::of(raw) {
            Line::Separator { content } => {
                open.close(text, start, &mut found);
                open = match content {
                    true => Open { start, first_line: line, content_line: Some(line) },
                    false => Open { start: offset, first_line: line + 1, content_line: None },
                };
            }
            Line::End => {
                open.close(text, start, &mut found);
                open = Open { start: offset, first_line: line + 1, content_line: None };
            }
            Line::Content => open.content_line = open.content_line.or(Some(line)),
            Line::Empty => {}
        }
    }
    open.close(text, text.len(), &mut found);
    found
}

struct Open {
    start: usize,
    first_line: u32,
    content_line: Option<u32>,
}

impl Open {
    fn close<'a>(&self, text: &'a str, end: usize, found: &mut Vec<Segment<'a>>) {
        if let (Some(content_line), Some(part)) = (self.content_line, text.get(self.start..end)) {
            // Files that were joined keep their byte order marks.
            let text = part.strip_prefix('\u{feff}').unwrap_or(part);
            found.push(Segment { text, first_line: self.first_line, content_line });
        }
    }
}

enum Line {
    /// `---`, perhaps with content behind it.
    Separator {
        content: bool,
    },
    /// `...`
    End,
    /// Nothing, a comment or a directive.
    Empty,
    Content,
}

impl Line {
    fn of(raw: &str) -> Self {
        let raw = raw.strip_prefix('\u{feff}').unwrap_or(raw);
        if let Some(rest) = marker(raw, "---") {
            return Self::Separator { content: !is_blank(rest) };
        }
        if marker(raw, "...").is_some() {
            return Self::End;
        }
        if raw.starts_with('%') || is_blank(raw) { Self::Empty } else { Self::Content }
    }
}

fn marker<'a>(line: &'a str, marker: &str) -> Option<&'a str> {
    line.strip_prefix(marker).filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

fn is_blank(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    type Parts<'a> = (&'a str, u32, u32);

    fn split(text: &str) -> Vec<Parts<'_>> {
        segments(text).iter().map(|s| (s.text, s.first_line, s.content_line)).collect()
    }

    #[test]
    fn documents_keep_their_lines_and_empty_ones_vanish() {
        let cases: &[(&str, &[Parts<'_>])] = &[
            ("", &[]),
            ("# only a comment\n\n", &[]),
            ("a: 1", &[("a: 1", 1, 1)]),
            ("# c\n\na: 1\n", &[("# c\n\na: 1\n", 1, 3)]),
            ("---\na: 1\n---\n---\n# none\n---\nb: 2\n", &[("a: 1\n", 2, 2), ("b: 2\n", 7, 7)]),
            ("a: 1\r\n---\r\nb: 2\r\n", &[("a: 1\r\n", 1, 1), ("b: 2\r\n", 3, 3)]),
            ("--- {a: 1}\n--- # c\nb: 2", &[("--- {a: 1}\n", 1, 1), ("b: 2", 3, 3)]),
            ("%YAML 1.1\n---\na: 1\n...\n%YAML 1.1\n---\nb: 2\n", &[("a: 1\n", 3, 3), ("b: 2\n", 7, 7)]),
            ("a: |\n  ---\n  b\n----\nc: 1", &[("a: |\n  ---\n  b\n----\nc: 1", 1, 1)]),
            ("\u{feff}a: 1\n---\n\u{feff}b: 2", &[("a: 1\n", 1, 1), ("b: 2", 3, 3)]),
            ("a: 1\n---", &[("a: 1\n", 1, 1)]),
        ];
        for (text, wanted) in cases {
            assert_eq!(split(text), *wanted, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_text_is_named() {
        let place = Place::new("f", 0);
        let cases: &[(&[u8], &str)] = &[
            (b"\xff\xfea\0", "f: is UTF-16 text; manifests are UTF-8"),
            (b"\xfe\xff\0a", "f: is UTF-16 text; manifests are UTF-8"),
            (b"\x7fELF\0\xff", "f: is a binary file"),
            (b"a: 1\0", "f: is a binary file"),
            (b"a: 1\nb: \xe9\n", "f:2: is not UTF-8 text"),
        ];
        for (data, wanted) in cases {
            assert_eq!(text(data, &place).map_err(|p| p.to_string()), Err((*wanted).to_owned()));
        }
        assert_eq!(text(b"a", &place), Ok("a"));
    }
}
