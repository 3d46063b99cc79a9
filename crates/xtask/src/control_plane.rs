//! `cargo xtask control-plane`: one control plane for a person, which goes on when the command ends.
//!
//! A process in the background holds it. A state file in the user's cache names that process; it
//! ends by a signal, and everything it started ends with it.

use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::Subcommand;
use harness::binaries::{self, Module};
use harness::{ControlPlane, Identity};
use serde::{Deserialize, Serialize};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start it, and print how to use it
    Up {
        /// How many fake nodes
        #[arg(long, default_value_t = 3)]
        nodes: usize,
    },
    /// End it
    Down,
    /// Say whether it runs, and where
    Status,
    /// Print shell exports for it: eval "$(cargo xtask control-plane env)"
    Env,
    /// Hold a control plane until this process is ended
    #[command(hide = true)]
    Hold {
        #[arg(long)]
        nodes: usize,
        #[arg(long)]
        state: PathBuf,
    },
}

/// What the state file says.
#[derive(Debug, Serialize, Deserialize)]
struct State {
    pid: u32,
    started: u64,
    url: String,
    kubeconfig: PathBuf,
    kubectl: PathBuf,
    dir: PathBuf,
}

impl State {
    /// The running control plane, if there is one.
    fn read(path: &Path) -> Option<Self> {
        let state: Self = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        state.holder().lives().then_some(state)
    }

    fn holder(&self) -> Identity {
        Identity { pid: self.pid, started: self.started }
    }
}

pub(crate) fn run(command: Command) -> Result<ExitCode, Box<dyn Error>> {
    let path = state_path()?;
    match command {
        Command::Up { nodes } => up(&path, nodes),
        Command::Down => down(&path),
        Command::Status => Ok(status(&path)),
        Command::Env => env(&path),
        Command::Hold { nodes, state } => hold(&state, nodes),
    }
}

/// The kubeconfig of the control plane that runs, started if none does.
pub(crate) fn kubeconfig() -> Result<PathBuf, Box<dyn Error>> {
    let path = state_path()?;
    up(&path, 3)?;
    let state = State::read(&path).ok_or("the control plane ended right after its start")?;
    Ok(state.kubeconfig)
}

fn state_path() -> Result<PathBuf, Box<dyn Error>> {
    let binaries = binaries::cache_dir()?;
    let cache = binaries.parent().unwrap_or(&binaries);
    fs::create_dir_all(cache)?;
    Ok(cache.join("control-plane.json"))
}

fn up(path: &Path, nodes: usize) -> Result<ExitCode, Box<dyn Error>> {
    if let Some(state) = State::read(path) {
        println!("The control plane runs already.\n");
        describe(&state);
        return Ok(ExitCode::SUCCESS);
    }
    let _ = fs::remove_file(path);
    binaries::build(&Module::CONTROL_PLANE)?;
    let log = path.with_extension("log");
    let out = File::create(&log)?;
    let start = Instant::now();
    let mut holder = std::process::Command::new(std::env::current_exe()?)
        .args(["control-plane", "hold", "--nodes", &nodes.to_string(), "--state"])
        .arg(path)
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(out)
        .spawn()?;
    loop {
        if let Some(state) = State::read(path) {
            println!("The control plane is up after {:.1} s.\n", start.elapsed().as_secs_f64());
            describe(&state);
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(status) = holder.try_wait()? {
            let said = fs::read_to_string(&log).unwrap_or_default();
            return Err(format!("the control plane did not start ({status}):\n{said}").into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn down(path: &Path) -> Result<ExitCode, Box<dyn Error>> {
    let Some(state) = State::read(path) else {
        println!("No control plane runs.");
        let _ = fs::remove_file(path);
        return Ok(ExitCode::SUCCESS);
    };
    state.holder().terminate();
    // Its directory goes last, after its processes.
    let end = Instant::now() + Duration::from_secs(30);
    while state.holder().lives() || state.dir.exists() {
        if Instant::now() > end {
            return Err(format!(
                "process {} or its directory {} is still there",
                state.pid,
                state.dir.display()
            )
            .into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    fs::remove_file(path)?;
    println!("The control plane is down.");
    Ok(ExitCode::SUCCESS)
}

fn status(path: &Path) -> ExitCode {
    match State::read(path) {
        Some(state) => {
            println!("The control plane runs at {} (process {}).\n", state.url, state.pid);
            describe(&state);
            ExitCode::SUCCESS
        }
        None => {
            println!("No control plane runs; start one with: cargo xtask control-plane up");
            ExitCode::FAILURE
        }
    }
}

fn env(path: &Path) -> Result<ExitCode, Box<dyn Error>> {
    let state = State::read(path).ok_or("no control plane runs\nnext step: cargo xtask control-plane up")?;
    println!("export KUBECONFIG='{}'", state.kubeconfig.display());
    if let Some(folder) = state.kubectl.parent() {
        println!("export PATH='{}':\"$PATH\"", folder.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(state: &State) {
    println!("  export KUBECONFIG={}", state.kubeconfig.display());
    println!("  {} get nodes", state.kubectl.display());
    println!();
    println!("In this shell: eval \"$(cargo xtask control-plane env)\"");
    println!("Logs: {}", state.dir.join("logs").display());
    println!("End it: cargo xtask control-plane down");
}

fn hold(path: &Path, nodes: usize) -> Result<ExitCode, Box<dyn Error>> {
    harness::detach();
    let plane = ControlPlane::builder().nodes(nodes).start()?;
    let own = Identity::own().ok_or("this system has no /proc, which tells processes apart")?;
    let state = State {
        pid: own.pid,
        started: own.started,
        url: plane.url().to_owned(),
        kubeconfig: plane.admin_kubeconfig().to_path_buf(),
        kubectl: plane.kubectl_path().to_path_buf(),
        dir: plane.dir().to_path_buf(),
    };
    // Renamed into place, so that nobody reads half of it.
    let unfinished = path.with_extension("new");
    fs::write(&unfinished, serde_json::to_vec_pretty(&state)?)?;
    fs::rename(&unfinished, path)?;
    loop {
        std::thread::park();
    }
}
