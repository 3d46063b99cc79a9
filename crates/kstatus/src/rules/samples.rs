//! One object for every row of every family: the row decides it, and no row is without a sample.

use std::collections::BTreeSet;

use super::{FAMILIES, Row, family_of, generic};
use crate::digest::digest;
use crate::kind::Kind;
use crate::read::Leaf;
use crate::verdict::Status::{self, *};
use crate::view::{Meta, View};

/// Kind, what the object holds besides, and the status and reason of the row that decides.
type Sample = (&'static str, &'static str, Status, &'static str);

const SAMPLES: &[Sample] = &[
    ("v1 ConfigMap", "metadata: {deletionTimestamp: '2025-01-01T00:00:00Z'}", Terminating, "Deletion"),
    (
        "example.com/v1 W",
        "{metadata: {generation: 2}, status: {observedGeneration: 1}}",
        InProgress,
        "LatestGenerationNotObserved",
    ),
    (
        "example.com/v1 W",
        "{metadata: {generation: 2}, status: {observedGeneration: '2.0', ready: false}}",
        InProgress,
        "NotReady",
    ),
    (
        "example.com/v1 W",
        "{metadata: {generation: 2}, status: {observedGeneration: '1'}}",
        InProgress,
        "LatestGenerationNotObserved",
    ),
    (
        "example.com/v1 W",
        "status: {conditions: [{type: Stalled, status: 'True', reason: Bad}]}",
        Failed,
        "Bad",
    ),
    (
        "example.com/v1 W",
        "status: {conditions: [{type: Reconciling, status: 'True'}]}",
        InProgress,
        "Reconciling",
    ),
    // Deployment
    ("apps/v1 Deployment", "status: {}", InProgress, "NoObservedGeneration"),
    (
        "apps/v1 Deployment",
        "{spec: {paused: true}, status: {observedGeneration: 1}}",
        Current,
        "DeploymentPaused",
    ),
    (
        "apps/v1 Deployment",
        "status: {observedGeneration: 1, conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}",
        InProgress,
        "ProgressDeadlineExceeded",
    ),
    ("apps/v1 Deployment", "status: {observedGeneration: 1}", InProgress, "LessReplicas"),
    ("apps/v1 Deployment", "status: {observedGeneration: 1, replicas: 1}", InProgress, "LessUpdated"),
    (
        "apps/v1 Deployment",
        "status: {observedGeneration: 1, replicas: 2, updatedReplicas: 1, availableReplicas: 2}",
        InProgress,
        "ExtraPods",
    ),
    (
        "apps/v1 Deployment",
        "{spec: {replicas: 0}, status: {observedGeneration: 1, terminatingReplicas: 2}}",
        InProgress,
        "PodsTerminating",
    ),
    (
        "apps/v1 Deployment",
        "status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1}",
        InProgress,
        "LessAvailable",
    ),
    (
        "apps/v1 Deployment",
        "status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1}",
        InProgress,
        "LessReady",
    ),
    (
        "apps/v1 Deployment",
        "{spec: {progressDeadlineSeconds: 45}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1}}",
        InProgress,
        "ReplicaSetNotAvailable",
    ),
    (
        "apps/v1 Deployment",
        "status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1}",
        InProgress,
        "DeploymentNotAvailable",
    ),
    (
        "apps/v1 Deployment",
        "{spec: {progressDeadlineSeconds: 2147483647}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1, conditions: [{type: Available, status: 'True'}]}}",
        Current,
        "DeploymentAvailable",
    ),
    // ReplicaSet and ReplicationController
    ("apps/v1 ReplicaSet", "status: {replicas: 1}", InProgress, "NoObservedGeneration"),
    (
        "apps/v1 ReplicaSet",
        "status: {observedGeneration: 1, conditions: [{type: ReplicaFailure, status: 'True', message: no}]}",
        InProgress,
        "ReplicaFailure",
    ),
    ("v1 ReplicationController", "status: {observedGeneration: 1}", InProgress, "LessLabelled"),
    (
        "apps/v1 ReplicaSet",
        "status: {observedGeneration: 1, fullyLabeledReplicas: 1}",
        InProgress,
        "LessAvailable",
    ),
    (
        "apps/v1 ReplicaSet",
        "status: {observedGeneration: 1, fullyLabeledReplicas: 1, availableReplicas: 1}",
        InProgress,
        "LessReady",
    ),
    (
        "apps/v1 ReplicaSet",
        "status: {observedGeneration: 1, fullyLabeledReplicas: 1, availableReplicas: 1, readyReplicas: 1, replicas: 2}",
        InProgress,
        "ExtraPods",
    ),
    (
        "apps/v1 ReplicaSet",
        "{spec: {replicas: 0}, status: {observedGeneration: 1}}",
        Current,
        "ReplicasAvailable",
    ),
    // StatefulSet
    ("apps/v1 StatefulSet", "status: {replicas: 1}", InProgress, "NoObservedGeneration"),
    ("apps/v1 StatefulSet", "status: {observedGeneration: 1}", InProgress, "LessReplicas"),
    ("apps/v1 StatefulSet", "status: {observedGeneration: 1, replicas: 1}", InProgress, "LessReady"),
    (
        "apps/v1 StatefulSet",
        "{spec: {replicas: 0}, status: {observedGeneration: 1, replicas: 1}}",
        InProgress,
        "ExtraPods",
    ),
    (
        "apps/v1 StatefulSet",
        "{spec: {minReadySeconds: 5}, status: {observedGeneration: 1, replicas: 1, readyReplicas: 1}}",
        InProgress,
        "LessAvailable",
    ),
    (
        "apps/v1 StatefulSet",
        "{spec: {updateStrategy: {type: OnDelete}}, status: {observedGeneration: 1, replicas: 1, readyReplicas: 1, currentRevision: a, updateRevision: b}}",
        Current,
        "OnDelete",
    ),
    (
        "apps/v1 StatefulSet",
        "{spec: {updateStrategy: {rollingUpdate: {partition: 0}}}, status: {observedGeneration: 1, replicas: 1, readyReplicas: 1, currentRevision: a, updateRevision: a}}",
        Current,
        "ReplicasAsExpected",
    ),
    (
        "apps/v1 StatefulSet",
        "{spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 1}}}, status: {observedGeneration: 1, replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}}",
        InProgress,
        "PartitionRollout",
    ),
    (
        "apps/v1 StatefulSet",
        "{spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 9}}}, status: {observedGeneration: 1, replicas: 3, readyReplicas: 3, currentRevision: a, updateRevision: b}}",
        Current,
        "PartitionRolloutComplete",
    ),
    (
        "apps/v1 StatefulSet",
        "{spec: {replicas: 4}, status: {observedGeneration: 1, replicas: 4, readyReplicas: 4, currentReplicas: 2}}",
        InProgress,
        "LessCurrent",
    ),
    (
        "apps/v1 StatefulSet",
        "{spec: {updateStrategy: {rollingUpdate: {partition: 0}}}, status: {observedGeneration: 1, replicas: 1, readyReplicas: 1, updatedReplicas: 1, currentRevision: a, updateRevision: b}}",
        InProgress,
        "RevisionMismatch",
    ),
    (
        "apps/v1 StatefulSet",
        "{spec: {}, status: {observedGeneration: 1, replicas: 1, readyReplicas: 1, currentReplicas: 1}}",
        Current,
        "ReplicasAsExpected",
    ),
    // DaemonSet
    ("apps/v1 DaemonSet", "status: {desiredNumberScheduled: 0}", InProgress, "NoGeneration"),
    (
        "apps/v1 DaemonSet",
        "{metadata: {generation: 1}, status: {desiredNumberScheduled: 0}}",
        InProgress,
        "NoObservedGeneration",
    ),
    (
        "apps/v1 DaemonSet",
        "{metadata: {generation: 1}, status: {observedGeneration: 1}}",
        InProgress,
        "NoDesiredNumber",
    ),
    (
        "apps/v1 DaemonSet",
        "{metadata: {generation: 1}, status: {observedGeneration: 1, desiredNumberScheduled: 1}}",
        InProgress,
        "LessCurrent",
    ),
    (
        "apps/v1 DaemonSet",
        "{metadata: {generation: 1}, status: {observedGeneration: 1, desiredNumberScheduled: 1, currentNumberScheduled: 1}}",
        InProgress,
        "LessUpdated",
    ),
    (
        "apps/v1 DaemonSet",
        "{metadata: {generation: 1}, spec: {updateStrategy: {type: OnDelete}}, status: {observedGeneration: 1, desiredNumberScheduled: 1, currentNumberScheduled: 1}}",
        InProgress,
        "LessAvailable",
    ),
    (
        "apps/v1 DaemonSet",
        "{metadata: {generation: 1}, status: {observedGeneration: 1, desiredNumberScheduled: 1, currentNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 1}}",
        InProgress,
        "LessReady",
    ),
    (
        "apps/v1 DaemonSet",
        "{metadata: {generation: 1}, status: {observedGeneration: 1, desiredNumberScheduled: 0, numberMisscheduled: 2}}",
        Current,
        "ReplicasAsExpected",
    ),
    // Pod
    ("v1 Pod", "status: {}", InProgress, "PodNotObserved"),
    ("v1 Pod", "status: {phase: Succeeded}", Current, "PodSucceeded"),
    ("v1 Pod", "status: {phase: Failed}", Failed, "PodFailed"),
    ("v1 Pod", "status: {phase: Failed, reason: Evicted, message: memory}", Failed, "Evicted"),
    (
        "v1 Pod",
        "status: {phase: Failed, containerStatuses: [{name: m, state: {terminated: {exitCode: 137, reason: OOMKilled}}}]}",
        Failed,
        "OOMKilled",
    ),
    (
        "v1 Pod",
        "{spec: {restartPolicy: Never}, status: {phase: Running, containerStatuses: [{name: m, state: {terminated: {exitCode: 3}}}]}}",
        Failed,
        "ContainerFailed",
    ),
    (
        "v1 Pod",
        "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: SchedulingGated}]}",
        InProgress,
        "SchedulingGated",
    ),
    (
        "v1 Pod",
        "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}",
        InProgress,
        "PodNotScheduled",
    ),
    ("v1 Pod", "status: {phase: Pending}", InProgress, "PodPending"),
    ("v1 Pod", "status: {phase: Unknown}", Unknown, "PodUnknown"),
    ("v1 Pod", "status: {phase: Running}", InProgress, "PodRunningNotReady"),
    (
        "v1 Pod",
        "status: {phase: Running, conditions: [{type: Ready, status: 'True'}, {type: PodResizePending, status: 'True', reason: Deferred}]}",
        InProgress,
        "PodResizing",
    ),
    ("v1 Pod", "status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}", Current, "PodReady"),
    (
        "v1 Pod",
        "{metadata: {generation: 1}, status: {observedGeneration: 0, phase: Running, conditions: [{type: Ready, status: 'True'}]}}",
        Current,
        "PodReady",
    ),
    // Job and CronJob
    ("batch/v1 Job", "status: {conditions: [{type: Failed, status: 'True'}]}", Failed, "JobFailed"),
    ("batch/v1 Job", "status: {conditions: [{type: Complete, status: 'True'}]}", Current, "JobComplete"),
    (
        "batch/v1 Job",
        "{spec: {suspend: true}, status: {conditions: [{type: Suspended, status: 'True'}]}}",
        Current,
        "JobSuspended",
    ),
    (
        "batch/v1 Job",
        "status: {conditions: [{type: FailureTarget, status: 'True'}]}",
        InProgress,
        "FailureTarget",
    ),
    (
        "batch/v1 Job",
        "status: {conditions: [{type: SuccessCriteriaMet, status: 'True'}]}",
        InProgress,
        "SuccessCriteriaMet",
    ),
    (
        "batch/v1 Job",
        "{spec: {suspend: true}, status: {startTime: '2025-01-01T00:00:00Z', active: 1}}",
        InProgress,
        "JobSuspending",
    ),
    ("batch/v1 Job", "status: {}", InProgress, "JobNotStarted"),
    ("batch/v1 Job", "status: {startTime: '2025-01-01T00:00:00Z'}", InProgress, "JobInProgress"),
    ("batch/v1 CronJob", "status: {}", Current, "AlwaysReady"),
    // storage
    ("v1 PersistentVolumeClaim", "status: {phase: Lost}", Failed, "Lost"),
    ("v1 PersistentVolumeClaim", "status: {phase: Pending}", InProgress, "NotBound"),
    (
        "v1 PersistentVolumeClaim",
        "{spec: {resources: {requests: {storage: 2Gi}}}, status: {phase: Bound, capacity: {storage: '1073741824'}}}",
        InProgress,
        "Resizing",
    ),
    (
        "v1 PersistentVolumeClaim",
        "status: {phase: Bound, modifyVolumeStatus: {status: InProgress}}",
        InProgress,
        "ModifyingVolume",
    ),
    (
        "v1 PersistentVolumeClaim",
        "{spec: {resources: {requests: {storage: 1Gi}}}, status: {phase: Bound, capacity: {storage: '1073741824'}}}",
        Current,
        "Bound",
    ),
    ("v1 PersistentVolume", "status: {phase: Failed}", Failed, "VolumeFailed"),
    ("v1 PersistentVolume", "status: {phase: Pending}", InProgress, "VolumePending"),
    ("v1 PersistentVolume", "status: {phase: Released}", Current, "VolumeSettled"),
    // network
    ("v1 Service", "spec: {type: LoadBalancer}", InProgress, "NoIPAssigned"),
    ("v1 Service", "spec: {type: LoadBalancer, clusterIP: 10.0.0.1}", InProgress, "NoLoadBalancerAddress"),
    (
        "v1 Service",
        "spec: {type: LoadBalancer, clusterIP: 10.0.0.1, externalIPs: [1.2.3.4]}",
        Current,
        "ServiceReady",
    ),
    ("networking.k8s.io/v1 Ingress", "status: {loadBalancer: {}}", Current, "IngressReady"),
    ("networking.k8s.io/v1 Ingress", "status: {loadBalancer: {ingress: [{}]}}", Current, "IngressReady"),
    // autoscaling and policy
    (
        "autoscaling/v2 HorizontalPodAutoscaler",
        "status: {conditions: [{type: AbleToScale, status: 'False', reason: FailedGetScale}]}",
        InProgress,
        "FailedGetScale",
    ),
    (
        "autoscaling/v2 HorizontalPodAutoscaler",
        "status: {conditions: [{type: ScalingActive, status: 'False'}]}",
        InProgress,
        "ScalingInactive",
    ),
    (
        "autoscaling/v2 HorizontalPodAutoscaler",
        "status: {conditions: [{type: ScalingActive, status: 'False', reason: ScalingDisabled}]}",
        Current,
        "AutoscalerActive",
    ),
    ("autoscaling/v2 HorizontalPodAutoscaler", "status: {}", InProgress, "NoStatus"),
    ("policy/v1 PodDisruptionBudget", "status: {}", InProgress, "NoObservedGeneration"),
    (
        "policy/v1 PodDisruptionBudget",
        "status: {observedGeneration: 1, conditions: [{type: DisruptionAllowed, status: 'False', reason: SyncFailed}]}",
        InProgress,
        "SyncFailed",
    ),
    ("policy/v1 PodDisruptionBudget", "status: {observedGeneration: 1}", Current, "BudgetComputed"),
    // kinds of the cluster
    (
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        "status: {conditions: [{type: Terminating, status: 'True', reason: Gone}]}",
        Terminating,
        "Gone",
    ),
    (
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        "status: {conditions: [{type: Established, status: 'True'}, {type: NamesAccepted, status: 'False', reason: Taken}]}",
        Failed,
        "Taken",
    ),
    (
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        "status: {conditions: [{type: NonStructuralSchema, status: 'True', reason: Violations}]}",
        Failed,
        "Violations",
    ),
    (
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        "status: {conditions: [{type: Established, status: 'False', reason: Why}]}",
        Failed,
        "Why",
    ),
    (
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        "status: {conditions: [{type: Established, status: 'True'}]}",
        Current,
        "Established",
    ),
    (
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        "status: {conditions: [{type: Established, status: 'False', reason: Installing}]}",
        InProgress,
        "Installing",
    ),
    (
        "apiregistration.k8s.io/v1 APIService",
        "status: {conditions: [{type: Available, status: 'True'}]}",
        Current,
        "Available",
    ),
    (
        "apiregistration.k8s.io/v1 APIService",
        "status: {conditions: [{type: Available, status: 'False'}]}",
        InProgress,
        "NotAvailable",
    ),
    ("apiregistration.k8s.io/v1 APIService", "status: {}", InProgress, "AvailabilityUnknown"),
    ("v1 Namespace", "status: {phase: Terminating}", Terminating, "NamespaceTerminating"),
    ("v1 Namespace", "status: {phase: Active}", Current, "NamespaceActive"),
    ("v1 Node", "status: {conditions: [{type: Ready, status: 'True'}]}", Current, "NodeReady"),
    ("v1 Node", "status: {conditions: [{type: Ready, status: 'Unknown'}]}", InProgress, "NodeNotReady"),
    ("v1 Node", "status: {}", InProgress, "NodeNotReady"),
    (
        "certificates.k8s.io/v1 CertificateSigningRequest",
        "status: {conditions: [{type: Denied, status: 'True', reason: Refused}]}",
        Failed,
        "Refused",
    ),
    (
        "certificates.k8s.io/v1 CertificateSigningRequest",
        "status: {certificate: LS0t}",
        Current,
        "CertificateIssued",
    ),
    (
        "certificates.k8s.io/v1 CertificateSigningRequest",
        "status: {conditions: [{type: Approved, status: 'True'}]}",
        InProgress,
        "NotSigned",
    ),
    // kinds of Kubernetes without rules of their own
    ("v1 Secret", "{}", Current, "AlwaysReady"),
    ("v1 ResourceQuota", "{}", Current, "ResourceCurrent"),
    ("resource.k8s.io/v1 ResourceClaim", "status: {}", Current, "ResourceCurrent"),
];

fn object(kind: &str, rest: &str) -> String {
    let mut value: serde_json::Value = serde_saphyr::from_str(rest).unwrap();
    let (api_version, kind) = kind.split_once(' ').unwrap();
    value["apiVersion"] = api_version.into();
    value["kind"] = kind.into();
    value.to_string()
}

fn with_view<T>(json: &str, look: impl FnOnce(&View<'_>) -> T) -> T {
    let names = ["apiVersion", "kind", "metadata", "spec", "status"];
    let [api_version, kind, metadata, spec, status] = Leaf::document(json.as_bytes(), names).unwrap();
    let kind = Kind::new(&api_version.text().unwrap(), &kind.text().unwrap());
    let [generation, deletion, annotations, labels, finalizers] =
        metadata.fields(["generation", "deletionTimestamp", "annotations", "labels", "finalizers"]);
    let generation = generation.int();
    let meta = Meta { generation, deletion, annotations, labels, finalizers };
    look(&View::new(&kind, meta, spec, status))
}

fn deciding<'r>(rows: impl IntoIterator<Item = &'r Row>, view: &View<'_>) -> Option<&'r Row> {
    rows.into_iter().find(|row| (row.tell)(view).is_some())
}

#[test]
fn every_sample_gets_the_status_and_reason_of_its_row() {
    for (kind, rest, status, reason) in SAMPLES {
        let digest = digest(object(kind, rest).as_bytes()).unwrap();
        let own = digest.own();
        assert_eq!((own.status(), &*own.reason()), (*status, *reason), "{kind} {rest}");
        assert!(!own.message().is_empty(), "{kind} {rest}");
    }
}

#[test]
fn every_row_of_every_family_decides_a_sample() {
    let mut decided = BTreeSet::new();
    for (kind, rest, ..) in SAMPLES {
        with_view(&object(kind, rest), |view| {
            let rows = deciding(generic::ROWS, view)
                .or_else(|| deciding(family_of(view)?.rows.iter().flat_map(|rows| rows.iter()), view));
            decided.extend(rows.map(|row| (view.kind.kind().to_owned(), row.when)));
        });
    }
    let decides = |names: &[&str], row: &Row| {
        names.iter().any(|name| decided.contains(&((*name).to_owned(), row.when)))
    };
    for row in generic::ROWS {
        assert!(decided.iter().any(|(_, when)| *when == row.when), "no sample for: {}", row.when);
    }
    for family in FAMILIES {
        let names: Vec<_> = family.kinds.iter().map(|(_, name)| *name).collect();
        for row in family.rows.iter().flat_map(|rows| rows.iter()) {
            assert!(decides(&names, row), "no sample of {names:?} for: {}", row.when);
        }
    }
}
