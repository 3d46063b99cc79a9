//! `-o json`: the library's JSON lines, and nothing else on standard output.

use jiff::Timestamp;
use kubesettle::event::{Event, pending_wait_line, to_json_line};
use kubesettle::manifest::Problem;
use serde_json::{Value, json};

use super::pending::Pending;
use super::{Page, Printer};
use crate::exit::Failure;

/// One JSON object a line.
#[derive(Debug, Default)]
pub(crate) struct Json {
    pending: Pending,
}

impl Printer for Json {
    fn event(&mut self, event: &Event, page: &mut Page) {
        if let Some(id) = self.pending.observe(event) {
            push(page, &pending_wait_line(event, id));
        }
        push(page, &to_json_line(event));
    }
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
