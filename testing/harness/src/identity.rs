//! One process for good: its id alone may be given to another one later.

use rustix::process::{Pid, Signal, kill_process};

use crate::usage;

/// A process, known by its id and its start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The process id.
    pub pid: u32,
    /// When it was started, in clock ticks since boot.
    pub started: u64,
}

impl Identity {
    /// The process that has this id now.
    pub fn of(pid: u32) -> Option<Self> {
        usage::start_time(pid).map(|started| Self { pid, started })
    }

    /// This process.
    pub fn own() -> Option<Self> {
        Self::of(std::process::id())
    }

    /// Whether it still runs.
    pub fn lives(self) -> bool {
        Self::of(self.pid) == Some(self) && usage::is_running(self.pid)
    }

    /// Asks it to end, if it still runs.
    pub fn terminate(self) {
        if let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw)
            && self.lives()
        {
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

/// Leaves the terminal and the process group this process was started in, so that it goes on when
/// those end. Call it once, early.
pub fn detach() {
    let _ = rustix::process::setsid();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_with_the_same_id_is_not_taken_for_it() {
        let own = Identity::own().unwrap();
        assert!(own.lives());
        assert!(!Identity { started: own.started + 1, ..own }.lives());
    }
}
