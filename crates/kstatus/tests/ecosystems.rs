//! Custom kinds people run, each settled, on its way, and failed where its operator says so.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use Status::*;
use kstatus::{Status, Timestamp, compute};
use serde_json::Value;

const STATES: &[(&str, &str, Status)] = &[
    // Gateway API
    (
        "gateway.networking.k8s.io/v1 Gateway",
        "conditions: [{type: Accepted, status: 'True'}, {type: Programmed, status: 'True'}]",
        Current,
    ),
    ("gateway.networking.k8s.io/v1 Gateway", "conditions: [{type: Accepted, status: 'True'}]", InProgress),
    (
        "gateway.networking.k8s.io/v1 Gateway",
        "{conditions: [{type: Accepted, status: 'True'}, {type: Programmed, status: 'True'}], listeners: [{name: https, conditions: [{type: ResolvedRefs, status: 'False'}]}]}",
        InProgress,
    ),
    (
        "gateway.networking.k8s.io/v1 GatewayClass",
        "conditions: [{type: Accepted, status: 'Unknown', reason: Pending}]",
        InProgress,
    ),
    (
        "gateway.networking.k8s.io/v1 HTTPRoute",
        "parents: [{conditions: [{type: Accepted, status: 'True', observedGeneration: 2}, {type: ResolvedRefs, status: 'True', observedGeneration: 2}]}]",
        Current,
    ),
    (
        "gateway.networking.k8s.io/v1 HTTPRoute",
        "parents: [{conditions: [{type: Accepted, status: 'False', reason: NotAllowedByListeners, observedGeneration: 2}]}]",
        InProgress,
    ),
    (
        "gateway.networking.k8s.io/v1 HTTPRoute",
        "parents: [{conditions: [{type: Accepted, status: 'True', observedGeneration: 1}]}]",
        InProgress,
    ),
    ("gateway.networking.k8s.io/v1 GRPCRoute", "parents: []", InProgress),
    ("gateway.networking.k8s.io/v1 ReferenceGrant", "{}", Current),
    // cert-manager
    ("cert-manager.io/v1 Certificate", "conditions: [{type: Ready, status: 'True'}]", Current),
    (
        "cert-manager.io/v1 Certificate",
        "conditions: [{type: Issuing, status: 'True'}, {type: Ready, status: 'False', reason: DoesNotExist}]",
        InProgress,
    ),
    ("cert-manager.io/v1 Certificate", "{}", InProgress),
    ("cert-manager.io/v1 Certificate", "Active", InProgress),
    (
        "cert-manager.io/v1 CertificateRequest",
        "conditions: [{type: Ready, status: 'False', reason: Failed}]",
        Failed,
    ),
    ("cert-manager.io/v1 ClusterIssuer", "conditions: [{type: Ready, status: 'True'}]", Current),
    ("acme.cert-manager.io/v1 Order", "state: pending", InProgress),
    ("acme.cert-manager.io/v1 Order", "state: errored", Failed),
    // External Secrets
    (
        "external-secrets.io/v1 ExternalSecret",
        "conditions: [{type: Ready, status: 'True', reason: SecretSynced}]",
        Current,
    ),
    (
        "external-secrets.io/v1 ExternalSecret",
        "conditions: [{type: Ready, status: 'False', reason: SecretSyncedError}]",
        InProgress,
    ),
    // Flux
    ("helm.toolkit.fluxcd.io/v2 HelmRelease", "conditions: [{type: Ready, status: 'True'}]", Current),
    (
        "helm.toolkit.fluxcd.io/v2 HelmRelease",
        "conditions: [{type: Ready, status: 'False', reason: InstallFailed}]",
        InProgress,
    ),
    (
        "helm.toolkit.fluxcd.io/v2 HelmRelease",
        "conditions: [{type: Ready, status: 'False'}, {type: Stalled, status: 'True', reason: RetriesExceeded}]",
        Failed,
    ),
    ("source.toolkit.fluxcd.io/v1 HelmRepository", "{}", Current),
    ("source.toolkit.fluxcd.io/v1 GitRepository", "{}", InProgress),
    // Argo
    ("argoproj.io/v1alpha1 Workflow", "phase: Succeeded", Current),
    ("argoproj.io/v1alpha1 Workflow", "phase: Running", InProgress),
    ("argoproj.io/v1alpha1 Workflow", "phase: Error", Failed),
    ("argoproj.io/v1alpha1 Application", "{health: {status: Healthy}, sync: {status: Synced}}", Current),
    (
        "argoproj.io/v1alpha1 Application",
        "{health: {status: Healthy}, sync: {status: OutOfSync}}",
        InProgress,
    ),
    ("argoproj.io/v1alpha1 Application", "{health: {status: Degraded}, sync: {status: Synced}}", Failed),
    (
        "argoproj.io/v1alpha1 Rollout",
        "{phase: Healthy, observedGeneration: '2', replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1}",
        Current,
    ),
    ("argoproj.io/v1alpha1 Rollout", "{phase: Progressing, replicas: 1}", InProgress),
    ("argoproj.io/v1alpha1 Rollout", "{phase: Degraded, message: 'ProgressDeadlineExceeded: late'}", Failed),
    // Tekton
    (
        "tekton.dev/v1 PipelineRun",
        "conditions: [{type: Succeeded, status: 'Unknown', reason: Running}]",
        InProgress,
    ),
    ("tekton.dev/v1 TaskRun", "conditions: [{type: Succeeded, status: 'True'}]", Current),
    (
        "tekton.dev/v1 TaskRun",
        "conditions: [{type: Succeeded, status: 'False', reason: TaskRunTimeout}]",
        Failed,
    ),
    ("tekton.dev/v1 Pipeline", "{}", Current),
    // Crossplane
    (
        "s3.aws.upbound.io/v1beta1 Bucket",
        "conditions: [{type: Ready, status: 'True'}, {type: Synced, status: 'True'}]",
        Current,
    ),
    (
        "s3.aws.upbound.io/v1beta1 Bucket",
        "conditions: [{type: Ready, status: 'True'}, {type: Synced, status: 'False', reason: ReconcileError}]",
        InProgress,
    ),
    ("pkg.crossplane.io/v1 Provider", "conditions: [{type: Installed, status: 'True'}]", InProgress),
    (
        "pkg.crossplane.io/v1 Provider",
        "conditions: [{type: Installed, status: 'True'}, {type: Healthy, status: 'True'}]",
        Current,
    ),
    (
        "apiextensions.crossplane.io/v1 CompositeResourceDefinition",
        "conditions: [{type: Established, status: 'True'}]",
        Current,
    ),
    ("aws.upbound.io/v1beta1 ProviderConfig", "{}", Current),
    // Cluster API
    (
        "cluster.x-k8s.io/v1beta1 Cluster",
        "{phase: Provisioned, conditions: [{type: Ready, status: 'True'}]}",
        Current,
    ),
    ("cluster.x-k8s.io/v1beta1 Cluster", "phase: Provisioning", InProgress),
    ("infrastructure.cluster.x-k8s.io/v1beta2 AWSCluster", "{}", InProgress),
    ("infrastructure.cluster.x-k8s.io/v1beta2 AWSMachineTemplate", "{}", Current),
    ("cluster.x-k8s.io/v1beta1 Machine", "{phase: Failed, failureMessage: no capacity}", Failed),
    ("cluster.x-k8s.io/v1beta1 MachineDeployment", "{phase: ScalingUp, replicas: 1}", InProgress),
    // Strimzi
    ("kafka.strimzi.io/v1beta2 Kafka", "conditions: [{type: Ready, status: 'True'}]", Current),
    (
        "kafka.strimzi.io/v1beta2 KafkaTopic",
        "conditions: [{type: NotReady, status: 'True', message: no}]",
        InProgress,
    ),
    // KEDA
    (
        "keda.sh/v1alpha1 ScaledObject",
        "conditions: [{type: Ready, status: 'True'}, {type: Active, status: 'False'}, {type: Fallback, status: 'False'}]",
        Current,
    ),
    (
        "keda.sh/v1alpha1 ScaledObject",
        "conditions: [{type: Ready, status: 'False', reason: ScaledObjectCheckFailed}]",
        InProgress,
    ),
    ("keda.sh/v1alpha1 TriggerAuthentication", "{}", Current),
    // Knative
    (
        "serving.knative.dev/v1 Service",
        "conditions: [{type: Ready, status: 'True'}, {type: RoutesReady, status: 'True'}]",
        Current,
    ),
    (
        "serving.knative.dev/v1 Service",
        "conditions: [{type: Ready, status: 'Unknown', reason: Deploying}]",
        InProgress,
    ),
    // prometheus-operator
    (
        "monitoring.coreos.com/v1 Prometheus",
        "conditions: [{type: Available, status: 'True'}, {type: Reconciled, status: 'True'}]",
        Current,
    ),
    ("monitoring.coreos.com/v1 Alertmanager", "conditions: [{type: Available, status: 'False'}]", InProgress),
    ("monitoring.coreos.com/v1 ServiceMonitor", "{}", Current),
    // volume snapshots
    ("snapshot.storage.k8s.io/v1 VolumeSnapshot", "readyToUse: true", Current),
    (
        "snapshot.storage.k8s.io/v1 VolumeSnapshot",
        "{readyToUse: false, error: {message: no class}}",
        InProgress,
    ),
    // CloudNativePG
    (
        "postgresql.cnpg.io/v1 Cluster",
        "{phase: Cluster in healthy state, conditions: [{type: Ready, status: 'True'}]}",
        Current,
    ),
    ("postgresql.cnpg.io/v1 Cluster", "phase: Setting up primary", InProgress),
    ("postgresql.cnpg.io/v1 Backup", "phase: failed", Failed),
    ("postgresql.cnpg.io/v1 ScheduledBackup", "{}", Current),
    // Istio
    ("networking.istio.io/v1 VirtualService", "{}", Current),
    (
        "networking.istio.io/v1 VirtualService",
        "conditions: [{type: Reconciled, status: 'False'}]",
        InProgress,
    ),
    // others
    (
        "bitnami.com/v1alpha1 SealedSecret",
        "conditions: [{type: Synced, status: 'False', message: no key}]",
        InProgress,
    ),
    ("velero.io/v1 Backup", "phase: PartiallyFailed", Failed),
    ("velero.io/v1 Backup", "phase: InProgress", InProgress),
    ("velero.io/v1 Backup", "phase: Completed", Current),
    ("operators.coreos.com/v1alpha1 ClusterServiceVersion", "phase: Installing", InProgress),
    (
        "karpenter.sh/v1 NodeClaim",
        "conditions: [{type: Launched, status: 'True'}, {type: Registered, status: 'Unknown'}]",
        InProgress,
    ),
    (
        "work.karmada.io/v1alpha2 ResourceBinding",
        "{conditions: [{type: FullyApplied, status: 'True'}], aggregatedStatus: [{applied: true, health: Healthy}]}",
        Current,
    ),
];

#[test]
fn every_recorded_state_is_judged_as_its_operator_means_it() {
    for (kind, status, expected) in STATES {
        let (api_version, kind) = kind.split_once(' ').unwrap();
        let status: Value = serde_saphyr::from_str(status).unwrap();
        let object = serde_json::json!({
            "apiVersion": api_version, "kind": kind, "status": status,
            "metadata": {"name": "x", "generation": 2, "creationTimestamp": "2025-01-01T00:00:00Z"}
        });
        let late = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
        let verdict = compute(object.to_string().as_bytes(), late).unwrap();
        assert_eq!(verdict.status, *expected, "{object}: {}", verdict.message);
    }
}
