//! Limited users may do what they were given, and nothing else.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::process::Command;
use std::time::Duration;

use harness::{Finished, User, run, shared};

fn kubectl(user: &User<'_>, args: &[&str]) -> Finished {
    let mut command = Command::new(shared().kubectl_path());
    command.env("KUBECONFIG", user.kubeconfig()).args(args);
    run(command, Duration::from_secs(60))
}

#[track_caller]
fn assert_forbidden(done: &Finished) {
    done.exits_with(1);
    assert!(done.stderr.contains("forbidden"), "{}", done.stderr);
}

#[test]
fn a_right_in_one_namespace_ends_at_its_border() {
    let plane = shared();
    let (own, other) = (plane.namespace("own"), plane.namespace("other"));
    let user = plane.user("reader").can(&["get", "list"], &["pods", "deployments.apps"], own.name()).build();
    kubectl(&user, &["get", "pods,deployments"]).success();
    assert_forbidden(&kubectl(&user, &["get", "pods", "-n", other.name()]));
    assert_forbidden(&kubectl(&user, &["get", "pods", "-A"]));
    assert_forbidden(&kubectl(&user, &["get", "secrets"]));
    assert_forbidden(&kubectl(&user, &["create", "deployment", "x", "--image=x"]));
}

#[test]
fn a_right_on_one_name_ends_at_that_name() {
    let plane = shared();
    let ns = plane.namespace("named");
    ns.kubectl(&["create", "configmap", "mine"]).success();
    ns.kubectl(&["create", "configmap", "yours"]).success();
    let user = plane.user("one").can_named(&["get"], &["configmaps"], ns.name(), &["mine"]).build();
    kubectl(&user, &["get", "configmap", "mine"]).success();
    assert_forbidden(&kubectl(&user, &["get", "configmap", "yours"]));
}

#[test]
fn a_cluster_right_reaches_every_namespace() {
    let plane = shared();
    let user = plane.user("lister").can_cluster(&["list"], &["pods", "nodes"]).build();
    kubectl(&user, &["get", "pods", "-A"]).success();
    kubectl(&user, &["get", "nodes"]).success();
    assert_forbidden(&kubectl(&user, &["delete", "node", "node-0"]));
}

#[test]
fn two_users_are_different_people() {
    let plane = shared();
    let (one, two) = (plane.user("a").build(), plane.user("a").build());
    assert_ne!(one.name(), two.name());
    let who = kubectl(&one, &["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"]).success();
    assert_eq!(who, one.name());
}
