//! An object whose deletion takes its time is examined once.

use std::time::Duration;

use kstatus::{Status, Verdict};

use super::Dispatcher;
use crate::event::WarningSource;
use crate::run::doctor;

/// An orderly deletion is over by then.
const A_MOMENT: Duration = Duration::from_secs(2);

impl Dispatcher {
    /// Sees to it that an object that something keeps from going is examined when it is still there in
    /// a moment.
    pub(super) fn may_linger(&mut self, node: usize) {
        let verdict = self.watcher.verdict(self.nodes[node].target);
        let held = |verdict: &Verdict| verdict.status == Status::Terminating && !verdict.causes.is_empty();
        if !verdict.is_some_and(held) || std::mem::replace(&mut self.nodes[node].examined, true) {
            return;
        }
        let (cluster, id) = (self.cluster.clone(), self.steps[node].id().clone());
        let ours = self.options.apply.field_manager.clone();
        self.examinations.push(Box::pin(async move {
            tokio::time::sleep(A_MOMENT).await;
            (node, doctor::examine(&cluster, &id, &ours).await)
        }));
    }

    pub(super) async fn examined(&mut self, node: usize, said: Vec<String>) {
        // It may have gone while it was looked at.
        let verdict = self.watcher.verdict(self.nodes[node].target);
        if self.nodes[node].conclusion.is_none()
            && verdict.is_some_and(|verdict| verdict.status == Status::Terminating)
        {
            for sentence in said {
                self.warn(node, WarningSource::Run, &sentence).await;
            }
        }
    }
}
