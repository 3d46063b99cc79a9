//! What can go wrong between us and the API server, sorted by what to do about it.
//!
//! A class decides three things: whether a request is worth repeating, which exit code a run ends
//! with, and which hint a person reads. The sorting itself (status code, reason and text of a real
//! server's answer to a class) is the table in `cluster::answer`.

use std::fmt;
use std::time::Duration;

/// Why a request failed. The names are stable: they appear in JSON output as `code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorClass {
    /// No connection, or it broke before the answer was complete.
    Unreachable,
    /// The server took longer to answer than the request may take.
    TimedOut,
    /// 401: the credentials are unknown or have expired.
    Unauthorized,
    /// 403 by authorization.
    Forbidden,
    /// 403 or 4xx by an admission plugin, webhook or policy.
    Denied,
    /// 404: this object does not exist.
    NotFound,
    /// 404: the server does not know the kind (any more, or not yet).
    NotServed,
    /// 404: the object's namespace does not exist.
    NamespaceMissing,
    /// 403: the object's namespace, or its CRD, is being deleted.
    Terminating,
    /// 403: a ResourceQuota is used up.
    QuotaExceeded,
    /// 409: another field manager owns fields that we want to set.
    FieldConflict,
    /// 409: the object is not the one (by uid or resourceVersion) that we meant.
    Replaced,
    /// 410: the resourceVersion or continue token is too old.
    Expired,
    /// 422: a value is not acceptable.
    Invalid,
    /// 422: a field cannot be changed once set.
    Immutable,
    /// 400 or 500 "failed to create typed patch object": the manifest does not fit the kind's schema.
    Schema,
    /// 413 or 422: the object is larger than the server stores.
    TooLarge,
    /// 429: the server asks us to slow down.
    Throttled,
    /// 502, 503, 504, or a webhook that could not be reached: may pass.
    Unavailable,
    /// Another 4xx.
    BadRequest,
    /// Another 5xx.
    ServerError,
    /// The answer could not be understood.
    Protocol,
}

impl ErrorClass {
    /// The stable code.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "Unreachable",
            Self::TimedOut => "TimedOut",
            Self::Unauthorized => "Unauthorized",
            Self::Forbidden => "Forbidden",
            Self::Denied => "Denied",
            Self::NotFound => "NotFound",
            Self::NotServed => "NotServed",
            Self::NamespaceMissing => "NamespaceMissing",
            Self::Terminating => "Terminating",
            Self::QuotaExceeded => "QuotaExceeded",
            Self::FieldConflict => "FieldConflict",
            Self::Replaced => "Replaced",
            Self::Expired => "Expired",
            Self::Invalid => "Invalid",
            Self::Immutable => "Immutable",
            Self::Schema => "Schema",
            Self::TooLarge => "TooLarge",
            Self::Throttled => "Throttled",
            Self::Unavailable => "Unavailable",
            Self::BadRequest => "BadRequest",
            Self::ServerError => "ServerError",
            Self::Protocol => "Protocol",
        }
    }

    /// True when the same request may succeed later without anybody changing the input.
    pub fn passes(self) -> bool {
        matches!(self, Self::Unreachable | Self::TimedOut | Self::Throttled | Self::Unavailable)
    }
}

/// A field the server named in its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldCause {
    /// JSON path such as `spec.replicas` or `.data.k`; empty when the server gave none.
    pub field: Box<str>,
    /// What is wrong with it, or which manager owns it.
    pub message: Box<str>,
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// What kind of failure it is.
    pub class: ErrorClass,
    /// The HTTP status, when there was an answer.
    pub status: Option<u16>,
    /// The server's words, or those of the connection error.
    pub message: Box<str>,
    /// Fields that the server named.
    pub causes: Vec<FieldCause>,
    /// How long the server asked us to wait.
    pub retry_after: Option<Duration>,
}

impl ApiError {
    /// An error without an answer from the server.
    pub fn local(class: ErrorClass, message: impl Into<Box<str>>) -> Self {
        Self { class, status: None, message: message.into(), causes: Vec::new(), retry_after: None }
    }

    /// True when the request may have been carried out all the same: the answer was lost, or comes
    /// from something that gave up on the way. A webhook that cannot be reached is asked before anything
    /// is stored.
    pub fn leaves_open(&self) -> bool {
        match self.class {
            ErrorClass::Unreachable
            | ErrorClass::TimedOut
            | ErrorClass::ServerError
            | ErrorClass::Protocol => true,
            ErrorClass::Unavailable => !self.message.contains("webhook"),
            _ => false,
        }
    }

    /// True when the server could not be reached, or did not get to the request: nobody has refused
    /// anything.
    pub fn lacks_contact(&self) -> bool {
        self.class.passes() && (self.leaves_open() || self.class == ErrorClass::Throttled)
    }

    /// What a person can do about it; `None` where the message says it all.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self.class {
            ErrorClass::Unreachable => "check that the cluster runs and that the server address is right",
            ErrorClass::Unauthorized => "log in again; the credentials were rejected",
            ErrorClass::FieldConflict => {
                "leave the field out of the manifest, or take it over with --force-conflicts"
            }
            ErrorClass::Schema if self.message.contains("illegal base64 data") => {
                "values of data and binaryData are base64; plain text goes under stringData of a Secret"
            }
            ErrorClass::Schema => "check the field's name, place and type (kubectl explain)",
            ErrorClass::Immutable => {
                "delete and create the object, or let it be done: --recreate KIND, or the annotation \
                 kubesettle.io/recreate: \"true\" on the object"
            }
            ErrorClass::NotServed => "is the CRD installed, and does it serve this version?",
            ErrorClass::NamespaceMissing => "add the namespace to the set, or create it",
            ErrorClass::QuotaExceeded => "raise the quota or lower the requests",
            _ => return None,
        })
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

/// How a run ends, as the exit code table of `docs/exit-codes.md` has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExitClass {
    /// Everything settled.
    #[default]
    Ok,
    /// At least one object failed.
    Failed,
    /// Bad usage or input: nothing was written.
    Usage,
    /// Time ran out with objects in progress, none failed.
    TimedOut,
    /// For lack of rights or contact nobody can tell.
    Unknown,
    /// A guard, policy, lock or stale plan refused the run.
    Refused,
    /// The cluster could not be reached, or rejected the credentials.
    Unreachable,
    /// Interrupted; what was done is recorded.
    Interrupted,
    /// A bug of ours.
    Internal,
}

impl ExitClass {
    /// The stable word, as the JSON form has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "Ok",
            Self::Failed => "Failed",
            Self::Usage => "Usage",
            Self::TimedOut => "TimedOut",
            Self::Unknown => "Unknown",
            Self::Refused => "Refused",
            Self::Unreachable => "Unreachable",
            Self::Interrupted => "Interrupted",
            Self::Internal => "Internal",
        }
    }

    /// The process exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::TimedOut => 3,
            Self::Unknown => 4,
            Self::Refused => 5,
            Self::Unreachable => 6,
            Self::Interrupted => 130,
            Self::Internal => 70,
        }
    }

    /// Which of two classes names the run when both apply.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        const ORDER: [ExitClass; 9] = [
            ExitClass::Internal,
            ExitClass::Unreachable,
            ExitClass::Usage,
            ExitClass::Refused,
            ExitClass::Interrupted,
            ExitClass::Failed,
            ExitClass::TimedOut,
            ExitClass::Unknown,
            ExitClass::Ok,
        ];
        ORDER.into_iter().find(|class| *class == self || *class == other).unwrap_or(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_classes_rank_as_documented() {
        assert_eq!(ExitClass::Failed.or(ExitClass::TimedOut), ExitClass::Failed);
        assert_eq!(ExitClass::Interrupted.or(ExitClass::Failed), ExitClass::Interrupted);
        assert_eq!(ExitClass::Interrupted.or(ExitClass::Unreachable), ExitClass::Unreachable);
        assert_eq!(ExitClass::Ok.or(ExitClass::Unknown), ExitClass::Unknown);
    }
}
