//! Rows that come before those of every kind. Their order is fixed, so the order of an object's
//! conditions can never matter.

use super::{Row, Telling};
use crate::verdict::Status;
use crate::view::View;

pub(super) const ROWS: &[Row] = &[
    DELETED,
    UNSEEN,
    Row {
        status: Status::Failed,
        reason: "Stalled",
        source: "kstatus",
        when: "condition `Stalled` is True",
        tell: |view| view.conditions().alarm("Stalled").map(Telling::of),
    },
    Row {
        status: Status::InProgress,
        reason: "Reconciling",
        source: "kstatus",
        when: "condition `Reconciling` is True",
        tell: |view| view.conditions().alarm("Reconciling").map(Telling::of),
    },
];

/// The rows that come before a custom rule.
pub(super) const BEFORE_RULES: &[Row] = &[DELETED, UNSEEN];
/// Those before a rule that judges whatever generation was observed.
pub(super) const BEFORE_ANY: &[Row] = &[DELETED];

const DELETED: Row = Row {
    status: Status::Terminating,
    reason: "Deletion",
    source: "kstatus",
    when: "`metadata.deletionTimestamp` is set",
    tell: super::deletion::tell,
};

const UNSEEN: Row = Row {
    status: Status::InProgress,
    reason: "LatestGenerationNotObserved",
    source: "kstatus; helm/helm#32615",
    when: "`status.observedGeneration` differs from `metadata.generation`, in either direction",
    tell: generation_not_observed,
};

fn generation_not_observed(view: &View<'_>) -> Option<Telling> {
    let generation = view.generation?;
    let observed = view.observed_generation()?;
    // A kubelet that does not report the generation leaves a zero.
    let unreported = observed == 0 && view.kind.is("", "Pod");
    (observed != generation && !unreported).then(|| {
        Telling::new(format!(
            "{} generation is {generation}, but latest observed generation is {observed}",
            view.kind.kind()
        ))
    })
}

/// The row of built-in workloads whose controller always writes an observed generation.
pub(super) const UNOBSERVED: &[Row] = &[Row {
    status: Status::InProgress,
    reason: "NoObservedGeneration",
    source: "hashicorp/terraform-provider-kubernetes#1036",
    when: "there is no `status.observedGeneration`: no controller has looked yet",
    tell: |view| {
        (view.observed_generation().is_none())
            .then(|| Telling::new(format!("{} status.observedGeneration not found", view.kind.kind())))
    },
}];
