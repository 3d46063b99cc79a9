//! Programs are built once, whole, and with errors a person can act on. The Go here is a script.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use harness::binaries::{self, Binary};
use harness::{Finished, Running, spawn, wait_until};

const LIMIT: Duration = Duration::from_secs(60);
const CHILD: &str = "KUBESETTLE_TEST_BUILDER";

/// Not a test of its own: a process that wants etcd.
#[test]
fn builder() {
    if std::env::var_os(CHILD).is_some() {
        match binaries::path(Binary::Etcd) {
            Ok(path) => println!("found {}", path.display()),
            Err(error) => println!("failed {error}"),
        }
    }
}

/// An empty cache and a Go of our own making.
struct Place {
    dir: PathBuf,
}

impl Place {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("kubesettle-binaries-{name}-{}", std::process::id()));
        fs::create_dir_all(dir.join("bin")).unwrap();
        Self { dir }
    }

    /// `build` is what the script does for `go build`, with `$out` as the file to make.
    fn go(self, version: &str, build: &str) -> Self {
        let path = self.dir.join("bin/go");
        let script = format!(
            "#!/bin/sh
if [ \"$1\" = env ]; then echo {version}; exit; fi
while [ $# -gt 0 ]; do if [ \"$1\" = -o ]; then out=$2; fi; shift; done
{build}
"
        );
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn command(&self) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["builder", "--exact", "--nocapture"])
            .env(CHILD, "1")
            .env("XDG_CACHE_HOME", &self.dir)
            .env("PATH", format!("{}:/usr/bin:/bin", self.dir.join("bin").display()))
            .env_remove("KUBEBUILDER_ASSETS");
        command
    }

    fn start(&self) -> Running {
        spawn(self.command(), b"")
    }

    fn finish(&self) -> Finished {
        self.start().finish(LIMIT)
    }

    /// What lies in the cache, hidden leftovers included.
    fn folders(&self) -> Vec<String> {
        let root = self.dir.join("kubesettle/binaries");
        let entries = fs::read_dir(root).unwrap().map(|entry| entry.unwrap());
        entries
            .filter(|entry| entry.path().is_dir())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

#[test]
fn what_was_built_is_not_built_again() {
    let place = Place::new("once").go("go1.99.0", "echo program >\"$out\"");
    assert!(place.finish().stderr.contains("etcd: building"));
    let again = place.finish();
    assert!(again.stdout.contains("found "), "{}", again.stdout);
    assert!(!again.stderr.contains("building"), "{}", again.stderr);
}

#[test]
fn a_second_builder_waits_for_the_first() {
    let place = Place::new("two").go("go1.99.0", "sleep 1; echo program >\"$out\"");
    let first = place.start();
    first.wait_for_output("etcd: building", LIMIT);
    let second = place.finish();
    assert!(
        second.stderr.contains(&format!("process {} builds it already", first.id())),
        "{}",
        second.stderr
    );
    assert!(second.stdout.contains("found ") && !second.stderr.contains("etcd: building"));
    assert!(first.finish(LIMIT).stdout.contains("found "));
}

#[test]
fn a_killed_build_leaves_nothing_half() {
    let place = Place::new("killed").go("go1.99.0", "echo half >\"$out\"; sleep 600");
    let first = place.start();
    wait_until("the start of the build", LIMIT, || {
        first.stderr().contains("etcd: building") && place.folders().len() == 1
    });
    first.kill();
    let place = place.go("go1.99.0", "echo whole >\"$out\"");
    let second = place.finish();
    let path = second.stdout.lines().find_map(|line| line.strip_prefix("found ")).unwrap().to_owned();
    assert_eq!(fs::read_to_string(path).unwrap(), "whole\n");
    assert_eq!(place.folders().len(), 1, "{:?}", place.folders());
}

#[test]
fn a_failed_build_shows_the_end_of_its_output_and_where_the_rest_is() {
    let place =
        Place::new("fails").go("go1.99.0", "echo 'no required module provides package x' >&2; exit 1");
    let done = place.finish();
    assert!(done.stdout.contains("no required module provides package x"), "{}", done.stdout);
    let log = place.dir.join("kubesettle/binaries/etcd.log");
    assert!(done.stdout.contains(&format!("next step: read the whole output in {}", log.display())));
    assert!(fs::read_to_string(log).unwrap().contains("no required module"));
}

#[test]
fn an_old_go_is_named_with_what_is_needed() {
    let done = Place::new("old").go("go1.19.2", "exit 1").finish();
    assert!(done.stdout.contains("Go is too old") && done.stdout.contains("go1.19.2"), "{}", done.stdout);
    assert!(done.stdout.contains("next step: install Go 1.26"), "{}", done.stdout);
}

#[test]
fn a_missing_go_is_said_with_the_next_step() {
    let place = Place::new("none");
    let mut command = place.command();
    command.env("PATH", place.dir.join("bin"));
    // The watcher of child processes needs sh.
    std::os::unix::fs::symlink("/bin/sh", place.dir.join("bin/sh")).unwrap();
    let done = spawn(command, b"").finish(LIMIT);
    assert!(done.stdout.contains("cannot run go"), "{}", done.stdout);
    assert!(done.stdout.contains("next step: install Go"), "{}", done.stdout);
}

#[test]
fn programs_in_kubebuilder_assets_come_first() {
    let place = Place::new("assets").go("go1.99.0", "exit 1");
    let own = place.dir.join("etcd");
    fs::write(&own, "").unwrap();
    let mut command = place.command();
    command.env("KUBEBUILDER_ASSETS", &place.dir);
    let done = spawn(command, b"").finish(LIMIT);
    assert!(done.stdout.contains(&format!("found {}", own.display())), "{}", done.stdout);
}
