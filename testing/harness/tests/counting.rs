//! Requests, bytes and connections are counted exactly.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::process::Command;
use std::time::Duration;

use harness::{Part, run, shared, spawn, wait_until};

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn requests_are_counted_by_user_verb_and_resource() {
    let plane = shared();
    let ns = plane.namespace("counts");
    let user = plane.user("counter").owns(ns.name()).build();
    let mark = plane.mark();
    for name in ["a", "b", "c"] {
        let mut command = Command::new(plane.kubectl_path());
        command.env("KUBECONFIG", user.kubeconfig()).args(["create", "configmap", name]);
        run(command, LIMIT).success();
    }
    let requests = plane.requests().since(mark).user(user.name());
    assert_eq!(requests.clone().verb("create").resource("configmaps").count(), 3, "{requests}");
    assert_eq!(requests.clone().writes().count(), 3, "{requests}");
    assert_eq!(requests.clone().namespace(ns.name()).code(201).count(), 3, "{requests}");
    assert!(requests.iter().all(|request| request.user_agent.starts_with("kubectl")));
}

#[test]
fn requests_before_the_mark_and_of_the_harness_are_left_out() {
    let plane = shared();
    let ns = plane.namespace("marks");
    let user = plane.user("marked").can(&["get", "list"], &["configmaps"], ns.name()).build();
    let list = || {
        let mut command = Command::new(plane.kubectl_path());
        command.env("KUBECONFIG", user.kubeconfig()).args(["get", "configmaps"]);
        run(command, LIMIT).success();
    };
    list();
    let mark = plane.mark();
    plane.api().get(&format!("/api/v1/namespaces/{}/configmaps", ns.name())).unwrap().success();
    let count =
        || plane.requests().since(mark).namespace(ns.name()).verb("list").resource("configmaps").count();
    assert_eq!(count(), 0);
    list();
    assert_eq!(count(), 1);
}

#[test]
fn an_open_watch_is_counted_once_from_its_start() {
    let plane = shared();
    let ns = plane.namespace("watches");
    let user = plane.user("watcher").owns(ns.name()).build();
    let mark = plane.mark();
    let mut command = Command::new(plane.kubectl_path());
    command.env("KUBECONFIG", user.kubeconfig()).args(["get", "configmaps", "--watch-only"]);
    let watch = spawn(command, b"");
    let watches = || plane.requests().since(mark).user(user.name()).verb("watch");
    wait_until("the watch", LIMIT, || watches().count() == 1);
    assert!(!watches().iter().next().unwrap().complete);
    watch.kill();
    wait_until("the end of the watch", LIMIT, || watches().iter().all(|request| request.complete));
    assert_eq!(watches().count(), 1);
}

#[test]
fn traffic_of_one_client_is_counted() {
    let plane = shared();
    let proxy = plane.proxy();
    let mut command = plane.command(plane.kubectl_path());
    command.args(["get", "nodes", "--kubeconfig"]).arg(plane.admin_kubeconfig_via(&proxy));
    run(command, LIMIT).success();
    let traffic = proxy.traffic();
    assert!(traffic.connections >= 1 && traffic.received > traffic.sent && traffic.sent > 500, "{traffic:?}");
    wait_until("the connection to close", LIMIT, || proxy.traffic().open == 0);
}

#[test]
fn the_parts_have_cpu_time_and_memory() {
    for part in Part::ALL {
        let usage = shared().usage(part);
        assert!(usage.resident > 10 << 20 && usage.cpu > Duration::ZERO, "{part:?}: {usage:?}");
    }
}
