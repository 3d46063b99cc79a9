//! The record, before the first write and after the last.

use crate::event::{Action, Body, Operation, WarningSource};
use crate::id::ObjectId;
use crate::inventory::{Entries, Outcomes};
use crate::plan::{Decision, Plan, Step, marked};
use crate::run::emit::Emitter;
use crate::run::pin;
use crate::run::record::{Lock, Locked, Record, Stop, ask};
use crate::status::Watcher;
use crate::watch::Presence;

use super::{Job, Session};

impl Session {
    /// Old and new together stand in the record before anything else is written. Only the namespace of
    /// the record comes before it; that is the object returned.
    pub(super) async fn begin(
        &mut self,
        plan: &Plan,
        late: &[ObjectId],
        watcher: &Watcher,
        run: &str,
        emit: &mut Emitter,
    ) -> Result<Option<ObjectId>, Stop> {
        if self.record.is_none() {
            return Ok(None);
        }
        let made = self.make_room(plan, watcher, emit).await?;
        // Without a namespace there is nothing to guard, and the record will say so.
        if let (true, Some(_), Some(set)) = (self.homeless, &made, &self.job.options.set) {
            match Lock::acquire(&self.job.cluster, set, self.job.options.retry_budget, emit).await? {
                Locked::Ours(lock) => self.lock = Some(lock),
                Locked::Without(why) => emit.warn(WarningSource::Run, &why).await,
                Locked::NoNamespace => {}
            }
        }
        if let Some(record) = &mut self.record {
            let removing = self.job.operation == Operation::Destroy;
            if !removing || record.inventory().exists() {
                let applied = plan.steps.iter().filter(|step| step.action == Action::Apply).map(Step::id);
                let entries = crate::inventory::before(record.old(), applied.chain(late));
                write(record, entries, run, emit).await?;
            }
        }
        Ok(made)
    }

    /// Where objects will be that name no namespace and whose kind is not served yet, if it has namespaces.
    pub(super) fn late(&self, plan: &Plan) -> Vec<ObjectId> {
        let Job { cluster, .. } = &self.job;
        let late = |step: &&Step| {
            step.object.is_some()
                && step.id().namespace().is_empty()
                && cluster.resource(step.id().group_kind(), None).is_none()
        };
        let there = |step: &Step| {
            let id = step.id();
            ObjectId::new(id.group_kind().clone(), cluster.default_namespace(), id.name())
        };
        plan.steps.iter().filter(late).map(there).collect()
    }

    /// The namespace that the record lives in is applied first when the set brings it.
    async fn make_room(
        &self,
        plan: &Plan,
        watcher: &Watcher,
        emit: &mut Emitter,
    ) -> Result<Option<ObjectId>, Stop> {
        let Some(record) = &self.record else { return Ok(None) };
        let id = record.inventory().location().namespace_object();
        let target = self.targets.get(&id).copied().unwrap_or(usize::MAX);
        let is_it =
            |step: &&Step| *step.id() == id && step.action == Action::Apply && step.decision == Decision::Go;
        let object = plan.steps.iter().find(is_it).and_then(|step| step.object.as_ref());
        let (Some(object), Presence::Absent { .. }) = (object, watcher.presence(target)) else {
            return Ok(None);
        };
        let Some(resource) = self.job.cluster.resource(id.group_kind(), Some(object.version())) else {
            return Ok(None);
        };
        let body = marked(object, Some(&record.mark()));
        let body = pin::pinned(body, self.pins().get(&id));
        let (cluster, options) = (&self.job.cluster, &self.job.options);
        let doing = format!("cannot create {id}, where the inventory belongs");
        let apply = || cluster.apply(&resource, "", id.name(), body.clone(), &options.apply);
        let made = ask(options.retry_budget, &doing, Some(emit), apply).await;
        made.map_err(|error| Stop::of(&error, &doing))?;
        Ok(Some(id))
    }
}

/// What the last write of a record is about.
pub(super) struct Last {
    pub(super) operation: Operation,
    /// Every object reached what was wanted of it.
    pub(super) complete: bool,
    /// The server's data may have gone back meanwhile, and the record with it.
    pub(super) out_of_touch: bool,
}

/// What is left stands in the record after everything else; a destroyed set has none.
pub(super) async fn finish(
    record: &mut Record,
    outcomes: &Outcomes,
    last: &Last,
    run: &str,
    emit: &mut Emitter,
) -> Result<(), Stop> {
    if last.out_of_touch && record.inventory().exists() {
        record.read_again(Some(emit)).await?;
    }
    let entries = record.remainder(outcomes);
    if last.operation != Operation::Destroy || !last.complete || !entries.is_empty() {
        return write(record, entries, run, emit).await;
    }
    if record.inventory().exists() {
        record.remove(Some(emit)).await?;
        let id = record.inventory().location().object();
        emit.tell(Body::Inventory { id, entries: 0, shards: 0 }).await;
    }
    Ok(())
}

async fn write(record: &mut Record, entries: Entries, run: &str, emit: &mut Emitter) -> Result<(), Stop> {
    let count = entries.len();
    let shards = record.write(entries, run, Some(emit)).await?;
    let id = record.inventory().location().object();
    emit.tell(Body::Inventory { id, entries: count, shards }).await;
    Ok(())
}
