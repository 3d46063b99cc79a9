//! The programs a control plane is made of, built once per machine from the pinned Go modules.
//!
//! Each module under `testing/` is built into `$XDG_CACHE_HOME/kubesettle/binaries/MODULE-HASH`
//! (`~/.cache` without that variable). The hash covers what decides the result: `go.mod`, `go.sum`,
//! Go sources of ours, the flags, and the Go version. A directory of that name is complete: it is
//! filled under another name and renamed.
//!
//! When `KUBEBUILDER_ASSETS` names a folder, programs found there are used instead.

mod build;
mod cache;
mod module;

use std::path::PathBuf;

pub(crate) use module::testing_dir;
pub use module::{Binary, Module};

use crate::error::Error;

/// The path of one program; builds its module first when that was not done yet (minutes).
pub fn path(binary: Binary) -> Result<PathBuf, Error> {
    if let Some(found) = asset(binary) {
        return Ok(found);
    }
    Ok(cache::ensure(binary.module())?.join(binary.name()))
}

/// Builds whatever is missing of some modules, such as [`Module::CONTROL_PLANE`] or [`Module::ALL`].
pub fn build(modules: &[Module]) -> Result<(), Error> {
    for &module in modules {
        if module.binaries().any(|binary| asset(binary).is_none()) {
            cache::ensure(module)?;
        }
    }
    Ok(())
}

/// The folder below which the built programs lie.
pub fn cache_dir() -> Result<PathBuf, Error> {
    cache::root()
}

/// The program from the folder that `KUBEBUILDER_ASSETS` names, if it lies there.
fn asset(binary: Binary) -> Option<PathBuf> {
    let folder = std::env::var_os("KUBEBUILDER_ASSETS").filter(|folder| !folder.is_empty())?;
    let path = PathBuf::from(folder).join(binary.name());
    path.is_file().then_some(path)
}
