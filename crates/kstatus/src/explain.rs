//! From findings to causes: since when each is there, whether it fails the object, and how it is
//! told.

use crate::assess::millis;
use crate::cause::{Cause, CauseCode};
use crate::digest::Digest;
use crate::findings::{self, Found};
use crate::history::{History, Key};
use crate::outcome::Finding;
use crate::policy::{DEFAULT_HOLDS, Hold};
use crate::rules::{self, ScaleUp};
use crate::surroundings::Surroundings;
use crate::time::Timestamp;
use crate::uid::Uid;
use crate::verdict::{Reason, Status, Verdict};

/// Finds the causes, and lets those whose hold has ended fail the object.
pub(crate) fn explain(
    target: &Digest,
    around: &Surroundings<'_>,
    history: &mut History,
    verdict: &mut Verdict,
) {
    let (found, family) = findings::collect(target, around);
    history.note_ready(family.iter().filter_map(|member| {
        let ready = member.own_status() == Status::Current;
        Some((member.uid()?, ready))
    }));
    let mut groups: Vec<Timed<'_, '_>> = Vec::new();
    for found in &found {
        fold(&mut groups, timed(target, around, history, found));
    }
    groups.sort_by_key(Timed::rank);
    for group in &groups {
        verdict.reassess_at = sooner(verdict.reassess_at, sooner(group.not_before, group.fails_at));
    }
    let (young, grown): (Vec<_>, Vec<_>) = groups.iter().partition(|group| group.not_before.is_some());
    let causes: Vec<Cause> = grown.into_iter().map(Timed::cause).collect();
    // A pod that starts is not ready for a while: that is no news.
    let told = young.iter().find(|group| !is_unready(&group.found.finding)).map(|group| group.cause());
    let specific = causes.first().or(told.as_ref());
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
pub(crate) fn join(first: &str, second: &str) -> String {
    let detail = second.split_once(": ").map_or(second, |(_, detail)| detail);
    if first.contains(second) || (!detail.is_empty() && first.contains(detail)) {
        first.to_owned()
    } else {
        format!("{first}; {second}")
    }
}

fn sooner(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// A finding with its times.
struct Timed<'f, 'a> {
    found: &'f Found<'a>,
    since: Timestamp,
    fatal: bool,
    fails_at: Option<Timestamp>,
    /// No cause before this moment.
    not_before: Option<Timestamp>,
    autoscaler: Option<ScaleUp>,
    /// On how many objects the same was found.
    count: u32,
}

fn timed<'f, 'a>(
    target: &Digest,
    around: &Surroundings<'_>,
    history: &mut History,
    found: &'f Found<'a>,
) -> Timed<'f, 'a> {
    let (now, policy) = (around.now, around.policy);
    let finding = found.finding.as_ref();
    let key = Key {
        object: found.object().uid(),
        container: finding.container().map_or(0, |name| Uid::parse(name).bits() as u64),
        code: finding.code,
    };
    let seen = history.saw(key, found.object().steps(), now);
    let since = finding.since.unwrap_or(seen).min(seen);
    let unschedulable = finding.code == CauseCode::Unschedulable;
    let autoscaler = unschedulable.then(|| scale_up(found.object(), target, around)).flatten();
    let asked = target.hold(finding.code).or_else(|| target.hold(held_as(finding)));
    let hold = match autoscaler {
        _ if finding.advisory => Hold::Never,
        Some(ScaleUp::UnderWay) => Hold::Never,
        Some(ScaleUp::Refused) => asked.unwrap_or(policy.scale_up_refused),
        None => asked.unwrap_or(policy.hold(held_as(finding))),
    };
    let ends = match hold {
        Hold::Millis(hold) => Some(seen.plus(millis(hold))),
        Hold::Never | Hold::Restarts(_) => None,
    };
    let fatal = match hold {
        Hold::Never => false,
        Hold::Millis(_) => ends.is_some_and(|ends| now >= ends),
        Hold::Restarts(limit) => finding.restarts >= limit && !history.was_ready(found.object()),
    };
    let grace_ends = since.plus(millis(policy.unschedulable_grace));
    let young = (unschedulable || is_unready(finding)) && now < grace_ends && !fatal;
    Timed {
        found,
        since,
        fatal,
        fails_at: ends.filter(|_| !fatal),
        not_before: young.then_some(grace_ends),
        autoscaler,
        count: 1,
    }
}

/// It was seen on the pod and not told by an event: nobody knows yet whether a probe fails or is about
/// to succeed.
fn is_unready(finding: &Finding) -> bool {
    finding.code == CauseCode::ProbeFailed && finding.container().is_some()
}

/// A container that runs again after it crashed is in the same trouble as while it waits for that:
/// the verdict does not change with every turn of the loop.
fn held_as(finding: &Finding) -> CauseCode {
    match finding.code {
        CauseCode::Error | CauseCode::OOMKilled if finding.restarts > 0 => CauseCode::CrashLoopBackOff,
        code => code,
    }
}

/// Adds a finding, or counts it with an equal one: the same cause in the same container of another
/// pod. The one that is further along speaks for all.
fn fold<'f, 'a>(groups: &mut Vec<Timed<'f, 'a>>, item: Timed<'f, 'a>) {
    let same = |group: &&mut Timed<'f, 'a>| {
        let (one, other) = (group.found, item.found);
        one.finding.code == other.finding.code
            && one.finding.container() == other.finding.container()
            && one.chain.len() == other.chain.len()
            && group.not_before.is_some() == item.not_before.is_some()
            && !std::ptr::eq(one.object(), other.object())
    };
    let Some(group) = groups.iter_mut().find(same) else { return groups.push(item) };
    let count = group.count.saturating_add(1);
    if item.standing() < group.standing() {
        *group = item;
    }
    group.count = count;
}

impl Timed<'_, '_> {
    /// Of equal causes the least speaks: fails first, blocks, has failed most often.
    fn standing(&self) -> impl Ord {
        let fails_at = self.fails_at.map_or(i64::MAX, Timestamp::as_millis);
        let restarts = std::cmp::Reverse(self.found.finding.restarts);
        let name = self.found.object().name().to_owned();
        (!self.fatal, fails_at, self.found.remedy.is_none(), restarts, name)
    }

    /// Most specific first: what was found deepest; there what fails the object before what is
    /// about to, and that before what is only shown; then in the order of the table of causes.
    fn rank(&self) -> impl Ord + use<> {
        let code = self.found.finding.code;
        let depth = std::cmp::Reverse(self.found.chain.len());
        let place = DEFAULT_HOLDS.iter().position(|row| row.code == code);
        (depth, !self.fatal, self.fails_at.is_none(), place)
    }

    fn cause(&self) -> Cause {
        let mut cause = shown(self.found);
        cause.since = Some(self.since);
        cause.fatal = self.fatal;
        cause.fails_at = self.fails_at;
        cause.count = self.count;
        if self.count > 1 {
            cause.message.push_str(&format!(" (and {} more)", self.count - 1));
        }
        match self.autoscaler {
            Some(ScaleUp::UnderWay) => cause.message.push_str("; a node is being added for it"),
            Some(ScaleUp::Refused) => cause.message.push_str("; the autoscaler adds no node for it"),
            None => {}
        }
        if let Some(remedy) = self.found.remedy {
            cause.message.push_str("; ");
            cause.message.push_str(remedy);
        }
        cause
    }
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
pub(crate) fn shown(found: &Found<'_>) -> Cause {
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
    Cause {
        code: finding.code,
        object: object.object_ref(),
        chain: found.chain.iter().map(|member| member.object_ref()).collect(),
        container: finding.container().map(Into::into),
        message: message.trim_end_matches([':', ' ']).to_owned(),
        since: finding.since,
        fatal: false,
        count: 1,
        fails_at: None,
    }
}
