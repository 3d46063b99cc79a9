use super::{Family, Row, Telling, events, generic};
use crate::outcome::{Finding, Plain};
use crate::verdict::Status::{Current, InProgress};
use crate::view::View;

pub(super) const FAMILY: Family = Family {
    kinds: &[("apps", "ReplicaSet"), ("extensions", "ReplicaSet"), ("", "ReplicationController")],
    rows: &[generic::UNOBSERVED, ROWS],
    otherwise: Plain { status: Current, reason: "ReplicasAvailable", message: "All replicas are available" },
    findings: creation_failures,
};

const ROWS: &[Row] = &[
    Row {
        status: InProgress,
        reason: "ReplicaFailure",
        source: "kstatus; Shopify/krane#173",
        when: "condition `ReplicaFailure` is True: pods cannot be created",
        tell: |view| {
            let n = Numbers::of(view);
            view.conditions().alarm("ReplicaFailure").map(|condition| {
                n.telling(format!("Replica failure: {}", condition.said())).reason("ReplicaFailure")
            })
        },
    },
    Row {
        status: InProgress,
        reason: "LessLabelled",
        source: "kstatus",
        when: "wanted > `status.fullyLabeledReplicas`",
        tell: |view| {
            let n = Numbers::of(view);
            let labelled = view.status.count("fullyLabeledReplicas");
            (n.want > labelled).then(|| n.telling(format!("Labelled: {labelled}/{}", n.want)))
        },
    },
    Row {
        status: InProgress,
        reason: "LessAvailable",
        source: "kstatus",
        when: "wanted > `status.availableReplicas`",
        tell: |view| {
            let n = Numbers::of(view);
            (n.want > n.available).then(|| n.telling(format!("Available: {}/{}", n.available, n.want)))
        },
    },
    Row {
        status: InProgress,
        reason: "LessReady",
        source: "kstatus",
        when: "wanted > `status.readyReplicas`",
        tell: |view| {
            let n = Numbers::of(view);
            (n.want > n.ready).then(|| n.telling(format!("Ready: {}/{}", n.ready, n.want)))
        },
    },
    Row {
        status: InProgress,
        reason: "ExtraPods",
        source: "kstatus",
        when: "`status.replicas` > wanted",
        tell: |view| {
            let n = Numbers::of(view);
            (n.replicas > n.want).then(|| n.telling(format!("Pending termination: {}", n.replicas - n.want)))
        },
    },
    Row {
        status: Current,
        reason: "ReplicasAvailable",
        source: "kstatus",
        when: "otherwise",
        tell: |view| {
            let n = Numbers::of(view);
            let message = match view.kind.kind() {
                "ReplicationController" => "ReplicationController is available. Replicas: ",
                _ => "ReplicaSet is available. Replicas: ",
            };
            Some(n.progress(Telling::counting(message, n.replicas)))
        },
    },
];

struct Numbers {
    want: i64,
    replicas: i64,
    ready: i64,
    available: i64,
}

impl Numbers {
    fn of(view: &View<'_>) -> Self {
        Self {
            want: view.spec().field("replicas").int().unwrap_or(1),
            replicas: view.status.count("replicas"),
            ready: view.status.count("readyReplicas"),
            available: view.status.count("availableReplicas"),
        }
    }

    fn telling(&self, message: String) -> Telling {
        self.progress(Telling::new(message))
    }

    fn progress(&self, telling: Telling) -> Telling {
        telling.progress(self.available, self.want, "available")
    }
}

/// What the ReplicaFailure condition of a ReplicaSet, or of the Deployment that copies it, says.
pub(super) fn creation_failures(view: &View<'_>) -> Vec<Finding> {
    let failure = view.conditions().alarm("ReplicaFailure").map(|condition| {
        let message = condition.message().or_else(|| condition.reason()).unwrap_or_default();
        let mut finding = Finding::new(events::creation_code(&message), &message);
        finding.since = condition.since();
        finding
    });
    failure.into_iter().collect()
}
