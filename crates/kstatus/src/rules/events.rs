//! What events say: most causes of a pod or a claim that waits stand nowhere else.

use crate::cause::CauseCode;
use crate::surroundings::EventNote;

/// Reasons that tell of trouble although their events are no warnings.
const CALM: &[&str] = &["FailedBinding"];

/// The reason of a warning event, and the cause it is.
pub(super) const REASONS: &[(&str, CauseCode)] = &[
    ("FailedMount", CauseCode::FailedMount),
    ("FailedMapVolume", CauseCode::FailedMount),
    ("FailedAttachVolume", CauseCode::FailedAttachVolume),
    ("ProvisioningFailed", CauseCode::ProvisioningFailed),
    ("FailedBinding", CauseCode::ProvisioningFailed),
    ("VolumeResizeFailed", CauseCode::ProvisioningFailed),
    ("Unhealthy", CauseCode::ProbeFailed),
    ("FailedScheduling", CauseCode::Unschedulable),
    ("FailedCreatePodSandBox", CauseCode::FailedCreatePodSandBox),
    ("FailedCreatePodContainer", CauseCode::CreateContainerError),
    ("FailedCreate", CauseCode::FailedCreate),
    ("FailedDaemonPod", CauseCode::FailedCreate),
];

/// Words in the message of a refused creation, and the cause they tell.
pub(super) const REFUSALS: &[(&str, CauseCode)] = &[
    ("exceeded quota", CauseCode::QuotaExceeded),
    ("failed quota", CauseCode::QuotaExceeded),
    ("maximum cpu usage", CauseCode::AdmissionDenied),
    ("admission webhook", CauseCode::AdmissionDenied),
    ("failed calling webhook", CauseCode::AdmissionDenied),
    ("violates PodSecurity", CauseCode::AdmissionDenied),
    ("denied the request", CauseCode::AdmissionDenied),
    ("ValidatingAdmissionPolicy", CauseCode::AdmissionDenied),
    ("is forbidden", CauseCode::AdmissionDenied),
];

/// Which cause a creation that failed is.
pub(super) fn creation_code(message: &str) -> CauseCode {
    REFUSALS
        .iter()
        .find(|(words, _)| message.contains(words))
        .map_or(CauseCode::FailedCreate, |(_, code)| *code)
}

/// The cause an event is, if it is one. A warning of another reason is one on its own object.
pub(crate) fn event_code(event: &EventNote) -> Option<CauseCode> {
    if !event.warning && !CALM.contains(&&*event.reason) {
        return None;
    }
    let known = REASONS.iter().find(|(reason, _)| **reason == *event.reason);
    match known {
        Some((_, CauseCode::FailedCreate)) => Some(creation_code(&event.message)),
        Some((_, code)) => Some(*code),
        None => Some(CauseCode::WarningEvent),
    }
}

/// What a node autoscaler says about an unschedulable pod.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScaleUp {
    UnderWay,
    Refused,
}

/// The newest word of a node autoscaler among the events of one pod.
pub(crate) fn scale_up(event: &EventNote) -> Option<ScaleUp> {
    match &*event.reason {
        "TriggeredScaleUp" | "Nominated" => Some(ScaleUp::UnderWay),
        "NotTriggerScaleUp" => Some(ScaleUp::Refused),
        _ => None,
    }
}

/// Whether it tells how far the binding of a claim has come.
pub(crate) fn is_about_binding(event: &EventNote) -> bool {
    const WORDS: [&str; 5] = [
        "WaitForFirstConsumer",
        "WaitForPodScheduled",
        "ExternalProvisioning",
        "Provisioning",
        "ProvisioningSucceeded",
    ];
    WORDS.contains(&&*event.reason)
}
