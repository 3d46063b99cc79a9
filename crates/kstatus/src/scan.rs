//! Walking JSON that has been checked as a whole already: no checks, no allocations, and on what
//! should not be there an early end instead of a wrong turn.

use std::borrow::Cow;

/// A place in a text.
#[derive(Clone, Copy)]
pub(crate) struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    /// Behind the bracket a list or an object begins with.
    pub(crate) fn inside(text: &'a str) -> Self {
        Self { text, at: 1 }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// Goes to the next byte that is neither white space nor a separator.
    fn next(&mut self) -> Option<u8> {
        loop {
            match self.byte(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' => self.at += 1,
                other => return Some(other),
            }
        }
    }

    /// The next entry of a list.
    pub(crate) fn item(&mut self) -> Option<&'a str> {
        let from = self.at;
        match self.next()? {
            b']' | b'}' => None,
            _ => self.value().filter(|_| self.at > from),
        }
    }

    /// The next entry of an object.
    fn member(&mut self) -> Option<(Key<'a>, &'a str)> {
        if self.next()? != b'"' {
            return None;
        }
        let key = self.value()?;
        let key = Key(key.strip_prefix('"')?.strip_suffix('"')?);
        Some((key, self.item()?))
    }

    /// The value that begins here.
    fn value(&mut self) -> Option<&'a str> {
        let from = self.at;
        match self.byte(from)? {
            b'"' => self.pass_string()?,
            b'{' | b'[' => self.pass_container()?,
            _ => self.pass_scalar(),
        }
        self.text.get(from..self.at)
    }

    fn pass_string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            let mark = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
            self.at += mark + 1;
            if rest.get(mark) == Some(&b'"') {
                return Some(());
            }
            self.at += 1;
        }
    }

    fn pass_container(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.byte(self.at)? {
                b'"' => {
                    self.pass_string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn pass_scalar(&mut self) {
        let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(ends).unwrap_or(rest.len());
    }
}

/// The entries of an object.
pub(crate) struct Members<'a>(pub(crate) Scan<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Key<'a>, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.member()
    }
}

/// A key as it stands in the text, without its quotes.
pub(crate) struct Key<'a>(&'a str);

impl<'a> Key<'a> {
    pub(crate) fn is(&self, name: &str) -> bool {
        self.0 == name || (self.0.contains('\\') && unescaped(self.0) == name)
    }

    pub(crate) fn value(self) -> Cow<'a, str> {
        unescaped(self.0)
    }
}

/// The value of a string, given what stands between its quotes. A surrogate without its other half
/// becomes the replacement character.
pub(crate) fn unescaped(inner: &str) -> Cow<'_, str> {
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let mut value = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((plain, escape)) = rest.split_once('\\') {
        value.push_str(plain);
        let mut letters = escape.chars();
        match letters.next() {
            Some('b') => value.push('\u{8}'),
            Some('f') => value.push('\u{c}'),
            Some('n') => value.push('\n'),
            Some('r') => value.push('\r'),
            Some('t') => value.push('\t'),
            Some('u') => {
                let (letter, tail) = code_point(letters.as_str());
                value.push(letter);
                letters = tail.chars();
            }
            Some(other) => value.push(other),
            None => {}
        }
        rest = letters.as_str();
    }
    value.push_str(rest);
    Cow::Owned(value)
}

/// The character whose four hexadecimal digits begin here, or eight with an escape between them.
fn code_point(text: &str) -> (char, &str) {
    let unit = |text: &str| text.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let Some(first) = unit(text) else { return (char::REPLACEMENT_CHARACTER, text) };
    let tail = text.get(4..).unwrap_or_default();
    if let Some(letter) = char::from_u32(first) {
        return (letter, tail);
    }
    let low = tail.strip_prefix("\\u").and_then(|rest| Some((unit(rest)?, rest.get(4..)?)));
    if let Some((second, rest)) = low
        && (0xd800..0xdc00).contains(&first)
        && (0xdc00..0xe000).contains(&second)
    {
        let letter = char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00));
        return (letter.unwrap_or(char::REPLACEMENT_CHARACTER), rest);
    }
    (char::REPLACEMENT_CHARACTER, tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_items_come_in_order_whatever_they_hold() {
        let text = r#"{ "a" : [1, {"x":"]}"}, "\""], "b":{} ,"c": -1.5e3,"d\u0065":null}"#;
        let members: Vec<_> = Members(Scan::inside(text)).map(|(key, value)| (key.value(), value)).collect();
        let expected = [("a", r#"[1, {"x":"]}"}, "\""]"#), ("b", "{}"), ("c", "-1.5e3"), ("de", "null")];
        assert_eq!(members, expected.map(|(key, value)| (Cow::Borrowed(key), value)));
        let mut list = Scan::inside(r#"[ 1 ,[2, 3],"four"]"#);
        let items: Vec<_> = std::iter::from_fn(|| list.item()).collect();
        assert_eq!(items, ["1", "[2, 3]", "\"four\""]);
    }

    #[test]
    fn escapes_have_the_values_json_gives_them() {
        for inner in
            ["plain", r#"a \"quoted\" word"#, r"\\ \/ \b \f \n \r \t", r"\u00e4\u20ac", r"\ud83d\ude00 end"]
        {
            let expected: String = serde_json::from_str(&format!("\"{inner}\"")).unwrap();
            assert_eq!(unescaped(inner), expected);
        }
        assert_eq!(unescaped(r"lone \ud83d half"), "lone \u{fffd} half");
    }

    #[test]
    fn what_is_no_json_ends_early() {
        for text in ["{", "{\"a", "{\"a\":", "[1,", "[\"", "", "{]", "[}", "{\"a\":}", "[[[", "\\u12"] {
            assert!(Members(Scan::inside(text)).count() <= 1, "{text}");
            let mut list = Scan::inside(text);
            assert!(std::iter::from_fn(|| list.item()).count() <= 2, "{text}");
            let _ = unescaped(text);
        }
    }
}
