//! The part of kubectl's JSONPath that rules need: fields, indices, wildcards and filters.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::expression::short;

/// No path leads to more values than this.
const VALUES: usize = 1024;
/// No path has more steps.
const STEPS: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path(Vec<Step>);

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(Box<str>),
    /// From the end when negative.
    Index(i64),
    Every,
    Filter(Filter),
}

#[derive(Clone, Debug, PartialEq)]
struct Filter {
    path: Path,
    /// `None`: it is enough that there is a value.
    test: Option<(Operator, Value)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

const OPERATORS: &[(&str, Operator)] = &[
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

impl Path {
    /// Reads `{…}` at the beginning of a text; gives what stands behind it.
    pub(super) fn read(text: &str) -> Result<(Self, &str), String> {
        let inside = text.strip_prefix('{').ok_or("a path stands in braces: {.status.phase}")?.trim_start();
        let inside = inside.strip_prefix('$').unwrap_or(inside);
        let (path, rest) = steps(inside, 0)?;
        let rest = rest.trim_start();
        let rest =
            rest.strip_prefix('}').ok_or_else(|| format!("expected . [ or }} and not {:?}", short(rest)))?;
        if path.0.is_empty() {
            return Err("the path is empty".to_owned());
        }
        Ok((path, rest))
    }

    /// Every value the path leads to.
    pub(super) fn values<'v>(&self, root: &'v Value) -> Vec<&'v Value> {
        self.0.iter().fold(vec![root], |found, step| {
            let next = found.into_iter().flat_map(|value| step.take(value));
            next.take(VALUES).collect()
        })
    }
}

impl Step {
    fn take<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match self {
            Self::Field(name) => value.get(&**name).into_iter().collect(),
            Self::Index(at) => {
                value.as_array().and_then(|items| items.get(place(*at, items.len())?)).into_iter().collect()
            }
            Self::Every => entries(value).take(VALUES).collect(),
            Self::Filter(filter) => entries(value).filter(|entry| filter.fits(entry)).take(VALUES).collect(),
        }
    }
}

fn place(at: i64, length: usize) -> Option<usize> {
    match usize::try_from(at) {
        Ok(at) => Some(at),
        Err(_) => length.checked_sub(usize::try_from(at.unsigned_abs()).ok()?),
    }
}

fn entries(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(fields) => Box::new(fields.values()),
        _ => Box::new(std::iter::empty()),
    }
}

impl Filter {
    fn fits(&self, entry: &Value) -> bool {
        let found = self.path.values(entry);
        let Some((operator, wanted)) = &self.test else { return !found.is_empty() };
        found.first().is_some_and(|value| operator.holds(value, wanted))
    }
}

impl Operator {
    fn holds(self, value: &Value, wanted: &Value) -> bool {
        let order = match (value, wanted) {
            (Value::Number(a), Value::Number(b)) => {
                a.as_f64().zip(b.as_f64()).and_then(|(a, b)| a.partial_cmp(&b))
            }
            (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
            (a, b) if a == b => Some(Ordering::Equal),
            _ => None,
        };
        match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::Unequal => order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            Self::AtMost => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Self::Greater => order == Some(Ordering::Greater),
            Self::AtLeast => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

/// Steps up to something that is none. Filters stand within each other no deeper than this.
const NESTING: usize = 4;

fn steps(text: &str, nesting: usize) -> Result<(Path, &str), String> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        if found.len() > STEPS {
            return Err(format!("has more than {STEPS} steps"));
        }
        if rest.starts_with("..") {
            return Err("`..` is not supported: write the way out".to_owned());
        }
        if let Some(after) = rest.strip_prefix('.') {
            let (name, after) = name(after);
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
            return Ok((Path(found), rest));
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
    let (path, rest) = steps(text, nesting + 1)?;
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
            let (read, rest) = Path::read(path).unwrap();
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
            let error = Path::read(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        let long = format!("{{{}}}", ".a".repeat(100));
        assert!(Path::read(&long).is_err());
    }
}
