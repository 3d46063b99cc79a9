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

#[cfg(test)]
mod tests {
    use kubesettle::error::ErrorClass;

    use super::super::fixtures::{
        Script, available, config_map, current, deployment, refused, show, verdict,
    };
    use super::*;

    #[test]
    fn an_apply_prints_what_was_written_and_beside_it_what_was_not() {
        let (web, a, b) = (deployment("web"), config_map("a"), config_map("b"));
        let events = Script::new(Operation::Apply, 3, 1)
            .applied(&web, Outcome::Created)
            .applied(&a, Outcome::Unchanged)
            .applied(&b, refused(ErrorClass::Denied, "no"))
            .verdict(&web, available(1, 3))
            .concluded(&web, Conclusion::TimedOut)
            .settled(&a, current())
            .end();
        let page = show(&mut Names::default(), &events);
        assert_eq!(page.out, "deployment.apps/web\nconfigmap/a\n");
        assert_eq!(
            page.err,
            "configmap/b in shop failed: no\ndeployment.apps/web in shop timed out: Available: 1/3\n"
        );
    }

    #[test]
    fn a_look_prints_what_is_there_once() {
        let (web, gone) = (deployment("web"), config_map("gone"));
        let events = Script::new(Operation::Status, 2, 1)
            .verdict(&web, available(1, 3))
            .verdict(&web, available(3, 3))
            .verdict(&gone, verdict(Status::NotFound, "Resource not found"))
            .end();
        assert_eq!(show(&mut Names::default(), &events).out, "deployment.apps/web\n");
    }
}
