use std::fmt;

use serde::{Serialize, Serializer};

use crate::kind::Kind;
use crate::time::Timestamp;
use crate::uid::Uid;

/// Declares the codes once: the variant, and its word, which is the variant's own name.
macro_rules! cause_codes {
    ($($(#[$doc:meta])* $code:ident,)*) => {
        /// What stands in the way of an object: a stable code, and the same word Kubernetes uses
        /// for it where it has one.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[non_exhaustive]
        pub enum CauseCode {
            $($(#[$doc])* $code,)*
        }

        impl CauseCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$code,)*];

            /// The word of the code.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => stringify!($code),)*
                }
            }

            /// The code with this word.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.as_str() == word)
            }
        }
    };
}

cause_codes! {
    /// The image cannot be pulled; the kubelet waits before it tries again.
    ImagePullBackOff,
    /// The last attempt to pull the image failed.
    ErrImagePull,
    /// The image reference cannot be parsed. Final.
    InvalidImageName,
    /// The image is not on the node and the policy forbids pulling it. Final.
    ErrImageNeverPull,
    /// The container exits again and again; the kubelet waits before it starts it again.
    CrashLoopBackOff,
    /// A ConfigMap, a Secret or a key the container refers to is missing.
    CreateContainerConfigError,
    /// The container runtime could not create the container.
    CreateContainerError,
    /// The container runtime could not start the container.
    RunContainerError,
    /// A container was ended because it used more memory than its limit.
    OOMKilled,
    /// A container ended with an exit code other than zero.
    Error,
    /// The pod or the Job ran longer than its `activeDeadlineSeconds`.
    DeadlineExceeded,
    /// The node put the pod out, or the pod was preempted.
    Evicted,
    /// No node fits the pod.
    Unschedulable,
    /// A volume could not be mounted.
    FailedMount,
    /// A volume could not be attached to the node.
    FailedAttachVolume,
    /// A volume could not be provisioned.
    ProvisioningFailed,
    /// The pod's sandbox (network, runtime) could not be made.
    FailedCreatePodSandBox,
    /// A startup, readiness or liveness probe fails.
    ProbeFailed,
    /// A resource quota forbids the object that should be created.
    QuotaExceeded,
    /// Admission (a webhook, a policy, pod security) refused the object that should be created.
    AdmissionDenied,
    /// A controller could not create an object for another reason.
    FailedCreate,
    /// The rollout made no progress within `progressDeadlineSeconds`.
    ProgressDeadlineExceeded,
    /// The Job has failed for good: its back-off limit, its deadline or its failure policy.
    JobFailed,
    /// The object is being deleted and waits for a finalizer to be taken off.
    FinalizerPending,
    /// The namespace is being deleted and still holds objects.
    NamespaceContentRemaining,
    /// The server does not allow us to read the object.
    NotPermitted,
    /// Nobody has written a status within the grace.
    ControllerSilent,
    /// A warning event of a reason that has no code of its own.
    WarningEvent,
    /// A custom rule could not be evaluated; the tables have judged instead.
    RuleError,
}

impl fmt::Display for CauseCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for CauseCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What names one object for people: kind and name, and the uid that makes it one.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct ObjectRef {
    /// Group, version and kind.
    pub kind: Kind,
    /// The name within the namespace of the judged object.
    pub name: Box<str>,
    /// The uid, where the object had one.
    pub uid: Option<Uid>,
}

impl fmt::Display for ObjectRef {
    /// The kind in lower case and the name: `pod web-7c9d-x2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.kind.kind().chars() {
            write!(f, "{}", letter.to_ascii_lowercase())?;
        }
        write!(f, " {}", self.name)
    }
}

/// One thing that stands in the way of an object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Cause {
    /// What it is.
    pub code: CauseCode,
    /// The object it was found on: the judged object itself or a descendant.
    pub object: ObjectRef,
    /// From the judged object down to `object`, both included: Deployment, ReplicaSet, Pod.
    pub chain: Vec<ObjectRef>,
    /// The container it was found on, init and ephemeral ones included.
    pub container: Option<Box<str>>,
    /// Complete and for people: the code, where it was found, and what the cluster says about it.
    pub message: String,
    /// Since when it has been seen (by this history), or has been so by the object's own account.
    pub since: Option<Timestamp>,
    /// Whether it made the verdict `Failed`.
    pub fatal: bool,
    /// On how many objects the same was found; `object` is one of them.
    pub count: u32,
    /// When it will make the verdict `Failed` if nothing changes.
    pub fails_at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_parses_back() {
        for code in CauseCode::ALL {
            assert_eq!(CauseCode::parse(code.as_str()), Some(*code));
        }
    }
}
