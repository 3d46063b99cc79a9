//! Which objects may be deleted and created anew because a field of them cannot be changed.

use std::fmt;

use bytes::Bytes;
use serde_json::Value;

use crate::inventory::ProtectedKind;
use crate::manifest::{Object, compact};

/// The annotation by which an object itself allows it, with the value that does.
pub const RECREATE: (&str, &str) = ("kubesettle.io/recreate", "true");

/// Kinds whose objects may be recreated. An object that carries [`RECREATE`] may be in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recreate {
    /// Kind or plural, with the group behind a dot where one was given; lower case.
    words: Vec<Box<str>>,
}

/// A kind that no flag lets be recreated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeverRecreated {
    kind: ProtectedKind,
}

impl fmt::Display for NeverRecreated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, (key, value)) = (self.kind.as_str(), RECREATE);
        write!(
            f,
            "no {kind} is recreated for a flag: what it holds would be lost; \
             if one is to be, give it the annotation {key}: {value:?}"
        )
    }
}

impl std::error::Error for NeverRecreated {}

impl Recreate {
    /// Reads kinds as kubectl reads them: `Deployment`, `deployments`, `deployments.apps`.
    ///
    /// # Errors
    /// A kind whose deletion takes other things along.
    pub fn parse<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<Self, NeverRecreated> {
        let read = |word: &str| match ProtectedKind::parse(word.split('.').next().unwrap_or(word)) {
            Ok(kind) => Err(NeverRecreated { kind }),
            Err(_) => Ok(word.to_ascii_lowercase().into()),
        };
        Ok(Self { words: words.into_iter().map(read).collect::<Result<_, _>>()? })
    }

    /// The same with short names understood. `plural` is what a cluster calls a kind, with the group
    /// behind a dot; the words that it does not know are given back.
    pub fn as_known(mut self, plural: impl Fn(&str) -> Option<String>) -> (Self, Vec<Box<str>>) {
        let words = self.words.clone();
        let (known, unknown): (Vec<_>, Vec<_>) =
            words.into_iter().map(|word| (plural(&word), word)).partition(|(plural, _)| plural.is_some());
        self.words.extend(known.into_iter().filter_map(|(plural, _)| plural).map(Box::from));
        (self, unknown.into_iter().map(|(_, word)| word).collect())
    }

    /// The kinds that were named.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(AsRef::as_ref)
    }

    /// Whether this object may be; `plural` is its kind's plural name.
    pub fn allows(&self, object: &Object, plural: &str) -> bool {
        if object.annotation(RECREATE.0) == Some(RECREATE.1) {
            return true;
        }
        let kind = object.group_kind();
        let is_it = |word: &str| {
            let (name, group) = word.split_once('.').unwrap_or((word, ""));
            (name.eq_ignore_ascii_case(kind.kind()) || name == plural)
                && (group.is_empty() || group == kind.group())
        };
        ProtectedKind::of(kind).is_none() && self.words.iter().any(|word| is_it(word))
    }
}

/// The longest name that every kind takes: that of a Service.
const NAME: usize = 63;

/// The body under a name that nothing has, to try whether such an object would be taken at all; and
/// that name. `None` when it is no object.
pub fn trial(body: &[u8], mark: u32) -> Option<(String, Bytes)> {
    let mut body: Value = serde_json::from_slice(body).ok()?;
    let name = body.pointer_mut("/metadata/name")?;
    let end = format!("-{mark:08x}");
    let mut start = name.as_str()?.to_owned();
    start.truncate(start.floor_char_boundary(NAME - end.len()));
    // No part of a name may end with a sign.
    let start = start.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
    let new = format!("{start}{end}");
    *name = new.as_str().into();
    Some((new, compact(&body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(api_version: &str, kind: &str, annotation: &str) -> Object {
        let metadata =
            serde_json::json!({ "name": "a", "namespace": "x", "annotations": { RECREATE.0: annotation } });
        let object = serde_json::json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata });
        Object::from_live(object.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_flag_names_kinds_and_an_annotation_an_object() {
        let deployment = || object("apps/v1", "Deployment", "");
        for (word, allowed) in [
            ("Deployment", true),
            ("deployments", true),
            ("deployments.apps", true),
            ("Deployment.apps", true),
            ("deployments.example.com", false),
            ("StatefulSet", false),
        ] {
            let recreate = Recreate::parse([word]).unwrap();
            assert_eq!(recreate.allows(&deployment(), "deployments"), allowed, "{word}");
        }
        let known = |word: &str| (word == "deploy").then(|| "deployments.apps".to_owned());
        let (recreate, unknown) = Recreate::parse(["deploy", "bogus"]).unwrap().as_known(known);
        assert!(recreate.allows(&deployment(), "deployments"));
        assert_eq!(unknown, [Box::from("bogus")]);
        let none = Recreate::default();
        assert!(none.allows(&object("apps/v1", "Deployment", "true"), "deployments"));
        assert!(none.allows(&object("v1", "PersistentVolumeClaim", "true"), "persistentvolumeclaims"));
        assert!(!none.allows(&object("apps/v1", "Deployment", "false"), "deployments"));
    }

    #[test]
    fn no_flag_recreates_what_holds_other_things() {
        for word in ["Namespace", "ns", "crd", "customresourcedefinitions.apiextensions.k8s.io", "PVC", "pv"]
        {
            let error = Recreate::parse([word]).unwrap_err().to_string();
            assert!(error.contains("kubesettle.io/recreate"), "{word}: {error}");
        }
    }

    #[test]
    fn a_trial_has_another_name_that_every_kind_takes() {
        let named = |name: &str| {
            let body = serde_json::json!({ "metadata": { "name": name }, "spec": 1 });
            let (name, body) = trial(body.to_string().as_bytes(), 7).unwrap();
            assert_eq!(body, serde_json::json!({ "metadata": { "name": name }, "spec": 1 }).to_string());
            name
        };
        assert_eq!(named("web"), "web-00000007");
        assert_eq!(named(&"a".repeat(80)), format!("{}-00000007", "a".repeat(54)));
        assert_eq!(named(&format!("{}.b", "a".repeat(53))), format!("{}-00000007", "a".repeat(53)));
        assert!(trial(b"[]", 7).is_none());
    }
}
