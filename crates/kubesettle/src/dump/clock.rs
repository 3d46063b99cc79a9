//! The newest moment at which something happened, by an object's own account.

use std::cell::Cell;
use std::fmt;

use kstatus::Timestamp;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Names of fields that say when something happened.
const MOMENTS: &[&str] = &[
    "acquireTime",
    "completionTime",
    "creationTimestamp",
    "eventTime",
    "finishedAt",
    "firstTimestamp",
    "lastHeartbeatTime",
    "lastObservedTime",
    "lastProbeTime",
    "lastScheduleTime",
    "lastSuccessfulTime",
    "lastTimestamp",
    "deprecatedLastTimestamp",
    "lastTransitionTime",
    "lastUpdateTime",
    "renewTime",
    "startTime",
    "startedAt",
    "time",
];

/// The newest moment in the JSON of an object, none of them after `now`. Its spec tells what is
/// wished, except that of a Lease, which tells who holds it since when.
pub(super) fn newest(json: &[u8], lease: bool, now: Option<Timestamp>) -> Option<Timestamp> {
    let found = Cell::new(None);
    let look = Look { found: &found, now, wishes: !lease, moment: false, top: true };
    // What is nested too deeply to be read holds no moment that counts.
    let _ = look.deserialize(&mut serde_json::Deserializer::from_slice(json));
    found.get()
}

#[derive(Clone, Copy)]
struct Look<'a> {
    found: &'a Cell<Option<Timestamp>>,
    now: Option<Timestamp>,
    /// The spec is to be passed over.
    wishes: bool,
    /// The value looked at is that of a field that says when something happened.
    moment: bool,
    top: bool,
}

impl<'de> DeserializeSeed<'de> for Look<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Look<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        let at = if self.moment { Timestamp::parse(text) } else { None };
        if let Some(at) = at.filter(|at| self.now.is_none_or(|now| *at <= now)) {
            self.found.set(self.found.get().max(Some(at)));
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            if self.top && self.wishes && key == "spec" {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let moment = MOMENTS.contains(&&*key);
            map.next_value_seed(Look { moment, top: false, ..self })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Look { top: false, moment: false, ..self })?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str, now: &str) -> Option<String> {
        newest(json.as_bytes(), false, Timestamp::parse(now)).map(|at| at.to_string())
    }

    #[test]
    fn only_what_has_happened_counts() {
        let json = r#"{"metadata": {"creationTimestamp": "2025-01-01T00:00:00Z"},
            "spec": {"startTime": "2025-03-01T00:00:00Z"},
            "status": {"notAfter": "2025-04-01T00:00:00Z", "conditions": [
                {"type": "Ready", "lastTransitionTime": "2025-01-01T00:01:00Z"},
                {"type": "Odd", "lastTransitionTime": "2077-01-01T00:00:00Z", "message": "2025-02-01T00:00:00Z"}]}}"#;
        assert_eq!(of(json, "2026-01-01T00:00:00Z").as_deref(), Some("2025-01-01T00:01:00Z"));
        assert_eq!(of("{}", "2026-01-01T00:00:00Z"), None);
        assert_eq!(of("[[[", "2026-01-01T00:00:00Z"), None);
    }
}
