//! What was said about each object, and what is held back.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use kubesettle::id::ObjectId;

use crate::print::words::Word;

/// A line that is held back.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) word: Word,
    pub(super) message: String,
    /// It tells what an action did; else it tells mere progress, which newer progress replaces.
    pub(super) acted: bool,
    /// Progress since then, to be told after it.
    pub(super) then: Option<(Word, String)>,
}

impl Held {
    /// What an action did.
    pub(super) fn act(word: Word, message: String) -> Self {
        Self { word, message, acted: true, then: None }
    }

    /// Mere progress.
    pub(super) fn progress(word: Word, message: String) -> Self {
        Self { word, message, acted: false, then: None }
    }
}

/// What was said about each object, and what is held back.
#[derive(Debug, Default)]
pub(super) struct Memory {
    objects: HashMap<ObjectId, Told>,
    /// Held lines by the time they are due, then by age.
    queue: BTreeSet<(Duration, u64, ObjectId)>,
    next: u64,
}

#[derive(Debug, Default)]
struct Told {
    last: Option<(&'static str, String, Duration)>,
    held: Option<(Held, Duration, u64)>,
}

impl Memory {
    /// False when this was the last thing said about the object; else it is from now on.
    pub(super) fn is_news(
        &mut self,
        id: &ObjectId,
        word: &'static str,
        message: &str,
        now: Duration,
    ) -> bool {
        let told = self.told(id);
        if told.last.as_ref().is_some_and(|(w, m, _)| *w == word && m == message) {
            return false;
        }
        told.last = Some((word, message.to_owned(), now));
        true
    }

    /// What the last line about the object said.
    pub(super) fn last_message(&self, id: &ObjectId) -> Option<&str> {
        self.objects.get(id)?.last.as_ref().map(|(_, message, _)| message.as_str())
    }

    /// The word of the last line about the object.
    pub(super) fn last_word(&self, id: &ObjectId) -> Option<&'static str> {
        self.objects.get(id)?.last.as_ref().map(|(word, ..)| *word)
    }

    /// When something was last said about the object.
    pub(super) fn last_said(&self, id: &ObjectId) -> Option<Duration> {
        self.objects.get(id)?.last.as_ref().map(|(_, _, at)| *at)
    }

    /// Holds a line back, instead of one held already.
    pub(super) fn hold(&mut self, id: &ObjectId, held: Held, due: Duration) {
        self.take(id);
        let age = self.next;
        self.next += 1;
        self.told(id).held = Some((held, due, age));
        self.queue.insert((due, age, id.clone()));
    }

    /// The held line, no longer held.
    pub(super) fn take(&mut self, id: &ObjectId) -> Option<Held> {
        let (held, due, age) = self.objects.get_mut(id)?.held.take()?;
        self.queue.remove(&(due, age, id.clone()));
        Some(held)
    }

    /// Puts progress behind a held line that tells what an action did. Gives it back when there
    /// is none.
    pub(super) fn follow(&mut self, id: &ObjectId, progress: Held) -> Option<Held> {
        match self.objects.get_mut(id).and_then(|told| told.held.as_mut()) {
            Some((held, ..)) if held.acted => {
                held.then = Some((progress.word, progress.message));
                None
            }
            _ => Some(progress),
        }
    }

    /// The object whose held line is due first, if it is due by then.
    pub(super) fn due(&self, until: Duration) -> Option<ObjectId> {
        self.queue.first().filter(|(due, ..)| *due <= until).map(|(_, _, id)| id.clone())
    }

    fn told(&mut self, id: &ObjectId) -> &mut Told {
        self.objects.entry(id.clone()).or_default()
    }
}
