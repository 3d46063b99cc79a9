use super::{Family, Row, Telling, containers};
use crate::cause::CauseCode;
use crate::outcome::{Finding, Plain};
use crate::text::clipped;
use crate::verdict::Status::{Current, Failed, InProgress, Unknown};
use crate::view::{Condition, View};

pub(super) const FAMILY: Family = Family {
    kinds: &[("", "Pod")],
    rows: &[ROWS],
    otherwise: Plain { status: Current, reason: "PodReady", message: "Pod is Ready" },
    findings,
};

const ROWS: &[Row] = &[
    Row {
        status: InProgress,
        reason: "PodNotObserved",
        source: "kstatus",
        when: "there is no phase",
        tell: |view| phase(view, "").then(|| Telling::new("Pod phase not available")),
    },
    Row {
        status: Current,
        reason: "PodSucceeded",
        source: "kstatus",
        when: "phase Succeeded",
        tell: |view| phase(view, "Succeeded").then(|| Telling::new("Pod has completed successfully")),
    },
    Row {
        status: Failed,
        reason: "PodFailed",
        source: "kubernetes/kubernetes#105467",
        when: "phase Failed: evicted, deadline exceeded, a container ended with an exit code",
        tell: |view| phase(view, "Failed").then(|| ended(view)),
    },
    Row {
        status: Failed,
        reason: "ContainerFailed",
        source: "API reference, restartPolicy",
        when: "a container has ended with an exit code and `spec.restartPolicy` is Never",
        tell: |view| {
            if view.conditions().holds("Ready").is_some() {
                return None;
            }
            let ended = containers::ended_badly(view);
            let never = || view.spec().text("restartPolicy").as_deref() == Some("Never");
            ended.first().filter(|_| never()).map(|finding| {
                Telling::new(format!(
                    "Container {} {} and is not restarted",
                    finding.container().unwrap_or_default(),
                    finding.detail()
                ))
            })
        },
    },
    Row {
        status: InProgress,
        reason: "SchedulingGated",
        source: "KEP-3521",
        when: "condition `PodScheduled` has the reason SchedulingGated",
        tell: |view| {
            unscheduled(view, "SchedulingGated").map(|_| {
                let gates: Vec<_> = view
                    .spec()
                    .field("schedulingGates")
                    .items()
                    .iter()
                    .filter_map(|gate| gate.field("name").text())
                    .collect();
                Telling::new(clipped(&format!("Pod waits for scheduling gates: {}", gates.join(", "))))
            })
        },
    },
    Row {
        status: InProgress,
        reason: "PodNotScheduled",
        source: "GoogleContainerTools/skaffold#8972",
        when: "condition `PodScheduled` is False with the reason Unschedulable (a cause after its grace)",
        tell: |view| unscheduled(view, "Unschedulable").map(|_| Telling::new("Pod has not been scheduled")),
    },
    Row {
        status: InProgress,
        reason: "PodPending",
        source: "kstatus",
        when: "phase Pending",
        tell: |view| phase(view, "Pending").then(|| pending(view)),
    },
    Row {
        status: Unknown,
        reason: "PodUnknown",
        source: "API reference, pod phase",
        when: "any other phase but Running, such as Unknown: the node is lost",
        tell: |view| {
            let phase = view.status.text("phase").unwrap_or_default();
            (phase != "Running").then(|| {
                let word = phase.chars().take(64).collect::<String>();
                Telling::new(match top_of_status(view) {
                    Some(said) => format!("Pod phase is {word}: {said}"),
                    None => format!("Pod phase is {word}"),
                })
            })
        },
    },
    Row {
        status: InProgress,
        reason: "PodRunningNotReady",
        source: "kstatus; KEP-580",
        when: "phase Running without condition `Ready` True; open readiness gates are named",
        tell: |view| view.conditions().holds("Ready").is_none().then(|| not_ready(view)),
    },
    Row {
        status: InProgress,
        reason: "PodResizing",
        source: "KEP-1287",
        when: "condition `PodResizePending` or `PodResizeInProgress` is True",
        tell: |view| {
            ["PodResizePending", "PodResizeInProgress"]
                .into_iter()
                .find_map(|name| view.conditions().alarm(name))
                .map(|condition| Telling::named(condition).reason("PodResizing"))
        },
    },
];

fn phase(view: &View<'_>, word: &str) -> bool {
    view.status.text("phase").unwrap_or_default() == word
}

/// Reason and message at the top of a pod's status: evictions, node loss, deadlines.
fn top_of_status(view: &View<'_>) -> Option<String> {
    let [reason, message] =
        ["reason", "message"].map(|name| view.status.text(name).filter(|text| !text.is_empty()));
    match (reason, message) {
        (Some(reason), Some(message)) => Some(clipped(&format!("{reason}: {message}"))),
        (Some(word), None) | (None, Some(word)) => Some(clipped(&word)),
        (None, None) => None,
    }
}

fn unscheduled<'v, 'a>(view: &'v View<'a>, reason: &str) -> Option<&'v Condition<'a>> {
    let waits = phase(view, "Pending");
    view.conditions().denies("PodScheduled").filter(|condition| waits && condition.reason_is(reason))
}

fn ended(view: &View<'_>) -> Telling {
    let badly = containers::ended_badly(view);
    let by_container = badly.first().map(|finding| {
        let container = finding.container().unwrap_or_default();
        (finding.code.as_str(), format!("container {container} {}", finding.detail()))
    });
    let top = top_of_status(view);
    let message = match (&top, &by_container) {
        (Some(top), Some((_, container))) => format!("Pod failed: {top}; {container}"),
        (Some(said), None) | (None, Some((_, said))) => format!("Pod failed: {said}"),
        (None, None) => "Pod failed".to_owned(),
    };
    let reason = view.status.text("reason").filter(|reason| !reason.is_empty());
    match reason.or(by_container.map(|(code, _)| code.into())) {
        Some(reason) => Telling::new(message).reason(&reason),
        None => Telling::new(message),
    }
}

fn pending(view: &View<'_>) -> Telling {
    let init = containers::init_progress(view);
    match init {
        Some((done, all)) => {
            Telling::new(format!("Pod is in the Pending phase. Init containers: {done}/{all}"))
        }
        None => Telling::new("Pod is in the Pending phase"),
    }
}

fn not_ready(view: &View<'_>) -> Telling {
    let ready = view.conditions().any_age("Ready");
    let gated = ready.filter(|condition| condition.reason_is("ReadinessGatesNotReady"));
    if let Some(said) = gated.and_then(|condition| condition.message()) {
        return Telling::new(clipped(&format!("Pod is running but is not Ready: {said}")))
            .reason("ReadinessGatesNotReady");
    }
    let waiting = containers::unready_names(view);
    if waiting.is_empty() {
        let said = ready.and_then(|condition| condition.message());
        return Telling::new(match said {
            Some(said) => clipped(&format!("Pod is running but is not Ready: {said}")),
            None => "Pod is running but is not Ready".to_owned(),
        });
    }
    Telling::new(clipped(&format!("Pod is running but is not Ready: {}", waiting.join(", "))))
}

/// A container that runs is ready unless a probe says otherwise.
fn unready(view: &View<'_>) -> Option<Finding> {
    let condition = view.conditions().denies("Ready")?;
    let container = containers::running_unready(view)?;
    let words = "it runs and is not ready: its startup or readiness probe does not succeed";
    let mut finding = Finding::in_container(CauseCode::ProbeFailed, &container, words);
    finding.since = condition.since();
    Some(finding)
}

fn findings(view: &View<'_>) -> Vec<Finding> {
    // A pod that is ready, though being resized, is in no trouble that could fail it.
    if phase(view, "Running") && view.conditions().holds("Ready").is_some() {
        return Vec::new();
    }
    let mut findings = containers::findings(view);
    if findings.is_empty() && phase(view, "Running") {
        findings.extend(unready(view));
    }
    if let Some(condition) = unscheduled(view, "Unschedulable") {
        let said = condition.message().unwrap_or("no node fits".into());
        let mut finding = Finding::new(CauseCode::Unschedulable, &said);
        finding.since = condition.since();
        findings.push(finding);
    }
    if phase(view, "Failed") {
        let code = match view.status.text("reason").as_deref() {
            Some("Evicted" | "Preempting" | "NodeShutdown" | "Terminated") => Some(CauseCode::Evicted),
            Some("DeadlineExceeded") => Some(CauseCode::DeadlineExceeded),
            _ => None,
        };
        if let Some(code) = code {
            let said = view.status.text("message").unwrap_or_default();
            findings.insert(0, Finding::new(code, &said));
        }
    }
    findings
}
