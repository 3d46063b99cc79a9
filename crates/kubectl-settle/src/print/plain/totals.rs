//! The line of totals.

use kstatus::Status;
use kubesettle::event::{Action, Operation, Summary, Tally};

use crate::duration;
use crate::print::text::count;

/// `18 applied: 12 created, 6 unchanged.  17 settled, 1 failed, in 1m30s`
/// `rehearsed`: nothing was done, so nothing could be awaited.
pub(super) fn line(summary: &Summary, rehearsed: bool) -> String {
    let mut sentences = Vec::new();
    match summary.operation() {
        Some(Operation::Status) => sentences.push(looked(summary)),
        _ => {
            let actions = [Action::Apply, Action::Delete, Action::Prune];
            sentences.extend(actions.into_iter().filter_map(|action| acted(action, &summary.tally(action))));
            sentences.extend(waited(summary).filter(|_| !rehearsed));
        }
    }
    if summary.invalid() > 0 {
        sentences.insert(0, format!("{} left out", count(summary.invalid(), "invalid object")));
    }
    if sentences.is_empty() {
        sentences.push("nothing done".to_owned());
    }
    format!("{}, in {}", sentences.join(".  "), duration::show_short(summary.elapsed()))
}

fn acted(action: Action, tally: &Tally) -> Option<String> {
    if tally.total() == 0 {
        return None;
    }
    let (done, attempt) = match action {
        Action::Prune => ("pruned", "prune"),
        Action::Delete => ("deleted", "delete"),
        _ => ("applied", "apply"),
    };
    let kinds = list([
        (tally.created, "created"),
        (tally.configured, "configured"),
        (tally.unchanged, "unchanged"),
        (tally.applied, "of unknown effect"),
    ]);
    let bad = list([(tally.skipped, "skipped"), (tally.cancelled, "not tried")]);
    let mut text = format!("{} {done}", tally.successful() - tally.already_gone);
    if !kinds.is_empty() {
        text.push_str(&format!(": {kinds}"));
    }
    if tally.already_gone > 0 {
        text.push_str(&format!(", {} already gone", tally.already_gone));
    }
    if tally.failed > 0 {
        text.push_str(&format!("; {} failed to {attempt}", tally.failed));
    }
    if !bad.is_empty() {
        text.push_str(&format!("; {bad}"));
    }
    Some(text)
}

fn waited(summary: &Summary) -> Option<String> {
    let waits = summary.conclusions();
    let settled = if summary.operation() == Some(Operation::Destroy) { "gone" } else { "settled" };
    let text = list([
        (waits.settled, settled),
        (waits.failed, "failed"),
        (waits.timed_out, "timed out"),
        (waits.unknown, "unknown"),
        (waits.cancelled, "interrupted"),
        (waits.pending, "unfinished"),
        (waits.not_awaited, "not awaited"),
    ]);
    (!text.is_empty()).then_some(text)
}

fn looked(summary: &Summary) -> String {
    let words = [
        (Status::Current, "settled"),
        (Status::InProgress, "in progress"),
        (Status::Failed, "failed"),
        (Status::Terminating, "terminating"),
        (Status::NotFound, "not found"),
        (Status::Unknown, "unknown"),
    ];
    let parts = list(words.map(|(status, word)| (summary.with_status(status), word)));
    let objects = count(summary.objects().len(), "object");
    if parts.is_empty() { objects } else { format!("{objects}: {parts}") }
}

fn list(parts: impl IntoIterator<Item = (usize, &'static str)>) -> String {
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    parts.map(|(number, word)| format!("{number} {word}")).collect::<Vec<_>>().join(", ")
}
