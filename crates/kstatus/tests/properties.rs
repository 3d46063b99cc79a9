//! What holds for every object, however odd.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use kstatus::{
    Digest, Facts, History, Kind, Policy, Rulebook, Status, Surroundings, Timestamp, Verdict, assess,
    compute, digest, digest_as,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const NOW: i64 = 1_767_225_600;

fn judge(object: &Value) -> Verdict {
    compute(object.to_string().as_bytes(), Timestamp::from_seconds(NOW)).unwrap()
}

const KINDS: &[(&str, &str)] = &[
    ("v1", "Pod"),
    ("v1", "Service"),
    ("v1", "Namespace"),
    ("v1", "PersistentVolumeClaim"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("argoproj.io/v1alpha1", "Rollout"),
    ("gateway.networking.k8s.io/v1", "HTTPRoute"),
    ("example.com/v1", "Widget"),
];

/// Names the rules look at, so that odd values meet the code that reads them.
const NAMES: &[&str] = &[
    "metadata",
    "spec",
    "status",
    "name",
    "uid",
    "generation",
    "observedGeneration",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "deletionTimestamp",
    "creationTimestamp",
    "conditions",
    "type",
    "reason",
    "message",
    "lastTransitionTime",
    "phase",
    "state",
    "replicas",
    "readyReplicas",
    "updatedReplicas",
    "availableReplicas",
    "containerStatuses",
    "waiting",
    "terminated",
    "lastState",
    "exitCode",
    "restartCount",
    "parents",
    "listeners",
    "Ready",
    "resources",
    "requests",
    "storage",
    "capacity",
    "volume.kubernetes.io/selected-node",
    "kubesettle.io/hold",
    "updateStrategy",
    "rollingUpdate",
    "partition",
    "suspend",
];

const WORDS: &[&str] = &[
    "",
    "True",
    "False",
    "unknown",
    "Ready",
    "Stalled",
    "Running",
    "Pending",
    "Failed",
    "Progressing",
    "CrashLoopBackOff",
    "ImagePullBackOff",
    "Unschedulable",
    "20Gi",
    "-1",
    "9223372036854775808",
    "2025-01-01T00:00:00Z",
    "ImagePullBackOff=5m",
    "LoadBalancer",
    "ä\u{1F600}\"\\\n",
    "null",
];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3_i64..4).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(WORDS).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        let name = prop_oneof![
            6 => prop::sample::select(NAMES).prop_map(str::to_owned),
            1 => any::<String>(),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn any_object() -> impl Strategy<Value = Value> {
    (prop::sample::select(KINDS), any_json(), any_json(), any_json()).prop_map(
        |((version, kind), metadata, spec, status)| {
            json!({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec, "status": status})
        },
    )
}

fn any_conditions() -> impl Strategy<Value = Vec<Value>> {
    let names = [
        "Ready",
        "Stalled",
        "Reconciling",
        "Available",
        "Progressing",
        "Synced",
        "Succeeded",
        "Failed",
        "Degraded",
        "Established",
        "NamesAccepted",
        "Complete",
    ];
    let times = ["2025-01-01T00:00:00Z", "2025-01-01T00:00:01Z"];
    let condition = (
        prop::sample::select(names.to_vec()),
        prop::sample::select(vec!["True", "False", "Unknown"]),
        prop::sample::select(vec!["A", "B"]),
        prop::option::of(prop::sample::select(times.to_vec())),
        prop::option::of(1_i64..3),
    );
    let entry = condition.prop_map(|(name, status, reason, at, generation)| {
        json!({"type": name, "status": status, "reason": reason, "message": format!("{name} says {reason}"),
            "lastTransitionTime": at, "observedGeneration": generation})
    });
    prop::collection::vec(entry, 0..7)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_an_object_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = digest(&bytes);
        Facts::default().learn(&bytes);
    }

    #[test]
    fn any_json_object_has_a_verdict(object in any_object()) {
        let verdict = judge(&object);
        prop_assert!(!verdict.message.is_empty());
        prop_assert!(!verdict.reason.as_str().is_empty());
        prop_assert_eq!(&verdict, &judge(&object));
        let text = object.to_string();
        let generic = Rulebook::habits_only().digest(text.as_bytes());
        prop_assert!(generic.is_ok());
    }

    #[test]
    fn any_objects_around_another_are_no_trouble(target in any_object(), around in prop::collection::vec(any_object(), 0..5)) {
        let read = |object: &Value| digest(object.to_string().as_bytes()).unwrap();
        let (target, children) = (read(&target), around.iter().map(read).collect::<Vec<Digest>>());
        let (facts, policy) = (Facts::default(), Policy::default());
        let surroundings = Surroundings {
            children: &children.iter().collect::<Vec<_>>(),
            events: &[],
            facts: &facts,
            now: Timestamp::from_seconds(NOW),
            policy: &policy,
        };
        let verdict = assess(&target, &surroundings, &mut History::default());
        prop_assert!(!verdict.message.is_empty());
    }

    #[test]
    fn the_order_of_conditions_changes_nothing(
        (one, other) in any_conditions().prop_flat_map(|list| (Just(list.clone()), Just(list).prop_shuffle())),
        (version, kind) in prop::sample::select(KINDS),
    ) {
        let object = |conditions: &[Value]| json!({
            "apiVersion": version, "kind": kind, "metadata": {"generation": 2},
            "status": {"observedGeneration": 2, "phase": "Running", "conditions": conditions}
        });
        let (first, second) = (judge(&object(&one)), judge(&object(&other)));
        prop_assert_eq!(first.status, second.status);
        prop_assert_eq!(first.message, second.message);
    }

    #[test]
    fn numbers_may_be_integers_floats_or_strings(
        counts in prop::collection::vec(0_i64..4, 6),
        (version, kind) in prop::sample::select(&[("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"), ("argoproj.io/v1alpha1", "Rollout")][..]),
    ) {
        let object = |number: &dyn Fn(i64) -> Value| json!({
            "apiVersion": version, "kind": kind, "metadata": {"generation": 2},
            "spec": {"replicas": number(counts[0])},
            "status": {"observedGeneration": number(counts[1]), "replicas": number(counts[2]),
                "readyReplicas": number(counts[3]), "updatedReplicas": number(counts[4]),
                "availableReplicas": number(counts[5])}
        });
        let integers = judge(&object(&Value::from));
        prop_assert_eq!(&integers, &judge(&object(&|n| Value::from(n as f64))));
        prop_assert_eq!(&integers, &judge(&object(&|n| Value::from(n.to_string()))));
    }

    #[test]
    fn more_ready_pods_never_make_a_deployment_worse(ready in 0_i64..6, more in 0_i64..3) {
        let rank = |count: i64| {
            let verdict = judge(&json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 5},
                "status": {"observedGeneration": 1, "replicas": 5, "updatedReplicas": 5,
                    "readyReplicas": count.min(5), "availableReplicas": count.min(5),
                    "conditions": [{"type": "Available", "status": "True"}]}
            }));
            i32::from(verdict.status == Status::Current)
        };
        prop_assert!(rank(ready + more) >= rank(ready));
    }
}

#[test]
fn what_is_no_object_is_an_error() {
    for bytes in ["", "null", "[]", "1", "\"text\"", "{", "{} {}", "{\"a\":}"] {
        assert!(digest(bytes.as_bytes()).is_err(), "{bytes}");
    }
    assert!(digest(b"{\"a\":\"\xff\"}").is_err());
    assert!(digest(b" {} ").is_ok());
}

#[test]
fn a_status_that_nobody_can_read_says_no_more_than_none() {
    for status in [json!(null), json!({}), json!({"conditions": 3}), json!({"conditions": [null, {}]})] {
        let object = json!({"apiVersion": "example.com/v1", "kind": "Widget", "status": status,
            "metadata": {"creationTimestamp": Timestamp::from_seconds(NOW).to_string()}});
        let verdict = judge(&object);
        assert_eq!((verdict.status, verdict.reason.as_str()), (Status::InProgress, "NoStatus"), "{object}");
    }
}

#[test]
fn deep_nesting_is_no_trouble() {
    for (open, close) in [("[", "]"), ("{\"status\":", "}")] {
        let deep = format!("{}1{}", open.repeat(50_000), close.repeat(50_000));
        let json = format!(
            r#"{{"apiVersion":"example.com/v1","kind":"Deep","metadata":{deep},"status":{{"conditions":{deep},"phase":{deep}}}}}"#
        );
        assert!(compute(json.as_bytes(), Timestamp::from_seconds(NOW)).is_ok());
    }
}

#[test]
fn of_a_megabyte_of_text_little_is_kept() {
    let long = "ä".repeat(1 << 20);
    for object in [
        json!({"apiVersion": long, "kind": long, "metadata": {"name": long, "namespace": long, "uid": long}}),
        json!({"apiVersion": "v1", "kind": "Pod", "status": {"phase": "Failed", "reason": long, "message": long}}),
        json!({"apiVersion": "v1", "kind": "Pod", "status": {"phase": long}}),
        json!({"apiVersion": "v1", "kind": "Pod", "status": {"phase": "Pending", "containerStatuses":
            [{"name": long, "image": long, "state": {"waiting": {"reason": "ErrImagePull", "message": long}}}]}}),
        json!({"apiVersion": "example.com/v1", "kind": "W", "status": {"conditions":
            [{"type": "Ready", "status": "False", "reason": long, "message": long}]}}),
        json!({"apiVersion": "example.com/v1", "kind": "W", "status": {"conditions":
            [{"type": "Stalled", "status": "True", "reason": long, "message": long}]}}),
        json!({"apiVersion": "example.com/v1", "kind": "W", "status": {"phase": "Failed", "message": long}}),
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {"storageClassName": long}}),
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"deletionTimestamp": "x", "finalizers": [long]}}),
    ] {
        let digest = digest(object.to_string().as_bytes()).unwrap();
        assert!(digest.kept_bytes() < 8 * 1024, "{} B of {}", digest.kept_bytes(), digest.kind());
        assert!(judge(&object).message.len() < 8 * 1024);
    }
}

#[test]
fn an_item_of_a_list_is_judged_as_the_object_alone() {
    let item = json!({"metadata": {"name": "a"}, "status": {"phase": "Succeeded"}}).to_string();
    let digest = digest_as(&Kind::new("v1", "Pod"), item.as_bytes()).unwrap();
    assert_eq!(digest.own_status(), Status::Current);
    assert_eq!((digest.name(), digest.namespace(), digest.resource_version()), ("a", None, ""));
}
