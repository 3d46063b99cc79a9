//! What an object may ask of its own judgement, in annotations.

use crate::cause::CauseCode;
use crate::policy::Hold;
use crate::read::Leaf;

/// `CODE=DURATION`, several separated by commas: `ImagePullBackOff=5m,Unschedulable=10m`.
/// A duration is Go's notation (`90s`, `1m30s`, `0`) or `never`.
const HOLD: &str = "kubesettle.io/hold";

/// When the object counts as current, if not by the rules of its kind.
const READY_WHEN: &str = "kubesettle.io/ready-when";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReadyWhen {
    /// It is there.
    Exists,
    /// A Job that has started.
    Started,
    /// An Ingress that has an address.
    Address,
}

type Holds = Option<Box<[(CauseCode, Hold)]>>;

pub(crate) fn read(annotations: Leaf<'_>) -> (Option<ReadyWhen>, Holds) {
    let [ready_when, hold] = annotations.fields([READY_WHEN, HOLD]);
    let ready_when = ready_when.text().and_then(|word| match word.trim() {
        "exists" => Some(ReadyWhen::Exists),
        "started" => Some(ReadyWhen::Started),
        "address" => Some(ReadyWhen::Address),
        _ => None,
    });
    let holds = hold.text().map(|list| {
        list.split(',')
            .filter_map(|entry| {
                let (code, duration) = entry.split_once('=')?;
                Some((CauseCode::parse(code.trim())?, parse_hold(duration.trim())?))
            })
            .take(CauseCode::ALL.len())
            .collect()
    });
    (ready_when, holds)
}

/// A hold as people write it: `never`, `0`, or a duration in Go's notation.
pub(crate) fn parse_hold(text: &str) -> Option<Hold> {
    match text {
        "never" => Some(Hold::Never),
        "0" => Some(Hold::Millis(0)),
        _ => parse_duration(text).map(Hold::Millis),
    }
}

/// Go's notation for durations, down to milliseconds.
fn parse_duration(text: &str) -> Option<u64> {
    const UNITS: &[(&str, f64)] = &[("ms", 1.0), ("h", 3_600_000.0), ("m", 60_000.0), ("s", 1000.0)];
    let mut rest = text;
    let mut total = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, tail) = rest.split_at_checked(digits)?;
        let (unit, scale) = UNITS.iter().find(|(unit, _)| tail.starts_with(unit))?;
        total += number.parse::<f64>().ok()? * scale;
        rest = tail.strip_prefix(unit)?;
    }
    // Ten years are for ever.
    (total <= 315_360_000_000.0).then_some(total as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_are_durations_in_gos_notation() {
        for (text, hold) in [
            ("90s", Some(Hold::Millis(90_000))),
            ("1m30s", Some(Hold::Millis(90_000))),
            ("1.5h", Some(Hold::Millis(5_400_000))),
            ("250ms", Some(Hold::Millis(250))),
            ("0", Some(Hold::Millis(0))),
            ("never", Some(Hold::Never)),
            ("", None),
            ("90", None),
            ("s", None),
            ("1d", None),
        ] {
            assert_eq!(parse_hold(text), hold, "{text}");
        }
    }
}
