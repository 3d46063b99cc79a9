//! What events say, found by the object they are about. Bounded: a namespace may hold thousands.

use std::collections::HashMap;

use kstatus::{EventNote, Uid};

/// Events kept about one object, and objects that one stream may have events about.
const PER_OBJECT: usize = 8;
const OBJECTS: usize = 4_096;

#[derive(Debug)]
struct Kept {
    event: Uid,
    epoch: u32,
    note: EventNote,
}

/// The events of all streams.
#[derive(Debug, Default)]
pub(super) struct Notes {
    keys: HashMap<u32, HashMap<Uid, Vec<Kept>>>,
}

impl Notes {
    /// Keeps an event, unless there are newer ones enough; true when it was kept.
    pub(super) fn put(&mut self, key: u32, epoch: u32, event: Uid, note: EventNote) -> bool {
        let Some(about) = note.about else { return false };
        let objects = self.keys.entry(key).or_default();
        if objects.len() >= OBJECTS && !objects.contains_key(&about) {
            return false;
        }
        let kept = objects.entry(about).or_default();
        kept.retain(|other| other.event != event);
        kept.push(Kept { event, epoch, note });
        if kept.len() > PER_OBJECT {
            let oldest = kept.iter().enumerate().min_by_key(|(_, kept)| kept.note.last_seen);
            if let Some((at, _)) = oldest {
                return kept.swap_remove(at).event != event;
            }
        }
        true
    }

    /// Forgets an event that has expired; the object that it was about.
    pub(super) fn remove(&mut self, key: u32, event: Uid) -> Option<Uid> {
        let objects = self.keys.get_mut(&key)?;
        let about = *objects.iter().find(|(_, kept)| kept.iter().any(|kept| kept.event == event))?.0;
        if let Some(kept) = objects.get_mut(&about) {
            kept.retain(|kept| kept.event != event);
            if kept.is_empty() {
                objects.remove(&about);
            }
        }
        Some(about)
    }

    /// Forgets what was not seen in this epoch.
    pub(super) fn sweep(&mut self, key: u32, epoch: u32) {
        if let Some(objects) = self.keys.get_mut(&key) {
            objects.retain(|_, kept| {
                kept.retain(|kept| kept.epoch == epoch);
                !kept.is_empty()
            });
        }
    }

    pub(super) fn drop_key(&mut self, key: u32) {
        self.keys.remove(&key);
    }

    /// What is known about these objects through this stream.
    pub(super) fn about(&self, key: u32, objects: impl Iterator<Item = Uid>) -> Vec<EventNote> {
        let Some(known) = self.keys.get(&key) else { return Vec::new() };
        objects.filter_map(|uid| known.get(&uid)).flatten().map(|kept| kept.note.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(about: &str, second: u8) -> EventNote {
        let json = format!(
            r#"{{"involvedObject":{{"uid":"{about}"}},"type":"Warning","reason":"R","message":"{second}","lastTimestamp":"2025-01-01T00:00:{second:02}Z"}}"#
        );
        EventNote::read(json.as_bytes()).unwrap()
    }

    fn told(notes: &Notes, about: &str) -> Vec<String> {
        let mut told: Vec<String> = notes
            .about(1, [Uid::parse(about)].into_iter())
            .iter()
            .map(|note| note.message.to_string())
            .collect();
        told.sort();
        told
    }

    #[test]
    fn the_newest_few_about_an_object_are_kept() {
        let mut notes = Notes::default();
        for second in 0..20 {
            assert!(notes.put(1, 0, Uid::parse(&format!("e{second}")), note("a", second)));
        }
        assert_eq!(told(&notes, "a"), ["12", "13", "14", "15", "16", "17", "18", "19"]);
        assert!(!notes.put(1, 0, Uid::parse("late"), note("a", 1)), "older than all");
        for n in 0..2 * OBJECTS {
            notes.put(1, 0, Uid::parse(&format!("f{n}")), note(&format!("o{n}"), 1));
        }
        assert_eq!(notes.keys[&1].len(), OBJECTS);
    }

    #[test]
    fn an_event_seen_again_takes_its_own_place_and_one_that_expired_goes() {
        let mut notes = Notes::default();
        notes.put(1, 0, Uid::parse("e"), note("a", 1));
        notes.put(1, 0, Uid::parse("e"), note("a", 2));
        notes.put(1, 0, Uid::parse("f"), note("a", 3));
        assert_eq!(told(&notes, "a"), ["2", "3"]);
        assert_eq!(notes.remove(1, Uid::parse("e")), Some(Uid::parse("a")));
        notes.put(1, 1, Uid::parse("g"), note("a", 4));
        notes.sweep(1, 1);
        assert_eq!(told(&notes, "a"), ["4"]);
        notes.drop_key(1);
        assert!(told(&notes, "a").is_empty() && notes.keys.is_empty());
    }
}
