//! What goes before what.

use e2e::manifests::{config_map, custom, definition, depending, namespace, pod, stream, within};
use e2e::{Folder, Lines, get, settle, unique};
use harness::shared;
use serde_json::json;

use super::Set;

tests![
    a_definition_is_settled_before_its_object_comes_and_goes_after_it,
    pods_of_two_namespaces_come_in_the_order_they_ask_for_and_go_in_reverse,
    an_invalid_definition_fails_and_the_rest_goes_on,
];

fn a_definition_is_settled_before_its_object_comes_and_goes_after_it() {
    let set = Set::new("layers");
    let group = format!("{}.example.com", unique("layers"));
    let crd = format!("CustomResourceDefinition/crontabs.{group}");
    let objects = [custom(&group, "CronTab", "one"), definition(&group, "CronTab", "crontabs")];
    let lines = set.apply(&objects);
    assert_eq!(lines.all_settled(), 2);
    lines.in_order(("wait", &crd, "Successful"), ("apply", "CronTab/one", "Pending"));
    let gone = set.destroy(&[]);
    assert_eq!(gone.all_settled(), 2);
    gone.in_order(("wait", "CronTab/one", "Successful"), ("delete", &crd, "Pending"));
    assert!(set.record().is_null());
}

fn pods_of_two_namespaces_come_in_the_order_they_ask_for_and_go_in_reverse() {
    let set = Set::new("crossing");
    let (near, far) = (unique("near"), unique("far"));
    let on = |home: &str, name: &str| format!("/namespaces/{home}/Pod/{name}");
    let folder = Folder::new(shared());
    folder.write(
        "objects.yaml",
        &stream(&[
            depending(within(pod("one"), &near), &on(&near, "three")),
            within(pod("two"), &far),
            depending(within(pod("three"), &near), &on(&far, "two")),
            namespace(&near),
            namespace(&far),
        ]),
    );
    settle(shared(), &["init", folder.arg(), "-n", set.world.name()]).run().exits_with(0);
    let run = |word: &str| {
        let words = [word, folder.arg(), "-o", "json"];
        let lines = Lines::of(settle(shared(), &words).kubeconfig(set.world.user.kubeconfig()).run());
        assert_eq!(lines.all_settled(), 5);
        lines
    };
    let (near, far) = (format!("Namespace/{near}"), format!("Namespace/{far}"));
    let come = run("apply");
    come.in_order(("apply", &far, "Successful"), ("apply", "Pod/two", "Pending"));
    come.in_order(("apply", &near, "Successful"), ("apply", "Pod/three", "Pending"));
    for pair in ["Pod/two", "Pod/three", "Pod/one"].windows(2) {
        come.in_order(("wait", pair[0], "Successful"), ("apply", pair[1], "Pending"));
    }
    let gone = run("destroy");
    for pair in ["Pod/one", "Pod/three", "Pod/two", &far].windows(2) {
        gone.in_order(("wait", pair[0], "Successful"), ("delete", pair[1], "Pending"));
    }
    gone.in_order(("wait", "Pod/three", "Successful"), ("delete", &near, "Pending"));
    assert!(get(shared(), &format!("/api/v1/{}", near.replace("Namespace", "namespaces"))).is_null());
}

fn an_invalid_definition_fails_and_the_rest_goes_on() {
    let set = Set::new("continues");
    let group = format!("{}.example.com", unique("broken"));
    let mut broken = definition(&group, "Broken", "brokens");
    // A definition has a schema for each version.
    broken["spec"]["versions"][0].as_object_mut().unwrap().remove("schema");
    let crd = format!("CustomResourceDefinition/brokens.{group}");
    let lines = set.apply(&[broken, pod("one"), config_map("a")]);
    lines.exits_with(1);
    assert_eq!(lines.failure(&crd).0, "Invalid", "{lines:#}");
    assert_eq!(lines.conclusion(&crd), "NotApplied");
    assert_eq!(lines.conclusion("Pod/one"), "Settled");
    assert_eq!(lines.summary("Total")["successful"], json!(2));
    super::assert_recorded(&set, &["a__ConfigMap", "one__Pod"]);
    set.destroy(&[]).all_settled();
}
