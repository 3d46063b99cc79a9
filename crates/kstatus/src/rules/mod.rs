//! All knowledge of kinds. A family is a table of rows tried in order; the first row that has
//! something to tell decides.

mod autoscaling;
mod checks;
mod children;
mod cluster;
mod containers;
mod daemonset;
mod deletion;
mod deployment;
mod docs;
mod ecosystems;
mod events;
mod generic;
mod habits;
mod job;
mod kinds;
mod network;
mod origin;
mod pod;
mod replicaset;
mod statefulset;
mod storage;
mod words;

#[cfg(test)]
mod samples;

use std::borrow::Cow;
use std::sync::Arc;

use crate::custom::CustomRule;
use crate::kind::Kind;
use crate::outcome::{Brief, Finding, Open, Own, Plain, Told};
use crate::read::Leaf;
use crate::reader::Reader;
use crate::verdict::{Progress, Status};
use crate::view::{Condition, View};

pub(crate) use children::{
    event_counts, is_observed, is_refusal, note, old_revision_matters, owner_judges, relevant,
    replaces_in_order, revision_of, steps_of,
};
pub use docs::rules_as_markdown;
pub(crate) use events::{ScaleUp, event_code, is_about_binding, scale_up};
pub use kinds::{GroupKind, generated_kinds, metadata_suffices};
pub(crate) use origin::Origin;
pub use origin::Rule;

/// A row of a family: when it applies, and what it makes of the object.
pub(crate) struct Row {
    /// The status it gives.
    pub(crate) status: Status,
    /// The stable code; empty where the condition that decides brings its own.
    pub(crate) reason: &'static str,
    /// Where the rule comes from: the Go library, the API, an enhancement (KEP), a public report.
    pub(crate) source: &'static str,
    /// When it applies, in words.
    pub(crate) when: &'static str,
    /// Tells, if it applies.
    pub(crate) tell: fn(&View<'_>) -> Option<Telling>,
}

/// What a row adds to its status and reason.
#[derive(Default)]
pub(crate) struct Telling {
    message: Cow<'static, str>,
    /// The end of the message.
    number: Option<i64>,
    reason: Option<String>,
    progress: Option<Progress>,
    open: Option<Open>,
}

impl Telling {
    pub(crate) fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// A message that ends with a number.
    pub(crate) fn counting(message: &'static str, number: i64) -> Self {
        Self { number: Some(number), ..Self::new(message) }
    }

    /// What a condition says, with its reason.
    pub(crate) fn of(condition: &Condition<'_>) -> Self {
        Self::new(condition.said()).reason(&condition.reason().unwrap_or_default())
    }

    /// The same, with the condition named: for conditions that are not kstatus's own.
    pub(crate) fn named(condition: &Condition<'_>) -> Self {
        let head = format!("{}={}", condition.name, condition.status_word());
        let said = condition.said();
        let message = if said == head { said } else { format!("{head}: {said}") };
        Self { message: message.into(), ..Self::of(condition) }
    }

    /// Another reason than the row's, if it is a code and no sentence.
    pub(crate) fn reason(mut self, reason: &str) -> Self {
        let code = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
        if !reason.is_empty() && reason.len() <= 128 && reason.chars().all(code) {
            self.reason = Some(reason.to_owned());
        }
        self
    }

    pub(crate) fn progress(mut self, have: i64, want: i64, what: &'static str) -> Self {
        let want = want.max(0);
        self.progress = Some(Progress { have: have.clamp(0, want), want, what });
        self
    }

    pub(crate) fn open(mut self, open: Open) -> Self {
        self.open = Some(open);
        self
    }
}

/// The rules of some kinds.
pub(crate) struct Family {
    pub(crate) kinds: &'static [GroupKind],
    /// Tried in order.
    pub(crate) rows: &'static [&'static [Row]],
    /// When no row applies.
    pub(crate) otherwise: Plain,
    /// What is wrong with an object that is not settled.
    pub(crate) findings: fn(&View<'_>) -> Vec<Finding>,
}

pub(crate) fn no_findings(_: &View<'_>) -> Vec<Finding> {
    Vec::new()
}

/// All kinds of Kubernetes itself that have rules of their own.
pub(crate) const FAMILIES: &[&Family] = &[
    &deployment::FAMILY,
    &replicaset::FAMILY,
    &statefulset::FAMILY,
    &daemonset::FAMILY,
    &pod::FAMILY,
    &job::JOB,
    &job::CRON_JOB,
    &storage::CLAIM,
    &storage::VOLUME,
    &network::SERVICE,
    &network::INGRESS,
    &autoscaling::AUTOSCALER,
    &autoscaling::DISRUPTION_BUDGET,
    &cluster::DEFINITION,
    &cluster::API_SERVICE,
    &cluster::NAMESPACE,
    &cluster::NODE,
    &cluster::SIGNING_REQUEST,
];

/// Which rules a digest is made by. `Default`: all tables, and no custom rules.
#[derive(Clone, Debug)]
pub struct Rulebook {
    ecosystems: bool,
    custom: Arc<[CustomRule]>,
    readers: Arc<[Arc<dyn Reader>]>,
}

/// Readers are equal when they are the same.
impl PartialEq for Rulebook {
    fn eq(&self, other: &Self) -> bool {
        let readers = self.readers.len() == other.readers.len()
            && self.readers.iter().zip(other.readers.iter()).all(|(one, other)| Arc::ptr_eq(one, other));
        readers && self.ecosystems == other.ecosystems && self.custom == other.custom
    }
}

impl Eq for Rulebook {}

impl Default for Rulebook {
    fn default() -> Self {
        Self { ecosystems: true, custom: Arc::default(), readers: Arc::default() }
    }
}

impl Rulebook {
    /// Without the table of known custom kinds: those are judged by habits only.
    pub fn habits_only() -> Self {
        Self { ecosystems: false, ..Self::default() }
    }

    /// With these rules behind those that are there already. The first rule for a kind counts; all
    /// come before the tables.
    #[must_use]
    pub fn with_rules(mut self, rules: impl IntoIterator<Item = CustomRule>) -> Self {
        self.custom = self.custom.iter().cloned().chain(rules).collect();
        self
    }

    /// With this reader behind those that are there already.
    #[must_use]
    pub fn with_reader(mut self, reader: Arc<dyn Reader>) -> Self {
        self.readers = self.readers.iter().cloned().chain([reader]).collect();
        self
    }

    pub(crate) fn readers(&self) -> &[Arc<dyn Reader>] {
        &self.readers
    }

    /// The custom rule for a kind.
    pub fn rule_for(&self, kind: &Kind) -> Option<&CustomRule> {
        self.custom.iter().find(|rule| rule.is_for(kind))
    }

    /// [`metadata_suffices`] by these rules: a custom rule and a reader want the whole object.
    pub fn metadata_suffices(&self, kind: &Kind) -> bool {
        metadata_suffices(kind) && self.rule_for(kind).is_none() && !self.is_read(kind)
    }
}

/// The object's own verdict, and the rule that gave it.
pub(crate) fn judge(book: &Rulebook, view: &View<'_>, json: &[u8]) -> (Own, Origin) {
    let Some(rule) = book.rule_for(view.kind) else { return by_tables(book, view) };
    let before = if rule.ignores_generation() { generic::BEFORE_ANY } else { generic::BEFORE_RULES };
    if let Some((own, row)) = first(before, view) {
        return (with(own, deletion::findings(view)), Origin::Row("every kind", row));
    }
    match rule.judge(json) {
        Ok(own) => (own, Origin::Custom(rule.place().into())),
        Err(finding) => {
            let (own, origin) = by_tables(book, view);
            (also(own, finding), origin)
        }
    }
}

fn by_tables(book: &Rulebook, view: &View<'_>) -> (Own, Origin) {
    if let Some((own, row)) = first(generic::ROWS, view) {
        return (with(own, deletion::findings(view)), Origin::Row("every kind", row));
    }
    if kinds::without_status(view.kind) {
        return (Own::Plain(&kinds::ALWAYS_READY), Origin::Statusless);
    }
    if let Some(family) = family_of(view) {
        return match family.rows.iter().find_map(|rows| first(rows, view)) {
            Some((own, row)) => {
                let unsettled = own.status() != Status::Current;
                let findings = if unsettled { (family.findings)(view) } else { Vec::new() };
                (with(own, findings), Origin::Row("the kind", row))
            }
            None => (Own::Plain(&family.otherwise), Origin::Otherwise),
        };
    }
    if book.ecosystems
        && let Some(told) = ecosystems::judge(view)
    {
        return told;
    }
    let (own, row) = habits::judge(view);
    (own, row.map_or(Origin::Nothing, |row| Origin::Row("habits", row)))
}

/// The same with one finding more.
fn also(own: Own, finding: Finding) -> Own {
    let mut told = own.into_told();
    told.findings = std::mem::take(&mut told.findings).into_iter().chain([finding]).collect();
    Own::Told(told)
}

fn family_of(view: &View<'_>) -> Option<&'static Family> {
    FAMILIES.iter().copied().find(|family| family.kinds.iter().any(|(group, kind)| view.kind.is(group, kind)))
}

/// Whether the status of a custom object names no generation, in whatever field.
pub(crate) fn is_undated(book: &Rulebook, view: &View<'_>, status: Leaf<'_>) -> bool {
    let known = || kinds::without_status(view.kind) || family_of(view).is_some();
    let undated = |status: &str| status.len() > 2 && !status.contains("eneration");
    status.raw().is_some_and(undated) && !known() && book.rule_for(view.kind).is_none()
}

/// The first row that tells something.
pub(crate) fn first(rows: &'static [Row], view: &View<'_>) -> Option<(Own, &'static Row)> {
    rows.iter()
        .find_map(|row| (row.tell)(view).map(|telling| (told_as(row.status, row.reason, telling), row)))
}

fn told_as(status: Status, reason: &'static str, telling: Telling) -> Own {
    // Of what has not settled there is more to say, and findings come to it.
    if status == Status::Current
        && let (Cow::Borrowed(message), None, None) = (&telling.message, &telling.reason, &telling.open)
        && let Some(brief) = Brief::new(status, reason, message, telling.number, telling.progress)
    {
        return Own::Brief(Box::new(brief));
    }
    let mut message = telling.message;
    if let Some(number) = telling.number {
        message = format!("{message}{number}").into();
    }
    Own::Told(Box::new(Told {
        status,
        reason: match telling.reason {
            Some(reason) => Cow::Owned(reason),
            None => Cow::Borrowed(reason),
        },
        message,
        progress: telling.progress.map(Box::new),
        findings: Box::default(),
        open: telling.open.unwrap_or(Open::Nothing),
    }))
}

fn with(own: Own, findings: Vec<Finding>) -> Own {
    if findings.is_empty() || matches!(own, Own::Plain(_)) {
        return own;
    }
    let mut told = own.into_told();
    told.findings = findings.into();
    Own::Told(told)
}
