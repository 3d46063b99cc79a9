//! Reads the table of built-in types.
//!
//! A line is `Name field:type field:type …`; a line that starts with a blank goes on with the one
//! before; `#` starts a comment. A type must stand above those that use it.
//!
//! | type | meaning |
//! | --- | --- |
//! | `s` `i` `n` `b` `q` | text, integer, number, bool, integer or text |
//! | `*` | anything |
//! | `{T}` | map |
//! | `[T]` | list, owned as a whole |
//! | `[T@a,b=X]` | list keyed by `a` and `b`, where `b` is `X` by default |
//! | `[s^]` | set |
//! | `Name` | a type of this table |
//! | `!T` | owned as a whole |

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::Shape;

type Types = BTreeMap<String, Arc<Shape>>;

pub(super) fn parse(text: &str) -> Types {
    let mut types = Types::new();
    let mut name = String::new();
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default()) {
        let mut words = line.split_whitespace();
        if !line.starts_with(' ') {
            match words.next() {
                Some(first) => name = first.to_owned(),
                None => continue,
            }
        }
        let new: Vec<(String, Arc<Shape>)> = words
            .filter_map(|word| word.split_once(':'))
            .map(|(field, shape)| (field.to_owned(), read(shape, &types)))
            .collect();
        let shape = types.entry(name.clone()).or_insert_with(|| {
            Arc::new(Shape::Struct { fields: BTreeMap::new(), open: false, atomic: false })
        });
        if let Shape::Struct { fields, .. } = Arc::make_mut(shape) {
            fields.extend(new);
        }
    }
    types
}

fn read(text: &str, types: &Types) -> Arc<Shape> {
    let shape = match text {
        "*" => Shape::Any,
        "s" => Shape::Text,
        "i" => Shape::Integer,
        "n" => Shape::Number,
        "b" => Shape::Bool,
        "q" => Shape::IntOrText,
        _ => return read_more(text, types),
    };
    Arc::new(shape)
}

fn read_more(text: &str, types: &Types) -> Arc<Shape> {
    let inside = |open, close| text.strip_prefix(open).and_then(|rest: &str| rest.strip_suffix(close));
    if let Some(inner) = text.strip_prefix('!') {
        let mut shape = (*read(inner, types)).clone();
        if let Shape::Struct { atomic, .. } | Shape::Map { atomic, .. } = &mut shape {
            *atomic = true;
        }
        return Arc::new(shape);
    }
    if let Some(inner) = inside('{', '}') {
        return Arc::new(Shape::Map { value: read(inner, types), atomic: false });
    }
    if let Some(inner) = inside('[', ']') {
        if inner.ends_with('^') {
            return Arc::new(Shape::Set);
        }
        let Some((item, keys)) = inner.split_once('@') else {
            return Arc::new(Shape::List(read(inner, types)));
        };
        let keys = keys.split(',').map(|key| match key.split_once('=') {
            Some((key, default)) => (key.to_owned(), Some(Value::from(default))),
            None => (key.to_owned(), None),
        });
        return Arc::new(Shape::Keyed { item: read(item, types), keys: keys.collect() });
    }
    types.get(text).cloned().unwrap_or_else(|| Arc::new(Shape::Any))
}

#[cfg(test)]
mod tests {
    /// A name that is misspelt or stands too low would silently be anything.
    #[test]
    fn every_type_that_is_used_is_defined_above() {
        let text = include_str!("types.txt");
        let mut known: Vec<&str> = Vec::new();
        for line in text.lines().map(|line| line.split('#').next().unwrap_or_default()) {
            let mut words = line.split_whitespace();
            let name = if line.starts_with(' ') { None } else { words.next() };
            for word in words {
                let (_, shape) = word.split_once(':').unwrap_or_else(|| panic!("{word}"));
                let inner = shape.trim_matches(['[', ']', '{', '}', '!']);
                let inner = inner.split(['@', '^']).next().unwrap();
                let scalar = ["s", "i", "n", "b", "q", "*"].contains(&inner);
                assert!(scalar || known.contains(&inner), "{word}: {inner} is not known");
            }
            known.extend(name);
        }
    }
}
