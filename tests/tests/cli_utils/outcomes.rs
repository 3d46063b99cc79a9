//! Waits that do not end well.

use e2e::manifests::{config_map, pod};
use harness::wait_until;
use serde_json::{Value, json};

use super::{Set, assert_recorded};

tests![
    a_destroy_that_a_finalizer_holds_up_is_finished_by_the_next,
    a_pod_that_fits_no_node_is_named_as_such_when_time_is_up,
    a_pod_without_its_image_is_named_as_such_when_time_is_up,
];

const HOLD: &str = "example.com/hold";

fn a_destroy_that_a_finalizer_holds_up_is_finished_by_the_next() {
    let set = Set::new("held");
    let mut held = config_map("held");
    held["metadata"]["finalizers"] = json!([HOLD]);
    set.apply(&[held, pod("free")]).all_settled();
    let gone = set.destroy(&["--delete-timeout=4s"]);
    gone.exits_with(3);
    assert_eq!(gone.conclusion("Pod/free"), "Settled", "{gone:#}");
    assert_eq!(gone.conclusion("ConfigMap/held"), "TimedOut", "{gone:#}");
    assert!(gone.message("ConfigMap/held").contains(HOLD), "{gone:#}");
    assert_recorded(&set, &["held__ConfigMap"]);
    let again = set.destroy(&["--delete-timeout=3s"]);
    again.exits_with(3);
    assert_recorded(&set, &["held__ConfigMap"]);
    let live = set.world.get("v1", "configmaps", "held");
    assert!(live["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(live["metadata"]["finalizers"], json!([HOLD]));
    let free = r#"{"metadata":{"finalizers":null}}"#;
    set.world.ns.kubectl(&["patch", "configmap", "held", "--type=merge", "-p", free]).success();
    set.destroy(&[]).all_settled();
    assert!(set.world.get("v1", "configmaps", "held").is_null() && set.record().is_null());
}

#[track_caller]
fn times_out(set: &Set, object: &Value, words: &[&str]) {
    let name = format!("Pod/{}", object["metadata"]["name"].as_str().unwrap());
    let lines = set.apply_with(&["--reconcile-timeout=6s"], &[object.clone(), pod("good")]);
    lines.exits_with(3);
    assert_eq!((lines.outcome(&name), lines.conclusion(&name)), ("created", "TimedOut"), "{lines:#}");
    for word in words {
        assert!(lines.message(&name).contains(word), "{word}\n{lines:#}");
    }
    assert_eq!(lines.conclusion("Pod/good"), "Settled");
    // It was applied, so it is ours.
    let recorded = name.replace("Pod/", "") + "__Pod";
    assert!(set.recorded().contains(&recorded), "{:?}", set.recorded());
    set.destroy(&[]).all_settled();
    wait_until("the pod to be gone", e2e::LIMIT, || {
        set.world.get("v1", "pods", name.trim_start_matches("Pod/")).is_null()
    });
}

fn a_pod_that_fits_no_node_is_named_as_such_when_time_is_up() {
    let mut nowhere = pod("nowhere");
    nowhere["spec"]["nodeSelector"] = json!({ "disk": "of-gold" });
    times_out(&Set::new("nowhere"), &nowhere, &["Unschedulable", "selector"]);
}

fn a_pod_without_its_image_is_named_as_such_when_time_is_up() {
    let mut image = pod("image");
    image["metadata"]["annotations"] = json!({ "kubesettle.test/outcome": "image-pull-backoff" });
    times_out(&Set::new("image"), &image, &["ImagePullBackOff"]);
}
