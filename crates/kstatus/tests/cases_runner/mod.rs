//! Runs a folder of status cases: an object, what belongs to it, and the right verdict.
//!
//! | key | meaning |
//! | --- | --- |
//! | `id` | equals the file name |
//! | `object` | the live object; `null`: it is not on the server |
//! | `related` | other live objects: descendants, StorageClasses, CRDs |
//! | `events` | type, reason, message of events about the object |
//! | `expect.status` | the right status |
//! | `expect.message_contains` | what the message must tell, case-sensitive |
//! | `expect.after_seconds` | the clock: seconds after the object's creation; else a late one |
#![allow(clippy::disallowed_methods, reason = "cases are files")]

use std::fmt;
use std::path::Path;

use kstatus::{Digest, EventNote, Facts, History, Policy, Surroundings, Timestamp, Verdict, assess, digest};
use serde_json::Value;

/// One case that did not come out right.
pub(crate) struct Failure {
    pub(crate) id: String,
    pub(crate) expected: String,
    pub(crate) got: String,
    pub(crate) message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, got {}: {}", self.id, self.expected, self.got, self.message)
    }
}

/// What a folder of cases came to.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) passed: usize,
    pub(crate) failures: Vec<Failure>,
}

impl fmt::Display for Report {
    /// One line per failure, then the total.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        write!(f, "{} passed, {} failed", self.passed, self.failures.len())
    }
}

/// Runs every `.yaml` file of a folder, in the order of their names.
///
/// # Errors
///
/// When the folder or a file cannot be read. A file that is no case is a failure of that case.
pub(crate) fn run(folder: &Path) -> std::io::Result<Report> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut report = Report::default();
    for path in paths {
        let text = std::fs::read_to_string(&path)?;
        let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        match check(&id.unwrap_or_default(), &text) {
            Ok(()) => report.passed += 1,
            Err(failure) => report.failures.push(failure),
        }
    }
    Ok(report)
}

fn check(id: &str, text: &str) -> Result<(), Failure> {
    let failure = |expected: &str, got: &str, message: String| Failure {
        id: id.to_owned(),
        expected: expected.to_owned(),
        got: got.to_owned(),
        message,
    };
    let case: Value =
        serde_saphyr::from_str(text).map_err(|error| failure("a case", "not YAML", error.to_string()))?;
    let status = case["expect"]["status"].as_str().unwrap_or("no expectation");
    let verdict = judge(&case);
    let needle = case["expect"]["message_contains"].as_str().unwrap_or("");
    if verdict.status.as_str() != status {
        return Err(failure(status, verdict.status.as_str(), verdict.message));
    }
    if !verdict.message.contains(needle) {
        return Err(failure(&format!("{needle:?} in the message"), status, verdict.message));
    }
    Ok(())
}

/// The verdict on a case, with everything the case tells.
pub(crate) fn judge(case: &Value) -> Verdict {
    let object = &case["object"];
    if object.is_null() {
        return Verdict::not_found();
    }
    let list = |key: &str| case[key].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut facts = Facts::default();
    let mut children: Vec<Digest> = Vec::new();
    for related in list("related") {
        let json = related.to_string();
        facts.learn(json.as_bytes());
        children.extend(digest(json.as_bytes()));
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().into();
    let events: Vec<_> = list("events")
        .iter()
        .map(|event| EventNote {
            about: None,
            warning: event["type"] == "Warning",
            reason: text(&event["reason"]),
            message: text(&event["message"]),
            last_seen: None,
        })
        .collect();
    let Ok(target) = digest(object.to_string().as_bytes()) else {
        return Verdict::unknown("the case holds no object");
    };
    let seconds = case["expect"]["after_seconds"].as_i64().unwrap_or(30 * 24 * 3600);
    let created = target.created().unwrap_or(Timestamp::from_seconds(1_735_689_600));
    let around = Surroundings {
        children: &children.iter().collect::<Vec<_>>(),
        events: &events,
        facts: &facts,
        now: created.checked_add_millis(seconds * 1000).unwrap_or(created),
        policy: &Policy::default(),
    };
    assess(&target, &around, &mut History::default())
}
