//! `cargo xtask bench`: kubesettle beside its peer and the raw floor, in one run on one cluster.

mod measure;
mod report;
mod scenario;
mod sets;
mod status;
mod table;
mod tool;
mod watch;

use std::error::Error;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use scenario::Scenario;
use tool::Tool;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Many Deployments in one namespace: apply and wait, apply again, destroy
    S1(Options),
    /// Many namespaces, each with a custom object and a ConfigMap
    S3(Options),
    /// Many ConfigMaps, tracked: a record in several parts
    S7(Options),
    /// Follow a few objects among very many, and a rollout of many, with our watcher and that of cli-utils
    Watch(watch::Options),
    /// Judge recorded objects with kstatus and with the Go library
    Status(status::Options),
}

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How many; several numbers make a table each
    #[arg(long = "count", value_delimiter = ',')]
    counts: Vec<usize>,
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
        Command::S1(options) => sets::run(Scenario::Deployments, options),
        Command::S3(options) => sets::run(Scenario::Tenants, options),
        Command::S7(options) => sets::run(Scenario::ConfigMaps, options),
        Command::Watch(options) => watch::run(options),
        Command::Status(options) => status::run(options),
    }
    .map(|()| ExitCode::SUCCESS)
}
