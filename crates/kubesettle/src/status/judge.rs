//! From what is known of a target to a verdict.

use kstatus::{
    Digest, EventNote, Facts, History, Policy, Rulebook, Status, Surroundings, Timestamp, Verdict,
};

use super::Tracked;
use crate::watch::Presence;

/// What verdicts are made by.
pub(super) struct By<'a> {
    pub(super) rules: &'a Rulebook,
    pub(super) facts: &'a Facts,
    pub(super) policy: &'a Policy,
    /// Children are looked at where they matter.
    pub(super) children: bool,
}

impl By<'_> {
    pub(super) fn judge(&self, tracked: &mut Tracked, now: Timestamp) -> Option<Verdict> {
        let digest = match &tracked.state.presence {
            Presence::Pending => return None,
            Presence::NotServed => {
                return Some(Verdict { message: String::from("kind not served"), ..Verdict::not_found() });
            }
            Presence::Absent { last, .. } => return Some(self.absent(tracked, last.as_deref(), now)),
            Presence::Unknown(error) => return Some(Verdict::unknown(error.message.to_string())),
            Presence::Present(digest) => digest,
        };
        if self.children && digest.needs_children() && tracked.state.children.is_none() {
            return None;
        }
        let children: Vec<&Digest> = tracked.state.children.iter().flatten().map(|child| &**child).collect();
        let counts = |note: &&EventNote| tracked.events_from.is_none_or(|from| note.last_seen >= Some(from));
        let events: Vec<EventNote> = tracked.state.events.iter().flatten().filter(counts).cloned().collect();
        let around = self.around(&children, &events, now);
        let verdict = self.rules.assess(digest, &around, &mut tracked.history);
        match &tracked.state.gap {
            Some(error) if verdict.status != Status::Current => {
                Some(Verdict::unknown(format!("contact is lost: {error}")))
            }
            _ => Some(verdict),
        }
    }

    /// An object that is gone. A Job may be taken away as soon as it has finished: how it ended is read
    /// off its last state, and if that was never seen, nobody can tell.
    fn absent(&self, tracked: &Tracked, last: Option<&Digest>, now: Timestamp) -> Verdict {
        if tracked.floor.is_none() || !tracked.id.group_kind().is("batch", "Job") {
            return Verdict::not_found();
        }
        let around = self.around(&[], &[], now);
        let ended = last.map(|last| self.rules.assess(last, &around, &mut History::default()));
        match ended.filter(|verdict| matches!(verdict.status, Status::Current | Status::Failed)) {
            Some(ended) => ended,
            None if last.is_none() => Verdict::unknown("the Job is gone, and how it ended was not seen"),
            None => Verdict::not_found(),
        }
    }

    fn around<'s>(
        &'s self,
        children: &'s [&'s Digest],
        events: &'s [EventNote],
        now: Timestamp,
    ) -> Surroundings<'s> {
        Surroundings { children, events, facts: self.facts, now, policy: self.policy }
    }
}

/// Equal in everything a person would see.
pub(super) fn same(one: Option<&Verdict>, other: Option<&Verdict>) -> bool {
    let face = |verdict: &Verdict| {
        (verdict.status, verdict.reason.clone(), verdict.message.clone(), verdict.progress)
    };
    match (one, other) {
        (Some(one), Some(other)) => face(one) == face(other) && one.causes.len() == other.causes.len(),
        (one, other) => one.is_none() && other.is_none(),
    }
}
