//! Invalid objects: one stops everything, unless they are to be left out.

use e2e::manifests::{depending, deployment, pod};
use serde_json::json;

use super::{Set, assert_recorded};

tests![
    one_invalid_object_stops_the_run_before_it_begins,
    invalid_objects_are_told_one_by_one_and_the_valid_ones_are_applied,
    a_broken_annotation_on_a_live_object_keeps_it_and_its_record,
];

fn one_invalid_object_stops_the_run_before_it_begins() {
    let set = Set::new("early");
    let mut nameless = pod("");
    nameless["metadata"].as_object_mut().unwrap().remove("name");
    let lines = set.apply(&[pod("one"), nameless]);
    lines.exits_with(2);
    let told: Vec<_> = lines.all("validation").chain(lines.all("error")).collect();
    assert!(told.iter().any(|line| line["error"].as_str().unwrap().contains("name")), "{lines:#}");
    let writes = set.world.requests().writes();
    assert_eq!(writes.count(), 0, "{writes}");
    assert!(set.record().is_null() && set.world.get("v1", "pods", "one").is_null());
}

fn invalid_objects_are_told_one_by_one_and_the_valid_ones_are_applied() {
    let set = Set::new("skipped");
    let mut nameless = pod("");
    nameless["metadata"].as_object_mut().unwrap().remove("name");
    let objects = [
        pod("one"),
        depending(deployment("web"), &set.on("", "Pod", "one")),
        depending(pod("three"), "not-a-reference"),
        depending(pod("a"), &set.on("", "Pod", "b")),
        depending(pod("b"), &set.on("", "Pod", "a")),
        nameless,
    ];
    let lines = set.apply_with(&["--skip-invalid"], &objects);
    assert_eq!(lines.conclusion("Pod/one"), "Settled", "{lines:#}");
    assert_eq!(lines.conclusion("Deployment/web"), "Settled", "{lines:#}");
    lines.in_order(("wait", "Pod/one", "Successful"), ("apply", "Deployment/web", "Pending"));
    let told: Vec<String> = lines.all("validation").map(|line| line["error"].to_string()).collect();
    for word in ["name", "not-a-reference", "cycl"] {
        assert!(told.iter().any(|error| error.contains(word)), "{word}: {told:?}");
    }
    assert_recorded(&set, &["one__Pod", "web_apps_Deployment"]);
    for name in ["three", "a", "b"] {
        assert!(set.world.get("v1", "pods", name).is_null());
    }
    set.destroy(&[]).all_settled();
}

/// cli-utils removes the record, and with it all knowledge of the object.
fn a_broken_annotation_on_a_live_object_keeps_it_and_its_record() {
    let set = Set::new("spoiled");
    set.apply(&[pod("one"), depending(deployment("web"), &set.on("", "Pod", "one"))]).all_settled();
    let spoil = json!({ "metadata": { "annotations": { "config.kubernetes.io/depends-on": "nonsense" } } });
    let path = e2e::named("apps/v1", set.world.name(), "deployments", "web");
    harness::shared().api().merge(&path, &spoil).unwrap().success();
    let gone = set.destroy(&[]);
    let left = set.recorded();
    let live = !set.world.get("apps/v1", "deployments", "web").is_null();
    assert_eq!(live, left.contains(&"web_apps_Deployment".to_owned()), "{gone:#}");
}
