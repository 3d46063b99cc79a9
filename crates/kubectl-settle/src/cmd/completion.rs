//! `completion`: a script for a shell.

use clap_complete::Shell;
use kubesettle::error::ExitClass;

use crate::args;
use crate::print::Page;

/// The script.
pub(crate) fn run(shell: Shell, page: &mut Page) -> ExitClass {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::definition(None), "kubectl-settle", &mut script);
    page.out = String::from_utf8_lossy(&script).into_owned();
    ExitClass::Ok
}
