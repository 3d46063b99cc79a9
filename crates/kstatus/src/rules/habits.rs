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

pub(super) fn judge(view: &View<'_>) -> (Own, Option<&'static Row>) {
    match first(ROWS, view) {
        Some((own, row)) => (own, Some(row)),
        None => (Own::Plain(&NOTHING_SAID), None),
    }
}

pub(super) const ROWS: &[Row] = &[
    Row {
        status: Current,
        reason: "NoStatus",
        source: "helm/helm#32066; kubernetes-sigs/cli-utils#632",
        when: "no status, or one that says nothing but a generation; InProgress until the grace for a status ends",
        tell: |view| silent(view, Expected::BySchema),
    },
    Row {
        status: Failed,
        reason: "Failed",
        source: "argoproj/argo-cd#28467",
        when: "condition `Succeeded` is False, or `Failed` is True",
        tell: |view| {
            let conditions = view.conditions();
            conditions.denies("Succeeded").or(conditions.alarm("Failed")).map(Telling::named)
        },
    },
    Row {
        status: InProgress,
        reason: "NotReady",
        source: "kstatus; kubernetes/kubectl#962; crossplane/crossplane#2672",
        when: "condition `Ready` or `Succeeded` is not True, or of an older generation; then one of the spec (`Synced`, `Accepted`, `Programmed`, …) likewise",
        tell: |view| {
            let conditions = view.conditions();
            let unmet = |name: &&str| {
                conditions.any_age(name).filter(|condition| !condition.is_true() || condition.stale)
            };
            let leading = ["Ready", "Succeeded"].iter().find_map(unmet).map(waits);
            leading.or_else(|| worst(conditions, Sense::Asked))
        },
    },
    Row {
        status: InProgress,
        reason: "ConditionNotObserved",
        source: "carvel-dev/kapp#478",
        when: "all conditions are of an older generation",
        tell: |view| {
            let all = view.conditions().all();
            let stale = !all.is_empty() && all.iter().all(|condition| condition.stale);
            stale.then(|| Telling::new("All conditions are of an older generation"))
        },
    },
    Row {
        status: Current,
        reason: "ResourceReady",
        source: "kstatus",
        when: "condition `Ready` or `Succeeded` is True",
        tell: |view| {
            let good = view.conditions().holds("Ready").or(view.conditions().holds("Succeeded"));
            good.map(|_| Telling::new("Resource is Ready"))
        },
    },
    Row {
        status: Failed,
        reason: "Failed",
        source: "argoproj/argo-cd#28467",
        when: "a condition whose name is a final failure is True (`Terminal`, `InvalidSpec`, …), or `Progressing` has the reason ProgressDeadlineExceeded",
        tell: |view| {
            let conditions = view.conditions();
            let late = || {
                let progressing = conditions.get("Progressing")?;
                progressing.reason_is("ProgressDeadlineExceeded").then(|| Telling::named(progressing))
            };
            worst(conditions, Sense::Fatal).or_else(late)
        },
    },
    Row {
        status: InProgress,
        reason: "Degraded",
        source: "kubernetes/kubectl#1414",
        when: "a condition whose name is a fault is True (`Degraded`, `NotReady`, `…Error`, `…Failed`), or any has ended with a word of failure as its reason",
        tell: |view| worst(view.conditions(), Sense::Bad).or_else(|| bad_reason(view.conditions())),
    },
    Row {
        status: InProgress,
        reason: "Progressing",
        source: "habit",
        when: "a condition whose name is an activity is True (`Progressing`, `Updating`, …), unless its reason says it has ended",
        tell: |view| worst(view.conditions(), Sense::Busy),
    },
    Row {
        status: InProgress,
        reason: "NotAvailable",
        source: "prometheus-operator API",
        when: "a condition whose name is a good state is not True (`Available`, `Healthy`, `…Ready`)",
        tell: |view| worst(view.conditions(), Sense::Good),
    },
    Row {
        status: InProgress,
        reason: "NotAccepted",
        source: "Gateway API; argoproj/argo-cd#24958",
        when: "parents, ancestors or listeners, or other parts of the status, have conditions of their own that say so, or none of the present generation",
        tell: nested,
    },
    Row {
        status: Failed,
        reason: "Failed",
        source: "argoproj/argo-cd#28467",
        when: "the phase or state is a word of failure",
        tell: |view| state(view, &[Word::Failed]),
    },
    Row {
        status: InProgress,
        reason: "Progressing",
        source: "habit",
        when: "the phase or state, here or in a part of the status, is a word of progress (or Running, for what runs to completion)",
        tell: |view| {
            let runs = words::runs_to_completion(view.kind.kind());
            state(view, if runs { &[Word::Waiting, Word::Running] } else { &[Word::Waiting] })
        },
    },
    Row {
        status: InProgress,
        reason: "NotReady",
        source: "kstatus; kubernetes/kubectl#962; crossplane/crossplane#2672",
        when: "`status.ready`, `healthy`, `available`, `synced`, `readyToUse`, `succeeded` or `pass` is false",
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
        source: "habit",
        when: "fewer ready, available, healthy or updated than wanted or expected of the same thing",
        tell: counters,
    },
    Row {
        status: InProgress,
        reason: "ErrorReported",
        source: "habit",
        when: "a field of the status whose name begins with `err`, `lastError` or `failure` is not empty",
        tell: reported_error,
    },
    Row {
        status: InProgress,
        reason: "ReasonReported",
        source: "habit",
        when: "`status.reason` is not empty, and nothing says that all is well",
        tell: |view| {
            let reason = view.status.text("reason").filter(|reason| !reason.trim().is_empty())?;
            let well = view.conditions().all().iter().any(|condition| condition.is_true())
                || state_words(view).iter().any(|(_, word)| words::state(word).is_some());
            (!well).then(|| Telling::new(clipped(&format!("status.reason: {reason}"))))
        },
    },
    Row {
        status: Current,
        reason: "ResourceCurrent",
        source: "habit",
        when: "otherwise; where conditions are promised and none is there, InProgress until the grace ends",
        tell: |view| {
            let conditions = view.conditions();
            let good = conditions.all().iter().filter(|condition| {
                let sense = words::condition(&condition.name);
                condition.is_true() && matches!(sense, Some(Sense::Good | Sense::Asked))
            });
            let good = good.min_by(|a, b| a.name.cmp(&b.name));
            match good {
                Some(condition) => Some(Telling::new(format!("Resource is {}", short(&condition.name)))),
                None if conditions.is_empty() && !kinds::is_built_in(view.kind) => {
                    let telling = Telling::new("Resource is current");
                    Some(telling.open(Open::Silent(Expected::Conditions)))
                }
                None => None,
            }
        },
    },
];

const FLAGS: &[&str] = &["ready", "healthy", "available", "synced", "readyToUse", "succeeded", "pass"];

fn short(name: &str) -> String {
    name.chars().take(64).collect()
}

/// Nobody has said anything yet.
pub(super) fn silent(view: &View<'_>, expected: Expected) -> Option<Telling> {
    let says = |(name, leaf): &(Cow<'_, str>, Leaf<'_>)| {
        if name == "conditions" {
            return !view.conditions().is_empty();
        }
        let nothing = |text| matches!(text, "{}" | "[]" | "\"\"");
        let empty = leaf.raw().is_none_or(nothing) || leaf.int() == Some(0);
        !empty && name != "observedGeneration"
    };
    if view.status.entries().iter().any(says) {
        return None;
    }
    if kinds::is_built_in(view.kind) {
        return Some(Telling::new("Resource is current").reason("ResourceCurrent"));
    }
    // A status that is a word or a list is nobody's promise of conditions; a kind that surely gets
    // some has them still to come.
    let odd = view.status_leaf.is_some() && !view.status_leaf.is_object() && expected != Expected::Surely;
    let telling = Telling::new("Resource is current: no status reported");
    Some(if odd { telling } else { telling.open(Open::Silent(expected)) })
}

/// A condition that is waited for.
pub(super) fn waits(condition: &Condition<'_>) -> Telling {
    if condition.stale && condition.is_true() {
        let message = format!("{} is True for an older generation only", condition.name);
        return Telling::new(clipped(&message)).reason("ConditionNotObserved");
    }
    Telling::named(condition)
}

/// The worst condition of a sense, if it stands against the object. The order of the list decides
/// nothing: equals are told in the order of their names.
fn worst(conditions: &Conditions<'_>, sense: Sense) -> Option<Telling> {
    let good = matches!(sense, Sense::Good | Sense::Asked);
    conditions
        .all()
        .iter()
        .filter(|condition| words::condition(&condition.name) == Some(sense))
        .filter_map(|condition| match sense {
            Sense::Good | Sense::Asked => conditions.get(&condition.name).filter(|c| !c.is_true()),
            Sense::Fatal | Sense::Bad => conditions.alarm(&condition.name),
            Sense::Busy => conditions
                .alarm(&condition.name)
                .filter(|c| !has_ended(c))
                .or(conditions.get(&condition.name).filter(|c| c.truth == Truth::Unknown)),
            Sense::Neutral => None,
        })
        .max_by(|a, b| (a.truth, &b.name).cmp(&(b.truth, &a.name)))
        .map(|condition| if good { waits(condition) } else { Telling::named(condition) })
}

/// `Progressing=True` with the reason NewReplicaSetAvailable is an end, not a beginning.
fn has_ended(condition: &Condition<'_>) -> bool {
    condition
        .reason()
        .is_some_and(|reason| words::state(&reason) == Some(Word::Good) || reason.ends_with("Available"))
}

/// `Complete=True` with the reason JobFailed, `Progressing=False` with the reason RolloutAborted.
fn bad_reason(conditions: &Conditions<'_>) -> Option<Telling> {
    let failed = |condition: &&Condition<'_>| {
        let sense = words::condition(&condition.name);
        let relevant = match sense {
            Some(Sense::Good | Sense::Asked) => condition.is_true(),
            Some(Sense::Busy) => condition.is_false(),
            _ => false,
        };
        let reason = condition.reason();
        relevant
            && !condition.stale
            && reason.is_some_and(|reason| {
                let ends = ["Failed", "Error", "Failure", "Aborted"];
                ends.iter().any(|end| reason.ends_with(end))
            })
    };
    let present = conditions.all().iter().filter_map(|condition| conditions.get(&condition.name));
    present.filter(failed).min_by(|a, b| a.name.cmp(&b.name)).map(Telling::named)
}

/// Lists whose entries speak for the object, each with conditions of its own.
const SPEAKERS: &[&str] = &["parents", "ancestors", "listeners"];

/// No more parts of a status than this are looked at.
const PARTS: usize = 64;

/// The objects in a part of a status: itself, the entries of a list, or the values of a map.
fn parts<'a>(leaf: Leaf<'a>) -> Vec<Leaf<'a>> {
    if leaf.is_list() {
        leaf.items().into_iter().take(PARTS).collect()
    } else if leaf.field("conditions").is_some() {
        vec![leaf]
    } else {
        let values = leaf.entries().into_iter().map(|(_, value)| value);
        values.filter(|value| value.is_object()).take(PARTS).collect()
    }
}

fn nested(view: &View<'_>) -> Option<Telling> {
    let mut speakers = false;
    let mut spoke = false;
    for (name, leaf) in view.status.entries().iter().filter(|(name, _)| name != "conditions") {
        let speaker = SPEAKERS.contains(&&**name) && leaf.is_list();
        for part in parts(*leaf) {
            let conditions = Conditions::read(part.field("conditions"), view.generation);
            speakers |= speaker;
            spoke |= conditions.all().iter().any(|condition| !condition.stale);
            for sense in [Sense::Asked, Sense::Good, Sense::Fatal, Sense::Bad] {
                if let Some(telling) = worst(&conditions, sense) {
                    return Some(telling);
                }
            }
        }
    }
    (speakers && !spoke)
        .then(|| Telling::new("No conditions of the present generation").reason("ConditionNotObserved"))
}

/// Names of fields that hold a word for a state end so.
const STATE_ENDS: &[&str] = &["phase", "state", "status", "health", "compliant"];

/// Words for states in a status: its own, and those of its parts.
fn state_words<'a>(view: &View<'a>) -> Vec<(Cow<'a, str>, Cow<'a, str>)> {
    let mut found = Vec::new();
    for (name, leaf) in view.status.entries() {
        collect_words(name.clone(), *leaf, 0, &mut found);
    }
    found
}

fn collect_words<'a>(
    name: Cow<'a, str>,
    leaf: Leaf<'a>,
    depth: usize,
    found: &mut Vec<(Cow<'a, str>, Cow<'a, str>)>,
) {
    // What was once wanted, or was before, says nothing about now.
    let other_time = ["desired", "last", "previous", "prev", "target"];
    let lower = name.to_ascii_lowercase();
    if found.len() > PARTS || name.len() > 64 || name == "conditions" {
        return;
    }
    if let Some(word) = leaf.text() {
        let is_state = STATE_ENDS.iter().any(|end| lower.ends_with(end))
            && !other_time.iter().any(|start| lower.starts_with(start));
        if is_state {
            found.push((name, word));
        }
    } else if depth < 3 && !lower.starts_with("atprovider") {
        if leaf.is_list() {
            for item in leaf.items().into_iter().take(PARTS) {
                for (name, leaf) in item.entries() {
                    collect_words(name, leaf, depth + 1, found);
                }
            }
        } else {
            for (name, leaf) in leaf.entries() {
                collect_words(name, leaf, depth + 1, found);
            }
        }
    }
}

fn state(view: &View<'_>, meanings: &[Word]) -> Option<Telling> {
    state_words(view).into_iter().find_map(|(name, word)| {
        let meaning = words::state(&word)?;
        meanings.contains(&meaning).then(|| {
            let message = format!("{name} is {word}{}", top_message(view));
            Telling::new(clipped(&message)).reason(&word)
        })
    })
}

/// `: message` when the status has one at its top.
pub(super) fn top_message(view: &View<'_>) -> String {
    const NAMES: &[&str] = &["message", "statusMessage", "reason", "error", "errorMessage", "failureMessage"];
    NAMES
        .iter()
        .find_map(|name| view.status.text(name).filter(|text| !text.trim().is_empty()))
        .map_or_else(String::new, |said| format!(": {}", clipped(&said)))
}

const HAVE: &[&str] = &["updatedready", "updatedavailable", "updated", "ready", "available", "healthy"];
const WANT: &[&str] = &["desired", "expected", "total", ""];
const LACK: &[&str] = &["unavailable", "unready", "unhealthy", "failed"];

/// Counters of one thing: `readyReplicas` against `replicas`, `availableNodes` against
/// `expectedNodes`, `numberReady` against `desiredNumberScheduled`.
fn counters(view: &View<'_>) -> Option<Telling> {
    let numbers: Vec<(String, i64)> = view
        .status
        .entries()
        .iter()
        .filter(|(name, _)| name.len() <= 64)
        .filter_map(|(name, leaf)| Some((name.to_ascii_lowercase(), leaf.int()?)))
        .collect();
    let number = |name: &str| numbers.iter().find(|(of, _)| of == name).map(|(_, value)| *value);
    for (name, have) in &numbers {
        if let Some(thing) = HAVE.iter().find_map(|start| name.strip_prefix(start)) {
            let wanted = || WANT.iter().find_map(|start| number(&format!("{start}{thing}")));
            let want = view.spec().field(thing).int().filter(|_| thing == "replicas").or_else(wanted);
            if let Some(want) = want.filter(|want| have < want) {
                let message = format!("{name}: {have}/{want}{}", top_message(view));
                return Some(Telling::new(message).progress(*have, want, "ready"));
            }
        }
        let lacks =
            LACK.iter().any(|start| name.strip_prefix(start).is_some_and(|thing| thing == "replicas"));
        if (lacks || name == "numberunavailable") && *have > 0 {
            return Some(Telling::new(format!("{name}: {have}{}", top_message(view))));
        }
    }
    let scheduled = number("desirednumberscheduled")?;
    ["updatednumberscheduled", "numberavailable", "numberready"]
        .into_iter()
        .find_map(|name| number(name).filter(|have| *have < scheduled).map(|have| (name, have)))
        .map(|(name, have)| Telling::new(format!("{name}: {have}/{scheduled}")))
}

fn reported_error(view: &View<'_>) -> Option<Telling> {
    let named_so = |name: &str| {
        let lower = name.to_ascii_lowercase();
        ["err", "lasterr", "failure"].iter().any(|start| lower.starts_with(start))
            && !lower.ends_with("count")
    };
    view.status.entries().iter().filter(|(name, _)| name.len() <= 64 && named_so(name)).find_map(
        |(name, leaf)| {
            let said = leaf.text().filter(|said| !said.trim().is_empty())?;
            Some(Telling::new(clipped(&format!("status.{name}: {said}"))))
        },
    )
}
