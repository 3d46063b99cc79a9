//! An object whose change is refused because a field of it cannot be changed: tried under another
//! name, deleted, waited for, and then applied as any other.
//!
//! ```text
//!  apply ─► refused: immutable ─► dry-run create ─► delete by uid ─► gone ─► apply
//! ```
//!
//! Each step is repeated by the next run when this one dies: the record names the object throughout.

use std::time::Duration;

use bytes::Bytes;
use kstatus::{Status, Uid, Verdict};
use tokio::time::Instant;

use super::{Answer, Dispatcher, Phase};
use crate::cluster::{ApplyParams, Cluster, DeleteParams, Deletion, Resource};
use crate::error::{ApiError, ErrorClass};
use crate::event::{Action, Body, Outcome, WarningSource};
use crate::manifest::Object;
use crate::plan::{Pin, trial};
use crate::run::mutate::complete;
use crate::watch::{Closed, Presence};

/// Waited for as long as the run goes on.
const NO_LIMIT: Duration = Duration::from_secs(365 * 24 * 3600);

/// How far it is.
#[derive(Debug)]
pub(super) struct Anew {
    /// The life of the object that is to end.
    uid: Uid,
    /// Why it has to.
    error: ApiError,
    /// Its deletion was accepted.
    going: bool,
}

impl Dispatcher {
    /// Begins when the object may be recreated; else gives the error back.
    pub(super) async fn recreate(&mut self, node: usize, error: ApiError) -> Option<ApiError> {
        let Some(object) = self.steps[node].object.clone() else { return Some(error) };
        let resource = self.cluster.resource(object.group_kind(), Some(object.version()));
        let Some(resource) = resource.filter(|it| self.options.recreate.allows(&object, it.plural())) else {
            return Some(error);
        };
        let uid = match self.presence(node) {
            Presence::Present(digest) => digest.uid(),
            _ => None,
        };
        // Whoever may not look could not see it go.
        let Some(uid) = uid else { return Some(error) };
        if self.nodes[node].anew.is_none() {
            let id = object.id().clone();
            self.emit.tell(Body::Started { id, action: Action::Recreate }).await;
        }
        self.nodes[node].anew = Some(Anew { uid, error, going: false });
        self.nodes.turn(node, Phase::UnderWay);
        self.pace.enter();
        let (cluster, body) = (self.cluster.clone(), self.body(node, &object));
        let (params, delete) = (self.options.apply.clone(), self.options.delete.clone());
        self.requests.push(Box::pin(async move {
            let answer = clear(&cluster, &resource, &object, body, uid, &params, &delete).await;
            (node, Answer::Cleared(answer))
        }));
        None
    }

    pub(super) async fn cleared(
        &mut self,
        node: usize,
        answer: Result<Deletion, ApiError>,
    ) -> Result<(), Closed> {
        let outcome = match answer {
            Ok(Deletion::Gone) => Outcome::AlreadyGone,
            Ok(Deletion::Accepted { warnings, .. }) => {
                for warning in &warnings {
                    self.warn(node, WarningSource::Server, warning).await;
                }
                Outcome::Deleted
            }
            Err(error) if error.class.passes() || error.class == ErrorClass::Replaced => {
                self.failed(node, error).await;
                return Ok(());
            }
            Err(error) => {
                self.not_recreated(node, error).await;
                return Ok(());
            }
        };
        let id = self.steps[node].id().clone();
        self.emit.tell(Body::Finished { id, action: Action::Recreate, outcome }).await;
        if let Some(anew) = &mut self.nodes[node].anew {
            anew.going = true;
        }
        let limit = self.options.removal_timeout.unwrap_or(NO_LIMIT);
        self.nodes.turn(node, Phase::Resting(Instant::now() + limit));
        let text = "it is being deleted to be created anew";
        self.nodes[node].error = Some(ApiError::local(ErrorClass::Terminating, text));
        let target = self.nodes[node].target;
        if self.watcher.judge(target).await? {
            self.verdict(target).await;
        }
        Ok(())
    }

    /// True while the old life of the object has to end first.
    pub(super) fn is_going(&self, node: usize) -> bool {
        self.nodes[node].anew.as_ref().is_some_and(|anew| anew.going)
    }

    /// The state of an object that is to go: told, and acted on when it is gone.
    pub(super) async fn on_its_way_out(&mut self, node: usize, verdict: Verdict) {
        if self.is_still_there(node) {
            if verdict.status == Status::Terminating {
                let id = self.steps[node].id().clone();
                self.emit.tell(Body::Verdict { id, verdict }).await;
                self.may_linger(node);
            }
            return;
        }
        self.nodes[node].anew = None;
        self.nodes[node].error = None;
        if let Some(pin) = self.pins.get_mut(self.steps[node].id()) {
            *pin = Pin::Absent;
        }
        self.nodes.turn(node, Phase::Resting(Instant::now()));
    }

    /// Its time is up and it is still there.
    pub(super) async fn did_not_go(&mut self, node: usize) {
        let verdict = self.watcher.verdict(self.nodes[node].target);
        let said = verdict.map_or(String::new(), |verdict| format!(": {}", verdict.message));
        let text = format!("it was deleted to be created anew and is still there{said}");
        self.nodes[node].anew = None;
        self.gave_up(node, ApiError::local(ErrorClass::Terminating, text)).await;
    }

    fn is_still_there(&self, node: usize) -> bool {
        let old = self.nodes[node].anew.as_ref().map(|anew| anew.uid);
        match self.presence(node) {
            Presence::Present(digest) => digest.uid() == old,
            Presence::Absent { .. } | Presence::NotServed => false,
            Presence::Pending | Presence::Unknown(_) => true,
        }
    }

    /// It stays as it is.
    async fn not_recreated(&mut self, node: usize, error: ApiError) {
        let id = self.steps[node].id().clone();
        let refused = self.nodes[node].anew.take().map_or_else(|| error.clone(), |anew| anew.error);
        let message = format!("{}; it was not recreated: {}", refused.message, error.message);
        self.emit
            .tell(Body::Finished { id, action: Action::Recreate, outcome: Outcome::Failed(error) })
            .await;
        self.gave_up(node, ApiError { message: message.into(), ..refused }).await;
    }
}

/// Tries whether the server would take the object anew, and deletes it only then.
async fn clear(
    cluster: &Cluster,
    resource: &Resource,
    object: &Object,
    body: Bytes,
    uid: Uid,
    params: &ApplyParams,
    delete: &DeleteParams,
) -> Result<Deletion, ApiError> {
    try_anew(cluster, resource, object, body, params).await?;
    let (namespace, name) = (object.id().namespace(), object.id().name());
    cluster.delete(resource, namespace, name, Some(&uid.to_string()), delete).await
}

/// Lets the server do all but store an object like this one, under a name that nothing has.
pub(in crate::run) async fn try_anew(
    cluster: &Cluster,
    resource: &Resource,
    object: &Object,
    body: Bytes,
    params: &ApplyParams,
) -> Result<(), ApiError> {
    let body = complete(cluster, object, body).await?;
    let mark = u32::try_from(crate::watch::jitter().to_bits() >> 20 & 0xffff_ffff).unwrap_or_default();
    let (name, body) = trial(&body, mark)
        .ok_or_else(|| ApiError::local(ErrorClass::Invalid, "the manifest is no object with a name"))?;
    let params = ApplyParams { dry_run: true, ..params.clone() };
    cluster.apply(resource, object.id().namespace(), &name, body, &params).await.map(drop)
}
