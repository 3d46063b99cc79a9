//! Causes: found on descendants, held, and told in words.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use kstatus::{
    CauseCode, Digest, EventNote, Facts, History, Hold, Policy, Status, Surroundings, Timestamp, Verdict,
    assess, digest,
};
use serde_json::{Value, json};

/// A judged object with what surrounds it, at a clock the test moves.
struct Scene {
    target: Digest,
    children: Vec<Digest>,
    events: Vec<EventNote>,
    facts: Facts,
    policy: Policy,
    history: History,
    second: i64,
}

fn read(value: &Value) -> Digest {
    digest(value.to_string().as_bytes()).unwrap()
}

const START: i64 = 1_735_689_600;

impl Scene {
    fn new(target: &Value, children: &[Value]) -> Self {
        Self {
            target: read(target),
            children: children.iter().map(read).collect(),
            events: Vec::new(),
            facts: Facts::default(),
            policy: Policy::default(),
            history: History::default(),
            second: 100,
        }
    }

    fn verdict(&mut self) -> Verdict {
        let children: Vec<&Digest> = self.children.iter().collect();
        let around = Surroundings {
            children: &children,
            events: &self.events,
            facts: &self.facts,
            now: Timestamp::from_seconds(START + self.second),
            policy: &self.policy,
        };
        assess(&self.target, &around, &mut self.history)
    }

    fn after(&mut self, seconds: i64) -> Verdict {
        self.second += seconds;
        self.verdict()
    }
}

fn uid(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

fn meta(name: &str, number: u32, owner: Option<u32>) -> Value {
    let owners: Vec<Value> =
        owner.iter().map(|owner| json!({"uid": uid(*owner), "controller": true})).collect();
    json!({"name": name, "namespace": "demo", "uid": uid(number), "generation": 1,
        "creationTimestamp": "2025-01-01T00:00:00Z", "ownerReferences": owners})
}

fn deployment(available: i64) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta("web", 1, None),
        "spec": {"replicas": 2, "progressDeadlineSeconds": 600},
        "status": {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2,
            "availableReplicas": available, "readyReplicas": available}})
}

fn replica_set(name: &str, number: u32, revision: &str) -> Value {
    let mut metadata = meta(name, number, Some(1));
    metadata["annotations"] = json!({"deployment.kubernetes.io/revision": revision});
    json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata,
        "spec": {"replicas": 2}, "status": {"observedGeneration": 1, "replicas": 2}})
}

/// A pod whose container waits.
fn waiting(name: &str, number: u32, owner: u32, reason: &str, restarts: u32) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta(name, number, Some(owner)),
        "status": {"phase": "Pending", "containerStatuses": [{"name": "app", "ready": false,
            "restartCount": restarts, "image": "shop/web:1.4.x",
            "state": {"waiting": {"reason": reason, "message": "says the kubelet"}},
            "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}]}})
}

fn ready(name: &str, number: u32, owner: u32) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta(name, number, Some(owner)),
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})
}

fn rollout_of(pods: &[Value]) -> Scene {
    let mut children = vec![replica_set("web-a", 2, "1")];
    children.extend_from_slice(pods);
    Scene::new(&deployment(0), &children)
}

fn event(about: Option<u32>, warning: bool, reason: &str, message: &str) -> EventNote {
    EventNote {
        about: about.map(|number| kstatus::Uid::parse(&uid(number))),
        warning,
        reason: reason.into(),
        message: message.into(),
        last_seen: None,
    }
}

#[test]
fn a_failing_pull_is_told_at_once_and_fails_after_its_hold() {
    let mut scene = rollout_of(&[waiting("web-a-1", 3, 2, "ImagePullBackOff", 0)]);
    let first = scene.verdict();
    assert_eq!(first.status, Status::InProgress);
    assert!(
        first.message.contains("ImagePullBackOff: pod web-a-1, container app: says the kubelet"),
        "{}",
        first.message
    );
    assert_eq!(first.reassess_at, Some(Timestamp::from_seconds(START + 160)));
    let cause = &first.causes[0];
    assert_eq!(cause.code, CauseCode::ImagePullBackOff);
    assert_eq!(cause.container.as_deref(), Some("app"));
    let chain: Vec<String> = cause.chain.iter().map(ToString::to_string).collect();
    assert_eq!(chain, ["deployment web", "replicaset web-a", "pod web-a-1"]);
    assert_eq!(scene.after(59).status, Status::InProgress);
    let last = scene.after(1);
    assert_eq!((last.status, last.reason.as_str()), (Status::Failed, "ImagePullBackOff"));
    assert!(last.causes[0].fatal);
}

#[test]
fn both_words_for_a_failing_pull_share_one_hold() {
    let mut scene = rollout_of(&[waiting("web-a-1", 3, 2, "ErrImagePull", 0)]);
    scene.verdict();
    scene.children[1] = read(&waiting("web-a-1", 3, 2, "ImagePullBackOff", 0));
    assert_eq!(scene.after(60).status, Status::Failed);
}

#[test]
fn a_hold_begins_anew_when_the_object_makes_progress() {
    let mut scene = rollout_of(&[waiting("web-a-1", 3, 2, "ImagePullBackOff", 0)]);
    scene.verdict();
    scene.target = read(&deployment(1));
    assert_eq!(scene.after(50).status, Status::InProgress);
    assert_eq!(scene.after(50).status, Status::InProgress);
    assert_eq!(scene.after(10).status, Status::Failed);
}

#[test]
fn a_hold_begins_anew_when_the_failing_pod_makes_progress() {
    let two = |other: &str| {
        let mut pod = waiting("web-a-1", 3, 2, "ImagePullBackOff", 0);
        let statuses = pod["status"]["containerStatuses"].as_array_mut().unwrap();
        statuses.push(json!({"name": "side", "ready": false, "restartCount": 0, "state": {other: {}}}));
        pod
    };
    let mut scene = rollout_of(&[two("waiting")]);
    scene.verdict();
    scene.children[1] = read(&two("running"));
    assert_eq!(scene.after(50).status, Status::InProgress);
    assert_eq!(scene.after(50).status, Status::InProgress);
    assert_eq!(scene.after(10).status, Status::Failed);
}

#[test]
fn a_cause_that_has_gone_takes_its_hold_along() {
    let mut scene = rollout_of(&[waiting("web-a-1", 3, 2, "ImagePullBackOff", 0)]);
    scene.verdict();
    let back_off = std::mem::replace(&mut scene.children[1], read(&ready("web-a-1", 3, 2)));
    assert!(scene.after(30).causes.is_empty());
    scene.children[1] = back_off;
    assert_eq!(scene.after(31).status, Status::InProgress);
}

#[test]
fn a_failed_verdict_turns_back_when_the_object_recovers() {
    let mut scene = rollout_of(&[waiting("web-a-1", 3, 2, "InvalidImageName", 0)]);
    assert_eq!(scene.verdict().status, Status::Failed);
    scene.children[1] = read(&ready("web-a-1", 3, 2));
    assert_eq!(scene.after(1).status, Status::InProgress);
}

#[test]
fn a_crash_loop_fails_by_restarts_not_by_time() {
    let mut scene = rollout_of(&[waiting("web-a-1", 3, 2, "CrashLoopBackOff", 2)]);
    assert_eq!(scene.verdict().status, Status::InProgress);
    assert_eq!(scene.after(3600).status, Status::InProgress);
    scene.children[1] = read(&waiting("web-a-1", 3, 2, "CrashLoopBackOff", 3));
    let verdict = scene.after(1);
    assert_eq!(verdict.status, Status::Failed);
    assert!(verdict.message.contains("3 restarts, last exit code 1 (Error)"), "{}", verdict.message);
}

#[test]
fn a_container_that_was_ready_once_only_warns_of_its_crashes() {
    let mut scene = rollout_of(&[ready("web-a-1", 3, 2)]);
    scene.verdict();
    scene.children[1] = read(&waiting("web-a-1", 3, 2, "CrashLoopBackOff", 7));
    let verdict = scene.after(1);
    assert_eq!(verdict.status, Status::InProgress);
    assert!(verdict.message.contains("CrashLoopBackOff"), "{}", verdict.message);
}

#[test]
fn holds_are_set_by_policy_and_by_the_object_itself() {
    let mut scene = rollout_of(&[waiting("web-a-1", 3, 2, "ImagePullBackOff", 0)]);
    scene.policy.set_hold(CauseCode::ImagePullBackOff, Hold::Millis(5000));
    scene.verdict();
    assert_eq!(scene.after(5).status, Status::Failed);
    let mut patient = deployment(0);
    patient["metadata"]["annotations"] = json!({"kubesettle.io/hold": "ImagePullBackOff=never, Error=1s"});
    scene.target = read(&patient);
    assert_eq!(scene.after(3600).status, Status::InProgress);
}

#[test]
fn a_hold_in_time_on_a_crash_loop_outlasts_the_short_lives_between() {
    let mut patient = deployment(0);
    patient["metadata"]["annotations"] = json!({"kubesettle.io/hold": "CrashLoopBackOff=5m"});
    let mut running = waiting("web-a-1", 3, 2, "CrashLoopBackOff", 4);
    running["status"]["containerStatuses"][0]["state"] = json!({"running": {}});
    let (running, crashed) = (read(&running), read(&waiting("web-a-1", 3, 2, "CrashLoopBackOff", 4)));
    let mut scene = rollout_of(&[waiting("web-a-1", 3, 2, "CrashLoopBackOff", 4)]);
    scene.target = read(&patient);
    for _ in 0..3 {
        scene.children[1] = crashed.clone();
        assert_eq!(scene.after(50).status, Status::InProgress);
        scene.children[1] = running.clone();
        assert_eq!(scene.after(50).status, Status::InProgress);
    }
    scene.children[1] = crashed;
    assert_eq!(scene.after(50).status, Status::Failed);
}

#[test]
fn only_the_newest_replica_set_speaks_for_a_deployment() {
    let mut scene = Scene::new(
        &deployment(0),
        &[
            replica_set("web-new", 4, "10"),
            replica_set("web-old", 2, "9"),
            waiting("web-old-1", 3, 2, "InvalidImageName", 0),
        ],
    );
    let verdict = scene.verdict();
    assert_eq!(verdict.status, Status::InProgress);
    assert!(verdict.causes.is_empty());
}

#[test]
fn children_are_found_by_owner_and_not_by_anything_else() {
    let mut scene = rollout_of(&[waiting("web-a-1", 3, 77, "InvalidImageName", 0)]);
    assert_eq!(scene.verdict().status, Status::InProgress);
}

#[test]
fn nothing_fails_before_the_generation_is_observed() {
    let mut scene = rollout_of(&[waiting("web-a-1", 3, 2, "InvalidImageName", 0)]);
    let mut newer = deployment(0);
    newer["metadata"]["generation"] = json!(2);
    scene.target = read(&newer);
    let verdict = scene.verdict();
    assert_eq!(
        (verdict.status, verdict.reason.as_str()),
        (Status::InProgress, "LatestGenerationNotObserved")
    );
}

#[test]
fn equal_causes_on_many_pods_are_one_with_a_count() {
    let pods: Vec<Value> =
        (0..40).map(|n| waiting(&format!("web-a-{n}"), 10 + n, 2, "ImagePullBackOff", 0)).collect();
    let mut scene = rollout_of(&pods);
    let verdict = scene.verdict();
    assert_eq!((verdict.causes.len(), verdict.causes[0].count), (1, 40));
    assert!(verdict.message.contains("(and 39 more)"), "{}", verdict.message);
}

#[test]
fn the_order_in_which_children_come_never_begins_a_hold_anew() {
    let pods: Vec<Value> =
        (0..3).map(|n| waiting(&format!("web-a-{n}"), 10 + n, 2, "ImagePullBackOff", 0)).collect();
    let mut scene = rollout_of(&pods);
    let first = scene.verdict();
    scene.children.reverse();
    let mut second = scene.after(30);
    assert_eq!(first.message, second.message);
    scene.children.retain(|child| child.name() != "web-a-0");
    second = scene.after(30);
    assert_eq!(second.status, Status::Failed);
}

#[test]
fn a_passed_deadline_fails_and_still_names_the_culprit() {
    let mut late = deployment(0);
    late["status"]["conditions"] = json!([{"type": "Progressing", "status": "False",
        "reason": "ProgressDeadlineExceeded", "message": "ReplicaSet has timed out"}]);
    let mut scene = rollout_of(&[waiting("web-a-1", 3, 2, "CreateContainerConfigError", 0)]);
    scene.target = read(&late);
    let verdict = scene.verdict();
    assert_eq!((verdict.status, verdict.reason.as_str()), (Status::Failed, "ProgressDeadlineExceeded"));
    assert!(verdict.message.contains("CreateContainerConfigError: pod web-a-1"), "{}", verdict.message);
    assert_eq!(verdict.causes[0].code, CauseCode::CreateContainerConfigError);
}

#[test]
fn a_refused_creation_is_a_cause_at_once_and_named_for_what_it_is() {
    for (message, code) in [
        ("pods \"web-x\" is forbidden: exceeded quota: compute", CauseCode::QuotaExceeded),
        ("admission webhook \"policy.example.com\" denied the request", CauseCode::AdmissionDenied),
        ("Internal error occurred", CauseCode::FailedCreate),
    ] {
        let mut refused = deployment(0);
        refused["status"] = json!({"observedGeneration": 1, "conditions": [
            {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}]});
        let mut scene = Scene::new(&refused, &[]);
        let verdict = scene.verdict();
        assert_eq!((verdict.status, verdict.causes[0].code), (Status::InProgress, code));
        assert!(verdict.message.contains(message), "{}", verdict.message);
    }
}

#[test]
fn a_stateful_set_names_the_old_pod_that_blocks_it() {
    let set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta("db", 1, None),
        "spec": {"replicas": 2}, "status": {"observedGeneration": 1, "replicas": 2, "readyReplicas": 1,
            "currentRevision": "db-old", "updateRevision": "db-new"}});
    let mut pod = waiting("db-0", 3, 1, "ImagePullBackOff", 0);
    pod["metadata"]["labels"] = json!({"controller-revision-hash": "db-old"});
    let mut scene = Scene::new(&set, &[pod.clone()]);
    let verdict = scene.verdict();
    assert!(
        verdict.message.contains("pod db-0") && verdict.message.contains("delete the pod"),
        "{}",
        verdict.message
    );
    assert_eq!(scene.after(60).status, Status::Failed);
    let mut parallel = set;
    parallel["spec"]["podManagementPolicy"] = json!("Parallel");
    assert!(Scene::new(&parallel, &[pod]).verdict().causes.is_empty());
}

#[test]
fn a_job_counts_the_crashes_of_its_pods_itself() {
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta("migrate", 1, None),
        "status": {"startTime": "2025-01-01T00:00:00Z", "active": 1}});
    let mut scene = Scene::new(&job, &[waiting("migrate-x", 3, 1, "CrashLoopBackOff", 5)]);
    let verdict = scene.verdict();
    assert_eq!(verdict.status, Status::InProgress);
    assert!(verdict.message.contains("5 restarts"), "{}", verdict.message);
}

fn unschedulable() -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta("web", 1, None),
        "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
            "reason": "Unschedulable", "message": "0/1 nodes are available: 1 Insufficient cpu"}]}})
}

#[test]
fn unschedulable_becomes_a_cause_after_its_grace_and_never_fails_alone() {
    let mut scene = Scene::new(&unschedulable(), &[]);
    let first = scene.verdict();
    assert!(first.causes.is_empty());
    assert!(
        first.message.contains("Unschedulable: 0/1 nodes are available: 1 Insufficient cpu"),
        "{}",
        first.message
    );
    assert_eq!(first.reassess_at, Some(Timestamp::from_seconds(START + 115)));
    let later = scene.after(15);
    assert_eq!((later.status, later.causes.len()), (Status::InProgress, 1));
    assert_eq!(scene.after(36_000).status, Status::InProgress);
}

#[test]
fn the_word_of_an_autoscaler_decides_about_an_unschedulable_pod() {
    let mut scene = Scene::new(&unschedulable(), &[]);
    scene.events = vec![event(None, false, "NotTriggerScaleUp", "pod didn't trigger scale-up")];
    scene.verdict();
    assert_eq!(scene.after(15).status, Status::Failed);
    scene.events.push(event(None, false, "TriggeredScaleUp", "pod triggered scale-up"));
    let verdict = scene.after(600);
    assert_eq!(verdict.status, Status::InProgress);
    assert!(verdict.message.contains("a node is being added"), "{}", verdict.message);
}

#[test]
fn events_tell_what_a_status_does_not() {
    let creating = json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta("web-a-1", 3, Some(2)),
        "status": {"phase": "Pending"}});
    let mut scene = rollout_of(&[creating]);
    scene.events = vec![
        event(Some(3), true, "FailedMount", "secret \"tls\" not found"),
        event(Some(99), true, "FailedMount", "of a stranger"),
        event(Some(3), false, "Pulled", "a good sign"),
    ];
    let verdict = scene.verdict();
    assert_eq!(verdict.causes.len(), 1);
    assert!(
        verdict.message.contains("FailedMount: pod web-a-1: secret \"tls\" not found"),
        "{}",
        verdict.message
    );
    assert_eq!(scene.after(36_000).status, Status::InProgress);
}

#[test]
fn a_claim_that_no_volume_fits_is_told_though_its_event_is_no_warning() {
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta("data", 1, None),
        "spec": {"storageClassName": ""}, "status": {"phase": "Pending"}});
    let mut scene = Scene::new(&claim, &[]);
    let note = event(Some(1), false, "FailedBinding", "no persistent volumes available for this claim");
    assert!(note.may_count());
    scene.events = vec![note];
    let verdict = scene.verdict();
    assert_eq!(verdict.causes[0].code, CauseCode::ProvisioningFailed);
    assert!(verdict.message.contains("no persistent volumes available"), "{}", verdict.message);
    assert_eq!(scene.after(36_000).status, Status::InProgress);
}

#[test]
fn what_an_object_says_itself_is_not_told_again_by_its_events() {
    let mut set = replica_set("web-a", 2, "1");
    set["status"]["conditions"] = json!([{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
        "message": "pods \"web-a-x\" is forbidden: exceeded quota: small"}]);
    let mut scene = Scene::new(&deployment(0), &[set]);
    let said = "(combined from similar events): Error creating: pods \"web-a-y\" is forbidden: exceeded quota: small";
    scene.events = vec![event(Some(2), true, "FailedCreate", said)];
    let verdict = scene.verdict();
    let codes: Vec<_> = verdict.causes.iter().map(|cause| cause.code).collect();
    assert_eq!(codes, [CauseCode::QuotaExceeded], "{}", verdict.message);
}

#[test]
fn a_pod_that_is_not_ready_for_long_is_told_until_an_event_says_why() {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta("web-a-1", 3, Some(2)),
        "status": {"phase": "Running",
            "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady",
                "lastTransitionTime": "2025-01-01T00:01:30Z"}],
            "containerStatuses": [{"name": "app", "ready": false, "restartCount": 0,
                "state": {"running": {"startedAt": "2025-01-01T00:01:30Z"}}}]}});
    let mut scene = rollout_of(&[pod]);
    let first = scene.verdict();
    assert_eq!(first.causes, []);
    assert!(!first.message.contains("ProbeFailed"), "{}", first.message);
    assert_eq!(first.reassess_at, Some(Timestamp::from_seconds(START + 105)));
    let later = scene.after(5);
    assert_eq!((later.status, later.causes.len()), (Status::InProgress, 1));
    let cause = &later.causes[0];
    assert_eq!((cause.code, cause.container.as_deref()), (CauseCode::ProbeFailed, Some("app")));
    assert_eq!(cause.since, Some(Timestamp::from_seconds(START + 90)));
    scene.events = vec![event(Some(3), true, "Unhealthy", "Readiness probe failed: 503")];
    let told = scene.verdict();
    assert_eq!(told.causes.len(), 1);
    assert!(
        told.message.contains("ProbeFailed: pod web-a-1: Readiness probe failed: 503"),
        "{}",
        told.message
    );
    assert_eq!(scene.after(36_000).status, Status::InProgress);
}

#[test]
fn a_cause_that_the_object_dates_is_as_old_as_it_says() {
    let at = "2025-01-01T00:00:07Z";
    let mut late = deployment(0);
    late["status"]["conditions"] = json!([{"type": "Progressing", "status": "False",
        "reason": "ProgressDeadlineExceeded", "message": "timed out", "lastTransitionTime": at}]);
    let mut ended = waiting("p", 1, 0, "none", 0);
    ended["status"]["phase"] = json!("Failed");
    ended["status"]["containerStatuses"][0]["state"] =
        json!({"terminated": {"exitCode": 1, "finishedAt": at}});
    for object in [late, ended] {
        let cause = &Scene::new(&object, &[]).verdict().causes[0];
        assert_eq!(cause.since, Timestamp::parse(at), "{}", cause.message);
    }
}

#[test]
fn a_missing_status_is_waited_for_as_long_as_the_schema_gives_reason_to() {
    let fresh = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": meta("w", 1, None)});
    let kind = kstatus::Kind::new("example.com/v1", "Widget");
    for (schema, grace) in
        [(Some(kstatus::StatusSchema::Conditions), 60), (Some(kstatus::StatusSchema::None), 0), (None, 10)]
    {
        let mut scene = Scene::new(&fresh, &[]);
        if let Some(schema) = schema {
            scene.facts.set_status_schema(kind.clone(), schema);
        }
        scene.second = 0;
        for (seconds, status) in [(grace - 1, Status::InProgress), (grace, Status::Current)] {
            if seconds >= 0 {
                scene.second = seconds;
                assert_eq!(scene.verdict().status, status, "{schema:?} at {seconds} s");
            }
        }
    }
}

#[test]
fn wishes_of_the_object_and_of_the_run_change_what_is_waited_for() {
    let mut service = json!({"apiVersion": "v1", "kind": "Service", "metadata": meta("edge", 1, None),
        "spec": {"type": "LoadBalancer", "clusterIP": "10.0.0.1"}});
    let mut scene = Scene::new(&service, &[]);
    assert_eq!(scene.verdict().status, Status::InProgress);
    scene.policy.await_load_balancers = false;
    assert_eq!(scene.verdict().status, Status::Current);
    service["metadata"]["annotations"] = json!({"kubesettle.io/ready-when": "exists"});
    assert_eq!(Scene::new(&service, &[]).verdict().status, Status::Current);

    let mut job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta("j", 1, None),
        "status": {"startTime": "2025-01-01T00:00:00Z", "active": 1}});
    job["metadata"]["annotations"] = json!({"kubesettle.io/ready-when": "started"});
    assert_eq!(Scene::new(&job, &[]).verdict().status, Status::Current);

    let mut ingress = json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
        "metadata": meta("site", 1, None), "status": {"loadBalancer": {}}});
    assert_eq!(Scene::new(&ingress, &[]).verdict().status, Status::Current);
    ingress["metadata"]["annotations"] = json!({"kubesettle.io/ready-when": "address"});
    assert_eq!(Scene::new(&ingress, &[]).verdict().status, Status::InProgress);
}

#[test]
fn the_last_failed_job_of_a_cron_job_is_a_note_beside_current() {
    let cron = json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": meta("nightly", 1, None)});
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta("nightly-1", 2, Some(1)),
        "status": {"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}});
    let verdict = Scene::new(&cron, &[job]).verdict();
    assert_eq!((verdict.status, verdict.causes[0].code), (Status::Current, CauseCode::JobFailed));
}

#[test]
fn a_ring_of_owners_ends() {
    let mut first = waiting("a", 3, 4, "ImagePullBackOff", 0);
    first["metadata"]["ownerReferences"] = json!([{"uid": uid(4), "controller": true}]);
    let mut second = waiting("b", 4, 3, "ImagePullBackOff", 0);
    second["metadata"]["ownerReferences"] = json!([{"uid": uid(3), "controller": true}]);
    let mut scene = Scene::new(&first, &[second, first.clone()]);
    assert_eq!(scene.verdict().status, Status::InProgress);
}

#[test]
fn descendants_are_wanted_only_where_they_can_explain_something() {
    assert!(read(&deployment(0)).wants_children());
    let mut done = deployment(2);
    done["status"]["conditions"] = json!([{"type": "Available", "status": "True"},
        {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}]);
    assert!(!read(&done).wants_children());
    assert!(!read(&unschedulable()).wants_children());
}
