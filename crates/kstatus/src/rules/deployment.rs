use super::{Family, Row, Telling, generic, replicaset};
use crate::cause::CauseCode;
use crate::outcome::{Finding, Plain};
use crate::verdict::Status::{self, Current, InProgress};
use crate::view::View;

pub(super) const FAMILY: Family = Family {
    kinds: &[("apps", "Deployment"), ("extensions", "Deployment")],
    rows: &[generic::UNOBSERVED, ROWS],
    otherwise: Plain {
        status: Status::Current,
        reason: "DeploymentAvailable",
        message: "Deployment is available",
    },
    findings,
};

/// `progressDeadlineSeconds` of a Deployment without a deadline, and so without a Progressing
/// condition.
const NO_DEADLINE: i64 = i32::MAX as i64;

const ROWS: &[Row] = &[
    Row {
        status: Current,
        reason: "DeploymentPaused",
        source: "helm/helm#5789",
        when: "`spec.paused`: nobody asks for a rollout",
        tell: |view| {
            let n = Numbers::of(view);
            (view.spec().field("paused").flag() == Some(true))
                .then(|| Telling::new(format!("Deployment is paused. Updated: {}/{}", n.updated, n.want)))
        },
    },
    Row {
        status: InProgress,
        reason: "ProgressDeadlineExceeded",
        source: "kstatus; carvel-dev/kapp#1020",
        when: "condition `Progressing` has the reason ProgressDeadlineExceeded (a cause without a hold: Failed)",
        tell: |view| {
            let n = Numbers::of(view);
            deadline_exceeded(view).map(|_| n.telling("Progress deadline exceeded"))
        },
    },
    Row {
        status: InProgress,
        reason: "LessReplicas",
        source: "kstatus",
        when: "wanted > `status.replicas`",
        tell: |view| {
            let n = Numbers::of(view);
            (n.want > n.replicas).then(|| n.telling(&format!("Replicas: {}/{}", n.replicas, n.want)))
        },
    },
    Row {
        status: InProgress,
        reason: "LessUpdated",
        source: "kstatus",
        when: "wanted > `status.updatedReplicas`",
        tell: |view| {
            let n = Numbers::of(view);
            (n.want > n.updated).then(|| n.telling(&format!("Updated: {}/{}", n.updated, n.want)))
        },
    },
    Row {
        status: InProgress,
        reason: "ExtraPods",
        source: "kstatus",
        when: "`status.replicas` > wanted: pods of an older revision are still there",
        tell: |view| {
            let n = Numbers::of(view);
            (n.replicas > n.want).then(|| n.telling(&format!("Pending termination: {}", n.replicas - n.want)))
        },
    },
    Row {
        status: InProgress,
        reason: "PodsTerminating",
        source: "helm/helm#13269; KEP-3973",
        when: "no replicas are wanted and `status.terminatingReplicas` > 0",
        tell: |view| {
            let n = Numbers::of(view);
            let terminating = view.status.count("terminatingReplicas");
            (n.want == 0 && terminating > 0)
                .then(|| Telling::new(format!("Pending termination: {terminating} pods are terminating")))
        },
    },
    Row {
        status: InProgress,
        reason: "LessAvailable",
        source: "kstatus",
        when: "`status.updatedReplicas` > `status.availableReplicas`",
        tell: |view| {
            let n = Numbers::of(view);
            (n.updated > n.available).then(|| n.telling(&format!("Available: {}/{}", n.available, n.updated)))
        },
    },
    Row {
        status: InProgress,
        reason: "LessReady",
        source: "kstatus",
        when: "wanted > `status.readyReplicas`",
        tell: |view| {
            let n = Numbers::of(view);
            (n.want > n.ready).then(|| n.telling(&format!("Ready: {}/{}", n.ready, n.want)))
        },
    },
    Row {
        status: InProgress,
        reason: "ReplicaSetNotAvailable",
        source: "kstatus",
        when: "there is a progress deadline and `Progressing` is not True with reason NewReplicaSetAvailable",
        tell: |view| {
            let deadline = view.spec().field("progressDeadlineSeconds").int();
            let has_deadline = deadline.is_some_and(|seconds| seconds != NO_DEADLINE);
            let progressed = view
                .conditions()
                .holds("Progressing")
                .is_some_and(|condition| condition.reason_is("NewReplicaSetAvailable"));
            (has_deadline && !progressed).then(|| Numbers::of(view).telling("ReplicaSet not Available"))
        },
    },
    Row {
        status: InProgress,
        reason: "DeploymentNotAvailable",
        source: "kstatus",
        when: "condition `Available` is not True",
        tell: |view| {
            view.conditions()
                .holds("Available")
                .is_none()
                .then(|| Numbers::of(view).telling("Deployment not Available"))
        },
    },
    Row {
        status: Current,
        reason: "DeploymentAvailable",
        source: "kstatus",
        when: "otherwise",
        tell: |view| {
            let n = Numbers::of(view);
            let telling = Telling::counting("Deployment is available. Replicas: ", n.replicas);
            Some(telling.progress(n.available, n.want, "available"))
        },
    },
];

struct Numbers {
    want: i64,
    replicas: i64,
    updated: i64,
    ready: i64,
    available: i64,
}

impl Numbers {
    fn of(view: &View<'_>) -> Self {
        Self {
            want: view.spec().field("replicas").int().unwrap_or(1),
            replicas: view.status.count("replicas"),
            updated: view.status.count("updatedReplicas"),
            ready: view.status.count("readyReplicas"),
            available: view.status.count("availableReplicas"),
        }
    }

    /// The row's own number, and the one people look for.
    fn telling(&self, message: &str) -> Telling {
        let available = self.available.min(self.updated);
        let message = if message.starts_with("Available") {
            message.to_owned()
        } else {
            format!("{message} (available {available}/{})", self.want)
        };
        Telling::new(message).progress(available, self.want, "available")
    }
}

fn deadline_exceeded<'v, 'a>(view: &'v View<'a>) -> Option<&'v crate::view::Condition<'a>> {
    view.conditions().get("Progressing").filter(|condition| condition.reason_is("ProgressDeadlineExceeded"))
}

fn findings(view: &View<'_>) -> Vec<Finding> {
    let mut findings = replicaset::creation_failures(view);
    if let Some(condition) = deadline_exceeded(view) {
        let said = condition.message().unwrap_or_default();
        let mut finding = Finding::new(CauseCode::ProgressDeadlineExceeded, &said);
        finding.since = condition.since();
        findings.push(finding);
    }
    findings
}
