//! The tools that are measured, and how each is asked for the same work.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::process::Command;

use clap::ValueEnum;
use harness::binaries::{self, Binary};
use harness::{ControlPlane, TcpProxy, User};

use super::scenario::{Scenario, Workload};
use crate::workspace;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Tool {
    Floor,
    Kubesettle,
    Kapply,
}

/// What a tool is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Apply,
    Again,
    Destroy,
}

impl Phase {
    pub(super) const ALL: [Self; 3] = [Self::Apply, Self::Again, Self::Destroy];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Apply => "apply and settle",
            Self::Again => "apply again, nothing changed",
            Self::Destroy => "destroy",
        }
    }
}

/// One tool's work in one phase, and where it is done.
pub(super) struct Turn<'a> {
    pub(super) scenario: Scenario,
    pub(super) phase: Phase,
    pub(super) plane: &'a ControlPlane,
    pub(super) user: &'a User<'a>,
    pub(super) proxy: &'a TcpProxy,
    pub(super) workload: &'a Workload,
}

impl Tool {
    pub(super) const ALL: [Self; 3] = [Self::Floor, Self::Kubesettle, Self::Kapply];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Kubesettle => "kubesettle",
            Self::Kapply => "kapply",
        }
    }

    pub(super) fn program(self) -> Result<PathBuf, Box<dyn Error>> {
        match self {
            Self::Floor => Ok(binaries::path(Binary::Floor)?),
            Self::Kapply => Ok(binaries::path(Binary::Kapply)?),
            Self::Kubesettle => {
                let path = workspace::release_dir().join("kubectl-settle");
                if path.is_file() {
                    return Ok(path);
                }
                Err(format!(
                    "{} is not there\nnext step: cargo build --release -p kubectl-settle",
                    path.display()
                )
                .into())
            }
        }
    }

    /// The command of a phase; none when the tool cannot do it.
    pub(super) fn command(self, turn: &Turn<'_>) -> Result<Option<Command>, Box<dyn Error>> {
        let Turn { scenario, phase, plane, user, proxy, workload } = *turn;
        let mut command = plane.command(self.program()?);
        command.env("KUBECONFIG", user.kubeconfig_via(proxy));
        match (self, phase) {
            (Self::Floor, Phase::Apply | Phase::Again) => {
                command.args(["-server", &proxy.url(), "-token", &user.token()]);
                command.arg("-ca").arg(plane.ca_path()).arg("-index").arg(&workload.index);
                command.args(["-watch", &workload.watch]);
            }
            (Self::Floor, Phase::Destroy) => return Ok(None),
            (Self::Kubesettle, Phase::Apply | Phase::Again) => {
                command.arg("apply").arg("-f").arg(&workload.dir).args(["--timeout", "10m"]);
            }
            (Self::Kubesettle, Phase::Destroy) => {
                command.arg("destroy").arg("-f").arg(&workload.dir).args(["--timeout", "10m"]);
            }
            (Self::Kapply, Phase::Apply | Phase::Again) => {
                command.arg("apply").arg(&workload.dir).args(["--server-side", "--reconcile-timeout", "8m"]);
            }
            (Self::Kapply, Phase::Destroy) => {
                command.arg("destroy").arg(&workload.dir);
            }
        }
        if self == Self::Kubesettle && scenario.is_tracked() {
            // The files of a tracked set need not be there to destroy it.
            command.args(["--set", &workload.mark]);
        }
        Ok(Some(command))
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
