//! Keeping the table up to date.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::StreamExt as _;
use http::header::{ETAG, IF_NONE_MATCH};
use http::{HeaderValue, Method};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::parse::{self, Document, GroupNames};
use super::table::{Group, Table, Version};
use crate::cluster::send::{Ask, Inner};
use crate::error::{ApiError, ErrorClass};

/// Everything at once where the server can, in the newest form it knows; else only names.
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// Time between two refreshes: the first ones after a quiet second follow fast, so that a kind is seen
/// as soon as its CRD is served; each doubles the pause.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const PAUSE: Duration = Duration::from_secs(1);
/// Requests at once to servers that need one for each group.
const AT_ONCE: usize = 8;
/// Largest document taken.
const LONGEST: usize = 64 << 20;

/// The present table and who may renew it.
#[derive(Debug, Default)]
pub(in crate::cluster) struct Discovery {
    table: RwLock<Arc<Table>>,
    epoch: AtomicU64,
    /// Number of the newest attempt.
    begun: AtomicU64,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    /// Number of the newest attempt that succeeded.
    done: u64,
    /// When the newest attempt began.
    tried: Option<Instant>,
    /// How long after it the next one may begin.
    pause: Duration,
    /// The servers' names for the documents that the table was made of: `/api`, `/apis`.
    tags: [Option<HeaderValue>; 2],
}

impl Discovery {
    pub(in crate::cluster) fn table(&self) -> Arc<Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(in crate::cluster) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    fn set(&self, table: Table) {
        if self.table().same_as(&table) {
            return;
        }
        *self.table.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(table);
        self.epoch.fetch_add(1, Ordering::Release);
    }

    /// Asks the server, unless somebody else's question that began after this call was answered.
    pub(in crate::cluster) async fn refresh(&self, inner: &Inner) -> Result<(), ApiError> {
        let begun_before = self.begun.load(Ordering::Acquire);
        let mut progress = self.progress.lock().await;
        if progress.done > begun_before {
            return Ok(());
        }
        match progress.tried {
            Some(tried) if tried.elapsed() < PAUSE => {
                tokio::time::sleep_until(tried + progress.pause).await;
                progress.pause = (progress.pause * 2).min(PAUSE);
            }
            _ => progress.pause = FIRST_PAUSE,
        }
        progress.tried = Some(Instant::now());
        let number = self.begun.fetch_add(1, Ordering::AcqRel) + 1;
        self.fetch(inner, &mut progress.tags).await?;
        progress.done = number;
        Ok(())
    }

    async fn fetch(&self, inner: &Inner, tags: &mut [Option<HeaderValue>; 2]) -> Result<(), ApiError> {
        let before = self.table();
        let [core_tag, named_tag] = tags;
        // The first request alone: the others then share its connection.
        let core = match fetch_half(inner, true, core_tag, &before).await {
            // Servers without a core group exist.
            Err(error) if error.status == Some(404) => Vec::new(),
            core => core?,
        };
        let named = fetch_half(inner, false, named_tag, &before).await?;
        let table = Table::new(core.into_iter().chain(named).collect(), &before);
        if !table.is_complete() {
            // What is missing now may come without the document changing its name.
            *tags = [None, None];
        }
        self.set(table);
        Ok(())
    }
}

async fn fetch_half(
    inner: &Inner,
    core: bool,
    tag: &mut Option<HeaderValue>,
    before: &Table,
) -> Result<Vec<Group>, ApiError> {
    let path = if core { "/api" } else { "/apis" };
    let mut ask = Ask::new(Method::GET, path.to_owned(), ACCEPT);
    if let Some(tag) = tag {
        ask.headers.push((IF_NONE_MATCH, tag.clone()));
    }
    let answer = inner.head(ask).await?;
    if answer.status().as_u16() == 304 {
        return Ok(before.half(core).cloned().collect());
    }
    let new_tag = answer.headers().get(ETAG).cloned();
    let body = inner.success(answer, "", LONGEST).await?;
    let document = parse::document(&body).map_err(|error| not_understood(path, &error))?;
    Ok(match document {
        Document::Aggregated(groups) => {
            *tag = new_tag;
            groups
        }
        Document::Names(names) => {
            *tag = None;
            fetch_each(inner, names).await
        }
    })
}

/// One request for each group and version; one that fails is unknown, not absent.
async fn fetch_each(inner: &Inner, names: Vec<GroupNames>) -> Vec<Group> {
    let mut requests = Vec::new();
    for group in &names {
        for version in &group.versions {
            requests.push(fetch_version(inner, &group.name, version));
        }
    }
    let asked: Vec<Option<Version>> = futures_util::stream::iter(requests).buffered(AT_ONCE).collect().await;
    let mut asked = asked.into_iter();
    let mut groups = Vec::with_capacity(names.len());
    for group in &names {
        let versions = asked.by_ref().take(group.versions.len()).flatten().collect();
        groups.push(Group { name: group.name.as_str().into(), versions });
    }
    groups
}

/// `None`: removed since the names were told.
async fn fetch_version(inner: &Inner, group: &str, version: &str) -> Option<Version> {
    let path = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
    let fetch = async {
        let answer = inner.head(Ask::new(Method::GET, path.clone(), "application/json")).await?;
        let body = inner.success(answer, "", LONGEST).await?;
        parse::resources(&body, group, version).map_err(|error| not_understood(&path, &error))
    };
    let resources = match fetch.await {
        Ok(resources) => Some(resources),
        Err(error) if error.status == Some(404) => return None,
        Err(error) => {
            tracing::debug!(group, version, %error, "group is not told about");
            None
        }
    };
    Some(Version { name: version.into(), resources })
}

fn not_understood(path: &str, error: &serde_json::Error) -> ApiError {
    ApiError::local(
        ErrorClass::Protocol,
        format!("the answer to {path} is not that of a Kubernetes API server: {error}"),
    )
}
