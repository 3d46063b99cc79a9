//! Programs of the system that some step needs besides Rust and Go.

use std::error::Error;
use std::process::{Command, Stdio};

/// A program, and the Debian package that brings it.
struct Tool {
    program: &'static str,
    package: &'static str,
}

/// None at present. The tests of the HTML report will need a browser: `chromium`.
const NEEDED: &[Tool] = &[];

/// Installs what is missing with apt-get; does nothing when all is there.
pub(super) fn install_missing() -> Result<(), Box<dyn Error>> {
    let missing: Vec<&str> =
        NEEDED.iter().filter(|tool| !is_installed(tool.program)).map(|tool| tool.package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(" "));
    let status = Command::new("apt-get")
        .args(["install", "--yes", "--no-install-recommends"])
        .args(&missing)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .status()?;
    if status.success() {
        return Ok(());
    }
    Err(format!(
        "apt-get could not install {} ({status})\nnext step: install them by hand",
        missing.join(" ")
    )
    .into())
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
