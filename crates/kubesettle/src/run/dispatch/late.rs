//! Objects whose kind came in mid-run, and with it the scope: whoever named no namespace meant the default
//! one when the kind has namespaces, and none when it has not.

use std::time::Duration;

use tokio::time::Instant;

use super::{Dispatcher, Phase};
use crate::error::{ApiError, ErrorClass};
use crate::inventory::Fate;
use crate::manifest::{Object, ResolveOptions, Scope};
use crate::watch::{Presence, Target};

/// How long the watch is given to tell what has the name.
const LOOK: Duration = Duration::from_millis(500);

impl Dispatcher {
    /// Puts an object into the default namespace. The record has it there already.
    pub(super) async fn place(&mut self, node: usize, object: Object) {
        let options = ResolveOptions {
            default_namespace: Some(self.cluster.default_namespace().clone()),
            ..ResolveOptions::default()
        };
        let placed = match object.placed(Scope::Namespaced, &options) {
            Ok((placed, _)) => placed,
            Err(problem) => return self.misplaced(node, problem.to_string()).await,
        };
        if self.steps.iter().any(|step| step.object.is_some() && step.id() == placed.id()) {
            let message = format!("{:#} is in the input twice, once without its namespace", placed.id());
            return self.misplaced(node, message).await;
        }
        self.tell_fate(node, Fate::Untouched);
        let to = Target { id: placed.id().clone(), version: Some(placed.version().into()) };
        self.steps[node].place(placed);
        // An error means that the runtime shuts down.
        let _ = self.watcher.rename(self.nodes[node].target, to).await;
        self.nodes[node].placed = true;
        self.rest_a_moment(node);
    }

    async fn misplaced(&mut self, node: usize, message: String) {
        self.gave_up(node, ApiError::local(ErrorClass::BadRequest, message)).await;
    }

    /// Nobody has seen yet what has the name of an object that was placed in mid-run.
    pub(super) fn is_looked_for(&self, node: usize) -> bool {
        self.nodes[node].placed && matches!(self.presence(node), Presence::Pending)
    }

    pub(super) fn rest_a_moment(&mut self, node: usize) {
        self.nodes.turn(node, Phase::Resting(Instant::now() + LOOK));
    }
}
