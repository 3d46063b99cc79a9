//! What others do with an object while a run is under way.

use kstatus::{Status, Verdict};

use super::{Dispatcher, Phase};
use crate::event::{Body, Conclusion, Skip, WarningSource};
use crate::inventory::{Fate, PolicyRefusal, PruneSkip, Strategy, can_apply, can_prune, kept_by};
use crate::watch::Presence;

const DELETED: &str = "somebody deleted it after it was applied";
const CHANGED: &str = "somebody changed it after it was applied; it is judged as it is now";
pub(super) const REPLACED: &str =
    "somebody deleted it after it was applied and created it anew; what is there now was not applied";

impl Dispatcher {
    /// Another object has the name of the one that we wrote.
    pub(super) fn is_another(&self, node: usize) -> bool {
        match (&self.nodes[node].written, self.presence(node)) {
            (Some(written), presence @ Presence::Present(digest)) => {
                digest.uid() != Some(written.uid) && written.reached_by(presence)
            }
            _ => false,
        }
    }

    /// Whatever the other one says, ours did not get there. A Job that finished may be followed by the
    /// next.
    pub(super) fn is_replaced(&self, node: usize) -> bool {
        self.is_another(node) && !self.has_finished(node)
    }

    /// A Job that finished may be taken away.
    pub(super) fn has_finished(&self, node: usize) -> bool {
        self.nodes[node].conclusion == Some(Conclusion::Settled)
            && self.steps[node].id().group_kind().is("batch", "Job")
    }

    /// The object that we wrote is gone for good, and with it what waited for it.
    pub(super) async fn lost_to_another(&mut self, node: usize) {
        if !matches!(self.nodes[node].conclusion, None | Some(Conclusion::Settled)) {
            return;
        }
        let id = self.steps[node].id().clone();
        let verdict = Verdict::new(Status::Failed, "Replaced", REPLACED);
        self.emit.tell(Body::Verdict { id, verdict }).await;
        self.conclude(node, Conclusion::Failed).await;
        self.stop_dependents(node).await;
    }

    /// Those that settled and were replaced or undone since, although their verdict stayed as it was.
    pub(super) async fn look_for_replaced(&mut self) {
        for node in 0..self.nodes.len() {
            if self.is_lost(node) {
                self.lost_to_a_backup(node, &self.presence(node).clone()).await;
            } else if self.is_replaced(node) {
                self.lost_to_another(node).await;
            }
        }
    }

    /// Tells what somebody did to an object that is awaited, once.
    pub(super) async fn tell_of_others(&mut self, node: usize, status: Status) {
        let Some(written) = &self.nodes[node].written else { return };
        let changed = match self.presence(node) {
            Presence::Present(digest) => {
                self.nodes[node].phase() == Phase::Awaiting && digest.generation() > written.generation
            }
            _ => false,
        };
        let said = match status {
            Status::NotFound => DELETED,
            Status::Terminating => return,
            _ if changed => CHANGED,
            _ => return,
        };
        self.warn(node, WarningSource::Run, said).await;
    }

    /// What somebody made of an object since the plan was made, if that forbids to act on it now: between
    /// the two may lie the whole wait for others.
    pub(super) fn spared(&self, node: usize) -> Option<(Skip, Fate)> {
        let Presence::Present(_) = self.presence(node) else { return None };
        let marks = self.watcher.marks(self.nodes[node].target)?;
        let (wanted, policy) = (self.is_wanted(node), self.options.tracking.policy);
        if !wanted && let Some(kept) = kept_by(|key| marks.get(key)) {
            let skip = Skip::Kept { message: kept.to_string().into() };
            return Some((skip, Fate::Skipped(Strategy::Delete)));
        }
        let mark = self.mark.as_ref()?;
        let owner = mark.form().owner(|key| marks.get(key));
        let checked =
            if wanted { can_apply(policy, owner, mark.id()) } else { can_prune(policy, owner, mark.id()) };
        let refusal = checked.err().filter(PolicyRefusal::is_owned_by_another)?;
        let skip = Skip::Refused { message: refusal.to_string().into(), hint: refusal.hint().into() };
        let fate = if wanted { Fate::Skipped(Strategy::Apply) } else { PruneSkip::Policy(refusal).fate() };
        Some((skip, fate))
    }

    pub(super) async fn leave_alone(&mut self, node: usize, (skip, fate): (Skip, Fate)) {
        self.tell_fate(node, fate);
        self.skip(node, skip).await;
        self.stop_dependents(node).await;
    }
}
