//! Tolerant reading of JSON without building a tree: a leaf is a borrowed piece of the document,
//! and every question to it has an answer whatever its shape. Status is written by strangers; one
//! odd field must not spoil the object.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::scan::{Members, Scan, unescaped};

/// A piece of a document, or nothing. `null` is nothing.
#[derive(Clone, Copy, Default)]
pub(crate) struct Leaf<'a>(Option<&'a str>);

impl<'a> Leaf<'a> {
    /// The named fields of a document that is a JSON object in UTF-8; `None` for what is not.
    pub(crate) fn document<const N: usize>(json: &'a [u8], names: [&str; N]) -> Option<[Self; N]> {
        let text = std::str::from_utf8(json).ok()?;
        let mut found = [Self(None); N];
        let mut deserializer = serde_json::Deserializer::from_str(text);
        deserializer.deserialize_map(FieldsOf { names: &names, found: &mut found }).ok()?;
        deserializer.end().ok()?;
        Some(found)
    }

    fn of(text: &'a str) -> Self {
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
        Some(unescaped(inner))
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
        for (key, text) in self.members() {
            let place = names.iter().position(|name| key.is(name));
            if let Some(found) = place.and_then(|place| found.get_mut(place)) {
                *found = Self::of(text);
            }
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

    /// Shows each entry of a list; none when this is no list.
    pub(crate) fn for_each(self, mut show: impl FnMut(Self)) {
        if let Some(text) = self.0.filter(|_| self.is_list()) {
            let mut scan = Scan::inside(text);
            while let Some(item) = scan.item() {
                show(Self::of(item));
            }
        }
    }

    fn members(self) -> Members<'a> {
        Members(Scan::inside(self.0.filter(|_| self.is_object()).unwrap_or_default()))
    }

    /// The entries of a list; none when this is no list.
    pub(crate) fn items(self) -> Vec<Self> {
        let mut items = Vec::new();
        self.for_each(|item| items.push(item));
        items
    }

    /// The entries of an object; none when this is no object.
    pub(crate) fn entries(self) -> Vec<(Cow<'a, str>, Self)> {
        let mut entries = Vec::new();
        if self.is_object() {
            // As many as the status of a pod has.
            entries.reserve(14);
            entries.extend(self.members().map(|(key, text)| (key.value(), Self::of(text))));
        }
        entries
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

struct FieldsOf<'s, 'a> {
    names: &'s [&'s str],
    found: &'s mut [Leaf<'a>],
}

impl<'de> Visitor<'de> for FieldsOf<'_, 'de> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            let place = self.names.iter().position(|name| *name == key);
            match place.and_then(|place| self.found.get_mut(place)) {
                Some(found) => *found = Leaf::of(map.next_value::<&RawValue>()?.get()),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}
