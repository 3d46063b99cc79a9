//! The words of the plain form.

use kstatus::{Cause, Status, Verdict};
use kubesettle::event::{Action, Conclusion, Operation, Outcome};

use kubesettle::id::GroupKind;

use super::style::Tone;
use super::text::one_line;

/// A word for a person and how to colour it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) &'static str, pub(crate) Tone);

const IN_PROGRESS: Word = Word("in progress", Tone::Plain);
pub(crate) const WARNING: Word = Word("warning", Tone::Attention);
pub(crate) const FAILED: Word = Word("failed", Tone::Bad);
pub(crate) const RETRYING: Word = Word("retrying", Tone::Attention);
pub(crate) const INVALID: Word = Word("invalid", Tone::Bad);
pub(crate) const STARTED: Word = Word("started", Tone::Faint);
const SKIPPED: Word = Word("skipped", Tone::Attention);
const UNKNOWN: Word = Word("unknown", Tone::Attention);

/// How an action went. `None`: nothing worth a line.
pub(crate) fn outcome(action: Action, outcome: &Outcome) -> Option<(Word, String)> {
    let said = |word, tone| Some((Word(word, tone), String::new()));
    match outcome {
        Outcome::Created => said("created", Tone::Plain),
        Outcome::Configured => said("configured", Tone::Plain),
        Outcome::Unchanged => said("unchanged", Tone::Faint),
        Outcome::Applied => said("applied", Tone::Plain),
        Outcome::Deleted if action == Action::Recreate => {
            Some((Word("deleted", Tone::Plain), "to be created anew".to_owned()))
        }
        Outcome::Deleted if action == Action::Prune => said("pruned", Tone::Plain),
        Outcome::Deleted => said("deleted", Tone::Plain),
        Outcome::AlreadyGone => said("already gone", Tone::Faint),
        Outcome::Skipped(skip) => Some((SKIPPED, one_line(&skip.to_string()))),
        Outcome::Failed(error) => Some((FAILED, one_line(&error.message))),
        _ => None,
    }
}

/// The state of an object while it is awaited (or only looked at).
pub(crate) fn verdict(operation: Operation, verdict: &Verdict) -> (Word, String) {
    let word = match verdict.status {
        Status::InProgress if verdict.causes.is_empty() => IN_PROGRESS,
        Status::InProgress => WARNING,
        Status::Failed => FAILED,
        Status::Current if operation == Operation::Destroy => Word("still there", Tone::Plain),
        Status::Current => Word("settled", Tone::Good),
        Status::Terminating => Word("terminating", Tone::Plain),
        Status::NotFound => Word("not found", Tone::Plain),
        Status::Unknown => UNKNOWN,
    };
    (word, detail(verdict))
}

/// Whether a verdict tells nothing but that things go on; such lines may wait or be left out when
/// newer ones come. Finalizers are part of every orderly deletion.
pub(crate) fn is_mere_progress(Word(_, tone): Word, verdict: &Verdict) -> bool {
    tone == Tone::Plain && (verdict.causes.is_empty() || verdict.status == Status::Terminating)
}

/// What a verdict says, on one line: the cause that counts, else how far it is, else its sentence.
pub(crate) fn detail(verdict: &Verdict) -> String {
    match (main_cause(verdict), verdict.progress, verdict.status) {
        (Some(cause), _, Status::InProgress | Status::Failed | Status::Terminating) => {
            one_line(&cause.message)
        }
        (_, Some(progress), Status::InProgress | Status::Current) if progress.want > 0 => {
            let counted = format!("{} of {} {}", progress.have, progress.want, progress.what);
            // What is too young to be a cause stands behind the object's own sentence.
            match verdict.message.split_once("; ").filter(|_| verdict.status == Status::InProgress) {
                Some((_, more)) => format!("{counted}; {}", one_line(more)),
                None => counted,
            }
        }
        (_, _, Status::Current | Status::NotFound) => String::new(),
        _ => one_line(&verdict.message),
    }
}

/// The cause that made the object fail, else the most specific one.
pub(crate) fn main_cause(verdict: &Verdict) -> Option<&Cause> {
    verdict.causes.iter().find(|cause| cause.fatal).or(verdict.causes.first())
}

/// The least that tells two verdicts apart for a person: the cause's code, else the progress.
pub(crate) fn short(verdict: &Verdict) -> String {
    match verdict.causes.first() {
        Some(cause) => cause.code.as_str().to_owned(),
        None => match verdict.progress {
            Some(progress) if progress.want > 0 => {
                format!("{} of {} {}", progress.have, progress.want, progress.what)
            }
            _ => one_line(verdict.reason.as_str()),
        },
    }
}

/// A kind that cannot be watched just now.
pub(crate) fn gap(kind: &GroupKind, namespace: &str, reason: &str) -> String {
    let place = if namespace.is_empty() { "any namespace".to_owned() } else { namespace.to_owned() };
    format!("cannot watch {kind} in {place} just now: {}", one_line(reason))
}

/// How a wait ended. `None`: another line has said it, or there is nothing to say.
pub(crate) fn conclusion(operation: Operation, deleted: bool, conclusion: &Conclusion) -> Option<Word> {
    match conclusion {
        Conclusion::Settled if deleted || operation == Operation::Destroy => Some(Word("gone", Tone::Good)),
        Conclusion::Settled => Some(Word("settled", Tone::Good)),
        Conclusion::Failed => Some(FAILED),
        Conclusion::TimedOut => Some(Word("timed out", Tone::Bad)),
        Conclusion::Unknown => Some(UNKNOWN),
        _ => None,
    }
}
