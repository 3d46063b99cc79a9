//! WATCH: events from a version on, the present state first when asked for, bookmarks, and an end.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::Response;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Selector, View, asked_version, bad_list_options};
use crate::answer::{Body, BoxError, JSON, head, pieces, reset};
use crate::ask::{Ask, Target};
use crate::failure::Failure;
use crate::kinds::Kind;
use crate::service::Inner;
use crate::store::{Change, Event, Form, Object, Store};
use crate::streams::WatchEnd;

/// Bytes that go out in one piece.
const PIECE: usize = 32 << 10;
/// The server reminds clients of the version so long before it ends a watch.
const LAST_BOOKMARK: Duration = Duration::from_millis(1500);
/// Watches shorter than this get no such reminder.
const SHORT: Duration = Duration::from_secs(4);
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// One open watch.
#[derive(Debug)]
pub(crate) struct Watcher {
    id: u64,
    resource: Arc<str>,
    selector: Selector,
    form: Form,
    /// The kind's skeleton, as bookmarks show it.
    bookmark: Value,
    bookmarks: bool,
    /// Everything up to this version was sent.
    position: u64,
    initial: std::vec::IntoIter<Arc<Object>>,
    initial_end: bool,
    /// Nothing is ever sent.
    mute: bool,
    /// What comes instead of events, and when.
    refused: Option<(Instant, Failure)>,
    next_bookmark: Instant,
    last_bookmark: Option<Instant>,
    interval: Duration,
    deadline: Instant,
    /// How this one watch ends by order.
    ordered: Option<(Instant, WatchEnd)>,
    over: bool,
}

/// Opens a watch.
pub(crate) fn watch(
    store: &mut Store,
    ask: &Ask,
    target: &Target,
    kind: &Kind,
    selector: Selector,
) -> Result<Watcher, Failure> {
    let view = super::view(&ask.accept)?;
    let initial_events = ask.query.is_true("sendInitialEvents");
    check(store, ask)?;
    let asked = asked_version(ask)?.unwrap_or(0);
    let resource = store.resources.get(&kind.id).ok_or_else(Failure::no_resource)?;
    let from_start = initial_events || asked == 0;
    let initial: Vec<Arc<Object>> = if from_start {
        resource.objects.values().filter(|object| selector.matches(object)).cloned().collect()
    } else {
        Vec::new()
    };
    let now = store.now;
    let mut refused = None;
    if initial_events && asked > store.version() {
        let failure = Failure::too_large_version(asked, store.version());
        refused = Some((now + failure.after, failure));
    } else if !from_start && asked < resource.history.compacted() {
        refused = Some((now, too_old(asked, resource.history.compacted())));
    }
    let timeout = match ask.query.get("timeoutSeconds").parse() {
        Ok(seconds) if seconds > 0 => Duration::from_secs(seconds),
        _ => Duration::from_secs(1800 + crate::store::mix(store.version()) % 1800),
    };
    let deadline = now + timeout;
    // A version from the future is met with silence.
    let bookmarks = ask.query.is_true("allowWatchBookmarks") && asked <= store.version();
    let interval = store.settings.bookmark;
    let form = super::form(kind, &target.version, view);
    let bookmark = skeleton(kind, &form);
    let position = if from_start { store.version() } else { asked };
    let id = store.streams.open(kind.id.clone(), selector.namespace().into());
    Ok(Watcher {
        id,
        resource: kind.id.clone(),
        bookmark,
        bookmarks,
        position,
        initial: initial.into_iter(),
        initial_end: from_start,
        // Asked for lists, the server finds no event that fits.
        mute: view == View::MetadataList,
        refused,
        next_bookmark: if bookmarks { now + interval } else { deadline },
        last_bookmark: (bookmarks && timeout >= SHORT).then(|| deadline - LAST_BOOKMARK),
        interval,
        deadline,
        ordered: None,
        over: false,
        selector,
        form,
    })
}

fn check(store: &Store, ask: &Ask) -> Result<(), Failure> {
    let matching = ask.query.get("resourceVersionMatch");
    if !ask.query.has("sendInitialEvents") {
        if !matching.is_empty() {
            return Err(bad_list_options(
                "resourceVersionMatch",
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            ));
        }
        return Ok(());
    }
    if !store.settings.streaming_lists {
        let why = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
        return Err(bad_list_options("sendInitialEvents", why));
    }
    if matching != "NotOlderThan" {
        let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        return Err(bad_list_options("resourceVersionMatch", why));
    }
    Ok(())
}

fn too_old(asked: u64, compacted: u64) -> Failure {
    Failure::expired(format!("too old resource version: {asked} ({compacted})"))
}

fn skeleton(kind: &Kind, form: &Form) -> Value {
    let Form::Full { kind: name, api_version } = form else {
        return json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {} });
    };
    let mut skeleton = json!({ "kind": &**name, "apiVersion": &**api_version, "metadata": {} });
    if kind.status && !kind.custom {
        skeleton["spec"] = if &*kind.plural == "pods" { json!({ "containers": null }) } else { json!({}) };
        skeleton["status"] = json!({});
    }
    skeleton
}

/// What a watch does next.
enum Step {
    Send(Vec<u8>),
    End,
    Break,
    /// Wait for news, at most until then.
    Wait(Instant),
}

impl Watcher {
    pub(crate) fn into_response(self, inner: Arc<Inner>) -> Response<Body> {
        let open = Open { inner, id: self.id };
        let news = open.inner.changed.subscribe();
        let state = (self, open, news);
        let body = stream::unfold(state, |(mut watcher, open, mut news)| async move {
            loop {
                // Before looking, so that nothing that comes meanwhile is missed.
                news.borrow_and_update();
                let step = open.inner.with(|state| watcher.step(&mut state.store));
                match step {
                    Step::Send(piece) => return Some((Ok(Bytes::from(piece)), (watcher, open, news))),
                    Step::End => return None,
                    Step::Break => {
                        watcher.over = true;
                        return Some((Err::<Bytes, BoxError>(reset()), (watcher, open, news)));
                    }
                    Step::Wait(until) => {
                        tokio::select! {
                            biased;
                            changed = news.changed() => if changed.is_err() { return None },
                            () = tokio::time::sleep_until(until) => {}
                        }
                    }
                }
            }
        });
        head(200, JSON, pieces(body))
    }

    /// Orders an end.
    pub(crate) fn end_at(&mut self, at: Instant, how: WatchEnd) {
        self.ordered = Some((at, how));
    }

    fn step(&mut self, store: &mut Store) -> Step {
        if self.over {
            return Step::End;
        }
        let now = store.now;
        let end = store.streams.end_of(self.id).or(self.ordered);
        if let Some((at, how)) = end
            && at <= now
            && let Some(step) = self.end(how, store)
        {
            return step;
        }
        let silent = end.is_some_and(|(at, how)| at <= now && how == WatchEnd::Silent);
        if !silent && let Some(piece) = self.news(store) {
            return Step::Send(piece);
        }
        if self.over || (now >= self.deadline && !silent) {
            return Step::End;
        }
        let mut until = if silent { now + Duration::from_secs(3600) } else { self.deadline };
        if !silent {
            let times =
                [Some(self.next_bookmark), self.last_bookmark, self.refused.as_ref().map(|(at, _)| *at)];
            for at in times.into_iter().flatten() {
                until = until.min(at);
            }
        }
        for at in [store.agenda.next(), end.map(|(at, _)| at).filter(|at| *at > now)].into_iter().flatten() {
            until = until.min(at);
        }
        Step::Wait(until)
    }

    /// An end by somebody's will; `None`: none now.
    fn end(&mut self, how: WatchEnd, store: &Store) -> Option<Step> {
        match how {
            WatchEnd::Clean => {
                // What happened before the end is told first.
                let last = self.news(store);
                self.over = true;
                Some(last.map_or(Step::End, Step::Send))
            }
            WatchEnd::Reset => Some(Step::Break),
            WatchEnd::MidLine => {
                // Half a line now, the break next time.
                if let Some(piece) = self.half_line() {
                    return Some(Step::Send(piece));
                }
                Some(Step::Break)
            }
            WatchEnd::Expired => {
                self.over = true;
                Some(Step::Send(error(&too_old(self.position, store.version()))))
            }
            WatchEnd::Silent => None,
        }
    }

    fn half_line(&mut self) -> Option<Vec<u8>> {
        (!std::mem::replace(&mut self.mute, true))
            .then(|| b"{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"".to_vec())
    }

    /// Lines that are ready to go out.
    fn news(&mut self, store: &Store) -> Option<Vec<u8>> {
        let now = store.now;
        if let Some((at, failure)) = &self.refused {
            if *at > now {
                return None;
            }
            let line = error(failure);
            self.over = true;
            return Some(line);
        }
        if self.mute {
            return None;
        }
        let mut out = Vec::new();
        for object in self.initial.by_ref() {
            line(&mut out, "ADDED", &object, &self.form);
            if out.len() >= PIECE {
                return Some(out);
            }
        }
        if std::mem::replace(&mut self.initial_end, false) && self.bookmarks {
            let position = self.position;
            self.write_bookmark(&mut out, position, true);
        }
        self.events(store, &mut out);
        if self.bookmarks {
            let due = self.next_bookmark <= now;
            let last = self.last_bookmark.is_some_and(|at| at <= now);
            if due || last {
                self.next_bookmark = if due { now + self.interval } else { self.next_bookmark };
                self.last_bookmark = self.last_bookmark.filter(|at| *at > now);
                // Events that did not fit into this piece come later.
                let version = if out.len() < PIECE { store.version() } else { self.position };
                self.position = version;
                self.write_bookmark(&mut out, version, false);
            }
        }
        (!out.is_empty()).then_some(out)
    }

    fn events(&mut self, store: &Store, out: &mut Vec<u8>) {
        let Some(resource) = store.resources.get(&self.resource) else {
            self.over = true;
            return;
        };
        if self.position < resource.history.dropped() {
            // Nobody read this body for long.
            out.extend_from_slice(&error(&too_old(self.position, resource.history.compacted())));
            self.over = true;
            return;
        }
        for event in resource.history.after(self.position) {
            self.position = event.version;
            self.event(event, out);
            if out.len() >= PIECE {
                return;
            }
        }
    }

    /// An event as the selection sees it: objects come and go when their labels change.
    fn event(&self, event: &Event, out: &mut Vec<u8>) {
        let matches = event.change != Change::Deleted && self.selector.matches(&event.object);
        let matched = event.previous.as_ref().filter(|previous| self.selector.matches(previous));
        match (matches, matched) {
            (true, None) => line(out, "ADDED", &event.object, &self.form),
            (true, Some(_)) => line(out, "MODIFIED", &event.object, &self.form),
            (false, Some(_)) if event.change == Change::Deleted => {
                line(out, "DELETED", &event.object, &self.form)
            }
            (false, Some(previous)) => {
                line(out, "DELETED", &previous.under_version(event.version), &self.form)
            }
            (false, None) => {}
        }
    }

    fn write_bookmark(&self, out: &mut Vec<u8>, version: u64, end: bool) {
        let mut object = self.bookmark.clone();
        object["metadata"]["resourceVersion"] = version.to_string().into();
        if end {
            object["metadata"]["annotations"] = json!({ INITIAL_EVENTS_END: "true" });
        }
        out.extend_from_slice(b"{\"type\":\"BOOKMARK\",\"object\":");
        out.extend_from_slice(object.to_string().as_bytes());
        out.extend_from_slice(b"}\n");
    }
}

fn line(out: &mut Vec<u8>, event: &str, object: &Object, form: &Form) {
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(event.as_bytes());
    out.extend_from_slice(b"\",\"object\":");
    object.render(form, out);
    out.extend_from_slice(b"}\n");
}

fn error(failure: &Failure) -> Vec<u8> {
    format!("{{\"type\":\"ERROR\",\"object\":{}}}\n", failure.status()).into_bytes()
}

/// Takes a watch off the list of open ones when its body is dropped.
struct Open {
    inner: Arc<Inner>,
    id: u64,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.inner.with(|state| state.store.streams.close(self.id));
    }
}
