//! The steps of the test command, in the order in which they run: cheap ones first.

use clap::ValueEnum;
use harness::binaries::{self, Module};

use super::counts::Counts;
use super::run::{Failure, cargo};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Step {
    Fmt,
    Clippy,
    Doc,
    Unit,
    Go,
    Release,
    Harness,
    Xtask,
    E2e,
    Chaos,
    Soak,
}

impl Step {
    pub(super) const ALL: [Self; 11] = [
        Self::Fmt,
        Self::Clippy,
        Self::Doc,
        Self::Unit,
        Self::Go,
        Self::Release,
        Self::Harness,
        Self::Xtask,
        Self::E2e,
        Self::Chaos,
        Self::Soak,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Doc => "doc",
            Self::Unit => "unit",
            Self::Go => "go",
            Self::Release => "release",
            Self::Harness => "harness",
            Self::Xtask => "xtask",
            Self::E2e => "e2e",
            Self::Chaos => "chaos",
            Self::Soak => "soak",
        }
    }

    pub(super) fn about(self) -> &'static str {
        match self {
            Self::Fmt => "the formatting is rustfmt's",
            Self::Clippy => "no warning of clippy in any target",
            Self::Doc => "no warning of rustdoc",
            Self::Unit => "the tests that need only Rust",
            Self::Go => "the control plane and the peers, built once per machine",
            Self::Release => "the command line as users get it",
            Self::Harness => "the tests of the test control plane",
            Self::Xtask => "the tests of these commands",
            Self::E2e => "the tests on a real control plane",
            Self::Chaos => "fifty seeds of faults between the library and a real API server",
            Self::Soak => "two minutes of churn, restarts and rotating tokens under one watch",
        }
    }

    /// Steps that must have run before.
    pub(super) fn needs(self) -> &'static [Self] {
        match self {
            Self::Harness | Self::Chaos | Self::Soak => &[Self::Go],
            Self::E2e => &[Self::Go, Self::Release],
            Self::Fmt | Self::Clippy | Self::Doc | Self::Unit | Self::Go | Self::Release | Self::Xtask => &[],
        }
    }

    pub(super) fn run(self) -> Result<Counts, Failure> {
        match self {
            Self::Fmt => cargo(&["fmt", "--all", "--check"], &[]),
            Self::Clippy => cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]),
            Self::Doc => cargo(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")]),
            Self::Unit => cargo(&["test", "--no-fail-fast"], &[]),
            Self::Go => match binaries::build(&Module::ALL) {
                Ok(()) => Ok(Counts::default()),
                Err(error) => Err(Failure { message: error.to_string(), counts: Counts::default() }),
            },
            Self::Release => cargo(&["build", "--release", "-p", "kubectl-settle"], &[]),
            Self::Harness => cargo(&["test", "--no-fail-fast", "-p", "harness"], &[]),
            Self::Xtask => cargo(&["test", "--no-fail-fast", "-p", "xtask"], &[]),
            Self::E2e => cargo(&["test", "--no-fail-fast", "-p", "e2e"], &[]),
            Self::Chaos => cargo(&["run", "-p", "chaos", "--", "seeds", "--seeds", "50"], &[]),
            Self::Soak => cargo(&["run", "-p", "chaos", "--", "soak", "--minutes", "2"], &[]),
        }
    }
}
