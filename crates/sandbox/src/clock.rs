//! Time as the sandbox's objects tell it: tokio's clock on a settable epoch, so that a test that
//! pauses the clock also pauses creation timestamps.

use std::time::{Duration, UNIX_EPOCH};

use tokio::time::Instant;

/// Ties tokio's monotonic clock to a date.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    started: Instant,
    /// The date at `started`, since 1970.
    epoch: Duration,
}

impl Clock {
    pub(crate) fn new(epoch: Duration) -> Self {
        Self { started: Instant::now(), epoch }
    }

    /// The instant as the `Date` of an answer has it.
    pub(crate) fn http_date(&self, at: Instant) -> String {
        httpdate::fmt_http_date(UNIX_EPOCH + self.epoch + at.saturating_duration_since(self.started))
    }

    /// The instant as the API writes it, in whole seconds.
    pub(crate) fn stamp(&self, at: Instant) -> String {
        let since = self.epoch + at.saturating_duration_since(self.started);
        let (year, month, day) = date(since.as_secs() / 86_400);
        let second = since.as_secs() % 86_400;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// Year, month and day of a day counted from 1970-01-01, by walking eras of 400 years that start in March.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// A duration as Go writes it: `3s`, `1m30s`, `250ms`. `None` when it is not one.
pub(crate) fn go_duration(text: &str) -> Option<Duration> {
    const UNITS: [(&str, f64); 4] = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let mut rest = text.trim();
    let mut seconds = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let unit_end = rest.find(|letter: char| letter.is_ascii_digit()).unwrap_or(rest.len());
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == &rest[..unit_end])?;
        seconds += number * factor;
        rest = &rest[unit_end..];
    }
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn dates_follow_the_paused_clock() {
        for (epoch, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
        ] {
            let clock = Clock::new(Duration::from_secs(epoch));
            assert_eq!(clock.stamp(Instant::now()), expected);
        }
        let clock = Clock::new(Duration::ZERO);
        tokio::time::advance(Duration::from_secs(86_400 + 61)).await;
        assert_eq!(clock.stamp(Instant::now()), "1970-01-02T00:01:01Z");
    }

    #[test]
    fn durations_are_read_as_go_writes_them() {
        for (text, expected) in [
            ("3s", Some(3000)),
            ("1m30s", Some(90_000)),
            ("250ms", Some(250)),
            ("1.5s", Some(1500)),
            ("", None),
            ("3", None),
            ("x", None),
        ] {
            assert_eq!(go_duration(text), expected.map(Duration::from_millis), "{text}");
        }
    }
}
