//! `cargo xtask bench status`: the verdicts of kstatus beside those of the Go library, on the same
//! recorded objects, as two programs that read JSON lines and print an answer for each.

use std::error::Error;
use std::fs;
use std::process::Command;
use std::time::Duration;

use clap::Args;
use harness::binaries::{self, Binary};
use harness::{Finished, spawn};

use super::report;
use crate::workspace;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How often the recorded objects are judged in one turn
    #[arg(long, default_value_t = 50)]
    times: usize,
    /// How many turns each program has; the least CPU counts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Write the table into docs/performance.md
    #[arg(long)]
    write: bool,
}

const LIMIT: Duration = Duration::from_secs(300);

pub(super) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let states = fs::read_to_string(workspace::root().join("testing/recorded/states.jsonl"))?;
    let input = states.repeat(options.times);
    let objects = states.lines().count() * options.times;
    let built = workspace::cargo()
        .args(["build", "--release", "--package", "kstatus", "--example", "verdicts"])
        .current_dir(workspace::root())
        .status()?;
    if !built.success() {
        return Err("kstatus does not build".into());
    }
    let ours = workspace::release_dir().join("examples").join("verdicts");
    let theirs = binaries::path(Binary::Oracle)?;
    let mut rows = Vec::new();
    for (name, program) in [("kstatus", ours), ("Go kstatus v0.37.2", theirs)] {
        let turn = || spawn(Command::new(&program), input.as_bytes()).finish(LIMIT);
        let best = (0..options.rounds.max(1)).map(|_| turn()).min_by_key(Finished::cpu).ok_or("no turn")?;
        best.exits_with(0);
        rows.push((name, best));
    }
    let table = table(&rows, objects, input.len());
    println!("{table}");
    if options.write {
        report::write("status", &table)?;
    }
    Ok(())
}

fn table(rows: &[(&str, Finished)], objects: usize, bytes: usize) -> String {
    let mut text = format!(
        "{objects} objects, {:.1} MB of JSON, recorded from a real control plane (`testing/recorded`); CPU of the \
         whole program, decoding and printing included.\n\n\
         | | CPU | per object |\n| --- | ---: | ---: |\n",
        bytes as f64 / 1e6
    );
    for (name, done) in rows {
        let cpu = done.cpu().as_secs_f64();
        text.push_str(&format!("| {name} | {cpu:.2} s | {:.1} µs |\n", cpu * 1e6 / objects as f64));
    }
    text
}
