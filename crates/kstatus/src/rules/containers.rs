//! What the container statuses of a pod say: init, main and ephemeral containers alike.

use std::borrow::Cow;

use crate::cause::CauseCode;
use crate::outcome::Finding;
use crate::read::Leaf;
use crate::text::prefix;
use crate::time::Timestamp;
use crate::view::View;

/// What a container that waits says about why, and the cause it is.
pub(super) const WAITING: &[(&str, CauseCode)] = &[
    ("ImagePullBackOff", CauseCode::ImagePullBackOff),
    ("ErrImagePull", CauseCode::ErrImagePull),
    ("ImageInspectError", CauseCode::ErrImagePull),
    ("RegistryUnavailable", CauseCode::ErrImagePull),
    ("SignatureValidationFailed", CauseCode::ErrImagePull),
    ("InvalidImageName", CauseCode::InvalidImageName),
    ("ErrImageNeverPull", CauseCode::ErrImageNeverPull),
    ("CrashLoopBackOff", CauseCode::CrashLoopBackOff),
    ("CreateContainerConfigError", CauseCode::CreateContainerConfigError),
    ("CreateContainerError", CauseCode::CreateContainerError),
    ("PreCreateHookError", CauseCode::CreateContainerError),
    ("PreStartHookError", CauseCode::RunContainerError),
    ("PostStartHookError", CauseCode::RunContainerError),
    ("RunContainerError", CauseCode::RunContainerError),
];

struct Container<'a> {
    name: Cow<'a, str>,
    image: Leaf<'a>,
    ready: bool,
    restarts: u32,
    waiting: Leaf<'a>,
    running: bool,
    terminated: Leaf<'a>,
    last: Leaf<'a>,
}

/// Shows the containers of one list.
fn each<'a>(view: &View<'a>, list: &str, mut show: impl FnMut(Container<'a>)) {
    view.status.field(list).for_each(|item| {
        let [name, image, ready, restarts, state, last] =
            item.fields(["name", "image", "ready", "restartCount", "state", "lastState"]);
        let [waiting, running, terminated] = state.fields(["waiting", "running", "terminated"]);
        if item.is_object() {
            show(Container {
                name: name.text().unwrap_or(Cow::Borrowed("?")),
                image,
                ready: ready.flag() == Some(true),
                restarts: restarts.int().and_then(|count| u32::try_from(count).ok()).unwrap_or(0),
                waiting,
                running: running.is_some(),
                terminated,
                last: last.field("terminated"),
            });
        }
    });
}

const INIT: &str = "initContainerStatuses";
const MAIN: &str = "containerStatuses";
const EPHEMERAL: &str = "ephemeralContainerStatuses";

/// What is wrong with the containers of a pod that is not settled.
pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    // Most pods that are not settled have one container in trouble.
    let mut findings = Vec::with_capacity(1);
    for list in [INIT, MAIN, EPHEMERAL] {
        each(view, list, |container| {
            let waiting = waiting(&container);
            let found = waiting.or_else(|| (list != EPHEMERAL).then(|| exited(&container))?);
            findings.extend(found.map(|mut finding| {
                finding.advisory |= list == EPHEMERAL;
                finding.restarts = container.restarts;
                finding
            }));
        });
    }
    findings
}

fn waiting(container: &Container<'_>) -> Option<Finding> {
    let [reason, message] = container.waiting.fields(["reason", "message"]);
    let reason = reason.text()?;
    let (word, code) = WAITING.iter().find(|(word, _)| *word == reason)?;
    let said = message.text().unwrap_or_default();
    let detail = match code {
        CauseCode::CrashLoopBackOff => crash_loop(container, &said),
        CauseCode::ImagePullBackOff | CauseCode::ErrImagePull if said.is_empty() => {
            format!("image {}", container.image.text().unwrap_or_default())
        }
        _ if *word != code.as_str() => format!("{word}: {said}"),
        _ => said.into_owned(),
    };
    Some(Finding::in_container(*code, &container.name, &detail))
}

/// How long the kubelet waits, how often it has tried, how the last try ended.
fn crash_loop(container: &Container<'_>, said: &str) -> String {
    let back_off = said.split(" restarting failed container").next().unwrap_or_default();
    let mut detail = String::new();
    if said.starts_with("back-off") && back_off.len() < 40 {
        detail.push_str(back_off);
        detail.push_str(", ");
    }
    detail.push_str(&restarts(container.restarts));
    if container.last.is_some() {
        detail.push_str(", last ");
        detail.push_str(&exit(container.last));
    }
    detail
}

fn restarts(count: u32) -> String {
    if count == 1 { "1 restart".to_owned() } else { format!("{count} restarts") }
}

/// `exit code 137 (OOMKilled): what the container left as its last words`.
fn exit(terminated: Leaf<'_>) -> String {
    let [code, signal, reason, message] = terminated.fields(["exitCode", "signal", "reason", "message"]);
    let mut text = match (code.int(), signal.int()) {
        (Some(0) | None, Some(signal)) if signal != 0 => format!("ended by signal {signal}"),
        (code, _) => format!("exit code {}", code.unwrap_or(0)),
    };
    if let Some(reason) = reason.text().filter(|reason| !reason.is_empty()) {
        text.push_str(&format!(" ({})", prefix(&reason, 128)));
    }
    if let Some(message) = message.text() {
        let words = message.trim();
        if !words.is_empty() {
            text.push_str(&format!(": {}", prefix(words, 512)));
        }
    }
    text
}

fn is_bad(terminated: Leaf<'_>) -> bool {
    let [code, signal] = terminated.fields(["exitCode", "signal"]);
    code.int().is_some_and(|code| code != 0) || signal.int().is_some_and(|signal| signal != 0)
}

fn exit_code(terminated: Leaf<'_>) -> CauseCode {
    match terminated.field("reason").text().as_deref() {
        Some("OOMKilled") => CauseCode::OOMKilled,
        Some("DeadlineExceeded") => CauseCode::DeadlineExceeded,
        _ => CauseCode::Error,
    }
}

/// A container that has ended badly, or runs again after it did and is not ready yet.
fn exited(container: &Container<'_>) -> Option<Finding> {
    let (ended, detail) = if is_bad(container.terminated) {
        (container.terminated, exit(container.terminated))
    } else if (container.running || container.waiting.is_some()) && !container.ready && is_bad(container.last)
    {
        let detail = format!("{}, last {}", restarts(container.restarts), exit(container.last));
        (container.last, detail)
    } else {
        return None;
    };
    let mut finding = Finding::in_container(exit_code(ended), &container.name, &detail);
    finding.since = ended.field("finishedAt").text().and_then(|at| Timestamp::parse(&at));
    Some(finding)
}

/// Init and main containers whose present state is an end with an exit code.
pub(super) fn ended_badly(view: &View<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for list in [INIT, MAIN] {
        each(view, list, |container| {
            if is_bad(container.terminated) {
                let code = exit_code(container.terminated);
                let detail = format!("ended with {}", exit(container.terminated));
                findings.push(Finding::in_container(code, &container.name, &detail));
            }
        });
    }
    findings
}

/// How many init containers are through, while not all are. A sidecar is through when it started.
pub(super) fn init_progress(view: &View<'_>) -> Option<(usize, usize)> {
    let statuses = view.status.field(INIT).items();
    let through = |item: &Leaf<'_>| {
        item.field("started").flag() == Some(true)
            || item.path(&["state", "terminated", "exitCode"]).int() == Some(0)
    };
    let done = statuses.iter().filter(|item| through(item)).count();
    (done < statuses.len()).then_some((done, statuses.len()))
}

/// The first main container that runs and is not ready.
pub(super) fn running_unready(view: &View<'_>) -> Option<String> {
    let mut first = None;
    each(view, MAIN, |container| {
        if container.running && !container.ready && first.is_none() {
            first = Some(container.name.into_owned());
        }
    });
    first
}

/// The containers that are not ready, each with its state.
pub(super) fn unready_names(view: &View<'_>) -> Vec<String> {
    let mut names = Vec::new();
    each(view, MAIN, |container| {
        if container.ready || names.len() == 16 {
            return;
        }
        let name = prefix(&container.name, 253);
        let waiting = container.waiting.field("reason").text();
        names.push(match waiting {
            Some(reason) => format!("container {name} is waiting ({})", prefix(&reason, 64)),
            None if container.running => format!("container {name} is running, not ready"),
            None if container.terminated.is_some() => format!("container {name} has ended"),
            None => format!("container {name} has no state"),
        });
    });
    names
}

/// How many steps a pod has made: containers that have started, are ready or have ended well.
pub(super) fn steps(view: &View<'_>) -> u16 {
    let mut steps = 0_u16;
    for list in [INIT, MAIN] {
        each(view, list, |container| {
            let ended_well = container.terminated.is_some() && !is_bad(container.terminated);
            // To run again after a crash is no step forward.
            let started = container.ready || (container.running && container.restarts == 0);
            for step in [started, container.ready, ended_well] {
                steps = steps.saturating_add(u16::from(step));
            }
        });
    }
    steps
}
