//! `cargo xtask cases`: a folder of status cases against `kstatus`.

#[path = "../../kstatus/tests/cases_runner/mod.rs"]
mod cases_runner;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::workspace;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The folder; without one, the cases of this repository
    dir: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    let own = || workspace::root().join("crates/kstatus/tests/cases");
    let dir = options.dir.clone().unwrap_or_else(own);
    let report = cases_runner::run(&dir)
        .map_err(|error| format!("cannot read the cases in {}: {error}", dir.display()))?;
    println!("{report}");
    Ok(if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
