//! A run that writes, from its first word to its last.
//!
//! ```text
//!  lock ─► read the record ─► watch everything ─► synced ─► plan ─► write the record (old and new)
//!       ─► dispatch ─► write the record (what is left) ─► give the lock back
//! ```
//!
//! Without a set the steps about lock and record fall away. In a dry run the record is read and nothing
//! is written: the plan is rehearsed. Whatever happens after the record was written first, it is written
//! again at the end, or keeps naming old and new.

mod opening;
mod planning;
mod recording;

use std::collections::{HashMap, HashSet};

use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::cluster::Cluster;
use crate::error::ExitClass;
use crate::event::{Body, DryRun, Operation, Start, WarningSource};
use crate::id::ObjectId;
use crate::inventory::{Fate, Mark};
use crate::plan::{Plan, SavedPlan, Wanted};
use crate::run::dispatch::{Dispatcher, Parts, Remains, Stopping};
use crate::run::emit::Emitter;
use crate::run::options::RunOptions;
use crate::run::record::{Lock, Record, Stop};
use crate::run::rehearse::Rehearsal;
use crate::status::Watcher;
use crate::watch::{Closed, Hub, until};

use recording::{Last, finish};

/// What a run is about.
pub(super) struct Job {
    pub cluster: Cluster,
    pub hub: Hub,
    pub operation: Operation,
    pub wanted: Wanted,
    pub options: RunOptions,
    /// Who wants to keep the plan.
    pub planned: Option<oneshot::Sender<SavedPlan>>,
}

pub(super) async fn run(job: Job, mut emit: Emitter, cancel: CancellationToken) {
    start(&job, &mut emit).await;
    let deadline = job.options.timeout.map(|limit| Instant::now() + limit);
    let mut session = Session {
        job,
        record: None,
        lock: None,
        homeless: false,
        deadline,
        targets: HashMap::new(),
        over: false,
    };
    let opening = tokio::select! {
        opening = session.open(&mut emit) => opening,
        () = cancel.cancelled() => Ok(Err(Stop {
            class: ExitClass::Interrupted,
            message: String::from("interrupted; nothing was written"),
        })),
        () = until(deadline) => Ok(Err(Stop {
            class: ExitClass::TimedOut,
            message: String::from("the time limit was reached before anything was written"),
        })),
    };
    // An error of the watch means that the runtime shuts down: there is nobody to tell.
    let Ok(opening) = opening else { return };
    match opening {
        Ok(watcher) => {
            let _ = session.go(watcher, emit, cancel).await;
        }
        Err(stop) => {
            session.unlock().await;
            emit.end(stop.class, Some(stop.message.into())).await;
        }
    }
}

/// Tells what the run is about and what is odd about its input.
pub(super) async fn start(job: &Job, emit: &mut Emitter) {
    let named = job.options.targets.iter().map(|target| &target.id);
    let objects: Vec<&ObjectId> =
        job.wanted.objects().iter().map(|object| object.id()).chain(named).collect();
    let namespaces: HashSet<&str> = objects.iter().map(|id| id.namespace()).collect();
    let set = job.options.set.as_ref().map(|set| set.wanted.location().object());
    emit.tell(Body::Start(Start {
        operation: job.operation,
        dry_run: job.options.dry_run,
        set,
        objects: objects.len(),
        namespaces: namespaces.len() - usize::from(namespaces.contains("")),
    }))
    .await;
    for problem in job.wanted.problems() {
        let objects = problem.object.iter().cloned().collect();
        emit.tell(Body::Invalid { objects, error: problem.to_string().into() }).await;
    }
    for warning in job.wanted.warnings() {
        emit.warn(WarningSource::Input, warning).await;
    }
}

struct Session {
    job: Job,
    record: Option<Record>,
    lock: Option<Lock>,
    /// There is no lock because its namespace does not exist.
    homeless: bool,
    deadline: Option<Instant>,
    /// The watcher's target of each object.
    targets: HashMap<ObjectId, usize>,
    /// The set is no more.
    over: bool,
}

impl Session {
    /// Plans, and carries the plan out.
    async fn go(
        mut self,
        watcher: Watcher,
        mut emit: Emitter,
        cancel: CancellationToken,
    ) -> Result<(), Closed> {
        let plan = match self.plan(&watcher, &mut emit).await {
            Ok(plan) => plan,
            Err(stop) => {
                self.unlock().await;
                emit.end(stop.class, Some(stop.message.into())).await;
                return Ok(());
            }
        };
        if let Some(how) = self.job.options.dry_run {
            self.rehearse(how, plan, &watcher, &mut emit, &cancel).await;
            return Ok(());
        }
        let run = format!("{:x}", watcher.started_at());
        let operation = self.job.operation;
        // Once: what is put on record here must be known at the end, though the kind has come meanwhile.
        let late = self.late(&plan);
        let made = match self.begin(&plan, &late, &watcher, &run, &mut emit).await {
            Ok(made) => made,
            Err(stop) => {
                self.unlock().await;
                emit.end(stop.class, Some(stop.message.into())).await;
                return Ok(());
            }
        };
        let mut pins = self.pins();
        if let Some(made) = &made {
            pins.remove(made);
        }
        let identical = plan.identical.clone();
        let unseen = plan.unseen.len();
        let dispatcher = Dispatcher::new(Parts {
            cluster: self.job.cluster.clone(),
            hub: self.job.hub.clone(),
            mark: self.mark(),
            options: self.job.options.clone(),
            plan,
            watcher,
            target_of: std::mem::take(&mut self.targets),
            emit,
            deadline: self.deadline,
            lock: self.lock.take(),
            made,
            pins,
        });
        let Remains { mut emit, mut outcomes, lock, stopping, out_of_touch, complete } =
            dispatcher.run(cancel).await?;
        let last = Last { operation, complete, out_of_touch };
        self.lock = lock;
        for (applied, other) in identical {
            if outcomes.fate(&applied) == Some(Fate::Applied) {
                outcomes.tell(&other, Fate::Identical);
            }
        }
        late.iter().for_each(|id| outcomes.tell(id, Fate::Untouched));
        let lost = matches!(stopping, Some(Stopping::LockLost(_)));
        let mut end = how_stopped(stopping);
        if unseen > 0 {
            let text = || format!("{unseen} objects of the set cannot be looked at; they stay on record");
            end = (end.0.or(ExitClass::Unknown), Some(end.1.unwrap_or_else(text)));
        }
        if let Some(record) = self.record.as_mut().filter(|_| !lost)
            && let Err(stop) = finish(record, &outcomes, &last, &run, &mut emit).await
        {
            end = (end.0.or(stop.class), Some(stop.message));
        }
        self.over = operation == Operation::Destroy
            && self.record.as_ref().is_some_and(|record| !record.inventory().exists());
        self.unlock().await;
        emit.end(end.0, end.1.map(Into::into)).await;
        Ok(())
    }

    async fn rehearse(
        &self,
        how: DryRun,
        plan: Plan,
        watcher: &Watcher,
        emit: &mut Emitter,
        cancel: &CancellationToken,
    ) {
        let rehearsal = Rehearsal {
            cluster: &self.job.cluster,
            options: &self.job.options,
            how,
            mark: self.mark(),
            live: self.live(watcher),
            deadline: self.deadline,
        };
        let (class, message) = how_stopped(rehearsal.run(plan, emit, cancel).await);
        emit.end(class, message.map(Into::into)).await;
    }

    /// What every object of a tracked set is marked with.
    fn mark(&self) -> Option<Mark> {
        self.record.as_ref().map(Record::mark)
    }

    async fn unlock(&mut self) {
        if let Some(lock) = self.lock.take() {
            lock.release(self.over).await;
        }
    }
}

fn how_stopped(stopping: Option<Stopping>) -> (ExitClass, Option<String>) {
    match stopping {
        None => (ExitClass::Ok, None),
        Some(Stopping::TimedOut) => (ExitClass::TimedOut, Some(String::from("the time limit was reached"))),
        Some(Stopping::Cancelled | Stopping::Abandoned) => {
            (ExitClass::Interrupted, Some(String::from("interrupted")))
        }
        Some(Stopping::LockLost(holder)) => {
            (ExitClass::Refused, Some(format!("another run took the set over: {holder}")))
        }
    }
}
