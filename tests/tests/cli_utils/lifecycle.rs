//! Sets come, change and go.

use e2e::manifests::{deployment, namespace, pod, stream, within};
use e2e::{get, named, unique};
use harness::shared;
use serde_json::{Value, json};

use super::{OWNER, Set, assert_recorded};

tests![
    a_deployment_of_four_is_applied_recorded_and_destroyed,
    a_dry_run_of_a_namespace_and_its_pod_leaves_no_trace,
    a_set_of_nothing_has_a_record_of_nothing,
    an_object_outside_of_the_input_that_is_gone_already_is_no_prune,
    an_object_under_two_groups_is_one_object,
    a_server_side_apply_leaves_one_manager_and_no_copy_of_the_manifest,
];

fn a_deployment_of_four_is_applied_recorded_and_destroyed() {
    let set = Set::new("four");
    let mut web = deployment("web");
    web["spec"]["replicas"] = json!(4);
    let lines = set.apply(&[web]);
    assert_eq!(lines.all_settled(), 1);
    assert_eq!(lines.outcome("Deployment/web"), "created");
    let statuses: Vec<_> = lines.about("status", "Deployment/web").map(|line| &line["status"]).collect();
    assert_eq!(statuses.last(), Some(&&json!("Current")), "{lines:#}");
    assert_eq!(set.world.get("apps/v1", "deployments", "web")["status"]["availableReplicas"], 4);
    assert_recorded(&set, &["web_apps_Deployment"]);
    assert_eq!(set.owner("apps/v1", "deployments", "web"), "first");
    let gone = set.destroy(&["--inventory-policy=adopt"]);
    assert_eq!(gone.all_settled(), 1);
    assert_eq!(gone.outcome("Deployment/web"), "deleted");
    assert_eq!(set.world.get("apps/v1", "deployments", "web"), Value::Null);
    assert_eq!(set.record(), Value::Null);
}

fn a_dry_run_of_a_namespace_and_its_pod_leaves_no_trace() {
    let set = Set::new("rehearsed");
    let home = unique("home");
    let objects = [namespace(&home), within(pod("one"), &home)];
    let at = |words: &[&str], input: &str| {
        let all = e2e::settle(shared(), words).kubeconfig(set.world.user.kubeconfig());
        all.input(input).json()
    };
    let text = stream(&objects);
    let namespace = || get(shared(), &named("v1", "", "namespaces", &home));
    for who in ["--dry-run=client", "--dry-run=server"] {
        let lines = at(&["apply", who], &text);
        lines.exits_with(0);
        assert_eq!(lines.start()["objects"], 2);
        assert_eq!(lines.all("group").filter(|line| line["action"] == "Wait").count(), 0, "{lines:#}");
        assert!(namespace().is_null());
    }
    assert_eq!(at(&["apply"], &text).all_settled(), 2);
    let lines = at(&["destroy", "--dry-run"], &text);
    lines.exits_with(0);
    assert_eq!(lines.summary("Delete")["count"], 2);
    assert!(namespace()["metadata"]["deletionTimestamp"].is_null());
    let gone = at(&["destroy"], &text);
    assert_eq!(gone.all_settled(), 2);
    assert!(namespace().is_null());
}

fn a_set_of_nothing_has_a_record_of_nothing() {
    let set = Set::new("nothing");
    let lines = set.apply_with(&["--allow-empty"], &[]);
    assert_eq!(lines.all_settled(), 0);
    assert!(!set.record().is_null());
    assert_recorded(&set, &[]);
    assert_eq!(set.destroy(&[]).all_settled(), 0);
    assert!(set.record().is_null());
}

fn an_object_outside_of_the_input_that_is_gone_already_is_no_prune() {
    let set = Set::new("astray");
    set.apply(&[pod("one")]).all_settled();
    set.world.ns.kubectl(&["delete", "pod", "one", "--now"]).success();
    let lines = set.apply(&[pod("two")]);
    lines.exits_with(0);
    assert!(matches!(lines.outcome("Pod/one"), "" | "alreadyGone"), "{lines:#}");
    assert_recorded(&set, &["two__Pod"]);
    set.destroy(&[]).all_settled();
    assert!(set.world.get("v1", "pods", "two").is_null());
    assert!(set.record().is_null());
}

/// Events are served by two groups. The server keeps one object.
fn an_object_under_two_groups_is_one_object() {
    let set = Set::new("groups");
    let home = set.world.name();
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "name": "p", "namespace": home });
    let old = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": { "name": "e", "namespace": home },
        "type": "Warning", "reason": "BackOff", "message": "said", "involvedObject": pod,
    });
    let new = json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": { "name": "e", "namespace": home },
        "type": "Warning", "reason": "BackOff", "note": "said", "regarding": pod,
    });
    let mut wrong = new.clone();
    wrong["nonsense"] = json!("unknown to the server");
    set.apply(&[old]).all_settled();
    assert_recorded(&set, &["e__Event"]);
    let uid = |version: &str| set.world.get(version, "events", "e")["metadata"]["uid"].clone();
    let before = uid("v1");
    assert_eq!(uid("events.k8s.io/v1"), before);
    // Not applied under its new name, it stays on record under the old one.
    set.apply(&[wrong]).exits_with(1);
    assert_eq!(uid("v1"), before);
    assert_recorded(&set, &["e__Event"]);
    let lines = set.apply(std::slice::from_ref(&new));
    lines.exits_with(0);
    assert_eq!((uid("v1"), uid("events.k8s.io/v1")), (before.clone(), before), "{lines:#}");
    assert_recorded(&set, &["e_events.k8s.io_Event"]);
    // The old name of it is not tried again.
    let again = set.apply(&[new]);
    again.exits_with(0);
    assert_eq!(again.summary("Total")["count"], 1, "{again:#}");
    set.destroy(&[]).all_settled();
    assert!(uid("v1").is_null());
}

fn a_server_side_apply_leaves_one_manager_and_no_copy_of_the_manifest() {
    let set = Set::new("manager");
    let group = format!("{}.example.com", unique("metrics"));
    let name = format!("v1beta1.{group}");
    let service = json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": { "name": name },
        "spec": {
            "insecureSkipTLSVerify": true, "group": group, "version": "v1beta1",
            "groupPriorityMinimum": 100, "versionPriority": 100,
            "service": { "name": "metrics", "namespace": set.world.name() },
        },
    });
    let _guard = harness::exclusive();
    // Nothing serves that group, so nobody waits for it.
    let flags = ["--server-side", "--force-conflicts", "--field-manager=test", "--wait=false"];
    let lines = set.apply_with(&flags, &[deployment("web"), service]);
    lines.exits_with(0);
    let path = format!("/apis/apiregistration.k8s.io/v1/apiservices/{name}");
    for object in [set.world.get("apps/v1", "deployments", "web"), get(shared(), &path)] {
        let annotations = &object["metadata"]["annotations"];
        assert!(annotations["kubectl.kubernetes.io/last-applied-configuration"].is_null(), "{object}");
        assert!(annotations[OWNER].is_string());
        assert_eq!(object["metadata"]["managedFields"][0]["manager"], "test");
        assert_eq!(object["metadata"]["managedFields"][0]["operation"], "Apply");
    }
    set.destroy(&[]).all_settled();
    assert!(get(shared(), &path).is_null());
}
