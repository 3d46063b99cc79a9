use std::fmt;

use crate::annotations::ReadyWhen;
use crate::assess::assess;
use crate::digest::Digest;
use crate::history::History;
use crate::kind::Kind;
use crate::rules::{GroupKind, Rulebook};
use crate::surroundings::Surroundings;
use crate::verdict::Verdict;

/// Judges objects of some kinds in code, where no rule in words will do. It is asked before the
/// custom rules and the tables ([`Rulebook::with_reader`]).
///
/// Of an object only its [`Digest`] is kept. What a verdict needs besides is taken out of the JSON
/// by [`keep`](Self::keep) when the object is read, and found on the digest again
/// ([`Digest::kept`]).
pub trait Reader: fmt::Debug + Send + Sync {
    /// True for the kinds that it judges.
    fn reads(&self, kind: &Kind) -> bool;

    /// Kinds of objects that those it judges own, directly or through others, and that its verdict
    /// needs. They are observed as long as such an object is.
    fn children(&self) -> &[GroupKind] {
        &[]
    }

    /// What the verdict will need of this object, which is one that it judges or one of
    /// [`children`](Self::children). It is kept as long as the object is observed: a few dozen
    /// bytes should do. May return `None` for an object that has nothing to add.
    fn keep(&self, kind: &Kind, json: &[u8]) -> Option<Box<[u8]>> {
        let (_, _) = (kind, json);
        None
    }

    /// The verdict on an object that is there and is not being deleted. `None`: the next reader is
    /// asked, and at last the rules. Must be pure: the same arguments give the same verdict.
    fn judge(&self, target: &Digest, around: &Surroundings<'_>) -> Option<Verdict>;
}

impl Rulebook {
    /// [`assess`](crate::assess) by these rules, readers first.
    pub fn assess(&self, target: &Digest, around: &Surroundings<'_>, history: &mut History) -> Verdict {
        let by_nature = target.deleting() || target.ready_when() == Some(ReadyWhen::Exists);
        let mut readers = self.readers().iter().filter(|reader| !by_nature && reader.reads(target.kind()));
        match readers.find_map(|reader| reader.judge(target, around)) {
            Some(verdict) => verdict,
            None => assess(target, around, history),
        }
    }

    /// [`generated_kinds`](crate::generated_kinds) with those that readers want to see.
    pub fn generated_kinds(&self, parent: &Kind) -> Vec<GroupKind> {
        let readers = self.readers().iter().filter(|reader| reader.reads(parent));
        let mut kinds = crate::generated_kinds(parent).to_vec();
        for kind in readers.flat_map(|reader| reader.children()) {
            if !kinds.contains(kind) {
                kinds.push(*kind);
            }
        }
        kinds
    }

    /// True for a kind that generates others, or that readers look at: it may own some.
    pub fn generates(&self, kind: &Kind) -> bool {
        !crate::generated_kinds(kind).is_empty() || self.is_read(kind)
    }

    /// True when a reader needs the children of such an object, whatever state it is in.
    pub(crate) fn needs_children(&self, kind: &Kind) -> bool {
        self.readers().iter().any(|reader| reader.reads(kind) && !reader.children().is_empty())
    }

    /// True when a reader may want more of such an object than its metadata.
    pub(crate) fn is_read(&self, kind: &Kind) -> bool {
        self.readers().iter().any(|reader| {
            let child = |(group, name): &GroupKind| kind.is(group, name);
            reader.reads(kind) || reader.children().iter().any(child)
        })
    }

    /// What readers keep of an object: the first that keeps something.
    pub(crate) fn keep(&self, kind: &Kind, json: &[u8]) -> Option<Box<[u8]>> {
        if self.readers().is_empty() || !self.is_read(kind) {
            return None;
        }
        self.readers().iter().find_map(|reader| reader.keep(kind, json))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Facts, Policy, Status, Timestamp};

    /// A Fleet is current when each of its Ships says `afloat`.
    #[derive(Debug)]
    struct Fleets;

    impl Reader for Fleets {
        fn reads(&self, kind: &Kind) -> bool {
            kind.is("sea.example", "Fleet")
        }

        fn children(&self) -> &[GroupKind] {
            &[("sea.example", "Ship")]
        }

        fn keep(&self, kind: &Kind, json: &[u8]) -> Option<Box<[u8]>> {
            let afloat = std::str::from_utf8(json).ok()?.contains("afloat");
            (kind.kind() == "Ship").then(|| [u8::from(afloat)].into())
        }

        fn judge(&self, _: &Digest, around: &Surroundings<'_>) -> Option<Verdict> {
            let afloat = around.children.iter().all(|ship| ship.kept() == Some(&[1]));
            let status = if afloat { Status::Current } else { Status::InProgress };
            Some(Verdict::new(status, "Ships", "as its ships are"))
        }
    }

    fn object(kind: &str, state: &str, more: &str) -> String {
        format!(
            r#"{{"apiVersion":"sea.example/v1","kind":"{kind}","metadata":{{"name":"x","uid":"{kind}"{more}}},"spec":{{"is":"{state}"}}}}"#
        )
    }

    fn judged(book: &Rulebook, fleet: &str, ship: &str) -> Verdict {
        let fleet = book.digest(fleet.as_bytes()).expect("an object");
        let ship = book.digest(ship.as_bytes()).expect("an object");
        let (facts, policy) = (Facts::default(), Policy::default());
        let now = Timestamp::from_millis(0);
        let around = Surroundings { children: &[&ship], events: &[], facts: &facts, now, policy: &policy };
        book.assess(&fleet, &around, &mut History::default())
    }

    #[test]
    fn a_reader_judges_before_the_rules_by_what_it_kept_of_the_children() {
        let book = Rulebook::default().with_reader(Arc::new(Fleets));
        let fleet = object("Fleet", "", "");
        assert_eq!(judged(&book, &fleet, &object("Ship", "sunk", "")).status, Status::InProgress);
        assert_eq!(judged(&book, &fleet, &object("Ship", "afloat", "")).status, Status::Current);
        let other = object("Harbour", "", "");
        assert_ne!(judged(&book, &other, &object("Ship", "afloat", "")).reason.as_str(), "Ships");
    }

    #[test]
    fn an_object_that_is_being_deleted_is_no_readers_business() {
        let book = Rulebook::default().with_reader(Arc::new(Fleets));
        let fleet = object("Fleet", "", r#","deletionTimestamp":"2025-01-01T00:00:00Z""#);
        assert_eq!(judged(&book, &fleet, &object("Ship", "afloat", "")).status, Status::Terminating);
    }

    #[test]
    fn kinds_that_are_read_are_fetched_whole_and_their_children_wanted_in_any_state() {
        #[derive(Debug)]
        struct Settings;
        impl Reader for Settings {
            fn reads(&self, kind: &Kind) -> bool {
                kind.is("", "ConfigMap")
            }
            fn judge(&self, _: &Digest, _: &Surroundings<'_>) -> Option<Verdict> {
                None
            }
        }
        let book = Rulebook::default().with_reader(Arc::new(Settings)).with_reader(Arc::new(Fleets));
        assert!(!book.metadata_suffices(&Kind::new("v1", "ConfigMap")));
        assert!(book.metadata_suffices(&Kind::new("v1", "Secret")));
        assert_eq!(book.generated_kinds(&Kind::new("sea.example/v1", "Fleet")), [("sea.example", "Ship")]);
        let fleet = book.digest(object("Fleet", "", "").as_bytes()).expect("an object");
        assert!(fleet.wants_children() && fleet.needs_children());
        assert!(book.digest(object("Ship", "", "").as_bytes()).expect("an object").kept().is_some());
    }
}
