//! From sources to recorded objects.

use kstatus::{Facts, Timestamp};
use serde_json::{Map, Value};

use super::surroundings::Index;
use super::{Dump, DumpOptions, Recorded, clock};
use crate::id::{GroupKind, ObjectId};
use crate::manifest::stream::{self, Item};
use crate::manifest::{InputProblems, Problem, Source, compact, no_objects};
use crate::rules;

impl Dump {
    /// Reads everything. What cannot be read stands in [`problems`](Self::problems).
    ///
    /// # Errors
    ///
    /// When there is not a single object.
    pub fn load(sources: &[Source], max_bytes: u64, options: &DumpOptions) -> Result<Self, InputProblems> {
        let mut loader = Loader { options, objects: Vec::new(), problems: Vec::new(), passed_over: 0 };
        stream::each(sources, max_bytes, |item| loader.item(item));
        let Loader { mut objects, mut problems, passed_over, .. } = loader;
        if objects.is_empty() && problems.is_empty() {
            problems.push(no_objects(sources));
        }
        if objects.is_empty() {
            return Err(InputProblems::new(problems));
        }
        let described = objects.iter().map(|object| (&*object.json, &object.place));
        let (rules, warnings) = rules::of_definitions(described);
        let rulebook = options.rulebook.clone().with_rules(rules);
        for object in objects.iter_mut().filter(|object| object.typed) {
            object.digest = rulebook.digest(&object.json).ok();
        }
        let mut facts = Facts::default();
        for object in &objects {
            if matches!(object.id.kind(), "CustomResourceDefinition" | "StorageClass") {
                facts.learn(&object.json);
            }
        }
        let newest = objects.iter().filter_map(|object| object.newest).max();
        let clock = newest.or(options.now).unwrap_or(Timestamp::from_millis(0));
        let around = Index::of(&objects);
        Ok(Self { objects, problems, warnings, passed_over, clock, facts, around, rulebook })
    }
}

struct Loader<'o> {
    options: &'o DumpOptions,
    objects: Vec<Recorded>,
    problems: Vec<Problem>,
    passed_over: usize,
}

impl Loader<'_> {
    fn item(&mut self, item: Result<Item<'_>, Problem>) {
        let Item { value, origin, found } = match item {
            Ok(item) => item,
            Err(problem) => return self.problems.push(problem),
        };
        let place = origin.place;
        match value.map(unwrapped) {
            Ok(Value::Object(map)) if is_typed(&map) || !found => {
                self.objects.push(self.recorded(Value::Object(map), place));
            }
            Ok(Value::Object(_)) => self.passed_over += 1,
            Ok(_) if found => self.passed_over += 1,
            Ok(_) => self.problems.push(Problem::new(place, "is no object")),
            Err(message) => self.problems.push(Problem::new(place, message)),
        }
    }

    fn recorded(&self, value: Value, place: crate::manifest::Place) -> Recorded {
        let text = |path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let kind = GroupKind::from_api_version(text("/apiVersion"), text("/kind"));
        let lease = kind.is("coordination.k8s.io", "Lease");
        let id = ObjectId::new(kind, text("/metadata/namespace"), text("/metadata/name"));
        let typed = value.as_object().is_some_and(is_typed);
        let json = compact(&value);
        let newest = clock::newest(&json, lease, self.options.now);
        Recorded { id, json, place, newest, typed, digest: None }
    }
}

/// The object of a record, or the object itself.
fn unwrapped(value: Value) -> Value {
    match value {
        Value::Object(mut map) if !map.contains_key("kind") => match map.remove("object") {
            Some(object @ Value::Object(_)) => object,
            Some(other) => {
                map.insert("object".to_owned(), other);
                Value::Object(map)
            }
            None => Value::Object(map),
        },
        other => other,
    }
}

/// Whether it says what it is.
fn is_typed(map: &Map<String, Value>) -> bool {
    map.get("kind").and_then(Value::as_str).is_some_and(|kind| !kind.is_empty())
}
