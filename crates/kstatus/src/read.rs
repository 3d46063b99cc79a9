//! Tolerant reading of JSON without building a tree: a leaf is a borrowed piece of the document,
//! and every question to it has an answer whatever its shape. Status is written by strangers; one
//! odd field must not spoil the object.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A piece of a document, or nothing. `null` is nothing.
#[derive(Clone, Copy, Default)]
pub(crate) struct Leaf<'a>(Option<&'a str>);

impl<'a> Leaf<'a> {
    /// The named fields of a document that is a JSON object in UTF-8; `None` for what is not.
    pub(crate) fn document<const N: usize>(json: &'a [u8], names: [&str; N]) -> Option<[Self; N]> {
        let text = std::str::from_utf8(json).ok()?;
        let mut found = [Self(None); N];
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let seed = FieldsOf { names: &names, found: &mut found };
        seed.deserialize(&mut deserializer).ok()?;
        deserializer.end().ok()?;
        Some(found)
    }

    fn of(raw: &'a RawValue) -> Self {
        let text = raw.get();
        Self((text != "null").then_some(text))
    }

    /// The text of the piece as it stands in the document.
    pub(crate) fn raw(self) -> Option<&'a str> {
        self.0
    }

    pub(crate) fn is_some(self) -> bool {
        self.0.is_some()
    }

    fn first_byte(self) -> u8 {
        self.0.and_then(|text| text.as_bytes().first().copied()).unwrap_or(0)
    }

    pub(crate) fn is_object(self) -> bool {
        self.first_byte() == b'{'
    }

    pub(crate) fn is_list(self) -> bool {
        self.first_byte() == b'['
    }

    /// A string's value; borrowed unless it holds an escape.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.0?.strip_prefix('"')?.strip_suffix('"')?;
        if inner.contains('\\') {
            serde_json::from_str::<String>(self.0?).ok().map(Cow::Owned)
        } else {
            Some(Cow::Borrowed(inner))
        }
    }

    /// An integer: a JSON integer, a float with an integral value, or either as a string.
    pub(crate) fn int(self) -> Option<i64> {
        let text = self.0?;
        let text = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
        if let Ok(value) = text.parse::<i64>() {
            return Some(value);
        }
        if !text.as_bytes().first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-') {
            return None;
        }
        let value = text.parse::<f64>().ok()?;
        // Beyond 2^53 a float no longer tells neighbouring integers apart.
        (value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0).then_some(value as i64)
    }

    /// A boolean, also as a string in any case.
    pub(crate) fn flag(self) -> Option<bool> {
        let text = self.0?;
        let word = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
        if word.eq_ignore_ascii_case("true") {
            Some(true)
        } else if word.eq_ignore_ascii_case("false") {
            Some(false)
        } else {
            None
        }
    }

    /// A string, number or boolean as a text.
    pub(crate) fn word(self) -> Option<Cow<'a, str>> {
        match self.first_byte() {
            b'{' | b'[' | 0 => None,
            b'"' => self.text(),
            _ => self.0.map(Cow::Borrowed),
        }
    }

    /// The values of the named fields of an object; of a repeated name the last. All nothing when
    /// this is no object.
    pub(crate) fn fields<const N: usize>(self, names: [&str; N]) -> [Self; N] {
        let mut found = [Self(None); N];
        if self.is_object() {
            self.visit(FieldsOf { names: &names, found: &mut found });
        }
        found
    }

    pub(crate) fn field(self, name: &str) -> Self {
        let [found] = self.fields([name]);
        found
    }

    /// The value behind a path of field names.
    pub(crate) fn path(self, path: &[&str]) -> Self {
        path.iter().fold(self, |leaf, name| leaf.field(name))
    }

    /// The entries of a list; none when this is no list.
    pub(crate) fn items(self) -> Vec<Self> {
        let mut items = Vec::new();
        if self.is_list() {
            self.visit(ItemsOf(&mut items));
        }
        items
    }

    /// The entries of an object; none when this is no object.
    pub(crate) fn entries(self) -> Vec<(Cow<'a, str>, Self)> {
        let mut entries = Vec::new();
        if self.is_object() {
            self.visit(EntriesOf(&mut entries));
        }
        entries
    }

    fn visit<V: DeserializeSeed<'a, Value = ()>>(self, seed: V) {
        if let Some(text) = self.0 {
            let mut deserializer = serde_json::Deserializer::from_str(text);
            // The document was checked as a whole; what still fails here (a lone surrogate in a
            // key) leaves what was found before it.
            let _ = seed.deserialize(&mut deserializer);
        }
    }
}

impl fmt::Debug for Leaf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.unwrap_or("nothing"))
    }
}

struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }
            fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

/// One seed per way of looking at a container: which entries it keeps.
macro_rules! seed {
    ($seed:ident, $method:ident) => {
        impl<'de> DeserializeSeed<'de> for $seed<'_, 'de> {
            type Value = ();
            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
                deserializer.$method(self)
            }
        }
    };
}

struct FieldsOf<'s, 'a> {
    names: &'s [&'s str],
    found: &'s mut [Leaf<'a>],
}
seed!(FieldsOf, deserialize_map);

impl<'de> Visitor<'de> for FieldsOf<'_, 'de> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            let place = self.names.iter().position(|name| *name == key);
            match place.and_then(|place| self.found.get_mut(place)) {
                Some(found) => *found = Leaf::of(map.next_value()?),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct ItemsOf<'s, 'a>(&'s mut Vec<Leaf<'a>>);
seed!(ItemsOf, deserialize_seq);

impl<'de> Visitor<'de> for ItemsOf<'_, 'de> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(item) = seq.next_element()? {
            self.0.push(Leaf::of(item));
        }
        Ok(())
    }
}

struct EntriesOf<'s, 'a>(&'s mut Vec<(Cow<'a, str>, Leaf<'a>)>);
seed!(EntriesOf, deserialize_map);

impl<'de> Visitor<'de> for EntriesOf<'_, 'de> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            let value = Leaf::of(map.next_value()?);
            self.0.push((key, value));
        }
        Ok(())
    }
}
