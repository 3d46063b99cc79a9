//! `cargo xtask bench`: kubesettle beside its peer and the raw floor, in one run on one cluster.

mod measure;
mod report;
mod s1;
mod status;
mod table;
mod tool;
mod workload;

use std::error::Error;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use tool::Tool;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Apply many Deployments and wait, apply them again, destroy them
    S1(Options),
    /// Judge recorded objects with kstatus and with the Go library
    Status(status::Options),
}

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How many Deployments
    #[arg(long, default_value_t = 1000)]
    count: usize,
    /// How often each tool takes its turn; the table shows medians
    #[arg(long, default_value_t = 1)]
    rounds: usize,
    /// Which tools
    #[arg(long, value_delimiter = ',', default_values_t = Tool::ALL)]
    tools: Vec<Tool>,
    /// Write the table into docs/performance.md
    #[arg(long)]
    write: bool,
}

pub(crate) fn run(command: &Command) -> Result<ExitCode, Box<dyn Error>> {
    match command {
        Command::S1(options) => s1::run(options),
        Command::Status(options) => status::run(options),
    }
    .map(|()| ExitCode::SUCCESS)
}
