//! How the process ends.

use std::fmt;
use std::process::ExitCode;

use kubesettle::cluster::{ConfigError, ConnectError};
use kubesettle::error::{ErrorClass, ExitClass};

/// Why a command could not begin, or broke off.
#[derive(Debug)]
pub(crate) struct Failure {
    class: ExitClass,
    message: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(class: ExitClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), hint: None }
    }

    /// Bad usage or input.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitClass::Usage, message)
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn class(&self) -> ExitClass {
        self.class
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// `error: …`, and `hint: …` on a line of its own.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let failure = Self::usage(error.to_string());
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        let class = match error.class {
            ErrorClass::Protocol => ExitClass::Internal,
            _ => ExitClass::Unreachable,
        };
        Self::new(class, error.to_string()).hint(error.hint())
    }
}

/// The process's exit code for a class.
pub(crate) fn code(class: ExitClass) -> ExitCode {
    ExitCode::from(class.code())
}
