//! Rules that users bring: data, not code.

#[cfg(feature = "cel")]
mod cel;
mod expression;

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use crate::cause::CauseCode;
use crate::kind::Kind;
use crate::outcome::{Finding, Open, Own, Told};
use crate::text::clipped;
use crate::verdict::Status;
use expression::Expression;

/// A rule for the objects of one kind, or of all kinds of a group.
///
/// Expressions are JSONPath in braces, as kubectl has it, or, with the feature `cel`, CEL over the
/// variable `object` (also `self`). `{.status.phase}=Ready` holds when there is a value and all are
/// that word, `{.a}={.b}` when both sides are the same, `!=` when the opposite is so, and
/// `{.status.ready}` when there is a value that is neither false nor empty.
///
/// An object is `Failed` when `failed` holds, else `Current` when `current` does, else `InProgress`.
/// One that is being deleted is `Terminating`, and one whose generation has not been observed is
/// `InProgress`, whatever the rule says. When an expression cannot be evaluated, the tables judge,
/// and a cause with the code [`RuleError`](CauseCode::RuleError) says so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CustomRule {
    group: Box<str>,
    kind: Box<str>,
    current: Expression,
    failed: Option<Expression>,
    message: Option<Expression>,
    ignores_generation: bool,
    place: Box<str>,
}

/// What a rule is made of, as it was written.
#[derive(Clone, Copy, Default, Debug)]
pub struct RuleText<'a> {
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The kind; `*` for every kind of the group.
    pub kind: &'a str,
    /// When an object has settled.
    pub current: &'a str,
    /// When it has failed; wins over `current`.
    pub failed: Option<&'a str>,
    /// What to say; without it, or when it gives nothing, a sentence of ours.
    pub message: Option<&'a str>,
    /// Judge although `status.observedGeneration` is another than the object's.
    pub ignores_generation: bool,
    /// Where the rule stands, for people: `rules.yaml:3`.
    pub place: &'a str,
}

/// An expression of a rule that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleError {
    /// The field: `kind`, `current`, `failed` or `message`.
    pub field: &'static str,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

impl std::error::Error for RuleError {}

impl CustomRule {
    /// Reads a rule.
    ///
    /// # Errors
    ///
    /// The first expression that cannot be read; a CEL expression without the feature `cel`.
    pub fn new(text: &RuleText<'_>) -> Result<Self, RuleError> {
        let read = |field, text: &str| Expression::read(text).map_err(|message| RuleError { field, message });
        if text.kind.is_empty() {
            return Err(RuleError { field: "kind", message: "is empty".to_owned() });
        }
        Ok(Self {
            group: text.group.into(),
            kind: text.kind.into(),
            current: read("current", text.current)?,
            failed: text.failed.map(|text| read("failed", text)).transpose()?,
            message: text.message.map(|text| read("message", text)).transpose()?,
            ignores_generation: text.ignores_generation,
            place: text.place.into(),
        })
    }

    /// Whether the rule is for this kind.
    pub fn is_for(&self, kind: &Kind) -> bool {
        *self.group == *kind.group() && (&*self.kind == "*" || *self.kind == *kind.kind())
    }

    /// Where it stands, for people.
    pub fn place(&self) -> &str {
        &self.place
    }

    pub(crate) fn ignores_generation(&self) -> bool {
        self.ignores_generation
    }

    /// The rule's verdict on an object, or why there is none.
    pub(crate) fn judge(&self, json: &[u8]) -> Result<Own, Finding> {
        let trouble = |field: &str, why: String| {
            Finding::new(CauseCode::RuleError, &format!("rule at {}, {field}: {why}", self.place))
        };
        let object: Value = serde_json::from_slice(json)
            .map_err(|_| trouble("match", "the object is nested too deeply".to_owned()))?;
        let failed = match &self.failed {
            Some(failed) => failed.holds(&object).map_err(|why| trouble("failed", why))?,
            None => false,
        };
        let current = !failed && self.current.holds(&object).map_err(|why| trouble("current", why))?;
        let (status, reason, sentence) = match (failed, current) {
            (true, _) => (Status::Failed, "RuleFailed", "Failed by the rule at "),
            (_, true) => (Status::Current, "RuleCurrent", "Resource is current by the rule at "),
            _ => (Status::InProgress, "RuleInProgress", "Not current yet by the rule at "),
        };
        let mut findings = Vec::new();
        let said = match self.message.as_ref().map(|message| message.says(&object)) {
            Some(Ok(text)) => text,
            Some(Err(why)) => {
                findings.push(trouble("message", why));
                String::new()
            }
            None => String::new(),
        };
        let said = clipped(said.trim());
        let message = if said.is_empty() { format!("{sentence}{}", self.place) } else { said };
        Ok(Own::Told(Box::new(Told {
            status,
            reason: Cow::Borrowed(reason),
            message: Cow::Owned(message),
            progress: None,
            findings: findings.into(),
            open: Open::Nothing,
        })))
    }
}

#[cfg(test)]
mod tests;
