//! The plan, from the input, the record, and what is live.

use std::collections::HashMap;

use crate::error::ExitClass;
use crate::event::{Action, Body, Counts, Operation, WarningSource};
use crate::id::{GroupKind, ObjectId};
use crate::inventory::{MarkForm, OWNING_INVENTORY};
use crate::manifest::{APPLY_TIME_MUTATION, DEPENDS_ON};
use crate::plan::{Decision, Live, LiveState, Pin, Plan, SavedPlan, protected};
use crate::run::emit::Emitter;
use crate::run::groups;
use crate::run::holds;
use crate::run::pin;
use crate::run::record::{Record, Stop};
use crate::status::Watcher;
use crate::watch::Presence;

use super::Session;

/// The annotations of live objects that decide something, besides the mark of their set.
const MARKS: [&str; 4] = [
    "cli-utils.sigs.k8s.io/on-remove",
    "client.lifecycle.config.k8s.io/deletion",
    DEPENDS_ON,
    APPLY_TIME_MUTATION,
];

impl Session {
    pub(super) async fn plan(&mut self, watcher: &Watcher, emit: &mut Emitter) -> Result<Plan, Stop> {
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

    pub(super) fn pins(&self) -> HashMap<ObjectId, Pin> {
        self.job.options.saved.as_ref().map(|saved| saved.pins()).unwrap_or_default()
    }

    pub(super) fn live(&self, watcher: &Watcher) -> HashMap<ObjectId, Live> {
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
}
