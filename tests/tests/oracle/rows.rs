//! The deliberate differences of the rules, as code: which row of `docs/differences.md` explains
//! that kstatus and the Go library disagree about an object. For every disagreement exactly one must.

use kstatus::{Status, Verdict};
use serde_json::Value;

use crate::go::Answer;

/// Two verdicts on one object.
pub(crate) struct Pair<'a> {
    /// As the API server has it.
    pub(crate) raw: &'a Value,
    /// As both can read it.
    pub(crate) object: &'a Value,
    pub(crate) go: &'a Answer,
    pub(crate) ours: &'a Verdict,
}

pub(crate) struct Row {
    pub(crate) id: &'static str,
    pub(crate) explains: fn(&Pair<'_>) -> bool,
}

impl Pair<'_> {
    fn group(&self) -> &str {
        self.object["apiVersion"]
            .as_str()
            .and_then(|version| version.split_once('/'))
            .map_or("", |(group, _)| group)
    }

    fn is(&self, groups: &[&str], kind: &str) -> bool {
        self.object["kind"] == kind && groups.contains(&self.group())
    }

    fn text(&self, path: &str) -> &str {
        self.object.pointer(path).and_then(Value::as_str).unwrap_or_default()
    }

    fn number(&self, path: &str) -> i64 {
        self.object.pointer(path).and_then(Value::as_i64).unwrap_or(0)
    }

    fn condition(&self, name: &str) -> &str {
        let list = self.object.pointer("/status/conditions").and_then(Value::as_array);
        let is = |condition: &&Value| {
            condition["type"].as_str().is_some_and(|word| word.eq_ignore_ascii_case(name))
        };
        let found = list.into_iter().flatten().find(is);
        found.and_then(|condition| condition["status"].as_str()).unwrap_or_default()
    }

    fn ours(&self, status: Status, reasons: &[&str]) -> bool {
        self.ours.status == status && reasons.contains(&self.ours.reason.as_str())
    }

    fn go(&self, status: &str) -> bool {
        self.go.status == status
    }

    fn pod(&self) -> bool {
        self.is(&[""], "Pod")
    }

    fn deployment(&self) -> bool {
        self.is(&["apps", "extensions"], "Deployment")
    }

    fn stateful_set(&self) -> bool {
        self.is(&["apps"], "StatefulSet")
    }

    fn by_hand(&self) -> bool {
        self.text("/spec/updateStrategy/type") == "OnDelete"
    }

    fn job(&self) -> bool {
        self.is(&["batch"], "Job")
    }

    fn claim(&self) -> bool {
        self.is(&[""], "PersistentVolumeClaim")
    }

    fn definition(&self) -> bool {
        self.is(&["apiextensions.k8s.io"], "CustomResourceDefinition")
    }

    /// Judged by habits: no kind with rules of its own, in either library.
    fn habits(&self) -> bool {
        let own: &[(&str, &str)] = &[
            ("", "ReplicationController"),
            ("", "Namespace"),
            ("", "Node"),
            ("", "PersistentVolume"),
            ("", "Service"),
            ("", "Pod"),
            ("", "PersistentVolumeClaim"),
            ("apps", "Deployment"),
            ("apps", "StatefulSet"),
            ("apps", "DaemonSet"),
            ("apps", "ReplicaSet"),
            ("extensions", "Deployment"),
            ("extensions", "DaemonSet"),
            ("extensions", "ReplicaSet"),
            ("policy", "PodDisruptionBudget"),
            ("batch", "Job"),
            ("autoscaling", "HorizontalPodAutoscaler"),
            ("apiregistration.k8s.io", "APIService"),
            ("certificates.k8s.io", "CertificateSigningRequest"),
            ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ];
        !own.iter().any(|(group, kind)| self.is(&[group], kind)) && self.ours.reason.as_str() != "NoStatus"
    }

    /// What the words of a verdict by habit are about.
    fn told_by(&self) -> Habit {
        let message = &self.ours.message;
        let first = message.split([' ', '=', ':']).next().unwrap_or_default();
        let condition = message.starts_with(&format!("{first}="))
            || message.contains(" is True for an older generation only")
            || message.starts_with("All conditions are of an older generation");
        let here = self.raw.pointer("/status/conditions").is_some_and(|list| match list {
            Value::Array(list) => list.iter().any(|condition| condition["type"] == first),
            map => map.get(first).is_some(),
        });
        let counted = message.split_once(": ").is_some_and(|(_, rest)| {
            rest.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-')
        });
        if message.starts_with("No conditions of the present generation")
            || (condition && !here && first != "All")
        {
            Habit::Part
        } else if condition {
            Habit::Condition
        } else if message.starts_with("status.") && message.contains(" is false") {
            Habit::Flag
        } else if message.starts_with("status.") {
            Habit::Error
        } else if counted {
            Habit::Count
        } else if message.contains(" is ") {
            Habit::Word
        } else {
            Habit::Other
        }
    }

    fn habit(&self, habit: Habit) -> bool {
        self.habits()
            && self.told_by() == habit
            && matches!(self.ours.status, Status::InProgress | Status::Failed)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Habit {
    Condition,
    Part,
    Word,
    Flag,
    Count,
    Error,
    Other,
}

use Status::{Current, Failed, InProgress, Terminating};

const fn row(id: &'static str, explains: fn(&Pair<'_>) -> bool) -> Row {
    Row { id, explains }
}

pub(crate) const ROWS: &[Row] = &[
    row("D-UNOBSERVED", |pair| {
        let kinds = [
            (&["apps", "extensions"] as &[&str], "Deployment"),
            (&["apps", "extensions"], "ReplicaSet"),
            (&["apps"], "StatefulSet"),
            (&["policy"], "PodDisruptionBudget"),
        ];
        pair.ours(InProgress, &["NoObservedGeneration"])
            && kinds.iter().any(|(groups, kind)| pair.is(groups, kind))
            && pair.object.pointer("/status/observedGeneration").is_none()
    }),
    // Deployments
    row("D-DEPLOYMENT-PAUSED", |pair| {
        pair.deployment()
            && pair.ours(Current, &["DeploymentPaused"])
            && pair.object.pointer("/spec/paused") == Some(&Value::Bool(true))
    }),
    row("D-DEPLOYMENT-TERMINATING", |pair| {
        pair.deployment()
            && pair.ours(InProgress, &["PodsTerminating"])
            && pair.number("/status/terminatingReplicas") > 0
    }),
    // StatefulSets
    row("D-STATEFULSET-ONDELETE", |pair| {
        pair.stateful_set()
            && pair.by_hand()
            && pair.go("Current")
            && pair.ours(InProgress, &["LessReplicas", "LessReady", "ExtraPods", "LessAvailable"])
    }),
    row("D-STATEFULSET-MIN-READY", |pair| {
        pair.stateful_set()
            && !pair.by_hand()
            && pair.ours(InProgress, &["LessAvailable"])
            && pair.number("/spec/minReadySeconds") > 0
    }),
    row("D-STATEFULSET-REVISION", |pair| {
        pair.stateful_set()
            && pair.go("Current")
            && pair.ours(InProgress, &["RevisionMismatch", "LessCurrent"])
            && pair.text("/status/currentRevision") != pair.text("/status/updateRevision")
    }),
    row("D-STATEFULSET-UPDATED", |pair| {
        let one_revision = pair.text("/status/currentRevision") == pair.text("/status/updateRevision");
        pair.stateful_set()
            && pair.go("InProgress")
            && pair.ours(Current, &["ReplicasAsExpected"])
            && (one_revision || pair.object.pointer("/spec/replicas") == Some(&Value::from(0)))
    }),
    row("D-DAEMONSET-ONDELETE", |pair| {
        pair.is(&["apps", "extensions"], "DaemonSet")
            && pair.by_hand()
            && pair.go.reason == "LessUpdated"
            && pair.ours(Current, &["ReplicasAsExpected"])
    }),
    row("D-REPLICATIONCONTROLLER", |pair| {
        let reasons = [
            "NoObservedGeneration",
            "ReplicaFailure",
            "LessLabelled",
            "LessAvailable",
            "LessReady",
            "ExtraPods",
        ];
        pair.is(&[""], "ReplicationController") && pair.go("Current") && pair.ours(InProgress, &reasons)
    }),
    // Pods
    row("D-POD-FAILED", |pair| {
        pair.pod()
            && pair.text("/status/phase") == "Failed"
            && pair.go("Current")
            && pair.ours.status == Failed
    }),
    row("D-POD-NOT-RESTARTED", |pair| {
        pair.pod()
            && pair.text("/spec/restartPolicy") == "Never"
            && pair.text("/status/phase") != "Failed"
            && pair.ours(Failed, &["ContainerFailed"])
    }),
    row("D-POD-UNSCHEDULABLE", |pair| {
        pair.pod() && pair.go.reason == "PodUnschedulable" && pair.ours(InProgress, &["PodNotScheduled"])
    }),
    row("D-POD-CRASH-EARLY", |pair| {
        pair.pod()
            && pair.go.reason == "ContainerCrashLooping"
            && pair.ours(InProgress, &["PodRunningNotReady"])
    }),
    row("D-POD-CRASH", |pair| {
        let held = ["CrashLoopBackOff", "Error", "OOMKilled"];
        pair.pod() && pair.text("/status/phase") != "Failed" && !pair.go("Failed") && pair.ours(Failed, &held)
    }),
    row("D-POD-IMAGE", |pair| {
        pair.pod() && pair.go("InProgress") && pair.ours(Failed, &["InvalidImageName", "ErrImageNeverPull"])
    }),
    row("D-POD-RESIZE", |pair| pair.pod() && pair.go("Current") && pair.ours(InProgress, &["PodResizing"])),
    // Jobs
    row("D-JOB-RUNNING", |pair| {
        let reasons = ["JobInProgress", "FailureTarget", "SuccessCriteriaMet", "JobSuspending"];
        pair.job()
            && pair.go("Current")
            && pair.go.message.starts_with("Job in progress")
            && pair.ours(InProgress, &reasons)
    }),
    row("D-JOB-SUSPENDED", |pair| {
        pair.job()
            && pair.go.reason == "JobNotStarted"
            && pair.ours(Current, &["JobSuspended"])
            && pair.condition("Suspended") == "True"
    }),
    // Storage
    row("D-CLAIM-LOST", |pair| {
        pair.claim() && pair.text("/status/phase") == "Lost" && pair.ours(Failed, &["Lost"])
    }),
    row("D-CLAIM-CHANGING", |pair| {
        pair.claim() && pair.go("Current") && pair.ours(InProgress, &["Resizing", "ModifyingVolume"])
    }),
    row("D-VOLUME", |pair| {
        pair.is(&[""], "PersistentVolume")
            && pair.go("Current")
            && matches!(pair.ours.reason.as_str(), "VolumeFailed" | "VolumePending")
    }),
    // The network
    row("D-SERVICE-ADDRESS", |pair| {
        pair.is(&[""], "Service")
            && pair.go("Current")
            && pair.ours(InProgress, &["NoLoadBalancerAddress"])
            && pair.text("/spec/type") == "LoadBalancer"
    }),
    // The cluster
    row("D-DEFINITION-TERMINATING", |pair| {
        pair.definition() && pair.ours.status == Terminating && pair.condition("Terminating") == "True"
    }),
    row("D-DEFINITION-SCHEMA", |pair| {
        pair.definition()
            && pair.ours.status == Failed
            && pair.condition("NonStructuralSchema") == "True"
            && pair.ours.message.to_lowercase().starts_with("nonstructuralschema=")
    }),
    row("D-BUDGET-SYNC", |pair| {
        pair.is(&["policy"], "PodDisruptionBudget")
            && pair.go("Current")
            && pair.ours(InProgress, &["SyncFailed"])
    }),
    row("D-AUTOSCALER", |pair| {
        pair.is(&["autoscaling"], "HorizontalPodAutoscaler")
            && pair.go("Current")
            && pair.ours.status == InProgress
    }),
    row("D-APISERVICE", |pair| {
        pair.is(&["apiregistration.k8s.io"], "APIService")
            && pair.go("Current")
            && pair.ours.status == InProgress
    }),
    row("D-NAMESPACE-PHASE", |pair| {
        pair.is(&[""], "Namespace") && pair.go("Current") && pair.ours(Terminating, &["NamespaceTerminating"])
    }),
    row("D-NODE", |pair| pair.is(&[""], "Node") && pair.go("Current") && pair.ours.status == InProgress),
    row("D-SIGNING-REQUEST", |pair| {
        pair.is(&["certificates.k8s.io"], "CertificateSigningRequest")
            && pair.go("Current")
            && matches!(pair.ours.status, InProgress | Failed)
    }),
    // Custom kinds
    row("D-SILENT", |pair| {
        pair.go("Current") && pair.ours(InProgress, &["NoStatus"]) && pair.group().contains('.')
    }),
    row("D-HABIT-CONDITION", |pair| pair.habit(Habit::Condition)),
    row("D-HABIT-PART", |pair| pair.habit(Habit::Part)),
    row("D-HABIT-WORD", |pair| pair.habit(Habit::Word)),
    row("D-HABIT-FLAG", |pair| pair.habit(Habit::Flag)),
    row("D-HABIT-COUNT", |pair| pair.habit(Habit::Count)),
    row("D-HABIT-ERROR", |pair| pair.habit(Habit::Error)),
];

/// Rows of what only kstatus can be told: the table of known kinds, wishes of the object.
pub(crate) const KNOWN_KIND: &str = "D-KNOWN-KIND";
pub(crate) const ANNOTATION: &str = "D-ANNOTATION";

/// What lies around an object, in the status cases.
pub(crate) struct Around<'a> {
    pub(crate) case: &'a Value,
    /// Of the object alone.
    pub(crate) alone: &'a Verdict,
    /// Of the object with everything around it.
    pub(crate) among: &'a Verdict,
}

pub(crate) type AroundRow = (&'static str, fn(&Around<'_>) -> bool);

/// Rows of what the Go library is never shown.
pub(crate) const AROUND: &[AroundRow] = &[
    ("D-CLAIM-LATE-BINDING", |around| around.among.reason.as_str() == "WaitForFirstConsumer"),
    ("D-CAUSES", |around| {
        around.alone.status == InProgress
            && around.among.status == Failed
            && around.among.causes.iter().any(|cause| cause.fatal)
    }),
    ("D-SCHEMA", |around| {
        let related = around.case["related"].as_array();
        let definition = related.into_iter().flatten().any(|one| one["kind"] == "CustomResourceDefinition");
        definition
            && (around.alone.reason.as_str() == "NoStatus" || around.among.reason.as_str() == "NoStatus")
    }),
];
