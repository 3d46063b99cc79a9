//! One object as the rules look at it.

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::kind::Kind;
use crate::read::Leaf;
use crate::time::Timestamp;

/// The fields of an object read once, for many look-ups.
#[derive(Default)]
pub(crate) struct Section<'a>(Vec<(Cow<'a, str>, Leaf<'a>)>);

impl<'a> Section<'a> {
    pub(crate) fn of(leaf: Leaf<'a>) -> Self {
        Self(leaf.entries())
    }

    /// The last field of this name.
    pub(crate) fn field(&self, name: &str) -> Leaf<'a> {
        self.0.iter().rev().find(|(key, _)| key == name).map_or(Leaf::default(), |(_, leaf)| *leaf)
    }

    pub(crate) fn path(&self, path: &[&str]) -> Leaf<'a> {
        match path {
            [first, rest @ ..] => self.field(first).path(rest),
            [] => Leaf::default(),
        }
    }

    /// A counter: absent counts as zero, as the API leaves zeros out.
    pub(crate) fn count(&self, name: &str) -> i64 {
        self.field(name).int().unwrap_or(0)
    }

    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.field(name).text()
    }

    pub(crate) fn entries(&self) -> &[(Cow<'a, str>, Leaf<'a>)] {
        &self.0
    }
}

/// What a condition says, whatever the case it is written in and whether it is a word or a boolean.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Truth {
    True,
    Unknown,
    /// A word of its own, such as `Degraded`.
    Other,
    False,
}

#[derive(Clone, Debug)]
pub(crate) struct Condition<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) truth: Truth,
    status: Leaf<'a>,
    reason: Leaf<'a>,
    message: Leaf<'a>,
    pub(crate) at: Leaf<'a>,
    /// Written for an older generation of the object: says nothing about now.
    pub(crate) stale: bool,
}

impl<'a> Condition<'a> {
    fn read(name: Cow<'a, str>, entry: Leaf<'a>, generation: Option<i64>) -> Self {
        let [status, reason, message, observed, at, updated] = entry.fields([
            "status",
            "reason",
            "message",
            "observedGeneration",
            "lastTransitionTime",
            "lastUpdateTime",
        ]);
        let status = if entry.is_object() { status } else { entry };
        let stale = matches!((observed.int(), generation), (Some(of), Some(now)) if of < now);
        let at = if at.is_some() { at } else { updated };
        Self { name, truth: truth_of(status), status, reason, message, at, stale }
    }

    pub(crate) fn is_true(&self) -> bool {
        self.truth == Truth::True
    }

    pub(crate) fn is_false(&self) -> bool {
        self.truth == Truth::False
    }

    pub(crate) fn reason(&self) -> Option<Cow<'a, str>> {
        self.reason.text().filter(|reason| !reason.is_empty())
    }

    pub(crate) fn reason_is(&self, reason: &str) -> bool {
        self.reason.text().as_deref() == Some(reason)
    }

    pub(crate) fn message(&self) -> Option<Cow<'a, str>> {
        self.message.text().filter(|message| !message.trim().is_empty())
    }

    /// Decides between conditions that are equal in everything that means something.
    fn words(&self) -> (Option<&'a str>, Option<&'a str>, &str) {
        (self.reason.raw(), self.message.raw(), &self.name)
    }

    pub(crate) fn status_word(&self) -> Cow<'a, str> {
        self.status.word().unwrap_or(Cow::Borrowed("not set"))
    }

    pub(crate) fn since(&self) -> Option<Timestamp> {
        self.at.text().and_then(|at| Timestamp::parse(&at))
    }

    /// Reason and message as far as they are there and differ: `Reason: message`.
    pub(crate) fn said(&self) -> String {
        match (self.reason(), self.message()) {
            (Some(reason), Some(message)) if message.starts_with(reason.as_ref()) => {
                crate::text::clipped(&message)
            }
            (Some(reason), Some(message)) => {
                format!("{}: {}", crate::text::prefix(&reason, 256), crate::text::clipped(&message))
            }
            (Some(word), None) | (None, Some(word)) => crate::text::clipped(&word),
            (None, None) => format!("{}={}", self.name, self.status_word()),
        }
    }
}

fn truth_of(status: Leaf<'_>) -> Truth {
    match status.flag() {
        Some(true) => return Truth::True,
        Some(false) => return Truth::False,
        None => {}
    }
    match status.text() {
        Some(word) if word.eq_ignore_ascii_case("unknown") => Truth::Unknown,
        Some(word) if !word.is_empty() => Truth::Other,
        _ => Truth::Unknown,
    }
}

/// The conditions of one list or map, malformed entries left out.
#[derive(Clone, Default, Debug)]
pub(crate) struct Conditions<'a>(Vec<Condition<'a>>);

impl<'a> Conditions<'a> {
    pub(crate) fn read(leaf: Leaf<'a>, generation: Option<i64>) -> Self {
        let mut conditions = Vec::new();
        if leaf.is_list() {
            conditions.reserve(8);
            leaf.for_each(|item| {
                let name = item.field("type").text().filter(|name| !name.is_empty());
                conditions.extend(name.map(|name| Condition::read(name, item, generation)));
            });
        } else {
            for (name, entry) in leaf.entries() {
                if entry.is_object() || entry.word().is_some() {
                    conditions.push(Condition::read(name, entry, generation));
                }
            }
        }
        Self(conditions)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn all(&self) -> &[Condition<'a>] {
        &self.0
    }

    /// The condition of this type, of whatever generation. The exact type goes before one that
    /// differs in case; among several the newest counts, and at the same time the worst.
    pub(crate) fn any_age(&self, name: &str) -> Option<&Condition<'a>> {
        let pick = |matches: &dyn Fn(&Condition<'a>) -> bool| {
            self.0.iter().filter(|condition| matches(condition)).max_by_key(|condition| {
                (!condition.stale, condition.since(), condition.truth, condition.words())
            })
        };
        pick(&|condition| condition.name == name)
            .or_else(|| pick(&|condition| condition.name.eq_ignore_ascii_case(name)))
    }

    /// The condition of this type, if it speaks of the present generation.
    pub(crate) fn get(&self, name: &str) -> Option<&Condition<'a>> {
        self.any_age(name).filter(|condition| !condition.stale)
    }

    /// The condition of this type, when it is true now.
    pub(crate) fn holds(&self, name: &str) -> Option<&Condition<'a>> {
        self.get(name).filter(|condition| condition.is_true())
    }

    /// A condition of this type whose truth is bad news, when it is true now: among several of the
    /// same time the true one counts.
    pub(crate) fn alarm(&self, name: &str) -> Option<&Condition<'a>> {
        let newest = self.any_age(name)?;
        let same = |condition: &&Condition<'a>| {
            condition.name.eq_ignore_ascii_case(name)
                && condition.since() == newest.since()
                && !condition.stale
                && condition.is_true()
        };
        self.0.iter().filter(same).max_by_key(|condition| condition.words())
    }

    /// The condition of this type, when it is false now.
    pub(crate) fn denies(&self, name: &str) -> Option<&Condition<'a>> {
        self.get(name).filter(|condition| condition.is_false())
    }
}

/// One object as the rules look at it.
pub(crate) struct View<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) generation: Option<i64>,
    pub(crate) deletion: Leaf<'a>,
    pub(crate) annotations: Leaf<'a>,
    pub(crate) labels: Leaf<'a>,
    pub(crate) finalizers: Leaf<'a>,
    spec: OnceCell<Section<'a>>,
    spec_leaf: Leaf<'a>,
    pub(crate) status_leaf: Leaf<'a>,
    pub(crate) status: Section<'a>,
    conditions: OnceCell<Conditions<'a>>,
}

/// The pieces of `metadata` a view needs.
pub(crate) struct Meta<'a> {
    pub(crate) generation: Option<i64>,
    pub(crate) deletion: Leaf<'a>,
    pub(crate) annotations: Leaf<'a>,
    pub(crate) labels: Leaf<'a>,
    pub(crate) finalizers: Leaf<'a>,
}

impl<'a> View<'a> {
    pub(crate) fn new(kind: &'a Kind, meta: Meta<'a>, spec: Leaf<'a>, status: Leaf<'a>) -> Self {
        Self {
            kind,
            generation: meta.generation,
            deletion: meta.deletion,
            annotations: meta.annotations,
            labels: meta.labels,
            finalizers: meta.finalizers,
            spec: OnceCell::new(),
            spec_leaf: spec,
            status_leaf: status,
            status: Section::of(status),
            conditions: OnceCell::new(),
        }
    }

    pub(crate) fn spec(&self) -> &Section<'a> {
        self.spec.get_or_init(|| Section::of(self.spec_leaf))
    }

    pub(crate) fn conditions(&self) -> &Conditions<'a> {
        self.conditions.get_or_init(|| Conditions::read(self.status.field("conditions"), self.generation))
    }

    pub(crate) fn observed_generation(&self) -> Option<i64> {
        self.status.field("observedGeneration").int()
    }

    pub(crate) fn annotation(&self, key: &str) -> Option<Cow<'a, str>> {
        self.annotations.field(key).text()
    }
}
