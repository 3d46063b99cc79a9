//! The command line of the proof under faults.
#![allow(clippy::print_stderr, reason = "a command line for developers")]

use std::process::ExitCode;

use chaos::{campaign, soak};
use clap::Parser;

#[derive(Debug, Parser)]
#[command(name = "chaos", about = "Proof under faults on a real control plane")]
enum Command {
    /// Seeded faults between the library and the API server
    Seeds(campaign::Options),
    /// One long watch and repeated runs over churn, restarts and rotating tokens
    Soak(soak::Options),
}

fn main() -> ExitCode {
    let result =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Into::into).and_then(
            |runtime| {
                runtime.block_on(async {
                    match Command::parse() {
                        Command::Seeds(options) => campaign::run(&options).await,
                        Command::Soak(options) => soak::run(&options).await,
                    }
                })
            },
        );
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
