//! One JSON object built key by key, in the order a person reads it.

use serde::Serialize;

use crate::id::ObjectId;

/// A line under construction. Keys stand in the order in which they are put.
pub(super) struct Line(Vec<u8>);

impl Line {
    pub(super) fn new() -> Self {
        Self(b"{".to_vec())
    }

    /// Adds a key. A value that cannot be written (no value of this crate) becomes null.
    pub(super) fn put(mut self, key: &'static str, value: &(impl Serialize + ?Sized)) -> Self {
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        self.0.push(b'"');
        self.0.extend_from_slice(key.as_bytes());
        self.0.extend_from_slice(b"\":");
        let before = self.0.len();
        if serde_json::to_writer(&mut self.0, value).is_err() {
            self.0.truncate(before);
            self.0.extend_from_slice(b"null");
        }
        self
    }

    pub(super) fn maybe(self, key: &'static str, value: Option<impl Serialize>) -> Self {
        match value {
            Some(value) => self.put(key, &value),
            None => self,
        }
    }

    pub(super) fn nonzero(self, key: &'static str, count: usize) -> Self {
        self.maybe(key, (count > 0).then_some(count))
    }

    /// The four keys that name an object, as kapply has them: also when empty.
    pub(super) fn id(self, id: &ObjectId) -> Self {
        self.put("group", id.group())
            .put("kind", id.kind())
            .put("name", id.name())
            .put("namespace", id.namespace())
    }

    pub(super) fn maybe_id(self, id: Option<&ObjectId>) -> Self {
        match id {
            Some(id) => self.id(id),
            None => self,
        }
    }

    pub(super) fn end(mut self) -> String {
        self.0.push(b'}');
        String::from_utf8_lossy(&self.0).into_owned()
    }
}
