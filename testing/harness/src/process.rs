//! One long-running child: its own process group, output to a log file, ended by handle.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::error::{Context, Error};
use crate::{guard, wait};

/// A running child. Dropping it kills its process group.
#[derive(Debug)]
pub(crate) struct Process {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `program`; what it prints is appended to `log`.
    pub(crate) fn start<A: AsRef<OsStr>>(
        name: &'static str,
        program: &Path,
        args: &[A],
        home: &Path,
        log: &Path,
    ) -> Result<Self, Error> {
        guard::arm();
        let out = File::options()
            .create(true)
            .append(true)
            .open(log)
            .context(|| format!("cannot open the log {}", log.display()))?;
        let err = out.try_clone().context(|| format!("cannot open the log {}", log.display()))?;
        let child = Command::new(program)
            .args(args)
            // A person's kubeconfig, proxies and Go settings must not reach a test's control plane.
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("HOME", home)
            .current_dir(home)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .process_group(0)
            .spawn()
            .context(|| format!("cannot start {name} ({})", program.display()))?;
        guard::process(child.id());
        Ok(Self { name, child, log: log.to_path_buf() })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// An error that quotes the end of the log, when the process has ended by itself.
    pub(crate) fn check(&mut self) -> Result<(), Error> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(self.ended(status)),
            Err(error) => Err(Error::new(format!("cannot ask for the state of {}: {error}", self.name))),
        }
    }

    fn ended(&self, status: ExitStatus) -> Error {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let tail = lines[lines.len().saturating_sub(12)..].join("\n");
        Error::new(format!("{} ended with {status}; the end of its log:\n{tail}", self.name))
            .next(format!("read {}", self.log.display()))
    }

    /// Sends a signal to the process alone.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill_process(self.pid(), signal);
    }

    /// Asks the process to end, and kills it when it has not after `grace`.
    pub(crate) fn stop(mut self, grace: Duration) {
        self.signal(Signal::TERM);
        let _ = wait::poll(grace, || self.child.try_wait().ok().flatten());
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        guard::kill(&mut self.child);
    }
}
