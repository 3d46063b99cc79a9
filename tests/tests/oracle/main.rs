//! kstatus beside the Go library it succeeds: wherever the two disagree about an object, exactly one
//! row of `docs/differences.md` says why.
//!
//! An object of an odd shape, which the Go library misreads or refuses, is repaired step by step; each
//! step is a row of its own. What differs then is a matter of rules, and again of one row.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test says by a panic that it cannot go on, reads files and prints its totals"
)]

mod compare;
mod document;
mod generate;
mod go;
mod repair;
mod rows;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use compare::{Comparison, compare};
use kstatus::Timestamp;
use rows::{AROUND, Around};
use serde_json::Value;

#[path = "../../../crates/kstatus/tests/cases_runner/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "only the judge is needed here")]
mod cases_runner;

/// Objects made up for this test, and the seed they come from.
const GENERATED: usize = 20_000;
const SEED: u64 = 2;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Go library reads the clock, so both are asked about the present.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Timestamp::from_seconds(i64::try_from(since.as_secs()).unwrap())
}

/// The status cases: their names, and what stands in them.
fn cases() -> Vec<(String, Value)> {
    let folder = root().join("crates/kstatus/tests/cases");
    let mut cases: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, serde_saphyr::from_str(&text).unwrap())
        })
        .collect();
    cases.sort_by(|(one, _): &(String, Value), (other, _)| one.cmp(other));
    cases.retain(|(_, case)| !case["object"].is_null());
    cases
}

/// The object of a case, at the time the case speaks of.
fn object(case: &Value) -> Value {
    let mut object = case["object"].clone();
    if let Some(seconds) = case["expect"]["after_seconds"].as_i64() {
        let created = now().checked_add_millis(-seconds * 1000).unwrap();
        object["metadata"]["creationTimestamp"] = created.to_string().into();
    }
    object
}

/// Real states, one in a line: see `testing/recorded/README.md`.
fn recorded() -> Vec<Value> {
    let path = root().join("testing/recorded/states.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// How often each row explains something.
type Uses = BTreeMap<&'static str, usize>;

fn count(uses: &mut Uses, comparisons: &[Comparison], problems: &mut Vec<String>) -> usize {
    let mut differences = 0;
    for comparison in comparisons {
        differences += usize::from(comparison.differs);
        problems.extend(comparison.problems.iter().cloned());
        for id in &comparison.ids {
            *uses.entry(id).or_default() += 1;
        }
    }
    differences
}

#[test]
fn every_difference_is_one_row_of_the_table() {
    let mut oracle = go::Oracle::start();
    let (mut uses, mut problems) = (Uses::new(), Vec::new());

    let cases = cases();
    let objects: Vec<_> = cases.iter().map(|(_, case)| object(case)).collect();
    let compared = compare(&mut oracle, &objects, now());
    let of_cases = count(&mut uses, &compared, &mut problems);
    for ((name, case), alone) in cases.iter().zip(&compared) {
        if alone.differs {
            println!("{name}: {}", alone.ids.join(", "));
        }
        let among = cases_runner::judge(case);
        if among.status != alone.ours.status {
            let around = Around { case, alone: &alone.ours, among: &among };
            let ids: Vec<_> =
                AROUND.iter().filter(|(_, explains)| explains(&around)).map(|(id, _)| *id).collect();
            match ids.as_slice() {
                [id] => {
                    println!("{name}: {id}");
                    *uses.entry(id).or_default() += 1;
                }
                _ => problems.push(format!(
                    "{name}: alone {}, among what surrounds it {} ({}): {ids:?}",
                    alone.ours.status, among.status, among.message
                )),
            }
        }
    }

    let recorded = recorded();
    let compared = compare(&mut oracle, &recorded, now());
    let of_recorded = count(&mut uses, &compared, &mut problems);

    let dice = generate::Dice::new(SEED);
    let generated: Vec<_> = (0..GENERATED).map(|_| generate::object(&dice)).collect();
    let compared = compare(&mut oracle, &generated, now());
    let of_generated = count(&mut uses, &compared, &mut problems);

    let mut steps = BTreeMap::<usize, usize>::new();
    for one in compared.iter().filter(|one| one.differs) {
        *steps.entry(one.ids.len()).or_default() += 1;
    }
    println!("rows a difference takes: {steps:?}");
    println!("differences: {of_cases} of {} cases", cases.len());
    println!("             {of_recorded} of {} recorded states", recorded.len());
    println!("             {of_generated} of {} generated objects", generated.len());
    for (id, count) in &uses {
        println!("{count:>7} {id}");
    }
    let rows = document::status_rows(&root());
    problems.extend(uses.keys().filter(|id| !rows.contains(**id)).map(|id| format!("{id} has no row")));
    problems.extend(
        rows.iter().filter(|id| !uses.contains_key(id.as_str())).map(|id| format!("{id} explains nothing")),
    );
    let shown: Vec<_> = problems.iter().take(10).map(String::as_str).collect();
    assert!(problems.is_empty(), "{} problems, such as\n{}", problems.len(), shown.join("\n"));
}

#[test]
fn the_cases_say_rightly_what_the_go_library_answers() {
    let mut oracle = go::Oracle::start();
    let cases = cases();
    let objects: Vec<_> = cases.iter().map(|(_, case)| object(case)).collect();
    let answers = oracle.ask(&objects);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let wrong: Vec<_> = cases
        .iter()
        .zip(&answers)
        .filter(|((_, case), answer)| {
            let label =
                if case["cli_utils"].is_null() { &case["expect"]["status"] } else { &case["cli_utils"] };
            text(label) != answer.status
        })
        .map(|((name, _), answer)| format!("{name}: {}: {}", answer.status, answer.message))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_record_is_of_every_kind_and_holds_no_secret() {
    let recorded = recorded();
    assert!(recorded.len() >= 300, "{} states", recorded.len());
    for (version, kind) in generate::real_kinds() {
        let is = |state: &&Value| state["kind"] == kind && state["apiVersion"] == version;
        assert!(recorded.iter().any(|state| is(&state)), "{version} {kind}");
    }
    for state in &recorded {
        assert!(state["metadata"]["managedFields"].is_null(), "{state}");
        assert!(state["kind"] != "Secret" || state["data"].is_null(), "{state}");
    }
}

#[test]
fn the_table_leads_to_tests_that_are_there() {
    document::check(&root());
}
