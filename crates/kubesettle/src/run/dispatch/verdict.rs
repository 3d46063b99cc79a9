//! From verdicts to milestones and conclusions.

use kstatus::{Status, Verdict};

use super::{Dispatcher, Phase};
use crate::event::{Body, Conclusion, Skip, WarningSource};
use crate::inventory::{Fate, Strategy};
use crate::run::schedule::Milestone;
use crate::watch::{Closed, Presence};

impl Dispatcher {
    /// The verdict on a target changed.
    pub(super) async fn verdict(&mut self, target: usize) {
        let Some(verdict) = self.watcher.verdict(target).cloned() else { return };
        let Some(node) = self.node_of.get(target).copied().flatten() else {
            return self.external_verdict(target, &verdict).await;
        };
        if self.is_going(node) {
            return self.on_its_way_out(node, verdict).await;
        }
        let was = self.nodes[node].conclusion.clone();
        if self.nodes[node].phase() != Phase::Awaiting && was.is_none() {
            return;
        }
        if self.is_lost(node) {
            return self.lost_to_a_backup(node, &self.presence(node).clone()).await;
        }
        if self.is_replaced(node) {
            return self.lost_to_another(node).await;
        }
        let (status, wanted) = (verdict.status, self.is_wanted(node));
        if self.over_after_settling(node, status) || self.not_deleted_yet(node, status) {
            return;
        }
        let id = self.steps[node].id().clone();
        self.emit.tell(Body::Verdict { id, verdict }).await;
        self.tell_of_others(node, status).await;
        self.may_linger(node);
        match (wanted, status) {
            (true, Status::Current) | (false, Status::NotFound) => {
                self.settled(node);
                if was != Some(Conclusion::Settled) {
                    self.conclude(node, Conclusion::Settled).await;
                }
            }
            (false, _) if self.created_anew(node) => {
                self.warn(node, WarningSource::Run, "somebody created it anew after its deletion").await;
                self.settled(node);
                self.conclude(node, Conclusion::Settled).await;
            }
            (true, Status::Failed | Status::NotFound) => {
                self.reopen(node);
                self.stop_dependents(node).await;
            }
            _ => self.reopen(node),
        }
    }

    /// Lets those start that waited for this object. A CRD is usable only when discovery has its kind.
    fn settled(&mut self, node: usize) {
        if !self.is_wanted(node) {
            self.tell_fate(node, Fate::Gone);
            return self.reach(node, Milestone::Settled);
        }
        let defined = self.steps[node].object.as_ref().and_then(|object| object.crd());
        match defined {
            Some(crd) if self.cluster.resource(crd.group_kind(), None).is_none() => self.discover(node),
            _ => self.reach(node, Milestone::Settled),
        }
    }

    /// Verdicts of an object whose story is over are not told: a Job that finished may be taken away.
    fn over_after_settling(&self, node: usize, status: Status) -> bool {
        let finished_job = self.has_finished(node)
            && (matches!(status, Status::NotFound | Status::Terminating) || self.is_another(node));
        match self.nodes[node].conclusion {
            None => false,
            Some(Conclusion::Settled) => !self.is_wanted(node) || finished_job,
            Some(_) => true,
        }
    }

    /// The server accepted the deletion; a state from before that tells nothing.
    fn not_deleted_yet(&self, node: usize, status: Status) -> bool {
        !self.is_wanted(node)
            && !matches!(status, Status::Terminating | Status::NotFound | Status::Unknown)
            && !self.created_anew(node)
    }

    /// What had settled has not any more: its wait goes on.
    fn reopen(&mut self, node: usize) {
        if self.nodes[node].conclusion.take().is_some() {
            self.nodes.turn(node, Phase::Awaiting);
        }
    }

    fn created_anew(&self, node: usize) -> bool {
        match (self.nodes[node].deleted, self.presence(node)) {
            (Some(deleted), Presence::Present(digest)) => digest.uid() != Some(deleted),
            _ => false,
        }
    }

    pub(super) async fn judge_external(&mut self) -> Result<(), Closed> {
        for target in self.external.keys().copied().collect::<Vec<_>>() {
            if self.watcher.judge(target).await? {
                self.verdict(target).await;
            }
        }
        Ok(())
    }

    async fn external_verdict(&mut self, target: usize, verdict: &Verdict) {
        let met = match verdict.status {
            Status::Current => true,
            Status::Failed | Status::NotFound | Status::Unknown => false,
            Status::InProgress | Status::Terminating => return,
        };
        if !met {
            return self.stop_behind(target, &format!("{}: {}", verdict.status, verdict.message)).await;
        }
        for node in self.external.remove(&target).unwrap_or_default() {
            if let Some(lane) = self.lane_of(node) {
                let lane = &mut self.lanes[lane];
                lane.schedule.meet(node - lane.first);
            }
        }
    }

    /// Why a node that waits for an object outside the set was not started.
    pub(super) fn awaits_outside(&self, node: usize) -> Option<Verdict> {
        let waits = |(target, nodes): (&usize, &Vec<usize>)| nodes.contains(&node).then_some(*target);
        let target = self.external.iter().filter_map(waits).min()?;
        let id = self.watcher.id(target)?;
        let verdict = self.watcher.verdict(target);
        let said = verdict.map(|verdict| format!(", {}: {}", verdict.status, verdict.message));
        Some(Verdict::unknown(format!("not started: waits for {id:#}{}", said.unwrap_or_default())))
    }

    /// Skips what waits for an object outside the set that did not get there.
    async fn stop_behind(&mut self, target: usize, reason: &str) {
        let id = self.watcher.id(target).cloned();
        for node in self.external.remove(&target).unwrap_or_default() {
            let Some(lane) = self.lane_of(node) else { continue };
            if self.nodes[node].conclusion.is_some() {
                continue;
            }
            let lane = &mut self.lanes[lane];
            let (first, below) = (lane.first, lane.schedule.stop(node - lane.first));
            let skip = Skip::Dependency { chain: id.iter().cloned().collect(), reason: reason.into() };
            self.tell_fate(node, Fate::Skipped(Strategy::Apply));
            self.skip(node, skip).await;
            self.skip_all(first, below, id.as_ref(), reason).await;
        }
    }
}
