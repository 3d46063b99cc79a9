//! `cargo xtask chaos` and `cargo xtask soak`: proof under faults, in a program of its own.

use std::error::Error;
use std::process::ExitCode;

use clap::Args;

use crate::workspace;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Those of the program: `-- --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Runs one of the program's commands.
pub(crate) fn run(command: &str, options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    let status = workspace::cargo()
        .args(["run", "--quiet", "--package", "chaos", "--", command])
        .args(&options.arguments)
        .current_dir(workspace::root())
        .status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
