//! `cargo xtask cases`: a folder of status cases against `kstatus`.

use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Args;

use crate::workspace;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The folder; without one, the cases of this repository
    dir: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    let mut command: Command = workspace::cargo();
    command.args(["run", "--quiet", "--package", "xtask", "--example", "cases", "--"]).args(&options.dir);
    Ok(if command.status()?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
