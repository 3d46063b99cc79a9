//! Waiting for something that another process does.

use std::time::{Duration, Instant};

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Waits until `condition` holds.
///
/// # Panics
///
/// When it does not hold within `limit`; the message names `what` was awaited.
#[track_caller]
pub fn wait_until(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) {
    wait_for(what, limit, || condition().then_some(()));
}

/// Waits until `look` finds something, and returns it.
///
/// # Panics
///
/// When it finds nothing within `limit`; the message names `what` was awaited.
#[track_caller]
pub fn wait_for<T>(what: &str, limit: Duration, look: impl FnMut() -> Option<T>) -> T {
    match poll(limit, look) {
        Some(found) => found,
        None => panic!("waited {limit:?} in vain for {what}"),
    }
}

/// The same for code that reports failures instead of panicking.
pub(crate) fn poll<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_is_returned() {
        let mut looks = 0;
        let found = wait_for("the third look", Duration::from_secs(5), || {
            looks += 1;
            (looks == 3).then_some(looks)
        });
        assert_eq!(found, 3);
    }

    #[test]
    #[should_panic(expected = "in vain for a bus")]
    fn the_panic_names_what_was_awaited() {
        wait_until("a bus", Duration::ZERO, || false);
    }
}
