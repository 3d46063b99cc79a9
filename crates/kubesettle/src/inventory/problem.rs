//! What stops a run before its first write because the record cannot be trusted.

use std::fmt;

use super::model::Location;

/// What is wrong with one ConfigMap.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A key of `data` names no object.
    UnparsableKey {
        /// The key as it stands there.
        key: Box<str>,
        /// What it lacks.
        reason: Box<str>,
    },
    /// A line with a hashed key does not say which object it is.
    BadHashedLine {
        /// The key as it stands there.
        key: Box<str>,
        /// What it lacks.
        reason: Box<str>,
    },
    /// It is the record of another set.
    WrongId {
        /// The id that was asked for.
        expected: Box<str>,
        /// The id that it has.
        found: Box<str>,
    },
    /// A ConfigMap of that name exists, and is no inventory.
    NoLabel,
    /// Another ConfigMap is the record of the same set.
    SameId {
        /// The id that both have.
        id: Box<str>,
        /// The other one.
        other: Location,
    },
    /// It is no ConfigMap.
    NotUnderstood {
        /// What the decoder says.
        reason: Box<str>,
    },
    /// It changed between our reading and our writing.
    ChangedMeanwhile,
}

/// One thing that is wrong, where, and what mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The set it was found in.
    pub set: Location,
    /// The name of the ConfigMap, which for a part is not the name of the set.
    pub config_map: Box<str>,
    /// What is wrong.
    pub fault: Fault,
}

impl Problem {
    pub(super) fn new(set: &Location, config_map: &str, fault: Fault) -> Self {
        Self { set: set.clone(), config_map: config_map.into(), fault }
    }

    /// What the writer of a set says when the server answers a write with a conflict.
    pub fn changed_meanwhile(set: &Location, config_map: &str) -> Self {
        Self::new(set, config_map, Fault::ChangedMeanwhile)
    }

    /// The next step: a command, or where to look.
    pub fn hint(&self) -> String {
        let set = format!("-n {} --set {}", self.set.namespace(), self.set.name());
        match &self.fault {
            Fault::UnparsableKey { key, .. } | Fault::BadHashedLine { key, .. } => format!(
                "kubectl settle inventory forget {set} --line {} drops this line, \
                 kubectl settle inventory rebuild {set} finds the objects by their annotation",
                quoted(key)
            ),
            Fault::WrongId { found, .. } => format!(
                "ask for the set by name (--set {}), or put {found:?} back into the template's label",
                self.set.name()
            ),
            Fault::NoLabel => format!(
                "choose another name, or, if its label was lost, run kubectl settle inventory rebuild {set}"
            ),
            Fault::SameId { other, .. } => {
                format!("kubectl settle inventory adopt {set} --from {} makes one of the two", other.name())
            }
            Fault::NotUnderstood { .. } => {
                format!(
                    "kubectl get configmap -n {} {} -o yaml shows it",
                    self.set.namespace(),
                    self.config_map
                )
            }
            Fault::ChangedMeanwhile => "run the same command again once the other run has ended".to_owned(),
        }
    }
}

/// Single quotes where a shell would read something into the text.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// One line, without the hint.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConfigMap {}/{}: ", self.set.namespace(), self.config_map)?;
        match &self.fault {
            Fault::UnparsableKey { key, reason } | Fault::BadHashedLine { key, reason } => {
                // Reasons that quote the key themselves stand alone.
                match reason.starts_with('"') {
                    true => write!(f, "data: {reason}"),
                    false => write!(f, "data: {key:?}: {reason}"),
                }
            }
            Fault::WrongId { expected, found } => {
                write!(f, "expected inventory object to have inventory-id {expected:?} but got {found:?}")
            }
            Fault::NoLabel => write!(f, "it is no inventory: the label {} is missing", super::ID_LABEL),
            Fault::SameId { id, other } => {
                write!(f, "ConfigMap {other} has the same inventory-id {id:?}")
            }
            Fault::NotUnderstood { reason } => write!(f, "it cannot be read: {reason}"),
            Fault::ChangedMeanwhile => f.write_str("another run changed the inventory"),
        }
    }
}

/// Everything that is wrong with an inventory. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// `Ok` when there are none.
    pub(super) fn check(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self(problems)) }
    }

    /// In the order of the ConfigMaps and their lines.
    pub fn problems(&self) -> &[Problem] {
        &self.0
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

/// One problem a line, each followed by its hint.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, problem) in self.0.iter().enumerate() {
            let separator = if nth > 0 { "\n" } else { "" };
            write!(f, "{separator}{problem}\n  {}", problem.hint())?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

impl std::error::Error for Problems {}
