//! Standard input. Nothing else reads it.

use std::io::{self, IsTerminal, Read};

use crate::exit::Failure;

/// Everything on standard input, until its end, or one byte more than `max_bytes`: whoever reads on tells that
/// it is too much.
///
/// # Errors
///
/// When a person sits there instead of a pipe and did not ask for it (`asked`), or reading fails.
pub(crate) fn read(asked: bool, max_bytes: u64) -> Result<Vec<u8>, Failure> {
    let mut stdin = io::stdin().lock();
    if !asked && stdin.is_terminal() {
        return Err(Failure::usage("no input: there are no files, and standard input is a terminal")
            .hint("give files or folders with -f, a folder, or pipe objects in"));
    }
    let mut data = Vec::new();
    match stdin.by_ref().take(max_bytes.saturating_add(1)).read_to_end(&mut data) {
        Ok(_) => Ok(data),
        Err(error) => Err(Failure::usage(format!("standard input cannot be read: {error}"))),
    }
}
