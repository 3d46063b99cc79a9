//! One tree into an [`Object`]: its header checked, dumps cleaned, facts noted.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::annotations;
use super::crd;
use super::extract;
use super::locate::{self, Step};
use super::mutate;
use super::object::{APPLY_TIME_MUTATION, Facts, INVENTORY_ID, Object, Pairs, Scope, compact};
use super::problem::{Place, Problem};
use crate::id::{GroupKind, ObjectId};

/// Where a tree comes from, to find the lines of its fields when they are needed.
pub(crate) struct Origin<'a> {
    /// The object's own line.
    pub(crate) place: Place,
    pub(super) on_disk: bool,
    /// The document around it.
    pub(super) text: &'a str,
    pub(super) first_line: u32,
    /// The way to it when the document is a list.
    pub(super) indices: Vec<usize>,
}

impl Origin<'_> {
    /// The place of a field, or of the object when the field is not written out.
    pub(crate) fn at(&self, path: &str) -> Place {
        let line = self.line_of(path);
        line.map_or_else(|| self.place.clone(), |line| self.place.at_line(line))
    }

    pub(super) fn line_of(&self, path: &str) -> Option<u32> {
        let to_item = |&index: &usize| [Step::Key("items".into()), Step::Index(index)];
        let mut steps: Vec<Step> = self.indices.iter().flat_map(to_item).collect();
        steps.extend(locate::steps(path));
        locate::field(self.text, &steps).map(|line| self.first_line + line - 1)
    }
}

/// A good object and what was put right in it.
pub(super) struct Checked {
    pub(super) object: Object,
    pub(super) warning: Option<Problem>,
}

/// `None`: the object is not meant for a cluster.
pub(super) fn check(value: Value, origin: &Origin<'_>) -> Result<Option<Checked>, Vec<Problem>> {
    let mut body = value;
    if !body.is_object() {
        let problem = Problem::new(origin.place.clone(), format!("is {}, not an object", kind_of(&body)));
        let hint = "each document holds one object: a mapping with apiVersion, kind and metadata";
        return Err(vec![problem.hint(hint)]);
    }
    if is_local(&body) {
        return Ok(None);
    }
    if let Some(problem) = kustomization(&body, origin) {
        return Err(vec![problem]);
    }
    let header = Header::read(&body, origin)?;
    let id = header.id();
    let warning = clean(&mut body).map(|message| Problem::new(origin.place.clone(), message).about(&id));
    let facts = facts(&id, &body, origin)?;
    let wrong = mutate::problems(&facts.substitutions, &body);
    if !wrong.is_empty() {
        // To look for a line reads the document once more, so only when there is something to say.
        let place = origin.at(&format!("metadata.annotations[{APPLY_TIME_MUTATION:?}]"));
        let texts = wrong.into_iter().map(|message| format!("annotation {APPLY_TIME_MUTATION}: {message}"));
        return Err(texts.map(|message| Problem::new(place.clone(), message).about(&id)).collect());
    }
    let object = Object {
        id,
        api_version: header.api_version,
        json: compact(&body),
        place: origin.place.clone(),
        on_disk: origin.on_disk,
        scope: Scope::Unknown,
        facts: Arc::new(facts),
    };
    Ok(Some(Checked { object, warning }))
}

/// The same for what a cluster answered: nothing is cleaned, and the namespace is known.
pub(super) fn live(json: &[u8]) -> Result<Object, Vec<Problem>> {
    let origin = Origin {
        place: Place::new("cluster", 0),
        on_disk: false,
        text: "",
        first_line: 1,
        indices: Vec::new(),
    };
    let unreadable = |_| vec![Problem::new(origin.place.clone(), "not an object")];
    let body: Value = serde_json::from_slice(json).map_err(unreadable)?;
    let header = Header::read(&body, &origin)?;
    let id = header.id();
    let facts = facts(&id, &body, &origin)?;
    let scope = if id.namespace().is_empty() { Scope::Cluster } else { Scope::Namespaced };
    Ok(Object {
        id,
        api_version: header.api_version,
        json: json.to_vec().into(),
        place: origin.place,
        on_disk: false,
        scope,
        facts: Arc::new(facts),
    })
}

fn facts(id: &ObjectId, body: &Value, origin: &Origin<'_>) -> Result<Facts, Vec<Problem>> {
    let mut problems = Vec::new();
    for field in ["labels", "annotations"] {
        problems.extend(text_values(body, field, origin));
    }
    let annotation =
        |key| metadata(body).and_then(|metadata| metadata.get("annotations")?.get(key)?.as_str());
    let (depends_on, wrong) = annotations::depends_on(annotation, origin);
    problems.extend(wrong);
    let (substitutions, wrong) = annotations::substitutions(annotation, origin);
    problems.extend(wrong);
    if !problems.is_empty() {
        problems.sort_by_key(|problem| problem.place.line());
        return Err(problems.into_iter().map(|problem| problem.about(id)).collect());
    }
    Ok(Facts {
        labels: pairs(body, "labels", |key| LABELS.contains(&key)),
        annotations: pairs(body, "annotations", |key| ANNOTATION_PREFIXES.iter().any(|p| key.starts_with(p))),
        depends_on,
        substitutions,
        references: extract::references(id.group_kind(), body),
        crd: crd::facts(id.group_kind(), body).map(Box::new),
    })
}

/// The labels that later steps ask for.
const LABELS: [&str; 3] = [INVENTORY_ID, "applyset.kubernetes.io/part-of", "applyset.kubernetes.io/id"];

/// Annotations that later steps ask for start with one of these.
const ANNOTATION_PREFIXES: [&str; 7] = [
    "applyset.kubernetes.io/",
    "cli-utils.sigs.k8s.io/",
    "client.lifecycle.config.k8s.io/",
    "config.k8s.io/",
    "config.kubernetes.io/",
    "kstatus.io/",
    "kubesettle.io/",
];

/// What names an object.
struct Header {
    api_version: Arc<str>,
    kind: String,
    namespace: String,
    name: String,
}

impl Header {
    fn id(&self) -> ObjectId {
        let kind = GroupKind::from_api_version(&self.api_version, &self.kind);
        ObjectId::new(kind, &self.namespace, &self.name)
    }

    fn read(body: &Value, origin: &Origin<'_>) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut text = |path: &'static str, value: Option<&Value>| match value {
            Some(Value::String(text)) => Some(text.clone()).filter(|text| !text.is_empty()),
            Some(Value::Null) | None => None,
            Some(other) => {
                let message = format!("{path} must be a string, not {}", kind_of(other));
                problems.push(Problem::new(origin.at(path), message));
                Some(String::new())
            }
        };
        let metadata = match body.get("metadata") {
            Some(Value::Object(metadata)) => Some(metadata),
            _ => None,
        };
        let field = |name: &str| metadata.and_then(|metadata| metadata.get(name));
        let api_version = text("apiVersion", body.get("apiVersion"));
        let kind = text("kind", body.get("kind"));
        let name = text("metadata.name", field("name"));
        let namespace = text("metadata.namespace", field("namespace")).unwrap_or_default();
        if let Some(other) = body.get("metadata").filter(|value| metadata.is_none() && !value.is_null()) {
            let message = format!("metadata must be a mapping, not {}", kind_of(other));
            problems.push(Problem::new(origin.at("metadata"), message));
        } else {
            let generated = field("generateName").is_some_and(|name| !name.is_null());
            let wanted = [("apiVersion", &api_version), ("kind", &kind), ("metadata.name", &name)];
            let missing: Vec<&str> =
                wanted.iter().filter(|(_, value)| value.is_none()).map(|(path, _)| *path).collect();
            problems.extend(match (&*missing, generated) {
                ([], _) => None,
                (["metadata.name"], true) => Some(generate_name(origin)),
                (missing, _) => Some(missing_fields(missing, origin)),
            });
        }
        for (path, value) in
            [("metadata.name", &*name.clone().unwrap_or_default()), ("metadata.namespace", &*namespace)]
        {
            if value.contains(['/', '%']) || matches!(value, "." | "..") {
                let message = format!("{path} {value:?} cannot be part of a URL");
                problems.push(Problem::new(origin.at(path), message).hint("it may not hold / or %"));
            }
        }
        if let Some(api_version) = api_version.as_deref().filter(|text| !is_api_version(text)) {
            let message = format!("apiVersion {api_version:?} is neither VERSION nor GROUP/VERSION");
            problems.push(Problem::new(origin.at("apiVersion"), message));
        }
        match (api_version, kind, name) {
            (Some(api_version), Some(kind), Some(name)) if problems.is_empty() => {
                Ok(Self { api_version: api_version.into(), kind, namespace, name })
            }
            // What is known of the object helps to find it.
            (Some(api_version), Some(kind), name) if !api_version.is_empty() && !kind.is_empty() => {
                let kind = GroupKind::from_api_version(&api_version, &kind);
                let known = name.filter(|name| !name.is_empty());
                let id = known.map(|name| ObjectId::new(kind, &namespace, &name));
                Err(problems.into_iter().map(|problem| Problem { object: id.clone(), ..problem }).collect())
            }
            _ => Err(problems),
        }
    }
}

fn is_api_version(text: &str) -> bool {
    let parts: Vec<&str> = text.split('/').collect();
    let plain = |part: &&str| {
        let byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        !part.is_empty() && part.bytes().all(byte)
    };
    text.is_empty() || (parts.len() <= 2 && parts.iter().all(plain))
}

fn generate_name(origin: &Origin<'_>) -> Problem {
    let message = "has only metadata.generateName: every apply would create another object";
    Problem::new(origin.at("metadata.generateName"), message)
        .hint("give it a metadata.name, or create it with `kubectl create`")
}

fn missing_fields(missing: &[&str], origin: &Origin<'_>) -> Problem {
    let (last, others) = missing.split_last().unwrap_or((&"apiVersion", &[]));
    let message = match others {
        [] => format!("{last} is missing"),
        others => format!("{} and {last} are missing", others.join(", ")),
    };
    let problem = Problem::new(origin.place.clone(), message);
    match missing.len() {
        3 => problem.hint("this is no Kubernetes object; leave the file out"),
        _ => problem,
    }
}

/// The names under which kustomize looks for its own file, which need not say what it is.
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// A folder often holds its kustomization beside the manifests that this makes use of.
fn kustomization(body: &Value, origin: &Origin<'_>) -> Option<Problem> {
    let file = origin.place.file();
    let named = || KUSTOMIZATIONS.contains(&file.rsplit_once('/').map_or(file, |(_, name)| name));
    let is_one = match body.get("apiVersion").and_then(Value::as_str) {
        Some(api_version) => api_version.starts_with("kustomize.config.k8s.io/"),
        None => body.get("kind").is_none() && named(),
    };
    is_one.then(|| {
        let problem = Problem::new(origin.place.clone(), "is a kustomization, not an object of a cluster");
        problem.hint("give its folder to -k, or leave the file out")
    })
}

/// kustomize and kpt mark files that only tools read.
fn is_local(body: &Value) -> bool {
    let mark = metadata(body)
        .and_then(|metadata| metadata.get("annotations")?.get("config.kubernetes.io/local-config"));
    match mark {
        None | Some(Value::Bool(false)) => false,
        Some(Value::String(text)) => text != "false",
        Some(_) => true,
    }
}

fn metadata(body: &Value) -> Option<&Map<String, Value>> {
    body.get("metadata").and_then(Value::as_object)
}

/// What only a live object has, or what the server refuses.
const DUMPED: [&str; 6] = [
    "managedFields",
    "resourceVersion",
    "uid",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
];

/// Annotations about the file that an object was in.
const ABOUT_THE_FILE: [&str; 3] =
    ["config.kubernetes.io/path", "config.kubernetes.io/index", "config.kubernetes.io/package"];
const ABOUT_THE_FILE_PREFIXES: [&str; 1] = ["internal.config.kubernetes.io/"];

/// kubectl's copy of the whole object, which would only get in the way of server-side apply.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Removes what has no place in a manifest and says so, if a user could miss it.
fn clean(body: &mut Value) -> Option<String> {
    let metadata = body.get_mut("metadata")?.as_object_mut()?;
    let mut removed: Vec<String> = Vec::new();
    for field in DUMPED {
        // An empty one is what some generators write for "not set".
        if let Some(value) = metadata.remove(field)
            && !value.is_null()
            && value.as_str() != Some("")
        {
            removed.push(format!("metadata.{field}"));
        }
    }
    if metadata.get("creationTimestamp").is_some_and(Value::is_null) {
        metadata.remove("creationTimestamp");
    }
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        let before = annotations.len();
        if annotations.remove(LAST_APPLIED).is_some() {
            removed.push(format!("annotation {LAST_APPLIED}"));
        }
        annotations.retain(|key, _| {
            !ABOUT_THE_FILE.contains(&&**key) && !ABOUT_THE_FILE_PREFIXES.iter().any(|p| key.starts_with(p))
        });
        if annotations.is_empty() && before > 0 {
            metadata.remove("annotations");
        }
    }
    (!removed.is_empty()).then(|| format!("left out what belongs to a live object: {}", removed.join(", ")))
}

/// Labels and annotations are texts; `true` and `1` without quotes are not.
fn text_values(body: &Value, field: &str, origin: &Origin<'_>) -> Vec<Problem> {
    let wrong = |path: String, value: &Value| {
        let message = format!("{path} must be a string, not {}", kind_of(value));
        let problem = Problem::new(origin.at(&path), message);
        if value.is_boolean() || value.is_number() {
            problem.hint("put the value in quotes")
        } else {
            problem
        }
    };
    match metadata(body).and_then(|metadata| metadata.get(field)) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Object(entries)) => {
            let others = entries.iter().filter(|(_, value)| !value.is_string() && !value.is_null());
            others.map(|(key, value)| wrong(format!("metadata.{field}[{key:?}]"), value)).collect()
        }
        Some(other) => {
            let message = format!("metadata.{field} must be a mapping, not {}", kind_of(other));
            vec![Problem::new(origin.at(&format!("metadata.{field}")), message)]
        }
    }
}

fn pairs(body: &Value, field: &str, wanted: impl Fn(&str) -> bool) -> Pairs {
    let entries = metadata(body).and_then(|metadata| metadata.get(field)?.as_object());
    let entries = entries.into_iter().flatten().filter(|(key, _)| wanted(key));
    entries.filter_map(|(key, value)| Some((key.as_str().into(), value.as_str()?.into()))).collect()
}

/// A value's type as a word, never the value.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}
