//! Places of the source tree and of the user's cache.

use std::path::{Path, PathBuf};

/// The root of the source tree.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}
