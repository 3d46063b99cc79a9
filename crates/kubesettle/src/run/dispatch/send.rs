//! From an object that may start to a request.

use super::{Answer, Dispatcher, Phase};
use bytes::Bytes;

use crate::cluster::{ApplyParams, Cluster, Deletion, PlainWrite, Resource, Written};
use crate::error::{ApiError, ErrorClass};
use crate::event::{Action, Body, Conclusion, Outcome, WarningSource};
use crate::id::ObjectId;
use crate::inventory::Fate;
use crate::manifest::Object;
use crate::plan::{Decision, Pin, keeping_marks, marked};
use crate::run::mutate::complete;
use crate::run::pin;
use crate::run::schedule::Milestone;
use crate::watch::Presence;
use tokio::time::Instant;

/// What has the name of an object that is to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// The object that the plan means, or one that carries our mark too.
    Meant,
    /// Somebody else's.
    Another,
    Gone,
}

impl Dispatcher {
    /// Sends what may be sent.
    pub(super) async fn launch(&mut self) {
        let now = Instant::now();
        while self.pace.has_place()
            && let Some(node) = self.nodes.due_attempt(now)
        {
            self.send(node).await;
        }
        for lane in 0..self.open.min(self.lanes.len()) {
            while self.pace.has_place() {
                let lane = &mut self.lanes[lane];
                let Some(node) = lane.schedule.pop().map(|node| lane.first + node) else { break };
                // What was decided before the run is over already.
                if self.nodes[node].phase() == Phase::Waiting {
                    self.send(node).await;
                }
            }
        }
    }

    async fn send(&mut self, node: usize) {
        if self.steps[node].decision == Decision::Go
            && self.target(node) == Target::Meant
            && let Some(left) = self.spared(node)
        {
            return self.leave_alone(node, left).await;
        }
        match (&self.steps[node].decision, self.action(node)) {
            _ if self.is_going(node) => self.did_not_go(node).await,
            (Decision::Release { .. }, _) => self.send_release(node).await,
            (_, Action::Apply | Action::Recreate) => self.send_apply(node).await,
            (_, Action::Delete | Action::Prune) => self.send_delete(node).await,
        }
    }

    async fn send_apply(&mut self, node: usize) {
        let Some(object) = self.steps[node].object.clone() else { return };
        let body = pin::pinned(self.body(node, &object), self.pin(node));
        let Some(resource) = self.cluster.resource(object.group_kind(), Some(object.version())) else {
            let error = self.kind_missing(node);
            return self.failed(node, error).await;
        };
        if resource.namespaced() && object.id().namespace().is_empty() {
            return self.place(node, object).await;
        }
        if self.is_looked_for(node) {
            return self.rest_a_moment(node);
        }
        // What an unanswered attempt made of it is not what it was before.
        if self.nodes[node].attempts == 0 {
            self.nodes[node].before = match self.presence(node) {
                Presence::Present(digest) => Some(digest.resource_version().into()),
                Presence::Absent { .. } => Some(Box::default()),
                _ => None,
            };
            self.nodes[node].generation = match self.presence(node) {
                Presence::Present(digest) => digest.generation(),
                _ => None,
            };
        }
        self.started(node, Action::Apply).await;
        let (cluster, params) = (self.cluster.clone(), self.options.apply.clone());
        self.requests.push(Box::pin(async move {
            let answer = match complete(&cluster, &object, body).await {
                Ok(body) => apply(&cluster, &resource, object.id(), body, &params).await,
                Err(error) => Err(error),
            };
            (node, Answer::Applied(answer))
        }));
    }

    /// An object as it is sent: marked as one of the set, or else as the live one is.
    pub(super) fn body(&self, node: usize, object: &Object) -> Bytes {
        let body = marked(object, self.mark.as_ref());
        match (&self.mark, self.watcher.marks(self.nodes[node].target)) {
            (None, Some(marks)) => keeping_marks(body, |form| marks.get(form.key())),
            _ => body,
        }
    }

    async fn send_delete(&mut self, node: usize) {
        let id = self.steps[node].id().clone();
        let action = self.action(node);
        let resource = self.cluster.resource(id.group_kind(), None);
        match self.target(node) {
            Target::Meant => {}
            Target::Another => return self.replaced(node).await,
            Target::Gone => return self.gone_already(node).await,
        }
        let (uid, deleting) = match self.presence(node) {
            Presence::Present(digest) => (digest.uid(), digest.deleting()),
            _ => (self.nodes[node].deleted, false),
        };
        let Some(resource) = resource else { return self.gone_already(node).await };
        self.started(node, action).await;
        self.nodes[node].deleted = uid;
        let uid = match self.pin(node) {
            Some(Pin::Uid(planned)) => Some(planned.to_string()),
            _ => uid.map(|uid| uid.to_string()),
        };
        let (cluster, params) = (self.cluster.clone(), self.options.delete.clone());
        self.requests.push(Box::pin(async move {
            if deleting {
                let accepted = Deletion::Accepted { uid: None, removed: false, warnings: Vec::new() };
                return (node, Answer::Deleted(Ok(accepted)));
            }
            let answer = cluster.delete(&resource, id.namespace(), id.name(), uid.as_deref(), &params).await;
            (node, Answer::Deleted(answer))
        }));
    }

    /// Takes our mark off an object that is kept, so that nobody takes it for ours later.
    async fn send_release(&mut self, node: usize) {
        let step = &self.steps[node];
        let (id, action) = (step.id().clone(), step.action);
        let Decision::Release { uid, .. } = &step.decision else { return };
        let Some(resource) = self.cluster.resource(id.group_kind(), None) else {
            return self.gone_already(node).await;
        };
        let Some(patch) = self.mark.as_ref().map(|mark| mark.off(uid)) else { return };
        let (cluster, manager) = (self.cluster.clone(), self.options.apply.field_manager.clone());
        self.started(node, action).await;
        self.requests.push(Box::pin(async move {
            let (namespace, name) = (id.namespace(), id.name());
            let answer =
                cluster.write(PlainWrite::JsonPatch, &resource, namespace, name, patch, &manager).await;
            (node, Answer::Released(answer.map(drop)))
        }));
    }

    /// Which life of the object a saved plan is about. When the answer to a create was lost, what is
    /// there may be ours.
    pub(super) fn pin(&self, node: usize) -> Option<&Pin> {
        let lost = self.nodes[node].error.as_ref().is_some_and(|error| error.class.passes());
        self.pins.get(self.steps[node].id()).filter(|pin| **pin != Pin::Absent || !lost)
    }

    async fn started(&mut self, node: usize, action: Action) {
        let first = self.nodes[node].attempts == 0;
        self.nodes[node].attempts += 1;
        self.nodes.turn(node, Phase::UnderWay);
        self.pace.enter();
        if first {
            let id = self.steps[node].id().clone();
            self.emit.tell(Body::Started { id, action }).await;
        }
    }

    /// The kind is not served: in no version, or not in the one the manifest wants.
    fn kind_missing(&self, node: usize) -> ApiError {
        let step = &self.steps[node];
        let kind = step.id().group_kind();
        let (version, api_version) = step
            .object
            .as_ref()
            .map_or(("", kind.group()), |object| (object.version(), object.api_version()));
        if let Some(served) = self.cluster.resource(kind, None) {
            let message = format!("{kind} is not served in version {version}; served: {}", served.version());
            return ApiError::local(ErrorClass::BadRequest, message);
        }
        let near = self.cluster.near_kinds(kind);
        let near = if near.is_empty() { String::new() } else { format!("; like it: {}", near.join(", ")) };
        let message = format!("the cluster serves no kind {} in {api_version}{near}", kind.kind());
        ApiError::local(ErrorClass::NotServed, message)
    }

    /// What has the name of an object that is to be deleted.
    pub(super) fn target(&self, node: usize) -> Target {
        let planned = self.nodes[node].deleted;
        match self.presence(node) {
            Presence::Absent { .. } | Presence::NotServed => Target::Gone,
            Presence::Pending | Presence::Unknown(_) => Target::Meant,
            Presence::Present(digest) if planned.is_none_or(|planned| digest.uid() == Some(planned)) => {
                Target::Meant
            }
            Presence::Present(_) => {
                let marks = self.watcher.marks(self.nodes[node].target);
                let ours =
                    self.mark.as_ref().zip(marks).is_some_and(|(mark, marks)| {
                        mark.form().owner(|key| marks.get(key)) == Some(mark.id())
                    });
                if ours { Target::Meant } else { Target::Another }
            }
        }
    }

    /// The object that was to be deleted is gone, and another has its name.
    pub(super) async fn replaced(&mut self, node: usize) {
        self.warn(node, WarningSource::Run, "somebody created it anew; that is not deleted").await;
        self.gone_already(node).await;
    }

    pub(super) async fn gone_already(&mut self, node: usize) {
        // An unanswered request of ours may be what removed it.
        let ours = self.nodes[node].unclear;
        self.finish(node, if ours { Outcome::Deleted } else { Outcome::AlreadyGone }).await;
        self.tell_fate(node, Fate::Gone);
        self.reach(node, Milestone::Settled);
        self.conclude(node, Conclusion::Settled).await;
    }
}

/// Applies an object; where a client-side apply of the past owns fields of it, they are made ours and
/// it is applied once more, so that those which are in the manifest no more go.
async fn apply(
    cluster: &Cluster,
    resource: &Resource,
    id: &ObjectId,
    body: Bytes,
    params: &ApplyParams,
) -> Result<Written, ApiError> {
    let (namespace, name) = (id.namespace(), id.name());
    let mut first = cluster.apply(resource, namespace, name, body.clone(), params).await;
    if let Err(error) = &first
        && cluster.leave_dead_versions(error, resource, namespace, name, &params.field_manager).await?
    {
        first = cluster.apply(resource, namespace, name, body.clone(), params).await;
    }
    let former = match &first {
        Ok(written) => written.has_former_fields,
        Err(error) => Cluster::conflicts_with_the_past(error),
    };
    if !former
        || params.dry_run
        || !cluster.take_over(resource, namespace, name, &params.field_manager).await?
    {
        return first;
    }
    let mut again = cluster.apply(resource, namespace, name, body, params).await?;
    if let Ok(written) = first {
        again.warnings.splice(..0, written.warnings);
        again.warnings.dedup();
    }
    Ok(again)
}
