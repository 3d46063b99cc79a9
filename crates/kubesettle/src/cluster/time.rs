//! How far the server's clock is ahead of ours, read off the `Date` of its answers: what it writes
//! down (when a pod was created, when an event was last seen) is compared with its own time.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::HeaderMap;
use http::header::DATE;

/// `Date` has whole seconds, and the answer was on its way: less than this is no difference.
const BLUR: i64 = 2_000;

#[derive(Debug, Default)]
pub(super) struct ServerTime {
    /// In milliseconds; negative when the server's clock is behind.
    ahead: AtomicI64,
}

impl ServerTime {
    /// Takes note of an answer that came `now`.
    pub(super) fn note(&self, headers: &HeaderMap, now: SystemTime) {
        let date = headers.get(DATE).and_then(|value| value.to_str().ok());
        let Some(date) = date.and_then(|text| httpdate::parse_http_date(text).ok()) else { return };
        // On average half a second has passed since the second began.
        let ahead = millis(date + Duration::from_millis(500)) - millis(now);
        let ahead = if ahead.abs() < BLUR { 0 } else { ahead };
        self.ahead.store(ahead, Ordering::Relaxed);
    }

    /// What the server's clock shows at this moment of ours.
    pub(super) fn at(&self, ours: SystemTime) -> SystemTime {
        let ahead = self.ahead.load(Ordering::Relaxed);
        let apart = Duration::from_millis(ahead.unsigned_abs());
        let there = if ahead < 0 { ours.checked_sub(apart) } else { ours.checked_add(apart) };
        there.unwrap_or(ours)
    }
}

fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn only_a_difference_that_cannot_be_blur_counts() {
        // Wed, 21 Oct 2026 07:28:00 GMT
        let server = UNIX_EPOCH + Duration::from_secs(1_792_567_680);
        let mut headers = HeaderMap::new();
        let time = ServerTime::default();
        let ahead = || millis(time.at(server)) - millis(server);
        time.note(&headers, server);
        assert_eq!(ahead(), 0, "there was no date");
        headers.insert(DATE, HeaderValue::from_static("Wed, 21 Oct 2026 07:28:00 GMT"));
        let rows: [(i64, i64); 5] = [(0, 0), (1_500, 0), (-1_400, 0), (300_500, -300_000), (-59_500, 60_000)];
        for (ours, expected) in rows {
            let shift = Duration::from_millis(ours.unsigned_abs());
            time.note(&headers, if ours < 0 { server - shift } else { server + shift });
            assert_eq!(ahead(), expected, "our clock is {ours} ms from the server's second");
        }
        headers.insert(DATE, HeaderValue::from_static("yesterday"));
        time.note(&headers, server);
        assert_eq!(ahead(), 60_000, "what cannot be read changes nothing");
    }
}
