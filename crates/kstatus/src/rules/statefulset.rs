use super::{Family, Row, Telling, generic, no_findings};
use crate::outcome::Plain;
use crate::verdict::Status::{Current, InProgress};
use crate::view::View;

pub(super) const FAMILY: Family = Family {
    kinds: &[("apps", "StatefulSet")],
    rows: &[generic::UNOBSERVED, ROWS],
    otherwise: Plain {
        status: Current,
        reason: "ReplicasAsExpected",
        message: "All replicas scheduled as expected",
    },
    findings: no_findings,
};

const ROWS: &[Row] = &[
    Row {
        status: InProgress,
        reason: "LessReplicas",
        source: "kstatus",
        when: "wanted > `status.replicas`",
        tell: |view| {
            let n = Numbers::of(view);
            (n.want > n.replicas).then(|| {
                n.telling(format!("Replicas: {}/{} (ready {}/{})", n.replicas, n.want, n.ready, n.want))
            })
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
        source: "kstatus; helm/helm#13269",
        when: "`status.replicas` > wanted",
        tell: |view| {
            let n = Numbers::of(view);
            (n.replicas > n.want).then(|| n.telling(format!("Pending termination: {}", n.replicas - n.want)))
        },
    },
    Row {
        status: InProgress,
        reason: "LessAvailable",
        source: "KEP-2599",
        when: "`spec.minReadySeconds` is set and wanted > `status.availableReplicas`",
        tell: |view| {
            let n = Numbers::of(view);
            let soaks = view.spec().count("minReadySeconds") > 0;
            let available = view.status.count("availableReplicas");
            (soaks && n.want > available).then(|| n.telling(format!("Available: {available}/{}", n.want)))
        },
    },
    Row {
        status: Current,
        reason: "OnDelete",
        source: "helm/helm#7424",
        when: "`spec.updateStrategy.type` is OnDelete: pods are replaced by hand",
        tell: |view| {
            let n = Numbers::of(view);
            let by_hand = view.spec().path(&["updateStrategy", "type"]).text();
            (by_hand.as_deref() == Some("OnDelete")).then(|| {
                n.telling(format!(
                    "StatefulSet is using the ondelete update strategy. Replicas: {}",
                    n.replicas
                ))
            })
        },
    },
    Row {
        status: Current,
        reason: "ReplicasAsExpected",
        source: "kubernetes/kubernetes#76748",
        when: "no replicas are wanted, or `status.currentRevision` is `status.updateRevision`: every pod is of the wanted revision",
        tell: |view| {
            let n = Numbers::of(view);
            let [current, update] = ["currentRevision", "updateRevision"].map(|name| view.status.text(name));
            let one_revision = current.as_deref().is_some_and(|name| !name.is_empty()) && current == update;
            (n.want == 0 || one_revision).then(|| n.all_there())
        },
    },
    Row {
        status: InProgress,
        reason: "PartitionRollout",
        source: "kstatus; helm/helm#8674",
        when: "there is a partition and `status.updatedReplicas` < max(0, wanted − partition)",
        tell: |view| {
            let n = Numbers::of(view);
            let goal = n.goal(view)?;
            (n.updated < goal).then(|| n.telling(format!("updated: {}/{goal}", n.updated)))
        },
    },
    Row {
        status: Current,
        reason: "PartitionRolloutComplete",
        source: "kstatus",
        when: "there is a partition above 0 otherwise",
        tell: |view| {
            let n = Numbers::of(view);
            (partition(view)? > 0)
                .then(|| n.telling(format!("Partition rollout complete. updated: {}", n.updated)))
        },
    },
    Row {
        status: InProgress,
        reason: "LessCurrent",
        source: "kstatus",
        when: "neither revision is known and wanted > `status.currentReplicas`",
        tell: |view| {
            let n = Numbers::of(view);
            let known = view.status.field("updateRevision").is_some();
            let current = view.status.count("currentReplicas");
            (!known && n.want > current).then(|| n.telling(format!("current: {current}/{}", n.want)))
        },
    },
    Row {
        status: InProgress,
        reason: "RevisionMismatch",
        source: "kstatus",
        when: "`status.currentRevision` is not yet `status.updateRevision`",
        tell: |view| {
            let n = Numbers::of(view);
            (view.status.text("currentRevision") != view.status.text("updateRevision")).then(|| {
                n.telling(format!(
                    "Waiting for updated revision to match current. updated: {}/{}",
                    n.updated, n.want
                ))
            })
        },
    },
    Row {
        status: Current,
        reason: "ReplicasAsExpected",
        source: "kubernetes/kubernetes#76748",
        when: "otherwise",
        tell: |view| {
            let n = Numbers::of(view);
            Some(n.all_there())
        },
    },
];

fn partition(view: &View<'_>) -> Option<i64> {
    view.spec().path(&["updateStrategy", "rollingUpdate", "partition"]).int()
}

struct Numbers {
    want: i64,
    replicas: i64,
    ready: i64,
    updated: i64,
}

impl Numbers {
    fn of(view: &View<'_>) -> Self {
        Self {
            want: view.spec().field("replicas").int().unwrap_or(1),
            replicas: view.status.count("replicas"),
            ready: view.status.count("readyReplicas"),
            updated: view.status.count("updatedReplicas"),
        }
    }

    /// How many pods the partition lets be updated.
    fn goal(&self, view: &View<'_>) -> Option<i64> {
        Some(self.want.saturating_sub(partition(view)?.max(0)).max(0))
    }

    fn all_there(&self) -> Telling {
        self.progress(Telling::counting("All replicas scheduled as expected. Replicas: ", self.replicas))
    }

    fn telling(&self, message: String) -> Telling {
        self.progress(Telling::new(message))
    }

    fn progress(&self, telling: Telling) -> Telling {
        telling.progress(self.ready, self.want, "ready")
    }
}
