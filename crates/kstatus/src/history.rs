use std::collections::HashMap;

use crate::cause::CauseCode;
use crate::digest::Digest;
use crate::time::Timestamp;
use crate::uid::Uid;

/// What earlier judgements of one object left behind: since when each cause has been seen, and what
/// progress looked like then. Opaque; one value per object and run, given to every [`assess`].
///
/// A fresh history means: everything is seen for the first time now, so every hold starts now.
///
/// [`assess`]: crate::assess
#[derive(Clone, Default, Debug)]
pub struct History {
    first_seen: Option<Timestamp>,
    /// The most of the wanted number the object has ever had.
    best: i64,
    sightings: HashMap<Key, Sighting>,
    /// Sorted.
    ever_ready: Vec<Uid>,
    /// When the object was last current.
    settled: Option<Timestamp>,
}

/// One cause that is being watched.
#[derive(Clone, Debug)]
struct Sighting {
    since: Timestamp,
    steps: u16,
    /// Still there in the judgement that is being made.
    fresh: bool,
}

/// What makes two sightings the same cause.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Key {
    pub(crate) object: Option<Uid>,
    pub(crate) container: u64,
    pub(crate) code: CauseCode,
}

impl History {
    /// Begins a judgement: notes how far the object is. More than ever before restarts all holds.
    pub(crate) fn begin(&mut self, now: Timestamp, have: i64) {
        self.first_seen.get_or_insert(now);
        for sighting in self.sightings.values_mut() {
            sighting.fresh = false;
            if have > self.best {
                sighting.since = now;
            }
        }
        self.best = self.best.max(have);
    }

    pub(crate) fn first_seen(&self, now: Timestamp) -> Timestamp {
        self.first_seen.unwrap_or(now)
    }

    /// Since when a cause has been there without progress of the object it is found on.
    pub(crate) fn saw(&mut self, key: Key, steps: u16, now: Timestamp) -> Timestamp {
        // A pull that fails alternates between two words, a container that crashes between waiting
        // and running.
        let key = Key { code: same_trouble(key.code), ..key };
        let sighting = self.sightings.entry(key).or_insert(Sighting { since: now, steps, fresh: true });
        if steps > sighting.steps {
            sighting.since = now;
        }
        sighting.steps = steps;
        sighting.fresh = true;
        sighting.since
    }

    /// Ends a judgement: what was not seen again is forgotten.
    pub(crate) fn end(&mut self) {
        self.sightings.retain(|_, sighting| sighting.fresh);
    }

    /// Notes which of the present descendants are ready; of others nothing is kept.
    pub(crate) fn note_ready(&mut self, pods: impl Iterator<Item = (Uid, bool)>) {
        let mut kept = Vec::new();
        for (uid, ready) in pods {
            if ready || self.ever_ready.binary_search(&uid).is_ok() {
                kept.push(uid);
            }
        }
        kept.sort_unstable();
        self.ever_ready = kept;
    }

    /// Notes that the object is current, and so all its pods of now are ready.
    pub(crate) fn note_settled(&mut self, now: Timestamp) {
        self.settled = Some(now);
    }

    pub(crate) fn was_ready(&self, pod: &Digest) -> bool {
        let seen = pod.uid().is_some_and(|uid| self.ever_ready.binary_search(&uid).is_ok());
        // Creation times have whole seconds: a pod of the same second may be the one that came after.
        let before = |created: Timestamp, settled: Timestamp| created.plus(1000) <= settled;
        seen || matches!((pod.created(), self.settled), (Some(created), Some(settled)) if before(created, settled))
    }
}

fn same_trouble(code: CauseCode) -> CauseCode {
    match code {
        CauseCode::ErrImagePull => CauseCode::ImagePullBackOff,
        CauseCode::CreateContainerConfigError | CauseCode::RunContainerError => {
            CauseCode::CreateContainerError
        }
        CauseCode::Error | CauseCode::OOMKilled => CauseCode::CrashLoopBackOff,
        other => other,
    }
}
