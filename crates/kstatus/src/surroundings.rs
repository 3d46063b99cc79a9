use crate::digest::Digest;
use crate::facts::Facts;
use crate::policy::Policy;
use crate::read::Leaf;
use crate::text::{MESSAGE_LIMIT, prefix};
use crate::time::Timestamp;
use crate::uid::Uid;

/// An event of the cluster about one object, as far as a verdict needs it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventNote {
    /// The uid of the object the event is about; `None`: the judged object itself.
    pub about: Option<Uid>,
    /// Whether its type is `Warning`.
    pub warning: bool,
    /// Its reason, such as `FailedMount`.
    pub reason: Box<str>,
    /// Its message.
    pub message: Box<str>,
    /// When it was last seen.
    pub last_seen: Option<Timestamp>,
}

impl EventNote {
    /// Reads an event of either API (`v1` or `events.k8s.io/v1`). `None` when the bytes are no JSON
    /// object, or it has no reason.
    ///
    /// The note is about the uid the event refers to; a reference without one leaves `about` empty,
    /// which means the judged object, so give such a note only to the object it belongs to.
    pub fn read(json: &[u8]) -> Option<Self> {
        let [involved, regarding, kind, reason, message, note, times @ ..] = Leaf::document(
            json,
            [
                "involvedObject",
                "regarding",
                "type",
                "reason",
                "message",
                "note",
                "lastTimestamp",
                "deprecatedLastTimestamp",
                "eventTime",
                "firstTimestamp",
                "series",
            ],
        )?;
        let [last, old_last, event, first, series] = times;
        let object = if regarding.is_some() { regarding } else { involved };
        let said = message.text().or_else(|| note.text()).unwrap_or_default();
        let seen = [series.field("lastObservedTime"), last, old_last, event, first];
        Some(Self {
            about: object.field("uid").text().map(|uid| Uid::parse(&uid)),
            warning: kind.text().as_deref() == Some("Warning"),
            reason: prefix(&reason.text()?, 128).into(),
            message: prefix(&said, MESSAGE_LIMIT).into(),
            last_seen: seen.iter().filter_map(|at| Timestamp::parse(&at.text()?)).max(),
        })
    }
}

impl EventNote {
    /// False when no verdict would be another for it: for whoever watches events and keeps few.
    pub fn may_count(&self) -> bool {
        crate::rules::event_code(self).is_some()
            || crate::rules::scale_up(self).is_some()
            || crate::rules::is_about_binding(self)
    }
}

/// Everything besides the object itself that a verdict may use.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// All descendants, flat and in any order; they are linked by the uid of their owner, so
    /// strangers among them do no harm.
    pub children: &'a [&'a Digest],
    /// Events about the object and its descendants.
    pub events: &'a [EventNote],
    /// What is known of the cluster.
    pub facts: &'a Facts,
    /// The moment of the judgement.
    pub now: Timestamp,
    /// What the run has set.
    pub policy: &'a Policy,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_both_apis_are_read() {
        let core = EventNote::read(
            br#"{"involvedObject": {"uid": "a"}, "type": "Warning", "reason": "FailedMount",
            "message": "no", "lastTimestamp": "2025-01-01T00:00:05Z", "eventTime": null}"#,
        );
        let newer = EventNote::read(
            br#"{"regarding": {"uid": "a"}, "type": "Warning", "reason": "FailedMount", "note": "no",
            "eventTime": "2025-01-01T00:00:00Z", "series": {"lastObservedTime": "2025-01-01T00:00:05.000000Z"}}"#,
        );
        assert_eq!(core, newer);
        let note = core.unwrap();
        assert_eq!((note.warning, &*note.message), (true, "no"));
        assert_eq!(note.last_seen, Timestamp::parse("2025-01-01T00:00:05Z"));
        assert_eq!(EventNote::read(b"{}"), None);
    }
}
