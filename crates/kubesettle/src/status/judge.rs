//! From what is known of a target to a verdict.

use kstatus::{
    Cause, CauseCode, Digest, EventNote, Facts, History, Policy, Rulebook, Status, Surroundings, Timestamp,
    Verdict,
};

use super::Tracked;
use crate::watch::Presence;

/// The reason of a verdict on an object of which its existence is all that is asked for.
const EXISTS: &str = "Exists";

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
        let verdict = self.renewed(tracked, digest, verdict, now);
        match &tracked.state.gap {
            Some(error) if verdict.status != Status::Current => {
                Some(Verdict::unknown(format!("contact is lost: {error}")))
            }
            _ => Some(verdict),
        }
    }

    /// The verdict, unless it may be about what the object was before our change of it.
    fn renewed(&self, tracked: &Tracked, digest: &Digest, verdict: Verdict, now: Timestamp) -> Verdict {
        let (Some(floor), Some(written)) = (&tracked.floor, tracked.written) else { return verdict };
        let ends = after(written, self.policy.unknown_status_grace);
        if !floor.changed() || now >= ends {
            return verdict;
        }
        let deadline = CauseCode::ProgressDeadlineExceeded;
        let dated = |cause: &Cause| cause.fatal && cause.code == deadline && cause.since < Some(written);
        let stale = match verdict.status {
            Status::Current => digest.is_undated() && floor.is(digest) && verdict.reason.as_str() != EXISTS,
            Status::Failed => digest.is_undated() && floor.is(digest) || verdict.causes.iter().any(dated),
            _ => false,
        };
        if !stale {
            return verdict;
        }
        let words = "the status is from before the change and has not been written anew yet";
        Verdict { reassess_at: Some(ends), ..Verdict::new(Status::InProgress, "StatusNotRenewed", words) }
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

fn after(moment: Timestamp, millis: u64) -> Timestamp {
    Timestamp::from_millis(moment.as_millis().saturating_add(i64::try_from(millis).unwrap_or(i64::MAX)))
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
