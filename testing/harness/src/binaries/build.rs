//! One run of `go build`, with progress for the person who waits for it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::module::{Binary, Module};
use crate::error::{Context, Error};
use crate::guard;

/// Go's own caches hold several times what comes out in the end.
const NEEDED_DISK: u64 = 6 << 30;
const REPORT_EVERY: Duration = Duration::from_secs(20);

/// Builds the programs of a module into `target`, which appears when all is done.
pub(super) fn build(module: Module, target: &Path) -> Result<(), Error> {
    let root = target.parent().unwrap_or(target);
    check_disk(root)?;
    let unfinished = root.join(format!(".{}-{}", module.name(), std::process::id()));
    fs::create_dir_all(&unfinished).context(|| format!("cannot make {}", unfinished.display()))?;
    let log = root.join(format!("{}.log", module.name()));
    let _ = fs::remove_file(&log);

    let start = Instant::now();
    eprintln!("{}: building, about {} min the first time", module.name(), module.minutes());
    for step in steps(module) {
        run_go(module, &step, &unfinished, &log, start)?;
    }
    fs::rename(&unfinished, target).context(|| format!("cannot put the programs at {}", target.display()))?;
    eprintln!("{}: built in {}", module.name(), elapsed(start));
    Ok(())
}

/// Programs whose file is named after their package go in one run, the others one by one.
fn steps(module: Module) -> Vec<Vec<Binary>> {
    let (plain, named): (Vec<_>, Vec<_>) =
        module.binaries().partition(|binary| binary.package().rsplit('/').next() == Some(binary.name()));
    let mut steps: Vec<_> = named.into_iter().map(|binary| vec![binary]).collect();
    if !plain.is_empty() {
        steps.push(plain);
    }
    steps
}

fn run_go(module: Module, binaries: &[Binary], into: &Path, log: &Path, start: Instant) -> Result<(), Error> {
    let output = match binaries {
        [one] => into.join(one.name()),
        _ => into.join(""),
    };
    guard::arm();
    let mut go = Command::new("go")
        .args(["build", "-v", "-trimpath", "-ldflags", &module.link_flags(), "-o"])
        .arg(output)
        .args(binaries.iter().map(|binary| binary.package()))
        .current_dir(module.dir())
        .env("GOFLAGS", flags())
        .env("GOTOOLCHAIN", "local")
        .env("GOWORK", "off")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .context(|| format!("cannot run go build in {}", module.dir().display()))?;
    guard::process(go.id());
    let tail = follow(module, &mut go, log, start)?;
    let status = go.wait().context(|| "cannot wait for go build".to_owned())?;
    if status.success() {
        return Ok(());
    }
    Err(Error::new(format!(
        "cannot build {} in {}: go build ended with {status}; the end of its output:\n{}",
        module.name(),
        module.dir().display(),
        tail.join("\n")
    ))
    .next(format!("read the whole output in {}", log.display())))
}

/// Copies what go prints to the log, reports now and then, and returns the last lines.
fn follow(module: Module, go: &mut Child, log: &Path, start: Instant) -> Result<Vec<String>, Error> {
    let what = || format!("cannot write {}", log.display());
    let mut file = File::options().create(true).append(true).open(log).context(what)?;
    let Some(stderr) = go.stderr.take() else {
        return Ok(Vec::new());
    };
    let lines = AtomicUsize::new(0);
    let mut tail: Vec<String> = Vec::new();
    let (done, ticks) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let lines = &lines;
        scope.spawn(move || {
            while ticks.recv_timeout(REPORT_EVERY) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                eprintln!(
                    "{}: {} of about {} min, {} packages compiled or fetched",
                    module.name(),
                    elapsed(start),
                    module.minutes(),
                    lines.load(Ordering::Relaxed)
                );
            }
        });
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            lines.fetch_add(1, Ordering::Relaxed);
            let _ = writeln!(file, "{line}");
            if tail.len() == 20 {
                tail.remove(0);
            }
            tail.push(line);
        }
        drop(done);
        Ok(tail)
    })
}

/// The person's own flags, and ours after them because the later one counts.
fn flags() -> String {
    let own = std::env::var("GOFLAGS").unwrap_or_default();
    format!("{own} -mod=readonly -buildvcs=false").trim().to_owned()
}

fn check_disk(dir: &Path) -> Result<(), Error> {
    let Ok(stat) = rustix::fs::statvfs(dir) else {
        return Ok(());
    };
    let free = stat.f_bavail * stat.f_frsize;
    if free >= NEEDED_DISK {
        return Ok(());
    }
    let gigabytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    Err(Error::new(format!(
        "the disk is nearly full: {:.1} GiB free at {}, the build of the control plane needs about {:.0} GiB",
        gigabytes(free),
        PathBuf::from(dir).display(),
        gigabytes(NEEDED_DISK)
    ))
    .next("make room (`go clean -cache` frees Go's build cache), or set XDG_CACHE_HOME to another disk"))
}

fn elapsed(start: Instant) -> String {
    let seconds = start.elapsed().as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
