//! Which rule decided: for people who ask why.

use std::fmt;

use super::checks::Objector;
use super::ecosystems::Silence;
use super::{Row, docs};
use crate::kind::Kind;

/// The place in the tables that told an object's own verdict.
pub(crate) enum Origin {
    /// A custom rule, by its place.
    Custom(String),
    /// A row of this table.
    Row(&'static str, &'static Row),
    /// No row of the family of its kind.
    Otherwise,
    /// A kind without a status.
    Statusless,
    /// The table of custom kinds: the check that objected, or none.
    Known(Option<Objector>),
    /// The same table, about an object without a status.
    Silent(Silence),
    /// Nothing that any habit knows.
    Nothing,
}

/// The rule that decided on an object by itself, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Where it stands: `every kind`, a kind such as `Deployment.apps`, `custom kinds`, `habits` or `custom
    /// rule`.
    pub table: String,
    /// When it applies.
    pub when: String,
    /// Where it comes from; may be empty.
    pub source: &'static str,
}

impl fmt::Display for Rule {
    /// `Deployment.apps: fewer are available than wanted (kstatus)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.table, self.when)?;
        if self.source.is_empty() { Ok(()) } else { write!(f, " ({})", self.source) }
    }
}

impl Origin {
    pub(crate) fn rule(self, kind: &Kind) -> Rule {
        let known = || format!("custom kinds, {kind}");
        let (table, when, source) = match self {
            Self::Custom(place) => (format!("custom rule for {kind}"), place, ""),
            Self::Row("the kind", row) => (kind.to_string(), row.when.to_owned(), row.source),
            Self::Row(table, row) => (table.to_owned(), row.when.to_owned(), row.source),
            Self::Otherwise => (kind.to_string(), "otherwise".to_owned(), ""),
            Self::Statusless => (kind.to_string(), "a kind without a status".to_owned(), ""),
            Self::Known(None) => (known(), "no check objects".to_owned(), ""),
            Self::Known(Some((_, Some(row)))) => (known(), format!("habits: {}", row.when), row.source),
            Self::Known(Some((check, None))) => (known(), format!("objects: {}", docs::check(check)), ""),
            Self::Silent(Silence::Wait) => (known(), "no status, and one is sure to come".to_owned(), ""),
            Self::Silent(Silence::Fine) => (known(), "no status, and none has to come".to_owned(), ""),
            Self::Nothing => ("habits".to_owned(), "nothing is said against it".to_owned(), ""),
        };
        Rule { table, when, source }
    }
}
