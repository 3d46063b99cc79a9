//! Which objects a LIST or WATCH selects.

use serde_json::Value;

use crate::failure::Failure;
use crate::json::at;
use crate::store::Object;

/// Namespace, labels and fields together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selector {
    namespace: String,
    labels: Vec<Label>,
    fields: Vec<Field>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Label {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Absent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    path: String,
    value: String,
    equal: bool,
}

/// Fields that may be selected besides name and namespace, by resource.
const FIELDS: &[(&str, &[&str])] = &[
    (
        "pods",
        &["spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName", "status.phase", "status.podIP"],
    ),
    (
        "events",
        &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.fieldPath",
            "reason",
            "type",
            "source",
        ],
    ),
    ("namespaces", &["status.phase"]),
    ("secrets", &["type"]),
    ("jobs.batch", &["status.successful"]),
];

impl Selector {
    pub(crate) fn parse(
        resource: &str,
        namespace: &str,
        labels: &str,
        fields: &str,
    ) -> Result<Self, Failure> {
        let fields = split(fields).into_iter().map(|part| field(resource, part)).collect::<Result<_, _>>()?;
        let labels = split(labels).into_iter().map(label).collect::<Result<_, _>>()?;
        Ok(Self { namespace: namespace.to_owned(), labels, fields })
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// True when the selection is narrower than a namespace.
    pub(crate) fn narrow(&self) -> bool {
        !self.labels.is_empty() || !self.fields.is_empty()
    }

    /// The name that is selected by field.
    pub(crate) fn name(&self) -> Option<&str> {
        self.fields
            .iter()
            .find(|field| field.equal && field.path == "metadata.name")
            .map(|field| field.value.as_str())
    }

    pub(crate) fn matches(&self, object: &Object) -> bool {
        let namespace = self.namespace.is_empty() || *object.key.namespace == *self.namespace;
        namespace
            && self.labels.iter().all(|label| label.test.holds(object.labels.get(&label.key)))
            && self.matches_fields(object)
    }

    fn matches_fields(&self, object: &Object) -> bool {
        let mut value = None;
        self.fields.iter().all(|field| {
            let same = match field.path.as_str() {
                "metadata.name" => *object.key.name == *field.value,
                "metadata.namespace" => *object.key.namespace == *field.value,
                path => {
                    let value = value.get_or_insert_with(|| object.value());
                    let found = at(value, &path.split('.').collect::<Vec<_>>());
                    match found {
                        Value::String(text) => *text == field.value,
                        Value::Null => field.value.is_empty(),
                        other => *other == *field.value,
                    }
                }
            };
            same == field.equal
        })
    }
}

impl Test {
    fn holds(&self, value: Option<&String>) -> bool {
        match self {
            Self::In(values) => value.is_some_and(|value| values.contains(value)),
            Self::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Self::Exists => value.is_some(),
            Self::Absent => value.is_none(),
        }
    }
}

/// Splits at commas that are not within parentheses.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let parts = text.split(move |letter| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn label(part: &str) -> Result<Label, Failure> {
    let unreadable = || Failure::bad_request(format!("unable to parse requirement: found '{part}'"));
    let make = |key: &str, test| Label { key: key.trim().to_owned(), test };
    if let Some(key) = part.strip_prefix('!') {
        return Ok(make(key, Test::Absent));
    }
    let set = |values: &str| -> Option<Vec<String>> {
        let inner = values.trim().strip_prefix('(')?.strip_suffix(')')?;
        Some(inner.split(',').map(|value| value.trim().to_owned()).collect())
    };
    let words = [(" notin ", false), (" in ", true)];
    for (word, inside) in words {
        if let Some((key, values)) = part.split_once(word) {
            let values = set(values).ok_or_else(unreadable)?;
            return Ok(make(key, if inside { Test::In(values) } else { Test::NotIn(values) }));
        }
    }
    for (sign, equal) in [("!=", false), ("==", true), ("=", true)] {
        if let Some((key, value)) = part.split_once(sign) {
            let values = vec![value.trim().to_owned()];
            return Ok(make(key, if equal { Test::In(values) } else { Test::NotIn(values) }));
        }
    }
    if part.contains(char::is_whitespace) {
        return Err(unreadable());
    }
    Ok(make(part, Test::Exists))
}

fn field(resource: &str, part: &str) -> Result<Field, Failure> {
    let signs = [("!=", false), ("==", true), ("=", true)];
    let parsed = signs
        .iter()
        .find_map(|(sign, equal)| part.split_once(sign).map(|(path, value)| (path, value, *equal)));
    let Some((path, value, equal)) = parsed else {
        return Err(Failure::bad_request(format!("invalid selector: '{part}'; can't understand '{part}'")));
    };
    let known = FIELDS.iter().find(|(of, _)| *of == resource).map_or(&[] as &[&str], |(_, fields)| fields);
    if !["metadata.name", "metadata.namespace"].contains(&path) && !known.contains(&path) {
        return Err(Failure::bad_request(format!("field label not supported: {path}")));
    }
    Ok(Field { path: path.to_owned(), value: value.to_owned(), equal })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_select() {
        let mut value = json!({
            "metadata": { "name": "a", "namespace": "n", "labels": { "app": "web", "tier": "front" } },
            "status": { "phase": "Running" },
        });
        let object = Object::new(&mut value);
        let rows = [
            ("", "", "", true),
            ("n", "", "", true),
            ("m", "", "", false),
            ("", "app=web", "", true),
            ("", "app==web,tier!=back", "", true),
            ("", "app in (web, api),tier notin (back)", "", true),
            ("", "app in (api)", "", false),
            ("", "missing notin (x)", "", true),
            ("", "app,!missing", "", true),
            ("", "!app", "", false),
            ("", "", "metadata.name=a", true),
            ("", "", "metadata.name!=a", false),
            ("", "", "metadata.name=a,metadata.namespace=n", true),
            ("", "", "status.phase=Running", true),
            ("", "", "status.phase=Failed", false),
        ];
        for (namespace, labels, fields, expected) in rows {
            let selector = Selector::parse("pods", namespace, labels, fields).unwrap();
            assert_eq!(selector.matches(&object), expected, "{namespace} {labels} {fields}");
        }
        assert!(Selector::parse("pods", "", "", "spec.foo=1").is_err());
        assert!(Selector::parse("pods", "", "a b", "").is_err());
    }
}
