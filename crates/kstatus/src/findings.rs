//! Collects what is wrong with an object: on itself, on the descendants that speak for it, and in
//! the events about all of them.

use std::borrow::Cow;

use crate::cause::{Cause, CauseCode};
use crate::digest::Digest;
use crate::outcome::Finding;
use crate::policy::DEFAULT_HOLDS;
use crate::rules;
use crate::surroundings::{EventNote, Surroundings};
use crate::verdict::Status;

/// A finding, and the way from the judged object to where it was found.
pub(crate) struct Found<'a> {
    /// Never empty: it begins with the judged object.
    pub(crate) chain: Vec<&'a Digest>,
    pub(crate) finding: Cow<'a, Finding>,
    pub(crate) remedy: Option<&'static str>,
    pub(crate) count: u32,
    target: &'a Digest,
}

impl<'a> Found<'a> {
    pub(crate) fn new(chain: Vec<&'a Digest>, target: &'a Digest, finding: Cow<'a, Finding>) -> Self {
        Self { chain, finding, remedy: None, count: 1, target }
    }

    /// Where it was found.
    pub(crate) fn object(&self) -> &'a Digest {
        self.chain.last().copied().unwrap_or(self.target)
    }
}

/// What was found on the object itself.
pub(crate) fn own(target: &Digest) -> impl Iterator<Item = Found<'_>> {
    let findings = target.own().findings().iter();
    findings.map(move |finding| Found::new(vec![target], target, Cow::Borrowed(finding)))
}

/// Owners deeper than this are no owners of any controller.
const DEPTH: usize = 6;

/// Everything found, equal findings on several objects folded into one; and the descendants that
/// were asked.
pub(crate) fn collect<'a>(
    target: &'a Digest,
    around: &Surroundings<'a>,
) -> (Vec<Found<'a>>, Vec<&'a Digest>) {
    let mut members = vec![vec![target]];
    if rules::is_observed(target.own()) {
        descend(target, around.children, &mut members);
    }
    let mut found = Vec::new();
    for chain in &members {
        let Some(member) = chain.last().copied() else { continue };
        let owner = chain.iter().rev().nth(1).copied();
        let remedy = owner.and_then(|owner| rules::old_revision_matters(owner, member));
        let mut here = Vec::new();
        for finding in member.own().findings() {
            here.push(Found::new(chain.clone(), target, Cow::Borrowed(finding)));
        }
        if member.own_status() != Status::Current {
            let told = of_events(target, member, around.events, here.is_empty());
            here.extend(told.map(|finding| Found::new(chain.clone(), target, Cow::Owned(finding))));
        }
        for mut item in here {
            item.remedy = remedy;
            if owner.is_some_and(|owner| rules::owner_judges(owner, item.finding.code)) {
                item.finding.to_mut().advisory = true;
            }
            fold(&mut found, item);
        }
    }
    let family = members.iter().filter_map(|chain| chain.last().copied()).collect();
    (found, family)
}

fn descend<'a>(owner: &'a Digest, children: &[&'a Digest], members: &mut Vec<Vec<&'a Digest>>) {
    let Some(uid) = owner.uid() else { return };
    let chain = members.iter().find(|chain| chain.last().is_some_and(|last| std::ptr::eq(*last, owner)));
    let chain = chain.cloned().unwrap_or_default();
    if chain.len() > DEPTH {
        return;
    }
    let own: Vec<_> = children.iter().copied().filter(|child| child.controller() == Some(uid)).collect();
    for child in rules::relevant(owner, own) {
        if chain.iter().any(|member| member.uid() == child.uid()) || child.deleting() {
            continue;
        }
        members.push(chain.iter().copied().chain([child]).collect());
        descend(child, children, members);
    }
}

/// What the events about one object say: per cause the newest.
fn of_events<'e>(
    target: &Digest,
    member: &Digest,
    events: &'e [EventNote],
    nothing_else: bool,
) -> impl Iterator<Item = Finding> + use<'e> {
    let is_target = std::ptr::eq(target, member);
    let about = |event: &&EventNote| match event.about {
        Some(uid) => member.uid() == Some(uid),
        None => is_target,
    };
    let mut newest: Vec<(CauseCode, &EventNote)> = Vec::new();
    for event in events.iter().filter(about) {
        let Some(code) = rules::event_code(event) else { continue };
        if !rules::event_counts(code, member, nothing_else && is_target) {
            continue;
        }
        match newest.iter_mut().find(|(of, _)| *of == code) {
            Some((_, kept)) if kept.last_seen <= event.last_seen => *kept = event,
            Some(_) => {}
            None => newest.push((code, event)),
        }
    }
    newest.into_iter().map(|(code, event)| {
        let mut finding = match code {
            CauseCode::WarningEvent => Finding::new(code, &format!("{}: {}", event.reason, event.message)),
            _ => Finding::new(code, &event.message),
        };
        finding.since = event.last_seen;
        finding
    })
}

/// Adds a finding, or counts it with an equal one: the same cause in the same container of
/// another pod. The one that is further along speaks for both.
fn fold<'a>(found: &mut Vec<Found<'a>>, item: Found<'a>) {
    let same = |other: &&mut Found<'a>| {
        other.finding.code == item.finding.code
            && other.finding.container() == item.finding.container()
            && other.chain.len() == item.chain.len()
            && !std::ptr::eq(other.object(), item.object())
    };
    let Some(other) = found.iter_mut().find(same) else { return found.push(item) };
    let count = other.count.saturating_add(1);
    let further =
        (item.finding.restarts, item.remedy.is_some()) > (other.finding.restarts, other.remedy.is_some());
    if further {
        *other = item;
    }
    other.count = count;
}

/// Most specific first: what was found deepest; there what fails the object before what is about
/// to, and that before what is only shown; then in the order of the table of causes.
pub(crate) fn order(causes: &mut [Cause]) {
    let rank = |code: CauseCode| DEFAULT_HOLDS.iter().position(|row| row.code == code);
    causes.sort_by_key(|cause| {
        let depth = std::cmp::Reverse(cause.chain.len());
        (depth, !cause.fatal, cause.fails_at.is_none(), rank(cause.code))
    });
}
