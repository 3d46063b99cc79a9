//! The language of the table of custom kinds: checks tried in order; the first that objects
//! decides, and when none does the object is current.

use std::borrow::Cow;

use super::habits;
use super::{Row, Telling, told_as};
use crate::outcome::Own;
use crate::read::Leaf;
use crate::text::clipped;
use crate::verdict::Status::{self, Current, Failed, InProgress};
use crate::view::{Condition, Conditions, View};

/// One check. Paths are dotted and begin with `spec` or `status`; `[]` after a name stands for
/// every entry of a list or map. `annotation NAME` is the value of an annotation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Check {
    /// Ends the checks with Current when the value at the path is this word: suspended, disabled.
    Stop(&'static str, &'static str, &'static str),
    /// Every one of these conditions is True and of the present generation.
    True(&'static [&'static str]),
    /// Those of these conditions that are there are True.
    TrueIfThere(&'static [&'static str]),
    /// One of these conditions is True.
    AnyTrue(&'static [&'static str]),
    /// None of these conditions is True.
    NotTrue(&'static [&'static str]),
    /// None of these conditions is True; else Failed.
    Fatal(&'static [&'static str]),
    /// None of these conditions is False; else Failed.
    FatalFalse(&'static [&'static str]),
    /// This condition has none of these reasons; else Failed.
    FatalReason(&'static str, &'static [&'static str]),
    /// This condition has one of these reasons.
    Reason(&'static str, &'static [&'static str]),
    /// This label has none of these values; else Failed.
    FatalLabel(&'static str, &'static [&'static str]),
    /// The generation at the path, if there, is the present one.
    Observes(&'static str),
    /// The value at the path is `have/want`, and enough.
    Fraction(&'static str),
    /// The value at the path is one of the first words; Failed when it is one of the second.
    Word(&'static str, &'static [&'static str], &'static [&'static str]),
    /// The same, unless there is no value.
    WordIfThere(&'static str, &'static [&'static str], &'static [&'static str]),
    /// The value at the path is none of these words.
    NotWord(&'static str, &'static [&'static str]),
    /// The sum of the numbers at the first path is at least that at the second, if there are any.
    Reaches(&'static str, &'static str),
    /// The values at both paths are there and the same, pair by pair.
    Same(&'static str, &'static str),
    /// The values at both paths are the same, if both are there.
    Agree(&'static str, &'static str),
    /// There is a value, and none is empty.
    Given(&'static str),
    /// There is none; else in progress, with the value.
    Empty(&'static str),
    /// There is none; else Failed, with the value.
    FatalGiven(&'static str),
    /// There is an entry at the path, and every entry that speaks of the present generation has
    /// these conditions, as far as they are there, True.
    Each(&'static str, &'static [&'static str]),
    /// The same, and every entry speaks of the present generation.
    Every(&'static str, &'static [&'static str]),
    /// What habit says about the rest.
    Habits,
}

/// The reason of an object whose checks a [`Check::Stop`] has ended.
pub(super) const STOPPED: &str = "Stopped";

/// How many stops stand at the beginning: those look at the wish, and need no status.
pub(super) fn leading_stops(checks: &[Check]) -> usize {
    checks.iter().take_while(|check| matches!(check, Check::Stop(..))).count()
}

/// The check that objected; behind `Habits` the row of habit.
pub(crate) type Objector = (&'static Check, Option<&'static Row>);

/// Runs the checks.
pub(super) fn run(checks: &'static [Check], view: &View<'_>) -> (Own, Option<Objector>) {
    for check in checks {
        if matches!(check, Check::Habits) {
            let (own, row) = habits::judge(view);
            if own.status() != Current {
                return (own, Some((check, row)));
            }
            continue;
        }
        if let Some((status, telling)) = objection(check, view) {
            let reason = match status {
                Failed => "Failed",
                Current => STOPPED,
                _ => "NotReady",
            };
            return (told_as(status, reason, telling), Some((check, None)));
        }
    }
    (told_as(Current, "ResourceReady", Telling::new("Resource is Ready")), None)
}

type Objection = Option<(Status, Telling)>;

fn objection(check: &Check, view: &View<'_>) -> Objection {
    let conditions = view.conditions();
    let waits = |condition: &Condition<'_>| (InProgress, habits::waits(condition));
    let fails = |condition: &Condition<'_>| (Failed, Telling::named(condition));
    match *check {
        Check::Stop(path, word, message) => {
            let stopped = values(view, path).iter().any(|value| is_word(*value, &[word]));
            stopped.then(|| (Current, Telling::new(message)))
        }
        Check::True(names) => names.iter().find_map(|name| not_true(conditions, name)),
        Check::TrueIfThere(names) => names
            .iter()
            .filter_map(|name| conditions.any_age(name))
            .find(|condition| !condition.is_true() || condition.stale)
            .map(waits),
        Check::AnyTrue(names) => {
            let good = names.iter().any(|name| conditions.holds(name).is_some());
            if good { None } else { names.iter().find_map(|name| not_true(conditions, name)) }
        }
        Check::NotTrue(names) => names
            .iter()
            .find_map(|name| conditions.alarm(name))
            .map(|condition| (InProgress, Telling::named(condition))),
        Check::Fatal(names) => names.iter().find_map(|name| conditions.alarm(name)).map(fails),
        Check::FatalFalse(names) => names.iter().find_map(|name| conditions.denies(name)).map(fails),
        Check::FatalReason(name, reasons) => conditions
            .get(name)
            .filter(|condition| reasons.iter().any(|reason| condition.reason_is(reason)))
            .map(fails),
        Check::Reason(name, reasons) => conditions
            .get(name)
            .filter(|condition| !reasons.iter().any(|reason| condition.reason_is(reason)))
            .map(waits),
        Check::FatalLabel(name, words) => {
            let value = view.labels.field(name);
            is_word(value, words).then(|| (Failed, says(view, name, value)))
        }
        Check::Observes(path) => {
            let (now, seen) = (view.generation?, sole(view, path).int()?);
            (now != seen).then(|| {
                let message = format!("generation is {now}, but {path} is {seen}");
                (InProgress, Telling::new(message).reason("LatestGenerationNotObserved"))
            })
        }
        Check::Fraction(path) => {
            let value = sole(view, path).text()?;
            let (have, want) = value.split_once('/')?;
            let (have, want) = (have.parse::<i64>().ok()?, want.parse::<i64>().ok()?);
            (have < want).then(|| {
                let message = format!("{path}: {have}/{want}");
                (InProgress, Telling::new(message).progress(have, want, "ready"))
            })
        }
        Check::Word(path, good, failed) => word(view, path, good, failed, true),
        Check::WordIfThere(path, good, failed) => word(view, path, good, failed, false),
        Check::NotWord(path, words) => values(view, path)
            .into_iter()
            .find(|value| is_word(*value, words))
            .map(|value| (InProgress, says(view, path, value))),
        Check::Reaches(have, want) => {
            let want = sum(view, want)?;
            let number = sum(view, have).unwrap_or(0);
            (number < want).then(|| {
                let message = format!("{have}: {number}/{want}");
                (InProgress, Telling::new(message).progress(number, want, "ready"))
            })
        }
        Check::Same(one, other) => {
            let [first, second] = [one, other].map(|path| values(view, path));
            let mut pairs = first.iter().zip(second.iter());
            let differ = |(a, b): &(&Leaf<'_>, &Leaf<'_>)| {
                let [a, b] = [**a, **b].map(|value| value.word().unwrap_or_default());
                a.is_empty() || a != b
            };
            pairs.find(differ).map(|(a, b)| {
                let [a, b] = [*a, *b].map(|value| value.word().unwrap_or_default());
                let message = format!("{one} ({a}) is not yet {other} ({b})");
                (InProgress, Telling::new(clipped(&message)))
            })
        }
        Check::Agree(one, other) => {
            let (a, b) = (sole(view, one).word()?, sole(view, other).word()?);
            (a != b).then(|| {
                let message = format!("{one} ({a}) is not yet {other} ({b})");
                (InProgress, Telling::new(clipped(&message)))
            })
        }
        Check::Given(path) => {
            let found = values(view, path);
            let given = !found.is_empty() && found.iter().all(|value| is_given(*value));
            (!given).then(|| (InProgress, Telling::new(format!("{path} is not reported yet"))))
        }
        Check::Empty(path) | Check::FatalGiven(path) => {
            let status = if matches!(check, Check::Empty(_)) { InProgress } else { Failed };
            values(view, path)
                .into_iter()
                .find(|value| is_given(*value))
                .map(|value| (status, says(view, path, value)))
        }
        Check::Each(path, names) => each(view, path, names, false),
        Check::Every(path, names) => each(view, path, names, true),
        Check::Habits => None,
    }
}

fn not_true(conditions: &Conditions<'_>, name: &str) -> Objection {
    match conditions.any_age(name) {
        Some(condition) if condition.is_true() && !condition.stale => None,
        Some(condition) => Some((InProgress, habits::waits(condition))),
        None => Some((InProgress, Telling::new(format!("Condition {name} is not reported yet")))),
    }
}

fn word(view: &View<'_>, path: &str, good: &[&str], failed: &[&str], needed: bool) -> Objection {
    let found = values(view, path);
    if !found.iter().any(|value| is_given(*value)) {
        let missing = || (InProgress, Telling::new(format!("{path} is not reported yet")));
        return needed.then(missing);
    }
    let bad = found.iter().find(|value| is_word(**value, failed));
    let waiting = || found.iter().find(|value| is_given(**value) && !is_word(**value, good));
    match bad {
        Some(value) => Some((Failed, says(view, path, *value))),
        None => waiting().map(|value| (InProgress, says(view, path, *value))),
    }
}

fn each(view: &View<'_>, path: &str, names: &[&str], all: bool) -> Objection {
    let mut spoke = false;
    let mut silent = false;
    for entry in values(view, path) {
        let conditions = Conditions::read(entry.field("conditions"), view.generation);
        let speaks = conditions.all().iter().any(|condition| !condition.stale);
        spoke |= speaks;
        silent |= !speaks;
        let against =
            names.iter().filter_map(|name| conditions.get(name)).find(|condition| !condition.is_true());
        if let Some(condition) = against {
            return Some((InProgress, Telling::named(condition)));
        }
    }
    let none = || Telling::new(format!("{path}: no conditions of the present generation"));
    (!spoke || (all && silent)).then(|| (InProgress, none().reason("ConditionNotObserved")))
}

/// `path is word: message`, with the message at the top of the status.
fn says(view: &View<'_>, path: &str, value: Leaf<'_>) -> Telling {
    let text = value.word().unwrap_or_else(|| Cow::Borrowed(value.raw().unwrap_or_default()));
    let text = crate::text::prefix(&text, 512);
    Telling::new(clipped(&format!("{path} is {text}{}", habits::top_message(view)))).reason(text)
}

fn is_word(value: Leaf<'_>, words: &[&str]) -> bool {
    value.word().is_some_and(|text| words.iter().any(|word| text.eq_ignore_ascii_case(word)))
}

fn is_given(value: Leaf<'_>) -> bool {
    value.raw().is_some_and(|text| !matches!(text, "\"\"" | "[]" | "{}"))
}

fn sum(view: &View<'_>, path: &str) -> Option<i64> {
    let numbers = values(view, path).into_iter().filter_map(Leaf::int);
    numbers.fold(None, |total, number| Some(total.unwrap_or(0_i64).saturating_add(number)))
}

fn sole<'a>(view: &View<'a>, path: &str) -> Leaf<'a> {
    values(view, path).into_iter().next().unwrap_or_default()
}

/// No path of the table leads to more values than a person would read.
const VALUES: usize = 256;

fn values<'a>(view: &View<'a>, path: &str) -> Vec<Leaf<'a>> {
    if let Some(name) = path.strip_prefix("annotation ") {
        return vec![view.annotations.field(name)];
    }
    let mut segments = path.split('.');
    let root = segments.next();
    let mut found: Option<Vec<Leaf<'a>>> = None;
    for segment in segments {
        let (name, every) = match segment.strip_suffix("[]") {
            Some(name) => (name, true),
            None => (segment, false),
        };
        let next: Vec<Leaf<'a>> = match found {
            None if root == Some("spec") => vec![view.spec().field(name)],
            None => vec![view.status.field(name)],
            Some(leaves) => leaves.into_iter().map(|leaf| leaf.field(name)).collect(),
        };
        found = Some(if every {
            next.into_iter().flat_map(|leaf| entries(leaf)).take(VALUES).collect()
        } else {
            next
        });
    }
    found.unwrap_or_default()
}

fn entries(leaf: Leaf<'_>) -> Vec<Leaf<'_>> {
    if leaf.is_list() { leaf.items() } else { leaf.entries().into_iter().map(|(_, value)| value).collect() }
}
