//! Others act while we wait: they delete, hold, finish, change.

use e2e::manifests::{annotated, config_map, deployment, deployment_that, job, namespace, stream, within};
use e2e::{LIMIT, Lines, SOON, World, get, settle, unique};
use harness::{shared, wait_until};
use serde_json::{Value, json};

tests![
    f26_a_namespace_deleted_in_mid_wait_ends_the_wait,
    f26_an_object_deleted_in_mid_wait_is_a_failure,
    f26_a_terminating_namespace_of_the_set_is_waited_for_and_made_anew,
    f26_a_terminating_namespace_outside_of_the_set_is_a_failure,
    f28_a_stuck_finalizer_is_named_when_time_runs_out,
    f28_an_object_that_is_being_deleted_is_not_reported_as_applied,
    f28_the_end_of_a_finalizer_ends_the_wait,
    f30_a_job_that_is_gone_at_once_has_finished,
    f40_what_is_already_going_is_waited_for,
    somebody_elses_change_is_waited_for_too,
    pods_that_take_their_time_to_go_are_not_waited_for_unless_asked,
];

const HOLD: &str = "example.com/hold";

/// Takes the finalizers off when the test is over.
struct Held<'w>(&'w World, &'static str);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let free = r#"{"metadata":{"finalizers":null}}"#;
        self.0.ns.kubectl(&["patch", "configmap", self.1, "--type=merge", "-p", free]);
    }
}

fn held(name: &str) -> Value {
    let mut object = config_map(name);
    object["metadata"]["finalizers"] = json!([HOLD]);
    object
}

fn f26_a_namespace_deleted_in_mid_wait_ends_the_wait() {
    let world = World::new("deleted");
    let set = stream(&[deployment_that("stuck", "never-ready"), config_map("a")]);
    let running = world.settle(&["apply", "-o", "json"]).input(set).start();
    running.wait_for_output("\"have\":0,\"want\":1", SOON);
    world.ns.kubectl(&["delete", "namespace", world.name(), "--wait=false"]).success();
    // No limit: the run ends by itself, as soon as the last object it waits for is gone.
    let lines = Lines::of(running.finish(LIMIT));
    lines.exits_with(1);
    let stuck = "Deployment/stuck";
    assert_eq!((lines.status(stuck), lines.conclusion(stuck)), ("NotFound", "Failed"), "{lines:#}");
}

fn f26_an_object_deleted_in_mid_wait_is_a_failure() {
    let world = World::new("deleted");
    let set = stream(&[deployment_that("stuck", "never-ready"), config_map("a")]);
    let running = world.settle(&["apply", "-o", "json"]).input(set).start();
    running.wait_for_output("\"have\":0,\"want\":1", SOON);
    world.ns.kubectl(&["delete", "deployment", "stuck"]).success();
    let lines = Lines::of(running.finish(LIMIT));
    lines.exits_with(1);
    assert_eq!(
        (lines.status("Deployment/stuck"), lines.conclusion("Deployment/stuck")),
        ("NotFound", "Failed")
    );
    assert_eq!(lines.conclusion("ConfigMap/a"), "Settled");
}

/// A namespace that is being deleted and still holds something.
fn terminating(world: &World) -> String {
    let name = unique("going");
    let mut holding = held("holding");
    holding["metadata"]["namespace"] = json!(name);
    shared().apply(&stream(&[namespace(&name), holding]));
    let gone = shared().kubectl(&["delete", "namespace", &name, "--wait=false"]);
    gone.success();
    assert_eq!(world.requests().count(), 0);
    name
}

fn free(name: &str) {
    let free = r#"{"metadata":{"finalizers":null}}"#;
    shared().kubectl(&["-n", name, "patch", "configmap", "holding", "--type=merge", "-p", free]).success();
}

fn f26_a_terminating_namespace_of_the_set_is_waited_for_and_made_anew() {
    let world = World::new("anew");
    let name = terminating(&world);
    let uid = |name: &str| get(shared(), &format!("/api/v1/namespaces/{name}"))["metadata"]["uid"].clone();
    let before = uid(&name);
    let set = stream(&[namespace(&name), within(config_map("a"), &name)]);
    let running =
        settle(shared(), &["apply", "-o", "json"]).kubeconfig(world.user.kubeconfig()).input(set).start();
    running.wait_for_output("\"retry\"", SOON);
    free(&name);
    let lines = Lines::of(running.finish(LIMIT));
    assert_eq!(lines.all_settled(), 2);
    assert_eq!(lines.outcome("ConfigMap/a"), "created");
    assert_ne!(uid(&name), before);
    let _ = shared().api().delete(&format!("/api/v1/namespaces/{name}"));
}

fn f26_a_terminating_namespace_outside_of_the_set_is_a_failure() {
    let world = World::new("going");
    let name = terminating(&world);
    let set = stream(&[within(config_map("a"), &name), within(config_map("b"), world.name())]);
    let lines = settle(shared(), &["apply"]).kubeconfig(world.user.kubeconfig()).input(set).json();
    lines.exits_with(1);
    let (code, error) = lines.failure("ConfigMap/a");
    assert_eq!(code, "Terminating");
    assert!(error.contains("being terminated"), "{error}");
    assert_eq!(lines.conclusion("ConfigMap/b"), "Settled");
    free(&name);
}

fn f28_a_stuck_finalizer_is_named_when_time_runs_out() {
    let world = World::new("stuck");
    let set = stream(&[held("held"), config_map("free")]);
    world.settle(&["apply"]).input(set.clone()).json().all_settled();
    let _free = Held(&world, "held");
    let gone = world.settle(&["destroy", "--timeout=5s"]).input(set.clone()).json();
    gone.exits_with(3);
    assert_eq!(
        (gone.status("ConfigMap/held"), gone.conclusion("ConfigMap/held")),
        ("Terminating", "TimedOut")
    );
    assert!(gone.message("ConfigMap/held").contains(HOLD), "{gone:#}");
    assert_eq!(gone.conclusion("ConfigMap/free"), "Settled");
    // Never taken off by us.
    assert_eq!(world.get("v1", "configmaps", "held")["metadata"]["finalizers"], json!([HOLD]));
    let done = world.settle(&["destroy", "--delete-timeout=3s"]).input(set).run();
    done.exits_with(3);
    assert!(done.stdout.contains(HOLD), "{}", done.stdout);
}

fn f28_an_object_that_is_being_deleted_is_not_reported_as_applied() {
    let world = World::new("dying");
    shared().apply(&stream(&[within(held("held"), world.name())]));
    let _free = Held(&world, "held");
    world.ns.kubectl(&["delete", "configmap", "held", "--wait=false"]).success();
    let mut changed = config_map("held");
    changed["data"]["key"] = json!("other");
    let lines = world.settle(&["apply"]).args(["--force-conflicts"]).input(stream(&[changed])).json();
    lines.exits_with(1);
    let (code, error) = lines.failure("ConfigMap/held");
    assert_eq!(code, "Terminating");
    assert!(error.contains("being deleted"), "{error}");
}

fn f28_the_end_of_a_finalizer_ends_the_wait() {
    let world = World::new("freed");
    let set = stream(&[held("held")]);
    world.settle(&["apply"]).input(set.clone()).json().all_settled();
    let running = world.settle(&["destroy", "-o", "json"]).input(set).start();
    running.wait_for_output(HOLD, SOON);
    drop(Held(&world, "held"));
    Lines::of(running.finish(LIMIT)).all_settled();
}

fn f30_a_job_that_is_gone_at_once_has_finished() {
    let world = World::new("ttl");
    let gone_at_once = |name: &str| {
        let mut object = job(name);
        object["spec"]["ttlSecondsAfterFinished"] = json!(0);
        object
    };
    let mut bad = gone_at_once("bad");
    bad["spec"]["template"]["metadata"]["annotations"] = json!({ "kubesettle.test/outcome": "exit-1" });
    let lines = world.settle(&["apply"]).input(stream(&[gone_at_once("good"), bad])).json();
    lines.exits_with(1);
    assert_eq!(lines.conclusion("Job/good"), "Settled", "{lines:#}");
    assert_eq!(lines.conclusion("Job/bad"), "Failed", "{lines:#}");
    wait_until("the Jobs to be removed", LIMIT, || {
        ["good", "bad"].iter().all(|name| world.get("batch/v1", "jobs", name).is_null())
    });
}

fn f40_what_is_already_going_is_waited_for() {
    let world = World::new("going");
    let set = stream(&[held("held")]);
    world.settle(&["apply"]).input(set.clone()).json().all_settled();
    world.ns.kubectl(&["delete", "configmap", "held", "--wait=false"]).success();
    let mark = world.requests().end();
    let running = world.settle(&["destroy", "-o", "json"]).input(set.clone()).start();
    running.wait_for_output(HOLD, SOON);
    drop(Held(&world, "held"));
    Lines::of(running.finish(LIMIT)).all_settled();
    let again = world.requests().since(mark).writes();
    assert_eq!(again.count(), 0, "{again}");
    let nothing = world.settle(&["destroy"]).input(set).json();
    nothing.all_settled();
    assert_eq!(nothing.outcome("ConfigMap/held"), "alreadyGone");
}

fn somebody_elses_change_is_waited_for_too() {
    let world = World::new("other");
    let mut slow = deployment_that("web", "slow-ready");
    slow["spec"]["template"]["metadata"]["annotations"]["kubesettle.test/delay"] = json!("3s");
    let running = world.settle(&["apply", "-o", "json"]).input(stream(&[slow])).start();
    running.wait_for_output("\"have\":0,\"want\":1", SOON);
    world.ns.kubectl(&["scale", "deployment", "web", "--replicas=2"]).success();
    Lines::of(running.finish(LIMIT)).all_settled();
    assert_eq!(world.get("apps/v1", "deployments", "web")["status"]["availableReplicas"], 2);
}

fn pods_that_take_their_time_to_go_are_not_waited_for_unless_asked() {
    let world = World::new("cascade");
    let mut web = deployment("web");
    web["spec"]["template"]["metadata"]["annotations"] = json!({ "kubesettle.test/delete-delay": "4s" });
    let web = annotated(web, "purpose", "test");
    let set = stream(&[web]);
    let pods = || world.ns.kubectl(&["get", "pods", "-o", "name"]).success().lines().count();
    world.settle(&["apply"]).input(set.clone()).json().all_settled();
    world.settle(&["destroy"]).input(set.clone()).json().all_settled();
    world.settle(&["apply"]).input(set.clone()).json().all_settled();
    assert_eq!(pods(), 2, "the old pod is still going");
    world.settle(&["destroy", "--cascade=foreground"]).input(set.clone()).json().all_settled();
    wait_until("the last pods to go", LIMIT, || pods() == 0);

    world.settle(&["apply"]).input(set.clone()).json().all_settled();
    world.settle(&["destroy", "--cascade=orphan"]).input(set).json().all_settled();
    assert_eq!(pods(), 1);
    assert_eq!(world.ns.kubectl(&["get", "replicasets", "-o", "name"]).success().lines().count(), 1);
}
