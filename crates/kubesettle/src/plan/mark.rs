//! Bodies with the mark of the set that their object belongs to.

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::inventory::{Mark, MarkForm};
use crate::manifest::{Object, compact};

/// The body of an object with the mark of its set.
pub fn marked(object: &Object, mark: Option<&Mark>) -> Bytes {
    match mark.map(|mark| (mark.form(), mark.pair())) {
        None => object.json().clone(),
        Some((MarkForm::Owner, pair)) => object.json_with_annotations(&[pair]),
        Some((MarkForm::PartOf, pair)) => object.json_with_labels(&[pair]),
    }
}

/// A body that names no set, with the marks that the live object has by its annotations and labels:
/// who applies an object without a set takes it from nobody.
pub(crate) fn keeping_marks<'l>(body: Bytes, live: impl Fn(MarkForm) -> Option<&'l str>) -> Bytes {
    let marks = [MarkForm::Owner, MarkForm::PartOf].map(|form| Some((form, live(form)?)));
    if marks.iter().all(Option::is_none) {
        return body;
    }
    let Ok(mut object) = serde_json::from_slice::<Value>(&body) else { return body };
    if [MarkForm::Owner, MarkForm::PartOf].iter().any(|form| mark_in(&object, *form).is_some()) {
        return body;
    }
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return body };
    for (form, owner) in marks.into_iter().flatten() {
        let pairs = metadata.entry(form.field()).or_insert_with(|| Value::Object(Map::new()));
        if pairs.is_null() {
            *pairs = Value::Object(Map::new());
        }
        if let Some(pairs) = pairs.as_object_mut() {
            pairs.insert(form.key().to_owned(), owner.into());
        }
    }
    compact(&object)
}

/// The set that an object names in this form.
pub(crate) fn mark_in(object: &Value, form: MarkForm) -> Option<&str> {
    object.get("metadata")?.get(form.field())?.get(form.key())?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(body: &str, owner: Option<&'static str>, part_of: Option<&'static str>) -> String {
        let live = |form| match form {
            MarkForm::Owner => owner,
            MarkForm::PartOf => part_of,
        };
        String::from_utf8(keeping_marks(Bytes::copy_from_slice(body.as_bytes()), live).to_vec()).unwrap()
    }

    #[test]
    fn a_body_without_a_set_keeps_the_marks_of_the_live_object() {
        let bare = r#"{"metadata":{"annotations":null,"name":"a"}}"#;
        assert_eq!(kept(bare, None, None), bare);
        let owned = r#"{"metadata":{"annotations":{"config.k8s.io/owning-inventory":"s"},"name":"a"}}"#;
        assert_eq!(kept(bare, Some("s"), None), owned);
        assert_eq!(kept(owned, Some("other"), Some("p")), owned, "it names its own set");
        let part = r#"{"metadata":{"labels":{"a":"b","applyset.kubernetes.io/part-of":"p"}}}"#;
        assert_eq!(kept(r#"{"metadata":{"labels":{"a":"b"}}}"#, None, Some("p")), part);
    }
}
