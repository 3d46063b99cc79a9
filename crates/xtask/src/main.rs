//! Developer commands: `cargo xtask --help`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a command line for developers: it talks to a terminal and reads the source tree"
)]

mod bench;
mod cases;
mod chaos;
mod control_plane;
mod demo;
mod test;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Developer commands of kubesettle")]
enum Command {
    /// A control plane to play with: etcd, kube-apiserver and the rest on loopback
    #[command(subcommand)]
    ControlPlane(control_plane::Command),
    /// Start a control plane and settle the example shop on it
    Demo,
    /// Run every check and test; the last line is the total
    Test(test::Options),
    /// Measure kubesettle beside its peer and the least a client can do
    #[command(subcommand)]
    Bench(bench::Command),
    /// Seeded faults between the library and a real API server; the last line is the total
    Chaos(chaos::Options),
    /// One long watch and repeated runs over churn, restarts and rotating tokens
    Soak(chaos::Options),
    /// Judge a folder of status cases
    Cases(cases::Options),
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::ControlPlane(command) => control_plane::run(command),
        Command::Demo => demo::run(),
        Command::Test(options) => test::run(&options),
        Command::Bench(command) => bench::run(&command),
        Command::Chaos(options) => chaos::run("seeds", &options),
        Command::Soak(options) => chaos::run("soak", &options),
        Command::Cases(options) => cases::run(&options),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
