//! CPU time and memory of a process, read from `/proc`.

use std::fs;
use std::time::Duration;

/// What a process has used since it was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user and kernel mode together.
    pub cpu: Duration,
    /// Memory held at the moment, in bytes.
    pub resident: u64,
    /// The most memory held so far, in bytes.
    pub peak: u64,
}

impl Usage {
    /// Reads the figures of one process; all zero when there is none.
    pub fn of(pid: u32) -> Self {
        let ticks = stat_field(pid, 14).unwrap_or(0) + stat_field(pid, 15).unwrap_or(0);
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        Self {
            cpu: Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64),
            resident: kilobytes(&status, "VmRSS:") * 1024,
            peak: kilobytes(&status, "VmHWM:") * 1024,
        }
    }
}

/// When a process was started, in clock ticks since boot: with the id it names one process for good.
pub(crate) fn start_time(pid: u32) -> Option<u64> {
    stat_field(pid, 22)
}

/// Whether a process runs; one that has ended and is not yet waited for does not.
pub(crate) fn is_running(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Whether every thread of a process has been stopped by a signal.
pub(crate) fn is_stopped(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let mut states = threads.map(|thread| fs::read_to_string(thread.path().join("stat")).unwrap_or_default());
    states.all(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T')))
}

/// One numeric field of `/proc/PID/stat`, counted as in proc(5).
fn stat_field(pid: u32, number: usize) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name in parentheses and may hold anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split_ascii_whitespace().nth(number - 3)?.parse().ok()
}

fn kilobytes(status: &str, field: &str) -> u64 {
    status
        .lines()
        .find_map(|line| line.strip_prefix(field))
        .and_then(|value| value.split_ascii_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_of_this_process_is_not_zero() {
        let usage = Usage::of(std::process::id());
        assert!(usage.resident > 0 && usage.peak >= usage.resident);
        assert!(start_time(std::process::id()).is_some());
    }

    #[test]
    fn usage_of_no_process_is_zero() {
        assert_eq!(Usage::of(u32::MAX), Usage::default());
    }
}
