use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::cause::Cause;
use crate::time::Timestamp;

/// The six words of kstatus.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Status {
    /// Not there yet; nothing says that it will not get there.
    InProgress,
    /// Will not get there without a change by somebody.
    Failed,
    /// The wanted state is reached.
    Current,
    /// Being deleted.
    Terminating,
    /// Not on the server.
    NotFound,
    /// Cannot be told.
    Unknown,
}

impl Status {
    /// All six words.
    pub const ALL: [Self; 6] =
        [Self::InProgress, Self::Failed, Self::Current, Self::Terminating, Self::NotFound, Self::Unknown];

    /// The word itself.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "InProgress",
            Self::Failed => "Failed",
            Self::Current => "Current",
            Self::Terminating => "Terminating",
            Self::NotFound => "NotFound",
            Self::Unknown => "Unknown",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A text that is none of the six status words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotAStatus;

impl fmt::Display for NotAStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a status: expected InProgress, Failed, Current, Terminating, NotFound or Unknown")
    }
}

impl std::error::Error for NotAStatus {}

impl FromStr for Status {
    type Err = NotAStatus;

    /// Exact words only.
    fn from_str(word: &str) -> Result<Self, NotAStatus> {
        Self::ALL.into_iter().find(|status| status.as_str() == word).ok_or(NotAStatus)
    }
}

/// Why the status is what it is: a stable CamelCase code.
///
/// kstatus's own code where kstatus has one (`LessReplicas`, `LatestGenerationNotObserved`, …);
/// where a condition decides, the reason that condition carries.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Reason(pub(crate) Cow<'static, str>);

impl Reason {
    /// The code.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) const fn new(code: &'static str) -> Self {
        Self(Cow::Borrowed(code))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// How far a kind that counts has come.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct Progress {
    /// How many are as wanted. Not negative.
    pub have: i64,
    /// How many are wanted. Not negative.
    pub want: i64,
    /// What is counted: a plural or a participle, such as `available` or `completions`.
    pub what: &'static str,
}

/// What can be said about one object at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Verdict {
    /// The status word.
    pub status: Status,
    /// Its stable code.
    pub reason: Reason,
    /// A complete sentence for people. Names the first cause when there is one.
    pub message: String,
    /// What stands in the way, most specific first. Also present while a hold keeps the status at
    /// `InProgress`, and as notes beside `Current`.
    pub causes: Vec<Cause>,
    /// How far it is, for kinds that count.
    pub progress: Option<Progress>,
    /// When nothing changes in the cluster, the verdict may still change at this moment (a hold or
    /// a grace ends): assess again then. `None`: time alone changes nothing.
    pub reassess_at: Option<Timestamp>,
}

impl Verdict {
    /// A verdict without causes: for a [`Reader`](crate::Reader), which may add more.
    pub fn new(status: Status, reason: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        let reason = Reason(reason.into());
        Self { reason, ..Self::plain(status, "", message) }
    }

    /// The verdict on an object that is not on the server.
    pub fn not_found() -> Self {
        Self::plain(Status::NotFound, "NotFound", "Resource not found")
    }

    /// The verdict on an object that cannot be judged, with the reason in words.
    pub fn unknown(message: impl Into<String>) -> Self {
        Self::plain(Status::Unknown, "Unknown", message)
    }

    pub(crate) fn plain(status: Status, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            reason: Reason::new(reason),
            message: message.into(),
            causes: Vec::new(),
            progress: None,
            reassess_at: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_parses_back() {
        for status in Status::ALL {
            assert_eq!(status.as_str().parse(), Ok(status));
        }
        assert_eq!("current".parse::<Status>(), Err(NotAStatus));
    }
}
