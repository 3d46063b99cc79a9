//! Files of the user's. Nothing else writes them.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::exit::Failure;

/// Writes a file that does not exist yet.
///
/// # Errors
///
/// When there is one of that name already, or it cannot be written.
pub(crate) fn create(path: &Path, text: &str) -> Result<(), Failure> {
    let shown = path.display();
    let mut file =
        OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                Failure::usage(format!("inventory object template file already exists: {shown}"))
                    .hint("the folder is a set already; remove the file to begin another one")
            }
            _ => Failure::usage(format!("{shown} cannot be written: {error}")),
        })?;
    file.write_all(text.as_bytes())
        .map_err(|error| Failure::usage(format!("{shown} cannot be written to its end: {error}")))
}
