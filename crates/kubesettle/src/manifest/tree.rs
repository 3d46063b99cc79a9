//! Any deserializer into a JSON tree, with two things that the ready-made one lacks: a key given
//! twice is an error, and there is a limit to what aliases can blow a document up to.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// What a tree may still cost, shared by all its nodes.
pub(super) struct Budget(Cell<usize>);

/// Below this (2^63) a float without a fraction is an `i64`.
const WHOLE: f64 = 9_223_372_036_854_775_808.0;

/// Beside its bytes a node costs this, so that empty ones are not free.
const NODE: usize = 2;

impl Budget {
    /// Enough for any document of that many bytes that does not multiply itself.
    pub(super) fn for_document(bytes: usize) -> Self {
        Self(Cell::new((16 << 20) + bytes.saturating_mul(4)))
    }

    fn spend<E: Error>(&self, bytes: usize) -> Result<(), E> {
        match self.0.get().checked_sub(bytes + NODE) {
            Some(left) => {
                self.0.set(left);
                Ok(())
            }
            None => Err(E::custom(TOO_LARGE)),
        }
    }
}

pub(super) const TOO_LARGE: &str = "the document unfolds to too much: its aliases multiply";

/// Builds the tree of one value.
#[derive(Clone, Copy)]
pub(super) struct Tree<'a>(pub(super) &'a Budget);

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that JSON can hold")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.0.spend(0)?;
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.0.spend(0)?;
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.0.spend(0)?;
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.0.spend(0)?;
        // As kubectl: 1e3 and 08 are whole numbers, and a field of type integer takes no 8.0.
        if value.fract() == 0.0 && value.abs() < WHOLE {
            return Ok(Value::Number((value as i64).into()));
        }
        let number = Number::from_f64(value);
        number.map(Value::Number).ok_or_else(|| E::custom("a number that JSON cannot hold"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.0.spend(value.len())?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        self.0.spend(value.len())?;
        Ok(Value::String(value))
    }

    fn visit_bytes<E: Error>(self, value: &[u8]) -> Result<Value, E> {
        let text = std::str::from_utf8(value);
        self.visit_str(text.map_err(|_| E::custom("binary data that is no UTF-8 text"))?)
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.0.spend(0)?;
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        self.0.spend(0)?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        self.0.spend(0)?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.0.spend(key.len())?;
            if map.contains_key(&key) {
                return Err(A::Error::custom(format_args!("key {key:?} is given twice")));
            }
            let value = entries.next_value_seed(self)?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}
