//! `-o events`: kapply's lines, word for word, on standard output; what kapply has no line for goes
//! to standard error.

use kubesettle::event::{Action, Body, Conclusion, Event, Operation, Outcome, Summary};
use kubesettle::id::ObjectId;

use super::pending::Pending;
use super::text::{listing, one_line};
use super::words;
use super::{Page, Printer};

/// kapply's lines.
#[derive(Debug, Default)]
pub(crate) struct Events {
    status_events: bool,
    operation: Option<Operation>,
    pending: Pending,
}

impl Events {
    /// With `status_events`, every change of an object's status has a line, as with kapply's flag
    /// of that name.
    pub(crate) fn new(status_events: bool) -> Self {
        Self { status_events, ..Self::default() }
    }

    fn tells_status(&self) -> bool {
        self.status_events || self.operation == Some(Operation::Status)
    }
}

impl Printer for Events {
    fn event(&mut self, event: &Event, page: &mut Page) {
        if let Some(id) = self.pending.observe(event) {
            line(&mut page.out, format!("{id} reconcile pending"));
        }
        match &event.body {
            Body::Start(start) => self.operation = Some(start.operation),
            Body::Invalid { objects, error } => line(&mut page.out, invalid(objects, error)),
            Body::Finished { id, action, outcome } => {
                if let Some(text) = finished(id, *action, outcome) {
                    line(&mut page.out, text);
                }
            }
            Body::Verdict { id, verdict } if self.tells_status() => {
                let message = one_line(&verdict.message);
                line(&mut page.out, format!("{id} is {}: {message}", verdict.status));
            }
            Body::Concluded { id, conclusion } => {
                if let Some(state) =
                    reconcile(conclusion).filter(|_| self.operation != Some(Operation::Status))
                {
                    line(&mut page.out, format!("{id} reconcile {state}"));
                }
            }
            Body::Summary(summary) => summary_lines(summary, &mut page.out),
            Body::Waiting { awaited, total } => {
                let names = listing(awaited.iter().map(|one| format!("{:#}", one.id)), 5);
                line(&mut page.err, format!("waiting for {} of {total}: {names}", awaited.len()));
            }
            Body::Warning { id, message, .. } => {
                let about = id.as_ref().map(|id| format!("{id:#}: ")).unwrap_or_default();
                line(&mut page.err, format!("warning: {about}{}", one_line(message)));
            }
            Body::Gap { kind, namespace, reason } => {
                line(&mut page.err, words::gap(kind, namespace, reason));
            }
            Body::Retry { id, action, error, .. } => {
                let error = one_line(&error.message);
                line(&mut page.err, format!("{id:#}: {} is tried again: {error}", action.as_str()));
            }
            Body::End { message: Some(message), .. } => line(&mut page.err, one_line(message)),
            _ => {}
        }
    }
}

fn line(text: &mut String, line: String) {
    text.push_str(&line);
    text.push('\n');
}

fn invalid(objects: &[ObjectId], error: &str) -> String {
    let error = one_line(error);
    match objects {
        [one] => format!("Invalid object ({one}): {error}"),
        all => format!("Invalid objects ({}): {error}", listing(all, usize::MAX)),
    }
}

fn finished(id: &ObjectId, action: Action, outcome: &Outcome) -> Option<String> {
    let verb = action.as_str();
    Some(match outcome {
        Outcome::Failed(error) => format!("{id} {verb} failed: {}", one_line(&error.message)),
        Outcome::Skipped(skip) => format!("{id} {verb} skipped: {}", one_line(&skip.to_string())),
        Outcome::Cancelled => return None,
        _ => format!("{id} {verb} successful"),
    })
}

fn reconcile(conclusion: &Conclusion) -> Option<&'static str> {
    Some(match conclusion {
        Conclusion::Settled => "successful",
        Conclusion::Failed => "failed",
        Conclusion::TimedOut | Conclusion::Unknown => "timeout",
        Conclusion::NotApplied | Conclusion::Skipped => "skipped",
        _ => return None,
    })
}

fn summary_lines(summary: &Summary, out: &mut String) {
    for action in [Action::Apply, Action::Prune, Action::Delete] {
        let tally = summary.tally(action);
        let tried = tally.total() - tally.cancelled;
        if tried > 0 {
            let (good, skipped, failed) = (tally.successful(), tally.skipped, tally.failed);
            line(
                out,
                format!(
                    "{} result: {tried} attempted, {good} successful, {skipped} skipped, {failed} failed",
                    action.as_str()
                ),
            );
        }
    }
    let waits = summary.conclusions();
    let skipped = waits.skipped + waits.not_applied;
    let late = waits.timed_out + waits.unknown;
    let all = waits.settled + skipped + waits.failed + late;
    if all > 0 && summary.operation() != Some(Operation::Status) {
        line(
            out,
            format!(
                "reconcile result: {all} attempted, {} successful, {skipped} skipped, {} failed, {late} timed out",
                waits.settled, waits.failed
            ),
        );
    }
}

#[cfg(test)]
mod tests;
