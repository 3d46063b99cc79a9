//! What must be true after a run, looked up at the real server.

use std::collections::{BTreeMap, BTreeSet};

use kubesettle::error::ExitClass;
use kubesettle::event::{Action, Conclusion, Outcome};
use serde_json::Value;

use crate::direct::{BoxError, Direct};
use crate::mover::Moves;
use crate::phase::{SET, Step, Told};
use crate::schedule::Report;
use crate::set::{Set, key};

const MARK: &str = "config.k8s.io/owning-inventory";

/// Everything that is known after a run.
pub(crate) struct After<'a> {
    pub(crate) direct: &'a Direct,
    pub(crate) set: &'a Set,
    pub(crate) step: Step,
    /// What was wanted.
    pub(crate) objects: &'a [Value],
    pub(crate) told: &'a Told,
    pub(crate) moves: &'a Moves,
    pub(crate) report: &'a Report,
}

/// What the server has of the set.
struct Found {
    /// Live objects by key.
    live: BTreeMap<String, Value>,
    /// Keys of the record; `None` without one.
    record: Option<BTreeSet<String>>,
}

impl After<'_> {
    /// What is wrong, in words; nothing when all is well.
    pub(crate) async fn faults(&self) -> Result<Vec<String>, BoxError> {
        let found = self.look().await?;
        let mut wrong = Vec::new();
        self.ending(&mut wrong);
        self.accounts(&mut wrong);
        self.verdicts(&found, &mut wrong);
        record(&found, &mut wrong);
        if self.told.class == ExitClass::Ok {
            self.reached(&found, &mut wrong);
        }
        self.others(&mut wrong).await?;
        self.requests(&mut wrong);
        Ok(wrong)
    }

    async fn look(&self) -> Result<Found, BoxError> {
        let mut live = BTreeMap::new();
        for (key, path) in self.set.places() {
            let object = self.direct.get(&path).await?;
            if !object.is_null() {
                live.insert(key, object);
            }
        }
        let path = format!("/api/v1/namespaces/{}/configmaps/{SET}", self.set.home);
        let record = match self.direct.get(&path).await? {
            Value::Null => None,
            record => {
                let data = record["data"].as_object().cloned().unwrap_or_default();
                Some(data.into_iter().map(|(key, _)| key).collect())
            }
        };
        Ok(Found { live, record })
    }

    /// A run ends well, or there was a reason.
    fn ending(&self, wrong: &mut Vec<String>) {
        let told = self.told;
        let excused = !self.report.costly.is_empty() || self.moves.hurt;
        // A dead connection shows after 25 of the 30 seconds that a run waits for contact.
        let black_hole = self.report.faults.contains_key("black hole") && self.report.total() > 1;
        let excused = excused || (black_hole && told.class == ExitClass::Unknown);
        let no_contact = told.class == ExitClass::Unreachable && self.report.total() > 0;
        if told.class != ExitClass::Ok && !excused && !no_contact {
            wrong.push(format!("the run ended as {:?} without a reason: {}", told.class, told.message));
        }
        if matches!(told.class, ExitClass::Internal | ExitClass::Usage | ExitClass::Interrupted) {
            wrong.push(format!("the run ended as {:?}: {}", told.class, told.message));
        }
        if told.tasks_left > 0 {
            wrong.push(format!("{} tasks are left after the run", told.tasks_left));
        }
    }

    /// Every object is told of exactly once.
    fn accounts(&self, wrong: &mut Vec<String>) {
        let told = &self.told.objects;
        // Before its plan a run may end without a word on any object.
        if told.is_empty() && self.told.class != ExitClass::Ok {
            return;
        }
        for object in self.objects {
            let key = key(object);
            if !told.contains_key(&key) {
                wrong.push(format!("{key} is not told of"));
            }
        }
        for (key, said) in told {
            if said.conclusion.is_none() {
                wrong.push(format!("{key} has no conclusion"));
            }
            if said.finished != 1 {
                wrong.push(format!("{key} has {} outcomes", said.finished));
            }
        }
    }

    /// What was said to have settled has, and what was said to be gone is.
    fn verdicts(&self, found: &Found, wrong: &mut Vec<String>) {
        let wanted: BTreeMap<String, &Value> =
            self.objects.iter().map(|object| (key(object), object)).collect();
        for (key, said) in &self.told.objects {
            if said.conclusion != Some(Conclusion::Settled) || self.moves.touched.contains(key) {
                continue;
            }
            let live = found.live.get(key);
            match (said.action, live, wanted.get(key)) {
                (Some(Action::Apply), Some(live), Some(wanted)) => {
                    if let Err(why) = settled(live, wanted) {
                        wrong.push(format!("{key} was said to have settled: {why}"));
                    }
                }
                (Some(Action::Apply), None, _) => {
                    wrong.push(format!("{key} was said to have settled and does not exist"));
                }
                (Some(Action::Delete | Action::Prune), Some(_), _) => {
                    wrong.push(format!("{key} was said to be gone and exists"));
                }
                _ => {}
            }
        }
    }

    /// After success everything is as wanted.
    fn reached(&self, found: &Found, wrong: &mut Vec<String>) {
        let wanted: BTreeSet<String> = self.objects.iter().map(key).collect();
        let skipped = |key: &String| {
            let said = self.told.objects.get(key);
            said.is_some_and(|said| matches!(said.outcome, Some(Outcome::Skipped(_))))
        };
        for key in &wanted {
            if !found.live.contains_key(key) && !self.moves.touched.contains(key) && !skipped(key) {
                wrong.push(format!("{key} does not exist after success"));
            }
        }
        // An object that could not be looked at may go with its definition, and stay on record.
        let went = |key: &String| key.ends_with("_Thing") && !found.live.contains_key(key);
        let of_others = |key: &String| {
            let place = self.set.places().remove(key).unwrap_or_default();
            self.moves.foreign.contains_key(&place)
        };
        for key in found.live.keys().filter(|key| !wanted.contains(*key)) {
            if !of_others(key) {
                wrong.push(format!("{key} still exists after success"));
            }
        }
        match (&found.record, self.step) {
            // What somebody else has taken over stays on record, for a person to decide.
            (Some(record), Step::Destroy)
                if record
                    .iter()
                    .all(|key| of_others(key) || went(key) || self.moves.touched.contains(key)) => {}
            (Some(_), Step::Destroy) => wrong.push(String::from("the inventory is left after success")),
            (None, Step::Apply | Step::Change) => wrong.push(String::from("there is no inventory")),
            (Some(record), _) if *record != wanted => {
                wrong.push(format!("the inventory names {record:?} instead of {wanted:?}"));
            }
            _ => {}
        }
    }

    /// What belongs to others is as they left it.
    async fn others(&self, wrong: &mut Vec<String>) -> Result<(), BoxError> {
        for (path, uid) in &self.moves.foreign {
            let object = self.direct.get(path).await?;
            if object["metadata"]["uid"] != **uid {
                wrong.push(format!("{path} belonged to others and is gone or another"));
            }
        }
        Ok(())
    }

    /// The number of requests follows from objects, faults and time.
    fn requests(&self, wrong: &mut Vec<String>) {
        let objects = self.told.objects.len() as u64;
        let faults = self.report.total();
        let bound = 80 + 8 * objects + 16 * faults + 4 * self.told.time.as_secs();
        if self.report.requests > bound {
            wrong.push(format!(
                "{} requests for {objects} objects and {faults} faults: more than {bound}",
                self.report.requests
            ));
        }
    }
}

/// Every live object that carries our mark is in the record.
fn record(found: &Found, wrong: &mut Vec<String>) {
    let nothing = BTreeSet::new();
    let record = found.record.as_ref().unwrap_or(&nothing);
    for (key, object) in &found.live {
        if object["metadata"]["annotations"][MARK].is_string() && !record.contains(key) {
            wrong.push(format!("{key} carries our mark and is not in the inventory"));
        }
    }
}

/// The live object is what was wanted, and has come to rest.
fn settled(live: &Value, wanted: &Value) -> Result<(), String> {
    if !live["metadata"]["deletionTimestamp"].is_null() {
        return Err(String::from("it is being deleted"));
    }
    if live["metadata"]["annotations"][MARK].is_null() {
        return Err(String::from("it does not carry our mark"));
    }
    for part in ["data", "spec"] {
        if let Some(difference) = missing(&wanted[part], &live[part], part) {
            return Err(difference);
        }
    }
    if wanted["kind"] != "Deployment" {
        return Ok(());
    }
    let (meta, status) = (&live["metadata"], &live["status"]);
    let replicas = &live["spec"]["replicas"];
    let rest = status["observedGeneration"] == meta["generation"]
        && status["updatedReplicas"] == *replicas
        && status["availableReplicas"] == *replicas
        && status["replicas"] == *replicas;
    if rest { Ok(()) } else { Err(format!("generation {}, status {status}", meta["generation"])) }
}

/// The first thing wanted that is not so.
fn missing(wanted: &Value, live: &Value, path: &str) -> Option<String> {
    match (wanted, live) {
        (Value::Null, _) => None,
        (Value::Object(wanted), Value::Object(live)) => wanted.iter().find_map(|(name, value)| {
            missing(value, live.get(name).unwrap_or(&Value::Null), &format!("{path}.{name}"))
        }),
        (Value::Array(wanted), Value::Array(live)) if wanted.len() == live.len() => {
            wanted.iter().zip(live).find_map(|(wanted, live)| missing(wanted, live, &format!("{path}[]")))
        }
        _ if wanted == live => None,
        _ => Some(format!("{path} is {live} instead of {wanted}")),
    }
}
