//! What a run looks like. Each printer is a fold over the events; none of them writes anything
//! itself: they fill a [`Page`], and `out` writes it.

mod columns;
mod diff;
mod events;
mod json;
mod names;
mod narrow;
mod next;
pub(crate) mod out;
mod pending;
mod phases;
mod plain;
mod style;
mod text;
mod words;

#[cfg(test)]
mod fixtures;

use std::time::Duration;

use kubesettle::event::Event;
use kubesettle::manifest::Problem;

use crate::exit::Failure;

pub(crate) use diff::{Sides, diff};
pub(crate) use events::Events;
pub(crate) use json::Json;
pub(crate) use names::Names;
pub(crate) use narrow::Narrow;
pub(crate) use next::kubectl;
pub(crate) use plain::{Options as PlainOptions, Plain};
pub(crate) use text::count;

/// Text on its way out.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// For standard output: whole lines.
    pub(crate) out: String,
    /// For standard error: whole lines.
    pub(crate) err: String,
}

/// One form of output.
pub(crate) trait Printer {
    /// Takes in the next event.
    fn event(&mut self, event: &Event, page: &mut Page);

    /// Called now and then when there are no events, with the time since the run began.
    fn idle(&mut self, elapsed: Duration, page: &mut Page) {
        let _ = (elapsed, page);
    }
}

/// Tells why a command did not get to its run.
pub(crate) fn failure(failure: &Failure, json: bool, page: &mut Page) {
    page.err.push_str(&format!("{failure}\n"));
    if json {
        page.out.push_str(&json::failure_lines(failure));
    }
}

/// Tells everything that is wrong with the input.
pub(crate) fn problems(problems: &[Problem], json: bool, page: &mut Page) {
    for problem in problems {
        page.err.push_str(&format!("{problem}\n"));
        if let Some(hint) = &problem.hint {
            page.err.push_str(&format!("  {hint}\n"));
        }
    }
    if json {
        page.out.push_str(&json::problem_lines(problems));
    }
}

/// Tells which objects are left out of a run because they are invalid.
pub(crate) fn left_out(all: &[Problem], page: &mut Page) {
    problems(all, false, page);
    if !all.is_empty() {
        page.err.push_str("the run goes on without these objects\n");
    }
}
