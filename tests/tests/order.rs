//! Who waits for whom, and what becomes of those behind a failure.

use e2e::manifests::{config_map, depending, deployment, deployment_that, stream};
use e2e::{LIMIT, Lines, World};
use harness::shared;
use serde_json::{Value, json};

tests![
    f05_an_object_is_applied_when_those_it_depends_on_have_settled,
    f05_behind_a_refused_object_nothing_is_tried,
    f05_behind_a_failed_object_nothing_is_tried,
    f05_behind_an_object_that_runs_out_of_time_nothing_is_tried,
    f05_time_that_runs_out_is_no_interrupt_for_those_that_wait,
    f05_an_object_outside_of_the_set_must_exist_and_be_settled,
    f05_a_missing_object_outside_of_the_set_skips_its_dependents,
    what_a_pod_refers_to_is_applied_first_without_being_asked,
    a_destroy_goes_the_other_way,
    a_namespace_and_its_content_go_in_one_set,
];

fn on(world: &World, kind: &str, name: &str) -> String {
    let group = if kind == "ConfigMap" { "" } else { "apps" };
    format!("{group}/namespaces/{}/{kind}/{name}", world.name())
}

/// Never accepted: its selector does not match its pods.
fn refused(name: &str) -> Value {
    let mut object = deployment(name);
    object["spec"]["selector"]["matchLabels"] = json!({ "app": "another" });
    object
}

/// The skip of an object names the object where it began.
#[track_caller]
fn assert_skipped_for(lines: &Lines, object: &str, root: &str) {
    let result = lines.result(object).unwrap_or_else(|| panic!("{object}\n{lines:#}"));
    assert_eq!(
        (&result["operation"], &result["code"]),
        (&json!("skipped"), &json!("Dependency")),
        "{lines:#}"
    );
    let chain = result["chain"].as_array().unwrap();
    assert_eq!(chain.last().unwrap()["name"], root, "{result}");
    assert_eq!(lines.conclusion(object), "Skipped");
}

fn f05_an_object_is_applied_when_those_it_depends_on_have_settled() {
    let world = World::new("order");
    let mut slow = deployment_that("first", "slow-ready");
    slow["spec"]["template"]["metadata"]["annotations"]["kubesettle.test/delay"] = json!("2s");
    let set = [
        depending(config_map("third"), &on(&world, "Deployment", "second")),
        depending(deployment("second"), &on(&world, "Deployment", "first")),
        slow,
        config_map("free"),
    ];
    let lines = world.settle(&["apply"]).input(stream(&set)).json();
    assert_eq!(lines.all_settled(), 4);
    lines.in_order(("wait", "Deployment/first", "Successful"), ("apply", "Deployment/second", "Pending"));
    lines.in_order(("wait", "Deployment/second", "Successful"), ("apply", "ConfigMap/third", "Pending"));
    // Nothing else waits with them.
    lines.in_order(("wait", "ConfigMap/free", "Successful"), ("wait", "Deployment/first", "Successful"));
}

fn f05_behind_a_refused_object_nothing_is_tried() {
    let world = World::new("refused");
    let set = [
        depending(config_map("a"), &on(&world, "Deployment", "b")),
        depending(config_map("behind-a"), &on(&world, "ConfigMap", "a")),
        refused("b"),
        deployment("c"),
    ];
    let done = world.settle(&["apply"]).input(stream(&set)).json();
    done.exits_with(1);
    assert_eq!(done.failure("Deployment/b").0, "Invalid");
    assert_skipped_for(&done, "ConfigMap/a", "b");
    assert_skipped_for(&done, "ConfigMap/behind-a", "b");
    assert_eq!(done.conclusion("Deployment/c"), "Settled");
    assert_eq!(world.requests().resource("configmaps").writes().count(), 0);
    // For people: one entry that names those behind it.
    let done = world.settle(&["apply"]).input(stream(&set)).run();
    done.exits_with(1);
    assert!(
        done.stdout.contains("skipped because of it: configmap/a, configmap/behind-a"),
        "{}",
        done.stdout
    );
}

fn f05_behind_a_failed_object_nothing_is_tried() {
    let world = World::new("failed");
    let mut stuck = deployment_that("b", "never-ready");
    stuck["spec"]["progressDeadlineSeconds"] = json!(2);
    let set = [depending(config_map("a"), &on(&world, "Deployment", "b")), stuck, deployment("c")];
    let lines = world.settle(&["apply"]).input(stream(&set)).json();
    lines.exits_with(1);
    assert_eq!(lines.conclusion("Deployment/b"), "Failed");
    assert_skipped_for(&lines, "ConfigMap/a", "b");
    assert_eq!(lines.conclusion("Deployment/c"), "Settled");
}

fn f05_behind_an_object_that_runs_out_of_time_nothing_is_tried() {
    let world = World::new("late");
    let set = [
        depending(config_map("a"), &on(&world, "Deployment", "b")),
        deployment_that("b", "never-ready"),
        deployment("c"),
    ];
    let lines = world.settle(&["apply", "--reconcile-timeout=5s"]).input(stream(&set)).json();
    lines.exits_with(3);
    assert_eq!(lines.conclusion("Deployment/b"), "TimedOut");
    assert_skipped_for(&lines, "ConfigMap/a", "b");
    assert_eq!(lines.conclusion("Deployment/c"), "Settled");
    assert!(world.get("v1", "configmaps", "a").is_null());
}

fn f05_time_that_runs_out_is_no_interrupt_for_those_that_wait() {
    let world = World::new("late");
    let set =
        [depending(config_map("a"), &on(&world, "Deployment", "b")), deployment_that("b", "never-ready")];
    let lines = world.settle(&["apply", "--timeout=4s"]).input(stream(&set)).json();
    lines.exits_with(3);
    assert_eq!(lines.conclusion("Deployment/b"), "TimedOut");
    assert_ne!(lines.conclusion("ConfigMap/a"), "Cancelled", "{lines:#}");
    assert!(world.get("v1", "configmaps", "a").is_null());
}

fn f05_an_object_outside_of_the_set_must_exist_and_be_settled() {
    let world = World::new("outside");
    let mut slow = deployment_that("x", "slow-ready");
    slow["spec"]["template"]["metadata"]["annotations"]["kubesettle.test/delay"] = json!("4s");
    slow["metadata"]["namespace"] = json!(world.name());
    shared().apply(&stream(&[slow]));
    let set = [depending(config_map("a"), &on(&world, "Deployment", "x"))];
    let running = world.settle(&["apply", "-o", "json"]).input(stream(&set)).start();
    let lines = Lines::of(running.finish(LIMIT));
    assert_eq!(lines.all_settled(), 1);
    assert_eq!(lines.outcome("ConfigMap/a"), "created");
    assert_eq!(world.get("apps/v1", "deployments", "x")["status"]["availableReplicas"], 1);
    // Watched and waited for, never touched.
    assert_eq!(world.requests().resource("deployments.apps").writes().count(), 0);
}

fn f05_a_missing_object_outside_of_the_set_skips_its_dependents() {
    let world = World::new("outside");
    let set = [
        depending(config_map("a"), &on(&world, "Deployment", "x")),
        depending(config_map("behind-a"), &on(&world, "ConfigMap", "a")),
        config_map("c"),
    ];
    let lines = world.settle(&["apply"]).input(stream(&set)).json();
    lines.exits_with(1);
    assert_skipped_for(&lines, "ConfigMap/a", "x");
    assert_skipped_for(&lines, "ConfigMap/behind-a", "x");
    assert!(
        lines.result("ConfigMap/a").unwrap()["error"].as_str().unwrap().contains("NotFound"),
        "{lines:#}"
    );
    assert_eq!(lines.conclusion("ConfigMap/c"), "Settled");
}

fn what_a_pod_refers_to_is_applied_first_without_being_asked() {
    let world = World::new("inferred");
    let mut web = deployment("web");
    web["spec"]["template"]["spec"]["containers"][0]["envFrom"] =
        json!([{ "configMapRef": { "name": "settings" } }]);
    web["spec"]["template"]["spec"]["serviceAccountName"] = json!("web");
    let account = json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "web" } });
    let lines = world.settle(&["apply"]).input(stream(&[web, config_map("settings"), account])).json();
    assert_eq!(lines.all_settled(), 3);
    for needed in ["ConfigMap/settings", "ServiceAccount/web"] {
        lines.in_order(("apply", needed, "Successful"), ("apply", "Deployment/web", "Pending"));
    }
}

fn a_destroy_goes_the_other_way() {
    let world = World::new("back");
    let set = stream(&[
        config_map("first"),
        depending(config_map("second"), &on(&world, "ConfigMap", "first")),
        depending(config_map("third"), &on(&world, "ConfigMap", "second")),
    ]);
    world.settle(&["apply"]).input(set.clone()).json().all_settled();
    let gone = world.settle(&["destroy"]).input(set).json();
    gone.all_settled();
    gone.in_order(("wait", "ConfigMap/third", "Successful"), ("delete", "ConfigMap/second", "Pending"));
    gone.in_order(("wait", "ConfigMap/second", "Successful"), ("delete", "ConfigMap/first", "Pending"));
}

fn a_namespace_and_its_content_go_in_one_set() {
    let world = World::new("home");
    let name = e2e::unique("home");
    let set = stream(&[
        e2e::manifests::within(deployment("web"), &name),
        e2e::manifests::within(config_map("a"), &name),
        e2e::manifests::namespace(&name),
    ]);
    let user = |words: &[&str]| e2e::settle(shared(), words).kubeconfig(world.user.kubeconfig());
    let lines = user(&["apply"]).input(set.clone()).json();
    assert_eq!(lines.all_settled(), 3);
    let namespace = format!("Namespace/{name}");
    lines.in_order(("apply", &namespace, "Successful"), ("apply", "ConfigMap/a", "Pending"));
    // The server itself adds a label at the second apply of a Namespace with nothing but a name.
    user(&["apply"]).input(set.clone()).json().all_settled();
    let again = user(&["apply"]).input(set.clone()).json();
    again.all_settled();
    assert_eq!(again.summary("Apply")["unchanged"], 3, "{again:#}");
    let gone = user(&["destroy"]).input(set).json();
    gone.all_settled();
    gone.in_order(("wait", "ConfigMap/a", "Successful"), ("delete", &namespace, "Pending"));
}
