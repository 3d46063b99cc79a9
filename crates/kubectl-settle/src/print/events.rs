//! `-o events`: kapply's lines, word for word, on standard output; what kapply has no line for goes
//! to standard error.

use kstatus::Verdict;
use kubesettle::event::{Action, Body, Conclusion, Event, Operation, Outcome, Skip, Start, Summary};
use kubesettle::id::{GroupKind, ObjectId};

use super::pending::Pending;
use super::phases::{Phase, Phases, Turn};
use super::text::{listing, one_line};
use super::words;
use super::{Page, Printer};

/// kapply's lines.
#[derive(Debug, Default)]
pub(crate) struct Events {
    status_events: bool,
    operation: Option<Operation>,
    /// The name of the inventory, which leads the lines of a look.
    set: Option<Box<str>>,
    pending: Pending,
    phases: Phases,
    totals: Summary,
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

    fn reconcile(&mut self, id: &ObjectId, state: &str, out: &mut String) {
        turns(&self.phases.waits(), out);
        line(out, format!("{id} reconcile {state}"));
    }

    fn status(&self, id: &ObjectId, verdict: &Verdict) -> String {
        let message = one_line(&verdict.message);
        match (&self.set, self.operation) {
            (Some(set), Some(Operation::Status)) => {
                let (kind, name) = (id.group_kind(), id.name());
                let namespace = id.namespace();
                format!("{set}/{}/{namespace}/{name} is {}: {message}", lower(kind), verdict.status)
            }
            _ => format!("{id} is {}: {message}", verdict.status),
        }
    }

    fn finished(&self, id: &ObjectId, action: Action, outcome: &Outcome) -> Option<String> {
        let verb = action.as_str();
        Some(match outcome {
            Outcome::Failed(error) => format!("{id} {verb} failed: {}", one_line(&error.message)),
            Outcome::Skipped(skip) => {
                format!("{id} {verb} skipped: {}", one_line(&self.skipped(action, skip)))
            }
            Outcome::Cancelled => return None,
            _ => format!("{id} {verb} successful"),
        })
    }

    /// Why, as kapply says it: only the nearest object is named, with how far it got.
    fn skipped(&self, action: Action, skip: &Skip) -> String {
        let verb = if action == Action::Apply { "apply" } else { "delete" };
        let relation = if action == Action::Apply { "dependency" } else { "dependent" };
        let (nearest, state) = match skip {
            Skip::Leaving { needs } => {
                return format!("dependency scheduled for delete: {}", needs.inventory_key());
            }
            Skip::Needed { by } => return format!("dependent scheduled for apply: {}", by.inventory_key()),
            Skip::Dependency { chain, .. } => {
                let nearest = chain.first().and_then(|id| self.totals.get(id));
                match nearest {
                    Some(nearest) if nearest.skip().is_some() => (nearest, "actuation skipped"),
                    Some(nearest) if nearest.error().is_some() => (nearest, "actuation failed"),
                    Some(nearest) if nearest.conclusion == Some(Conclusion::TimedOut) => {
                        (nearest, "reconcile timeout")
                    }
                    Some(nearest) => (nearest, "reconcile failed"),
                    None => return skip.to_string(),
                }
            }
            _ => return skip.to_string(),
        };
        format!("{relation} {verb} {state}: {}", nearest.id.inventory_key())
    }

    fn start(&mut self, start: &Start, out: &mut String) {
        self.operation = Some(start.operation);
        self.set = start.set.as_ref().map(|set| set.name().into());
        if let Some(how) = start.dry_run {
            line(out, format!("Preview strategy: {}", how.as_str()));
        }
    }
}

impl Printer for Events {
    fn event(&mut self, event: &Event, page: &mut Page) {
        self.totals.observe(event);
        if let Some(id) = self.pending.observe(event) {
            self.reconcile(id, "pending", &mut page.out);
        }
        turns(&self.phases.before(event), &mut page.out);
        match &event.body {
            Body::Start(start) => self.start(start, &mut page.out),
            Body::Invalid { objects, error } => line(&mut page.out, invalid(objects, error)),
            Body::Finished { id, action, outcome } => {
                if let Some(text) = self.finished(id, *action, outcome) {
                    line(&mut page.out, text);
                }
            }
            Body::Verdict { id, verdict } if self.tells_status() => {
                line(&mut page.out, self.status(id, verdict));
            }
            Body::Concluded { id, conclusion } => {
                if let Some(state) =
                    reconcile(conclusion).filter(|_| self.operation != Some(Operation::Status))
                {
                    self.reconcile(id, state, &mut page.out);
                }
            }
            Body::Summary(summary) if self.operation != Some(Operation::Status) => {
                summary_lines(summary, &mut page.out);
            }
            Body::Summary(summary) if summary.objects().is_empty() => {
                line(&mut page.out, "no resources found in the inventory".to_owned());
            }
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
        turns(&self.phases.after(event), &mut page.out);
    }
}

fn turns(turns: &[Turn], out: &mut String) {
    for turn in turns {
        let (phase, word) = match turn {
            Turn::Starts(phase) => (phase, "started"),
            Turn::Ends(phase) => (phase, "finished"),
        };
        let phase = match phase {
            Phase::Apply => "apply phase",
            Phase::Prune => "prune phase",
            Phase::Delete => "delete phase",
            Phase::Wait => "reconcile phase",
            Phase::Inventory => "inventory update",
        };
        line(out, format!("{phase} {word}"));
    }
}

fn lower(kind: &GroupKind) -> String {
    match kind.group() {
        "" => kind.kind().to_lowercase(),
        group => format!("{}.{group}", kind.kind().to_lowercase()),
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
    if all > 0 {
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
