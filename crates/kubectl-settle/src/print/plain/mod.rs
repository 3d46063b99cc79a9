//! The plain form: append-only lines for people and logs.
//!
//! Calm by three rules. What an action did is held back for a moment, so that an object that
//! settles at once has one line and not two. Mere progress of an object is told the more rarely the
//! more objects there are. The same is never said twice in a row.

mod clock;
mod memory;
mod report;
mod totals;

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use jiff::tz::TimeZone;
use kubesettle::error::ExitClass;
use kubesettle::event::{Action, Awaited, Body, Conclusion, Event, Operation, Start, Summary};
use kubesettle::id::ObjectId;

use super::columns::Columns;
use super::style::{Palette, Tone};
use super::text::{count, lines, listing, one_line};
use super::words::{self, Word};
use super::{Page, Printer};
use crate::duration;
use clock::Clock;
use memory::{Held, Memory};

/// How long what an action did is held back.
const HOLD: Duration = Duration::from_secs(1);
/// How long it takes until an object that has failed is told again, when it fails on in other words.
const STILL: Duration = Duration::from_secs(30);
/// How many awaited objects a reminder names.
const AWAITED_SHOWN: usize = 5;

/// What the plain form has to know beforehand.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) palette: Palette,
    pub(crate) zone: TimeZone,
    /// Only what goes wrong.
    pub(crate) quiet: bool,
    /// Every change of progress and every attempt.
    pub(crate) verbose: bool,
    /// The address of the cluster, for the head line; may be empty.
    pub(crate) server: String,
    /// `kubectl` with the flags that lead to the same cluster, for commands to try next.
    pub(crate) kubectl: String,
    /// Where each object stands in the input.
    pub(crate) places: HashMap<ObjectId, String>,
}

/// The plain form.
#[derive(Debug)]
pub(crate) struct Plain {
    options: Options,
    columns: Columns,
    clock: Clock,
    summary: Summary,
    memory: Memory,
    operation: Operation,
    rehearsed: bool,
    pace: Duration,
    namespaces: usize,
    warnings: HashMap<Box<str>, usize>,
}

impl Plain {
    /// For a run over these objects; others may turn up.
    pub(crate) fn new<'a>(options: Options, ids: impl IntoIterator<Item = &'a ObjectId>) -> Self {
        Self {
            columns: Columns::fit(ids),
            clock: Clock::new(options.zone.clone()),
            options,
            summary: Summary::new(),
            memory: Memory::default(),
            operation: Operation::Apply,
            rehearsed: false,
            pace: Duration::ZERO,
            namespaces: 0,
            warnings: HashMap::new(),
        }
    }

    fn start(&mut self, start: &Start, page: &mut Page) {
        self.operation = start.operation;
        self.rehearsed = start.dry_run.is_some();
        self.namespaces = start.namespaces;
        let objects = u32::try_from(start.objects).unwrap_or(u32::MAX);
        let pace = Duration::from_millis(100).saturating_mul(objects).min(Duration::from_secs(30));
        self.pace = if self.options.verbose { Duration::ZERO } else { pace };
        if self.options.quiet {
            return;
        }
        let verb = match (start.operation, start.dry_run) {
            (Operation::Apply, None) => "applying",
            (Operation::Destroy, None) => "destroying",
            (Operation::Apply, Some(_)) => "planning to apply",
            (Operation::Destroy, Some(_)) => "planning to destroy",
            (Operation::Status, _) => "looking at",
        };
        let mut head = match &start.set {
            // What the set has on record is not known yet.
            Some(set) if start.objects == 0 => format!("{verb} the set {}/{}", set.namespace(), set.name()),
            _ => format!("{verb} {}", count(start.objects, "object")),
        };
        if start.namespaces > 0 {
            head.push_str(&format!(" in {}", count(start.namespaces, "namespace")));
        }
        if !self.options.server.is_empty() {
            head.push_str(&format!(" at {}", one_line(&self.options.server)));
        }
        if let Some(how) = start.dry_run {
            head.push_str(&format!(" ({} dry run: nothing is written)", how.as_str()));
        }
        if let Some(set) = start.set.as_ref().filter(|_| start.objects > 0) {
            head.push_str(&format!(", tracked as {}/{}", set.namespace(), set.name()));
        }
        push(page, &self.options.palette.paint(Tone::Strong, &head));
    }

    /// Writes a line about an object, unless it said just that. What stood in the line before is
    /// not repeated whole.
    fn say(&mut self, id: &ObjectId, Word(word, tone): Word, message: &str, now: Now, page: &mut Page) {
        let again = self.memory.last_message(id) == Some(message);
        if !self.memory.is_news(id, word, message, now.elapsed) {
            return;
        }
        let loud = matches!(tone, Tone::Attention | Tone::Bad);
        if self.options.quiet && !loud {
            return;
        }
        let short = if again { self.cause_for(id, now) } else { None };
        let message = short.as_deref().unwrap_or(message);
        let palette = self.options.palette;
        self.columns.widen(id);
        let line = self.columns.line(id, word, message, |word| palette.paint(tone, word));
        self.stamped(now, &line, page);
    }

    /// `ImagePullBackOff for 1m00s`.
    fn cause_for(&self, id: &ObjectId, now: Now) -> Option<String> {
        let verdict = self.summary.get(id)?.verdict.as_ref()?;
        let cause = words::main_cause(verdict)?;
        Some(match cause.since {
            Some(since) => {
                format!("{} for {}", cause.code, duration::show(self.clock.passed(since, now.time)))
            }
            None => cause.code.to_string(),
        })
    }

    fn stamped(&self, now: Now, line: &str, page: &mut Page) {
        let time = self.options.palette.paint(Tone::Faint, &self.clock.time(now.time));
        push(page, &format!("{time}  {line}"));
    }

    /// Says what was held back about an object; progress behind it waits its own turn.
    fn release(&mut self, id: &ObjectId, now: Now, page: &mut Page) {
        let Some(held) = self.memory.take(id) else { return };
        self.say(id, held.word, &held.message, now, page);
        if let Some((word, message)) = held.then {
            self.memory.hold(id, Held::progress(word, message), now.elapsed + self.pace);
        }
    }

    fn release_due(&mut self, until: Duration, now: Now, page: &mut Page) {
        while let Some(id) = self.memory.due(until) {
            self.release(&id, now, page);
        }
    }

    fn finished(&mut self, id: &ObjectId, event: &Event, page: &mut Page) {
        let Body::Finished { action, outcome, .. } = &event.body else { return };
        let Some((word, message)) = words::outcome(*action, outcome) else { return };
        let now = Now::of(event);
        if message.is_empty() && matches!(word.1, Tone::Plain | Tone::Faint) {
            self.memory.hold(id, Held::act(word, message), event.elapsed + HOLD);
        } else {
            self.say(id, word, &message, now, page);
        }
    }

    fn verdict(&mut self, id: &ObjectId, event: &Event, page: &mut Page) {
        let Body::Verdict { verdict, .. } = &event.body else { return };
        let now = Now::of(event);
        let (word, message) = words::verdict(self.operation, verdict);
        if self.operation == Operation::Status {
            return self.say(id, word, &message, now, page);
        }
        // The end of the wait speaks for the wanted state.
        if word.1 == Tone::Good || (self.is_deleted(id) && word.0 == "not found") {
            return;
        }
        if word.1 == Tone::Bad && self.memory.last_word(id) == Some(word.0) && !self.options.verbose {
            let due = self.memory.last_said(id).map_or(event.elapsed, |at| at + STILL);
            self.memory.hold(id, Held::progress(word, message), due);
            return;
        }
        if !words::is_mere_progress(word, verdict) {
            if let Some(held) = self.memory.take(id).filter(|held| held.acted) {
                self.say(id, held.word, &held.message, now, page);
            }
            return self.say(id, word, &message, now, page);
        }
        let Some(progress) = self.memory.follow(id, Held::progress(word, message)) else { return };
        let due = self.memory.last_said(id).map_or(event.elapsed, |at| at + self.pace);
        self.memory.hold(id, progress, due);
        self.release_due(event.elapsed, now, page);
    }

    fn concluded(&mut self, id: &ObjectId, conclusion: &Conclusion, now: Now, page: &mut Page) {
        let held = self.memory.take(id);
        let acted = held.filter(|held| held.acted);
        let Some(word) = words::conclusion(self.operation, self.is_deleted(id), conclusion) else {
            if let Some(held) = acted {
                self.say(id, held.word, &held.message, now, page);
            }
            return;
        };
        if self.operation == Operation::Status && !matches!(conclusion, Conclusion::TimedOut) {
            return;
        }
        let verdict = self.summary.get(id).and_then(|object| object.verdict.as_ref());
        let detail = verdict.map(words::detail).unwrap_or_default();
        match acted {
            Some(held) if *conclusion == Conclusion::Settled => {
                self.say(id, held.word, word.0, now, page);
            }
            Some(held) => {
                self.say(id, held.word, &held.message, now, page);
                self.say(id, word, &detail, now, page);
            }
            None => self.say(id, word, &detail, now, page),
        }
    }

    fn is_deleted(&self, id: &ObjectId) -> bool {
        let last = self.summary.get(id).and_then(|object| object.outcomes.last());
        last.is_some_and(|(action, _)| *action != Action::Apply)
    }

    fn waiting(&mut self, awaited: &[Awaited], total: usize, now: Now, page: &mut Page) {
        self.release_due(Duration::MAX, now, page);
        if self.options.quiet {
            return;
        }
        let names = awaited.iter().map(|one| {
            let id = if self.namespaces > 1 { format!("{:#}", one.id) } else { one.id.to_string() };
            let what = one.verdict.as_ref().map_or_else(|| "not seen yet".to_owned(), words::short);
            format!("{id} ({what}, {})", duration::show(one.since))
        });
        let line = format!("waiting for {} of {total}: {}", awaited.len(), listing(names, AWAITED_SHOWN));
        self.stamped(now, &line, page);
    }

    /// A warning that came for many objects is told once, and counted.
    fn warning(&mut self, id: Option<&ObjectId>, message: &str, now: Now, page: &mut Page) {
        let times = self.warnings.entry(message.into()).or_default();
        *times += 1;
        if *times > 1 {
            return;
        }
        let (Word(word, tone), message) = (words::WARNING, one_line(message));
        let palette = self.options.palette;
        let line = match id {
            Some(id) => self.columns.line(id, word, &message, |word| palette.paint(tone, word)),
            None => format!("{}: {message}", palette.paint(tone, word)),
        };
        self.stamped(now, &line, page);
    }

    fn end(&mut self, event: &Event, page: &mut Page) {
        let Body::End { class, message } = &event.body else { return };
        let Some(message) = message else { return };
        // The first line is the sentence, those after it are what it is about.
        let message = lines(message).collect::<Vec<_>>().join("\n  ");
        match class {
            // The driver told it when it happened.
            ExitClass::Interrupted => {}
            ExitClass::Unreachable | ExitClass::Refused | ExitClass::Usage | ExitClass::Internal => {
                page.err.push_str(&format!("error: {message}\n"));
            }
            _ => push(page, &message),
        }
    }
}

/// The moment a line is about.
#[derive(Clone, Copy)]
struct Now {
    elapsed: Duration,
    time: SystemTime,
}

impl Now {
    fn of(event: &Event) -> Self {
        Self { elapsed: event.elapsed, time: event.time }
    }
}

fn push(page: &mut Page, line: &str) {
    page.out.push_str(line);
    page.out.push('\n');
}

impl Printer for Plain {
    fn event(&mut self, event: &Event, page: &mut Page) {
        self.clock.set(event.time, event.elapsed);
        self.summary.observe(event);
        let now = Now::of(event);
        self.release_due(event.elapsed, now, page);
        match &event.body {
            Body::Start(start) => self.start(start, page),
            Body::Invalid { objects, error } => {
                for id in objects {
                    self.say(id, words::INVALID, &one_line(error), now, page);
                }
            }
            Body::Started { id, action } if self.options.verbose => {
                self.say(id, words::STARTED, action.as_str(), now, page);
            }
            Body::Finished { id, .. } => self.finished(id, event, page),
            Body::Verdict { id, .. } => self.verdict(id, event, page),
            Body::Concluded { id, conclusion } => self.concluded(id, conclusion, now, page),
            Body::Waiting { awaited, total } => self.waiting(awaited, *total, now, page),
            Body::Warning { id, message, .. } => self.warning(id.as_ref(), message, now, page),
            Body::Gap { kind, namespace, reason } => {
                let text = words::gap(kind, namespace, reason);
                self.warning(None, &text, now, page);
            }
            Body::Retry { id, error, attempt, delay, .. } => {
                let mut message = one_line(&error.message);
                if self.options.verbose {
                    message = format!("{message} (attempt {attempt}, again in {delay:.1?})");
                }
                self.release(id, now, page);
                self.say(id, words::RETRYING, &message, now, page);
            }
            Body::Summary(_) => {
                self.release_due(Duration::MAX, now, page);
                report::write(self, page);
            }
            Body::End { .. } => self.end(event, page),
            _ => {}
        }
    }

    fn idle(&mut self, elapsed: Duration, page: &mut Page) {
        let now = Now { elapsed, time: self.clock.at(elapsed) };
        self.release_due(elapsed, now, page);
    }
}

#[cfg(test)]
mod tests;
