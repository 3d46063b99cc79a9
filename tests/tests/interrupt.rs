//! Ctrl-C: nothing new starts, the rest is told; a second one means now.

use std::time::Duration;

use e2e::manifests::{config_map, depending, deployment_that, stream};
use e2e::{LIMIT, Lines, SOON, World, get, named, settle};
use harness::{ControlPlane, Part, shared, wait_until};

tests![
    an_interrupt_in_mid_wait_starts_nothing_new_and_tells_the_end,
    an_interrupt_is_told_in_plain_lines,
    a_request_to_end_is_an_interrupt_too,
    an_interrupted_destroy_deletes_nothing_more,
    a_second_interrupt_leaves_at_once,
    an_interrupt_before_the_first_answer_writes_nothing,
    a_reader_that_goes_away_ends_the_run,
    a_reader_that_goes_away_leaves_the_record_of_the_set_whole,
];

/// A Deployment that never settles, and two objects behind it.
fn set(world: &World) -> String {
    let on = |name: &str| format!("apps/namespaces/{}/Deployment/{name}", world.name());
    stream(&[
        deployment_that("stuck", "never-ready"),
        depending(config_map("behind"), &on("stuck")),
        depending(config_map("also"), &on("stuck")),
        config_map("free"),
    ])
}

fn an_interrupt_in_mid_wait_starts_nothing_new_and_tells_the_end() {
    let world = World::new("stop");
    let running = world.settle(&["apply", "-o", "json"]).input(set(&world)).start();
    running.wait_for_output("\"have\":0,\"want\":1", SOON);
    running.wait_for_output("\"conclusion\":\"Settled\"", SOON);
    let mark = world.requests().end();
    running.interrupt();
    let lines = Lines::of(running.finish(LIMIT));
    lines.exits_with(130);
    let after = world.requests().since(mark).writes();
    assert_eq!(after.count(), 0, "{after}");
    assert_eq!(lines.conclusion("ConfigMap/free"), "Settled");
    assert_eq!(lines.conclusion("Deployment/stuck"), "Cancelled");
    for name in ["behind", "also"] {
        let object = format!("ConfigMap/{name}");
        assert_eq!((lines.outcome(&object), lines.conclusion(&object)), ("cancelled", "Cancelled"));
        assert!(world.get("v1", "configmaps", name).is_null());
    }
    assert_eq!(lines.summary("Total")["cancelled"], 3);
    assert_eq!(lines.all("end").next().unwrap()["outcome"], "Interrupted");
}

fn an_interrupt_is_told_in_plain_lines() {
    let world = World::new("stop");
    let running = world.settle(&["apply"]).input(set(&world)).start();
    running.wait_for_output("deployment.apps/stuck", SOON);
    running.interrupt();
    let done = running.finish(LIMIT);
    done.exits_with(130);
    assert!(done.stdout.contains("3 interrupted"), "{}", done.stdout);
    assert!(done.stdout.contains("configmap/behind"), "{}", done.stdout);
    assert!(!done.stderr.is_empty());
}

fn a_request_to_end_is_an_interrupt_too() {
    let world = World::new("term");
    let running = world.settle(&["apply", "-o", "json"]).input(set(&world)).start();
    running.wait_for_output("\"have\":0,\"want\":1", SOON);
    running.terminate();
    Lines::of(running.finish(LIMIT)).exits_with(130);
}

fn an_interrupted_destroy_deletes_nothing_more() {
    let world = World::new("stop");
    let set = format!(
        "{}{}",
        stream(&[depending(config_map("first"), &format!("/namespaces/{}/ConfigMap/then", world.name()))]),
        stream(&[config_map("then")])
    );
    world.settle(&["apply"]).input(set.clone()).json().all_settled();
    let held = r#"{"metadata":{"finalizers":["example.com/hold"]}}"#;
    world.ns.kubectl(&["patch", "configmap", "first", "--type=merge", "-p", held]).success();
    let running = world.settle(&["destroy", "-o", "json"]).input(set).start();
    running.wait_for_output("Terminating", SOON);
    running.interrupt();
    let lines = Lines::of(running.finish(LIMIT));
    lines.exits_with(130);
    assert_eq!(lines.outcome("ConfigMap/then"), "cancelled");
    assert!(!world.get("v1", "configmaps", "then").is_null());
    let free = r#"{"metadata":{"finalizers":null}}"#;
    world.ns.kubectl(&["patch", "configmap", "first", "--type=merge", "-p", free]).success();
}

/// Writes are under way and the API server does not answer: one interrupt lets them finish.
fn a_second_interrupt_leaves_at_once() {
    let plane = ControlPlane::builder().without_controllers().start().unwrap();
    let set: Vec<_> = (0..400).map(|number| config_map(&format!("object-{number}"))).collect();
    let running = settle(&plane, &["apply", "-o", "json"]).input(stream(&set)).start();
    running.wait_for_output("\"created\"", SOON);
    plane.pause(Part::ApiServer);
    running.interrupt();
    running.wait_for_output("interrupt", SOON);
    let said = running.stderr();
    running.interrupt();
    let done = running.finish(Duration::from_secs(30));
    plane.resume(Part::ApiServer);
    done.exits_with(130);
    // It was the second one that ended it: it had no time for totals.
    assert!(done.stderr.len() > said.len(), "{}", done.stderr);
    assert!(!done.stdout.contains("\"summary\""), "{}", done.stdout);
}

fn an_interrupt_before_the_first_answer_writes_nothing() {
    let plane = ControlPlane::builder().without_controllers().start().unwrap();
    let proxy = plane.proxy();
    let config = plane.admin_kubeconfig_via(&proxy);
    plane.pause(Part::ApiServer);
    let running = settle(&plane, &["apply"]).kubeconfig(config).input(stream(&[config_map("a")])).start();
    wait_until("a connection", LIMIT, || proxy.traffic().sent > 0);
    running.interrupt();
    let done = running.finish(Duration::from_secs(30));
    plane.resume(Part::ApiServer);
    done.exits_with(130);
    assert!(done.stderr.contains("nothing was written"), "{}", done.stderr);
    assert!(get(&plane, &named("v1", "default", "configmaps", "a")).is_null());
}

fn a_reader_that_goes_away_ends_the_run() {
    let world = World::new("pipe");
    let set = set(&world);
    let folder = e2e::Folder::new(shared());
    let file = folder.write("set.yaml", &set);
    let script = format!(
        "{{ {} apply -o json -n {} -f {}; echo $? > {}/code; }} | head -n 1",
        e2e::binary().display(),
        world.name(),
        file.display(),
        folder.arg()
    );
    let mut command = shared().command("sh");
    command.args(["-c", &script]).env("KUBECONFIG", world.user.kubeconfig());
    let done = harness::run(command, LIMIT);
    assert!(!done.timed_out, "{}{}", done.stdout, done.stderr);
    assert_eq!(done.stdout.lines().count(), 1, "{}", done.stdout);
    assert!(!done.stderr.contains("panicked"), "{}", done.stderr);
    assert_eq!(folder.read("code"), "130\n");
}

fn a_reader_that_goes_away_leaves_the_record_of_the_set_whole() {
    let world = World::new("pipe");
    let folder = e2e::Folder::new(shared());
    let objects: Vec<_> = (0..40).map(|n| config_map(&format!("m{n}"))).collect();
    let file = folder.write("set.yaml", &stream(&objects));
    let script = format!(
        "{} apply --set shop -n {} -f {} | head -n 1",
        e2e::binary().display(),
        world.name(),
        file.display()
    );
    let mut command = shared().command("sh");
    command.args(["-c", &script]).env("KUBECONFIG", world.user.kubeconfig());
    let done = harness::run(command, LIMIT);
    assert!(!done.timed_out && !done.stderr.contains("panicked"), "{}{}", done.stdout, done.stderr);
    // What was written is on record, so nothing of it is a stranger's, and all of it can go.
    let lines = world.settle(&["apply", "--set", "shop", "-f", &file.display().to_string()]).json();
    assert_eq!(lines.all_settled(), 40);
    let record = world.settle(&["inventory", "show", "--set", "shop"]).run().success();
    assert_eq!(record.lines().count(), 40, "{record}");
    world.settle(&["destroy", "--set", "shop"]).run().exits_with(0);
    assert!(objects.iter().all(|one| {
        let name = one["metadata"]["name"].as_str().unwrap_or_default();
        world.get("v1", "configmaps", name).is_null()
    }));
}
