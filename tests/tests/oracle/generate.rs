//! Objects by the thousand: plausible ones of every kind with rules, with values at the edges,
//! parts left out, and now and then a field of an odd shape. The same seed gives the same objects.

use std::cell::Cell;

use serde_json::{Map, Value, json};

/// A small generator of numbers (splitmix64): the same sequence on every machine.
pub(crate) struct Dice(Cell<u64>);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    fn next(&self) -> u64 {
        let mut bits = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(bits);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn below(&self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    /// True in so many of a hundred throws.
    fn percent(&self, chance: u64) -> bool {
        self.next() % 100 < chance
    }

    fn one<T: Clone>(&self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

/// A type: apiVersion, kind, whether its controller writes an observed generation, and how its
/// spec and status are made.
type Template = (&'static str, &'static str, bool, fn(&Dice) -> (Value, Value));

/// The kinds the Go library has rules for.
const TABLE: &[Template] = &[
    ("v1", "Service", false, service),
    ("v1", "Pod", true, pod),
    ("v1", "Pod", true, pod),
    ("v1", "Secret", false, nothing),
    ("v1", "PersistentVolumeClaim", false, claim),
    ("apps/v1", "StatefulSet", true, stateful_set),
    ("apps/v1", "DaemonSet", true, daemon_set),
    ("extensions/v1beta1", "DaemonSet", true, daemon_set),
    ("apps/v1", "Deployment", true, deployment),
    ("extensions/v1beta1", "Deployment", true, deployment),
    ("apps/v1", "ReplicaSet", true, replica_set),
    ("extensions/v1beta1", "ReplicaSet", true, replica_set),
    ("policy/v1", "PodDisruptionBudget", true, budget),
    ("batch/v1", "CronJob", false, cron_job),
    ("v1", "ConfigMap", false, nothing),
    ("batch/v1", "Job", false, job),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", false, definition),
];

/// Kinds of Kubernetes it has none for.
const BUILT_IN: &[Template] = &[
    ("v1", "ReplicationController", true, replica_set),
    ("autoscaling/v2", "HorizontalPodAutoscaler", false, autoscaler),
    ("autoscaling/v1", "HorizontalPodAutoscaler", false, autoscaler),
    ("apiregistration.k8s.io/v1", "APIService", false, api_service),
    ("v1", "Namespace", false, namespace),
    ("v1", "Node", false, node),
    ("v1", "PersistentVolume", false, volume),
    ("networking.k8s.io/v1", "Ingress", false, ingress),
    ("certificates.k8s.io/v1", "CertificateSigningRequest", false, signing_request),
    ("v1", "ServiceAccount", false, nothing),
    ("rbac.authorization.k8s.io/v1", "Role", false, nothing),
    ("v1", "ResourceQuota", false, quota),
    ("networking.k8s.io/v1", "ServiceCIDR", false, ready_only),
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", false, flow_schema),
];

/// Custom kinds: nobody's, and some that are known.
const CUSTOM: &[Template] = &[
    ("example.com/v1", "Widget", true, custom),
    ("example.com/v1", "Widget", true, custom),
    ("example.com/v1", "Widget", true, custom),
    ("example.com/v1", "Backup", true, custom),
    ("cert-manager.io/v1", "Certificate", true, custom),
    ("kustomize.toolkit.fluxcd.io/v1", "Kustomization", true, custom),
    ("argoproj.io/v1alpha1", "Workflow", false, custom),
    ("argoproj.io/v1alpha1", "Rollout", true, deployment),
    ("gateway.networking.k8s.io/v1", "Gateway", true, custom),
    ("gateway.networking.k8s.io/v1", "HTTPRoute", true, route),
    ("tekton.dev/v1", "PipelineRun", false, custom),
    ("kafka.strimzi.io/v1beta2", "Kafka", true, custom),
    ("keda.sh/v1alpha1", "ScaledObject", true, custom),
    ("serving.knative.dev/v1", "Service", true, custom),
    ("snapshot.storage.k8s.io/v1", "VolumeSnapshot", false, custom),
    ("cluster.x-k8s.io/v1beta1", "Cluster", true, custom),
];

/// Kinds with rules in the Go library that today's API servers serve.
pub(crate) fn real_kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE
        .iter()
        .map(|(version, kind, ..)| (*version, *kind))
        .filter(|(version, _)| !version.starts_with("extensions"))
}

/// One object.
pub(crate) fn object(dice: &Dice) -> Value {
    let family = match dice.below(20) {
        0..12 => TABLE,
        12..15 => BUILT_IN,
        _ => CUSTOM,
    };
    let (version, kind, observes, make) = dice.one(family);
    let (spec, mut status) = make(dice);
    let generation = 1 + dice.below(3) as i64;
    if observes && let Some(status) = status.as_object_mut() {
        let observed = match dice.below(20) {
            0 | 1 => None,
            2 => Some(generation - 1),
            3 => Some(generation + 1),
            4 => Some(0),
            _ => Some(generation),
        };
        status.extend(observed.map(|observed| ("observedGeneration".to_owned(), json!(observed))));
    }
    if let Some(list) = status.get_mut("conditions") {
        conditions_of_generations(dice, list, generation);
    }
    let mut object = json!({
        "apiVersion": version,
        "kind": kind,
        "metadata": metadata(dice, generation),
    });
    if !spec.is_null() {
        object["spec"] = spec;
    }
    if !status.is_null() && !dice.percent(6) {
        object["status"] = status;
    }
    if dice.percent(15) {
        make_odd(dice, &mut object);
    }
    object
}

const BEFORE: &str = "2025-01-01T00:00:00Z";
/// So late that it is never past: an object whose first moments never end.
const NEVER_PAST: &str = "2199-01-01T00:00:00Z";

fn metadata(dice: &Dice, generation: i64) -> Value {
    let mut metadata = json!({
        "name": "one",
        "namespace": "demo",
        "uid": format!("00000000-0000-4000-8000-{:012}", dice.below(1_000_000)),
        "resourceVersion": "1",
        "generation": generation,
        "creationTimestamp": if dice.percent(30) { NEVER_PAST } else { BEFORE },
    });
    if dice.percent(4) {
        metadata.as_object_mut().map(|fields| fields.remove("generation"));
    }
    if dice.percent(3) {
        metadata.as_object_mut().map(|fields| fields.remove("creationTimestamp"));
    }
    if dice.percent(4) {
        metadata["deletionTimestamp"] = json!(dice.one(&[BEFORE, BEFORE, ""]));
        metadata["finalizers"] = json!(["example.com/keep"]);
    }
    if dice.percent(2) {
        let (key, value) = dice.one(&[
            ("kubesettle.io/ready-when", "exists"),
            ("kubesettle.io/ready-when", "started"),
            ("kubesettle.io/ready-when", "address"),
            ("kubesettle.io/hold", "ProgressDeadlineExceeded=never,CrashLoopBackOff=0"),
            ("kubesettle.io/hold", "ImagePullBackOff=0,Unschedulable=0"),
        ]);
        metadata["annotations"] = json!({ key: value });
    }
    metadata
}

/// Some conditions say of which generation they speak, and a few speak of an older one.
fn conditions_of_generations(dice: &Dice, list: &mut Value, generation: i64) {
    for condition in list.as_array_mut().into_iter().flatten() {
        if dice.percent(15) {
            let older = if dice.percent(30) { generation - 1 } else { generation };
            condition["observedGeneration"] = json!(older);
        }
    }
}

/// Conditions of some of these types (name, reasons), in any order.
fn conditions(dice: &Dice, types: &[(&str, &[&str])]) -> Value {
    let mut list = Vec::new();
    for (name, reasons) in types {
        if !dice.percent(60) {
            continue;
        }
        list.push(condition(dice, name, reasons));
        if dice.percent(4) {
            list.push(condition(dice, name, reasons));
        }
    }
    for name in ["Reconciling", "Stalled"] {
        if dice.percent(2) {
            list.push(condition(dice, name, &["Reason"]));
        }
    }
    for place in (1..list.len()).rev() {
        let other = dice.below(place + 1);
        list.swap(place, other);
    }
    Value::Array(list)
}

fn condition(dice: &Dice, name: &str, reasons: &[&str]) -> Value {
    let status = dice.one(&["True", "True", "True", "False", "False", "Unknown"]);
    let mut condition = json!({ "type": name, "status": status });
    if dice.percent(90) {
        condition["reason"] = json!(dice.one(reasons));
    }
    if dice.percent(70) {
        condition["message"] =
            json!(dice.one(&["all is as it is", "pods \"one-0\" is forbidden: exceeded quota", ""]));
    }
    if dice.percent(80) {
        condition["lastTransitionTime"] =
            json!(dice.one(&["2025-01-01T00:00:01Z", "2025-01-01T00:00:02Z", "2025-01-02T00:00:00Z"]));
    }
    condition
}

/// Counters that should be what is wanted: all are, or each is near it.
fn counters<const N: usize>(dice: &Dice, want: i64) -> [Value; N] {
    let steady = dice.percent(40);
    std::array::from_fn(|_| {
        json!(match dice.below(8) {
            _ if steady => want,
            0 => 0,
            1 => (want - 1).max(0),
            2 => want + 1,
            _ => want,
        })
    })
}

/// Fields, of which a few are left out, as the API leaves out zeros.
fn fields(dice: &Dice, list: &[(&str, Value)]) -> Value {
    let kept = list.iter().filter(|(_, value)| {
        let zero = value.as_i64() == Some(0) || value.is_null();
        !dice.percent(if zero { 60 } else { 2 })
    });
    Value::Object(kept.map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<Map<_, _>>())
}

fn replicas(dice: &Dice) -> (i64, Value) {
    let want = dice.one(&[0, 1, 1, 2, 3, 3, 10]);
    (want, if want == 1 && dice.percent(50) { Value::Null } else { json!(want) })
}

fn nothing(_: &Dice) -> (Value, Value) {
    (Value::Null, Value::Null)
}

fn service(dice: &Dice) -> (Value, Value) {
    let kind = dice.one(&["ClusterIP", "NodePort", "LoadBalancer", "LoadBalancer", "ExternalName"]);
    let ip = json!(dice.one(&["10.0.0.1", "10.0.0.1", "None", ""]));
    let external = if dice.percent(15) { json!(["203.0.113.7"]) } else { Value::Null };
    let spec = fields(dice, &[("type", json!(kind)), ("clusterIP", ip), ("externalIPs", external)]);
    let address = dice.one(&[
        json!([]),
        json!([{ "ip": "203.0.113.1" }]),
        json!([{ "hostname": "a.example" }]),
        Value::Null,
    ]);
    (spec, json!({ "loadBalancer": { "ingress": address } }))
}

fn container(dice: &Dice, name: &str) -> Value {
    let ended = json!({ "terminated": { "exitCode": dice.one(&[0, 1, 137]), "reason": dice.one(&["Completed", "Error", "OOMKilled"]) } });
    let waiting = dice.one(&[
        "ContainerCreating",
        "PodInitializing",
        "CrashLoopBackOff",
        "CrashLoopBackOff",
        "ImagePullBackOff",
        "ErrImagePull",
        "InvalidImageName",
        "ErrImageNeverPull",
        "CreateContainerConfigError",
        "RunContainerError",
    ]);
    let running = json!({ "running": { "startedAt": BEFORE } });
    let waits =
        json!({ "waiting": { "reason": waiting, "message": "back-off 10s restarting failed container" } });
    let state = match dice.below(6) {
        0..3 => running,
        3 => ended.clone(),
        _ => waits,
    };
    fields(
        dice,
        &[
            ("name", json!(name)),
            ("image", json!("example/one:1")),
            ("ready", json!(state["running"].is_object())),
            ("restartCount", json!(dice.one(&[0, 0, 1, 2, 3, 7]))),
            ("state", state),
            ("lastState", if dice.percent(30) { ended } else { json!({}) }),
        ],
    )
}

fn pod(dice: &Dice) -> (Value, Value) {
    let policy = dice.one(&["Always", "Always", "OnFailure", "Never"]);
    let spec = fields(dice, &[("restartPolicy", json!(policy)), ("containers", json!([{ "name": "main" }]))]);
    let phase = dice.one(&[
        "Running",
        "Running",
        "Running",
        "Running",
        "Running",
        "Running",
        "Pending",
        "Pending",
        "Succeeded",
        "Failed",
        "Unknown",
        "",
    ]);
    let mut list = conditions(
        dice,
        &[
            ("Ready", &["ContainersNotReady", "PodCompleted"]),
            ("ContainersReady", &["ContainersNotReady"]),
            ("Initialized", &["ContainersNotInitialized"]),
        ],
    );
    if dice.percent(25) {
        list = json!([{ "type": "Ready", "status": "True" }]);
    }
    if dice.percent(50) {
        let scheduled =
            condition(dice, "PodScheduled", &["Unschedulable", "Unschedulable", "SchedulingGated"]);
        list.as_array_mut().expect("a list").push(scheduled);
    }
    if dice.percent(25) {
        let resize = condition(dice, dice.one(&["PodResizePending", "PodResizeInProgress"]), &["Deferred"]);
        list.as_array_mut().expect("a list").push(resize);
    }
    let main = Value::Array((0..dice.below(3)).map(|at| container(dice, ["main", "side"][at])).collect());
    let init = if dice.percent(30) { json!([container(dice, "init")]) } else { Value::Null };
    let reason = if dice.percent(10) {
        json!(dice.one(&["Evicted", "DeadlineExceeded", "NodeLost"]))
    } else {
        Value::Null
    };
    let status = fields(
        dice,
        &[
            ("phase", json!(phase)),
            ("conditions", list),
            ("containerStatuses", main),
            ("initContainerStatuses", init),
            ("reason", reason),
        ],
    );
    (spec, status)
}

fn claim(dice: &Dice) -> (Value, Value) {
    let class = dice.one(&[json!("local"), json!(""), Value::Null]);
    let size = dice.one(&["10Gi", "20Gi", "21474836480"]);
    let volume = dice.one(&[json!("pv-1"), Value::Null]);
    let spec = fields(
        dice,
        &[
            ("storageClassName", class),
            ("volumeName", volume),
            ("resources", json!({ "requests": { "storage": size } })),
        ],
    );
    let phase = dice.one(&["Bound", "Bound", "Bound", "Pending", "Lost", ""]);
    let modify = if dice.percent(10) { json!({ "status": "Pending" }) } else { Value::Null };
    let list = conditions(dice, &[("Resizing", &["Resizing"]), ("FileSystemResizePending", &["Waiting"])]);
    let status = fields(
        dice,
        &[
            ("phase", json!(phase)),
            ("capacity", json!({ "storage": dice.one(&["10Gi", "20Gi"]) })),
            ("modifyVolumeStatus", modify),
            ("conditions", list),
        ],
    );
    (spec, status)
}

fn stateful_set(dice: &Dice) -> (Value, Value) {
    let (want, wanted) = replicas(dice);
    let strategy = match dice.below(6) {
        0 => json!({ "type": "OnDelete" }),
        1 => json!({ "type": "RollingUpdate" }),
        2 => Value::Null,
        _ => {
            json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": dice.one(&[0, 0, 0, 1, 2, 20]) } })
        }
    };
    let soak = if dice.percent(40) { json!(10) } else { Value::Null };
    let spec = fields(dice, &[("replicas", wanted), ("updateStrategy", strategy), ("minReadySeconds", soak)]);
    let counts: [_; 5] = counters(dice, want);
    let status = fields(
        dice,
        &[
            ("replicas", counts[0].clone()),
            ("readyReplicas", counts[1].clone()),
            ("currentReplicas", counts[2].clone()),
            ("updatedReplicas", counts[3].clone()),
            ("availableReplicas", counts[4].clone()),
            ("currentRevision", json!("one-a")),
            ("updateRevision", json!(dice.one(&["one-a", "one-b"]))),
        ],
    );
    (spec, status)
}

fn daemon_set(dice: &Dice) -> (Value, Value) {
    let want = dice.one(&[0, 1, 3, 10]);
    let strategy =
        dice.one(&[json!({ "type": "OnDelete" }), json!({ "type": "RollingUpdate" }), Value::Null]);
    let spec = fields(dice, &[("updateStrategy", strategy)]);
    let counts: [_; 5] = counters(dice, want);
    let mut status = fields(
        dice,
        &[
            ("currentNumberScheduled", counts[0].clone()),
            ("updatedNumberScheduled", counts[1].clone()),
            ("numberAvailable", counts[2].clone()),
            ("numberReady", counts[3].clone()),
            ("numberMisscheduled", counts[4].clone()),
        ],
    );
    // The API never leaves this one out.
    if dice.percent(95) {
        status["desiredNumberScheduled"] = json!(want);
    }
    (spec, status)
}

fn deployment(dice: &Dice) -> (Value, Value) {
    let (want, wanted) = replicas(dice);
    let deadline = dice.one(&[json!(600), json!(600), json!(600), json!(i32::MAX), Value::Null]);
    let paused = if dice.percent(8) { json!(true) } else { Value::Null };
    let spec =
        fields(dice, &[("replicas", wanted), ("progressDeadlineSeconds", deadline), ("paused", paused)]);
    let list = conditions(
        dice,
        &[
            ("Available", &["MinimumReplicasAvailable", "MinimumReplicasUnavailable"]),
            (
                "Progressing",
                &[
                    "NewReplicaSetAvailable",
                    "NewReplicaSetAvailable",
                    "NewReplicaSetAvailable",
                    "ReplicaSetUpdated",
                    "DeploymentPaused",
                    "ProgressDeadlineExceeded",
                ],
            ),
        ],
    );
    let mut list = if dice.percent(40) {
        json!([
            { "type": "Available", "status": "True", "reason": "MinimumReplicasAvailable" },
            { "type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable" },
        ])
    } else {
        list
    };
    if dice.percent(8) {
        let failure = condition(dice, "ReplicaFailure", &["FailedCreate"]);
        list.as_array_mut().expect("a list").push(failure);
    }
    let counts: [_; 4] = counters(dice, want);
    let ending = if dice.percent(if want == 0 { 50 } else { 10 }) { json!(1) } else { Value::Null };
    let status = fields(
        dice,
        &[
            ("replicas", counts[0].clone()),
            ("updatedReplicas", counts[1].clone()),
            ("readyReplicas", counts[2].clone()),
            ("availableReplicas", counts[3].clone()),
            ("terminatingReplicas", ending),
            ("conditions", list),
        ],
    );
    (spec, status)
}

fn replica_set(dice: &Dice) -> (Value, Value) {
    let (want, wanted) = replicas(dice);
    let counts: [_; 4] = counters(dice, want);
    let list = if dice.percent(30) {
        conditions(dice, &[("ReplicaFailure", &["FailedCreate"])])
    } else {
        Value::Null
    };
    let status = fields(
        dice,
        &[
            ("replicas", counts[0].clone()),
            ("fullyLabeledReplicas", counts[1].clone()),
            ("readyReplicas", counts[2].clone()),
            ("availableReplicas", counts[3].clone()),
            ("conditions", list),
        ],
    );
    (fields(dice, &[("replicas", wanted)]), status)
}

fn budget(dice: &Dice) -> (Value, Value) {
    let list =
        conditions(dice, &[("DisruptionAllowed", &["SufficientPods", "InsufficientPods", "SyncFailed"])]);
    (json!({ "maxUnavailable": 1 }), json!({ "conditions": list, "disruptionsAllowed": dice.below(2) }))
}

fn cron_job(dice: &Dice) -> (Value, Value) {
    (json!({ "suspend": dice.percent(30) }), dice.one(&[Value::Null, json!({ "lastScheduleTime": BEFORE })]))
}

fn job(dice: &Dice) -> (Value, Value) {
    let suspend = dice.one(&[json!(true), json!(false), Value::Null]);
    let completions = dice.one(&[json!(1), json!(3), Value::Null]);
    let spec = fields(dice, &[("suspend", suspend), ("completions", completions), ("parallelism", json!(2))]);
    let mut list = Vec::new();
    for (name, chance) in [
        ("Complete", 20),
        ("Failed", 20),
        ("Suspended", 25),
        ("FailureTarget", 10),
        ("SuccessCriteriaMet", 10),
    ] {
        if dice.percent(chance) {
            list.push(condition(dice, name, &["BackoffLimitExceeded", "DeadlineExceeded", "JobSuspended"]));
        }
    }
    let started = dice.one(&[json!(BEFORE), json!(BEFORE), Value::Null]);
    let status = fields(
        dice,
        &[
            ("startTime", started),
            ("active", json!(dice.below(2))),
            ("succeeded", json!(dice.below(3))),
            ("failed", json!(dice.below(3))),
            ("conditions", Value::Array(list)),
        ],
    );
    (spec, status)
}

fn definition(dice: &Dice) -> (Value, Value) {
    let mut list = conditions(
        dice,
        &[
            ("NamesAccepted", &["NoConflicts", "PluralConflict"]),
            ("Established", &["InitialNamesAccepted", "Installing", "NotAccepted"]),
        ],
    );
    for (name, chance) in [("Terminating", 5), ("NonStructuralSchema", 5)] {
        if dice.percent(chance) {
            let more = condition(dice, name, &["Violations"]);
            list.as_array_mut().expect("a list").push(more);
        }
    }
    (json!({ "group": "example.com" }), json!({ "conditions": list }))
}

fn autoscaler(dice: &Dice) -> (Value, Value) {
    let list = conditions(
        dice,
        &[
            ("AbleToScale", &["ReadyForNewScale", "FailedGetScale"]),
            ("ScalingActive", &["ValidMetricFound", "FailedGetResourceMetric", "ScalingDisabled"]),
            ("ScalingLimited", &["TooFewReplicas"]),
        ],
    );
    (json!({ "maxReplicas": 3 }), fields(dice, &[("conditions", list), ("currentReplicas", json!(1))]))
}

fn api_service(dice: &Dice) -> (Value, Value) {
    (json!({}), json!({ "conditions": conditions(dice, &[("Available", &["Passed", "MissingEndpoints"])]) }))
}

fn namespace(dice: &Dice) -> (Value, Value) {
    (json!({}), json!({ "phase": dice.one(&["Active", "Active", "Terminating"]) }))
}

fn node(dice: &Dice) -> (Value, Value) {
    let list = conditions(
        dice,
        &[("Ready", &["KubeletReady", "KubeletNotReady"]), ("DiskPressure", &["KubeletHasNoDiskPressure"])],
    );
    (json!({ "unschedulable": dice.percent(20) }), json!({ "conditions": list }))
}

fn volume(dice: &Dice) -> (Value, Value) {
    let phase = dice.one(&[
        json!("Available"),
        json!("Bound"),
        json!("Released"),
        json!("Failed"),
        json!("Pending"),
        Value::Null,
    ]);
    (json!({}), fields(dice, &[("phase", phase), ("message", json!("cannot reclaim"))]))
}

fn ingress(dice: &Dice) -> (Value, Value) {
    (
        json!({}),
        json!({ "loadBalancer": { "ingress": dice.one(&[json!([]), json!([{ "ip": "203.0.113.1" }])]) } }),
    )
}

fn signing_request(dice: &Dice) -> (Value, Value) {
    let mut list = Vec::new();
    for name in ["Approved", "Denied", "Failed"] {
        if dice.percent(30) {
            list.push(json!({ "type": name, "status": "True", "reason": "ByHand" }));
        }
    }
    let certificate = dice.one(&[json!("LS0t"), Value::Null]);
    (json!({}), fields(dice, &[("conditions", Value::Array(list)), ("certificate", certificate)]))
}

fn quota(_: &Dice) -> (Value, Value) {
    (json!({ "hard": { "pods": "1" } }), json!({ "hard": { "pods": "1" }, "used": { "pods": "1" } }))
}

fn ready_only(dice: &Dice) -> (Value, Value) {
    (json!({}), json!({ "conditions": conditions(dice, &[("Ready", &["NotReady"])]) }))
}

fn flow_schema(dice: &Dice) -> (Value, Value) {
    (json!({}), json!({ "conditions": conditions(dice, &[("Dangling", &["NotFound", "Found"])]) }))
}

const HABITS: &[(&str, &[&str])] = &[
    ("Available", &["Fine", "Minimum"]),
    ("Degraded", &["Broken", "AsExpected"]),
    ("Progressing", &["Rolling", "ProgressDeadlineExceeded", "RolloutAborted"]),
    ("Synced", &["ReconcileSuccess", "ReconcileError"]),
    ("Accepted", &["Accepted", "Invalid"]),
    ("Programmed", &["Programmed", "Pending"]),
    ("Healthy", &["Good", "Bad"]),
    ("Failed", &["Gone", "Crash"]),
    ("NotReady", &["Waiting"]),
    ("InvalidSpec", &["Bad"]),
    ("Paused", &["ByHand"]),
    ("Scaled", &["Yes"]),
];

fn custom(dice: &Dice) -> (Value, Value) {
    let mut spec = json!({ "replicas": 3 });
    if dice.percent(5) {
        spec["suspend"] = json!(true);
    }
    if dice.percent(15) {
        return (spec, dice.one(&[Value::Null, json!({})]));
    }
    let mut types = Vec::new();
    if dice.percent(45) {
        types.push(("Ready", &["Ready", "Pending", "Failed"] as &[&str]));
    }
    if dice.percent(15) {
        types.push(("Succeeded", &["Succeeded", "Failed", "Running"]));
    }
    if dice.percent(40) {
        types.push(dice.one(HABITS));
    }
    let mut status = Map::new();
    if !types.is_empty() {
        status.insert("conditions".to_owned(), conditions(dice, &types));
    }
    let words =
        ["Running", "Ready", "Pending", "Failed", "Succeeded", "Error", "Provisioning", "Deleting", "Blue"];
    if dice.percent(25) {
        status.insert(dice.one(&["phase", "state", "health"]).to_owned(), json!(dice.one(&words)));
    }
    if dice.percent(10) {
        status.insert(dice.one(&["ready", "healthy", "readyToUse"]).to_owned(), json!(dice.percent(50)));
    }
    if dice.percent(10) {
        status.insert("replicas".to_owned(), json!(3));
        let [ready] = counters(dice, 3);
        status.insert("readyReplicas".to_owned(), ready);
    }
    if dice.percent(5) {
        let name = dice.one(&["error", "lastError", "failureMessage", "reason", "message"]);
        status.insert(name.to_owned(), json!(dice.one(&["", "cannot reach the cloud"])));
    }
    if dice.percent(8) {
        let list = conditions(dice, &[("Accepted", &["Accepted", "NoMatch"]), ("Programmed", &["Pending"])]);
        let place = dice.one(&["parents", "listeners", "ancestors"]);
        status.insert(place.to_owned(), json!([{ "name": "http", "conditions": list }]));
    }
    (spec, Value::Object(status))
}

fn route(dice: &Dice) -> (Value, Value) {
    let list =
        conditions(dice, &[("Accepted", &["Accepted", "NoMatch"]), ("ResolvedRefs", &["RefNotPermitted"])]);
    let status =
        dice.one(&[json!({}), json!({ "parents": [] }), json!({ "parents": [{ "conditions": list }] })]);
    (json!({}), status)
}

/// Numbers the rules look at.
pub(crate) const NUMBERS: &[&str] = &[
    "/metadata/generation",
    "/status/observedGeneration",
    "/spec/replicas",
    "/spec/parallelism",
    "/spec/completions",
    "/spec/progressDeadlineSeconds",
    "/spec/updateStrategy/rollingUpdate/partition",
    "/status/replicas",
    "/status/readyReplicas",
    "/status/updatedReplicas",
    "/status/availableReplicas",
    "/status/currentReplicas",
    "/status/fullyLabeledReplicas",
    "/status/desiredNumberScheduled",
    "/status/currentNumberScheduled",
    "/status/updatedNumberScheduled",
    "/status/numberAvailable",
    "/status/numberReady",
    "/status/succeeded",
    "/status/active",
    "/status/failed",
];

/// Gives one field another shape than it has.
fn make_odd(dice: &Dice, object: &mut Value) {
    if object["kind"] == "Pod" && dice.percent(60) {
        return odd_containers(dice, object);
    }
    match dice.below(10) {
        0..4 => {
            let there: Vec<_> =
                NUMBERS.iter().copied().filter(|path| object.pointer(path).is_some()).collect();
            if !there.is_empty()
                && let Some(number) = object.pointer_mut(dice.one(there.as_slice()))
            {
                let value = number.as_i64().unwrap_or(1);
                *number = dice.one(&[
                    json!(value.to_string()),
                    json!(value as f64),
                    json!(value as f64 + 0.5),
                    json!("many"),
                    json!(""),
                    json!(true),
                    json!([value]),
                    json!(1e300),
                    json!(u64::MAX),
                    Value::Null,
                ]);
            }
        }
        4..7 => odd_conditions(dice, object),
        7 => {
            let path = dice.one(&["/status", "/status", "/spec", "/status/phase", "/status/startTime"]);
            if let Some(value) = object.pointer_mut(path) {
                *value = dice.one(&[json!("Active"), json!([1]), json!(7), json!(true), Value::Null]);
            }
        }
        8 => {
            object["metadata"]["deletionTimestamp"] =
                dice.one(&[Value::Null, json!(1_735_689_600), json!({}), json!("")]);
        }
        _ => odd_containers(dice, object),
    }
}

fn odd_containers(dice: &Dice, object: &mut Value) {
    let Some(containers) = object.pointer_mut("/status/containerStatuses") else { return };
    *containers = dice.one(&[
        json!([1]),
        json!([null]),
        json!([{ "name": 1, "state": { "waiting": { "reason": "CrashLoopBackOff" } }, "restartCount": 9 }]),
        json!([{ "name": "main", "state": "waiting" }]),
        json!([{ "name": "main", "state": { "waiting": true } }]),
        json!([{ "name": "main", "state": { "waiting": { "reason": 5 } } }]),
        json!("none"),
        json!({ "main": {} }),
    ]);
}

fn odd_conditions(dice: &Dice, object: &mut Value) {
    let Some(conditions) = object.pointer_mut("/status/conditions") else { return };
    let Some(list) = conditions.as_array_mut().filter(|list| !list.is_empty()) else {
        *conditions = dice.one(&[json!("none"), json!(3), Value::Null, json!({})]);
        return;
    };
    let place = dice.below(list.len());
    let entry = &mut list[place];
    let status = entry["status"].as_str().unwrap_or_default().to_owned();
    let name = entry["type"].as_str().unwrap_or_default().to_owned();
    match dice.below(12) {
        0 => entry["status"] = json!(status == "True"),
        1 => entry["status"] = json!(status.to_lowercase()),
        2 => entry["status"] = dice.one(&[json!(1), json!({}), Value::Null, json!(""), json!("Degraded")]),
        3 => entry["type"] = dice.one(&[json!(1), Value::Null, json!(""), json!(name.to_lowercase())]),
        4 => entry["message"] = dice.one(&[json!(1), json!(["a"]), Value::Null]),
        5 => entry["reason"] = dice.one(&[json!(false), json!({ "a": 1 }), Value::Null]),
        6 => *entry = dice.one(&[json!("Ready"), json!(1), Value::Null, json!({}), json!(["Ready"])]),
        7 => {
            entry.as_object_mut().map(|fields| fields.remove("status"));
        }
        8 => {
            let map: Map<_, _> = list
                .iter()
                .map(|entry| (entry["type"].as_str().unwrap_or_default().to_owned(), entry.clone()))
                .collect();
            *conditions = Value::Object(map);
        }
        9 => {
            let map: Map<_, _> = list
                .iter()
                .map(|entry| (entry["type"].as_str().unwrap_or_default().to_owned(), entry["status"].clone()))
                .collect();
            *conditions = Value::Object(map);
        }
        10 => *conditions = dice.one(&[json!("none"), json!(3), Value::Null, json!([])]),
        _ => entry["observedGeneration"] = dice.one(&[json!("0"), json!(0.0), json!("x")]),
    }
}
