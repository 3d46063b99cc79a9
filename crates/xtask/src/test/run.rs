//! Running cargo as a step: its output passes through, its counts are kept.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use harness::guard;

use super::counts::Counts;
use crate::workspace;

/// A guard against a test that hangs, not a measure of speed.
const LIMIT: Duration = Duration::from_secs(40 * 60);

/// Why a step failed, and what it counted until then.
pub(super) struct Failure {
    pub(super) message: String,
    pub(super) counts: Counts,
}

impl Failure {
    fn new(message: String) -> Self {
        Self { message, counts: Counts::default() }
    }
}

pub(super) fn cargo(args: &[&str], env: &[(&str, &str)]) -> Result<Counts, Failure> {
    let shown = format!("cargo {}", args.join(" "));
    println!("  {shown}");
    let mut command = workspace::cargo();
    command
        .args(args)
        .envs(env.iter().copied())
        .current_dir(workspace::root())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .process_group(0);
    let mut child =
        command.spawn().map_err(|error| Failure::new(format!("cannot start {shown}: {error}")))?;
    // Its own group, so that Ctrl-C does not reach it; it ends with this process all the same.
    guard::watch(&child);
    let reader = child.stdout.take().map(|stdout| {
        std::thread::spawn(move || {
            let mut counts = Counts::default();
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                println!("{line}");
                counts.read(&line);
            }
            counts
        })
    });
    let ended = wait(&mut child);
    let counts = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
    let message = match ended {
        Some(status) if status.success() => return Ok(counts),
        Some(status) => format!("{shown} ended with {status}"),
        None => format!("{shown} was stopped after {} minutes", LIMIT.as_secs() / 60),
    };
    Err(Failure { message, counts })
}

/// Waits for the end; kills the process group and returns nothing when the limit is over first.
fn wait(child: &mut Child) -> Option<ExitStatus> {
    let end = Instant::now() + LIMIT;
    while Instant::now() < end {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    guard::kill(child);
    None
}
