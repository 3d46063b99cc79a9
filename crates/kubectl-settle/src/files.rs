//! Files of the user's. Nothing else writes them.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

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

/// The text of a regular file; `None` for anything else: a folder, a pipe, nothing, or what is no text.
///
/// # Errors
///
/// When there is a file and it cannot be read.
pub(crate) fn text_of(path: &Path) -> Result<Option<String>, Failure> {
    if !path.is_file() {
        return Ok(None);
    }
    let mut text = Vec::new();
    OpenOptions::new()
        .read(true)
        .open(path)
        .and_then(|mut file| file.read_to_end(&mut text))
        .map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))?;
    Ok(String::from_utf8(text).ok())
}

/// Writes a file that only its owner may read, or replaces one: whole, or not at all.
///
/// # Errors
///
/// When it cannot be written.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::usage(format!("{} cannot be written: {error}", path.display()))
            .hint("give a file in a folder that you may write to")
    };
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let new: PathBuf = path.with_file_name(name);
    let written = private().open(&new).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)
    });
    written.map_err(|error| {
        // It is of no use, and may never have been there.
        let _ = fs::remove_file(&new);
        failed(error)
    })
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
