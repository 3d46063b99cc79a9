//! From the bytes of a watch line or a list page to the few fields everything else needs.
//!
//! Decoding borrows from the buffer it reads; nothing is copied here and no tree is built. An object
//! that nobody wants costs one scan of its line and no allocation.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use kstatus::Uid;
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::error::ApiError;

/// One line of a watch.
#[derive(Debug)]
pub(super) enum Line<'a> {
    /// The object is there, in this state, and was not before (as far as this watch goes).
    Added(Item<'a>),
    /// The object is in this state now.
    Modified(Item<'a>),
    /// DELETED: the object is gone; this was its last state.
    Gone(Item<'a>),
    /// The version up to which the stream is complete.
    Bookmark {
        version: Cow<'a, str>,
        /// The end of the initial events of a streaming list.
        initial_end: bool,
    },
    /// The server ends the stream with this error.
    Error(ApiError),
}

/// One object, its metadata decoded and the rest left as it came.
#[derive(Debug)]
pub(super) struct Item<'a> {
    pub name: Cow<'a, str>,
    /// Empty for cluster-scoped objects.
    pub namespace: Cow<'a, str>,
    pub version: Cow<'a, str>,
    pub uid: Uid,
    /// The object that generated this one.
    pub controller: Option<Controller<'a>>,
    pub annotations: Annotations<'a>,
    pub labels: Labels<'a>,
    /// What it says that it is; empty in lists, and `PartialObjectMetadata` where no more was asked for.
    pub kind: Cow<'a, str>,
    /// The whole object.
    pub json: &'a str,
}

/// What generated an object.
#[derive(Debug, PartialEq)]
pub(super) struct Controller<'a> {
    pub kind: Cow<'a, str>,
    pub uid: Uid,
}

/// The label by which an ApplySet marks an object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Labels<'a> {
    #[serde(rename = "applyset.kubernetes.io/part-of", borrow)]
    pub part_of: Option<Cow<'a, str>>,
}

/// The annotations by which tools of the cli-utils family mark an object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Annotations<'a> {
    #[serde(rename = "config.k8s.io/owning-inventory", borrow)]
    pub owner: Option<Cow<'a, str>>,
    #[serde(rename = "cli-utils.sigs.k8s.io/on-remove", borrow)]
    pub on_remove: Option<Cow<'a, str>>,
    #[serde(rename = "client.lifecycle.config.k8s.io/deletion", borrow)]
    pub deletion: Option<Cow<'a, str>>,
    #[serde(rename = "config.kubernetes.io/depends-on", borrow)]
    pub depends_on: Option<Cow<'a, str>>,
    #[serde(rename = "config.kubernetes.io/apply-time-mutation", borrow)]
    pub mutation: Option<Cow<'a, str>>,
}

/// Something that is not what the API promises.
#[derive(Debug)]
pub(super) struct Undecodable {
    pub what: String,
    /// Namespace and name of the object, where those can be read.
    pub who: Option<(String, String)>,
}

#[derive(Deserialize)]
struct RawLine<'a> {
    #[serde(rename = "type", borrow)]
    event: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Meta<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    namespace: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uid: Cow<'a, str>,
    #[serde(rename = "resourceVersion", borrow)]
    resource_version: Cow<'a, str>,
    #[serde(rename = "ownerReferences", borrow)]
    owners: Option<Owners<'a>>,
    #[serde(borrow)]
    annotations: Option<Annotations<'a>>,
    #[serde(borrow)]
    labels: Option<Labels<'a>>,
}

#[derive(Deserialize)]
struct OwnerReference<'a> {
    #[serde(default, borrow)]
    kind: Cow<'a, str>,
    #[serde(default, borrow)]
    uid: Cow<'a, str>,
    #[serde(default)]
    controller: Option<bool>,
}

/// The owner reference with `controller: true`, else the only one there is.
struct Owners<'a>(Option<OwnerReference<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Owners<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(OwnersVisitor(PhantomData))
    }
}

struct OwnersVisitor<'a>(PhantomData<&'a str>);

impl<'de: 'a, 'a> Visitor<'de> for OwnersVisitor<'a> {
    type Value = Owners<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("owner references")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut references: A) -> Result<Owners<'a>, A::Error> {
        let mut found: Option<OwnerReference<'a>> = None;
        let mut count = 0;
        while let Some(reference) = references.next_element::<OwnerReference<'a>>()? {
            count += 1;
            let controls = |of: &OwnerReference<'_>| of.controller == Some(true);
            if found.as_ref().is_none_or(|found| !controls(found) && controls(&reference)) {
                found = Some(reference);
            }
        }
        Ok(Owners(found.filter(|found| found.controller == Some(true) || count == 1)))
    }
}

#[derive(Deserialize)]
struct Object<'a> {
    #[serde(default, borrow)]
    kind: Cow<'a, str>,
    #[serde(default, borrow)]
    metadata: Meta<'a>,
}

/// The least that can be read of an object.
#[derive(Deserialize)]
struct Named {
    metadata: NamedMeta,
}

#[derive(Deserialize)]
struct NamedMeta {
    name: String,
    #[serde(default)]
    namespace: Option<String>,
}

#[derive(Deserialize)]
struct BookmarkObject<'a> {
    #[serde(default, borrow)]
    metadata: BookmarkMeta<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct BookmarkMeta<'a> {
    #[serde(rename = "resourceVersion", borrow)]
    resource_version: Cow<'a, str>,
    #[serde(borrow)]
    annotations: Option<BookmarkAnnotations<'a>>,
}

#[derive(Deserialize)]
struct BookmarkAnnotations<'a> {
    #[serde(rename = "k8s.io/initial-events-end", default, borrow)]
    initial_end: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct RawList<'a> {
    #[serde(default, borrow)]
    metadata: ListMeta<'a>,
    #[serde(default, borrow)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ListMeta<'a> {
    #[serde(rename = "resourceVersion", borrow)]
    resource_version: Cow<'a, str>,
    #[serde(rename = "continue", borrow)]
    next: Option<Cow<'a, str>>,
}

/// A page of a list.
pub(super) struct Page<'a> {
    pub version: Cow<'a, str>,
    /// The token of the next page.
    pub next: Option<Cow<'a, str>>,
    items: Vec<&'a RawValue>,
}

impl<'a> Page<'a> {
    /// How many items it has.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// The items in order; one that cannot be decoded does not hide the others.
    pub(super) fn items(&self) -> impl Iterator<Item = Result<Item<'a>, Undecodable>> + '_ {
        self.items.iter().map(|raw| item(raw.get()))
    }
}

/// Decodes one line of a watch. `error_of` sorts the `Status` object of an ERROR event.
pub(super) fn line<'a>(
    bytes: &'a [u8],
    error_of: impl FnOnce(&'a [u8]) -> ApiError,
) -> Result<Line<'a>, Undecodable> {
    let raw: RawLine<'a> = serde_json::from_slice(bytes).map_err(|error| undecodable(bytes, &error))?;
    let json = raw.object.get();
    match &*raw.event {
        "ADDED" => item(json).map(Line::Added),
        "MODIFIED" => item(json).map(Line::Modified),
        "DELETED" => item(json).map(Line::Gone),
        "BOOKMARK" => {
            let object: BookmarkObject<'a> =
                serde_json::from_str(json).map_err(|error| undecodable(bytes, &error))?;
            let end = object.metadata.annotations.and_then(|annotations| annotations.initial_end);
            Ok(Line::Bookmark {
                version: object.metadata.resource_version,
                initial_end: end.as_deref() == Some("true"),
            })
        }
        "ERROR" => Ok(Line::Error(error_of(json.as_bytes()))),
        other => {
            let what = format!("unknown watch event type {:?}", other.chars().take(40).collect::<String>());
            Err(Undecodable { what, who: named(json) })
        }
    }
}

/// Decodes a page of a list, leaving its items as they came.
pub(super) fn page(bytes: &[u8]) -> Result<Page<'_>, Undecodable> {
    let list: RawList<'_> = serde_json::from_slice(bytes).map_err(|error| undecodable(bytes, &error))?;
    Ok(Page {
        version: list.metadata.resource_version,
        next: list.metadata.next.filter(|token| !token.is_empty()),
        items: list.items.unwrap_or_default(),
    })
}

/// Decodes the metadata of one object.
pub(super) fn item(json: &str) -> Result<Item<'_>, Undecodable> {
    let object: Object<'_> = serde_json::from_str(json)
        .map_err(|error| Undecodable { who: named(json), ..undecodable(json.as_bytes(), &error) })?;
    let meta = object.metadata;
    if meta.name.is_empty() || meta.uid.is_empty() {
        let what = String::from("an object without name or uid");
        return Err(Undecodable { what, who: named(json) });
    }
    let controller = meta
        .owners
        .and_then(|owners| owners.0)
        .map(|owner| Controller { kind: owner.kind, uid: Uid::parse(&owner.uid) });
    Ok(Item {
        uid: Uid::parse(&meta.uid),
        name: meta.name,
        namespace: meta.namespace.unwrap_or_default(),
        version: meta.resource_version,
        controller,
        annotations: meta.annotations.unwrap_or_default(),
        labels: meta.labels.unwrap_or_default(),
        kind: object.kind,
        json,
    })
}

/// Says what is wrong without repeating the bytes: they may hold a Secret.
fn undecodable(bytes: &[u8], error: &serde_json::Error) -> Undecodable {
    let column = error.column();
    let what = match error.classify() {
        // Its words would repeat the value.
        Category::Data => format!("a field of another type than the API's, at byte {column}"),
        Category::Io | Category::Syntax | Category::Eof => {
            format!("{} bytes that are no JSON: {error}", bytes.len())
        }
    };
    Undecodable { what, who: None }
}

fn named(json: &str) -> Option<(String, String)> {
    let Named { metadata } = serde_json::from_str(json).ok()?;
    Some((metadata.namespace.unwrap_or_default(), metadata.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorClass;

    fn decode(text: &str) -> Line<'_> {
        line(text.as_bytes(), |_| ApiError::local(ErrorClass::Expired, "too old")).unwrap()
    }

    #[test]
    fn an_added_object_is_borrowed_with_its_controller() {
        let text = r#"{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"p","namespace":"n","uid":"00000000-0000-4000-8000-000000000001","resourceVersion":"7","managedFields":[{"a":1}],"ownerReferences":[{"kind":"Node","uid":"x"},{"kind":"ReplicaSet","name":"r","uid":"00000000-0000-4000-8000-000000000002","controller":true}]}}}"#;
        let Line::Added(item) = decode(text) else { panic!("not added") };
        assert!(matches!(item.name, Cow::Borrowed("p")));
        assert_eq!(item.namespace, "n");
        let uid = Uid::parse("00000000-0000-4000-8000-000000000002");
        assert_eq!(item.controller, Some(Controller { kind: "ReplicaSet".into(), uid }));
    }

    #[test]
    fn the_controller_is_the_owner_that_says_so_or_the_only_one() {
        let kind = |owners: &str| {
            let json = format!(r#"{{"metadata":{{"name":"p","uid":"u","ownerReferences":{owners}}}}}"#);
            item(&json).unwrap().controller.map(|controller| controller.kind.into_owned())
        };
        let (one, other) = (r#"{"kind":"A","uid":"a"}"#, r#"{"kind":"B","uid":"b","controller":true}"#);
        assert_eq!(kind("null"), None);
        assert_eq!(kind("[]"), None);
        assert_eq!(kind(&format!("[{one}]")).as_deref(), Some("A"));
        assert_eq!(kind(&format!("[{one},{one}]")), None);
        assert_eq!(kind(&format!("[{one},{other},{one}]")).as_deref(), Some("B"));
    }

    #[test]
    fn a_bookmark_tells_the_end_of_the_initial_events() {
        let text = r#"{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
        assert!(matches!(decode(text), Line::Bookmark { initial_end: true, .. }));
        let text = r#"{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9"}}}"#;
        assert!(matches!(decode(text), Line::Bookmark { initial_end: false, .. }));
    }

    #[test]
    fn an_error_event_carries_its_status() {
        let text = r#"{"type":"ERROR","object":{"kind":"Status","code":410}}"#;
        assert!(matches!(decode(text), Line::Error(error) if error.class == ErrorClass::Expired));
    }

    #[test]
    fn what_cannot_be_decoded_is_named_without_its_content() {
        let error = line(br#"{"type":"ADDED","object":{"data":"hunter2""#, |_| unreachable!()).unwrap_err();
        assert!(!error.what.contains("hunter2"), "{}", error.what);
        assert!(line(br#"{"type":"WHAT","object":{}}"#, |_| unreachable!()).is_err());
        let error = item(r#"{"metadata":{"name":"x","namespace":"n"}}"#).unwrap_err();
        assert_eq!(error.who, Some(("n".to_owned(), "x".to_owned())), "an object without uid");
    }

    #[test]
    fn a_list_page_hands_out_its_items_and_token() {
        let text = br#"{"metadata":{"resourceVersion":"5","continue":"t"},"items":[{"metadata":{"name":"a","uid":"u1"}},{"metadata":{}}]}"#;
        let page = page(text).unwrap();
        assert_eq!(page.next.as_deref(), Some("t"));
        let items: Vec<_> = page.items().collect();
        assert!(items[0].is_ok() && items[1].is_err());
    }
}
