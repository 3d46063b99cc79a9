//! `-o name`: the names of objects on standard output, as kubectl prints them; what goes wrong, on standard
//! error.

use std::collections::HashSet;

use kstatus::Status;
use kubesettle::event::{Body, Conclusion, Event, Operation, Outcome, Summary};
use kubesettle::id::ObjectId;

use super::text::one_line;
use super::{Page, Printer, words};

/// A line for each object that something was done with; in a look, for each that is there.
#[derive(Debug, Default)]
pub(crate) struct Names {
    totals: Summary,
    told: HashSet<ObjectId>,
}

impl Names {
    fn name(&mut self, id: &ObjectId, page: &mut Page) {
        if self.told.insert(id.clone()) {
            page.out.push_str(&format!("{id}\n"));
        }
    }
}

/// How an object that was applied or deleted did not get to its end.
fn fell_short(conclusion: &Conclusion) -> Option<&'static str> {
    match conclusion {
        Conclusion::Failed => Some("failed"),
        Conclusion::TimedOut => Some("timed out"),
        Conclusion::Unknown => Some("unknown"),
        _ => None,
    }
}

impl Printer for Names {
    fn event(&mut self, event: &Event, page: &mut Page) {
        self.totals.observe(event);
        let looks = self.totals.operation() == Some(Operation::Status);
        match &event.body {
            Body::Finished { id, action, outcome } => match outcome {
                Outcome::Failed(_) | Outcome::Skipped(_) => {
                    if let Some((word, why)) = words::outcome(*action, outcome) {
                        page.err.push_str(&format!("{id:#} {}: {why}\n", word.0));
                    }
                }
                Outcome::Cancelled | Outcome::AlreadyGone => {}
                _ => self.name(id, page),
            },
            Body::Verdict { id, verdict } if looks && verdict.status != Status::NotFound => {
                self.name(id, page)
            }
            Body::Concluded { id, conclusion } if !looks => {
                if let Some(word) = fell_short(conclusion) {
                    let last = self.totals.get(id).and_then(|object| object.verdict.as_ref());
                    let why = last.map(|verdict| format!(": {}", one_line(&verdict.message)));
                    page.err.push_str(&format!("{id:#} {word}{}\n", why.unwrap_or_default()));
                }
            }
            Body::Warning { id, message, .. } => {
                let about = id.as_ref().map(|id| format!("{id:#}: ")).unwrap_or_default();
                page.err.push_str(&format!("warning: {about}{}\n", one_line(message)));
            }
            Body::Invalid { objects, error } => {
                let objects = super::text::listing(objects, usize::MAX);
                page.err.push_str(&format!("invalid: {objects}: {}\n", one_line(error)));
            }
            Body::End { message: Some(message), .. } => {
                page.err.push_str(&format!("{}\n", one_line(message)));
            }
            _ => {}
        }
    }
}
