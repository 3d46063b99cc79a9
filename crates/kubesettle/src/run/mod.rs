//! Makes a plan and carries it out: starts actions, receives answers and verdicts, keeps time, and tells it all in
//! one ordered stream of events. The only producer of events.
//!
//! ```text
//!   record, live state ──► Plan ──► schedule ──► request ──► answer ──► floor ──► verdicts … ──► conclusion
//!              ▲            │ retry      │                     │
//!              └── edges met by ─────────┴─────────────────────┘
//! ```
//!
//! # Contract
//!
//! * No action starts before the initial state of every object is known (or known to be unknowable).
//! * An object's verdict is told only after its own write, and only of states at or after it.
//! * A run ends when every object is settled, or certainly failed, or cannot be known; or when its
//!   time is up; or when it is cancelled. At its end every object has a conclusion.
//! * [`CancelHandle::cancel`], or dropping the [`Run`], starts nothing new; requests under way finish.

mod compare;
mod dispatch;
mod doctor;
mod emit;
mod facts;
mod groups;
mod holds;
mod look;
mod mutate;
mod options;
mod pace;
mod pin;
mod prepare;
mod record;
mod rehearse;
mod retry;
mod schedule;
mod select;
mod session;
mod upkeep;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::cluster::Cluster;
use crate::event::{Event, Operation};
use crate::plan::{SavedPlan, Wanted};
use crate::watch::Hub;

pub use compare::{Comparison, compare};
pub use mutate::complete;
pub use options::{LookUntil, RunOptions};
pub use prepare::prepare;
pub use record::{SetOptions, mark_of};
pub use select::{BadWords, Named, SelectError, Selection, select};
pub use upkeep::{Listed, Rebuilt, RecordError, Records};

/// Events that may wait for their reader before the run pauses.
const QUEUE: usize = 256;

/// A run under way: its events. Dropping it cancels the run.
#[derive(Debug)]
pub struct Run {
    events: mpsc::Receiver<Event>,
    planned: Option<oneshot::Receiver<SavedPlan>>,
    cancel: CancellationToken,
    _guard: DropGuard,
}

/// Stops a run from elsewhere. Cheap to clone.
#[derive(Clone, Debug)]
pub struct CancelHandle(CancellationToken);

impl CancelHandle {
    /// Nothing new starts; requests under way finish; then the run ends as interrupted.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

impl Run {
    /// Starts to do `operation` with what is wanted. Must be called inside a tokio runtime.
    pub fn start(
        cluster: &Cluster,
        hub: &Hub,
        operation: Operation,
        wanted: Wanted,
        options: RunOptions,
    ) -> Self {
        let cancel = CancellationToken::new();
        let (sender, events) = mpsc::channel(QUEUE);
        let emitter = emit::Emitter::new(sender);
        let (cluster, hub, token) = (cluster.clone(), hub.clone(), cancel.clone());
        let (planned, plan) = options.keep_plan.then(oneshot::channel).unzip();
        let job = session::Job { cluster, hub, operation, wanted, options, planned };
        match operation {
            Operation::Status => tokio::spawn(look::run(job, emitter, token)),
            Operation::Apply | Operation::Destroy => tokio::spawn(session::run(job, emitter, token)),
        };
        Self { events, planned: plan, _guard: cancel.clone().drop_guard(), cancel }
    }

    /// The next event; `None` after [`Body::End`](crate::event::Body::End).
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// The plan, once [`Body::Plan`](crate::event::Body::Plan) was told; only of a run that was asked
    /// to keep it ([`RunOptions::keep_plan`]), and once.
    pub fn take_plan(&mut self) -> Option<SavedPlan> {
        self.planned.as_mut()?.try_recv().ok()
    }

    /// A handle that stops this run.
    pub fn cancel_handle(&self) -> CancelHandle {
        CancelHandle(self.cancel.clone())
    }
}
