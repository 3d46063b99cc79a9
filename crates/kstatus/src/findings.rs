//! Collects what is wrong with an object: on itself, on the descendants that speak for it, and in
//! the events about all of them.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::cause::CauseCode;
use crate::digest::Digest;
use crate::outcome::Finding;
use crate::rules;
use crate::surroundings::{EventNote, Surroundings};
use crate::time::Timestamp;
use crate::uid::Uid;
use crate::verdict::Status;

/// A finding, and the way from the judged object to where it was found.
pub(crate) struct Found<'a> {
    /// Never empty: it begins with the judged object.
    pub(crate) chain: Vec<&'a Digest>,
    pub(crate) finding: Cow<'a, Finding>,
    pub(crate) remedy: Option<&'static str>,
    target: &'a Digest,
}

impl<'a> Found<'a> {
    pub(crate) fn new(chain: Vec<&'a Digest>, target: &'a Digest, finding: Cow<'a, Finding>) -> Self {
        Self { chain, finding, remedy: None, target }
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

/// Everything found, and the descendants that were asked.
pub(crate) fn collect<'a>(
    target: &'a Digest,
    around: &Surroundings<'a>,
) -> (Vec<Found<'a>>, Vec<&'a Digest>) {
    let mut by_owner: HashMap<Uid, Vec<&'a Digest>> = HashMap::new();
    if rules::is_observed(target.own()) {
        for child in around.children {
            if let Some(owner) = child.controller() {
                by_owner.entry(owner).or_default().push(child);
            }
        }
    }
    let mut walk = Walk {
        target,
        events: around.events,
        by_owner,
        chain: Vec::new(),
        found: Vec::new(),
        family: Vec::new(),
    };
    walk.visit(target);
    (walk.found, walk.family)
}

/// A walk from an object down to everything it owns.
struct Walk<'a> {
    target: &'a Digest,
    events: &'a [EventNote],
    /// Those that have not been visited yet: a ring of owners ends by itself.
    by_owner: HashMap<Uid, Vec<&'a Digest>>,
    chain: Vec<&'a Digest>,
    found: Vec<Found<'a>>,
    family: Vec<&'a Digest>,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, member: &'a Digest) {
        let owner = self.chain.last().copied();
        self.chain.push(member);
        self.family.push(member);
        self.note(owner, member);
        let children = member.uid().and_then(|uid| self.by_owner.remove(&uid));
        if let Some(children) = children.filter(|_| self.chain.len() <= DEPTH) {
            for child in rules::relevant(member, children) {
                if !child.deleting() {
                    self.visit(child);
                }
            }
        }
        self.chain.pop();
    }

    /// Adds what is wrong with one object.
    fn note(&mut self, owner: Option<&'a Digest>, member: &'a Digest) {
        if member.own_status() == Status::Current && member.own().findings().is_empty() {
            return;
        }
        let mut here: Vec<_> = member.own().findings().iter().map(Cow::Borrowed).collect();
        if member.own_status() != Status::Current {
            let children = member.uid().and_then(|uid| self.by_owner.get(&uid)).into_iter().flatten();
            let made = children.filter_map(|child| child.created()).max();
            let guess = |code| code == CauseCode::ProbeFailed;
            let nothing = here.iter().all(|finding| guess(finding.code));
            let told: Vec<Finding> = of_events(self.target, member, self.events, nothing, made).collect();
            // The object's own word on the same is the better one: it goes when the trouble is over. What
            // a probe says is told by its event alone.
            here.retain(|own| !(guess(own.code) && told.iter().any(|event| guess(event.code))));
            let own: Vec<CauseCode> = here.iter().map(|finding| finding.code).collect();
            here.extend(told.into_iter().filter(|finding| !own.contains(&finding.code)).map(Cow::Owned));
        }
        for finding in here {
            let mut item = Found::new(self.chain.clone(), self.target, finding);
            item.remedy = owner.and_then(|owner| rules::old_revision_matters(owner, member));
            if owner.is_some_and(|owner| rules::owner_judges(owner, item.finding.code)) {
                item.finding.to_mut().advisory = true;
            }
            self.found.push(item);
        }
    }
}

/// What the events about one object say: per cause the newest. `made`: when its youngest child was
/// made; that one could not be made before then is no news any more.
fn of_events<'e>(
    target: &Digest,
    member: &Digest,
    events: &'e [EventNote],
    nothing_else: bool,
    made: Option<Timestamp>,
) -> impl Iterator<Item = Finding> + use<'e> {
    let is_target = std::ptr::eq(target, member);
    let about = |event: &&EventNote| match event.about {
        Some(uid) => member.uid() == Some(uid),
        None => is_target,
    };
    let mut newest: Vec<(CauseCode, &EventNote)> = Vec::new();
    for event in events.iter().filter(about) {
        let Some(code) = rules::event_code(event) else { continue };
        let over = rules::is_refusal(code)
            && made.is_some_and(|made| event.last_seen.is_some_and(|seen| made > seen));
        if over || !rules::event_counts(code, member, nothing_else && is_target) {
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
