//! Each outcome of `testing/kwok/stages.yaml` looks to a client as on a real node.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::time::Duration;

use harness::{Namespace, shared, wait_for, wait_until};

const LIMIT: Duration = Duration::from_secs(60);

/// A Deployment named `app` whose pods have the given annotations.
fn deployment(ns: &Namespace<'_>, annotations: &str) {
    shared().apply(&format!(
        "
apiVersion: apps/v1
kind: Deployment
metadata: {{name: app, namespace: {}}}
spec:
  replicas: 1
  progressDeadlineSeconds: 2
  selector: {{matchLabels: {{app: app}}}}
  template:
    metadata: {{labels: {{app: app}}, annotations: {{{annotations}}}}}
    spec:
      initContainers:
      - {{name: prepare, image: 'prepare:1'}}
      - {{name: mesh, image: 'mesh:1', restartPolicy: Always}}
      containers:
      - {{name: main, image: 'main:1'}}
      - {{name: side, image: 'side:1'}}
",
        ns.name()
    ));
}

fn job(ns: &Namespace<'_>, annotations: &str) {
    shared().apply(&format!(
        "
apiVersion: batch/v1
kind: Job
metadata: {{name: app, namespace: {}}}
spec:
  backoffLimit: 0
  template:
    metadata: {{labels: {{app: app}}, annotations: {{{annotations}}}}}
    spec:
      restartPolicy: Never
      containers: [{{name: main, image: 'main:1'}}]
",
        ns.name()
    ));
}

/// One value of the only pod.
fn pod(ns: &Namespace<'_>, path: &str) -> String {
    ns.kubectl(&["get", "pods", "-o", &format!("jsonpath={{.items[0]{path}}}")]).stdout
}

#[track_caller]
fn pod_becomes(ns: &Namespace<'_>, path: &str, value: &str) {
    wait_until(&format!("{path} to be {value}"), LIMIT, || pod(ns, path) == value);
}

fn ready(ns: &Namespace<'_>) -> String {
    pod(ns, ".status.conditions[?(@.type=='Ready')].status")
}

#[test]
fn without_an_outcome_a_pod_is_ready_at_once() {
    let ns = shared().namespace("ready");
    deployment(&ns, "");
    wait_until("the Deployment", LIMIT, || ns.get("deployment/app", ".status.availableReplicas") == "1");
    assert_eq!(pod(&ns, ".status.phase"), "Running");
    assert_eq!(pod(&ns, ".status.initContainerStatuses[*].ready"), "true true");
}

#[test]
fn slow_ready_is_unready_first() {
    let ns = shared().namespace("slow");
    deployment(&ns, "kubesettle.test/outcome: slow-ready, kubesettle.test/delay: 2s");
    pod_becomes(&ns, ".status.phase", "Running");
    assert_eq!(ready(&ns), "False");
    wait_until("the Deployment", LIMIT, || ns.get("deployment/app", ".status.availableReplicas") == "1");
}

#[test]
fn never_ready_runs_into_the_progress_deadline() {
    let ns = shared().namespace("never");
    deployment(&ns, "kubesettle.test/outcome: never-ready");
    let reason = ".status.conditions[?(@.type=='Progressing')].reason";
    wait_until("the deadline", LIMIT, || ns.get("deployment/app", reason) == "ProgressDeadlineExceeded");
    assert_eq!(pod(&ns, ".status.phase"), "Running");
    let message = pod(&ns, ".status.conditions[?(@.type=='Ready')].message");
    assert_eq!(message, "containers with unready status: [main side]");
}

#[test]
fn image_pull_backoff_waits_with_the_image_named() {
    let ns = shared().namespace("image");
    deployment(&ns, "kubesettle.test/outcome: image-pull-backoff");
    pod_becomes(&ns, ".status.containerStatuses[0].state.waiting.reason", "ImagePullBackOff");
    assert_eq!(pod(&ns, ".status.phase"), "Pending");
    assert!(pod(&ns, ".status.containerStatuses[0].state.waiting.message").contains("\"main:1\""));
    wait_until("the event", LIMIT, || ns.kubectl(&["get", "events"]).stdout.contains("ImagePullBackOff"));
}

#[test]
fn config_error_waits_with_the_configmap_named() {
    let ns = shared().namespace("config");
    deployment(&ns, "kubesettle.test/outcome: config-error");
    pod_becomes(&ns, ".status.containerStatuses[0].state.waiting.reason", "CreateContainerConfigError");
    assert!(pod(&ns, ".status.containerStatuses[0].state.waiting.message").contains("settings"));
}

#[test]
fn crash_loop_counts_its_restarts() {
    let ns = shared().namespace("crash");
    deployment(&ns, "kubesettle.test/outcome: crash-loop, kubesettle.test/delay: 100ms");
    pod_becomes(&ns, ".status.containerStatuses[0].state.waiting.reason", "CrashLoopBackOff");
    assert_eq!(pod(&ns, ".status.containerStatuses[0].lastState.terminated.exitCode"), "1");
    pod_becomes(&ns, ".status.containerStatuses[0].restartCount", "2");
}

#[test]
fn init_crash_keeps_the_main_containers_waiting() {
    let ns = shared().namespace("init");
    deployment(&ns, "kubesettle.test/outcome: init-crash");
    pod_becomes(&ns, ".status.initContainerStatuses[0].state.waiting.reason", "CrashLoopBackOff");
    assert_eq!(
        pod(&ns, ".status.containerStatuses[*].state.waiting.reason"),
        "PodInitializing PodInitializing"
    );
    assert_eq!(pod(&ns, ".status.conditions[?(@.type=='Initialized')].status"), "False");
}

#[test]
fn a_job_completes_after_its_delay() {
    let ns = shared().namespace("job");
    job(&ns, "kubesettle.test/delay: 2s");
    pod_becomes(&ns, ".status.phase", "Running");
    assert_eq!(ns.get("job/app", ".status.active"), "1");
    wait_until("the Job", LIMIT, || ns.get("job/app", ".status.succeeded") == "1");
}

#[test]
fn exit_1_fails_a_job() {
    let ns = shared().namespace("job-fails");
    job(&ns, "kubesettle.test/outcome: exit-1");
    let reason = ".status.conditions[?(@.type=='Failed')].reason";
    wait_until("the Job", LIMIT, || ns.get("job/app", reason) == "BackoffLimitExceeded");
    assert_eq!(pod(&ns, ".status.containerStatuses[0].state.terminated.exitCode"), "1");
}

#[test]
fn run_forever_keeps_a_job_active() {
    let ns = shared().namespace("job-runs");
    job(&ns, "kubesettle.test/outcome: run-forever");
    pod_becomes(&ns, ".status.phase", "Running");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(ns.get("job/app", ".status.active"), "1");
}

#[test]
fn delete_delay_keeps_a_pod_terminating() {
    let ns = shared().namespace("lingers");
    deployment(&ns, "kubesettle.test/delete-delay: 3s");
    pod_becomes(&ns, ".status.phase", "Running");
    ns.kubectl(&["delete", "deployment/app", "--wait=false"]).success();
    let seen = wait_for("a deletion time", LIMIT, || {
        Some(pod(&ns, ".metadata.deletionTimestamp")).filter(|time| !time.is_empty())
    });
    assert!(seen.ends_with('Z'));
    wait_until("the end of the pod", LIMIT, || pod(&ns, ".metadata.name").is_empty());
}

#[test]
fn a_pod_that_fits_no_node_is_unschedulable() {
    let ns = shared().namespace("big");
    shared().apply(&format!(
        "
apiVersion: v1
kind: Pod
metadata: {{name: big, namespace: {}}}
spec:
  containers: [{{name: main, image: 'main:1', resources: {{requests: {{cpu: 1000}}}}}}]
",
        ns.name()
    ));
    pod_becomes(&ns, ".status.conditions[?(@.type=='PodScheduled')].reason", "Unschedulable");
}

#[test]
fn taking_the_outcome_away_heals_the_deployment() {
    let ns = shared().namespace("heals");
    deployment(&ns, "kubesettle.test/outcome: never-ready");
    pod_becomes(&ns, ".status.phase", "Running");
    deployment(&ns, "");
    wait_until("the Deployment", LIMIT, || ns.get("deployment/app", ".status.availableReplicas") == "1");
}
