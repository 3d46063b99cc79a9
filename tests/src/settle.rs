//! Running the program.

use std::ffi::{OsStr, OsString};
use std::process::Command;
use std::time::Duration;

use harness::{ControlPlane, Finished, Running, spawn};

use crate::{LIMIT, Lines, binary};

/// One call of the program on a control plane, as its administrator unless said otherwise.
#[derive(Debug)]
pub struct Settle {
    command: Command,
    input: Vec<u8>,
}

/// A call with these words.
pub fn settle(plane: &ControlPlane, words: &[&str]) -> Settle {
    let mut command = plane.command(binary());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("KUBESETTLE_") {
            command.env_remove(name);
        }
    }
    command.args(words);
    Settle { command, input: Vec::new() }
}

impl Settle {
    /// More words.
    pub fn args<A: AsRef<OsStr>>(mut self, words: impl IntoIterator<Item = A>) -> Self {
        self.command.args(words);
        self
    }

    /// As another user, or to another server.
    pub fn kubeconfig(self, path: impl Into<OsString>) -> Self {
        self.env("KUBECONFIG", path)
    }

    /// With a variable in its environment.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.command.env(name, value.into());
        self
    }

    /// With this on standard input, read by `-f -`.
    pub fn input(mut self, text: impl Into<String>) -> Self {
        self.input = text.into().into_bytes();
        self.args(["-f", "-"])
    }

    /// Starts it.
    #[track_caller]
    pub fn start(self) -> Running {
        spawn(self.command, &self.input)
    }

    /// Runs it to its end.
    #[track_caller]
    pub fn run(self) -> Finished {
        self.run_within(LIMIT)
    }

    /// Runs it to its end, which must come within `limit`.
    #[track_caller]
    pub fn run_within(self, limit: Duration) -> Finished {
        let done = self.start().finish(limit);
        assert!(
            !done.timed_out,
            "it did not end within {limit:?}\nstdout:\n{}\nstderr:\n{}",
            done.stdout, done.stderr
        );
        done
    }

    /// Runs it with `-o json` and reads what it says.
    #[track_caller]
    pub fn json(self) -> Lines {
        Lines::of(self.args(["-o", "json"]).run())
    }
}
