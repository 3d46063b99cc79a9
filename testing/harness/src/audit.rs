//! Counting requests by the API server's own audit log.

use std::fmt::{self, Write as _};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use crate::credentials::{CONTROLLER_MANAGER, HARNESS, KWOK, SCHEDULER};
use crate::error::{Context, Error};
use crate::{Api, wait};

/// Requests of the control plane's own parts are left out: nobody counts them, and writing them down
/// would cost the API server time. `/version` is how the harness finds the end of the log.
pub(crate) fn write_policy(path: &Path) -> Result<(), Error> {
    let text = format!(
        "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: Metadata
  users: [{HARNESS}]
  nonResourceURLs: [/version]
- level: None
  users: [{HARNESS}, {KWOK}, {CONTROLLER_MANAGER:?}, {SCHEDULER:?}, \"system:apiserver\"]
- level: Metadata
"
    );
    fs::write(path, text).context(|| format!("cannot write {}", path.display()))
}

/// One request that reached the API server. A watch counts once, from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Name of the user.
    pub user: String,
    /// The client's `User-Agent`.
    pub user_agent: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; the HTTP
    /// method in small letters for paths such as `/version`.
    pub verb: String,
    /// Path and query.
    pub uri: String,
    /// API group; empty for the core group.
    pub group: String,
    /// Plural name of the resource; empty for paths such as `/version`.
    pub resource: String,
    /// Such as `status`; mostly empty.
    pub subresource: String,
    /// Empty for cluster-scoped objects and for all namespaces.
    pub namespace: String,
    /// Name of the object; empty for collections.
    pub name: String,
    /// HTTP status of the answer.
    pub code: u16,
    /// When the server received it, RFC 3339 with microseconds.
    pub received: String,
    /// Whether the answer is complete; an open watch is not.
    pub complete: bool,
    position: u64,
}

/// A point in the sequence of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(u64);

/// A set of requests, in the order in which they were first answered.
#[derive(Debug, Clone)]
pub struct Requests {
    entries: Vec<Arc<Request>>,
    end: Mark,
}

impl Requests {
    /// Those after a mark.
    pub fn since(self, mark: Mark) -> Self {
        self.filter(|request| request.position >= mark.0)
    }

    /// Those of one user, by exact name.
    pub fn user(self, name: &str) -> Self {
        self.filter(|request| request.user == name)
    }

    /// Those whose user agent starts with `prefix`.
    pub fn user_agent(self, prefix: &str) -> Self {
        self.filter(|request| request.user_agent.starts_with(prefix))
    }

    /// Those with one verb.
    pub fn verb(self, verb: &str) -> Self {
        self.filter(|request| request.verb == verb)
    }

    /// Those on one resource, written `pods` or `deployments.apps`.
    pub fn resource(self, resource: &str) -> Self {
        let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
        self.filter(|request| request.resource == plural && request.group == group)
    }

    /// Those in one namespace.
    pub fn namespace(self, namespace: &str) -> Self {
        self.filter(|request| request.namespace == namespace)
    }

    /// Those on objects of one name.
    pub fn name(self, name: &str) -> Self {
        self.filter(|request| request.name == name)
    }

    /// Those answered with one HTTP status.
    pub fn code(self, code: u16) -> Self {
        self.filter(|request| request.code == code)
    }

    /// Those that change something, dry runs included.
    pub fn writes(self) -> Self {
        self.filter(|request| {
            !request.resource.is_empty() && !matches!(request.verb.as_str(), "get" | "list" | "watch")
        })
    }

    /// Those that `keep` says yes to.
    pub fn filter(mut self, keep: impl Fn(&Request) -> bool) -> Self {
        self.entries.retain(|request| keep(request));
        self
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Each one.
    pub fn iter(&self) -> impl Iterator<Item = &Request> {
        self.entries.iter().map(Arc::as_ref)
    }

    /// The point after the last request of the log.
    pub fn end(&self) -> Mark {
        self.end
    }

    /// How many of each verb, most frequent first.
    pub fn by_verb(&self) -> Vec<(String, usize)> {
        self.tally(|request| request.verb.clone())
    }

    /// How many of each kind of request as told by `key`, most frequent first.
    pub fn tally(&self, key: impl Fn(&Request) -> String) -> Vec<(String, usize)> {
        let mut tally: Vec<(String, usize)> = Vec::new();
        for key in self.iter().map(key) {
            match tally.iter_mut().find(|(known, _)| *known == key) {
                Some((_, count)) => *count += 1,
                None => tally.push((key, 1)),
            }
        }
        tally.sort_by(|one, two| two.1.cmp(&one.1).then_with(|| one.0.cmp(&two.0)));
        tally
    }
}

/// A table of counts by user, verb, resource and status, for a person or a failed assertion.
impl fmt::Display for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, count) in self.tally(|request| {
            let mut key = format!("{:<12} {:<8} ", request.user, request.verb);
            let _ = match (request.resource.as_str(), request.subresource.as_str()) {
                ("", _) => write!(key, "{}", request.uri),
                (resource, "") => write!(key, "{resource}"),
                (resource, sub) => write!(key, "{resource}/{sub}"),
            };
            let _ = write!(key, " {}", request.code);
            key
        }) {
            writeln!(f, "{count:>7}  {key}")?;
        }
        Ok(())
    }
}

/// Reads the log file bit by bit, as it grows.
#[derive(Debug)]
pub(crate) struct AuditLog {
    path: PathBuf,
    barriers: AtomicUsize,
    state: Mutex<Reader>,
}

#[derive(Debug, Default)]
struct Reader {
    offset: u64,
    entries: Vec<Arc<Request>>,
    /// Requests whose answer is not complete, by the server's id for them.
    open: std::collections::HashMap<String, usize>,
    barrier: usize,
}

impl AuditLog {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, barriers: AtomicUsize::new(1), state: Mutex::default() }
    }

    /// All requests so far. The server writes a line after it has sent the answer, so one request of
    /// our own goes last and its line is awaited.
    pub(crate) fn read(&self, api: &Api) -> Requests {
        let number = self.barriers.fetch_add(1, Ordering::Relaxed);
        // Without a server, as in a test that stopped it, what is in the file is all there is.
        let reachable = api.get(&format!("/version?barrier={number}")).is_ok();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = if reachable { Duration::from_secs(10) } else { Duration::ZERO };
        let seen = wait::poll(limit, || {
            state.read_on(&self.path);
            (state.barrier >= number).then_some(())
        });
        assert!(seen.is_some() || !reachable, "the audit log {} does not grow", self.path.display());
        Requests { entries: state.entries.clone(), end: Mark(state.offset) }
    }
}

impl Reader {
    fn read_on(&mut self, path: &Path) {
        let mut text = Vec::new();
        let Ok(mut file) = File::open(path) else {
            return;
        };
        if file.seek(SeekFrom::Start(self.offset)).is_err() || file.read_to_end(&mut text).is_err() {
            return;
        }
        let complete = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        for line in text[..complete].split_inclusive(|&byte| byte == b'\n') {
            if let Ok(line) = serde_json::from_slice::<Line>(line) {
                self.add(line);
            }
            self.offset += line.len() as u64;
        }
    }

    fn add(&mut self, line: Line) {
        if line.user.username == HARNESS {
            let number = line.request_uri.split_once("barrier=").and_then(|(_, number)| number.parse().ok());
            self.barrier = self.barrier.max(number.unwrap_or(0));
            return;
        }
        let complete = line.stage != "ResponseStarted";
        if let Some(&index) = self.open.get(&line.audit_id) {
            if complete {
                self.open.remove(&line.audit_id);
                Arc::make_mut(&mut self.entries[index]).complete = true;
            }
            return;
        }
        if !complete {
            self.open.insert(line.audit_id, self.entries.len());
        }
        let object = line.object_ref.unwrap_or_default();
        self.entries.push(Arc::new(Request {
            user: line.user.username,
            user_agent: line.user_agent,
            verb: line.verb,
            uri: line.request_uri,
            group: object.api_group,
            resource: object.resource,
            subresource: object.subresource,
            namespace: object.namespace,
            name: object.name,
            code: line.response_status.unwrap_or_default().code,
            received: line.request_received_timestamp,
            complete,
            position: self.offset,
        }));
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line {
    #[serde(rename = "auditID")]
    audit_id: String,
    stage: String,
    #[serde(rename = "requestURI")]
    request_uri: String,
    verb: String,
    user: UserInfo,
    user_agent: String,
    object_ref: Option<ObjectRef>,
    response_status: Option<Status>,
    request_received_timestamp: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct UserInfo {
    username: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ObjectRef {
    api_group: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    code: u16,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, stage: &str, verb: &str) -> Line {
        Line { audit_id: id.to_owned(), stage: stage.to_owned(), verb: verb.to_owned(), ..Line::default() }
    }

    #[test]
    fn a_watch_is_counted_once_at_its_start() {
        let mut reader = Reader::default();
        reader.add(line("1", "ResponseStarted", "watch"));
        assert!(!reader.entries[0].complete);
        reader.add(line("2", "ResponseComplete", "get"));
        reader.add(line("1", "ResponseComplete", "watch"));
        assert_eq!(reader.entries.len(), 2);
        assert!(reader.entries[0].complete);
    }

    #[test]
    fn a_tally_is_sorted_by_count() {
        let mut reader = Reader::default();
        for (id, verb) in ["get", "patch", "patch"].iter().enumerate() {
            reader.add(line(&id.to_string(), "ResponseComplete", verb));
        }
        let requests = Requests { entries: reader.entries, end: Mark(0) };
        assert_eq!(requests.by_verb(), [("patch".to_owned(), 2), ("get".to_owned(), 1)]);
        assert_eq!(requests.writes().count(), 0);
    }
}
