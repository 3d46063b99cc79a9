//! JSONPath: the part that kubectl's templates and the annotations of cli-utils have in common.

mod read;

use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

/// No path of a rule leads to more values than this.
const VALUES: usize = 1024;
/// How many places are looked through before a path is said to lead to many.
const PLACES: usize = 1 << 18;

/// A JSONPath: fields, indices (negative ones from the end), `*`, `..`, and filters that compare with
/// one value or ask that there is one.
///
/// ```
/// let path: kstatus::JsonPath = "$.spec.ports[?(@.name=='web')].port".parse().unwrap();
/// let service = serde_json::json!({"spec": {"ports": [{"name": "web", "port": 80}]}});
/// assert_eq!(path.places(&service), ["/spec/ports/0/port"]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath(Vec<Step>);

/// Why a text is no path that can be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAPath(String);

impl fmt::Display for NotAPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotAPath {}

/// Reads a path as Goessner defined it, `$.spec.ports[0]`: a name ends at the next dot or bracket.
impl std::str::FromStr for JsonPath {
    type Err = NotAPath;

    fn from_str(text: &str) -> Result<Self, NotAPath> {
        read::whole(text).map_err(NotAPath)
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(Box<str>),
    /// From the end when negative.
    Index(i64),
    Every,
    /// The value and everything within it.
    Within,
    Filter(Filter),
}

#[derive(Clone, Debug, PartialEq)]
struct Filter {
    path: JsonPath,
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

/// What leads from a value to one within it.
#[derive(Clone, Copy)]
enum Key<'v> {
    Field(&'v str),
    Index(usize),
}

/// A value on the way, with the JSON pointer that leads to it.
type Place<'v> = (String, &'v Value);

impl JsonPath {
    /// Every value the path leads to, up to a thousand.
    pub(crate) fn values<'v>(&self, root: &'v Value) -> Vec<&'v Value> {
        self.0.iter().fold(vec![root], |found, step| {
            let next = found.into_iter().flat_map(|value| step.take(value));
            next.map(|(_, value)| value).take(VALUES).collect()
        })
    }

    /// The JSON pointers (RFC 6901) of the values that the path leads to.
    pub fn places(&self, root: &Value) -> Vec<String> {
        let places = self.0.iter().fold(vec![(String::new(), root)], |found, step| {
            let next = found.into_iter().flat_map(|place| step.go(place));
            next.take(PLACES).collect::<Vec<Place<'_>>>()
        });
        places.into_iter().map(|(pointer, _)| pointer).collect()
    }
}

impl Step {
    fn take<'v>(&self, value: &'v Value) -> Vec<(Key<'v>, &'v Value)> {
        match self {
            Self::Field(name) => match value.as_object().and_then(|fields| fields.get_key_value(&**name)) {
                Some((name, value)) => vec![(Key::Field(name), value)],
                None => Vec::new(),
            },
            Self::Index(at) => {
                let items = value.as_array().map_or(&[][..], Vec::as_slice);
                let found = place(*at, items.len()).and_then(|at| Some((Key::Index(at), items.get(at)?)));
                found.into_iter().collect()
            }
            Self::Every => entries(value).collect(),
            // No rule has it: it is spelt only where places are asked for.
            Self::Within => Vec::new(),
            Self::Filter(filter) => entries(value).filter(|(_, entry)| filter.fits(entry)).collect(),
        }
    }

    fn go<'v>(&self, (pointer, value): Place<'v>) -> Vec<Place<'v>> {
        if !matches!(self, Self::Within) {
            return self.take(value).into_iter().map(|(key, value)| (key.after(&pointer), value)).collect();
        }
        let mut found = vec![(pointer, value)];
        let mut next = 0;
        while let Some((pointer, value)) = found.get(next).cloned() {
            found.extend(entries(value).map(|(key, value)| (key.after(&pointer), value)));
            next += 1;
        }
        found
    }
}

impl Key<'_> {
    fn after(self, pointer: &str) -> String {
        match self {
            Self::Index(at) => format!("{pointer}/{at}"),
            Self::Field(name) => format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")),
        }
    }
}

fn place(at: i64, length: usize) -> Option<usize> {
    match usize::try_from(at) {
        Ok(at) => Some(at),
        Err(_) => length.checked_sub(usize::try_from(at.unsigned_abs()).ok()?),
    }
}

fn entries(value: &Value) -> Box<dyn Iterator<Item = (Key<'_>, &Value)> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter().enumerate().map(|(at, item)| (Key::Index(at), item))),
        Value::Object(fields) => Box::new(fields.iter().map(|(name, value)| (Key::Field(name), value))),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_are_found_as_goessner_spells_them() {
        let object = json!({"metadata": {"annotations": {"a.b/c": "x", "d~e": "y"}}, "data": {"my key": 1, "$k": 2},
            "spec": {"ports": [{"name": "web", "port": 80}, {"name": "tls", "port": 443}]}});
        for (path, places) in [
            ("$", vec![""]),
            ("$.spec.ports[0].port", vec!["/spec/ports/0/port"]),
            ("$['spec'][\"ports\"][-1]['port']", vec!["/spec/ports/1/port"]),
            ("$.spec.ports[*].port", vec!["/spec/ports/0/port", "/spec/ports/1/port"]),
            ("$.spec.ports[?(@.name == 'tls')].port", vec!["/spec/ports/1/port"]),
            ("$.spec.ports[?(@.port>100)].name", vec!["/spec/ports/1/name"]),
            ("$.metadata.annotations['a.b/c']", vec!["/metadata/annotations/a.b~1c"]),
            ("$.metadata.annotations.d~e", vec!["/metadata/annotations/d~0e"]),
            ("$.data.my key", vec!["/data/my key"]),
            ("$.data.$k", vec!["/data/$k"]),
            ("$..port", vec!["/spec/ports/0/port", "/spec/ports/1/port"]),
            ("$.spec..[1].name", vec!["/spec/ports/1/name"]),
            ("$.spec.ports[2]", vec![]),
            ("$.spec.ports.name", vec![]),
        ] {
            let found = path.parse::<JsonPath>().unwrap().places(&object);
            assert_eq!(found, places, "{path}");
            assert!(found.iter().all(|place| object.pointer(place).is_some()), "{path}");
        }
    }

    #[test]
    fn what_is_no_path_says_why() {
        for (text, part) in [
            ("", "begins with $"),
            ("spec.replicas", "begins with $"),
            ("{.spec.replicas}", "without braces"),
            ("$spec", "expected . or ["),
            ("$.spec.", "a name behind the dot"),
            ("$.spec[0:2]", "in brackets"),
            ("$.spec['a','b']", "expected ]"),
            ("$.spec[(@.length-1)]", "in brackets"),
        ] {
            let error = text.parse::<JsonPath>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
