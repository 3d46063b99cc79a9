//! What controllers make of workloads, with Pods that go the way their annotations name.

use serde_json::{Value, json};

use super::super::{Case, Expect};
use super::{VERSION, deployment_path};

const PODS: &str = "/api/v1/namespaces/$ns/pods";
const SETS: &str = "/apis/apps/v1/namespaces/$ns/replicasets";
const JOB: &str = "/apis/batch/v1/namespaces/$ns/jobs/w";
/// Long enough for a busy machine.
const LIMIT: u64 = 60;

fn workload(kind: &str, replicas: u64, outcome: &str) -> Value {
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": { "name": "w" },
        "spec": {
            "selector": { "matchLabels": { "app": "w" } },
            "template": {
                "metadata": { "labels": { "app": "w" } },
                "spec": { "containers": [{ "name": "c", "image": "image:1" }] },
            },
        },
    });
    if kind != "DaemonSet" {
        object["spec"]["replicas"] = replicas.into();
    }
    if kind == "StatefulSet" {
        object["spec"]["serviceName"] = "w".into();
    }
    if !outcome.is_empty() {
        object["spec"]["template"]["metadata"]["annotations"] = json!({ "kubesettle.test/outcome": outcome });
    }
    object
}

fn job(outcome: &str) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "w" },
        "spec": { "backoffLimit": 0, "template": {
            "metadata": { "labels": { "app": "w" }, "annotations": { "kubesettle.test/outcome": outcome } },
            "spec": { "restartPolicy": "Never", "containers": [{ "name": "c", "image": "image:1" }] },
        } },
    })
}

fn pods() -> String {
    format!("{PODS}?labelSelector=app%3Dw")
}

/// A Deployment of one Pod with an outcome, and the container's status.
fn outcome(name: &'static str, outcome: &'static str) -> Case {
    Case::new(name)
        .apply(deployment_path("w"), workload("Deployment", 1, outcome))
        .code(201)
        .get(pods())
        .within(LIMIT)
        .expect(Expect::Items(1))
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("a Deployment becomes available and stays the same when applied again")
            .apply(deployment_path("w"), workload("Deployment", 2, ""))
            .code(201)
            .get(deployment_path("w"))
            .within(LIMIT)
            .condition("Available", "True", "MinimumReplicasAvailable")
            .condition("Progressing", "True", "NewReplicaSetAvailable")
            .is("/status/replicas", 2)
            .is("/status/updatedReplicas", 2)
            .is("/status/readyReplicas", 2)
            .is("/status/availableReplicas", 2)
            .absent("/status/unavailableReplicas")
            .is("/status/terminatingReplicas", 0)
            .is("/status/observedGeneration", 1)
            .is("/metadata/generation", 1)
            .is("/metadata/annotations/deployment.kubernetes.io~1revision", "1")
            .save("version", VERSION)
            .save("uid", "/metadata/uid")
            .apply(deployment_path("w"), workload("Deployment", 2, ""))
            .code(200)
            .text(VERSION, "$version")
            .get(format!("{SETS}?labelSelector=app%3Dw"))
            .expect(Expect::Items(1))
            .text("/items/0/metadata/ownerReferences/0/uid", "$uid")
            .is("/items/0/metadata/ownerReferences/0/controller", true)
            .is("/items/0/status/availableReplicas", 2)
            .is("/items/0/status/fullyLabeledReplicas", 2)
            .is("/items/0/status/terminatingReplicas", 0)
            .get(pods())
            .expect(Expect::Items(2))
            .is("/items/0/metadata/ownerReferences/0/kind", "ReplicaSet")
            .is("/items/0/metadata/ownerReferences/0/controller", true)
            .is("/items/0/status/phase", "Running")
            .is("/items/0/status/containerStatuses/0/ready", true)
            .present("/items/0/status/containerStatuses/0/state/running"),
        Case::new("a new template rolls over, an old ReplicaSet stays empty")
            .apply(deployment_path("w"), workload("Deployment", 2, ""))
            .get(deployment_path("w"))
            .within(LIMIT)
            .is("/status/availableReplicas", 2)
            .apply(deployment_path("w"), super::with(workload("Deployment", 2, ""), "/spec/template/spec/containers", json!([{ "name": "c", "image": "image:2" }])))
            .code(200)
            .get(deployment_path("w"))
            .within(LIMIT)
            .is("/status/observedGeneration", 2)
            .is("/status/replicas", 2)
            .is("/status/updatedReplicas", 2)
            .is("/status/availableReplicas", 2)
            .condition("Progressing", "True", "NewReplicaSetAvailable")
            .is("/metadata/annotations/deployment.kubernetes.io~1revision", "2")
            .get(format!("{SETS}?labelSelector=app%3Dw"))
            .expect(Expect::Items(2)),
        Case::new("a deleted Deployment takes ReplicaSets and Pods along")
            .apply(deployment_path("w"), workload("Deployment", 1, ""))
            .get(pods())
            .within(LIMIT)
            .expect(Expect::Items(1))
            .delete(deployment_path("w"), r#"{"propagationPolicy":"Background"}"#)
            .code(200)
            .is("/kind", "Status")
            .get(pods())
            .within(LIMIT)
            .expect(Expect::Items(0))
            .get(format!("{SETS}?labelSelector=app%3Dw"))
            .within(LIMIT)
            .expect(Expect::Items(0)),
        outcome("an image that cannot be pulled", "image-pull-backoff")
            .is("/items/0/status/phase", "Pending")
            .is("/items/0/status/containerStatuses/0/state/waiting/reason", "ImagePullBackOff")
            .is("/items/0/status/containerStatuses/0/ready", false)
            .get(deployment_path("w"))
            .within(LIMIT)
            .condition("Available", "False", "MinimumReplicasUnavailable")
            .condition("Progressing", "True", "ReplicaSetUpdated")
            .is("/status/unavailableReplicas", 1),
        outcome("a ConfigMap that is missing", "config-error")
            .is("/items/0/status/phase", "Pending")
            .is("/items/0/status/containerStatuses/0/state/waiting/reason", "CreateContainerConfigError"),
        outcome("a container that crashes", "crash-loop")
            .is("/items/0/status/containerStatuses/0/state/waiting/reason", "CrashLoopBackOff")
            .is("/items/0/status/containerStatuses/0/lastState/terminated/exitCode", 1)
            .is("/items/0/status/phase", "Running"),
        Case::new("a Deployment that never gets ready runs into its deadline")
            .apply(deployment_path("w"), super::with(workload("Deployment", 1, "never-ready"), "/spec/progressDeadlineSeconds", json!(2)))
            .code(201)
            .get(deployment_path("w"))
            .within(LIMIT)
            .condition("Progressing", "False", "ProgressDeadlineExceeded")
            .expect(Expect::Message("has timed out progressing.".to_owned())),
        Case::new("a Pod that asks for too much is not scheduled")
            .apply(deployment_path("w"), super::with(
                workload("Deployment", 1, ""),
                "/spec/template/spec/containers",
                json!([{ "name": "c", "image": "image:1", "resources": { "requests": { "cpu": "10000" } } }]),
            ))
            .code(201)
            .get(pods())
            .within(LIMIT)
            .is("/items/0/status/conditions/0/type", "PodScheduled")
            .is("/items/0/status/conditions/0/reason", "Unschedulable")
            .is("/items/0/status/phase", "Pending")
            .expect(Expect::Message(" Insufficient cpu. ".to_owned())),
        Case::new("a StatefulSet has numbered Pods and one revision")
            .apply("/apis/apps/v1/namespaces/$ns/statefulsets/w", workload("StatefulSet", 2, ""))
            .code(201)
            .get("/apis/apps/v1/namespaces/$ns/statefulsets/w")
            .within(LIMIT)
            .is("/status/replicas", 2)
            .is("/status/readyReplicas", 2)
            .is("/status/availableReplicas", 2)
            .is("/status/currentReplicas", 2)
            .is("/status/updatedReplicas", 2)
            .is("/status/observedGeneration", 1)
            .save("revision", "/status/currentRevision")
            .get("/apis/apps/v1/namespaces/$ns/statefulsets/w")
            .text("/status/updateRevision", "$revision")
            .get(format!("{PODS}/w-1"))
            .code(200)
            .text("/metadata/labels/controller-revision-hash", "$revision"),
        Case::new("a DaemonSet runs on every node")
            .apply("/apis/apps/v1/namespaces/$ns/daemonsets/w", workload("DaemonSet", 0, ""))
            .code(201)
            .get("/apis/apps/v1/namespaces/$ns/daemonsets/w")
            .within(LIMIT)
            .is("/status/observedGeneration", 1)
            .present("/status/numberAvailable")
            .absent("/status/numberUnavailable")
            .is("/status/numberMisscheduled", 0),
        Case::new("a Job completes")
            .apply(JOB, job(""))
            .code(201)
            .get(JOB)
            .within(LIMIT)
            .condition("SuccessCriteriaMet", "True", "CompletionsReached")
            .condition("Complete", "True", "CompletionsReached")
            .is("/status/succeeded", 1)
            .absent("/status/active")
            .present("/status/completionTime")
            .get(pods())
            .is("/items/0/status/phase", "Succeeded"),
        Case::new("a Job fails when its only Pod does")
            .apply(JOB, job("exit-1"))
            .code(201)
            .get(JOB)
            .within(LIMIT)
            .condition("FailureTarget", "True", "BackoffLimitExceeded")
            .condition("Failed", "True", "BackoffLimitExceeded")
            .is("/status/failed", 1)
            .absent("/status/completionTime"),
    ]
}
