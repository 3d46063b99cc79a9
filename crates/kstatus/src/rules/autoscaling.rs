use super::{Family, Row, Telling, generic, no_findings};
use crate::outcome::Plain;
use crate::verdict::Status::{Current, InProgress};

pub(super) const AUTOSCALER: Family = Family {
    kinds: &[("autoscaling", "HorizontalPodAutoscaler")],
    rows: &[AUTOSCALER_ROWS],
    otherwise: Plain { status: Current, reason: "AutoscalerActive", message: "Autoscaler has what it needs" },
    findings: no_findings,
};

pub(super) const DISRUPTION_BUDGET: Family = Family {
    kinds: &[("policy", "PodDisruptionBudget")],
    rows: &[generic::UNOBSERVED, BUDGET_ROWS],
    otherwise: Plain {
        status: Current,
        reason: "BudgetComputed",
        message: "AllowedDisruptions has been computed.",
    },
    findings: no_findings,
};

const AUTOSCALER_ROWS: &[Row] = &[
    Row {
        status: InProgress,
        reason: "FailedGetScale",
        when: "condition `AbleToScale` is False: the target is missing or cannot be scaled",
        tell: |view| view.conditions().denies("AbleToScale").map(Telling::named),
    },
    Row {
        status: InProgress,
        reason: "ScalingInactive",
        when: "condition `ScalingActive` is False for another reason than ScalingDisabled: metrics are missing",
        tell: |view| {
            view.conditions()
                .denies("ScalingActive")
                .filter(|condition| !condition.reason_is("ScalingDisabled"))
                .map(Telling::named)
        },
    },
    Row {
        status: InProgress,
        reason: "NoStatus",
        when: "no conditions in a version that has them: no controller has looked yet",
        tell: |view| {
            let unread = view.conditions().is_empty() && view.kind.version() != "v1";
            unread.then(|| Telling::new("Autoscaler has no status reported yet"))
        },
    },
];

const BUDGET_ROWS: &[Row] = &[Row {
    status: InProgress,
    reason: "SyncFailed",
    when: "condition `DisruptionAllowed` is False with the reason SyncFailed",
    tell: |view| {
        view.conditions()
            .denies("DisruptionAllowed")
            .filter(|condition| condition.reason_is("SyncFailed"))
            .map(Telling::named)
    },
}];
