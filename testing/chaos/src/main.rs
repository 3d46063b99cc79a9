//! Proof under faults: what a run says must be true, and nothing may be lost, whatever happens between
//! the program and the API server.
//!
//! ```text
//!  library ══► proxy (faults, by seed) ══► real API server ◄══ mover (somebody else)
//!     │                                          ▲
//!     └── events ──► checks ─────────────────────┘
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `fault`, `schedule` | what is done to which request, as a function of the seed |
//! | `proxy` | how it is done |
//! | `set`, `mover` | the objects of a seed, and who else works on them |
//! | `phase` | one run of the library, with a runtime of its own |
//! | `check` | what must be true afterwards |
//! | `seed`, `campaign` | one seed, many seeds |
//! | `soak` | one long watch over weeks in minutes |
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a command line for developers: it talks to a terminal and writes logs"
)]

mod campaign;
mod check;
mod direct;
mod fault;
mod mover;
mod phase;
mod proxy;
mod random;
mod schedule;
mod seed;
mod set;
mod soak;

use std::process::ExitCode;

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
