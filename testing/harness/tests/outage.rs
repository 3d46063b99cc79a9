//! Parts of a control plane can fail and come back.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::time::Duration;

use harness::{ControlPlane, Part, wait_until};

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn an_api_server_comes_back_at_the_same_address_with_its_data() {
    let plane = ControlPlane::builder().nodes(1).start().unwrap();
    let ns = plane.namespace("kept");
    ns.kubectl(&["create", "configmap", "kept"]).success();
    let url = plane.url().to_owned();

    let mark = plane.mark();

    plane.stop(Part::ApiServer);
    assert!(!ns.kubectl(&["get", "configmap", "kept"]).stderr.is_empty());
    plane.start_again(Part::ApiServer);
    assert_eq!(plane.url(), url);
    ns.kubectl(&["get", "configmap", "kept"]).success();

    let reads = plane.requests().since(mark).verb("get").resource("configmaps");
    assert_eq!(reads.count(), 1, "{reads}");

    // The other parts find it again.
    ns.kubectl(&["create", "deployment", "web", "--image=web:1"]).success();
    wait_until("the Deployment", LIMIT, || ns.get("deployment/web", ".status.availableReplicas") == "1");
}

#[test]
fn a_paused_part_goes_on_where_it_was() {
    let plane = ControlPlane::builder().nodes(1).start().unwrap();
    let ns = plane.namespace("paused");
    plane.pause(Part::Kwok);
    ns.kubectl(&["create", "deployment", "web", "--image=web:1"]).success();
    let scheduled = "jsonpath={.items[0].spec.nodeName}";
    wait_until("a scheduled pod", LIMIT, || !ns.kubectl(&["get", "pods", "-o", scheduled]).stdout.is_empty());
    assert_eq!(ns.get("deployment/web", ".status.availableReplicas"), "");
    plane.resume(Part::Kwok);
    wait_until("the Deployment", LIMIT, || ns.get("deployment/web", ".status.availableReplicas") == "1");
}

#[test]
fn without_controllers_nothing_happens_by_itself() {
    let plane = ControlPlane::builder().without_controllers().start().unwrap();
    plane.kubectl(&["create", "deployment", "web", "--image=web:1"]).success();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(plane.kubectl(&["get", "replicasets,pods", "-o", "name"]).success(), "");
    assert!(plane.process_id(Part::Kwok).is_none());
}
