//! What else would tell more about a target, and when it is worth a watch.

use kstatus::{Status, Verdict};
use tokio::time::Instant;

use super::Tracked;
use crate::id::ObjectId;
use crate::watch::Presence;

/// What else would tell more about a target.
pub(super) struct Wants {
    pub(super) children: bool,
    pub(super) events: bool,
    /// There is no verdict without the children.
    pub(super) needed: bool,
}

impl Wants {
    pub(super) const NOTHING: Self = Self { children: false, events: false, needed: false };

    pub(super) fn of(tracked: &Tracked, verdict: Option<&Verdict>) -> Self {
        let Presence::Present(digest) = &tracked.state.presence else { return Self::NOTHING };
        let needed = digest.needs_children();
        let generated = verdict.is_some_and(|verdict| {
            verdict.status != Status::Current && !awaits_controller(&tracked.id, verdict)
        });
        let unsettled = matches!(digest.own_status(), Status::InProgress | Status::Failed);
        Self {
            children: needed || (generated && digest.wants_children()),
            events: generated && unsettled,
            needed,
        }
    }
}

/// Something more to look at, and since when it is worth it.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) is: bool,
    pub(super) wants: bool,
    pub(super) due: Instant,
    pub(super) at_once: bool,
}

impl Look {
    /// Whether it is looked at from now on; at the latest at `turn`.
    pub(super) fn begins(self, turn: Instant, now: Instant) -> bool {
        self.wants && (self.is || self.at_once || self.due.min(turn) <= now)
    }
}

/// True while the controller has not generated anything that could explain the verdict.
fn awaits_controller(id: &ObjectId, verdict: &Verdict) -> bool {
    match verdict.reason.as_str() {
        "LatestGenerationNotObserved" | "NoObservedGeneration" => true,
        // What keeps a Deployment from its replicas stands in its own conditions; a StatefulSet may
        // wait behind a broken pod.
        "LessReplicas" => id.group_kind().is("apps", "Deployment"),
        _ => false,
    }
}
