//! Objects that are not to be pruned or changed.

use e2e::manifests::{annotated, depending, deployment, namespace, pod, stream, within};
use e2e::{Folder, Lines, get, settle, unique};
use harness::shared;
use serde_json::{Value, json};

use super::{Set, assert_recorded};

tests![
    objects_to_be_kept_lose_the_mark_and_leave_the_record,
    objects_to_be_kept_stay_when_the_set_is_destroyed,
    an_object_that_asks_not_to_be_changed_is_created_and_then_left_alone,
    a_pod_whose_dependency_left_the_input_is_skipped_and_so_is_the_prune,
    a_namespace_that_left_the_input_stays_while_a_pod_of_the_set_is_in_it,
];

const KEEP: (&str, &str) = ("cli-utils.sigs.k8s.io/on-remove", "keep");
const DETACH: (&str, &str) = ("client.lifecycle.config.k8s.io/deletion", "detach");

fn kept() -> Set {
    let set = Set::new("kept");
    let one = annotated(pod("one"), KEEP.0, KEEP.1);
    let two = annotated(pod("two"), DETACH.0, DETACH.1);
    set.apply(&[deployment("web"), one, two]).all_settled();
    assert_recorded(&set, &["one__Pod", "two__Pod", "web_apps_Deployment"]);
    set
}

fn owners(set: &Set) -> [String; 3] {
    [("v1", "pods", "one"), ("v1", "pods", "two"), ("apps/v1", "deployments", "web")]
        .map(|(version, plural, name)| set.owner(version, plural, name))
}

fn objects_to_be_kept_lose_the_mark_and_leave_the_record() {
    let set = kept();
    for dry in ["--dry-run=client", "--dry-run=server"] {
        let lines = set.apply_with(&[dry], &[deployment("web")]);
        lines.exits_with(0);
        assert_eq!((lines.outcome("Pod/one"), lines.outcome("Pod/two")), ("skipped", "skipped"));
        assert_eq!(owners(&set), ["first", "first", "first"], "{dry}");
        assert_eq!(set.recorded().len(), 3);
    }
    let lines = set.apply(&[deployment("web")]);
    lines.exits_with(0);
    for (pod, (key, value)) in [("Pod/one", KEEP), ("Pod/two", DETACH)] {
        let result = lines.result(pod).unwrap();
        assert_eq!((&result["operation"], &result["code"]), (&json!("skipped"), &json!("Kept")));
        let error = result["error"].as_str().unwrap();
        assert_eq!(error, format!("annotation prevents deletion ({key:?}: {value:?})"));
    }
    assert_eq!(owners(&set), ["", "", "first"]);
    assert_recorded(&set, &["web_apps_Deployment"]);
    for pod in ["one", "two"] {
        assert_eq!(set.world.get("v1", "pods", pod)["status"]["phase"], "Running");
    }
    // They come back into the set when that is asked for, and only then.
    let one = annotated(pod("one"), KEEP.0, KEEP.1);
    let refused = set.apply(&[deployment("web"), one.clone()]);
    refused.exits_with(5);
    assert_eq!(refused.result("Pod/one").unwrap()["code"], "Refused");
    set.apply_with(&["--inventory-policy=adopt"], &[deployment("web"), one]).all_settled();
    assert_eq!(owners(&set), ["first", "", "first"]);
}

fn objects_to_be_kept_stay_when_the_set_is_destroyed() {
    let set = kept();
    let gone = set.destroy(&["--dry-run"]);
    gone.exits_with(0);
    assert_eq!(owners(&set), ["first", "first", "first"]);
    let gone = set.destroy(&[]);
    gone.exits_with(0);
    assert_eq!((gone.outcome("Pod/one"), gone.outcome("Deployment/web")), ("skipped", "deleted"));
    assert_eq!(owners(&set), ["", "", ""]);
    assert!(!set.world.get("v1", "pods", "two").is_null());
    assert!(set.record().is_null());
}

fn an_object_that_asks_not_to_be_changed_is_created_and_then_left_alone() {
    let set = Set::new("fixed");
    let mut web = annotated(deployment("web"), "client.lifecycle.config.k8s.io/mutation", "ignore");
    web["spec"]["replicas"] = json!(4);
    assert_eq!(set.apply(&[web.clone()]).all_settled(), 1);
    set.world.ns.kubectl(&["scale", "deployment", "web", "--replicas=3"]).success();
    for flags in [&["--dry-run=client"][..], &["--dry-run=server"], &[]] {
        let lines = set.apply_with(flags, &[web.clone()]);
        lines.exits_with(0);
        let result = lines.result("Deployment/web").unwrap();
        let text = r#"annotation prevents apply ("client.lifecycle.config.k8s.io/mutation": "ignore")"#;
        assert_eq!((&result["operation"], &result["error"]), (&json!("skipped"), &json!(text)), "{flags:?}");
        assert_ne!(lines.conclusion("Deployment/web"), "Settled", "{lines:#}");
        assert_eq!(set.world.get("apps/v1", "deployments", "web")["spec"]["replicas"], 3);
    }
    assert_recorded(&set, &["web_apps_Deployment"]);
    assert_eq!(set.destroy(&[]).all_settled(), 1);
}

fn a_pod_whose_dependency_left_the_input_is_skipped_and_so_is_the_prune() {
    let set = Set::new("needed");
    let one = depending(pod("one"), &set.on("", "Pod", "two"));
    set.apply(&[one.clone(), pod("two")]).all_settled();
    let uids = || ["one", "two"].map(|name| set.world.get("v1", "pods", name)["metadata"]["uid"].clone());
    let before = uids();
    let lines = set.apply(&[one]);
    assert_eq!(lines.result("Pod/one").unwrap()["code"], "Leaving", "{lines:#}");
    assert_eq!(lines.result("Pod/two").unwrap()["code"], "Needed", "{lines:#}");
    assert_eq!(uids(), before);
    assert_recorded(&set, &["one__Pod", "two__Pod"]);
    let gone = set.destroy(&[]);
    gone.all_settled();
    gone.in_order(("wait", "Pod/one", "Successful"), ("delete", "Pod/two", "Pending"));
}

fn a_namespace_that_left_the_input_stays_while_a_pod_of_the_set_is_in_it() {
    let set = Set::new("inhabited");
    let home = unique("inner");
    let one = within(pod("one"), &home);
    let folder = Folder::new(shared());
    let run = |word: &str, objects: &[Value]| {
        folder.write("objects.yaml", &stream(objects));
        let words = [word, folder.arg(), "-o", "json"];
        Lines::of(settle(shared(), &words).kubeconfig(set.world.user.kubeconfig()).run())
    };
    settle(shared(), &["init", folder.arg(), "-n", set.world.name()]).run().exits_with(0);
    run("apply", &[namespace(&home), one.clone()]).all_settled();
    let lines = run("apply", std::slice::from_ref(&one));
    let path = format!("/api/v1/namespaces/{home}");
    let result = lines.result(&format!("Namespace/{home}")).unwrap();
    assert_eq!(result["operation"], "skipped", "{lines:#}");
    // As kapply it is skipped: see kapply_parity.
    assert_eq!(lines.outcome("Pod/one"), "unchanged", "{lines:#}");
    assert!(get(shared(), &path)["metadata"]["deletionTimestamp"].is_null());
    let gone = run("destroy", &[namespace(&home), one]);
    gone.all_settled();
    gone.in_order(("wait", "Pod/one", "Successful"), ("delete", &format!("Namespace/{home}"), "Pending"));
    assert!(get(shared(), &path).is_null());
}
