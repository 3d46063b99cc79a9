//! Numbers events and hands them to the reader.

use std::collections::HashSet;
use std::time::SystemTime;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::error::ExitClass;
use crate::event::{Body, Event, Summary, WarningSource, rule_warnings};
use crate::id::ObjectId;
use crate::watch::Gap;

pub(super) struct Emitter {
    sender: mpsc::Sender<Event>,
    started: Instant,
    last: Instant,
    seq: u64,
    summary: Summary,
    /// What was told of rules that could not be evaluated.
    told: HashSet<(ObjectId, String)>,
}

impl Emitter {
    pub(super) fn new(sender: mpsc::Sender<Event>) -> Self {
        let now = Instant::now();
        Self { sender, started: now, last: now, seq: 0, summary: Summary::default(), told: HashSet::new() }
    }

    /// Tells what happened; waits while the reader is behind. A reader that is gone is no error
    /// here: [`Emitter::abandoned`] tells.
    pub(super) async fn tell(&mut self, body: Body) {
        for warning in self.of_rules(&body) {
            self.send(warning).await;
        }
        self.send(body).await;
    }

    /// A rule that could not be evaluated is told beside the verdict, once.
    fn of_rules(&mut self, body: &Body) -> Vec<Body> {
        let Body::Verdict { id, verdict } = body else { return Vec::new() };
        let news = rule_warnings(id, verdict);
        news.filter(|(message, _)| self.told.insert((id.clone(), message.clone())))
            .map(|(_, body)| body)
            .collect()
    }

    async fn send(&mut self, body: Body) {
        let event = Event { seq: self.seq, elapsed: self.started.elapsed(), time: SystemTime::now(), body };
        self.summary.observe(&event);
        self.seq += 1;
        self.last = Instant::now();
        let _ = self.sender.send(event).await;
    }

    /// Tells what a person should know of the run as a whole.
    pub(super) async fn warn(&mut self, source: WarningSource, message: &str) {
        self.tell(Body::Warning { id: None, source, message: message.into() }).await;
    }

    /// Tells that a kind cannot be watched as it should.
    pub(super) async fn gap(&mut self, gap: Gap) {
        let Gap { kind, namespace, reason } = gap;
        self.tell(Body::Gap { kind, namespace, reason }).await;
    }

    /// Tells the totals and the end. `class` is what the run knows beside the totals.
    pub(super) async fn end(&mut self, class: ExitClass, message: Option<Box<str>>) {
        let class = self.summary.exit_class().or(class);
        self.tell(Body::Summary(self.summary.clone())).await;
        self.tell(Body::End { class, message }).await;
    }

    /// When the last event was told.
    pub(super) fn last(&self) -> Instant {
        self.last
    }

    /// Waits until nobody reads any more.
    pub(super) fn abandoned(&self) -> impl Future<Output = ()> + 'static {
        let sender = self.sender.clone();
        async move { sender.closed().await }
    }
}
