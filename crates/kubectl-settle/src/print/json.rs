//! `-o json`: the library's JSON lines, and nothing else on standard output.

use jiff::Timestamp;
use kubesettle::event::{
    Body, Conclusion, Event, Operation, Summary, group_line, pending_wait_line, to_json_line,
};
use kubesettle::manifest::Problem;
use serde_json::{Value, json};

use super::pending::Pending;
use super::phases::{Phases, Turn};
use super::{Page, Printer};
use crate::exit::Failure;

/// One JSON object a line.
#[derive(Debug, Default)]
pub(crate) struct Json {
    pending: Pending,
    phases: Phases,
    totals: Summary,
    /// The name of the inventory, which kapply's lines of a look have.
    set: Option<Box<str>>,
}

impl Json {
    fn turns(&self, event: &Event, turns: &[Turn], page: &mut Page) {
        for turn in turns {
            push(
                page,
                &match turn {
                    Turn::Starts(phase) => group_line(event, phase.as_str(), None),
                    Turn::Ends(phase) => group_line(event, phase.as_str(), Some(&self.totals)),
                },
            );
        }
    }

    fn waits(&mut self, event: &Event, page: &mut Page) {
        let turns = self.phases.waits();
        self.turns(event, &turns, page);
    }
}

impl Printer for Json {
    fn event(&mut self, event: &Event, page: &mut Page) {
        if let Some(id) = self.pending.observe(event) {
            self.waits(event, page);
            push(page, &pending_wait_line(event, id));
        }
        let turns = self.phases.before(event);
        self.turns(event, &turns, page);
        self.totals.observe(event);
        let looks = self.totals.operation() == Some(Operation::Status);
        match &event.body {
            Body::Start(start) => self.set = start.set.as_ref().map(|set| set.name().into()),
            Body::Concluded { conclusion, .. } if !looks && is_kapplys(conclusion) => self.waits(event, page),
            _ => {}
        }
        let mut line = to_json_line(event);
        if let (Body::Verdict { .. }, Some(set), true) = (&event.body, &self.set, looks) {
            line.pop();
            line.push_str(&format!(",\"inventory-name\":{}}}", Value::from(&**set)));
        }
        push(page, &line);
        let turns = self.phases.after(event);
        self.turns(event, &turns, page);
    }
}

/// Ends of a wait that kapply knows.
fn is_kapplys(conclusion: &Conclusion) -> bool {
    !matches!(conclusion, Conclusion::NotAwaited | Conclusion::Cancelled)
}

fn push(page: &mut Page, line: &str) {
    page.out.push_str(line);
    page.out.push('\n');
}

/// kapply's `error` line and our `end`, for a command that did not get to its run.
pub(super) fn failure_lines(failure: &Failure) -> String {
    let error = json!({
        "timestamp": now(), "type": "error", "error": failure.message(), "hint": failure.hint_text(),
    });
    let end = json!({
        "timestamp": now(), "type": "end",
        "outcome": failure.class().as_str(), "exitCode": failure.class().code(),
    });
    format!("{error}\n{end}\n")
}

/// A `validation` line for each problem.
pub(super) fn problem_lines(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{}\n", problem_line(problem))).collect()
}

fn problem_line(problem: &Problem) -> Value {
    let objects: Vec<_> = problem
        .object
        .iter()
        .map(|id| {
            json!({
                "group": id.group(), "kind": id.kind(), "name": id.name(), "namespace": id.namespace(),
            })
        })
        .collect();
    json!({
        "timestamp": now(), "type": "validation", "objects": objects, "error": problem.message,
        "file": problem.place.file(), "line": problem.place.line(), "hint": problem.hint,
    })
}

fn now() -> String {
    let second = Timestamp::now().as_second();
    Timestamp::from_second(second).unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests;
