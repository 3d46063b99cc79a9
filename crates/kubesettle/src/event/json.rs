//! The JSON form of events: JSON lines, a superset of kapply's keys and types.
//!
//! `docs/events.md` documents every line and key; a change of meaning raises
//! [`SCHEMA_VERSION`](super::SCHEMA_VERSION), a new key or type does not.

mod line;
mod parts;

use std::time::Duration;

use jiff::Timestamp;
use kstatus::{Uid, Verdict};

use line::Line;
use parts::{CauseParts, Field, Named, Waited, seconds};

use super::tally::{Conclusions, Tally};
use super::{
    Action, Body, Conclusion, DryRun, Event, Outcome, SCHEMA_VERSION, Skip, Start, Summary, WarningSource,
};
use crate::error::ApiError;
use crate::id::ObjectId;

/// One event as one JSON object on one line, without a line break at the end.
///
/// A [`Body::Summary`] gives several lines: one per action as kapply has them, then the total.
pub fn to_json_line(event: &Event) -> String {
    match &event.body {
        Body::Start(start) => start_line(event, start),
        Body::Invalid { objects, error } => {
            let objects: Vec<_> = objects.iter().map(Named::from).collect();
            line(event, "validation").put("objects", &objects).put("error", error).end()
        }
        Body::Plan(counts) => line(event, "plan")
            .put("apply", &counts.apply)
            .put("prune", &counts.prune)
            .put("delete", &counts.delete)
            .put("skip", &counts.skip)
            .end(),
        Body::Inventory { id, entries, shards } => {
            line(event, "inventory").id(id).put("entries", entries).put("shards", shards).end()
        }
        Body::Started { id, action } => line(event, action.as_str()).id(id).put("status", "Pending").end(),
        Body::Finished { id, action, outcome } => outcome_line(event, id, *action, outcome),
        Body::Verdict { id, verdict } => verdict_line(event, id, verdict),
        Body::Concluded { id, conclusion } => {
            let (status, word) = conclusion_words(conclusion);
            line(event, "wait").id(id).put("status", status).put("conclusion", word).end()
        }
        Body::Waiting { awaited, total } => {
            let awaited: Vec<_> = awaited.iter().map(Waited::from).collect();
            line(event, "waiting").put("total", total).put("awaited", &awaited).end()
        }
        Body::Warning { id, source, message } => line(event, "warning")
            .maybe_id(id.as_ref())
            .put("source", source_word(*source))
            .put("message", message)
            .end(),
        Body::Gap { kind, namespace, reason } => line(event, "gap")
            .put("group", kind.group())
            .put("kind", kind.kind())
            .put("namespace", namespace)
            .put("reason", reason)
            .end(),
        Body::Retry { id, action, error, attempt, delay } => error_keys(
            line(event, "retry").id(id).put("action", action.as_str()).put("attempt", attempt),
            error,
        )
        .put("delay", &seconds(*delay))
        .end(),
        Body::Summary(summary) => summary_lines(event, summary),
        Body::End { class, message } => line(event, "end")
            .put("outcome", class.as_str())
            .put("exitCode", &class.code())
            .maybe("message", message.as_ref())
            .end(),
    }
}

/// The line that kapply writes when the wait for an object begins. The stream has no event for
/// it: a consumer that wants the line writes it after a successful action whose object is not
/// settled yet.
pub fn pending_wait_line(at: &Event, id: &ObjectId) -> String {
    line(at, "wait").id(id).put("status", "Pending").end()
}

/// The line that kapply writes when a phase (`Apply`, `Prune`, `Delete`, `Wait`, `Inventory`) begins, or
/// with the totals so far, when it is over. The stream has no event for it: objects go their own ways.
pub fn group_line(at: &Event, action: &str, totals: Option<&Summary>) -> String {
    let status = if totals.is_some() { "Finished" } else { "Started" };
    let line = line(at, "group").put("action", action).put("status", status);
    let tally = |action| totals.map(|totals| totals.tally(action));
    match (action, totals) {
        ("Apply", Some(_)) => tally_keys(line, &tally(Action::Apply).unwrap_or_default()),
        ("Prune", Some(_)) => tally_keys(line, &tally(Action::Prune).unwrap_or_default()),
        ("Delete", Some(_)) => tally_keys(line, &tally(Action::Delete).unwrap_or_default()),
        ("Wait", Some(totals)) => wait_keys(line, &totals.conclusions()),
        _ => line,
    }
    .end()
}

fn line(event: &Event, kind: &str) -> Line {
    // kapply's stamps have whole seconds and scripts parse them so; `elapsed` has the fraction.
    let time = Timestamp::try_from(event.time).unwrap_or_default();
    let whole = Timestamp::from_second(time.as_second()).unwrap_or_default();
    Line::new()
        .put("timestamp", &whole.to_string())
        .put("type", kind)
        .put("seq", &event.seq)
        .put("elapsed", &seconds(event.elapsed))
}

fn start_line(event: &Event, start: &Start) -> String {
    line(event, "start")
        .put("schemaVersion", &SCHEMA_VERSION)
        .put("operation", start.operation.as_str())
        .maybe("dryRun", start.dry_run.map(DryRun::as_str))
        .maybe("set", start.set.as_ref().map(Named::from))
        .put("objects", &start.objects)
        .put("namespaces", &start.namespaces)
        .end()
}

fn outcome_line(event: &Event, id: &ObjectId, action: Action, outcome: &Outcome) -> String {
    let (status, operation) = outcome_words(outcome);
    let line = line(event, action.as_str()).id(id).put("status", status).put("operation", operation);
    match outcome {
        Outcome::Failed(error) => error_keys(line, error).end(),
        Outcome::Skipped(skip) => {
            let line = line.put("error", &skip.to_string());
            match skip {
                Skip::Dependency { chain, .. } => {
                    let chain: Vec<_> = chain.iter().map(Named::from).collect();
                    line.put("code", "Dependency").put("chain", &chain).end()
                }
                Skip::Refused { hint, .. } => line.put("code", "Refused").put("hint", &**hint).end(),
                Skip::Kept { .. } => line.put("code", "Kept").end(),
                Skip::Leaving { needs: other } => {
                    line.put("code", "Leaving").put("chain", &[Named::from(other)]).end()
                }
                Skip::Needed { by: other } => {
                    line.put("code", "Needed").put("chain", &[Named::from(other)]).end()
                }
            }
        }
        _ => line.end(),
    }
}

/// The line of an object of a dump: that of a verdict, with where the object stands in the input, its
/// uid, and, when asked for, the rule that decided.
pub fn to_dump_line(event: &Event, id: &ObjectId, verdict: &Verdict, of: &InDump<'_>) -> String {
    verdict_keys(event, id, verdict)
        .maybe("uid", of.uid.map(|uid| uid.to_string()))
        .put("file", of.file)
        .put("line", &of.line)
        .maybe("rule", of.rule)
        .end()
}

/// What a line of a dump says besides the verdict.
#[derive(Clone, Copy, Debug)]
pub struct InDump<'a> {
    /// The object's uid.
    pub uid: Option<Uid>,
    /// The file, or `stdin`.
    pub file: &'a str,
    /// The line within it, from 1; 0 when it is not known.
    pub line: u32,
    /// The rule that decided.
    pub rule: Option<&'a str>,
}

fn verdict_line(event: &Event, id: &ObjectId, verdict: &Verdict) -> String {
    verdict_keys(event, id, verdict).end()
}

fn verdict_keys(event: &Event, id: &ObjectId, verdict: &Verdict) -> Line {
    let causes: Vec<_> = verdict.causes.iter().map(CauseParts::from).collect();
    line(event, "status")
        .id(id)
        .put("status", verdict.status.as_str())
        .put("message", &verdict.message)
        .put("reason", verdict.reason.as_str())
        .put("causes", &causes)
        .maybe("progress", verdict.progress.as_ref())
}

fn error_keys(line: Line, error: &ApiError) -> Line {
    let fields: Vec<_> = error.causes.iter().map(Field::from).collect();
    line.put("error", &error.message)
        .put("code", error.class.as_str())
        .maybe("httpStatus", error.status)
        .maybe("fields", (!fields.is_empty()).then_some(&fields))
        .maybe("hint", error.hint())
}

fn summary_lines(event: &Event, summary: &Summary) -> String {
    let mut lines = Vec::new();
    for (action, word) in [(Action::Apply, "Apply"), (Action::Prune, "Prune"), (Action::Delete, "Delete")] {
        let tally = summary.tally(action);
        if tally.total() > 0 {
            lines.push(tally_line(event, word, &tally));
        }
    }
    let waits = summary.conclusions();
    if waits.total() > waits.pending {
        lines.push(wait_summary_line(event, &waits));
    }
    lines.push(total_line(event, summary, &waits));
    lines.join("\n")
}

fn tally_keys(line: Line, tally: &Tally) -> Line {
    line.put("count", &tally.total())
        .put("successful", &tally.successful())
        .put("skipped", &(tally.skipped + tally.cancelled))
        .put("failed", &tally.failed)
}

fn tally_line(event: &Event, action: &str, tally: &Tally) -> String {
    tally_keys(line(event, "summary").put("action", action), tally)
        .nonzero("created", tally.created)
        .nonzero("configured", tally.configured)
        .nonzero("unchanged", tally.unchanged)
        .nonzero("applied", tally.applied)
        .nonzero("deleted", tally.deleted)
        .nonzero("alreadyGone", tally.already_gone)
        .nonzero("cancelled", tally.cancelled)
        .end()
}

fn wait_summary_line(event: &Event, waits: &Conclusions) -> String {
    wait_keys(line(event, "summary").put("action", "Wait"), waits).end()
}

fn wait_keys(line: Line, waits: &Conclusions) -> Line {
    line.put("count", &(waits.total() - waits.pending))
        .put("successful", &waits.settled)
        .put("skipped", &(waits.skipped + waits.not_applied + waits.not_awaited + waits.cancelled))
        .put("failed", &waits.failed)
        .put("timeout", &(waits.timed_out + waits.unknown))
}

fn total_line(event: &Event, summary: &Summary, waits: &Conclusions) -> String {
    line(event, "summary")
        .put("action", "Total")
        .put("count", &summary.objects().len())
        .put("successful", &summary.objects().iter().filter(|o| o.is_fine()).count())
        .put("skipped", &waits.skipped)
        .put("failed", &(waits.failed + waits.not_applied))
        .put("timeout", &waits.timed_out)
        .put("unknown", &waits.unknown)
        .put("cancelled", &waits.cancelled)
        .put("notAwaited", &waits.not_awaited)
        .put("invalid", &summary.invalid())
        .put("seconds", &seconds(Duration::max(summary.elapsed(), event.elapsed)))
        .end()
}

fn outcome_words(outcome: &Outcome) -> (&'static str, &'static str) {
    match outcome {
        Outcome::Created => ("Successful", "created"),
        Outcome::Configured => ("Successful", "configured"),
        Outcome::Unchanged => ("Successful", "unchanged"),
        Outcome::Applied => ("Successful", "applied"),
        Outcome::Deleted => ("Successful", "deleted"),
        Outcome::AlreadyGone => ("Successful", "alreadyGone"),
        Outcome::Skipped(_) => ("Skipped", "skipped"),
        Outcome::Failed(_) => ("Failed", "failed"),
        Outcome::Cancelled => ("Skipped", "cancelled"),
    }
}

/// kapply's word and ours. kapply knows no Unknown: it waits for such an object until the timeout.
fn conclusion_words(conclusion: &Conclusion) -> (&'static str, &'static str) {
    match conclusion {
        Conclusion::Settled => ("Successful", "Settled"),
        Conclusion::Failed => ("Failed", "Failed"),
        Conclusion::NotApplied => ("Skipped", "NotApplied"),
        Conclusion::Skipped => ("Skipped", "Skipped"),
        Conclusion::TimedOut => ("Timeout", "TimedOut"),
        Conclusion::Unknown => ("Timeout", "Unknown"),
        Conclusion::Cancelled => ("Skipped", "Cancelled"),
        Conclusion::NotAwaited => ("Skipped", "NotAwaited"),
    }
}

fn source_word(source: WarningSource) -> &'static str {
    match source {
        WarningSource::Server => "server",
        WarningSource::Input => "input",
        WarningSource::Run => "run",
    }
}

#[cfg(test)]
mod tests;
