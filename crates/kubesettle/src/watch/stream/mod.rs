//! One list+watch loop: does the I/O that [`super::machine`] asks for and turns what arrives into
//! changes for the hub. One task each, ended by aborting it.
//!
//! Objects that nobody wants are dropped right after their metadata was read; of the others a digest or
//! an edge leaves this module ([`super::wanted`]).
//!
//! | file | what |
//! | --- | --- |
//! | `mod` | lists and watches, step by step |
//! | `told` | what is made of each object |
//! | `poll` | single GETs instead |

mod poll;
mod told;

use std::sync::Arc;
use std::time::Duration;

use kstatus::{Digest, EventNote, Kind, Rulebook, Uid};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout};

use super::machine::{Closed, Machine, Outcome, Step, Why, older};
use super::names::Names;
use super::page_size::PageSize;
use super::wanted::{Filter, Interest, Owners, Sight};
use super::wire::{self, Line};
use super::{Marks, jitter};
use crate::cluster::{Cluster, Content, Lines, ListPage, Resource, Scope, WatchStart};
use crate::error::{ApiError, ErrorClass};

/// How long the initial events of a streaming list may pause before lists are used instead.
const INITIAL_EVENTS_GUARD: Duration = Duration::from_secs(10);
/// Servers send a bookmark about every minute; three times that without a byte is a dead stream.
const SILENCE: Duration = Duration::from_secs(180);
/// A kind that answers nothing for so long is out of touch; the question stays open.
const PATIENCE: Duration = Duration::from_secs(30);
/// So many lines in a row that cannot be decoded make the state doubtful.
const UNDECODABLE_LIMIT: u32 = 3;
/// A streaming list is never compressed. One that is longer than this is left for lists, which take a
/// tenth of the bytes and more.
const CROWDED: usize = 256 << 10;
/// Changes handed to the hub at once.
const BATCH: usize = 256;

/// What a loop tells the hub, in order.
#[derive(Debug)]
pub(super) enum Change {
    /// The whole state follows; what is not in it is gone.
    Begin,
    /// The list that is under way is from before what was told already: the server's data went back.
    Rewound,
    /// The object is there, in this state.
    Upsert(Arc<Digest>),
    /// The marks of the object that the next change is about, when it has any.
    Marks(Box<Marks>),
    /// The object belongs to others, if to any.
    Stranger { uid: Uid, owner: Option<Uid> },
    /// The object is gone.
    Gone { uid: Uid, owner: Option<Uid> },
    /// The event of this uid says something.
    Note(Uid, Box<EventNote>),
    /// A wanted object has left what is watched by its labels; it may be there all the same.
    Unlabelled { namespace: Box<str>, name: Box<str> },
    /// Everything up to this version has been told.
    Version(Box<str>),
    /// The whole state has been told, of all that was wanted up to this serial of the interest.
    Synced(u64),
    /// Contact is lost; the loop goes on trying.
    Gap(ApiError),
    /// Contact is good, and nothing was missed.
    Contact,
    /// The object of this name is there, and nobody can tell its state.
    Unreadable { namespace: Box<str>, name: Box<str>, why: Box<str> },
    /// The server sent what it should not, and it was passed over: how often, and what it was.
    PassedOver(Box<str>),
    /// This server does not do streaming lists for this kind.
    NoStreaming,
    /// The loop is over.
    Stopped(ApiError),
}

/// Changes of one key.
#[derive(Debug)]
pub(super) struct Batch {
    /// Which loop sends it.
    pub key: u32,
    /// What happened, in order.
    pub changes: Vec<Change>,
}

/// Everything a loop needs.
pub(super) struct Loop {
    pub key: u32,
    pub cluster: Cluster,
    pub rules: Rulebook,
    pub resource: Resource,
    pub kind: Kind,
    pub scope: Scope,
    pub content: Content,
    pub interest: watch::Receiver<Interest>,
    pub owners: watch::Receiver<Owners>,
    pub hub: mpsc::Sender<Batch>,
}

/// The hub is gone: there is nobody to talk to.
struct HubGone;

/// Why following a stream came to an end.
enum Followed {
    Closed(Closed),
    /// More is wanted than this stream's initial state told.
    MoreWanted,
}

impl Loop {
    /// Lists and watches until it is aborted, the hub is gone, or nothing more can be done.
    pub(super) async fn run(self, streaming: bool) {
        // An error means that nobody listens any more.
        let _ = Runner::new(self).run(streaming).await;
    }

    /// Asks for each wanted name again and again, for want of the right to list or watch.
    pub(super) async fn poll(self) {
        let _ = Runner::new(self).poll().await;
    }
}

struct Runner {
    task: Loop,
    filter: Filter,
    changes: Vec<Change>,
    version: Option<Box<str>>,
    /// How many lines in a row.
    undecodable: u32,
    /// How much of what the server sent was passed over so far.
    passed_over: u32,
    /// The hub was told that contact is lost.
    out_of_touch: bool,
    page: PageSize,
    /// What is wanted and has not been told since the whole state began to be told by labels.
    unseen: Names,
}

impl Runner {
    fn new(task: Loop) -> Self {
        let filter = Filter::new(task.interest.borrow().clone(), task.owners.clone());
        Self {
            task,
            filter,
            changes: Vec::new(),
            version: None,
            undecodable: 0,
            passed_over: 0,
            out_of_touch: false,
            page: PageSize::default(),
            unseen: Names::default(),
        }
    }

    async fn run(&mut self, streaming: bool) -> Result<(), HubGone> {
        let mut machine = Machine::new(streaming);
        let mut step = machine.start();
        loop {
            let outcome = match step {
                Step::Stream => {
                    self.begin();
                    self.stream(&mut machine, WatchStart::StreamingList, false).await?
                }
                Step::Watch { version } => {
                    self.stream(&mut machine, WatchStart::From(&version), true).await?
                }
                Step::List { token, whole } => self.list(token, whole).await?,
                Step::Probe => self.probe().await?,
                Step::Pause(pause) => {
                    sleep(pause).await;
                    Outcome::Rested
                }
                Step::Stop(error) => {
                    self.changes.push(Change::Stopped(error));
                    return self.flush().await;
                }
            };
            let (next, notes) = machine.next(outcome, jitter());
            if notes.no_streaming {
                self.changes.push(Change::NoStreaming);
            }
            if let Some(error) = notes.gap
                && !std::mem::replace(&mut self.out_of_touch, true)
            {
                self.changes.push(Change::Gap(error));
            }
            self.flush().await?;
            step = next;
        }
    }

    /// What is wanted by now; a fresh list tells all of it.
    fn refresh_interest(&mut self) {
        let interest = self.task.interest.borrow_and_update().clone();
        self.filter.set_interest(interest);
    }

    /// More is wanted by now than was asked for.
    fn more_wanted(&self) -> bool {
        self.task.interest.borrow().serial > self.filter.interest().serial
    }

    /// The whole state follows.
    fn begin(&mut self) {
        self.refresh_interest();
        self.changes.push(Change::Begin);
        if self.by_labels() {
            self.unseen = (*self.filter.interest().names).clone();
        }
    }

    /// The whole state has been told. What is wanted and does not have the labels is not in it.
    async fn synced(&mut self) -> Result<(), HubGone> {
        for id in std::mem::take(&mut self.unseen).iter() {
            if self.is_there(id.namespace(), id.name()).await? {
                let (namespace, name) = (id.namespace().into(), id.name().into());
                self.changes.push(Change::Unlabelled { namespace, name });
            }
        }
        self.changes.push(Change::Synced(self.filter.interest().serial));
        Ok(())
    }

    /// True when an object that loses its labels is told like one that is gone.
    fn by_labels(&self) -> bool {
        matches!(self.task.scope, Scope::Labels { .. })
    }

    /// Asks for one object; true also when there is no answer: whoever follows it by name finds out.
    async fn is_there(&mut self, namespace: &str, name: &str) -> Result<bool, HubGone> {
        let task = &self.task;
        let asked = task.cluster.get(&task.resource, namespace, name, Content::MetadataOnly);
        Ok(!matches!(patiently(task, &mut self.out_of_touch, asked).await?, Ok(None)))
    }

    async fn list(&mut self, token: Option<String>, whole: bool) -> Result<Outcome, HubGone> {
        if token.is_none() {
            self.begin();
        }
        let limit = (!whole).then(|| self.page.objects());
        let page = ListPage { limit, continue_token: token.as_deref(), resource_version: None };
        let task = &self.task;
        let asked = task.cluster.list(&task.resource, &task.scope, page, task.content);
        let body = match patiently(task, &mut self.out_of_touch, asked).await? {
            Ok(body) => body,
            Err(error) => return Ok(Outcome::Refused(error)),
        };
        let page = match wire::page(&body) {
            Ok(page) => page,
            Err(error) => return Ok(Outcome::Refused(ApiError::local(ErrorClass::Protocol, error.what))),
        };
        self.page.measured(body.len(), page.len());
        for item in page.items() {
            match item {
                Ok(item) => self.tell(&item, Sight::Listed),
                Err(error) => self.unreadable(&error),
            }
            if self.changes.len() >= BATCH {
                self.flush().await?;
            }
        }
        let (next, version) = (page.next.map(String::from), page.version.into_owned());
        if next.is_none() {
            self.told_up_to(&version, true);
            drop(body);
            self.synced().await?;
            self.out_of_touch = false;
        }
        self.flush().await?;
        Ok(Outcome::Page { next, version })
    }

    /// Asks for as little as a list can be.
    async fn probe(&mut self) -> Result<Outcome, HubGone> {
        let page = ListPage { limit: Some(1), ..ListPage::default() };
        let task = &self.task;
        let asked = task.cluster.list(&task.resource, &task.scope, page, Content::MetadataOnly);
        let answer = patiently(task, &mut self.out_of_touch, asked).await?;
        Ok(match answer.map(|body| wire::page(&body).map(|page| page.version.into_owned())) {
            Ok(Ok(version)) => Outcome::Version(version),
            Ok(Err(error)) => Outcome::Refused(ApiError::local(ErrorClass::Protocol, error.what)),
            Err(error) => Outcome::Refused(error),
        })
    }

    async fn stream(
        &mut self,
        machine: &mut Machine,
        start: WatchStart<'_>,
        synced: bool,
    ) -> Result<Outcome, HubGone> {
        let task = &self.task;
        let lifetime = Duration::from_secs_f64(300.0 + 300.0 * jitter());
        let asked = task.cluster.watch(&task.resource, &task.scope, start, lifetime, task.content);
        let lines = match patiently(task, &mut self.out_of_touch, asked).await? {
            Ok(lines) => lines,
            Err(error) => return Ok(Outcome::Refused(error)),
        };
        // A streaming list says by its end that contact is good.
        if synced && std::mem::take(&mut self.out_of_touch) {
            self.changes.push(Change::Contact);
            self.flush().await?;
        }
        match self.follow(machine, lines, synced).await? {
            Followed::Closed(closed) => Ok(Outcome::Closed(closed)),
            Followed::MoreWanted => {
                machine.forget();
                Ok(Outcome::Rested)
            }
        }
    }

    async fn follow(
        &mut self,
        machine: &mut Machine,
        mut lines: Lines,
        mut synced: bool,
    ) -> Result<Followed, HubGone> {
        let opened = Instant::now();
        let may_be_crowded = !synced && self.task.cluster.compresses();
        let (mut bytes, mut objects) = (0, 0);
        let mut resumed_from = if synced { self.version.clone() } else { None };
        let why = loop {
            let guard = if synced { SILENCE } else { INITIAL_EVENTS_GUARD };
            let line = tokio::select! {
                line = timeout(guard, lines.next()) => line,
                Ok(()) = self.task.interest.changed() => {
                    if self.more_wanted() {
                        return Ok(Followed::MoreWanted);
                    }
                    self.refresh_interest();
                    continue;
                }
            };
            let line = match line {
                Err(_) if synced => {
                    break Why::Silent;
                }
                Err(_) => break Why::NoEndBookmark,
                Ok(Err(error)) => break Why::Error(error),
                Ok(Ok(None)) => break Why::Clean,
                Ok(Ok(Some(line))) => line,
            };
            if may_be_crowded && !synced {
                (bytes, objects) = (bytes + line.len(), objects + 1);
                if bytes > CROWDED {
                    self.page.measured(bytes, objects);
                    break Why::Crowded;
                }
            }
            let decoded = wire::line(line, crate::cluster::status_error);
            if let Ok(Line::Added(item) | Line::Modified(item) | Line::Gone(item)) = &decoded
                && resumed_from.take().is_some_and(|from| older(&item.version, &from))
            {
                break Why::WentBack;
            }
            match decoded {
                Ok(Line::Added(item)) => self.told(&item, synced, Sight::Added),
                Ok(Line::Modified(item)) => self.told(&item, synced, Sight::Modified),
                Ok(Line::Gone(item)) => {
                    let wanted = self.filter.interest().named(&item.namespace, &item.name);
                    if wanted && self.by_labels() && self.is_there(&item.namespace, &item.name).await? {
                        let (namespace, name) = ((*item.namespace).into(), (*item.name).into());
                        self.changes.push(Change::Unlabelled { namespace, name });
                        self.version = Some((*item.version).into());
                    } else {
                        self.told(&item, synced, Sight::Deleted);
                    }
                }
                Ok(Line::Bookmark { version, initial_end }) => {
                    self.undecodable = 0;
                    self.told_up_to(&version, initial_end && !synced);
                    if initial_end && !synced {
                        synced = true;
                        self.out_of_touch = false;
                        self.synced().await?;
                    }
                }
                Ok(Line::Error(error)) => break Why::Error(error),
                Err(error) => {
                    self.unreadable(&error);
                    self.undecodable += 1;
                    if self.undecodable >= UNDECODABLE_LIMIT {
                        self.undecodable = 0;
                        break Why::Undecodable(error.what);
                    }
                }
            }
            if synced {
                machine.contact();
            }
            if self.changes.len() >= BATCH || (!self.changes.is_empty() && !lines.buffered()) {
                self.flush().await?;
            }
        };
        self.flush().await?;
        let version = self.version.as_deref().map(String::from);
        Ok(Followed::Closed(Closed { why, synced, version, lived: opened.elapsed() }))
    }

    async fn flush(&mut self) -> Result<(), HubGone> {
        if self.changes.is_empty() {
            return Ok(());
        }
        let changes = std::mem::take(&mut self.changes);
        self.task.hub.send(Batch { key: self.task.key, changes }).await.map_err(|_| HubGone)
    }
}

/// Waits for an answer, and tells the hub when that takes long.
async fn patiently<T>(
    task: &Loop,
    out_of_touch: &mut bool,
    asked: impl Future<Output = Result<T, ApiError>>,
) -> Result<Result<T, ApiError>, HubGone> {
    tokio::pin!(asked);
    if let Ok(answer) = timeout(PATIENCE, &mut asked).await {
        return Ok(answer);
    }
    if !std::mem::replace(out_of_touch, true) {
        let error = ApiError::local(ErrorClass::TimedOut, "the server does not answer");
        let batch = Batch { key: task.key, changes: vec![Change::Gap(error)] };
        task.hub.send(batch).await.map_err(|_| HubGone)?;
    }
    Ok(asked.await)
}
