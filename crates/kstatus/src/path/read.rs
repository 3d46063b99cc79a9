//! From text to steps.

use serde_json::{Number, Value};

use super::{Filter, JsonPath, Operator, Step};
use crate::text::short;

/// No path has more steps.
const STEPS: usize = 64;

const OPERATORS: &[(&str, Operator)] = &[
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// Whose spelling of names it is.
#[derive(Clone, Copy, PartialEq)]
enum Spelling {
    /// Letters and a few signs; a backslash keeps others.
    Kubectl,
    /// Everything up to a dot or a bracket; `..` looks everywhere within.
    Goessner,
}

impl JsonPath {
    /// Reads `{…}` at the beginning of a text; gives what stands behind it.
    pub(crate) fn in_braces(text: &str) -> Result<(Self, &str), String> {
        let inside = text.strip_prefix('{').ok_or("a path stands in braces: {.status.phase}")?.trim_start();
        let inside = inside.strip_prefix('$').unwrap_or(inside);
        let (path, rest) = steps(inside, 0, Spelling::Kubectl)?;
        let rest = rest.trim_start();
        let rest =
            rest.strip_prefix('}').ok_or_else(|| format!("expected . [ or }} and not {:?}", short(rest)))?;
        if path.0.is_empty() {
            return Err("the path is empty".to_owned());
        }
        Ok((path, rest))
    }
}

/// Reads a path that is all of the text.
pub(super) fn whole(text: &str) -> Result<JsonPath, String> {
    if text.starts_with('{') {
        return Err("write it without braces: $.spec.replicas".to_owned());
    }
    let inside = text.strip_prefix('$').ok_or("a path begins with $: $.spec.replicas")?;
    let (path, rest) = steps(inside, 0, Spelling::Goessner)?;
    match rest {
        "" => Ok(path),
        rest => Err(format!("expected . or [ and not {:?}", short(rest))),
    }
}

/// Steps up to something that is none. Filters stand within each other no deeper than this.
const NESTING: usize = 4;

fn steps(text: &str, nesting: usize, spelling: Spelling) -> Result<(JsonPath, &str), String> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        if found.len() > STEPS {
            return Err(format!("has more than {STEPS} steps"));
        }
        if let Some(after) = rest.strip_prefix("..") {
            if spelling == Spelling::Kubectl {
                return Err("`..` is not supported: write the way out".to_owned());
            }
            found.push(Step::Within);
            // What follows is read as if one dot stood there.
            rest = if after.starts_with('[') { after } else { rest.get(1..).unwrap_or_default() };
            if found.ends_with(&[Step::Within, Step::Within]) || rest == "." {
                return Err("expected a name or [ behind `..`".to_owned());
            }
        } else if let Some(after) = rest.strip_prefix('.') {
            let (name, after) = match spelling {
                Spelling::Kubectl => name(after),
                Spelling::Goessner => up_to_dot_or_bracket(after),
            };
            match &*name {
                "" if after.starts_with('[') => {}
                "" => return Err(format!("expected a name behind the dot and not {:?}", short(after))),
                "*" => found.push(Step::Every),
                _ => found.push(Step::Field(name.into())),
            }
            rest = after;
        } else if let Some(after) = rest.strip_prefix('[') {
            let (step, after) = bracket(after.trim_start(), nesting)?;
            found.push(step);
            rest = after
                .trim_start()
                .strip_prefix(']')
                .ok_or_else(|| format!("expected ] and not {:?}", short(after)))?;
        } else {
            return Ok((JsonPath(found), rest));
        }
    }
}

/// A name up to a sign that ends it; a backslash keeps the sign behind it.
fn name(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => name.extend(letters.next().map(|(_, letter)| letter)),
            letter if letter.is_alphanumeric() || "_-*/@:$".contains(letter) => name.push(letter),
            _ => return (name, text.get(at..).unwrap_or_default()),
        }
    }
    (name, "")
}

fn up_to_dot_or_bracket(text: &str) -> (String, &str) {
    let (name, rest) = text.split_at(text.find(['.', '[']).unwrap_or(text.len()));
    (name.to_owned(), rest)
}

fn bracket(text: &str, nesting: usize) -> Result<(Step, &str), String> {
    if let Some(after) = text.strip_prefix('*') {
        return Ok((Step::Every, after));
    }
    if let Some(after) = text.strip_prefix("?(") {
        if nesting >= NESTING {
            return Err("filters are nested too deeply".to_owned());
        }
        return filter(after.trim_start(), nesting);
    }
    if text.starts_with(['"', '\'']) {
        let (key, after) = quoted(text)?;
        return Ok((Step::Field(key.into()), after));
    }
    let end = text.find(']').unwrap_or(text.len());
    let (number, after) = text.split_at(end);
    match number.trim().parse() {
        Ok(at) => Ok((Step::Index(at), after)),
        Err(_) => {
            Err(format!("in brackets stands an index, a quoted name, * or ?(…), and not {:?}", short(number)))
        }
    }
}

fn filter(text: &str, nesting: usize) -> Result<(Step, &str), String> {
    let text =
        text.strip_prefix('@').ok_or_else(|| format!("a filter begins with @ and not {:?}", short(text)))?;
    let (path, rest) = steps(text, nesting + 1, Spelling::Kubectl)?;
    let rest = rest.trim_start();
    let found = OPERATORS.iter().find_map(|(sign, operator)| Some((*operator, rest.strip_prefix(sign)?)));
    let (test, rest) = match found {
        Some((operator, rest)) => {
            let (value, rest) = literal(rest.trim_start())?;
            (Some((operator, value)), rest)
        }
        None => (None, rest),
    };
    let rest = rest.trim_start();
    let rest = rest.strip_prefix(')').ok_or_else(|| format!("expected ) and not {:?}", short(rest)))?;
    Ok((Step::Filter(Filter { path, test }), rest))
}

fn literal(text: &str) -> Result<(Value, &str), String> {
    if text.starts_with(['"', '\'']) {
        return quoted(text).map(|(text, rest)| (Value::String(text), rest));
    }
    let end = text.find([')', ' ']).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let value = match word {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        number => Value::Number(
            number
                .parse::<i64>()
                .map(Number::from)
                .ok()
                .or_else(|| Number::from_f64(number.parse().ok()?))
                .ok_or_else(|| {
                format!("expected a quoted text, a number, true, false or null, and not {:?}", short(word))
            })?,
        ),
    };
    Ok((value, rest))
}

fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut letters = text.char_indices();
    let quote = letters.next().map(|(_, letter)| letter);
    let mut value = String::new();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
            letter if Some(letter) == quote => {
                return Ok((value, text.get(at + letter.len_utf8()..).unwrap_or_default()));
            }
            letter => value.push(letter),
        }
    }
    Err("a quote is not closed".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_read_as_kubectl_reads_them() {
        let object = json!({"metadata": {"annotations": {"a.b/c": "x"}}, "status": {"phase": "Up", "list": [
            {"type": "Ready", "status": "True", "n": 3}, {"type": "Old", "status": "False", "n": 1}]}});
        for (path, found) in [
            ("{.status.phase}", json!(["Up"])),
            ("{$.status.phase}", json!(["Up"])),
            ("{ .status['phase'] }", json!(["Up"])),
            ("{.metadata.annotations.a\\.b/c}", json!(["x"])),
            ("{.metadata.annotations[\"a.b/c\"]}", json!(["x"])),
            ("{.status.list[?(@.type==\"Ready\")].status}", json!(["True"])),
            ("{.status.list[?(@.type == 'Ready')].status}", json!(["True"])),
            ("{.status.list[?(@.n>=2)].type}", json!(["Ready"])),
            ("{.status.list[?(@.missing)].type}", json!([])),
            ("{.status.list[?(@.n!=3)].type}", json!(["Old"])),
            ("{.status.list[*].type}", json!(["Ready", "Old"])),
            ("{.status.list[-1].type}", json!(["Old"])),
            ("{.status.list[0].type}", json!(["Ready"])),
            ("{.status.list[7].type}", json!([])),
            ("{.status.nothing.at.all}", json!([])),
        ] {
            let (read, rest) = JsonPath::in_braces(path).unwrap();
            assert_eq!((json!(read.values(&object)), rest), (found, ""), "{path}");
        }
    }

    #[test]
    fn what_is_no_path_says_where() {
        for (text, part) in [
            ("{}", "empty"),
            ("{.a", "}"),
            ("{a}", "expected"),
            ("{..a}", "not supported"),
            ("{.a[}", "brackets"),
            ("{.a[?(b)]}", "@"),
            ("{.a[?(@.b==c)]}", "quoted"),
            ("{.a[?(@.b==\"c)]}", "not closed"),
            ("{.a[?(@.b[?(@.c[?(@.d[?(@.e[?(@.f)])])])])]}", "deeply"),
        ] {
            let error = JsonPath::in_braces(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        let long = format!("{{{}}}", ".a".repeat(100));
        assert!(JsonPath::in_braces(&long).is_err());
    }
}
