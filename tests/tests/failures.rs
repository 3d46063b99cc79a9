//! Workloads that do not come up: the cause is named, the good ones are settled.

use e2e::manifests::{annotated, config_map, deployment, deployment_that, job, stream};
use e2e::{LIMIT, Lines, SOON, World};
use serde_json::{Value, json};

tests![
    each_failure_has_its_own_cause_and_the_good_one_settles,
    nothing_but_time_ran_out,
    a_hold_that_ends_fails_the_object_at_once,
    the_report_leads_to_the_container,
    other_troubles_of_containers_are_named,
    a_job_that_fails_is_a_failure,
    a_rollout_past_its_deadline_is_a_failure,
    a_corrected_manifest_settles,
    a_look_explains_what_is_wrong,
    a_limit_for_each_object_leaves_the_others_alone,
    what_breaks_after_it_settled_is_told,
];

fn unschedulable(name: &str) -> Value {
    let mut object = deployment(name);
    object["spec"]["template"]["spec"]["nodeSelector"] = json!({ "disk": "of-gold" });
    object
}

/// The last word on an object names all of `parts`.
#[track_caller]
fn assert_says(lines: &Lines, object: &str, parts: &[&str]) {
    for part in parts {
        assert!(lines.message(object).contains(part), "{part:?} about {object}\n{lines:#}");
    }
}

fn each_failure_has_its_own_cause_and_the_good_one_settles() {
    let world = World::new("d1");
    let set = stream(&[
        deployment_that("image", "image-pull-backoff"),
        deployment_that("crash", "crash-loop"),
        unschedulable("nowhere"),
        deployment("good"),
    ]);
    let lines = world.settle(&["apply", "--timeout=30s"]).input(set).json();
    lines.exits_with(1);
    assert_eq!(lines.conclusion("Deployment/good"), "Settled");
    assert_says(&lines, "Deployment/image", &["ImagePullBackOff", "container app", "image:1", "not found"]);
    // Between two crashes its container runs; then its last end is the cause.
    assert_says(&lines, "Deployment/crash", &["container app", "last exit code 1", "restarts"]);
    let codes: Vec<_> =
        lines.about("status", "Deployment/crash").map(|line| &line["causes"][0]["code"]).collect();
    assert!(codes.contains(&&json!("CrashLoopBackOff")), "{lines:#}");
    assert_says(&lines, "Deployment/nowhere", &["Unschedulable", "0/3 nodes are available", "selector"]);
    assert_eq!(lines.conclusion("Deployment/crash"), "Failed", "{lines:#}");
    for name in ["image", "nowhere"] {
        assert_eq!(lines.conclusion(&format!("Deployment/{name}")), "TimedOut", "{lines:#}");
    }
    let cause = &lines.last_status("Deployment/image")["causes"][0];
    let kinds: Vec<_> = cause["chain"].as_array().unwrap().iter().map(|link| &link["kind"]).collect();
    assert_eq!(kinds, ["Deployment", "ReplicaSet", "Pod"]);
    assert_eq!((&cause["code"], &cause["container"]), (&json!("ImagePullBackOff"), &json!("app")));
}

fn nothing_but_time_ran_out() {
    let world = World::new("late");
    let set = stream(&[
        deployment_that("image", "image-pull-backoff"),
        deployment_that("slow", "never-ready"),
        deployment("good"),
    ]);
    let lines = world.settle(&["apply", "--timeout=15s"]).input(set).json();
    lines.exits_with(3);
    assert_eq!(lines.conclusion("Deployment/good"), "Settled");
    assert_eq!(lines.conclusion("Deployment/image"), "TimedOut");
    assert_says(&lines, "Deployment/image", &["ImagePullBackOff", "container app"]);
    assert_eq!(lines.conclusion("Deployment/slow"), "TimedOut");
    assert_eq!(lines.status("Deployment/slow"), "InProgress");
    assert!(!lines.message("Deployment/slow").is_empty());
    assert_eq!(lines.summary("Total")["timeout"], 2);
}

fn a_hold_that_ends_fails_the_object_at_once() {
    let world = World::new("hold");
    let image = deployment_that("image", "image-pull-backoff");
    let image = annotated(image, "kubesettle.io/hold", "ImagePullBackOff=0");
    // No limit: the run ends because nothing is left to wait for.
    let lines = world.settle(&["apply"]).input(stream(&[image, deployment("good")])).json();
    lines.exits_with(1);
    assert_eq!(lines.status("Deployment/image"), "Failed");
    assert_eq!(lines.conclusion("Deployment/image"), "Failed");
    assert_eq!(lines.last_status("Deployment/image")["causes"][0]["fatal"], true);
    assert_eq!(lines.conclusion("Deployment/good"), "Settled");
}

fn the_report_leads_to_the_container() {
    let world = World::new("report");
    let image = deployment_that("image", "image-pull-backoff");
    let image = annotated(image, "kubesettle.io/hold", "ImagePullBackOff=0");
    let done = world.settle(&["apply"]).input(stream(&[config_map("fine"), image])).run();
    done.exits_with(1);
    let report = done.stdout.split("\n\n").last().unwrap();
    let mut lines = report.lines();
    let title = lines.next().unwrap();
    let about = format!("deployment.apps/image in {}: failed, ImagePullBackOff since ", world.name());
    assert!(title.starts_with(&about), "{report}");
    let chain = lines.next().unwrap();
    assert!(chain.starts_with("  replicaset.apps/image-") && chain.ends_with(" > container app"), "{report}");
    assert!(report.contains("not found") && report.contains("from stdin:4"), "{report}");
    // The pod it names is there to be asked.
    let next = report.lines().find_map(|line| line.strip_prefix("  next: kubectl ")).unwrap();
    let words: Vec<_> = next.split(' ').filter(|word| !word.starts_with("--kubeconfig")).collect();
    let described = harness::shared().kubectl(&words).success();
    assert!(described.contains("ImagePullBackOff"), "{described}");
}

fn other_troubles_of_containers_are_named() {
    let world = World::new("others");
    let mut first = deployment_that("first", "init-crash");
    first["spec"]["template"]["spec"]["initContainers"] =
        json!([{ "name": "prepare", "image": "registry.example/prepare:1" }]);
    let config = annotated(
        deployment_that("config", "config-error"),
        "kubesettle.io/hold",
        "CreateContainerConfigError=0",
    );
    let lines = world.settle(&["apply"]).input(stream(&[first, config])).json();
    lines.exits_with(1);
    assert_says(&lines, "Deployment/first", &["CrashLoopBackOff", "prepare"]);
    assert_says(
        &lines,
        "Deployment/config",
        &["CreateContainerConfigError", "configmap \"settings\" not found"],
    );
    for name in ["first", "config"] {
        assert_eq!(lines.conclusion(&format!("Deployment/{name}")), "Failed", "{lines:#}");
    }
}

fn a_job_that_fails_is_a_failure() {
    let world = World::new("job");
    let mut bad = job("bad");
    bad["spec"]["template"]["metadata"]["annotations"] = json!({ "kubesettle.test/outcome": "exit-1" });
    let lines = world.settle(&["apply"]).input(stream(&[bad, job("good")])).json();
    lines.exits_with(1);
    assert_eq!(lines.conclusion("Job/good"), "Settled");
    assert_eq!(lines.conclusion("Job/bad"), "Failed");
    assert_says(&lines, "Job/bad", &["backoff limit"]);
}

fn a_rollout_past_its_deadline_is_a_failure() {
    let world = World::new("deadline");
    let mut stuck = deployment_that("stuck", "never-ready");
    stuck["spec"]["progressDeadlineSeconds"] = json!(3);
    let lines = world.settle(&["apply"]).input(stream(&[stuck])).json();
    lines.exits_with(1);
    assert_eq!(lines.conclusion("Deployment/stuck"), "Failed");
    assert_says(&lines, "Deployment/stuck", &["ProgressDeadlineExceeded"]);
}

fn a_corrected_manifest_settles() {
    let world = World::new("mended");
    let bad =
        annotated(deployment_that("web", "image-pull-backoff"), "kubesettle.io/hold", "ImagePullBackOff=0");
    world.settle(&["apply"]).input(stream([&bad])).json().exits_with(1);
    let mut good = bad;
    good["spec"]["template"]["metadata"]["annotations"] = json!({});
    let lines = world.settle(&["apply"]).input(stream(&[good])).json();
    lines.all_settled();
    assert_eq!(lines.outcome("Deployment/web"), "configured");
    // The failure of the state before is not told again.
    assert!(lines.about("status", "Deployment/web").all(|line| line["status"] != "Failed"), "{lines:#}");
}

fn a_look_explains_what_is_wrong() {
    let world = World::new("look");
    let image =
        annotated(deployment_that("image", "image-pull-backoff"), "kubesettle.io/hold", "ImagePullBackOff=0");
    let set = stream(&[image, deployment("good"), job("absent")]);
    world.ns.kubectl(&["create", "deployment", "good", "--image=good:1"]).success();
    world.settle(&["apply"]).args(["--force-conflicts"]).input(set.clone()).json().exits_with(1);
    world.ns.kubectl(&["delete", "job", "absent"]).success();

    let mark = world.requests().end();
    let look = world.settle(&["status"]).input(set).json();
    look.exits_with(1);
    assert_eq!(look.status("Deployment/image"), "Failed");
    assert_says(&look, "Deployment/image", &["ImagePullBackOff", "container app"]);
    assert_eq!(look.status("Deployment/good"), "Current");
    assert_eq!(look.status("Job/absent"), "NotFound");
    assert_eq!(world.requests().since(mark).writes().count(), 0);
}

fn a_limit_for_each_object_leaves_the_others_alone() {
    let world = World::new("each");
    let mut slow = deployment_that("slow", "slow-ready");
    slow["spec"]["template"]["metadata"]["annotations"]["kubesettle.test/delay"] = json!("3s");
    let stuck = deployment_that("stuck", "never-ready");
    let lines = world.settle(&["apply", "--reconcile-timeout=20s"]).input(stream(&[slow, stuck])).json();
    lines.exits_with(3);
    assert_eq!(lines.conclusion("Deployment/slow"), "Settled");
    assert_eq!(lines.conclusion("Deployment/stuck"), "TimedOut");
}

fn what_breaks_after_it_settled_is_told() {
    let world = World::new("relapse");
    let mut fragile = deployment("fragile");
    fragile["spec"]["strategy"] = json!({ "type": "Recreate" });
    // The cluster's times are whole seconds: what comes later must be seen to be later.
    fragile["spec"]["template"]["metadata"]["annotations"] = json!({ "kubesettle.test/delete-delay": "3s" });
    let mut slow = deployment_that("slow", "slow-ready");
    slow["spec"]["template"]["metadata"]["annotations"]["kubesettle.test/delay"] = json!("25s");
    let running =
        world.settle(&["apply", "-o", "json", "--timeout=60s"]).input(stream(&[fragile, slow])).start();
    running.wait_for_output("\"conclusion\":\"Settled\"", SOON);
    let broken =
        r#"{"spec":{"template":{"metadata":{"annotations":{"kubesettle.test/outcome":"crash-loop"}}}}}"#;
    world.ns.kubectl(&["patch", "deployment", "fragile", "--type=merge", "-p", broken]).success();
    let lines = Lines::of(running.finish(LIMIT));
    lines.exits_with(1);
    assert_eq!(lines.conclusion("Deployment/slow"), "Settled", "{lines:#}");
    assert_eq!(lines.conclusion("Deployment/fragile"), "Failed", "{lines:#}");
}
