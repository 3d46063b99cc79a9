//! The control plane works as a test needs it.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::time::Duration;

use harness::{shared, wait_until};

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn a_deployment_becomes_available() {
    let plane = shared();
    let ns = plane.namespace("available");
    ns.kubectl(&["create", "deployment", "web", "--image=web:1", "--replicas=2"]).success();
    wait_until("two available replicas", LIMIT, || {
        ns.get("deployment/web", ".status.availableReplicas") == "2"
    });
}

#[test]
fn the_server_reports_the_version_that_go_mod_pins() {
    let version = shared().kubectl(&["version", "-o", "json"]).success();
    assert!(version.contains("\"gitVersion\": \"v1.36.3\""), "{version}");
}

#[test]
fn each_test_has_a_namespace_of_its_own() {
    let plane = shared();
    let (one, two) = (plane.namespace("same"), plane.namespace("same"));
    assert_ne!(one.name(), two.name());
    plane.kubectl(&["get", "serviceaccount", "default", "-n", one.name()]).success();
}
