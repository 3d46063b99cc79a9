//! What becomes of objects in real life, watched from before they exist: no moment of it is called
//! Current or Failed that is not.
//!
//! Each test says, stretch by stretch, which words may be heard and which one ends the stretch. Only
//! the order counts. Where a stretch begins and ends with the same word, a test waits for the one in
//! between, and lets that last for a second.

use e2e::manifests::{annotated, definition, deployment, deployment_that, job, stream};
use e2e::{LIMIT, Lines, World, get, named, settle, unique};
use harness::{Running, shared, wait_until};
use serde_json::{Value, json};

tests![
    a_rollout_a_rollback_and_every_size,
    a_paused_deployment_is_current,
    a_quota_holds_up_and_lets_go,
    a_pod_waits_for_a_node_that_fits,
    an_image_that_cannot_be_pulled_is_named_and_then_pulled,
    a_crash_loop_fails_and_is_mended,
    a_missing_configuration_is_named_and_then_found,
    a_job_runs_to_its_end,
    a_job_is_tried_again_before_it_fails,
    a_job_is_suspended_and_resumed,
    a_partition_is_a_rollout_of_its_own,
    on_delete_is_up_to_the_user,
    a_broken_old_pod_blocks_the_rollout_until_it_is_deleted,
    a_daemon_set_without_a_node_has_nothing_to_wait_for,
    a_claim_that_binds_late_waits_for_a_pod_and_then_for_its_volume,
    a_claim_and_its_pod_do_not_wait_for_each_other,
    f06_a_late_binding_claim_and_its_stateful_set_come_in_one_set,
    f06_whoever_may_not_read_storage_classes_knows_it_by_the_event,
    a_load_balancer_waits_for_its_address,
    a_definition_is_installed_and_removed,
    a_namespace_is_held_by_a_finalizer,
    an_autoscaler_without_metrics_does_not_scale,
];

/// An object under a watch that lasts.
struct Life {
    watch: Running,
    /// Lines about the object that have been taken in.
    taken: usize,
    word: String,
}

impl Life {
    /// Begins the watch. The object is not there yet.
    fn of(world: &World, object: &Value) -> Self {
        let watch = world.settle(&["status", "--watch", "-o", "json"]).input(object.to_string()).start();
        let mut life = Self { watch, taken: 0, word: String::new() };
        life.then(&[], "NotFound", "");
        life
    }

    /// Everything that was said of the object's state.
    fn lines(&self) -> Vec<Value> {
        let said = self.watch.stdout();
        // The last line may be half written.
        let whole = said.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let lines = whole.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["type"] == "status").collect()
    }

    /// Waits for `end`, said with this detail. Until then only `between` may be heard, after what was
    /// said last, and `end` without the detail where it is no end of the object's way.
    #[track_caller]
    fn then(&mut self, between: &[&str], end: &str, detail: &str) {
        let before = self.word.clone();
        let mut moved = false;
        let mut lines = Vec::new();
        let what = format!("{end} ({detail})");
        let found = |life: &mut Self| {
            lines = life.lines();
            while let Some(line) = lines.get(life.taken) {
                life.taken += 1;
                let word = line["status"].as_str().unwrap();
                life.word = word.to_owned();
                if word == end && line.to_string().contains(detail) {
                    return true;
                }
                let still = !moved && word == before;
                moved |= word != before;
                let open = word == end && !["Current", "Failed"].contains(&end);
                assert!(
                    still || open || between.contains(&word),
                    "{word} on the way from {before} to {what}\n{}",
                    told(&lines)
                );
            }
            false
        };
        let mut found = found;
        let start = std::time::Instant::now();
        while !found(self) {
            assert!(start.elapsed() < LIMIT, "no {what}\n{}\n{}", told(&self.lines()), self.watch.stderr());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Nothing else is heard any more, and the watch ends when it is asked to.
    #[track_caller]
    fn ends(self) {
        self.watch.interrupt();
        let lines = self.lines();
        for line in lines.iter().skip(self.taken) {
            assert_eq!(line["status"], self.word.as_str(), "after all\n{}", told(&lines));
        }
        let done = self.watch.finish(LIMIT);
        assert!(!done.timed_out, "{}", done.stderr);
    }
}

fn told(lines: &[Value]) -> String {
    let line = |line: &Value| {
        let part = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        format!("{:>8} {} ({}): {}\n", line["elapsed"], part("status"), part("reason"), part("message"))
    };
    lines.iter().map(line).collect()
}

/// Creates or changes an object, as somebody else.
#[track_caller]
fn apply(world: &World, object: &Value) {
    let mut object = object.clone();
    object["metadata"]["namespace"] = world.name().into();
    shared().apply(&object.to_string());
}

#[track_caller]
fn patch(world: &World, what: &str, patch: &Value) {
    world.ns.kubectl(&["patch", what, "--type=merge", "-p", &patch.to_string()]).success();
}

/// Another template: a rollout.
fn template(value: &str) -> Value {
    json!({ "spec": { "template": { "metadata": { "annotations": { "kubesettle.test/round": value } } } } })
}

/// Another fate of the pods; null: they are ready at once.
fn outcome(value: &Value) -> Value {
    json!({ "spec": { "template": { "metadata": { "annotations": { "kubesettle.test/outcome": value } } } } })
}

/// Pods that take a second: long enough to be seen on their way.
fn slow(name: &str) -> Value {
    let mut object = deployment_that(name, "slow-ready");
    object["spec"]["template"]["metadata"]["annotations"]["kubesettle.test/delay"] = json!("1s");
    object
}

fn stateful_set(name: &str, replicas: u32) -> Value {
    let mut object = slow(name);
    object["kind"] = json!("StatefulSet");
    object["spec"]["serviceName"] = json!(name);
    object["spec"]["replicas"] = json!(replicas);
    object
}

fn a_rollout_a_rollback_and_every_size() {
    let world = World::new("rollout");
    let web = slow("web");
    let mut life = Life::of(&world, &web);
    apply(&world, &web);
    life.then(&["InProgress"], "Current", "Replicas: 1");
    patch(&world, "deployment/web", &template("two"));
    life.then(&[], "InProgress", "");
    life.then(&["InProgress"], "Current", "Replicas: 1");
    world.ns.kubectl(&["rollout", "undo", "deployment/web"]).success();
    life.then(&[], "InProgress", "");
    life.then(&["InProgress"], "Current", "Replicas: 1");
    world.ns.kubectl(&["scale", "deployment/web", "--replicas=3"]).success();
    life.then(&[], "InProgress", "/3");
    life.then(&["InProgress"], "Current", "Replicas: 3");
    world.ns.kubectl(&["scale", "deployment/web", "--replicas=0"]).success();
    life.then(&["InProgress"], "Current", "Replicas: 0");
    world.ns.kubectl(&["delete", "deployment/web", "--cascade=foreground", "--wait=false"]).success();
    life.then(&["Terminating"], "NotFound", "");
    life.ends();
}

fn a_paused_deployment_is_current() {
    let world = World::new("paused");
    let web = slow("web");
    let mut life = Life::of(&world, &web);
    apply(&world, &web);
    life.then(&["InProgress"], "Current", "Replicas: 1");
    patch(&world, "deployment/web", &json!({ "spec": { "paused": true } }));
    life.then(&["InProgress"], "Current", "paused");
    patch(&world, "deployment/web", &template("two"));
    life.then(&["InProgress"], "Current", "Updated: 0/1");
    patch(&world, "deployment/web", &json!({ "spec": { "paused": false } }));
    life.then(&[], "InProgress", "");
    life.then(&["InProgress"], "Current", "Replicas: 1");
    life.ends();
}

fn a_quota_holds_up_and_lets_go() {
    let world = World::new("quota");
    let quota = |pods: &str| {
        json!({
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": { "name": "small" },
            "spec": { "hard": { "pods": pods } },
        })
    };
    apply(&world, &quota("0"));
    wait_until("the quota counts", LIMIT, || {
        world.get("v1", "resourcequotas", "small")["status"]["hard"]["pods"] == "0"
    });
    let web = slow("web");
    let mut life = Life::of(&world, &web);
    apply(&world, &web);
    life.then(&[], "InProgress", "QuotaExceeded");
    apply(&world, &quota("9"));
    life.then(&["InProgress"], "Current", "");
    life.ends();
}

/// Gives a node what somebody asks for. Nobody else does.
#[track_caller]
fn label_a_node(label: &str) {
    shared().kubectl(&["label", "node", "node-0", &format!("{label}=yes")]).success();
}

fn a_pod_waits_for_a_node_that_fits() {
    let world = World::new("nowhere");
    let label = unique("fits");
    let mut web = slow("web");
    web["spec"]["template"]["spec"]["nodeSelector"] = json!({ &label: "yes" });
    let mut life = Life::of(&world, &web);
    apply(&world, &web);
    life.then(&[], "InProgress", "Unschedulable");
    label_a_node(&label);
    life.then(&["InProgress"], "Current", "");
    life.ends();
}

fn an_image_that_cannot_be_pulled_is_named_and_then_pulled() {
    let world = World::new("image");
    let web = deployment_that("web", "image-pull-backoff");
    let mut patient = Life::of(&world, &web);
    let hasty =
        annotated(deployment_that("hasty", "image-pull-backoff"), "kubesettle.io/hold", "ImagePullBackOff=0");
    let mut strict = Life::of(&world, &hasty);
    apply(&world, &web);
    apply(&world, &hasty);
    patient.then(&[], "InProgress", "ImagePullBackOff");
    strict.then(&["InProgress"], "Failed", "ImagePullBackOff");
    for name in ["deployment/web", "deployment/hasty"] {
        patch(&world, name, &outcome(&Value::Null));
    }
    patient.then(&["InProgress"], "Current", "");
    strict.then(&["InProgress"], "Current", "");
    patient.ends();
    strict.ends();
}

fn a_crash_loop_fails_and_is_mended() {
    let world = World::new("crash");
    let web = deployment_that("web", "crash-loop");
    let mut life = Life::of(&world, &web);
    apply(&world, &web);
    life.then(&[], "InProgress", "CrashLoopBackOff");
    life.then(&["InProgress"], "Failed", "CrashLoopBackOff");
    patch(&world, "deployment/web", &outcome(&Value::Null));
    life.then(&["InProgress"], "Current", "");
    life.ends();
}

fn a_missing_configuration_is_named_and_then_found() {
    let world = World::new("config");
    let web = deployment_that("web", "config-error");
    let mut life = Life::of(&world, &web);
    apply(&world, &web);
    life.then(&[], "InProgress", "CreateContainerConfigError");
    // The kubelet tries again: the pod begins anew, as the same pod.
    let pods = world.ns.kubectl(&["get", "pods", "-o", "name"]).success();
    let pod = pods.trim();
    world.ns.kubectl(&["annotate", pod, "kubesettle.test/outcome-"]).success();
    let clear = json!({ "status": { "podIP": null, "podIPs": null } }).to_string();
    world.ns.kubectl(&["patch", pod, "--subresource=status", "--type=merge", "-p", &clear]).success();
    life.then(&["InProgress"], "Current", "");
    life.ends();
}

fn a_job_runs_to_its_end() {
    let world = World::new("job");
    let mut good = job("good");
    good["spec"]["template"]["metadata"]["annotations"] = json!({ "kubesettle.test/delay": "2s" });
    let mut bad = job("bad");
    bad["spec"]["template"]["metadata"]["annotations"] = json!({ "kubesettle.test/outcome": "exit-1" });
    let mut success = Life::of(&world, &good);
    let mut failure = Life::of(&world, &bad);
    apply(&world, &good);
    apply(&world, &bad);
    success.then(&[], "InProgress", "active: 1");
    success.then(&["InProgress"], "Current", "Job Completed");
    failure.then(&["InProgress"], "Failed", "BackoffLimitExceeded");
    success.ends();
    failure.ends();
}

fn a_job_is_tried_again_before_it_fails() {
    let world = World::new("retry");
    let mut twice = job("twice");
    twice["spec"]["backoffLimit"] = json!(1);
    twice["spec"]["template"]["metadata"]["annotations"] = json!({ "kubesettle.test/outcome": "exit-1" });
    let mut life = Life::of(&world, &twice);
    apply(&world, &twice);
    life.then(&[], "InProgress", "failed: 1");
    life.then(&["InProgress"], "Failed", "failed: 2");
    life.ends();
}

fn a_job_is_suspended_and_resumed() {
    let world = World::new("suspend");
    let mut later = job("later");
    later["spec"]["suspend"] = json!(true);
    later["spec"]["template"]["metadata"]["annotations"] = json!({ "kubesettle.test/delay": "2s" });
    let mut life = Life::of(&world, &later);
    apply(&world, &later);
    life.then(&["InProgress"], "Current", "suspended");
    patch(&world, "job/later", &json!({ "spec": { "suspend": false } }));
    life.then(&[], "InProgress", "active: 1");
    life.then(&["InProgress"], "Current", "Job Completed");
    life.ends();
}

fn a_partition_is_a_rollout_of_its_own() {
    let world = World::new("partition");
    let mut db = stateful_set("db", 3);
    db["spec"]["updateStrategy"] = json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 2 } });
    let mut life = Life::of(&world, &db);
    apply(&world, &db);
    life.then(&["InProgress"], "Current", "Replicas: 3");
    patch(&world, "statefulset/db", &template("two"));
    life.then(&[], "InProgress", "");
    life.then(&["InProgress"], "Current", "updated: 1");
    patch(
        &world,
        "statefulset/db",
        &json!({ "spec": { "updateStrategy": { "rollingUpdate": { "partition": 0 } } } }),
    );
    life.then(&[], "InProgress", "");
    life.then(&["InProgress"], "Current", "Replicas: 3");
    life.ends();
}

fn on_delete_is_up_to_the_user() {
    let world = World::new("ondelete");
    let mut db = stateful_set("db", 1);
    db["spec"]["updateStrategy"] = json!({ "type": "OnDelete" });
    let mut life = Life::of(&world, &db);
    apply(&world, &db);
    life.then(&["InProgress"], "Current", "ondelete");
    patch(&world, "statefulset/db", &template("two"));
    wait_until("the controller has seen the change", LIMIT, || {
        let db = world.get("apps/v1", "statefulsets", "db");
        db["status"]["observedGeneration"] == db["metadata"]["generation"]
            && db["status"]["currentRevision"] != db["status"]["updateRevision"]
    });
    world.ns.kubectl(&["delete", "pod", "db-0", "--wait=false"]).success();
    life.then(&["InProgress", "Current"], "InProgress", "0/1");
    life.then(&["InProgress"], "Current", "ondelete");
    life.ends();
}

fn a_broken_old_pod_blocks_the_rollout_until_it_is_deleted() {
    let world = World::new("stuck");
    let mut db = stateful_set("db", 1);
    db["spec"]["template"]["metadata"]["annotations"] = json!({ "kubesettle.test/outcome": "crash-loop" });
    let mut life = Life::of(&world, &db);
    apply(&world, &db);
    life.then(&["InProgress"], "Failed", "CrashLoopBackOff");
    patch(&world, "statefulset/db", &outcome(&Value::Null));
    life.then(&["InProgress"], "Failed", "delete the pod");
    world.ns.kubectl(&["delete", "pod", "db-0", "--wait=false"]).success();
    life.then(&["InProgress", "Failed"], "Current", "");
    life.ends();
}

fn a_daemon_set_without_a_node_has_nothing_to_wait_for() {
    let world = World::new("agents");
    let label = unique("agents");
    let mut agent = slow("agent");
    agent["kind"] = json!("DaemonSet");
    agent["spec"].as_object_mut().unwrap().remove("replicas");
    agent["spec"]["template"]["spec"]["nodeSelector"] = json!({ &label: "yes" });
    let mut life = Life::of(&world, &agent);
    apply(&world, &agent);
    life.then(&["InProgress"], "Current", "Replicas: 0");
    label_a_node(&label);
    life.then(&[], "InProgress", "");
    life.then(&["InProgress"], "Current", "Replicas: 1");
    life.ends();
}

/// A StorageClass of which this test is the provisioner.
#[track_caller]
fn storage_class(mode: &str) -> String {
    let name = unique("class");
    let class = json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": name },
        "provisioner": "example.com/by-hand", "volumeBindingMode": mode,
    });
    shared().apply(&class.to_string());
    name
}

fn claim(name: &str, class: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": name },
        "spec": {
            "storageClassName": class,
            "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": "1Gi" } },
        },
    })
}

/// What a provisioner does: makes a volume for the claim.
#[track_caller]
fn provision(world: &World, name: &str) {
    let claim = world.get("v1", "persistentvolumeclaims", name);
    let volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": { "name": unique("volume") },
        "spec": {
            "storageClassName": claim["spec"]["storageClassName"],
            "accessModes": ["ReadWriteOnce"],
            "capacity": { "storage": "1Gi" },
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": { "path": "/nowhere" },
            "claimRef": {
                "apiVersion": "v1", "kind": "PersistentVolumeClaim",
                "namespace": world.name(), "name": name, "uid": claim["metadata"]["uid"],
            },
        },
    });
    shared().apply(&volume.to_string());
}

fn a_claim_that_binds_late_waits_for_a_pod_and_then_for_its_volume() {
    let world = World::new("claims");
    let now = claim("now", &storage_class("Immediate"));
    let late = claim("late", &storage_class("WaitForFirstConsumer"));
    let mut at_once = Life::of(&world, &now);
    let mut first = Life::of(&world, &late);
    apply(&world, &now);
    apply(&world, &late);
    at_once.then(&[], "InProgress", "phase: Pending");
    first.then(&["InProgress"], "Current", "WaitForFirstConsumer");
    provision(&world, "now");
    at_once.then(&["InProgress"], "Current", "Bound");
    let mut web = slow("web");
    web["spec"]["template"]["spec"]["volumes"] =
        json!([{ "name": "data", "persistentVolumeClaim": { "claimName": "late" } }]);
    apply(&world, &web);
    first.then(&[], "InProgress", "");
    provision(&world, "late");
    first.then(&["InProgress"], "Current", "Bound");
    at_once.ends();
    first.ends();
}

fn a_claim_and_its_pod_do_not_wait_for_each_other() {
    let world = World::new("both");
    let late = claim("late", &storage_class("WaitForFirstConsumer"));
    let mut web = slow("web");
    web["spec"]["template"]["spec"]["volumes"] =
        json!([{ "name": "data", "persistentVolumeClaim": { "claimName": "late" } }]);
    let run = world.settle(&["apply", "-o", "json"]).input(stream(&[late, web])).start();
    wait_until("the claim waits for its volume", LIMIT, || {
        let claim = world.get("v1", "persistentvolumeclaims", "late");
        claim["metadata"]["annotations"]["volume.kubernetes.io/selected-node"].is_string()
    });
    provision(&world, "late");
    Lines::of(run.finish(LIMIT)).all_settled();
}

/// A StatefulSet that mounts a claim which binds late; the claim comes first.
fn late_set() -> [Value; 2] {
    let mut db = stateful_set("db", 1);
    db["spec"]["template"]["spec"]["volumes"] =
        json!([{ "name": "data", "persistentVolumeClaim": { "claimName": "late" } }]);
    let db = annotated(db, "purpose", "late binding");
    [claim("late", &storage_class("WaitForFirstConsumer")), db]
}

/// Provisions when the scheduler asks for it, and waits for the end.
#[track_caller]
fn bound(world: &World, run: Running) -> Lines {
    wait_until("the claim waits for its volume", LIMIT, || {
        let claim = world.get("v1", "persistentvolumeclaims", "late");
        claim["metadata"]["annotations"]["volume.kubernetes.io/selected-node"].is_string()
    });
    provision(world, "late");
    let lines = Lines::of(run.finish(LIMIT));
    assert_eq!(lines.all_settled(), 2);
    assert_eq!(world.get("v1", "persistentvolumeclaims", "late")["status"]["phase"], "Bound");
    lines
}

fn f06_a_late_binding_claim_and_its_stateful_set_come_in_one_set() {
    let world = World::new("late");
    let run = world.settle(&["apply", "--set", "shop", "-o", "json"]).input(stream(&late_set())).start();
    let lines = bound(&world, run);
    let claim = "PersistentVolumeClaim/late";
    lines.in_order(("apply", claim, "Successful"), ("apply", "StatefulSet/db", "Pending"));
    let said: Vec<_> = lines.about("status", claim).map(|line| line["message"].to_string()).collect();
    assert!(said.iter().any(|said| said.contains("WaitForFirstConsumer")), "{said:?}");
}

fn f06_whoever_may_not_read_storage_classes_knows_it_by_the_event() {
    let world = World::new("unread");
    let limited = shared().user("claims").owns(world.name()).build();
    let set = stream(&late_set());
    let run = settle(shared(), &["apply", "--set", "shop", "-o", "json", "-n", world.name()]);
    let run = run.kubeconfig(limited.kubeconfig()).input(set).start();
    bound(&world, run);
}

fn a_load_balancer_waits_for_its_address() {
    let world = World::new("address");
    let door = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": "door" },
        "spec": { "type": "LoadBalancer", "selector": { "app": "web" }, "ports": [{ "port": 80 }] },
    });
    let mut life = Life::of(&world, &door);
    apply(&world, &door);
    life.then(&[], "InProgress", "no address");
    let address =
        json!({ "status": { "loadBalancer": { "ingress": [{ "ip": "203.0.113.9" }] } } }).to_string();
    world
        .ns
        .kubectl(&["patch", "service/door", "--subresource=status", "--type=merge", "-p", &address])
        .success();
    life.then(&["InProgress"], "Current", "");
    life.ends();
}

fn a_definition_is_installed_and_removed() {
    let world = World::new("kinds");
    let group = format!("{}.example.com", unique("life"));
    let object = definition(&group, "Thing", "things");
    let mut life = Life::of(&world, &object);
    shared().apply(&object.to_string());
    life.then(&["InProgress"], "Current", "established");
    shared().kubectl(&["delete", "crd", &format!("things.{group}"), "--wait=false"]).success();
    life.then(&["Terminating"], "NotFound", "");
    life.ends();
}

fn a_namespace_is_held_by_a_finalizer() {
    let world = World::new("holder");
    let name = unique("held");
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
    let mut life = Life::of(&world, &namespace);
    shared().apply(&namespace.to_string());
    life.then(&[], "Current", "");
    let keeper = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "keeper", "namespace": name, "finalizers": ["example.com/keep"] },
    });
    shared().apply(&keeper.to_string());
    shared().kubectl(&["delete", "namespace", &name, "--wait=false"]).success();
    life.then(&[], "Terminating", "example.com/keep");
    let path = named("v1", &name, "configmaps", "keeper");
    let free = json!({ "metadata": { "finalizers": null } });
    shared().api().merge(&path, &free).unwrap().success();
    life.then(&["Terminating"], "NotFound", "");
    assert_eq!(get(shared(), &path), Value::Null);
    life.ends();
}

fn an_autoscaler_without_metrics_does_not_scale() {
    let world = World::new("scaler");
    let mut web = deployment("web");
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = json!({ "requests": { "cpu": "10m" } });
    let scaler = json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": { "name": "web" },
        "spec": {
            "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": "web" },
            "maxReplicas": 3,
            "metrics": [{ "type": "Resource", "resource": {
                "name": "cpu", "target": { "type": "Utilization", "averageUtilization": 50 },
            } }],
        },
    });
    let mut life = Life::of(&world, &scaler);
    apply(&world, &scaler);
    life.then(&[], "InProgress", "AbleToScale=False");
    apply(&world, &web);
    life.then(&["InProgress"], "InProgress", "ScalingActive=False");
    life.ends();
}
