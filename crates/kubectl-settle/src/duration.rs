//! Durations as Go and kubectl write them: `300ms`, `1.5h`, `1m30s`.

use std::fmt;
use std::time::Duration;

/// Why a text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParseError {
    /// Not in the notation.
    Notation,
    /// A number without a unit.
    NoUnit,
    /// Less than zero.
    Negative,
    /// More than fits.
    TooLong,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Notation => "not a duration: write it like 30s, 1m30s or 1.5h",
            Self::NoUnit => "the unit is missing: write it like 30s, 5m or 1h",
            Self::Negative => "a duration cannot be negative; 0 means no limit",
            Self::TooLong => "too long",
        })
    }
}

impl std::error::Error for ParseError {}

const UNITS: &[(&str, f64)] = &[
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("μs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
];

/// Reads a duration of zero or more.
pub(crate) fn parse(text: &str) -> Result<Duration, ParseError> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let total = if unsigned == "0" { Duration::ZERO } else { sum(unsigned)? };
    if negative && !total.is_zero() { Err(ParseError::Negative) } else { Ok(total) }
}

fn sum(text: &str) -> Result<Duration, ParseError> {
    if text.is_empty() {
        return Err(ParseError::Notation);
    }
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(rest.len());
        let number: f64 = rest[..end].parse().map_err(|_| ParseError::Notation)?;
        rest = &rest[end..];
        let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
        let unit = match &rest[..end] {
            "" => return Err(ParseError::NoUnit),
            unit => UNITS.iter().find(|(name, _)| *name == unit).ok_or(ParseError::Notation)?.1,
        };
        rest = &rest[end..];
        let part = Duration::try_from_secs_f64(number * unit).map_err(|_| ParseError::TooLong)?;
        total = total.checked_add(part).ok_or(ParseError::TooLong)?;
    }
    Ok(total)
}

/// For people, to the second: `0s`, `42s`, `1m30s`, `2h05m`, `3d04h`.
pub(crate) fn show(time: Duration) -> String {
    let seconds = time.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m{:02}s", seconds % 60),
        (0, _, _) => format!("{hours}h{:02}m", minutes % 60),
        _ => format!("{days}d{:02}h", hours % 24),
    }
}

/// As [`show`], with a decimal below ten seconds: `0.4s`.
pub(crate) fn show_short(time: Duration) -> String {
    if time < Duration::from_secs(10) { format!("{:.1}s", time.as_secs_f64()) } else { show(time) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gos_notation_is_read() {
        let cases = [
            ("0", 0.0),
            ("-0s", 0.0),
            ("30s", 30.0),
            ("1m30s", 90.0),
            ("1.5h", 5400.0),
            ("300ms", 0.3),
            (".5s", 0.5),
            ("1h2m3s4ms", 3723.004),
            ("+2m", 120.0),
            ("10µs", 0.000_01),
        ];
        for (text, seconds) in cases {
            assert_eq!(parse(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_says_why() {
        let cases = [
            ("", ParseError::Notation),
            ("5 minutes", ParseError::Notation),
            ("s", ParseError::Notation),
            ("1.2.3s", ParseError::Notation),
            ("1d", ParseError::Notation),
            ("30", ParseError::NoUnit),
            ("1m30", ParseError::NoUnit),
            ("-5s", ParseError::Negative),
            ("99999999999999999999h", ParseError::TooLong),
        ];
        for (text, error) in cases {
            assert_eq!(parse(text), Err(error), "{text:?}");
        }
    }

    #[test]
    fn times_are_short_for_people() {
        let cases = [(0, "0s"), (59, "59s"), (90, "1m30s"), (3723, "1h02m"), (90_000, "1d01h")];
        for (seconds, text) in cases {
            assert_eq!(show(Duration::from_secs(seconds)), text);
        }
    }
}
