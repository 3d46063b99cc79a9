//! `status --local`: verdicts on what a dump holds.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use kstatus::{Rulebook, Timestamp};
use kubesettle::dump::{Dump, DumpOptions, Judged, exit_class};
use kubesettle::error::ExitClass;
use kubesettle::event::{Body, Event, InDump, Summary, to_dump_line};
use kubesettle::manifest::Problem;

use super::{Stop, input};
use crate::args::Output;
use crate::exit::Failure;
use crate::print::out::Out;
use crate::print::{self, Events, Names, Page, Plain, PlainOptions, Printer};
use crate::settings::{Local, View};

/// A dump may be this large; everything of it is in memory.
const MAX_BYTES: u64 = 4 << 30;

/// Judges a dump.
pub(crate) fn run(local: &Local, view: View, out: &mut Out) -> Result<ExitClass, Stop> {
    let tables = if local.generic { Rulebook::habits_only() } else { Rulebook::default() };
    let options = DumpOptions {
        rulebook: tables.with_rules(input::rules(&local.rules)?),
        now: Some(now()),
        ..DumpOptions::default()
    };
    let sources = input::sources(&local.input, MAX_BYTES)?;
    let mut page = Page::default();
    let dump = match Dump::load(&sources, MAX_BYTES, &options) {
        Ok(dump) => dump,
        Err(error) => return Ok(refused(error.problems(), "nothing in it could be judged", &mut page, out)),
    };
    let mut judged = dump.judge(&options);
    judged.retain(|one| local.only.shows(one.object.id(), one.verdict.status));
    if judged.is_empty() {
        page.err.push_str(
            "no object of the input is in the namespaces and has the statuses that are asked for\n",
        );
    }
    let rules: Vec<Option<String>> = judged
        .iter()
        .map(|one| dump.rule(one.object).filter(|_| local.explain).map(|rule| rule.to_string()))
        .collect();
    let class = exit_class(judged.iter().map(|one| &one.verdict));
    if view.output == Output::Json {
        lines(&dump, &judged, &rules, &mut page);
    } else {
        let shown = Shown { dump: &dump, judged: &judged, rules: &rules, class };
        shown.print(view, out, &mut page);
    }
    for warning in dump.warnings() {
        page.err.push_str(&format!("warning: {warning}\n"));
    }
    if dump.passed_over() > 0 {
        let count = print::count(dump.passed_over(), "document");
        page.err.push_str(&format!("{count} in the folders passed over: not objects of Kubernetes\n"));
    }
    if dump.problems().is_empty() || local.skip_invalid {
        print::problems(dump.problems(), false, &mut page);
        out.write(&mut page);
        return Ok(class);
    }
    Ok(refused(
        dump.problems(),
        "the rest of it was judged (--skip-invalid makes that no error)",
        &mut page,
        out,
    ))
}

/// Standard output holds the lines of objects and nothing else, so this goes to standard error alone.
fn refused(problems: &[Problem], rest: &str, page: &mut Page, out: &mut Out) -> ExitClass {
    print::problems(problems, false, page);
    let count = print::count(problems.len(), "problem");
    let failure = Failure::usage(format!("{count} in the input; {rest}"));
    print::failure(&failure, false, page);
    out.write(page);
    failure.class()
}

/// Exactly one line per object, in the order of the input.
fn lines(dump: &Dump, judged: &[Judged<'_>], rules: &[Option<String>], page: &mut Page) {
    let all: Vec<&Judged<'_>> = judged.iter().collect();
    let events = dump.events(&all);
    let verdicts = events.iter().filter(|event| matches!(event.body, Body::Verdict { .. }));
    for (((one, event), rule), seq) in judged.iter().zip(verdicts).zip(rules).zip(0_u64..) {
        let place = one.object.place();
        let of =
            InDump { uid: one.object.uid(), file: place.file(), line: place.line(), rule: rule.as_deref() };
        let event = Event { seq, ..event.clone() };
        page.out.push_str(&to_dump_line(&event, one.object.id(), &one.verdict, &of));
        page.out.push('\n');
    }
}

/// What the forms for people show.
struct Shown<'a> {
    dump: &'a Dump,
    judged: &'a [Judged<'a>],
    rules: &'a [Option<String>],
    class: ExitClass,
}

impl Shown<'_> {
    /// Events of the cluster have no line of their own: they stand in the causes of others.
    fn print(&self, view: View, out: &Out, page: &mut Page) {
        let rows = self.judged.iter().zip(self.rules).filter(|(one, _)| !one.object.is_event());
        let (judged, rules): (Vec<_>, Vec<_>) = rows.unzip();
        let ids = judged.iter().map(|one| one.object.id());
        let mut printer: Box<dyn Printer> = match view.output {
            Output::Events => Box::new(Events::new(view.status_events)),
            Output::Name => Box::new(Names::default()),
            _ => Box::new(Plain::new(self.options(view, out), ids)),
        };
        let mut rules = rules.into_iter();
        let mut summary = Summary::new();
        let mut last = None;
        for event in self.dump.events(&judged) {
            summary.observe(&event);
            printer.event(&event, page);
            if let Body::Verdict { .. } = &event.body
                && let Some(Some(rule)) = rules.next()
                && view.output != Output::Name
            {
                page.out.push_str(&format!("          rule: {rule}\n"));
            }
            last = Some(event);
        }
        let Some(last) = last else { return };
        let end = Body::End { class: self.class, message: None };
        for (body, seq) in [Body::Summary(summary), end].into_iter().zip(last.seq + 1..) {
            printer.event(&Event { seq, body, ..last.clone() }, page);
        }
    }

    fn options(&self, view: View, out: &Out) -> PlainOptions {
        let place = |one: &Judged<'_>| (one.object.id().clone(), one.object.place().to_string());
        PlainOptions {
            palette: out.palette(),
            zone: TimeZone::system(),
            quiet: view.quiet,
            verbose: view.verbosity > 0,
            server: self.dump.clock().to_string(),
            kubectl: "kubectl".to_owned(),
            places: self.judged.iter().map(place).collect::<HashMap<_, _>>(),
        }
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
