use std::fmt::Write as _;

use super::checks::Check;
use super::ecosystems::{SPEAKING_GROUPS, Silence, TABLE};
use super::words::{CONDITIONS, STATES, Sense, Word};
use super::{FAMILIES, GroupKind, Row, containers, events, generic, habits, kinds};
use crate::policy::{DEFAULT_HOLDS, Hold};

/// All rules as a Markdown document, written from the very tables that judge.
pub fn rules_as_markdown() -> String {
    let mut page = String::new();
    page.push_str(INTRODUCTION);
    page.push_str("\n## Every kind\n\n");
    rows(&mut page, generic::ROWS);
    page.push_str("\n## Kinds of Kubernetes\n");
    for family in FAMILIES {
        let names: Vec<_> = family.kinds.iter().map(group_kind).collect();
        let _ = write!(page, "\n### {}\n\n", names.join(", "));
        let all: Vec<&Row> = family.rows.iter().flat_map(|rows| rows.iter()).collect();
        head(&mut page);
        for row in &all {
            line(&mut page, row);
        }
        if all.last().is_none_or(|row| !row.when.starts_with("otherwise")) {
            let last = &family.otherwise;
            let _ = writeln!(page, "| otherwise | {} | {} | |", last.status, last.reason);
        }
    }
    page.push_str("\n### Kinds without a status\n\nTo exist is to be Current, and metadata is all a watch has to ask for:\n\n");
    for kind in kinds::STATUSLESS {
        let _ = writeln!(page, "- {}", group_kind(kind));
    }
    causes(&mut page);
    custom_kinds(&mut page);
    page.push_str("\n## Habits\n\nCustom kinds that are in no table.\n\n");
    rows(&mut page, habits::ROWS);
    words(&mut page);
    page
}

const INTRODUCTION: &str = "# How a status is found\n\n\
This page is written from the tables of the `kstatus` crate by its tests; it cannot be out of date.\n\n\
Rows are tried from the top; the first that applies decides. `from` names the Go library kstatus, the API reference, an enhancement, or the public report that shows why. Conditions may be a list or a map, \
their status a word in any case or a boolean; their types are compared exactly, then without regard \
to case. A condition whose `observedGeneration` is below the object's counts as not there. Of \
several conditions of one type the newest counts, at the same time the worst. Malformed entries are \
left out.\n\n\
An object may ask for its own judgement in annotations:\n\n\
| annotation | value | meaning |\n| --- | --- | --- |\n\
| `kubesettle.io/hold` | `CODE=DURATION`, several separated by commas | another hold for a cause; a duration as Go writes it (`90s`, `1m30s`, `0`), or `never` |\n\
| `kubesettle.io/ready-when` | `exists` | Current as soon as it is there |\n\
| | `started` | a Job is Current when it runs |\n\
| | `address` | an Ingress is Current when it has an address |\n";

fn group_kind((group, kind): &GroupKind) -> String {
    if group.is_empty() { (*kind).to_owned() } else { format!("{kind}.{group}") }
}

fn head(page: &mut String) {
    page.push_str("| when | status | reason | from |\n| --- | --- | --- | --- |\n");
}

fn rows(page: &mut String, rows: &[Row]) {
    head(page);
    for row in rows {
        line(page, row);
    }
}

fn line(page: &mut String, row: &Row) {
    let _ = writeln!(page, "| {} | {} | {} | {} |", row.when, row.status, row.reason, row.source);
}

fn causes(page: &mut String) {
    page.push_str(
        "\n## Causes and holds\n\n\
         A cause keeps the status at InProgress, and its message is shown, until its hold ends. A \
         hold begins anew when the object or the failing pod makes progress.\n\n\
         | cause | found in | hold before Failed |\n| --- | --- | --- |\n",
    );
    for row in DEFAULT_HOLDS {
        let hold = match row.hold {
            Hold::Never => "never alone".to_owned(),
            Hold::Millis(0) => "none".to_owned(),
            Hold::Millis(millis) => format!("{} s", millis / 1000),
            Hold::Restarts(count) => format!("{count} restarts without ever being ready"),
        };
        let _ = writeln!(page, "| {} | {} | {hold} |", row.code, row.found);
    }
    page.push_str("\n| reason of a waiting container | cause |\n| --- | --- |\n");
    for (reason, code) in containers::WAITING {
        let _ = writeln!(page, "| {reason} | {code} |");
    }
    page.push_str("\n| reason of a warning event | cause |\n| --- | --- |\n");
    for (reason, code) in events::REASONS {
        let _ = writeln!(page, "| {reason} | {code} |");
    }
    page.push_str("\n| words in a refused creation | cause |\n| --- | --- |\n");
    for (words, code) in events::REFUSALS {
        let _ = writeln!(page, "| {words} | {code} |");
    }
}

fn custom_kinds(page: &mut String) {
    page.push_str(
        "\n## Custom kinds\n\n\
         Checks are made from left to right; the first that objects decides, and when none does the \
         object is Current. `[]` stands for every entry. `habits`: see below.\n\n\
         | kinds | without a status | checks |\n| --- | --- | --- |\n",
    );
    for known in TABLE {
        let silence = match known.silence {
            Silence::Wait => "InProgress",
            Silence::Fine => "Current",
        };
        let checks: Vec<_> = known.checks.iter().map(check).collect();
        let kinds = if known.kinds == "*" { "all others" } else { known.kinds };
        let _ = writeln!(page, "| {kinds} of `{}` | {silence} | {} |", known.group, checks.join("; "));
    }
    page.push_str("\nKinds of these groups always report a status and are judged by habits:\n\n");
    for group in SPEAKING_GROUPS {
        let _ = writeln!(page, "- {group}");
    }
}

fn list(words: &[&str]) -> String {
    words.join(", ")
}

pub(super) fn check(check: &Check) -> String {
    let failed = |words: &[&str]| {
        if words.is_empty() { String::new() } else { format!(", Failed when {}", list(words)) }
    };
    match *check {
        Check::Stop(path, word, _) => format!("Current when `{path}` is {word}"),
        Check::True(names) => format!("True: {}", list(names)),
        Check::TrueIfThere(names) => format!("True if there: {}", list(names)),
        Check::AnyTrue(names) => format!("one True of: {}", list(names)),
        Check::NotTrue(names) => format!("not True: {}", list(names)),
        Check::Fatal(names) => format!("Failed when True: {}", list(names)),
        Check::FatalFalse(names) => format!("Failed when False: {}", list(names)),
        Check::FatalReason(name, reasons) => format!("Failed when the reason of {name} is {}", list(reasons)),
        Check::Reason(name, reasons) => format!("the reason of {name} is {}", list(reasons)),
        Check::FatalLabel(name, words) => format!("Failed when label `{name}` is {}", list(words)),
        Check::Observes(path) => format!("`{path}` is the generation"),
        Check::Fraction(path) => format!("`{path}` is complete"),
        Check::Word(path, good, bad) => format!("`{path}` is {}{}", list(good), failed(bad)),
        Check::WordIfThere(path, good, bad) => {
            format!("`{path}` if there is {}{}", list(good), failed(bad))
        }
        Check::NotWord(path, words) => format!("`{path}` is not {}", list(words)),
        Check::Reaches(have, want) => format!("`{have}` reaches `{want}`"),
        Check::Same(one, other) => format!("`{one}` is `{other}`"),
        Check::Agree(one, other) => format!("`{one}` is `{other}` if both are there"),
        Check::Given(path) => format!("`{path}` is there"),
        Check::Empty(path) => format!("`{path}` is empty"),
        Check::FatalGiven(path) => format!("Failed when `{path}` is there"),
        Check::Each(path, names) => {
            format!("each of `{path}` of this generation, and one at least: True if there: {}", list(names))
        }
        Check::Every(path, names) => {
            format!("every one of `{path}` is of this generation: True if there: {}", list(names))
        }
        Check::Habits => "habits".to_owned(),
    }
}

fn words(page: &mut String) {
    page.push_str("\n### Words for states\n\n");
    let meanings = [
        (Word::Good, "settled"),
        (Word::Running, "settled, or under way for kinds that run to completion"),
        (Word::Waiting, "in progress"),
        (Word::Failed, "failed"),
    ];
    for (meaning, says) in meanings {
        let words: Vec<_> = STATES.iter().filter(|(_, of)| *of == meaning).map(|(word, _)| *word).collect();
        let _ = writeln!(page, "- {says}: {}", list(&words));
    }
    page.push_str("\n### Names of conditions\n\n");
    let senses = [
        (Sense::Good, "True is wanted"),
        (Sense::Asked, "True is wanted, also beside `Ready`"),
        (Sense::Fatal, "True is a final failure"),
        (Sense::Bad, "True is a fault"),
        (Sense::Busy, "True is an activity"),
        (Sense::Neutral, "neither"),
    ];
    for (sense, says) in senses {
        let names: Vec<_> = CONDITIONS.iter().filter(|(_, of)| *of == sense).map(|(name, _)| *name).collect();
        let _ = writeln!(page, "- {says}: {}", list(&names));
    }
}
