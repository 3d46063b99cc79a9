//! Nothing outlives the process that started it.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use harness::{ControlPlane, Identity, Part, Running, spawn, wait_until};

const LIMIT: Duration = Duration::from_secs(60);

/// Set for the child process that plays the test run which is killed.
const VICTIM: &str = "KUBESETTLE_TEST_VICTIM";

/// Not a test of its own: what the child process of the other tests runs.
#[test]
fn victim() {
    let Ok(end) = std::env::var(VICTIM) else {
        return;
    };
    let plane = ControlPlane::builder().without_controllers().start().unwrap();
    let mut sleep = plane.command("sleep");
    sleep.arg("600");
    let sleeper = spawn(sleep, b"");
    for part in [Part::Etcd, Part::ApiServer] {
        println!("pid {}", plane.process_id(part).unwrap());
    }
    println!("pid {}", sleeper.id());
    println!("dir {}", plane.dir().display());
    println!("up");
    match end.as_str() {
        "panic" => panic!("on purpose"),
        // As a shared control plane, which is never dropped.
        "exit" => {
            std::mem::forget((plane, sleeper));
        }
        _ => std::thread::sleep(Duration::from_secs(600)),
    }
}

struct Victim {
    running: Running,
    processes: Vec<Identity>,
    dir: PathBuf,
}

/// Starts the child process and waits until its control plane is up.
fn start_victim(end: &str) -> Victim {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["victim", "--exact", "--nocapture"]).env(VICTIM, end);
    let running = spawn(command, b"");
    running.wait_for_output("up\n", Duration::from_secs(1200));
    let stdout = running.stdout();
    let values = |key: &str| {
        stdout.lines().filter_map(|line| line.strip_prefix(key)).map(str::to_owned).collect::<Vec<_>>()
    };
    let processes = values("pid ").iter().map(|pid| Identity::of(pid.parse().unwrap()).unwrap()).collect();
    let dir = PathBuf::from(&values("dir ")[0]);
    Victim { running, processes, dir }
}

fn assert_all_end(processes: &[Identity]) {
    assert_eq!(processes.len(), 3);
    wait_until("the end of all processes", LIMIT, || !processes.iter().any(|process| process.lives()));
}

fn assert_removed(dir: &Path) {
    wait_until("the removal of the directory", LIMIT, || !dir.exists());
}

#[test]
fn a_killed_test_process_leaves_nothing_running() {
    let victim = start_victim("sleep");
    assert!(victim.processes.iter().all(|process| process.lives()));
    victim.running.kill();
    assert_all_end(&victim.processes);
    assert_removed(&victim.dir);
}

#[test]
fn an_interrupted_test_process_leaves_nothing_running() {
    let victim = start_victim("sleep");
    victim.running.interrupt();
    victim.running.finish(LIMIT);
    assert_all_end(&victim.processes);
    assert_removed(&victim.dir);
}

#[test]
fn a_control_plane_that_is_never_dropped_ends_with_its_process() {
    let victim = start_victim("exit");
    victim.running.finish(LIMIT);
    assert_all_end(&victim.processes);
    assert_removed(&victim.dir);
}

#[test]
fn a_panic_keeps_the_logs_and_says_where() {
    let victim = start_victim("panic");
    let done = victim.running.finish(LIMIT);
    assert_all_end(&victim.processes);
    let logs = victim.dir.join("logs");
    assert!(done.stderr.contains(&logs.display().to_string()), "{}", done.stderr);
    assert!(logs.join("kube-apiserver.log").is_file());
    assert!(!victim.dir.join("data").exists());
    std::fs::remove_dir_all(victim.dir).unwrap();
}
