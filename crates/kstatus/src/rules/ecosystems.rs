//! Custom kinds that are known: where each keeps its verdict. One table, no code per kind.

use super::checks::{self, Check};
use super::{Origin, Telling, habits, told_as};
use crate::outcome::{Expected, Own};
use crate::verdict::Status::Current;
use crate::view::View;
use Check::*;

/// What is known of the kinds of a group.
pub(super) struct Known {
    /// The group; with `*` in front the end of the group.
    pub(super) group: &'static str,
    /// Kinds, separated by spaces; with `*` in front the end of the kind; `*` alone: all others.
    pub(super) kinds: &'static str,
    /// What an object without a status is.
    pub(super) silence: Silence,
    pub(super) checks: &'static [Check],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Silence {
    /// A controller will speak: it is waited for.
    Wait,
    /// Nobody has to speak.
    Fine,
}

const fn speaks(group: &'static str, kinds: &'static str, checks: &'static [Check]) -> Known {
    Known { group, kinds, silence: Silence::Wait, checks }
}

const fn quiet(group: &'static str, kinds: &'static str, checks: &'static [Check]) -> Known {
    Known { group, kinds, silence: Silence::Fine, checks }
}

const RUN_GOOD: &[&str] = &["Succeeded", "Successful", "Completed", "Complete", "Skipped"];
const RUN_BAD: &[&str] = &["Failed", "Error", "Failure", "Aborted", "Errored"];
const ROUTE: &[&str] = &["Accepted", "ResolvedRefs", "Programmed", "Ready"];

/// In order; the first row that fits decides.
pub(super) const TABLE: &[Known] = &[
    // Gateway API
    speaks(
        "gateway.networking.k8s.io",
        "Gateway",
        &[True(&["Accepted", "Programmed"]), TrueIfThere(&["ResolvedRefs", "Ready"]), Habits],
    ),
    speaks("gateway.networking.k8s.io", "GatewayClass", &[True(&["Accepted"])]),
    speaks(
        "gateway.networking.k8s.io",
        "HTTPRoute GRPCRoute TLSRoute TCPRoute UDPRoute",
        &[Each("status.parents[]", ROUTE)],
    ),
    speaks(
        "gateway.networking.k8s.io",
        "BackendTLSPolicy BackendLBPolicy XBackendTrafficPolicy",
        &[Every("status.ancestors[]", ROUTE)],
    ),
    quiet("gateway.networking.k8s.io", "*", &[Habits]),
    quiet("microgateway.airlock.com", "*", &[Habits]),
    // cert-manager
    speaks(
        "cert-manager.io",
        "CertificateRequest",
        &[
            Fatal(&["Denied", "InvalidRequest"]),
            FatalReason("Ready", &["Failed", "Denied"]),
            True(&["Ready"]),
        ],
    ),
    speaks("cert-manager.io", "*", &[True(&["Ready"])]),
    speaks("certmanager.k8s.io", "*", &[True(&["Ready"])]),
    speaks(
        "acme.cert-manager.io",
        "Order Challenge",
        &[Word("status.state", &["valid"], &["invalid", "errored", "expired"])],
    ),
    // External Secrets
    speaks(
        "external-secrets.io",
        "ExternalSecret PushSecret SecretStore ClusterSecretStore",
        &[True(&["Ready"])],
    ),
    speaks(
        "external-secrets.io",
        "ClusterExternalSecret ClusterPushSecret",
        &[NotTrue(&["NotReady"]), Empty("status.failedNamespaces"), True(&["Ready"])],
    ),
    quiet("generators.external-secrets.io", "*", &[Habits]),
    speaks("kubernetes-client.io", "ExternalSecret", &[Word("status.status", &["SUCCESS"], &[])]),
    // Flux
    quiet("source.toolkit.fluxcd.io", "HelmRepository", &[TrueIfThere(&["Ready"])]),
    quiet("notification.toolkit.fluxcd.io", "Alert Provider", &[TrueIfThere(&["Ready"])]),
    speaks(
        "*.toolkit.fluxcd.io",
        "*",
        &[Stop("spec.suspend", "true", "Reconciliation is suspended"), True(&["Ready"])],
    ),
    speaks("fluxcd.controlplane.io", "*", &[True(&["Ready"])]),
    // Argo
    speaks("argoproj.io", "Workflow", &[Word("status.phase", RUN_GOOD, RUN_BAD)]),
    speaks("argoproj.io", "AnalysisRun Experiment", &[Word("status.phase", RUN_GOOD, RUN_BAD)]),
    speaks(
        "argoproj.io",
        "Rollout",
        &[
            Fatal(&["InvalidSpec"]),
            FatalReason("Progressing", &["ProgressDeadlineExceeded", "RolloutAborted"]),
            WordIfThere("status.phase", &["Healthy"], &["Degraded", "Error"]),
            NotWord("spec.paused", &["true"]),
            Agree("status.workloadObservedGeneration", "annotation rollout.argoproj.io/workload-generation"),
            Reaches("status.updatedReplicas", "spec.replicas"),
            Reaches("status.availableReplicas", "status.updatedReplicas"),
            Reaches("status.availableReplicas", "spec.replicas"),
            Reaches("status.updatedReplicas", "status.replicas"),
            Habits,
        ],
    ),
    speaks(
        "argoproj.io",
        "Application",
        &[
            WordIfThere("status.operationState.phase", &["Succeeded"], &["Failed", "Error"]),
            Word("status.health.status", &["Healthy", "Suspended"], &["Degraded"]),
            WordIfThere("status.sync.status", &["Synced"], &[]),
        ],
    ),
    speaks(
        "argoproj.io",
        "ApplicationSet",
        &[
            NotTrue(&["ErrorOccurred"]),
            TrueIfThere(&["ParametersGenerated", "ResourcesUpToDate"]),
            NotTrue(&["RolloutProgressing"]),
        ],
    ),
    quiet("argoproj.io", "CronWorkflow", &[Fatal(&["SpecError", "SubmissionError"])]),
    quiet(
        "argoproj.io",
        "WorkflowTemplate ClusterWorkflowTemplate AppProject AnalysisTemplate ClusterAnalysisTemplate",
        &[],
    ),
    speaks("argoproj.io", "EventBus EventSource Sensor", &[Habits]),
    speaks(
        "promoter.argoproj.io",
        "ChangeTransferPolicy",
        &[True(&["Ready"]), Same("status.active.dry.sha", "status.proposed.dry.sha")],
    ),
    speaks(
        "promoter.argoproj.io",
        "PromotionStrategy",
        &[
            True(&["Ready"]),
            Given("status.environments"),
            NotWord("status.environments[].proposed.commitStatuses[].phase", &["pending", "failure"]),
            Same("status.environments[].active.dry.sha", "status.environments[].proposed.dry.sha"),
        ],
    ),
    speaks("promoter.argoproj.io", "CommitStatus", &[True(&["Ready"])]),
    speaks(
        "promoter.argoproj.io",
        "ArgoCDCommitStatus",
        &[True(&["Ready"]), Given("status.applicationsSelected")],
    ),
    speaks(
        "promoter.argoproj.io",
        "*",
        &[
            True(&["Ready"]),
            WordIfThere("status.environments[].phase", &["success"], &["failure"]),
            WordIfThere("status.phase", &["success"], &["failure"]),
        ],
    ),
    // Tekton
    speaks(
        "tekton.dev",
        "PipelineRun TaskRun Run CustomRun",
        &[FatalFalse(&["Succeeded"]), True(&["Succeeded"])],
    ),
    quiet("tekton.dev", "*", &[Habits]),
    quiet("triggers.tekton.dev", "*", &[TrueIfThere(&["Available", "Ready"])]),
    speaks("operator.tekton.dev", "*", &[True(&["Ready"])]),
    speaks("shipwright.io", "BuildRun", &[FatalFalse(&["Succeeded"]), True(&["Succeeded"])]),
    // Crossplane
    speaks("pkg.crossplane.io", "Provider Configuration Function", &[True(&["Installed", "Healthy"])]),
    speaks(
        "pkg.crossplane.io",
        "ProviderRevision ConfigurationRevision FunctionRevision",
        &[AnyTrue(&["Healthy", "RevisionHealthy", "RuntimeHealthy"])],
    ),
    quiet("pkg.crossplane.io", "*", &[Habits]),
    speaks(
        "apiextensions.crossplane.io",
        "CompositeResourceDefinition",
        &[True(&["Established"]), TrueIfThere(&["Offered"])],
    ),
    quiet("apiextensions.crossplane.io", "*", &[Habits]),
    quiet("*.crossplane.io", "ProviderConfig ProviderConfigUsage StoreConfig ClusterProviderConfig", &[]),
    quiet("*.upbound.io", "ProviderConfig ProviderConfigUsage StoreConfig ClusterProviderConfig", &[]),
    speaks("stacks.crossplane.io", "*", &[Habits]),
    speaks("*.crossplane.io", "*", &[TrueIfThere(&["Synced"]), True(&["Ready"])]),
    speaks("*.upbound.io", "*", &[TrueIfThere(&["Synced", "LastAsyncOperation"]), True(&["Ready"])]),
    // Cluster API
    speaks(
        "cluster.x-k8s.io",
        "Cluster",
        &[
            Stop("spec.paused", "true", "Cluster is paused"),
            FatalGiven("status.failureReason"),
            FatalGiven("status.failureMessage"),
            Word("status.phase", &["Provisioned"], &["Failed"]),
            TrueIfThere(&["Ready", "Available", "ControlPlaneReady", "InfrastructureReady"]),
        ],
    ),
    speaks(
        "cluster.x-k8s.io",
        "Machine MachinePool",
        &[
            FatalGiven("status.failureReason"),
            FatalGiven("status.failureMessage"),
            Word("status.phase", &["Running", "Provisioned", "Scaling"], &["Failed"]),
            TrueIfThere(&["Ready"]),
            Habits,
        ],
    ),
    speaks(
        "cluster.x-k8s.io",
        "MachineDeployment MachineSet",
        &[
            WordIfThere("status.phase", &["Running"], &["Failed"]),
            Reaches("status.updatedReplicas", "spec.replicas"),
            Reaches("status.readyReplicas", "spec.replicas"),
            Habits,
        ],
    ),
    speaks(
        "cluster.x-k8s.io",
        "MachineHealthCheck",
        &[Reaches("status.currentHealthy", "status.expectedMachines"), Habits],
    ),
    quiet("cluster.x-k8s.io", "ClusterClass", &[Habits]),
    quiet("controlplane.cluster.x-k8s.io", "*Template", &[]),
    speaks(
        "controlplane.cluster.x-k8s.io",
        "*",
        &[
            FatalGiven("status.failureMessage"),
            NotTrue(&["EKSControlPlaneCreating", "EKSControlPlaneUpdating"]),
            AnyTrue(&["Ready", "Available"]),
            WordIfThere("status.ready", &["true"], &[]),
        ],
    ),
    quiet("infrastructure.cluster.x-k8s.io", "*Template *Identity", &[]),
    speaks("infrastructure.cluster.x-k8s.io", "*", &[FatalGiven("status.failureMessage"), Habits]),
    quiet("bootstrap.cluster.x-k8s.io", "*Template *Identity", &[]),
    speaks("bootstrap.cluster.x-k8s.io", "*", &[FatalGiven("status.failureMessage"), Habits]),
    speaks("addons.cluster.x-k8s.io", "ClusterResourceSet", &[AnyTrue(&["ResourcesApplied"])]),
    // Strimzi
    speaks(
        "kafka.strimzi.io",
        "KafkaConnector",
        &[
            WordIfThere(
                "status.connectorStatus.connector.state",
                &["RUNNING", "PAUSED", "STOPPED"],
                &["FAILED"],
            ),
            NotTrue(&["NotReady"]),
            True(&["Ready"]),
        ],
    ),
    quiet("kafka.strimzi.io", "KafkaNodePool", &[Habits]),
    speaks("kafka.strimzi.io", "*", &[NotTrue(&["NotReady"]), AnyTrue(&["Ready", "ReconciliationPaused"])]),
    // KEDA
    speaks("keda.sh", "ScaledObject ScaledJob", &[NotTrue(&["Fallback"]), True(&["Ready"])]),
    quiet("keda.sh", "*", &[]),
    speaks("http.keda.sh", "*", &[True(&["Ready"])]),
    // Knative
    speaks("serving.knative.dev", "*", &[True(&["Ready"])]),
    speaks("eventing.knative.dev", "*", &[True(&["Ready"])]),
    speaks("messaging.knative.dev", "*", &[True(&["Ready"])]),
    speaks("sources.knative.dev", "*", &[True(&["Ready"])]),
    speaks("operator.knative.dev", "*", &[True(&["Ready"]), Habits]),
    speaks(
        "serving.kserve.io",
        "InferenceService",
        &[
            WordIfThere(
                "status.modelStatus.transitionStatus",
                &["UpToDate"],
                &["BlockedByFailedLoad", "InvalidSpec"],
            ),
            True(&["Ready"]),
        ],
    ),
    // prometheus-operator
    speaks(
        "monitoring.coreos.com",
        "Prometheus Alertmanager ThanosRuler PrometheusAgent",
        &[True(&["Available"]), TrueIfThere(&["Reconciled"])],
    ),
    quiet("monitoring.coreos.com", "*", &[Habits]),
    // volume snapshots
    speaks(
        "snapshot.storage.k8s.io",
        "VolumeSnapshot VolumeSnapshotContent",
        &[Empty("status.error.message"), Word("status.readyToUse", &["true"], &[])],
    ),
    quiet("snapshot.storage.k8s.io", "*", &[]),
    // databases
    speaks(
        "postgresql.cnpg.io",
        "Cluster",
        &[
            Word(
                "status.phase",
                &["Cluster in healthy state"],
                &["Cluster cannot proceed to reconciliation due to an unknown plugin being required"],
            ),
            TrueIfThere(&["Ready"]),
            Reaches("status.readyInstances", "spec.instances"),
        ],
    ),
    speaks(
        "postgresql.cnpg.io",
        "Backup",
        &[Word("status.phase", &["completed"], &["failed", "walArchivingFailing"])],
    ),
    quiet("postgresql.cnpg.io", "ScheduledBackup ImageCatalog ClusterImageCatalog", &[]),
    speaks("postgresql.cnpg.io", "Pooler", &[Reaches("status.instances", "spec.instances")]),
    speaks(
        "postgresql.cnpg.io",
        "Database Publication Subscription",
        &[Word("status.applied", &["true"], &[])],
    ),
    speaks(
        "acid.zalan.do",
        "postgresql",
        &[Word(
            "status.PostgresClusterStatus",
            &["Running"],
            &["CreateFailed", "UpdateFailed", "DeleteFailed", "SyncFailed", "Invalid"],
        )],
    ),
    speaks("psmdb.percona.com", "*", &[Word("status.state", &["ready", "paused", "stopped"], &["error"])]),
    speaks("pxc.percona.com", "*", &[Word("status.state", &["ready", "paused", "stopped"], &["error"])]),
    speaks(
        "k8s.mariadb.com",
        "Backup Restore SqlJob",
        &[FatalReason("Complete", &["JobFailed"]), True(&["Complete"])],
    ),
    speaks("k8s.mariadb.com", "*", &[True(&["Ready"])]),
    speaks("mariadb.mmontes.io", "*", &[True(&["Ready"])]),
    speaks(
        "elasticsearch.k8s.elastic.co",
        "Elasticsearch",
        &[
            Word("status.phase", &["Ready"], &["Invalid"]),
            Word("status.health", &["green"], &[]),
            Reaches("status.availableNodes", "spec.nodeSets[].count"),
        ],
    ),
    speaks(
        "*.k8s.elastic.co",
        "*",
        &[
            WordIfThere("status.health", &["green"], &["red"]),
            Reaches("status.availableNodes", "status.expectedNodes"),
            Given("status.health"),
        ],
    ),
    // Istio
    speaks("install.istio.io", "IstioOperator", &[Word("status.status", &["HEALTHY"], &["ERROR"])]),
    quiet("networking.istio.io", "*", &[Habits]),
    quiet("security.istio.io", "*", &[Habits]),
    quiet("telemetry.istio.io", "*", &[Habits]),
    quiet("extensions.istio.io", "*", &[Habits]),
    // workloads
    speaks(
        "apps.kruise.io",
        "AdvancedCronJob",
        &[
            Stop("spec.paused", "true", "AdvancedCronJob is paused"),
            Empty("status.active"),
            Given("status.lastScheduleTime"),
        ],
    ),
    speaks(
        "apps.kruise.io",
        "CloneSet StatefulSet",
        &[
            Reaches("status.updatedReadyReplicas", "spec.replicas"),
            Reaches("status.updatedAvailableReplicas", "spec.replicas"),
        ],
    ),
    speaks(
        "apps.kruise.io",
        "DaemonSet",
        &[
            Given("spec.updateStrategy.rollingUpdate.partition"),
            Reaches("status.updatedNumberScheduled", "status.desiredNumberScheduled"),
            Reaches("status.numberAvailable", "status.desiredNumberScheduled"),
        ],
    ),
    speaks("apps.kruise.io", "*", &[Habits]),
    speaks(
        "apps.openshift.io",
        "DeploymentConfig",
        &[
            Stop("spec.replicas", "0", "DeploymentConfig has no replicas to run"),
            FatalFalse(&["Progressing"]),
            FatalReason("Progressing", &["ProgressDeadlineExceeded"]),
            Reason("Progressing", &["NewReplicationControllerAvailable"]),
            Habits,
        ],
    ),
    speaks(
        "core.spinkube.dev",
        "SpinApp",
        &[
            FatalReason("Progressing", &["ProgressDeadlineExceeded"]),
            Reaches("status.readyReplicas", "spec.replicas"),
            Habits,
        ],
    ),
    speaks("flagger.app", "Canary", &[Word("status.phase", &["Initialized", "Succeeded"], &["Failed"])]),
    speaks(
        "numaplane.numaproj.io",
        "*",
        &[
            Stop("status.phase", "Paused", "Resource is paused"),
            NotTrue(&["MonoVertexPausing", "PipelinePausing"]),
            Habits,
        ],
    ),
    speaks(
        "numaflow.numaproj.io",
        "*",
        &[
            Stop("status.phase", "Paused", "Resource is paused"),
            FatalLabel("numaplane.numaproj.io/progressive-result-state", &["failed"]),
            Habits,
        ],
    ),
    speaks("opentelemetry.io", "OpenTelemetryCollector", &[Fraction("status.scale.statusReplicas")]),
    quiet("opentelemetry.io", "*", &[Habits]),
    speaks("karpenter.sh", "NodeClaim", &[True(&["Launched", "Registered", "Initialized", "Ready"])]),
    quiet("karpenter.sh", "NodePool", &[TrueIfThere(&["Ready"])]),
    speaks(
        "kubevirt.io",
        "VirtualMachine VirtualMachineInstance",
        &[
            Stop("spec.runStrategy", "Halted", "Virtual machine is halted"),
            Given("status.conditions"),
            Habits,
        ],
    ),
    speaks(
        "flink.apache.org",
        "FlinkDeployment",
        &[
            Stop("status.jobStatus.state", "SUSPENDED", "Flink job is suspended"),
            Word("status.jobManagerDeploymentStatus", &["READY", "DEPLOYED"], &["ERROR"]),
            WordIfThere("status.jobStatus.state", &["RUNNING", "FINISHED"], &["FAILED", "FAILING"]),
        ],
    ),
    speaks(
        "sparkoperator.k8s.io",
        "SparkApplication",
        &[Word(
            "status.applicationState.state",
            &["RUNNING", "COMPLETED"],
            &["FAILED", "FAILING", "SUBMISSION_FAILED"],
        )],
    ),
    speaks(
        "minio.min.io",
        "Tenant",
        &[Word(
            "status.currentState",
            &["Initialized"],
            &[
                "Another MinIO Tenant already exists in the namespace",
                "Different versions across MinIO Pools",
                "Pool Decommissioning Not Allowed",
                "Statefulset not controlled by operator",
                "Tenant credentials are not set properly",
            ],
        )],
    ),
    speaks(
        "ceph.rook.io",
        "CephCluster",
        &[
            Word("status.ceph.health", &["HEALTH_OK"], &["HEALTH_ERR"]),
            WordIfThere("status.state", &["Created", "Connected"], &["Error"]),
        ],
    ),
    speaks(
        "cassandra.rook.io",
        "Cluster",
        &[Reaches("status.racks[].readyMembers", "status.racks[].members")],
    ),
    speaks(
        "kafka.banzaicloud.io",
        "KafkaCluster",
        &[
            NotWord("status.brokersState[].configurationState", &["ConfigOutOfSync"]),
            Word("status.cruiseControlTopicStatus", &["CruiseControlTopicReady"], &[]),
            Word("status.state", &["ClusterRunning"], &[]),
            NotWord(
                "status.brokersState[].gracefulActionState.cruiseControlState",
                &["GracefulUpscaleRunning", "GracefulDownscaleRunning"],
            ),
        ],
    ),
    // gloo counts its states: 0 pending, 1 accepted, 2 rejected, 3 warning
    speaks(
        "*.solo.io",
        "*",
        &[
            WordIfThere("status.state", &["Accepted", "1"], &["Rejected", "2"]),
            WordIfThere("status.statuses[].state", &["Accepted", "1"], &["Rejected", "2"]),
        ],
    ),
    // policies
    speaks(
        "policy.open-cluster-management.io",
        "Policy",
        &[
            Stop("spec.disabled", "true", "Policy is disabled"),
            WordIfThere("status.compliant", &["Compliant"], &[]),
        ],
    ),
    speaks(
        "policy.open-cluster-management.io",
        "OperatorPolicy",
        &[True(&["Compliant"]), Word("status.compliant", &["Compliant"], &[])],
    ),
    speaks(
        "policy.open-cluster-management.io",
        "ConfigurationPolicy CertificatePolicy",
        &[Observes("status.lastEvaluatedGeneration"), Word("status.compliant", &["Compliant"], &[])],
    ),
    speaks("kyverno.io", "*", &[AnyTrue(&["Ready"])]),
    // others
    speaks(
        "metrics.keptn.sh",
        "Analysis",
        &[Word("status.state", &["Completed"], &["Failed"]), NotWord("status.pass", &["false"])],
    ),
    speaks("metrics.keptn.sh", "KeptnMetric", &[Empty("status.errMsg"), Given("status.value")]),
    speaks(
        "operators.coreos.com",
        "ClusterServiceVersion",
        &[Word("status.phase", &["Succeeded"], &["Failed"])],
    ),
    speaks("operators.coreos.com", "InstallPlan", &[Word("status.phase", &["Complete"], &["Failed"])]),
    speaks(
        "operators.coreos.com",
        "CatalogSource",
        &[Word("status.connectionState.lastObservedState", &["READY"], &[])],
    ),
    speaks(
        "operators.coreos.com",
        "Subscription",
        &[
            Fatal(&["InstallPlanFailed", "ResolutionFailed", "BundleUnpackFailed"]),
            NotTrue(&["CatalogSourcesUnhealthy"]),
            Word("status.state", &["AtLatestKnown", "UpgradeAvailable"], &[]),
        ],
    ),
    speaks(
        "grafana.integreatly.org",
        "Grafana",
        &[Word("status.stageStatus", &["success"], &["failed"]), Word("status.stage", &["complete"], &[])],
    ),
    speaks(
        "trident.netapp.io",
        "TridentBackendConfig",
        &[
            Word("status.lastOperationStatus", &["Success"], &["Failed"]),
            Word("status.phase", &["Bound"], &["Failed", "Lost"]),
        ],
    ),
    speaks(
        "core.gardener.cloud",
        "Shoot",
        &[
            NotWord("status.conditions[].status", &["False"]),
            Word("status.lastOperation.state", &["Succeeded"], &["Failed", "Error", "Aborted"]),
        ],
    ),
    speaks("astra.netapp.io", "ExecHook", &[Stop("spec.enabled", "true", "ExecHook is enabled"), Habits]),
    quiet("astra.netapp.io", "Schedule", &[]),
    speaks("capabilities.3scale.net", "*", &[Given("status.conditions"), Habits]),
    speaks(
        "operator.openshift.io",
        "IngressController",
        &[NotTrue(&["Degraded", "Progressing", "DeploymentRollingOut"]), True(&["Available"])],
    ),
    speaks(
        "grafana.integreatly.org",
        "GrafanaDatasource GrafanaDashboard GrafanaFolder",
        &[NotWord("status.NoMatchingInstances", &["true"]), Habits],
    ),
    speaks(
        "astra.netapp.io",
        "Backup Snapshot ResourceBackup ResticVolumeBackup ExecHooksRun",
        &[Word("status.state", &["Completed"], &["Failed", "Error"])],
    ),
    speaks(
        "work.karmada.io",
        "ResourceBinding ClusterResourceBinding",
        &[
            True(&["FullyApplied"]),
            TrueIfThere(&["Scheduled"]),
            Word("status.aggregatedStatus[].applied", &["true"], &[]),
            NotWord("status.aggregatedStatus[].health", &["Unhealthy"]),
        ],
    ),
    speaks("services.k8s.aws", "*", &[Fatal(&["ACK.Terminal"]), True(&["ACK.ResourceSynced"])]),
    speaks("*.services.k8s.aws", "*", &[Fatal(&["ACK.Terminal"]), True(&["ACK.ResourceSynced"])]),
    speaks("*.cnrm.cloud.google.com", "*", &[Habits]),
    speaks(
        "proclaim.dogmatiq.io",
        "DNSSDServiceInstance",
        &[FatalFalse(&["Adopted"]), TrueIfThere(&["Adopted", "Advertised"]), True(&["Discoverable"])],
    ),
];

/// Groups whose kinds always report a status, in the words habit expects.
pub(super) const SPEAKING_GROUPS: &[&str] = &[
    "addons.cluster.x-k8s.io",
    "apps.3scale.net",
    "astra.netapp.io",
    "batch.volcano.sh",
    "bitnami.com",
    "camel.apache.org",
    "cdi.kubevirt.io",
    "ceph.rook.io",
    "clickhouse-keeper.altinity.com",
    "clickhouse.altinity.com",
    "cluster.x-k8s.io",
    "coralogix.com",
    "core.humio.com",
    "couchbase.com",
    "datadoghq.com",
    "db.atlasgo.io",
    "game.kruise.io",
    "grafana-org-operator.kubitus-project.gitlab.io",
    "grafana.integreatly.org",
    "iammanager.keikoproj.io",
    "jaegertracing.io",
    "k8s.keycloak.org",
    "k8ssandra.io",
    "kiali.io",
    "kubeflow.org",
    "lifecycle.keptn.sh",
    "metrics.keptn.sh",
    "mysql.oracle.com",
    "networking.gke.io",
    "nmstate.io",
    "nvidia.com",
    "objectbucket.io",
    "ocs.openshift.io",
    "onepassword.com",
    "openfaas.com",
    "operator.openshift.io",
    "operator.victoriametrics.com",
    "platform.confluent.io",
    "projectcontour.io",
    "pulumi.com",
    "rabbitmq.com",
    "ray.io",
    "rollouts.kruise.io",
    "route.openshift.io",
    "scylla.scylladb.com",
    "services.cloud.sap.com",
    "solr.apache.org",
    "spot.io",
    "tower.ansible.com",
    "trident.netapp.io",
    "velero.io",
    "zookeeper.pravega.io",
];

const HABITS: &[Check] = &[Habits];

pub(super) fn judge(view: &View<'_>) -> Option<(Own, Origin)> {
    let row = TABLE.iter().find(|row| row.fits(view.kind.group(), view.kind.kind()));
    let (checks, silence) = match row {
        Some(row) => (row.checks, row.silence),
        None if SPEAKING_GROUPS.contains(&view.kind.group()) => (HABITS, Silence::Wait),
        None => return None,
    };
    let (stops, rest) = checks.split_at(checks::leading_stops(checks));
    let (stopped, by) = checks::run(stops, view);
    if !stops.is_empty() && stopped.reason() == checks::STOPPED {
        return Some((stopped, Origin::Known(by)));
    }
    if let Some(telling) = habits::silent(view, Expected::Surely) {
        let own = match silence {
            Silence::Wait => told_as(Current, "NoStatus", telling),
            Silence::Fine => told_as(Current, "ResourceCurrent", Telling::new("Resource is current")),
        };
        return Some((own, Origin::Silent(silence)));
    }
    let (own, by) = checks::run(rest, view);
    Some((own, Origin::Known(by)))
}

impl Known {
    fn fits(&self, group: &str, kind: &str) -> bool {
        let group_fits = match self.group.strip_prefix('*') {
            Some(end) => group.ends_with(end),
            None => group == self.group,
        };
        let names_it = |name: &str| match name.strip_prefix('*') {
            Some(end) => kind.ends_with(end),
            None => kind == name,
        };
        group_fits && self.kinds.split(' ').any(names_it)
    }
}
