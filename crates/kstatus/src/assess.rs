use std::borrow::Cow;

use crate::annotations::ReadyWhen;
use crate::cause::{Cause, CauseCode};
use crate::digest::{Digest, NotAnObject, digest};
use crate::facts::{BindingMode, Facts, StatusSchema};
use crate::findings::{self, Found};
use crate::history::{History, Key};
use crate::outcome::{Expected, Finding, Open, Waiver};
use crate::policy::{Hold, Policy};
use crate::rules::{self, ScaleUp};
use crate::surroundings::Surroundings;
use crate::time::Timestamp;
use crate::uid::Uid;
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
        message: own.message().to_owned(),
        causes: Vec::new(),
        progress: own.progress(),
        reassess_at: None,
    };
    history.begin(around.now, verdict.progress.map_or(0, |progress| progress.have));
    close_open(target, around, history, &mut verdict);
    match verdict.status {
        Status::InProgress | Status::Failed => explain(target, around, history, &mut verdict),
        Status::Terminating => {
            verdict.causes = findings::own(target).map(|found| shown(target, &found)).collect();
        }
        Status::Current => {
            let note = rules::note(target, around.children);
            verdict.causes.extend(note.map(|found| shown(target, &found)));
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
    Some(shown(target, &Found::new(vec![target], target, Cow::Owned(finding))))
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

fn millis(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Finds the causes, and lets those whose hold has ended fail the object.
fn explain(target: &Digest, around: &Surroundings<'_>, history: &mut History, verdict: &mut Verdict) {
    let (found, family) = findings::collect(target, around);
    history.note_ready(family.iter().filter_map(|member| {
        let ready = member.own_status() == Status::Current;
        Some((member.uid()?, ready))
    }));
    let mut too_young = None;
    let mut causes = Vec::new();
    for found in &found {
        match timed(target, around, history, found) {
            Timed::Cause(cause) => causes.push(cause),
            Timed::Until(cause, at) => {
                sooner(&mut verdict.reassess_at, Some(at));
                too_young.get_or_insert(cause);
            }
        }
    }
    findings::order(&mut causes);
    for cause in &causes {
        sooner(&mut verdict.reassess_at, cause.fails_at);
    }
    let specific = causes.first().or(too_young.as_ref());
    let fatal = causes.iter().find(|cause| cause.fatal);
    match (fatal, specific) {
        (Some(fatal), _) if verdict.status == Status::InProgress => {
            verdict.status = Status::Failed;
            verdict.reason = Reason::new(fatal.code.as_str());
            verdict.reassess_at = None;
            let own = std::mem::replace(&mut verdict.message, fatal.message.clone());
            let specific = specific.filter(|cause| cause.object != fatal.object);
            for more in specific.map(|cause| cause.message.as_str()).into_iter().chain([&*own]) {
                verdict.message = join(&verdict.message, more);
            }
        }
        (_, Some(cause)) => verdict.message = join(&verdict.message, &cause.message),
        (_, None) => {}
    }
    verdict.causes = causes;
}

/// Both sentences, unless one says what the other does.
fn join(first: &str, second: &str) -> String {
    let detail = second.split_once(": ").map_or(second, |(_, detail)| detail);
    if first.contains(second) || (!detail.is_empty() && first.contains(detail)) {
        first.to_owned()
    } else {
        format!("{first}; {second}")
    }
}

fn sooner(at: &mut Option<Timestamp>, other: Option<Timestamp>) {
    *at = match (*at, other) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
}

enum Timed {
    Cause(Cause),
    /// Not a cause before this moment.
    Until(Cause, Timestamp),
}

/// A finding with its times: since when, and when it fails the object.
fn timed(target: &Digest, around: &Surroundings<'_>, history: &mut History, found: &Found<'_>) -> Timed {
    let now = around.now;
    let finding = found.finding.as_ref();
    let key = Key {
        object: found.object().uid(),
        container: finding.container().map_or(0, |name| Uid::parse(name).bits() as u64),
        code: finding.code,
    };
    let seen = history.saw(key, found.object().steps(), now);
    let mut cause = shown(target, found);
    let since = finding.since.unwrap_or(seen).min(seen);
    cause.since = Some(since);
    let policy = around.policy;
    let unschedulable = finding.code == CauseCode::Unschedulable;
    let autoscaler = unschedulable.then(|| scale_up(found.object(), target, around)).flatten();
    let asked = target.hold(finding.code);
    let hold = match autoscaler {
        _ if finding.advisory => Hold::Never,
        Some(ScaleUp::UnderWay) => Hold::Never,
        Some(ScaleUp::Refused) => asked.unwrap_or(policy.scale_up_refused),
        None => asked.unwrap_or(policy.hold(finding.code)),
    };
    match autoscaler {
        Some(ScaleUp::UnderWay) => cause.message.push_str("; a node is being added for it"),
        Some(ScaleUp::Refused) => cause.message.push_str("; the autoscaler adds no node for it"),
        None => {}
    }
    match hold {
        Hold::Never => {}
        Hold::Millis(hold) => {
            let ends = seen.plus(millis(hold));
            cause.fatal = now >= ends;
            cause.fails_at = (!cause.fatal).then_some(ends);
        }
        Hold::Restarts(limit) => {
            cause.fatal = finding.restarts >= limit && !history.was_ready(found.object());
        }
    }
    let grace_ends = since.plus(millis(policy.unschedulable_grace));
    if unschedulable && now < grace_ends && !cause.fatal {
        return Timed::Until(cause, grace_ends);
    }
    Timed::Cause(cause)
}

/// The newest word of a node autoscaler about a pod.
fn scale_up(pod: &Digest, target: &Digest, around: &Surroundings<'_>) -> Option<ScaleUp> {
    let about_pod = |about: Option<Uid>| match about {
        Some(uid) => pod.uid() == Some(uid),
        None => pod.uid() == target.uid(),
    };
    around
        .events
        .iter()
        .filter(|event| about_pod(event.about))
        .filter_map(|event| Some((event.last_seen, rules::scale_up(event)?)))
        .max_by_key(|(at, _)| *at)
        .map(|(_, word)| word)
}

/// A finding as a cause for people, without times.
fn shown(target: &Digest, found: &Found<'_>) -> Cause {
    let finding = found.finding.as_ref();
    let object = found.object();
    let mut place = Vec::new();
    if found.chain.len() > 1 {
        place.push(object.object_ref().to_string());
    }
    if let Some(container) = finding.container() {
        place.push(format!("container {container}"));
    }
    let mut message = match finding.code {
        // A warning event begins with a word of its own.
        CauseCode::WarningEvent => String::new(),
        code => format!("{code}: "),
    };
    if !place.is_empty() {
        message.push_str(&place.join(", "));
        message.push_str(": ");
    }
    message.push_str(finding.detail());
    if found.count > 1 {
        message.push_str(&format!(" (and {} more)", found.count - 1));
    }
    if let Some(remedy) = found.remedy {
        message.push_str("; ");
        message.push_str(remedy);
    }
    debug_assert!(found.chain.first().is_some_and(|first| std::ptr::eq(*first, target)));
    Cause {
        code: finding.code,
        object: object.object_ref(),
        chain: found.chain.iter().map(|member| member.object_ref()).collect(),
        container: finding.container().map(Into::into),
        message: message.trim_end_matches([':', ' ']).to_owned(),
        since: finding.since,
        fatal: false,
        count: found.count,
        fails_at: None,
    }
}
