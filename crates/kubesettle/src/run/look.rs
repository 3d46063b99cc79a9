//! A run that only looks: the verdict of every object, once or until something is reached.

use std::collections::HashSet;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use kstatus::Status;

use super::emit::Emitter;
use super::options::{LookUntil, RunOptions};
use super::record::Record;
use super::session::Job;
use crate::error::ExitClass;
use crate::event::{Body, Conclusion, WarningSource};
use crate::id::ObjectId;
use crate::status::{Signal, Watcher};
use crate::watch::{Closed, Presence, Target, until};

pub(super) async fn run(job: Job, mut emit: Emitter, cancel: CancellationToken) {
    super::session::start(&job, &mut emit).await;
    let Job { cluster, hub, wanted, options, .. } = job;
    let mut targets: Vec<Target> = wanted
        .objects()
        .iter()
        .map(|object| Target { id: object.id().clone(), version: Some(object.version().into()) })
        .chain(options.targets.iter().cloned())
        .collect();
    if let Some(set) = &options.set {
        let (manager, budget) = (&options.apply.field_manager, options.retry_budget);
        match Record::open(&cluster, set.clone(), manager, budget, Some(&mut emit)).await {
            Ok(record) => {
                if !record.inventory().exists() {
                    let text = format!("no inventory {} was found", record.inventory().location());
                    emit.warn(WarningSource::Run, &text).await;
                }
                for note in record.inventory().notes() {
                    emit.warn(WarningSource::Run, note).await;
                }
                let known: HashSet<ObjectId> = targets.iter().map(|target| target.id.clone()).collect();
                let rest = record.inventory().entries().keys().filter(|id| !known.contains(*id));
                targets.extend(rest.map(|id| Target { id: id.clone(), version: None }));
            }
            Err(stop) => return emit.end(stop.class, Some(stop.message.into())).await,
        }
    }
    let count = targets.len();
    let mut judgement = options.judgement.clone();
    judgement.at_once = true;
    super::facts::learn(&cluster, &wanted, &targets, &mut judgement.facts).await;
    let Ok(watcher) = Watcher::start(&hub, targets, options.watch.clone(), judgement).await else { return };
    let mut look = Look { watcher, emit, options, count };
    // An error here means that the runtime shuts down: there is nobody to tell.
    let _ = look.drive(cancel).await;
}

struct Look {
    watcher: Watcher,
    emit: Emitter,
    options: RunOptions,
    count: usize,
}

enum End {
    Reached,
    TimedOut,
    Cancelled,
}

impl Look {
    async fn drive(&mut self, cancel: CancellationToken) -> Result<(), Closed> {
        let deadline = self.options.timeout.map(|limit| Instant::now() + limit);
        let abandoned = self.emit.abandoned();
        tokio::pin!(abandoned);
        let mut synced = false;
        // Asked once, an object is told once, with its explanation; watched, every change is told.
        let once = self.options.until == LookUntil::Known;
        let end = loop {
            if synced && self.reached() {
                break End::Reached;
            }
            tokio::select! {
                () = cancel.cancelled() => break End::Cancelled,
                () = &mut abandoned => break End::Cancelled,
                () = until(deadline) => break End::TimedOut,
                signal = self.watcher.next() => match signal? {
                    Signal::Synced => {
                        synced = true;
                        self.watcher.explain_all().await?;
                    }
                    Signal::Gap(gap) => self.emit.gap(gap).await,
                    Signal::Verdicts(changed) if !once => {
                        for target in changed {
                            self.tell(target).await;
                        }
                    }
                    Signal::Verdicts(_) | Signal::Explained => {}
                }
            }
        };
        self.conclude(once, &end).await;
        Ok(())
    }

    fn reached(&self) -> bool {
        (0..self.count).all(|target| {
            let status = self.watcher.verdict(target).map(|verdict| verdict.status);
            let unknowable = matches!(self.watcher.presence(target), Presence::Unknown(_));
            match self.options.until {
                LookUntil::Known => status.is_some() && self.watcher.explained(target),
                LookUntil::Settled => unknowable || matches!(status, Some(Status::Current | Status::Failed)),
                LookUntil::Deleted => unknowable || status == Some(Status::NotFound),
                LookUntil::Forever => false,
            }
        })
    }

    async fn tell(&mut self, target: usize) {
        if let (Some(id), Some(verdict)) = (self.watcher.id(target), self.watcher.verdict(target)) {
            self.emit.tell(Body::Verdict { id: id.clone(), verdict: verdict.clone() }).await;
        }
    }

    async fn conclude(&mut self, once: bool, end: &End) {
        for target in 0..self.count {
            if once {
                self.tell(target).await;
            }
            let status = self.watcher.verdict(target).map_or(Status::Unknown, |verdict| verdict.status);
            let wanted = match self.options.until {
                LookUntil::Deleted => status == Status::NotFound,
                _ => status == Status::Current,
            };
            let conclusion = match (status, end) {
                _ if wanted => Conclusion::Settled,
                (Status::Failed, _) => Conclusion::Failed,
                (Status::Unknown, _) => Conclusion::Unknown,
                (_, End::Reached) if once => Conclusion::NotAwaited,
                (_, End::Cancelled) => Conclusion::Cancelled,
                _ => Conclusion::TimedOut,
            };
            if let Some(id) = self.watcher.id(target).cloned() {
                self.emit.tell(Body::Concluded { id, conclusion }).await;
            }
        }
        let (class, message) = match end {
            End::Reached => (ExitClass::Ok, None),
            End::TimedOut => (ExitClass::TimedOut, Some("the time limit was reached")),
            End::Cancelled => (ExitClass::Interrupted, Some("interrupted")),
        };
        self.emit.end(class, message.map(Into::into)).await;
    }
}
