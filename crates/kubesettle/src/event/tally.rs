//! Counts for the summary.

use super::{Conclusion, Outcome};

/// Results of one action, counted over objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Did not exist before.
    pub created: usize,
    /// Existed and were changed.
    pub configured: usize,
    /// Were as wanted already.
    pub unchanged: usize,
    /// Applied, without anybody able to tell whether that changed them.
    pub applied: usize,
    /// Their deletion was accepted.
    pub deleted: usize,
    /// Were gone already.
    pub already_gone: usize,
    /// Not tried, for a reason.
    pub skipped: usize,
    /// Refused.
    pub failed: usize,
    /// Not tried, because the run was interrupted.
    pub cancelled: usize,
}

impl Tally {
    pub(super) fn count(&mut self, outcome: &Outcome) {
        let slot = match outcome {
            Outcome::Created => &mut self.created,
            Outcome::Configured => &mut self.configured,
            Outcome::Unchanged => &mut self.unchanged,
            Outcome::Applied => &mut self.applied,
            Outcome::Deleted => &mut self.deleted,
            Outcome::AlreadyGone => &mut self.already_gone,
            Outcome::Skipped(_) => &mut self.skipped,
            Outcome::Failed(_) => &mut self.failed,
            Outcome::Cancelled => &mut self.cancelled,
        };
        *slot += 1;
    }

    /// Objects for which the action did what it should.
    pub fn successful(&self) -> usize {
        self.created + self.configured + self.unchanged + self.applied + self.deleted + self.already_gone
    }

    /// All objects of the action.
    pub fn total(&self) -> usize {
        self.successful() + self.skipped + self.failed + self.cancelled
    }
}

/// Ends of waits, counted over objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conclusions {
    /// Current after an apply, gone after a deletion.
    pub settled: usize,
    /// Certainly not going to settle.
    pub failed: usize,
    /// Their action failed.
    pub not_applied: usize,
    /// Their action was skipped.
    pub skipped: usize,
    /// Time ran out.
    pub timed_out: usize,
    /// Nobody can tell.
    pub unknown: usize,
    /// The run was interrupted.
    pub cancelled: usize,
    /// Nobody asked to wait.
    pub not_awaited: usize,
    /// The wait goes on.
    pub pending: usize,
}

impl Conclusions {
    pub(super) fn count(&mut self, conclusion: Option<&Conclusion>) {
        let slot = match conclusion {
            Some(Conclusion::Settled) => &mut self.settled,
            Some(Conclusion::Failed) => &mut self.failed,
            Some(Conclusion::NotApplied) => &mut self.not_applied,
            Some(Conclusion::Skipped) => &mut self.skipped,
            Some(Conclusion::TimedOut) => &mut self.timed_out,
            Some(Conclusion::Unknown) => &mut self.unknown,
            Some(Conclusion::Cancelled) => &mut self.cancelled,
            Some(Conclusion::NotAwaited) => &mut self.not_awaited,
            None => &mut self.pending,
        };
        *slot += 1;
    }

    /// All objects.
    pub fn total(&self) -> usize {
        self.awaited() + self.not_applied + self.skipped + self.cancelled + self.not_awaited + self.pending
    }

    /// Objects whose wait began and came to an answer, good or bad.
    pub fn awaited(&self) -> usize {
        self.settled + self.failed + self.timed_out + self.unknown
    }
}
