//! LIST: whole, in pages, and as of an older version.

use std::fmt::Write as _;
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use http::Response;
use serde_json::{Value, json};

use super::{Selector, View, asked_version, bad_list_options, known};
use crate::answer::{Body, JSON, head, pieces};
use crate::ask::{Ask, Target};
use crate::failure::Failure;
use crate::kinds::Kind;
use crate::store::{Form, Key, Object, Resource, Store};

/// Bytes that go out in one piece.
const PIECE: usize = 64 << 10;

/// A list that is written while it is sent: the objects are shared with the store.
#[derive(Debug)]
pub(crate) struct ListAnswer {
    pub(crate) warning: Option<&'static str>,
    items: Vec<Arc<Object>>,
    form: Form,
    kind: String,
    api_version: String,
    metadata: Value,
}

/// Answers a LIST.
pub(crate) fn list(
    store: &Store,
    ask: &Ask,
    target: &Target,
    kind: &Kind,
    selector: &Selector,
) -> Result<ListAnswer, Failure> {
    let view = super::view(&ask.accept)?;
    if view == View::Metadata {
        let package =
            if target.group.is_empty() { "core" } else { target.group.split('.').next().unwrap_or_default() };
        let message = format!(
            "you requested PartialObjectMetadata, but the requested object is a list (*{package}.{}List)",
            kind.kind
        );
        return Err(Failure::new(406, "NotAcceptable", message));
    }
    if ask.query.has("sendInitialEvents") {
        return Err(bad_list_options("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    let resource = store.resources.get(&kind.id).ok_or_else(Failure::no_resource)?;
    let page = Page::parse(store, ask, resource)?;
    let (items, more) = select(resource, &page, selector);
    let mut metadata = json!({ "resourceVersion": page.version.to_string() });
    if more > 0 {
        let last = items.last().map(|object| &object.key);
        metadata["continue"] = last.map(|key| token(page.version, key)).into();
        if !selector.narrow() {
            metadata["remainingItemCount"] = more.into();
        }
    }
    let (form, list_kind, api_version) = match view {
        View::Full if kind.custom => (
            Form::full(kind, &target.version),
            format!("{}List", kind.kind),
            kind.api_version(&target.version),
        ),
        View::Full => (Form::Bare, format!("{}List", kind.kind), kind.api_version(&target.version)),
        _ => (Form::Metadata, "PartialObjectMetadataList".to_owned(), "meta.k8s.io/v1".to_owned()),
    };
    Ok(ListAnswer { warning: kind.deprecated, items, form, kind: list_kind, api_version, metadata })
}

impl ListAnswer {
    pub(crate) fn into_response(self) -> Response<Body> {
        let mut start = String::new();
        let _ = write!(
            start,
            "{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{},\"items\":[",
            self.kind, self.api_version, self.metadata
        );
        let state = (Some(start.into_bytes()), self.items.into_iter(), self.form, true);
        let body = stream::unfold(state, |(start, mut items, form, first)| async move {
            // The end was written.
            let mut piece = match start {
                Some(start) => start,
                None => return None,
            };
            let mut first = first;
            while piece.len() < PIECE {
                let Some(object) = items.next() else {
                    piece.extend_from_slice(b"]}\n");
                    return Some((Ok(Bytes::from(piece)), (None, items, form, first)));
                };
                if !std::mem::replace(&mut first, false) {
                    piece.push(b',');
                }
                object.render(&form, &mut piece);
            }
            Some((Ok(Bytes::from(piece)), (Some(Vec::new()), items, form, first)))
        });
        let mut response = head(200, JSON, pieces(body));
        if let Some(value) =
            self.warning.and_then(|text| http::HeaderValue::from_str(&format!("299 - \"{text}\"")).ok())
        {
            response.headers_mut().insert(http::header::WARNING, value);
        }
        response
    }
}

/// Which part of the list, at which version.
struct Page {
    version: u64,
    limit: usize,
    after: Option<Key>,
}

impl Page {
    fn parse(store: &Store, ask: &Ask, resource: &Resource) -> Result<Self, Failure> {
        let asked = asked_version(ask)?;
        let exact = match ask.query.get("resourceVersionMatch") {
            "" | "NotOlderThan" => false,
            "Exact" => true,
            other => {
                let why = format!("supported values: \"Exact\", \"NotOlderThan\", \"\" (got \"{other}\")");
                return Err(bad_list_options("resourceVersionMatch", &why));
            }
        };
        let limit = ask.query.get("limit").parse().ok().filter(|limit| *limit > 0).unwrap_or(usize::MAX);
        let token = ask.query.get("continue");
        if !token.is_empty() {
            if asked.is_some_and(|version| version > 0) {
                return Err(Failure::bad_request(
                    "specifying resource version is not allowed when using continue",
                ));
            }
            let (version, after) = read_token(token)?;
            // An inconsistent rest continues at whatever is there now.
            let version = version.unwrap_or(store.version());
            if version < resource.history.compacted() {
                return Err(expired_token(&after));
            }
            return Ok(Self { version, limit, after: Some(after) });
        }
        let version = match asked {
            Some(version) if exact => {
                known(store, version)?;
                if version < resource.history.compacted() {
                    return Err(Failure::expired("The resourceVersion for the provided list is too old."));
                }
                version
            }
            Some(version) => {
                known(store, version)?;
                store.version()
            }
            None => store.version(),
        };
        // From its cache the server gives everything at once.
        let limit = if asked == Some(0) { usize::MAX } else { limit };
        Ok(Self { version, limit, after: None })
    }
}

/// The objects of a page, and how many come after it.
fn select(resource: &Resource, page: &Page, selector: &Selector) -> (Vec<Arc<Object>>, usize) {
    let undone = resource.history.undo(page.version);
    let namespace = selector.namespace();
    let start = match &page.after {
        Some(key) => Bound::Excluded(key.clone()),
        None => Bound::Included(Key::new(namespace, "")),
    };
    let within = |key: &Key| namespace.is_empty() || *key.namespace == *namespace;
    let present =
        resource.objects.range((start.clone(), Bound::Unbounded)).take_while(|(key, _)| within(key));
    let mut items: Vec<Arc<Object>> = Vec::new();
    let mut more = 0;
    // The common case needs neither merging nor sorting.
    if undone.is_empty() {
        for (_, object) in present.filter(|(_, object)| selector.matches(object)) {
            if items.len() < page.limit { items.push(object.clone()) } else { more += 1 }
        }
        return (items, more);
    }
    let kept = present.filter(|(key, _)| !undone.contains_key(*key)).map(|(_, object)| object.clone());
    let former = undone.range((start, Bound::Unbounded)).filter_map(|(_, object)| object.clone());
    items = kept.chain(former).filter(|object| selector.matches(object)).collect();
    items.sort_by(|a, b| a.key.cmp(&b.key));
    more = items.len().saturating_sub(page.limit);
    items.truncate(page.limit);
    (items, more)
}

/// A continue token: clients pass it back as it is.
fn token(version: u64, last: &Key) -> String {
    encode(&version.to_string(), last)
}

fn encode(version: &str, last: &Key) -> String {
    let mut out = format!("v{version}-");
    for byte in format!("{}/{}", last.namespace, last.name).bytes() {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

fn read_token(token: &str) -> Result<(Option<u64>, Key), Failure> {
    let parse = || {
        let (version, hex) = token.strip_prefix('v')?.split_once('-')?;
        let version = if version == "rest" { None } else { Some(version.parse().ok()?) };
        let pairs = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
        let bytes: Option<Vec<u8>> = pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect();
        let path = String::from_utf8(bytes?).ok()?;
        let (namespace, name) = path.split_once('/')?;
        Some((version, Key::new(namespace, name)))
    };
    parse().ok_or_else(|| {
        Failure::bad_request(
            "invalid continue token: continue key is not valid: illegal base64 data at input byte 0",
        )
    })
}

fn expired_token(after: &Key) -> Failure {
    let message = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";
    Failure::expired(message).with_metadata(json!({ "continue": encode("rest", after) }))
}
