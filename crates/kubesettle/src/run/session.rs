//! A run that writes, from its first word to its last.
//!
//! ```text
//!  lock ─► read the record ─► watch everything ─► synced ─► plan ─► write the record (old and new)
//!       ─► dispatch ─► write the record (what is left) ─► give the lock back
//! ```
//!
//! Without a set the steps about lock and record fall away. In a dry run the record is read and nothing
//! is written: the plan is rehearsed. Whatever happens after the record was
//! written first, it is written again at the end, or keeps naming old and new.

use std::collections::{HashMap, HashSet};

use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::dispatch::{Dispatcher, Parts, Remains, Stopping};
use super::emit::Emitter;
use super::groups;
use super::holds;
use super::options::RunOptions;
use super::pin;
use super::record::{Lock, Locked, Record, Stop, ask};
use super::rehearse::Rehearsal;
use crate::cluster::Cluster;
use crate::error::ExitClass;
use crate::event::{Action, Body, Counts, DryRun, Operation, Start, WarningSource};
use crate::id::{GroupKind, ObjectId};
use crate::inventory::lease::lease_object;
use crate::inventory::{Entries, Fate, Mark, MarkForm, OWNING_INVENTORY, Outcomes};
use crate::manifest::{APPLY_TIME_MUTATION, DEPENDS_ON, Object};
use crate::plan::{Decision, Live, LiveState, Pin, Plan, SavedPlan, Step, Wanted, marked, protected};
use crate::status::{Signal, Watcher};
use crate::watch::{Closed, Hub, Presence, Target, until};

/// The annotations of live objects that decide something, besides the mark of their set.
const MARKS: [&str; 4] = [
    "cli-utils.sigs.k8s.io/on-remove",
    "client.lifecycle.config.k8s.io/deletion",
    DEPENDS_ON,
    APPLY_TIME_MUTATION,
];

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
    /// Takes the lock, reads the record, and learns the state of everything.
    async fn open(&mut self, emit: &mut Emitter) -> Result<Result<Watcher, Stop>, Closed> {
        if let Some(set) = &self.job.options.set {
            let objects = self.job.wanted.objects();
            let at = set.wanted.location();
            // The parent of an ApplySet may be a member.
            let record = (!set.wanted.is_applyset()).then(|| at.object());
            let ours: Vec<ObjectId> = record.into_iter().chain([lease_object(at)]).collect();
            if let Some(object) = objects.iter().find(|object| ours.contains(object.id())) {
                let message = format!(
                    "{}: {:#} has the name of the record of the set or of its lock; give the object or the set \
                     another name (--set NAME)",
                    object.place(),
                    object.id()
                );
                return Ok(Err(Stop { class: ExitClass::Usage, message }));
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
        super::facts::learn(&self.job.cluster, &self.job.wanted, &targets, &mut judgement.facts).await;
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
                    Signal::Gap(gap) => {
                        let (kind, namespace, reason) = (gap.kind, gap.namespace, gap.reason);
                        emit.tell(Body::Gap { kind, namespace, reason }).await;
                    }
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
        let made = match self.begin(&plan, &watcher, &run, &mut emit).await {
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
        let Remains { mut emit, mut outcomes, lock, stopping, complete } = dispatcher.run(cancel).await?;
        self.lock = lock;
        for (applied, other) in identical {
            if outcomes.fate(&applied) == Some(Fate::Applied) {
                outcomes.tell(&other, Fate::Identical);
            }
        }
        let lost = matches!(stopping, Some(Stopping::LockLost(_)));
        let mut end = how_stopped(stopping);
        if unseen > 0 {
            let text = || format!("{unseen} objects of the set cannot be looked at; they stay on record");
            end = (end.0.or(ExitClass::Unknown), Some(end.1.unwrap_or_else(text)));
        }
        if let Some(record) = self.record.as_mut().filter(|_| !lost)
            && let Err(stop) = finish(record, &outcomes, operation, complete, &run, &mut emit).await
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

    /// Old and new together stand in the record before anything else is written. Only the namespace of
    /// the record comes before it; that is the object returned.
    async fn begin(
        &mut self,
        plan: &Plan,
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
                let entries = crate::inventory::before(record.old(), applied);
                write(record, entries, run, emit).await?;
            }
        }
        Ok(made)
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

    async fn plan(&mut self, watcher: &Watcher, emit: &mut Emitter) -> Result<Plan, Stop> {
        let wanted = std::mem::take(&mut self.job.wanted);
        let mut live = self.live(watcher);
        let plan = match &self.record {
            None => Plan::untracked(self.job.operation, wanted, &live),
            Some(record) => {
                if self.job.operation == Operation::Destroy && !record.inventory().exists() {
                    let location = record.inventory().location();
                    let text = format!("no inventory {location} was found: there is nothing to destroy");
                    emit.warn(WarningSource::Run, &text).await;
                }
                for note in record.inventory().notes() {
                    emit.warn(WarningSource::Run, note).await;
                }
                groups::look(&self.job.cluster, record.inventory(), &mut live).await;
                let tracking = &self.job.options.tracking;
                if self.job.operation == Operation::Apply {
                    let asked = protected(&wanted, record.inventory(), tracking, &live);
                    holds::look(&self.job.cluster, record.inventory(), asked, &mut live).await;
                }
                Plan::tracked(self.job.operation, wanted, record.inventory(), tracking, &live)
                    .map_err(|refusal| Stop { class: ExitClass::Refused, message: refusal.to_string() })?
            }
        };
        let (agreed, keep) = (self.job.options.saved.as_deref(), self.job.planned.take());
        let inventory = self.record.as_ref().map(Record::inventory);
        pin::hold_to(agreed, keep, || SavedPlan::of(&plan, &live, inventory))?;
        for note in &plan.notes {
            emit.warn(WarningSource::Run, note).await;
        }
        let skipped = plan.steps.iter().filter(|step| step.decision != Decision::Go).count();
        emit.tell(Body::Plan(Counts {
            apply: plan.count(Action::Apply),
            prune: plan.count(Action::Prune),
            delete: plan.count(Action::Delete),
            skip: skipped,
        }))
        .await;
        Ok(plan)
    }

    fn pins(&self) -> HashMap<ObjectId, Pin> {
        self.job.options.saved.as_ref().map(|saved| saved.pins()).unwrap_or_default()
    }

    fn live(&self, watcher: &Watcher) -> HashMap<ObjectId, Live> {
        let form = self.mark().map_or(MarkForm::Owner, |mark| mark.form());
        let mut kinds: HashMap<String, GroupKind> = HashMap::new();
        for resource in self.job.cluster.resources() {
            let name = format!("{}.{}", resource.plural(), resource.group());
            kinds.insert(name, resource.group_kind().clone());
        }
        self.targets
            .iter()
            .map(|(id, target)| {
                let presence = watcher.presence(*target);
                let version = match presence {
                    Presence::Present(digest) => digest.resource_version().into(),
                    _ => Box::default(),
                };
                let state = match presence {
                    Presence::Present(digest) => LiveState::Present(
                        digest.uid().map_or_else(Box::default, |uid| uid.to_string().into()),
                    ),
                    Presence::Absent { .. } => LiveState::Absent,
                    Presence::NotServed => LiveState::NotServed,
                    Presence::Pending | Presence::Unknown(_) => LiveState::Unknown,
                };
                let get = |key: &str| watcher.marks(*target)?.get(key);
                let owner = form.owner(get).map(|owner| (OWNING_INVENTORY, Box::from(owner)));
                let others = MARKS.into_iter().filter_map(|key| Some((key, Box::from(get(key)?))));
                let annotations = owner.into_iter().chain(others).collect();
                let crd = id.group_kind().is("apiextensions.k8s.io", "CustomResourceDefinition");
                let defines = crd.then(|| kinds.get(id.name()).cloned()).flatten();
                (id.clone(), Live { state, version, annotations, defines, ..Live::default() })
            })
            .collect()
    }

    async fn unlock(&mut self) {
        if let Some(lock) = self.lock.take() {
            lock.release(self.over).await;
        }
    }
}

/// What is left stands in the record after everything else; a destroyed set has none.
async fn finish(
    record: &mut Record,
    outcomes: &Outcomes,
    operation: Operation,
    complete: bool,
    run: &str,
    emit: &mut Emitter,
) -> Result<(), Stop> {
    let entries = record.remainder(outcomes);
    if operation != Operation::Destroy || !complete || !entries.is_empty() {
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
