use crate::digest::{Digest, NotAnObject, digest};
use crate::facts::Facts;
use crate::history::History;
use crate::policy::Policy;
use crate::surroundings::Surroundings;
use crate::time::Timestamp;
use crate::verdict::{Status, Verdict};

/// Judges one object among what surrounds it.
///
/// Pure: the same arguments give the same verdict. `history` belongs to this object and remembers
/// since when each cause has been seen.
pub fn assess(target: &Digest, around: &Surroundings<'_>, history: &mut History) -> Verdict {
    let _ = (around, history);
    if target.deleting() {
        return Verdict::plain(
            Status::Terminating,
            "Deletion",
            "Resource scheduled for deletion",
        );
    }
    Verdict::plain(Status::Current, "ResourceCurrent", "Resource is current")
}

/// Judges a lone object: [`digest`] and [`assess`] in one, with nothing known around it.
///
/// # Errors
///
/// When the bytes are not a JSON object.
pub fn compute(json: &[u8], now: Timestamp) -> Result<Verdict, NotAnObject> {
    let (facts, policy) = (Facts::default(), Policy::default());
    let around = Surroundings {
        children: &[],
        events: &[],
        facts: &facts,
        now,
        policy: &policy,
    };
    Ok(assess(&digest(json)?, &around, &mut History::default()))
}
