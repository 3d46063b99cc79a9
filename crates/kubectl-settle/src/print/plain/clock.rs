//! Times of day for people.

use std::time::{Duration, SystemTime};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

/// Shows moments in a time zone, and knows the moment that belongs to a time since the run began.
#[derive(Debug)]
pub(super) struct Clock {
    zone: TimeZone,
    began: SystemTime,
}

impl Clock {
    pub(super) fn new(zone: TimeZone) -> Self {
        Self { zone, began: SystemTime::UNIX_EPOCH }
    }

    /// Learns the moment of an event.
    pub(super) fn set(&mut self, time: SystemTime, elapsed: Duration) {
        self.began = time.checked_sub(elapsed).unwrap_or(time);
    }

    pub(super) fn at(&self, elapsed: Duration) -> SystemTime {
        self.began.checked_add(elapsed).unwrap_or(self.began)
    }

    /// `14:02:11`.
    pub(super) fn time(&self, time: SystemTime) -> String {
        self.zoned(time).strftime("%H:%M:%S").to_string()
    }

    /// The time alone within a day of the run's beginning, else with the date.
    pub(super) fn since(&self, since: kstatus::Timestamp) -> String {
        let since = Timestamp::from_millisecond(since.as_millis()).unwrap_or_default();
        let began = Timestamp::try_from(self.began).unwrap_or_default();
        let near = began.duration_since(since).abs() < SignedDuration::from_hours(24);
        let format = if near { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" };
        since.to_zoned(self.zone.clone()).strftime(format).to_string()
    }

    /// Time from one moment to a later one.
    pub(super) fn passed(&self, since: kstatus::Timestamp, until: SystemTime) -> Duration {
        let until = until.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let since = Duration::from_millis(u64::try_from(since.as_millis()).unwrap_or_default());
        until.saturating_sub(since)
    }

    fn zoned(&self, time: SystemTime) -> Zoned {
        Timestamp::try_from(time).unwrap_or_default().to_zoned(self.zone.clone())
    }
}
