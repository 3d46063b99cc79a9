//! One time line for verdicts: the server's clock as far as it is known, read once, and monotonic time
//! since. A clock that is set while a run goes on moves nothing.

use std::time::{SystemTime, UNIX_EPOCH};

use kstatus::Timestamp;
use tokio::time::Instant;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    started: Instant,
    /// Milliseconds since the Unix epoch when it was started.
    wall: i64,
}

impl Clock {
    /// Begins at this time.
    pub(crate) fn start(now: SystemTime) -> Self {
        let wall = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { started: Instant::now(), wall: i64::try_from(wall.as_millis()).unwrap_or(i64::MAX) }
    }

    pub(crate) fn started_at(&self) -> i64 {
        self.wall
    }

    pub(crate) fn now(&self) -> Timestamp {
        let elapsed = i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.wall.saturating_add(elapsed))
    }

    /// The moment on the monotonic clock; now for one that has passed.
    pub(crate) fn instant(&self, at: Timestamp) -> Instant {
        let ahead = at.millis_since(self.now()).clamp(0, i64::from(u32::MAX));
        Instant::now() + std::time::Duration::from_millis(ahead.unsigned_abs())
    }
}
