//! `Warning` headers: what the server thinks of a request that it did not refuse.

use http::HeaderMap;
use http::header::WARNING;

/// The texts of all warnings, in order.
pub(super) fn collect(headers: &HeaderMap) -> Vec<Box<str>> {
    let mut found = Vec::new();
    for value in headers.get_all(WARNING) {
        let text = String::from_utf8_lossy(value.as_bytes());
        parse(&text, &mut found);
    }
    found
}

/// Reads `CODE AGENT "TEXT" ["DATE"]`, several of which a comma separates. What does not fit that
/// form is kept as it is: a warning with odd quotes is still a warning.
fn parse(value: &str, found: &mut Vec<Box<str>>) {
    let mut rest = value.trim();
    while !rest.is_empty() {
        let Some((text, after)) = one(rest) else {
            found.push(rest.into());
            return;
        };
        found.push(text.into());
        rest = after.trim_start();
        if let Some((_, after_date)) = quoted(rest) {
            rest = after_date.trim_start();
        }
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
}

fn one(text: &str) -> Option<(String, &str)> {
    let (code, rest) = text.split_once(' ')?;
    if code.len() != 3 || !code.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (_agent, rest) = rest.trim_start().split_once(' ')?;
    quoted(rest.trim_start())
}

/// A quoted string without its quotes and backslashes, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut out = String::new();
    let mut letters = inner.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((out, inner.get(at + 1..)?)),
            '\\' => out.push(letters.next()?.1),
            _ => out.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_unquoted_and_split() {
        let rows: [(&str, &[&str]); 8] = [
            (
                r#"299 - "line 1: key \"replicas\" already set in map""#,
                &[r#"line 1: key "replicas" already set in map"#],
            ),
            (r#"299 - "a, b" , 299 - "c""#, &["a, b", "c"]),
            (r#"299 - "a" "Wed, 21 Oct 2026 07:28:00 GMT", 199 proxy:80 "b""#, &["a", "b"]),
            (r#"299 - "back\\slash""#, &[r"back\slash"]),
            (r#"299 - """#, &[""]),
            (r#"299 - "open"#, &[r#"299 - "open"#]),
            ("free text", &["free text"]),
            ("", &[]),
        ];
        for (header, expected) in rows {
            let mut found = Vec::new();
            parse(header, &mut found);
            assert_eq!(found.iter().map(AsRef::as_ref).collect::<Vec<&str>>(), expected, "{header}");
        }
    }

    #[test]
    fn every_header_counts() {
        let mut headers = HeaderMap::new();
        headers.append(WARNING, r#"299 - "one""#.parse().unwrap());
        headers.append(WARNING, r#"299 - "two""#.parse().unwrap());
        assert_eq!(collect(&headers).len(), 2);
    }
}
