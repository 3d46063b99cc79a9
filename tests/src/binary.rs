//! The program under test.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

/// The program: `KUBESETTLE_BIN`, else the release build of this workspace, brought up to date once.
///
/// # Panics
///
/// When it cannot be built.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match std::env::var_os("KUBESETTLE_BIN") {
        Some(path) => path.into(),
        None => build(),
    })
}

fn build() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let built = Command::new(cargo)
        .args(["build", "--release", "--package", "kubectl-settle", "--message-format=json"])
        .current_dir(root)
        .output()
        .expect("cargo starts");
    assert!(
        built.status.success(),
        "the program does not build:\n{}",
        String::from_utf8_lossy(&built.stderr)
    );
    String::from_utf8_lossy(&built.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == "kubectl-settle")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .expect("cargo names the program it built")
}
