//! Kinds nobody has listed: what the names of conditions, the words of phases, counters and
//! booleans usually mean. The worst word counts.

use std::borrow::Cow;

use super::words::{self, Sense, Word};
use super::{Row, Telling, first, kinds};
use crate::outcome::{Expected, Open, Own, Plain};
use crate::read::Leaf;
use crate::text::clipped;
use crate::verdict::Status::{Current, Failed, InProgress};
use crate::view::{Condition, Conditions, Truth, View};

const NOTHING_SAID: Plain =
    Plain { status: Current, reason: "ResourceCurrent", message: "Resource is current" };

pub(super) fn judge(view: &View<'_>) -> Own {
    first(ROWS, view).unwrap_or(Own::Plain(&NOTHING_SAID))
}

pub(super) const ROWS: &[Row] = &[
    Row {
        status: Current,
        reason: "NoStatus",
        when: "no status, or one that says nothing but a generation; InProgress until the grace for a status ends",
        tell: silent,
    },
    Row {
        status: Failed,
        reason: "Failed",
        when: "condition `Succeeded` is False, or the object runs to completion and `Failed` is True",
        tell: |view| {
            let conditions = view.conditions();
            conditions.denies("Succeeded").or(conditions.alarm("Failed")).map(Telling::named)
        },
    },
    Row {
        status: InProgress,
        reason: "NotReady",
        when: "condition `Ready`, `Succeeded` or one of the spec (`Synced`, `Accepted`, `Programmed`, …) is not True, or of an older generation",
        tell: |view| {
            let unmet = |name: &&str| {
                view.conditions().any_age(name).filter(|condition| !condition.is_true() || condition.stale)
            };
            let leading = ["Ready", "Succeeded"].iter().find_map(unmet).map(waits);
            leading.or_else(|| worst(view.conditions(), Sense::Asked))
        },
    },
    Row {
        status: InProgress,
        reason: "NotAccepted",
        when: "a list of parents, ancestors or listeners has conditions of its own and none of the present generation, or one that is not True",
        tell: nested,
    },
    Row {
        status: Current,
        reason: "ResourceReady",
        when: "condition `Ready` or `Succeeded` is True",
        tell: |view| {
            let good = view.conditions().holds("Ready").or(view.conditions().holds("Succeeded"));
            good.map(|_| Telling::new("Resource is Ready"))
        },
    },
    Row {
        status: Failed,
        reason: "Failed",
        when: "a condition whose name is a final failure is True (`Terminal`, `InvalidSpec`, …)",
        tell: |view| worst(view.conditions(), Sense::Fatal),
    },
    Row {
        status: InProgress,
        reason: "Degraded",
        when: "a condition whose name is a fault is True (`Degraded`, `NotReady`, `…Error`, `…Failed`)",
        tell: |view| worst(view.conditions(), Sense::Bad),
    },
    Row {
        status: InProgress,
        reason: "Progressing",
        when: "a condition whose name is an activity is True (`Progressing`, `Updating`, …), unless its reason says it has ended",
        tell: |view| worst(view.conditions(), Sense::Busy),
    },
    Row {
        status: InProgress,
        reason: "NotAvailable",
        when: "a condition whose name is a good state is not True (`Available`, `Healthy`, `…Ready`)",
        tell: |view| worst(view.conditions(), Sense::Good),
    },
    Row {
        status: Failed,
        reason: "Failed",
        when: "the phase or state is a word of failure",
        tell: |view| state(view, &[Word::Failed]),
    },
    Row {
        status: InProgress,
        reason: "Progressing",
        when: "the phase or state is a word of progress (or Running, for what runs to completion)",
        tell: |view| {
            let runs = words::runs_to_completion(view.kind.kind());
            state(view, if runs { &[Word::Waiting, Word::Running] } else { &[Word::Waiting] })
        },
    },
    Row {
        status: InProgress,
        reason: "NotReady",
        when: "`status.ready`, `healthy`, `available`, `synced`, `readyToUse` or `succeeded` is false",
        tell: |view| {
            FLAGS
                .iter()
                .find(|name| view.status.field(name).flag() == Some(false))
                .map(|name| Telling::new(format!("status.{name} is false{}", top_message(view))))
        },
    },
    Row {
        status: InProgress,
        reason: "LessReplicas",
        when: "fewer ready, available or updated replicas than wanted",
        tell: counters,
    },
    Row {
        status: InProgress,
        reason: "ErrorReported",
        when: "`status.error`, `errorMessage`, `failureMessage` or `lastError` is not empty",
        tell: |view| {
            ERRORS.iter().find_map(|name| {
                let said = view.status.field(name).word()?;
                let error = !said.trim().is_empty() && !matches!(&*said, "false" | "0");
                error.then(|| Telling::new(clipped(&format!("status.{name}: {said}"))))
            })
        },
    },
    Row {
        status: Current,
        reason: "ResourceCurrent",
        when: "otherwise",
        tell: |view| {
            let good = view.conditions().all().iter().find(|condition| {
                condition.is_true()
                    && matches!(words::condition(&condition.name), Some(Sense::Good | Sense::Asked))
            });
            let conditions = view.conditions();
            match good {
                Some(condition) => Some(Telling::new(format!("Resource is {}", words_of(&condition.name)))),
                None if conditions.is_empty() && !kinds::is_built_in(view.kind) => {
                    let telling = Telling::new("Resource is current");
                    Some(telling.open(Open::Silent(Expected::Conditions)))
                }
                None => None,
            }
        },
    },
];

const FLAGS: &[&str] = &["ready", "healthy", "available", "synced", "readyToUse", "succeeded"];
const ERRORS: &[&str] = &["error", "errorMessage", "failureMessage", "lastError", "failureReason"];
const NESTED: &[&str] = &["parents", "ancestors", "listeners"];

fn words_of(name: &str) -> String {
    name.chars().take(64).collect()
}

fn silent(view: &View<'_>) -> Option<Telling> {
    let says = |(name, leaf): &(Cow<'_, str>, Leaf<'_>)| {
        let empty = leaf.raw().is_none_or(|text| matches!(text, "{}" | "[]" | "\"\""));
        !empty && name != "observedGeneration"
    };
    if view.status.entries().iter().any(says) {
        return None;
    }
    if kinds::is_built_in(view.kind) {
        return Some(Telling::new("Resource is current").reason("ResourceCurrent"));
    }
    // A status that is a word or a list is nobody's promise of conditions.
    let odd = view.status_leaf.is_some() && !view.status_leaf.is_object();
    let telling = Telling::new("Resource is current: no status reported");
    Some(if odd { telling } else { telling.open(Open::Silent(Expected::BySchema)) })
}

/// A condition that is waited for.
fn waits(condition: &Condition<'_>) -> Telling {
    if condition.stale && condition.is_true() {
        let message = format!("{} is True for an older generation only", condition.name);
        return Telling::new(clipped(&message)).reason("ConditionNotObserved");
    }
    Telling::named(condition)
}

/// The worst condition of a sense, if it stands against the object. The order of the list decides
/// nothing: equals are told in the order of their names.
fn worst(conditions: &Conditions<'_>, sense: Sense) -> Option<Telling> {
    let against = |condition: &&Condition<'_>| match sense {
        Sense::Good | Sense::Asked => !condition.is_true(),
        Sense::Fatal | Sense::Bad => condition.is_true() || condition.truth == Truth::Other,
        Sense::Busy => condition.is_true() && !has_ended(condition),
    };
    conditions
        .all()
        .iter()
        .filter(|condition| words::condition(&condition.name) == Some(sense))
        .filter_map(|condition| conditions.get(&condition.name))
        .filter(against)
        .max_by(|a, b| (a.truth, &b.name).cmp(&(b.truth, &a.name)))
        .map(waits)
}

/// `Progressing=True` with the reason NewReplicaSetAvailable is an end, not a beginning.
fn has_ended(condition: &Condition<'_>) -> bool {
    condition.reason().and_then(|reason| words::state(&reason)) == Some(Word::Good)
        || condition.reason().is_some_and(|reason| reason.ends_with("Available"))
}

fn nested(view: &View<'_>) -> Option<Telling> {
    let lists: Vec<_> =
        NESTED.iter().map(|name| view.status.field(name)).filter(|list| list.is_list()).collect();
    if lists.is_empty() {
        return None;
    }
    let mut spoke = false;
    let mut stale = false;
    for entry in lists.iter().flat_map(|list| list.items()) {
        let conditions = Conditions::read(entry.field("conditions"), view.generation);
        for sense in [Sense::Asked, Sense::Good] {
            if let Some(telling) = worst(&conditions, sense) {
                return Some(telling);
            }
        }
        spoke |= conditions.all().iter().any(|condition| !condition.stale);
        stale |= conditions.all().iter().any(|condition| condition.stale);
    }
    (stale && !spoke)
        .then(|| Telling::new("No conditions of the present generation").reason("ConditionNotObserved"))
}

/// Fields of a status that hold a word for its state: the usual names, and names that end so.
fn state_words<'a>(view: &View<'a>) -> Vec<(Cow<'a, str>, Cow<'a, str>)> {
    const ENDS: &[&str] = &["phase", "state", "status", "health"];
    let mut found = Vec::new();
    for (name, leaf) in view.status.entries() {
        let lower = name.to_ascii_lowercase();
        if name.len() > 64 || !ENDS.iter().any(|end| lower.ends_with(end)) {
            continue;
        }
        let inner = || ENDS.iter().map(|field| leaf.field(field)).find_map(|field| field.text());
        if let Some(word) = leaf.text().or_else(inner) {
            found.push((name.clone(), word));
        }
    }
    found
}

fn state(view: &View<'_>, meanings: &[Word]) -> Option<Telling> {
    state_words(view).into_iter().find_map(|(name, word)| {
        let meaning = words::state(&word)?;
        meanings.contains(&meaning).then(|| {
            let message = format!("{name} is {word}{}", top_message(view));
            Telling::new(clipped(&message)).reason(words_of(&word))
        })
    })
}

/// `: message` when the status has one at its top.
fn top_message(view: &View<'_>) -> String {
    ["message", "statusMessage", "reason", "error", "errorMessage", "failureMessage"]
        .iter()
        .find_map(|name| view.status.text(name).filter(|text| !text.trim().is_empty()))
        .map_or_else(String::new, |said| format!(": {}", clipped(&said)))
}

fn counters(view: &View<'_>) -> Option<Telling> {
    let want = view
        .spec()
        .field("replicas")
        .int()
        .or_else(|| view.status.field("replicas").int())
        .filter(|want| *want > 0)?;
    let short = ["updatedReplicas", "readyReplicas", "availableReplicas"]
        .into_iter()
        .find_map(|name| view.status.field(name).int().filter(|have| *have < want).map(|have| (name, have)));
    short.map(|(name, have)| Telling::new(format!("{name}: {have}/{want}")).progress(have, want, "replicas"))
}
