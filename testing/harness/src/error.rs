//! What can go wrong before a test runs, with the next step for the person who reads it.

use std::fmt;

/// A failure of the harness itself: which thing, where, why, and what to do next.
pub struct Error {
    what: String,
    next: Option<String>,
}

impl Error {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), next: None }
    }

    pub(crate) fn next(mut self, step: impl Into<String>) -> Self {
        self.next = Some(step.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.next {
            Some(step) => write!(f, "\nnext step: {step}"),
            None => Ok(()),
        }
    }
}

// `unwrap` in a test prints this one, so it reads like the message and not like a struct.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

/// Adds what was being done to an I/O error.
pub(crate) trait Context<T> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T, E: fmt::Display> Context<T> for Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|error| Error::new(format!("{}: {error}", what())))
    }
}
