//! What a run said in JSON.

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;

use harness::Finished;
use serde_json::Value;

/// The lines of one run, with the promises of their form checked.
///
/// Objects are named `Kind/name`, or `Kind/namespace/name` where a name alone is not enough.
#[derive(Debug)]
pub struct Lines {
    /// The program's end.
    pub done: Finished,
    lines: Vec<Value>,
}

impl Lines {
    /// Reads the output of a run.
    ///
    /// # Panics
    ///
    /// When it breaks a promise that holds for every run: see `docs/events.md`.
    #[track_caller]
    pub fn of(done: Finished) -> Self {
        let lines = done.stdout.lines().map(|line| match serde_json::from_str(line) {
            Ok(value @ Value::Object(_)) => value,
            _ => panic!("no JSON object: {line}\nstderr:\n{}", done.stderr),
        });
        let lines = Self { lines: lines.collect(), done };
        if let Err(broken) = lines.check() {
            panic!("{broken}\n{lines:#}");
        }
        lines
    }

    fn check(&self) -> Result<(), String> {
        let ensure = |holds: bool, what: &dyn Debug| match holds {
            true => Ok(()),
            false => Err(format!("a promise of the form is broken: {what:?}")),
        };
        for line in &self.lines {
            let time = text(line, "timestamp");
            ensure(time.len() == 20 && time.ends_with('Z') && time.contains('T'), line)?;
            ensure(!text(line, "type").is_empty(), line)?;
        }
        let end = self.lines.last().unwrap_or(&Value::Null);
        ensure(text(end, "type") == "end", end)?;
        ensure(end["exitCode"].as_i64() == self.done.code.map(i64::from), &(end, self.done.code))?;
        ensure(self.all("end").count() == 1, &"one end")?;
        if self.ran() {
            self.check_run().map_err(|what| format!("a promise of the form is broken: {what}"))?;
        }
        Ok(())
    }

    /// What holds when the command got to its run.
    fn check_run(&self) -> Result<(), String> {
        if text(&self.lines[0], "type") != "start" || self.all("start").count() != 1 {
            return Err("the first line, and no other, is the start".to_owned());
        }
        let numbers = |key: &str| self.lines.iter().map(|line| line[key].as_f64()).collect::<Vec<_>>();
        for key in ["seq", "elapsed"] {
            if numbers(key).iter().any(Option::is_none) || !numbers(key).is_sorted() {
                return Err(format!("{key} never decreases: {:?}", numbers(key)));
            }
        }
        let total = self.summary("Total");
        if self.planned().is_some_and(|count| count != number(&total["count"])) {
            return Err(format!("every object is counted: {total}"));
        }
        let mut results = HashSet::new();
        // Whether the wait for an object is over. What had settled may turn back.
        let mut over: HashMap<String, bool> = HashMap::new();
        for line in &self.lines {
            let (kind, status, id) = (text(line, "type"), text(line, "status"), id(line));
            let acts = ["apply", "delete", "prune"].contains(&kind);
            if acts && status != "Pending" && !results.insert((kind, id.clone())) {
                return Err(format!("two results of one {kind}: {line}"));
            }
            match (kind, status) {
                ("status", "Current") => {}
                ("status", _) | ("wait", "Pending") => drop(over.insert(id, false)),
                ("wait", _) if over.insert(id, true) == Some(true) => {
                    return Err(format!("two ends of one wait: {line}"));
                }
                _ => {}
            }
        }
        match over.values().filter(|over| **over).count() as u64 {
            count if count == number(&total["count"]) => Ok(()),
            count => Err(format!("{count} objects have an end of their wait: {total}")),
        }
    }

    /// How many objects the run is about: those of the input, and in a tracked set those of its plan.
    /// None of a tracked set that did not get to its plan.
    fn planned(&self) -> Option<u64> {
        match self.all("plan").last() {
            Some(plan) => {
                Some(["apply", "prune", "delete", "skip"].map(|key| number(&plan[key])).iter().sum())
            }
            None if self.start()["set"].is_null() => Some(number(&self.start()["objects"])),
            None => None,
        }
    }

    /// Whether the command got to its run.
    pub fn ran(&self) -> bool {
        self.lines.first().is_some_and(|line| text(line, "type") == "start")
    }

    /// Checks the exit code.
    ///
    /// # Panics
    ///
    /// When it differs, with everything that was said.
    #[track_caller]
    pub fn exits_with(&self, code: i32) -> &Self {
        self.done.exits_with(code);
        self
    }

    /// The lines of one type.
    pub fn all(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.lines.iter().filter(move |line| text(line, "type") == kind)
    }

    /// The lines of one type about one object.
    pub fn about(&self, kind: &str, object: &str) -> impl Iterator<Item = &Value> {
        self.all(kind).filter(move |line| is(line, object))
    }

    /// The first line.
    pub fn start(&self) -> &Value {
        &self.lines[0]
    }

    /// What an action on an object came to: `created`, `unchanged`, `deleted`, `skipped`, …; empty
    /// when there was none.
    pub fn outcome(&self, object: &str) -> &str {
        self.result(object).map_or("", |line| text(line, "operation"))
    }

    /// The result of the action on an object.
    pub fn result(&self, object: &str) -> Option<&Value> {
        let acts = |line: &&Value| ["apply", "delete", "prune"].contains(&text(line, "type"));
        self.lines.iter().filter(acts).find(|line| text(line, "status") != "Pending" && is(line, object))
    }

    /// How the action on an object failed: its code and its message.
    ///
    /// # Panics
    ///
    /// When it did not.
    #[track_caller]
    pub fn failure(&self, object: &str) -> (&str, &str) {
        match self.result(object) {
            Some(line) if text(line, "operation") == "failed" => (text(line, "code"), text(line, "error")),
            other => panic!("{object} did not fail: {other:?}\n{self:#}"),
        }
    }

    /// How the wait for an object ended: `Settled`, `Failed`, `TimedOut`, …
    pub fn conclusion(&self, object: &str) -> &str {
        self.about("wait", object)
            .filter(|line| text(line, "status") != "Pending")
            .last()
            .map_or("", |line| text(line, "conclusion"))
    }

    /// The last that was said of an object's state.
    pub fn last_status(&self, object: &str) -> &Value {
        self.about("status", object).last().unwrap_or(&Value::Null)
    }

    /// The last word on an object's state: `Current`, `InProgress`, …
    pub fn status(&self, object: &str) -> &str {
        text(self.last_status(object), "status")
    }

    /// The last sentence on an object's state.
    pub fn message(&self, object: &str) -> &str {
        text(self.last_status(object), "message")
    }

    /// The totals of an action, `Wait` or `Total`.
    ///
    /// # Panics
    ///
    /// When there are none, or more than one.
    #[track_caller]
    pub fn summary(&self, action: &str) -> &Value {
        let found: Vec<_> = self.all("summary").filter(|line| text(line, "action") == action).collect();
        assert_eq!(found.len(), 1, "totals of {action}\n{self:#}");
        found[0]
    }

    /// Checks that every object of the run has settled (or is gone, after a destroy), and that the
    /// exit code says so; returns how many there are.
    #[track_caller]
    pub fn all_settled(&self) -> u64 {
        self.exits_with(0);
        let total = self.summary("Total");
        assert_eq!(total["successful"], total["count"], "{self:#}");
        number(&total["count"])
    }

    /// Checks that one line of a type stands before one of another; both about objects, both the
    /// first of their status.
    #[track_caller]
    pub fn in_order(&self, first: (&str, &str, &str), then: (&str, &str, &str)) {
        let place = |(kind, object, status): (&str, &str, &str)| {
            let found = self.lines.iter().position(|line| {
                text(line, "type") == kind && text(line, "status") == status && is(line, object)
            });
            found.unwrap_or_else(|| panic!("no {kind} line about {object} with {status}\n{self:#}"))
        };
        assert!(place(first) < place(then), "{first:?} before {then:?}\n{self:#}");
    }
}

/// Everything that was said, for a failed assertion.
impl std::fmt::Display for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\nstderr:\n{}", self.done.stdout, self.done.stderr)
    }
}

/// A key's text; empty when it has none.
fn text<'a>(line: &'a Value, key: &str) -> &'a str {
    line[key].as_str().unwrap_or_default()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(u64::MAX)
}

fn id(line: &Value) -> String {
    let part = |key| text(line, key);
    format!("{}.{}/{}/{}", part("kind"), part("group"), part("namespace"), part("name"))
}

fn is(line: &Value, object: &str) -> bool {
    let parts: Vec<_> = object.split('/').collect();
    let (kind, namespace, name) = match parts.as_slice() {
        [kind, name] => (kind, None, name),
        [kind, namespace, name] => (kind, Some(namespace), name),
        _ => panic!("{object} is neither Kind/name nor Kind/namespace/name"),
    };
    text(line, "kind") == *kind
        && text(line, "name") == *name
        && namespace.is_none_or(|namespace| text(line, "namespace") == *namespace)
}
