//! Judges a folder of status cases with `kstatus`; called by `cargo xtask cases`.
//!
//! A program of its own, so that the developer commands build and report also while `kstatus` does not.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line for developers")]

#[path = "../../kstatus/tests/cases_runner/mod.rs"]
mod cases_runner;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../kstatus/tests/cases").into();
    let dir = std::env::args_os().nth(1).unwrap_or(own);
    match cases_runner::run(Path::new(&dir)) {
        Ok(report) => {
            println!("{report}");
            if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("error: cannot read the cases in {}: {error}", dir.display());
            ExitCode::FAILURE
        }
    }
}
