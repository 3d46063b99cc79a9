//! Hand-made runs for the tests of the printers.

use std::time::{Duration, SystemTime};

use kstatus::{Cause, CauseCode, Kind, ObjectRef, Progress, Status, Timestamp, Verdict};
use kubesettle::error::{ApiError, ErrorClass, ExitClass};
use kubesettle::event::{
    Action, Awaited, Body, Conclusion, Event, Operation, Outcome, Skip, Start, Summary, WarningSource,
};
use kubesettle::id::{GroupKind, ObjectId};

use super::{Page, Printer};

/// 2025-01-01T14:02:11Z.
const BEGAN: u64 = 1_735_740_131;

/// A run under construction: a body at a time.
pub(super) struct Script {
    events: Vec<Event>,
    summary: Summary,
    at: Duration,
}

impl Script {
    pub(super) fn new(operation: Operation, objects: usize, namespaces: usize) -> Self {
        Self::starting(Start { operation, dry_run: None, set: None, objects, namespaces })
    }

    pub(super) fn starting(start: Start) -> Self {
        let script = Self { events: Vec::new(), summary: Summary::new(), at: Duration::ZERO };
        script.body(Body::Start(start))
    }

    /// Lets time pass: what follows happens so many milliseconds after the run began.
    pub(super) fn at(mut self, millis: u64) -> Self {
        self.at = Duration::from_millis(millis);
        self
    }

    pub(super) fn body(mut self, body: Body) -> Self {
        let event = Event {
            seq: self.events.len() as u64,
            elapsed: self.at,
            time: SystemTime::UNIX_EPOCH + Duration::from_secs(BEGAN) + self.at,
            body,
        };
        self.summary.observe(&event);
        self.events.push(event);
        self
    }

    pub(super) fn finished(self, id: &ObjectId, action: Action, outcome: Outcome) -> Self {
        self.body(Body::Finished { id: id.clone(), action, outcome })
    }

    pub(super) fn applied(self, id: &ObjectId, outcome: Outcome) -> Self {
        self.finished(id, Action::Apply, outcome)
    }

    pub(super) fn verdict(self, id: &ObjectId, verdict: Verdict) -> Self {
        self.body(Body::Verdict { id: id.clone(), verdict })
    }

    pub(super) fn concluded(self, id: &ObjectId, conclusion: Conclusion) -> Self {
        self.body(Body::Concluded { id: id.clone(), conclusion })
    }

    pub(super) fn settled(self, id: &ObjectId, verdict: Verdict) -> Self {
        self.verdict(id, verdict).concluded(id, Conclusion::Settled)
    }

    pub(super) fn warning(self, id: &ObjectId, message: &str) -> Self {
        let source = WarningSource::Server;
        self.body(Body::Warning { id: Some(id.clone()), source, message: message.into() })
    }

    pub(super) fn waiting(self, total: usize, awaited: Vec<Awaited>) -> Self {
        self.body(Body::Waiting { awaited, total })
    }

    pub(super) fn retry(self, id: &ObjectId, attempt: u32, error: ApiError) -> Self {
        let delay = Duration::from_millis(500);
        self.body(Body::Retry { id: id.clone(), action: Action::Apply, error, attempt, delay })
    }

    /// Totals and end.
    pub(super) fn end(self) -> Vec<Event> {
        let class = self.summary.exit_class();
        self.end_as(class, None)
    }

    pub(super) fn end_as(self, class: ExitClass, message: Option<&str>) -> Vec<Event> {
        let summary = self.summary.clone();
        let message = message.map(Into::into);
        self.body(Body::Summary(summary)).body(Body::End { class, message }).events
    }
}

/// What a printer makes of a run, with idle moments between the events as the driver gives them.
pub(super) fn show(printer: &mut dyn Printer, events: &[Event]) -> Page {
    let mut page = Page::default();
    let mut now = Duration::ZERO;
    for event in events {
        while now + Duration::from_millis(250) < event.elapsed {
            now += Duration::from_millis(250);
            printer.idle(now, &mut page);
        }
        printer.event(event, &mut page);
    }
    page
}

pub(super) fn id(group: &str, kind: &str, namespace: &str, name: &str) -> ObjectId {
    ObjectId::new(GroupKind::new(group, kind), namespace, name)
}

pub(super) fn deployment(name: &str) -> ObjectId {
    id("apps", "Deployment", "shop", name)
}

pub(super) fn config_map(name: &str) -> ObjectId {
    id("", "ConfigMap", "shop", name)
}

pub(super) fn verdict(status: Status, message: &str) -> Verdict {
    Verdict { status, message: message.to_owned(), ..Verdict::not_found() }
}

pub(super) fn current() -> Verdict {
    verdict(Status::Current, "Resource is current")
}

pub(super) fn available(have: i64, want: i64) -> Verdict {
    let status = if have == want { Status::Current } else { Status::InProgress };
    Verdict {
        progress: Some(Progress { have, want, what: "available" }),
        ..verdict(status, &format!("Available: {have}/{want}"))
    }
}

/// A Deployment with a pod in trouble, found `second` seconds after the run began.
pub(super) fn troubled(name: &str, code: CauseCode, text: &str, second: u64) -> Verdict {
    let link = |api_version, kind, name: String| ObjectRef {
        kind: Kind::new(api_version, kind),
        name: name.into(),
        uid: None,
    };
    let pod = format!("{name}-7c9d-x2");
    let message = format!("{code}: pod {pod}, container app: {text}");
    let chain = vec![
        link("apps/v1", "Deployment", name.to_owned()),
        link("apps/v1", "ReplicaSet", format!("{name}-7c9d")),
        link("v1", "Pod", pod),
    ];
    let since = i64::try_from(BEGAN + second).expect("fits");
    Verdict {
        causes: vec![Cause {
            code,
            object: chain[2].clone(),
            chain,
            container: Some("app".into()),
            message: message.clone(),
            since: Some(Timestamp::from_seconds(since)),
            fatal: false,
            fails_at: None,
            count: 1,
        }],
        progress: Some(Progress { have: 1, want: 3, what: "available" }),
        ..verdict(Status::InProgress, &message)
    }
}

/// The same, now certain.
pub(super) fn fatal(mut verdict: Verdict) -> Verdict {
    verdict.status = Status::Failed;
    for cause in &mut verdict.causes {
        cause.fatal = true;
    }
    verdict
}

pub(super) fn refused(class: ErrorClass, message: &str) -> Outcome {
    Outcome::Failed(ApiError::local(class, message))
}

pub(super) fn behind(chain: &[&ObjectId], reason: &str) -> Outcome {
    let chain = chain.iter().map(|id| (*id).clone()).collect();
    Outcome::Skipped(Skip::Dependency { chain, reason: reason.into() })
}

/// The run that the documentation shows: one of five objects does not find its image.
pub(super) fn shop() -> Vec<Event> {
    let (web, db) = (deployment("web"), deployment("db"));
    let (namespace, config) = (id("", "Namespace", "", "shop"), config_map("settings"));
    let job = id("batch", "Job", "shop", "migrate");
    let image = || troubled("web", CauseCode::ImagePullBackOff, "\"shop/web:1.4.x\" not found", 30);
    Script::new(Operation::Apply, 5, 1)
        .applied(&namespace, Outcome::Created)
        .at(100)
        .settled(&namespace, current())
        .at(200)
        .applied(&config, Outcome::Unchanged)
        .applied(&web, Outcome::Created)
        .applied(&db, Outcome::Configured)
        .applied(&job, Outcome::Created)
        .at(300)
        .settled(&config, current())
        .verdict(&web, available(0, 3))
        .verdict(&db, available(0, 1))
        .verdict(&job, verdict(Status::InProgress, "1 active"))
        .at(2_000)
        .verdict(&web, available(1, 3))
        .at(5_000)
        .settled(&db, available(1, 1))
        .at(30_000)
        .verdict(&web, image())
        .at(32_000)
        .waiting(
            5,
            vec![
                Awaited { id: web.clone(), verdict: Some(image()), since: Duration::from_secs(31) },
                Awaited { id: job.clone(), verdict: None, since: Duration::from_secs(31) },
            ],
        )
        .at(60_000)
        .settled(&job, current())
        .at(90_000)
        .verdict(&web, fatal(image()))
        .concluded(&web, Conclusion::Failed)
        .end()
}
