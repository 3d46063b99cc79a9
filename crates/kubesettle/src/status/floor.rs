//! The state a write of ours left behind; what is older tells nothing about it.

use kstatus::{Digest, Uid};

use crate::watch::Presence;

/// What a write answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Floor {
    /// Which life of the object was written.
    pub uid: Uid,
    /// Its resourceVersion after the write, where the server uses numbers.
    pub version: Option<u64>,
    /// Its generation after the write.
    pub generation: Option<i64>,
    /// Its generation before the write, where that is known.
    pub before: Option<i64>,
}

impl Floor {
    /// True when this state is said to be from after the write.
    pub(crate) fn is_behind(&self, presence: &Presence) -> bool {
        let seen = match presence {
            Presence::Absent { as_of, .. } => *as_of,
            Presence::Present(digest) => digest.resource_version().parse().ok(),
            _ => None,
        };
        seen.zip(self.version).is_some_and(|(seen, written)| seen > written)
    }

    /// True when the write changed what is asked for.
    pub(crate) fn changed(&self) -> bool {
        self.before.zip(self.generation).is_some_and(|(before, after)| before < after)
    }

    /// True when this is the very state that the write left behind: nobody has written since.
    pub(crate) fn is(&self, digest: &Digest) -> bool {
        self.version.is_some()
            && digest.resource_version().parse::<u64>().ok() == self.version
            && digest.uid() == Some(self.uid)
    }

    /// True when this state is at or after the write.
    ///
    /// Versions decide where both are numbers, as servers promise since 1.35 and have always done.
    /// Else the uid and the generation do; absence is then believed only of a kind without them. An
    /// answer to a single GET tells no version, so it may be from before the write.
    pub(crate) fn reached_by(&self, presence: &Presence) -> bool {
        match presence {
            // A kind that is not served is old news: we have just written an object of it.
            Presence::Pending | Presence::NotServed => false,
            Presence::Unknown(_) => true,
            Presence::Absent { as_of, .. } => match (as_of, self.version) {
                (Some(as_of), Some(version)) => *as_of >= version,
                (None, Some(_)) => false,
                (_, None) => true,
            },
            Presence::Present(digest) => {
                let seen = digest.resource_version().parse::<u64>().ok();
                match (seen, self.version) {
                    (Some(seen), Some(version)) => seen >= version,
                    _ => digest.uid() == Some(self.uid) && digest.generation() >= self.generation,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn present(uid: &str, version: &str, generation: i64) -> Presence {
        let json = format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p","uid":"{uid}","resourceVersion":"{version}","generation":{generation}}}}}"#
        );
        Presence::Present(Arc::new(kstatus::digest(json.as_bytes()).unwrap()))
    }

    fn floor(version: Option<u64>) -> Floor {
        Floor { uid: Uid::parse("a"), version, generation: Some(2), before: None }
    }

    #[test]
    fn an_older_version_is_not_believed() {
        assert!(!floor(Some(10)).reached_by(&present("a", "9", 2)));
        assert!(floor(Some(10)).reached_by(&present("a", "10", 2)));
    }

    #[test]
    fn a_later_life_of_the_same_name_is_believed() {
        assert!(floor(Some(10)).reached_by(&present("b", "12", 1)));
        assert!(!floor(Some(10)).reached_by(&present("b", "8", 7)));
    }

    #[test]
    fn without_numbers_uid_and_generation_decide() {
        assert!(floor(None).reached_by(&present("a", "x", 2)));
        assert!(!floor(None).reached_by(&present("a", "x", 1)));
        assert!(!floor(None).reached_by(&present("b", "x", 2)));
    }

    #[test]
    fn absence_from_before_the_write_is_not_believed() {
        assert!(!floor(Some(10)).reached_by(&Presence::Absent { as_of: Some(9), last: None }));
        assert!(floor(Some(10)).reached_by(&Presence::Absent { as_of: Some(10), last: None }));
        assert!(!floor(Some(10)).reached_by(&Presence::Absent { as_of: None, last: None }));
        assert!(floor(None).reached_by(&Presence::Absent { as_of: None, last: None }));
    }
}
