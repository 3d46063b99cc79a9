use super::{Family, Row, Telling, generic, no_findings};
use crate::outcome::Plain;
use crate::verdict::Status::{Current, InProgress};
use crate::view::View;

pub(super) const FAMILY: Family = Family {
    kinds: &[("apps", "DaemonSet"), ("extensions", "DaemonSet")],
    rows: &[NO_GENERATION, generic::UNOBSERVED, ROWS],
    otherwise: Plain {
        status: Current,
        reason: "ReplicasAsExpected",
        message: "All replicas scheduled as expected",
    },
    findings: no_findings,
};

const NO_GENERATION: &[Row] = &[Row {
    status: InProgress,
    reason: "NoGeneration",
    source: "kstatus",
    when: "there is no `metadata.generation`",
    tell: |view| {
        view.generation
            .is_none()
            .then(|| Telling::new(format!("{} metadata.generation not found", view.kind.kind())))
    },
}];

const ROWS: &[Row] = &[
    Row {
        status: InProgress,
        reason: "NoDesiredNumber",
        source: "kstatus",
        when: "`status.desiredNumberScheduled` is missing",
        tell: |view| {
            let missing = view.status.field("desiredNumberScheduled").int().is_none();
            missing.then(|| Telling::new("Missing .status.desiredNumberScheduled"))
        },
    },
    Row {
        status: InProgress,
        reason: "LessCurrent",
        source: "kstatus",
        when: "desired > `status.currentNumberScheduled`",
        tell: |view| less(view, "Current", "currentNumberScheduled"),
    },
    Row {
        status: InProgress,
        reason: "LessUpdated",
        source: "kstatus; fluxcd/flux2#2078",
        when: "desired > `status.updatedNumberScheduled`, unless the update strategy is OnDelete",
        tell: |view| {
            let by_hand = view.spec().path(&["updateStrategy", "type"]).text();
            if by_hand.as_deref() == Some("OnDelete") {
                return None;
            }
            less(view, "Updated", "updatedNumberScheduled")
        },
    },
    Row {
        status: InProgress,
        reason: "LessAvailable",
        source: "kstatus",
        when: "desired > `status.numberAvailable`",
        tell: |view| less(view, "Available", "numberAvailable"),
    },
    Row {
        status: InProgress,
        reason: "LessReady",
        source: "kstatus",
        when: "desired > `status.numberReady`",
        tell: |view| less(view, "Ready", "numberReady"),
    },
    Row {
        status: Current,
        reason: "ReplicasAsExpected",
        source: "kstatus",
        when: "otherwise; misscheduled pods are tolerated",
        tell: |view| {
            let desired = view.status.count("desiredNumberScheduled");
            Some(progress(view, Telling::counting("All replicas scheduled as expected. Replicas: ", desired)))
        },
    },
];

fn less(view: &View<'_>, word: &str, counter: &str) -> Option<Telling> {
    let desired = view.status.count("desiredNumberScheduled");
    let have = view.status.count(counter);
    (desired > have).then(|| telling(view, format!("{word}: {have}/{desired}")))
}

fn telling(view: &View<'_>, message: String) -> Telling {
    progress(view, Telling::new(message))
}

fn progress(view: &View<'_>, telling: Telling) -> Telling {
    let desired = view.status.count("desiredNumberScheduled");
    telling.progress(view.status.count("numberAvailable"), desired, "available")
}
