//! Before the plan: the lock, the record, and the state of everything that matters.

use tokio::time::Instant;

use crate::error::ExitClass;
use crate::event::{Operation, WarningSource};
use crate::id::ObjectId;
use crate::inventory::lease::lease_object;
use crate::manifest::Object;
use crate::plan::Wanted;
use crate::run::emit::Emitter;
use crate::run::facts;
use crate::run::record::{Lock, Locked, Record, SetOptions, Stop};
use crate::status::{Signal, Watcher};
use crate::watch::{Closed, Target, until};

use super::Session;

impl Session {
    /// Takes the lock, reads the record, and learns the state of everything.
    pub(super) async fn open(&mut self, emit: &mut Emitter) -> Result<Result<Watcher, Stop>, Closed> {
        if let Some(set) = &self.job.options.set {
            if let Err(stop) = spare_the_record(set, &self.job.wanted) {
                return Ok(Err(stop));
            }
            if self.job.options.dry_run.is_none() {
                let budget = self.job.options.retry_budget;
                match Lock::acquire(&self.job.cluster, set, budget, emit).await {
                    Ok(Locked::Ours(lock)) => self.lock = Some(lock),
                    Ok(Locked::NoNamespace) => self.homeless = true,
                    Ok(Locked::Without(why)) => emit.warn(WarningSource::Run, &why).await,
                    Err(stop) => return Ok(Err(stop)),
                }
            }
            let (cluster, options) = (&self.job.cluster, &self.job.options);
            let (manager, budget) = (&options.apply.field_manager, options.retry_budget);
            match Record::open(cluster, set.clone(), manager, budget, Some(emit)).await {
                Ok(mut record) => {
                    record.leave_names_to(self.job.wanted.objects().iter().map(Object::id));
                    self.record = Some(record);
                }
                Err(stop) => return Ok(Err(stop)),
            }
        }
        let mut judgement = self.job.options.judgement.clone();
        let targets = self.watch_list();
        facts::learn(&self.job.cluster, &self.job.wanted, &targets, &mut judgement.facts).await;
        let options = self.job.options.watch.clone();
        let mut watcher = Watcher::start(&self.job.hub, targets, options, judgement).await?;
        let mut synced = None;
        loop {
            // What could not be asked for yet is worth some patience: the plan depends on it.
            let enough = synced.map(|since: Instant| since + self.job.options.retry_budget);
            if enough.is_some_and(|enough| Instant::now() >= enough || !watcher.seeks_contact()) {
                return Ok(Ok(watcher));
            }
            tokio::select! {
                () = until(enough) => {}
                signal = watcher.next() => match signal? {
                    Signal::Synced => synced = Some(Instant::now()),
                    Signal::Gap(gap) => emit.gap(gap).await,
                    Signal::Verdicts(_) | Signal::Explained => {}
                }
            }
        }
    }

    /// Everything whose state matters: the input, what the record names besides, what the input
    /// depends on.
    fn watch_list(&mut self) -> Vec<Target> {
        let mut list: Vec<Target> = Vec::new();
        let targets = &mut self.targets;
        let mut add = |id: &ObjectId, version: Option<&str>| {
            let next = list.len();
            if *targets.entry(id.clone()).or_insert(next) == next {
                list.push(Target { id: id.clone(), version: version.map(Into::into) });
            }
        };
        let tracked_removal = self.job.operation == Operation::Destroy && self.record.is_some();
        if !tracked_removal {
            for object in self.job.wanted.objects() {
                add(object.id(), Some(object.version()));
            }
        }
        for id in self.record.iter().flat_map(|record| record.inventory().entries().keys()) {
            add(id, None);
        }
        if self.job.operation == Operation::Apply {
            for dependency in self.job.wanted.graph().external() {
                add(&dependency.id, None);
            }
        }
        list
    }
}

/// The record of the set and its lock are no objects of the set.
fn spare_the_record(set: &SetOptions, wanted: &Wanted) -> Result<(), Stop> {
    let at = set.wanted.location();
    // The parent of an ApplySet may be a member.
    let record = (!set.wanted.is_applyset()).then(|| at.object());
    let ours: Vec<ObjectId> = record.into_iter().chain([lease_object(at)]).collect();
    let Some(object) = wanted.objects().iter().find(|object| ours.contains(object.id())) else {
        return Ok(());
    };
    let message = format!(
        "{}: {:#} has the name of the record of the set or of its lock; give the object or the set another name \
         (--set NAME)",
        object.place(),
        object.id()
    );
    Err(Stop { class: ExitClass::Usage, message })
}
