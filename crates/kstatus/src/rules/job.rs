use super::{Family, Row, Telling, no_findings};
use crate::cause::CauseCode;
use crate::outcome::{Finding, Open, Plain, Waiver};
use crate::verdict::Status::{Current, Failed, InProgress};
use crate::view::View;

pub(super) const JOB: Family = Family {
    kinds: &[("batch", "Job")],
    rows: &[ROWS],
    otherwise: Plain { status: InProgress, reason: "JobInProgress", message: "Job in progress" },
    findings,
};

pub(super) const CRON_JOB: Family = Family {
    kinds: &[("batch", "CronJob")],
    rows: &[],
    otherwise: Plain { status: Current, reason: "AlwaysReady", message: "Resource is always ready" },
    findings: no_findings,
};

const ROWS: &[Row] = &[
    Row {
        status: Failed,
        reason: "JobFailed",
        source: "kstatus; helm/helm#9285",
        when: "condition `Failed` is True",
        tell: |view| {
            let n = Numbers::of(view);
            view.conditions().alarm("Failed").map(|condition| {
                n.telling(format!("Job Failed. {} (failed: {})", condition.said(), n.failed))
            })
        },
    },
    Row {
        status: Current,
        reason: "JobComplete",
        source: "kstatus",
        when: "condition `Complete` is True",
        tell: |view| {
            let n = Numbers::of(view);
            view.conditions()
                .holds("Complete")
                .map(|_| n.telling(format!("Job Completed. succeeded: {}/{}", n.succeeded, n.completions)))
        },
    },
    Row {
        status: Current,
        reason: "JobSuspended",
        source: "KEP-2232; argoproj/argo-cd#11603",
        when: "`spec.suspend`, and condition `Suspended` is True",
        tell: |view| {
            let asked = suspend(view);
            view.conditions().holds("Suspended").filter(|_| asked).map(|_| Telling::new("Job is suspended"))
        },
    },
    Row {
        status: InProgress,
        reason: "FailureTarget",
        source: "KEP-3998; kubernetes/kubernetes#123412",
        when: "condition `FailureTarget` is True: the Job fails when its pods are gone",
        tell: |view| {
            view.conditions().alarm("FailureTarget").map(|condition| {
                let message = format!("Job is about to fail: {}", condition.said());
                Telling::new(message)
            })
        },
    },
    Row {
        status: InProgress,
        reason: "SuccessCriteriaMet",
        source: "KEP-3998; kubernetes/kubernetes#123412",
        when: "condition `SuccessCriteriaMet` is True: the Job completes when its pods are gone",
        tell: |view| {
            view.conditions().holds("SuccessCriteriaMet").map(|condition| {
                let message = format!("Job is about to complete: {}", condition.said());
                Telling::new(message)
            })
        },
    },
    Row {
        status: InProgress,
        reason: "JobSuspending",
        source: "KEP-2232",
        when: "`spec.suspend`, but the Job still runs",
        tell: |view| {
            let n = Numbers::of(view);
            (suspend(view) && started(view))
                .then(|| n.telling(format!("Job is being suspended. active: {}", n.active)))
        },
    },
    Row {
        status: InProgress,
        reason: "JobNotStarted",
        source: "kstatus",
        when: "there is no `status.startTime`",
        tell: |view| (!started(view)).then(|| Telling::new("Job not started")),
    },
    Row {
        status: InProgress,
        reason: "JobInProgress",
        source: "kubernetes-sigs/cli-utils#329",
        when: "otherwise; Current where a started Job is asked for",
        tell: |view| {
            let n = Numbers::of(view);
            let message = format!(
                "Job in progress. success: {}/{}, active: {}, failed: {}",
                n.succeeded, n.completions, n.active, n.failed
            );
            Some(n.telling(message).open(Open::Waived(Waiver::StartedJob)))
        },
    },
];

fn suspend(view: &View<'_>) -> bool {
    view.spec().field("suspend").flag() == Some(true)
}

fn started(view: &View<'_>) -> bool {
    view.status.text("startTime").is_some_and(|at| !at.is_empty())
}

struct Numbers {
    completions: i64,
    succeeded: i64,
    active: i64,
    failed: i64,
}

impl Numbers {
    fn of(view: &View<'_>) -> Self {
        let [parallelism, completions] =
            ["parallelism", "completions"].map(|name| view.spec().field(name).int());
        Self {
            completions: completions.or(parallelism).unwrap_or(1),
            succeeded: view.status.count("succeeded"),
            active: view.status.count("active"),
            failed: view.status.count("failed"),
        }
    }

    fn telling(&self, message: String) -> Telling {
        Telling::new(message).progress(self.succeeded, self.completions, "completions")
    }
}

fn findings(view: &View<'_>) -> Vec<Finding> {
    let failed = view.conditions().alarm("Failed").or(view.conditions().alarm("FailureTarget"));
    let code = |reason: Option<&str>| match reason {
        Some("DeadlineExceeded") => CauseCode::DeadlineExceeded,
        _ => CauseCode::JobFailed,
    };
    failed
        .map(|condition| {
            let mut finding = Finding::new(code(condition.reason().as_deref()), &condition.said());
            finding.since = condition.since();
            // The Job says itself when it has failed.
            finding.advisory = true;
            finding
        })
        .into_iter()
        .collect()
}
