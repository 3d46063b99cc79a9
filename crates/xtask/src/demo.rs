//! `cargo xtask demo`: from nothing to a settled shop in front of a newcomer's eyes.

use std::error::Error;
use std::process::ExitCode;

use crate::{control_plane, workspace};

const SHOP: &str = "examples/shop";

pub(crate) fn run() -> Result<ExitCode, Box<dyn Error>> {
    let kubeconfig = control_plane::kubeconfig()?;
    println!("\n$ kubectl settle apply -f {SHOP}");
    let status = workspace::cargo()
        .args(["run", "--quiet", "--package", "kubectl-settle", "--", "apply", "-f", SHOP])
        .current_dir(workspace::root())
        .env("KUBECONFIG", kubeconfig)
        .status()?;
    if !status.success() {
        return Ok(ExitCode::FAILURE);
    }
    println!("\nLook around: eval \"$(cargo xtask control-plane env)\", then kubectl get all -n shop");
    println!("Take the shop away: cargo run -p kubectl-settle -- destroy -f {SHOP}");
    println!("End the cluster: cargo xtask control-plane down");
    Ok(ExitCode::SUCCESS)
}
