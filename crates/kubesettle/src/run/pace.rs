//! How many requests may be under way: more while the server keeps up, half when it says no.

/// A window that opens by success and halves when throttled.
#[derive(Debug)]
pub(super) struct Pace {
    window: usize,
    under_way: usize,
    successes: usize,
}

const FIRST: usize = 16;
const WIDEST: usize = 50;

impl Pace {
    pub(super) fn new() -> Self {
        Self { window: FIRST, under_way: 0, successes: 0 }
    }

    /// Takes a place; false when there is none.
    pub(super) fn enter(&mut self) -> bool {
        let free = self.under_way < self.window;
        self.under_way += usize::from(free);
        free
    }

    pub(super) fn has_place(&self) -> bool {
        self.under_way < self.window
    }

    /// Gives the place back; `throttled` when the server asked to slow down.
    pub(super) fn leave(&mut self, throttled: bool) {
        self.under_way = self.under_way.saturating_sub(1);
        if throttled {
            self.window = (self.window / 2).max(1);
            self.successes = 0;
            return;
        }
        self.successes += 1;
        // One more place after a whole window of answers, as congestion control does it.
        if self.successes >= self.window {
            self.successes = 0;
            self.window = (self.window + 1).min(WIDEST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_opens_by_success_and_halves_when_throttled() {
        let mut pace = Pace::new();
        let mut places = 0;
        while pace.enter() {
            places += 1;
        }
        assert_eq!(places, FIRST);
        for _ in 0..FIRST {
            pace.leave(false);
        }
        assert_eq!(pace.window, FIRST + 1);
        pace.enter();
        pace.leave(true);
        assert_eq!(pace.window, FIRST.div_ceil(2));
        for _ in 0..100_000 {
            pace.leave(false);
        }
        assert_eq!(pace.window, WIDEST);
        for _ in 0..20 {
            pace.leave(true);
        }
        assert!(pace.enter(), "one request is always possible");
    }
}
