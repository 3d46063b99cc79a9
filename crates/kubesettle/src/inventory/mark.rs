//! What an object carries so that everybody knows whose it is.

use bytes::Bytes;

use super::applyset::PART_OF;
use super::policy::OWNING_INVENTORY;

/// The mark of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    form: MarkForm,
    id: Box<str>,
}

/// Where the mark stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkForm {
    /// In the annotation `config.k8s.io/owning-inventory`, as kapply has it.
    Owner,
    /// In the label `applyset.kubernetes.io/part-of`, as kubectl has it.
    PartOf,
}

impl Mark {
    /// The mark of the set with this id.
    pub fn new(form: MarkForm, id: &str) -> Self {
        Self { form, id: id.into() }
    }

    /// Where it stands.
    pub fn form(&self) -> MarkForm {
        self.form
    }

    /// The id of the set.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The annotation's or the label's name and value.
    pub fn pair(&self) -> (&'static str, &str) {
        (self.form.key(), &self.id)
    }

    /// The body of a PATCH (`application/json-patch+json`) that takes the mark off an object that is
    /// given up. It fails when the object is another one by now, or carries another mark; other changes
    /// since it was read do not count.
    pub fn off(&self, uid: &str) -> Bytes {
        let path = format!("/metadata/{}/{}", self.form.field(), self.form.key().replace('/', "~1"));
        serde_json::json!([
            { "op": "test", "path": "/metadata/uid", "value": uid },
            { "op": "test", "path": path, "value": self.id },
            { "op": "remove", "path": path },
        ])
        .to_string()
        .into()
    }
}

impl MarkForm {
    /// The name of the annotation or label.
    pub fn key(self) -> &'static str {
        match self {
            Self::Owner => OWNING_INVENTORY,
            Self::PartOf => PART_OF,
        }
    }

    /// The field of an object's metadata that it stands in.
    pub(crate) fn field(self) -> &'static str {
        match self {
            Self::Owner => "annotations",
            Self::PartOf => "labels",
        }
    }

    /// The set that a live object belongs to, by its annotations and labels: of two marks the one of this
    /// form, but any other counts too, so that nobody takes what is another's for nobody's.
    pub fn owner<'a>(self, get: impl Fn(&str) -> Option<&'a str>) -> Option<&'a str> {
        let other = match self {
            Self::Owner => Self::PartOf,
            Self::PartOf => Self::Owner,
        };
        get(self.key()).or_else(|| get(other.key()))
    }
}
