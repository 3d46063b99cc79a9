//! The body of a watch, line by line.

use crate::error::ApiError;

/// The lines of one open watch. Dropping it ends the watch and gives its stream back.
#[derive(Debug)]
pub struct Lines(());

impl Lines {
    /// The next line without its end; `None` when the server ended the watch in good order.
    ///
    /// # Errors
    /// `Unreachable` when the connection broke, also in mid-line; `Protocol` when a line is longer
    /// than 64 MiB.
    pub async fn next(&mut self) -> Result<Option<&[u8]>, ApiError> {
        Ok(None)
    }

    /// True when `next` would return a line without waiting.
    pub fn buffered(&self) -> bool {
        false
    }
}
