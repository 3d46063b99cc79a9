//! What a run did and the server has no more, since its data went back: a backup was put in its place.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use kstatus::{Status, Verdict};
use tokio::time::timeout;

use super::Dispatcher;
use crate::cluster::Content;
use crate::error::ApiError;
use crate::event::{Body, Conclusion};
use crate::inventory::Fate;
use crate::watch::Presence;

const UNDONE: &str = "the server's data went back to before it was applied; apply it again";
const BACK_AGAIN: &str = "the server's data went back to before it was deleted; delete it again";

/// The last questions of a run: so many at once, and so long for all of them.
const AT_ONCE: usize = 16;
const PATIENCE: Duration = Duration::from_secs(30);

impl Dispatcher {
    /// What was done to this object is not so any more.
    pub(super) fn is_lost(&self, node: usize) -> bool {
        self.watcher.went_back(self.nodes[node].target) && self.is_undone(node, self.presence(node))
    }

    fn is_undone(&self, node: usize, presence: &Presence) -> bool {
        match (&self.nodes[node].written, presence) {
            (Some(written), Presence::Present(_) | Presence::Absent { .. }) => !written.reached_by(presence),
            (None, Presence::Present(digest)) => {
                !self.is_wanted(node) && digest.uid() == self.nodes[node].deleted && !digest.deleting()
            }
            _ => false,
        }
    }

    /// Only a run from anew gets it there.
    pub(super) async fn lost_to_a_backup(&mut self, node: usize, presence: &Presence) {
        if !matches!(self.nodes[node].conclusion, None | Some(Conclusion::Settled)) {
            return;
        }
        let (status, message) = match presence {
            Presence::Absent { .. } => (Status::NotFound, UNDONE),
            _ if self.is_wanted(node) => (Status::Failed, UNDONE),
            _ => (Status::Failed, BACK_AGAIN),
        };
        if !self.is_wanted(node) {
            self.tell_fate(node, Fate::Unclear);
        }
        let id = self.steps[node].id().clone();
        self.emit.tell(Body::Verdict { id, verdict: Verdict::new(status, "Rewound", message) }).await;
        self.conclude(node, Conclusion::Failed).await;
        self.stop_dependents(node).await;
    }

    /// Kinds that have not found contact again do not know yet: what had settled is asked for once.
    pub(super) async fn ask_after_a_backup(&mut self) {
        if !self.watcher.rewound() || self.stopping.is_some() {
            return;
        }
        let settled = (0..self.nodes.len()).filter(|node| {
            self.nodes[*node].conclusion == Some(Conclusion::Settled) && !self.has_finished(*node)
        });
        let questions: Vec<_> = settled
            .filter_map(|node| {
                let (cluster, id) = (self.cluster.clone(), self.steps[node].id().clone());
                let resource = cluster.resource(id.group_kind(), None)?;
                Some(async move {
                    let (namespace, name) = (id.namespace(), id.name());
                    (node, cluster.get(&resource, namespace, name, Content::MetadataOnly).await)
                })
            })
            .collect();
        let mut answers = stream::iter(questions).buffer_unordered(AT_ONCE);
        let mut found = Vec::new();
        let all = async {
            while let Some((node, answer)) = answers.next().await {
                found.extend(presence(answer).map(|presence| (node, presence)));
            }
        };
        // Without an answer stands what was known last.
        let _ = timeout(PATIENCE, all).await;
        found.retain(|(node, presence)| self.is_undone(*node, presence));
        for (node, presence) in found {
            self.lost_to_a_backup(node, &presence).await;
        }
    }
}

fn presence(answer: Result<Option<Bytes>, ApiError>) -> Option<Presence> {
    match answer.ok()? {
        None => Some(Presence::Absent { as_of: None, last: None }),
        Some(json) => kstatus::digest(&json).ok().map(|digest| Presence::Present(Arc::new(digest))),
    }
}
