use std::borrow::Cow;

use crate::annotations::ReadyWhen;
use crate::cause::{Cause, CauseCode};
use crate::digest::{Digest, NotAnObject, digest};
use crate::explain::{explain, join, shown};
use crate::facts::{BindingMode, Facts, StatusSchema};
use crate::findings::{self, Found};
use crate::history::History;
use crate::outcome::{Expected, Finding, Open, Waiver};
use crate::policy::Policy;
use crate::rules;
use crate::surroundings::Surroundings;
use crate::time::Timestamp;
use crate::verdict::{Reason, Status, Verdict};

/// Judges one object among what surrounds it.
///
/// Pure: the same arguments give the same verdict. `history` belongs to this object and remembers
/// since when each cause has been seen; the verdict says when time alone may change it.
///
/// The object's own status stands first. Only when that is in progress can a cause make it
/// `Failed`, and only after the hold of that cause.
pub fn assess(target: &Digest, around: &Surroundings<'_>, history: &mut History) -> Verdict {
    let own = target.own();
    let mut verdict = Verdict {
        status: own.status(),
        reason: Reason(own.reason()),
        message: own.message().into_owned(),
        causes: Vec::new(),
        progress: own.progress(),
        reassess_at: None,
    };
    history.begin(around.now, verdict.progress.map_or(0, |progress| progress.have));
    close_open(target, around, history, &mut verdict);
    match verdict.status {
        Status::InProgress | Status::Failed => explain(target, around, history, &mut verdict),
        Status::Terminating => {
            verdict.causes = findings::own(target).map(|found| shown(&found)).collect();
        }
        Status::Current => {
            let note = rules::note(target, around.children);
            verdict.causes.extend(note.map(|found| shown(&found)));
            let errors = findings::own(target).filter(|found| found.finding.code == CauseCode::RuleError);
            for cause in errors.map(|found| shown(&found)) {
                verdict.message = join(&verdict.message, &cause.message);
                verdict.causes.push(cause);
            }
            history.note_settled(around.now);
        }
        Status::NotFound | Status::Unknown => {}
    }
    let silence = silence(target, around, &verdict);
    verdict.causes.extend(silence);
    history.end();
    verdict
}

/// Nobody has reported a status within the grace, though somebody might or should have.
fn silence(target: &Digest, around: &Surroundings<'_>, verdict: &Verdict) -> Option<Cause> {
    let expected = match target.own().open() {
        Open::Silent(expected) if verdict.reason.as_str() == "NoStatus" => *expected,
        _ => return None,
    };
    let nobody = around.facts.status_schema(target.kind()) == Some(StatusSchema::None);
    let waits = verdict.status == Status::InProgress;
    let patience = target.created()?.plus(millis(around.policy.promised_status_grace));
    let early = waits && around.now < patience;
    if early || (expected == Expected::BySchema && (waits || nobody)) {
        return None;
    }
    let words = "no status was reported; is the controller of this kind running?";
    let finding = Finding::new(CauseCode::ControllerSilent, words);
    Some(shown(&Found::new(vec![target], target, Cow::Owned(finding))))
}

/// Judges a lone object: [`digest`] and [`assess`] in one, with nothing known around it.
///
/// # Errors
///
/// When the bytes are not a JSON object.
pub fn compute(json: &[u8], now: Timestamp) -> Result<Verdict, NotAnObject> {
    let (facts, policy) = (Facts::default(), Policy::default());
    let around = Surroundings { children: &[], events: &[], facts: &facts, now, policy: &policy };
    Ok(assess(&digest(json)?, &around, &mut History::default()))
}

/// Decides what the object alone could not.
fn close_open(target: &Digest, around: &Surroundings<'_>, history: &History, verdict: &mut Verdict) {
    let policy = around.policy;
    let asked = target.ready_when();
    let current = |verdict: &mut Verdict, reason: &'static str, message: &str| {
        verdict.status = Status::Current;
        verdict.reason = Reason::new(reason);
        verdict.message = message.to_owned();
    };
    if asked == Some(ReadyWhen::Exists) && verdict.status != Status::Terminating {
        return current(verdict, "Exists", "Resource exists, as its annotation asks for");
    }
    match target.own().open() {
        Open::Nothing => {}
        Open::Silent(expected) => {
            let grace = match (*expected, around.facts.status_schema(target.kind())) {
                (Expected::Surely, _) => Grace::Endless,
                (_, Some(StatusSchema::Conditions)) => Grace::Millis(policy.promised_status_grace),
                (Expected::BySchema, None | Some(StatusSchema::Other)) => {
                    Grace::Millis(policy.unknown_status_grace)
                }
                (_, _) => Grace::Millis(0),
            };
            await_status(target, around, history, grace, verdict);
        }
        Open::Claim { class } => {
            let late = match around.facts.binding_mode(class.as_deref()) {
                Some(mode) => mode == BindingMode::FirstConsumer,
                None => waits_for_consumer(target, around),
            };
            if late {
                current(
                    verdict,
                    "WaitForFirstConsumer",
                    "PVC is not Bound: WaitForFirstConsumer, it is bound when a pod uses it",
                );
            }
        }
        Open::Waived(Waiver::LoadBalancer) if !policy.await_load_balancers => {
            current(verdict, "ServiceReady", "Service is ready; no address is waited for");
        }
        Open::Waived(Waiver::StartedJob)
            if policy.started_jobs_are_current || asked == Some(ReadyWhen::Started) =>
        {
            verdict.status = Status::Current;
        }
        Open::Waived(_) => {}
        Open::Address => {
            if policy.await_ingress_addresses || asked == Some(ReadyWhen::Address) {
                verdict.status = Status::InProgress;
                verdict.reason = Reason::new("NoIngressAddress");
                verdict.message = "Ingress has no address yet".to_owned();
            }
        }
    }
}

enum Grace {
    Millis(u64),
    Endless,
}

/// In progress until the grace for a first status ends.
fn await_status(
    target: &Digest,
    around: &Surroundings<'_>,
    history: &History,
    grace: Grace,
    verdict: &mut Verdict,
) {
    let ends = match grace {
        Grace::Endless => None,
        Grace::Millis(grace) => {
            // The server's clock may be ahead of ours: the grace is bounded by our own as well.
            let seen = history.first_seen(around.now);
            let from = target.created().map_or(seen, |created| created.min(seen));
            Some(from.plus(millis(grace)))
        }
    };
    if ends.is_none_or(|ends| around.now < ends) {
        verdict.status = Status::InProgress;
        verdict.reason = Reason::new("NoStatus");
        verdict.message = "No status reported yet".to_owned();
        verdict.reassess_at = ends;
    }
}

/// Whether events say that a claim waits for its first consumer, and nothing newer says that one
/// has come.
fn waits_for_consumer(target: &Digest, around: &Surroundings<'_>) -> bool {
    around
        .events
        .iter()
        .filter(|event| event.about.is_none() || event.about == target.uid())
        .max_by_key(|event| event.last_seen)
        .is_some_and(|event| &*event.reason == "WaitForFirstConsumer")
}

pub(crate) fn millis(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
