//! A part of the objects, in any form.

use std::collections::HashSet;
use std::time::Duration;

use kubesettle::event::{Body, Event};
use kubesettle::id::ObjectId;

use super::{Page, Printer};
use crate::settings::Only;

/// Keeps from another form what is not to be shown.
pub(crate) struct Narrow {
    only: Only,
    /// Those whose last state was shown.
    shown: HashSet<ObjectId>,
    form: Box<dyn Printer>,
}

impl Narrow {
    /// The form itself, where all is shown.
    pub(crate) fn to(only: &Only, form: Box<dyn Printer>) -> Box<dyn Printer> {
        if only.is_all() {
            return form;
        }
        Box::new(Self { only: only.clone(), shown: HashSet::new(), form })
    }

    fn admits(&mut self, body: &Body) -> bool {
        match body {
            Body::Verdict { id, verdict } => {
                let shown = self.only.shows(id, verdict.status);
                let _ = if shown { self.shown.insert(id.clone()) } else { self.shown.remove(id) };
                shown
            }
            Body::Concluded { id, .. } => self.shown.contains(id),
            Body::Warning { id: Some(id), .. } => self.only.is_there(id),
            _ => true,
        }
    }
}

impl Printer for Narrow {
    fn event(&mut self, event: &Event, page: &mut Page) {
        if !self.admits(&event.body) {
            return;
        }
        if let Body::Waiting { awaited, total } = &event.body {
            let awaited: Vec<_> =
                awaited.iter().filter(|one| self.shown.contains(&one.id)).cloned().collect();
            if !awaited.is_empty() {
                let body = Body::Waiting { awaited, total: *total };
                self.form.event(&Event { body, ..event.clone() }, page);
            }
            return;
        }
        self.form.event(event, page);
    }

    fn idle(&mut self, elapsed: Duration, page: &mut Page) {
        self.form.idle(elapsed, page);
    }
}

#[cfg(test)]
mod tests {
    use kstatus::Status;
    use kubesettle::event::Operation;

    use super::super::Names;
    use super::super::fixtures::{Script, available, current, deployment, id, show};
    use super::*;

    #[test]
    fn only_what_is_asked_for_is_shown() {
        let (web, other) = (deployment("web"), id("", "ConfigMap", "other", "b"));
        let namespace = id("", "Namespace", "", "shop");
        let events = Script::new(Operation::Status, 3, 2)
            .settled(&namespace, current())
            .verdict(&web, available(1, 3))
            .settled(&other, current())
            .warning(&other, "odd")
            .end();
        let shown = |only: Only| {
            let page = show(Narrow::to(&only, Box::new(Names::default())).as_mut(), &events);
            (page.out, page.err)
        };
        let only = |namespaces: &[&str], statuses: &[Status]| Only {
            namespaces: namespaces.iter().map(|name| (*name).to_owned()).collect(),
            statuses: statuses.to_vec(),
        };
        let (all, warned) = shown(only(&[], &[]));
        assert_eq!(all, "namespace/shop\ndeployment.apps/web\nconfigmap/b\n");
        assert!(warned.contains("odd"));
        let there = "namespace/shop\ndeployment.apps/web\n";
        assert_eq!(shown(only(&["shop"], &[])), (there.to_owned(), String::new()));
        assert_eq!(shown(only(&[], &[Status::InProgress])).0, "deployment.apps/web\n");
        assert_eq!(shown(only(&["other"], &[Status::InProgress])).0, "");
    }
}
