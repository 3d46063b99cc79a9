//! From a disagreement to the rows that explain it.

use kstatus::{Facts, History, Policy, Rulebook, Surroundings, Timestamp, Verdict, assess};
use serde_json::Value;

use crate::go::{Answer, Oracle};
use crate::repair::REPAIRS;
use crate::rows::{ANNOTATION, KNOWN_KIND, Pair, ROWS};

/// What became of one object.
pub(crate) struct Comparison {
    pub(crate) ours: Verdict,
    pub(crate) differs: bool,
    /// The rows that explain the difference, in the order of the steps they stand for: from the Go
    /// library's verdict on the object as it is to ours.
    pub(crate) ids: Vec<&'static str>,
    pub(crate) problems: Vec<String>,
}

fn judge(book: &Rulebook, object: &Value, now: Timestamp) -> Verdict {
    let (facts, policy) = (Facts::default(), Policy::default());
    let digest = book.digest(object.to_string().as_bytes()).expect("an object");
    let around = Surroundings { children: &[], events: &[], facts: &facts, now, policy: &policy };
    assess(&digest, &around, &mut History::default())
}

/// An object that disagrees, on its way through the repairs.
struct Repaired<'a> {
    place: usize,
    object: &'a Value,
    /// After each repair that changed it.
    steps: Vec<(&'static str, Value)>,
}

/// Compares the two libraries on each of these objects.
pub(crate) fn compare(oracle: &mut Oracle, objects: &[Value], now: Timestamp) -> Vec<Comparison> {
    let answers = oracle.ask(objects);
    let mut comparisons: Vec<_> = objects
        .iter()
        .zip(&answers)
        .map(|(object, answer)| {
            let ours = judge(&Rulebook::default(), object, now);
            let differs = ours.status.as_str() != answer.status;
            Comparison { ours, differs, ids: Vec::new(), problems: Vec::new() }
        })
        .collect();
    let repaired: Vec<_> = comparisons
        .iter()
        .enumerate()
        .filter(|(_, comparison)| comparison.differs)
        .map(|(place, _)| repair(place, &objects[place]))
        .collect();
    let asked = oracle.ask(repaired.iter().flat_map(|one| one.steps.iter().map(|(_, object)| object)));
    let mut asked = asked.into_iter();
    for one in &repaired {
        let steps: Vec<_> = asked.by_ref().take(one.steps.len()).collect();
        explain(one, &answers[one.place], &steps, &mut comparisons[one.place], now);
    }
    comparisons
}

fn repair(place: usize, object: &Value) -> Repaired<'_> {
    let mut steps: Vec<(&'static str, Value)> = Vec::new();
    for repair in REPAIRS {
        let before = steps.last().map_or(object, |(_, object)| object);
        let mut after = before.clone();
        (repair.apply)(&mut after);
        if after != *before {
            steps.push((repair.id, after));
        }
    }
    Repaired { place, object, steps }
}

fn explain(one: &Repaired<'_>, raw: &Answer, steps: &[Answer], into: &mut Comparison, now: Timestamp) {
    let mut go = raw;
    for ((id, object), answer) in one.steps.iter().zip(steps) {
        if answer.status != go.status {
            into.ids.push(id);
        }
        go = answer;
        let silent = REPAIRS.iter().any(|repair| repair.id == *id && repair.silent);
        let before = judge(&Rulebook::default(), one.object, now).status;
        if silent
            && !one.steps.iter().any(|(id, _)| *id == "D-CONDITION-GENERATION")
            && judge(&Rulebook::default(), object, now).status != before
        {
            into.problems.push(format!("{id} changes our verdict {before} on {}", one.object));
        }
    }
    let read = one.steps.last().map_or(one.object, |(_, object)| object);

    // Our verdict without what the Go library knows nothing of.
    let mut plain = one.object.clone();
    if let Some(metadata) = plain["metadata"].as_object_mut() {
        metadata.remove("annotations");
    }
    let unasked = judge(&Rulebook::default(), &plain, now);
    let habits = judge(&Rulebook::habits_only(), &plain, now);
    if habits.status.as_str() != go.status {
        let pair = Pair { raw: one.object, object: read, go, ours: &habits };
        let ids: Vec<_> = ROWS.iter().filter(|row| (row.explains)(&pair)).map(|row| row.id).collect();
        match ids.as_slice() {
            [id] => into.ids.push(id),
            _ => into.problems.push(format!(
                "explained by {ids:?}: Go {} ({}: {}), ours {} ({}: {})\n    of {read}",
                go.status, go.reason, go.message, habits.status, habits.reason, habits.message
            )),
        }
    }
    if unasked.status != habits.status {
        into.ids.push(KNOWN_KIND);
    }
    if into.ours.status != unasked.status {
        into.ids.push(ANNOTATION);
    }
    if into.ids.is_empty() && into.problems.is_empty() {
        into.problems
            .push(format!("no row explains {} and {} of {}", raw.status, into.ours.status, one.object));
    }
}
