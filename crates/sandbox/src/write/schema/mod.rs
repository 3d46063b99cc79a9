//! Which fields a kind has, which lists are keyed, and which parts are owned as a whole.
//!
//! Built-in kinds come from the text in `types.txt`, custom ones from the schema of their CRD. A
//! kind that is in neither has the shape [`Shape::Any`]: every field is known, maps are owned field by
//! field and lists as a whole.

mod check;
mod custom;
mod text;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

pub(crate) use check::check;
pub(crate) use custom::custom;

/// What may stand at a place of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Any,
    Text,
    Integer,
    Number,
    Bool,
    /// Integers and texts: ports, quantities.
    IntOrText,
    Struct {
        fields: BTreeMap<String, Arc<Shape>>,
        /// Other fields are let through.
        open: bool,
        atomic: bool,
    },
    Map {
        value: Arc<Shape>,
        atomic: bool,
    },
    /// Owned as a whole.
    List(Arc<Shape>),
    /// Items are told apart by some of their fields, which may have defaults.
    Keyed {
        item: Arc<Shape>,
        keys: Vec<(String, Option<Value>)>,
    },
    /// Scalars, each owned by itself.
    Set,
}

static ANY: Shape = Shape::Any;

impl Shape {
    pub(crate) fn is_atomic(&self) -> bool {
        match self {
            Self::Struct { atomic, .. } | Self::Map { atomic, .. } => *atomic,
            _ => false,
        }
    }

    /// The shape of a field.
    pub(crate) fn field(&self, name: &str) -> &Shape {
        match self {
            Self::Struct { fields, .. } => fields.get(name).map_or(&ANY, AsRef::as_ref),
            Self::Map { value, .. } => value,
            _ => &ANY,
        }
    }

    /// What tells an item of a keyed list from the others, as JSON.
    pub(crate) fn key_of(&self, item: &Value) -> Option<String> {
        let Self::Keyed { keys, .. } = self else { return None };
        let mut key = Map::new();
        for (name, default) in keys {
            let value = item.get(name).or(default.as_ref());
            if let Some(value) = value {
                key.insert(name.clone(), value.clone());
            }
        }
        Some(Value::Object(key).to_string())
    }
}

/// The shape of a built-in kind.
pub(crate) fn builtin(group: &str, kind: &str) -> Arc<Shape> {
    static TYPES: OnceLock<BTreeMap<String, Arc<Shape>>> = OnceLock::new();
    let types = TYPES.get_or_init(|| text::parse(include_str!("types.txt")));
    // Two groups have Events.
    if kind == "Event" && !group.is_empty() {
        return Arc::new(Shape::Any);
    }
    types.get(kind).cloned().unwrap_or_else(|| Arc::new(Shape::Any))
}

/// The shape of `metadata`.
pub(crate) fn metadata() -> Arc<Shape> {
    match &*builtin("", "ConfigMap") {
        Shape::Struct { fields, .. } => {
            fields.get("metadata").cloned().unwrap_or_else(|| Arc::new(Shape::Any))
        }
        _ => Arc::new(Shape::Any),
    }
}
