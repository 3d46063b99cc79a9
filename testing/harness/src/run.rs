//! Running a program under test: output, exit, time and memory, with a limit.

use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};
use wait4::Wait4;

use crate::{guard, wait};

/// A program that has ended.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was killed because it ran longer than allowed.
    pub timed_out: bool,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// From start to end.
    pub wall: Duration,
    /// CPU time in user mode, its own children included.
    pub user: Duration,
    /// CPU time in kernel mode, its own children included.
    pub system: Duration,
    /// The most memory held, in bytes.
    pub peak: u64,
}

impl Finished {
    /// User and kernel time together.
    pub fn cpu(&self) -> Duration {
        self.user + self.system
    }

    /// Returns standard output when the program ended with code 0.
    ///
    /// # Panics
    ///
    /// When it ended otherwise, with everything it printed.
    #[track_caller]
    pub fn success(self) -> String {
        self.exits_with(0);
        self.stdout
    }

    /// Checks the exit code.
    ///
    /// # Panics
    ///
    /// When it differs, with everything the program printed.
    #[track_caller]
    pub fn exits_with(&self, code: i32) -> &Self {
        assert!(
            self.code == Some(code) && !self.timed_out,
            "expected exit code {code}; got {:?} (signal {:?}, killed at the limit: {}) after {:?}\nstdout:\n{}\nstderr:\n{}",
            self.code,
            self.signal,
            self.timed_out,
            self.wall,
            self.stdout,
            self.stderr
        );
        self
    }
}

/// Runs a command to its end, and kills its process group when that takes longer than `limit`.
///
/// # Panics
///
/// When the program cannot be started.
#[track_caller]
pub fn run(command: Command, limit: Duration) -> Finished {
    spawn(command, b"").finish(limit)
}

/// Starts a command with `input` on its standard input.
///
/// # Panics
///
/// When the program cannot be started.
#[track_caller]
pub fn spawn(mut command: Command, input: &[u8]) -> Running {
    guard::arm();
    let start = Instant::now();
    let spawned =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => panic!("cannot start {}: {error}", command.get_program().display()),
    };
    guard::process(child.id());
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_vec();
        // A program that does not read its input must not block the test.
        std::thread::spawn(move || stdin.write_all(&input));
    }
    let stdout = Capture::start(child.stdout.take());
    let stderr = Capture::start(child.stderr.take());
    Running { child, start, stdout, stderr }
}

/// A program that runs. Dropping it kills its process group.
#[derive(Debug)]
pub struct Running {
    child: Child,
    start: Instant,
    stdout: Capture,
    stderr: Capture,
}

impl Running {
    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Standard output so far.
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// Standard error so far.
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Sends what Ctrl-C sends.
    pub fn interrupt(&self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
    }

    /// Asks it to end.
    pub fn terminate(&self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
    }

    /// Kills it and everything it started, and waits for its end.
    pub fn kill(self) -> Finished {
        self.finish(Duration::ZERO)
    }

    /// Waits until standard output or standard error contains `text`.
    ///
    /// # Panics
    ///
    /// When it does not within `limit`, with what was printed.
    #[track_caller]
    pub fn wait_for_output(&self, text: &str, limit: Duration) {
        let seen = wait::poll(limit, || {
            (self.stdout().contains(text) || self.stderr().contains(text)).then_some(())
        });
        assert!(
            seen.is_some(),
            "waited {limit:?} in vain for {text:?}\nstdout:\n{}\nstderr:\n{}",
            self.stdout(),
            self.stderr()
        );
    }

    /// Waits for the end, and kills the process group when `limit` is over first.
    #[track_caller]
    pub fn finish(mut self, limit: Duration) -> Finished {
        let pid = Pid::from_child(&self.child);
        let timed_out = !ends_within(pid, limit);
        // Also what it may have left in the background, which would hold the pipes open. The id is
        // still its own: the process has not been waited for yet.
        let _ = kill_process_group(pid, Signal::KILL);
        let ended = match self.child.wait4() {
            Ok(ended) => ended,
            Err(error) => panic!("cannot wait for process {}: {error}", self.child.id()),
        };
        let wall = self.start.elapsed();
        let status: ExitStatus = ended.status;
        Finished {
            code: status.code(),
            signal: status.signal(),
            timed_out,
            stdout: self.stdout.end(),
            stderr: self.stderr.end(),
            wall,
            user: ended.rusage.utime,
            system: ended.rusage.stime,
            peak: ended.rusage.maxrss,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        guard::kill(&mut self.child);
    }
}

/// Waits for the end of a child without taking its exit status.
fn ends_within(pid: Pid, limit: Duration) -> bool {
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else {
        return true;
    };
    let end = Instant::now() + limit;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let left = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: i64::from(left.subsec_nanos()) };
        match poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&left)) {
            Ok(ready) => return ready > 0,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Reads one output of a program as it comes.
#[derive(Debug)]
struct Capture {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Capture {
    fn start(source: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let reader = source.map(|mut source| {
            let bytes = Arc::clone(&bytes);
            std::thread::spawn(move || {
                let mut buffer = [0; 16 * 1024];
                while let Ok(count @ 1..) = source.read(&mut buffer) {
                    bytes.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&buffer[..count]);
                }
            })
        });
        Self { bytes, reader }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    /// All of it, once the program has ended.
    fn end(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        self.text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_and_exit_code_are_captured() {
        let done = run(sh("echo out; echo err >&2; exit 3"), Duration::from_secs(10));
        assert_eq!((done.stdout.as_str(), done.stderr.as_str(), done.code), ("out\n", "err\n", Some(3)));
        assert!(done.peak > 0 && !done.timed_out);
    }

    #[test]
    fn a_program_past_its_limit_is_killed_with_its_children() {
        let done = run(sh("echo started; sleep 600 & sleep 600"), Duration::from_millis(200));
        assert!(done.timed_out);
        assert_eq!((done.signal, done.stdout.as_str()), (Some(9), "started\n"));
    }

    #[test]
    fn input_reaches_the_program() {
        assert_eq!(spawn(sh("cat"), b"hello").finish(Duration::from_secs(10)).success(), "hello");
    }

    #[test]
    fn a_background_child_does_not_hold_the_test_up() {
        let done = run(sh("sleep 600 & echo done"), Duration::from_secs(60));
        assert_eq!(done.success(), "done\n");
    }

    #[test]
    fn an_interrupt_reaches_the_program() {
        // Whoever starts the tests in the background has them ignore interrupts, and a shell inherits that.
        let mut program = Command::new("env");
        program.args(["--default-signal=INT", "sh", "-c"]);
        program.arg("trap 'echo bye; exit 7' INT; echo up; while :; do sleep 0.05; done");
        let running = spawn(program, b"");
        running.wait_for_output("up", Duration::from_secs(10));
        running.interrupt();
        let done = running.finish(Duration::from_secs(10));
        assert_eq!((done.code, done.stdout.contains("bye")), (Some(7), true));
    }
}
