//! `status` of objects that are named on the command line.

use e2e::manifests::{config_map, custom, definition, deployment, stream};
use e2e::{World, settle, unique};
use harness::shared;
use serde_json::{Value, json};

tests![
    objects_are_named_in_every_form_that_kubectl_takes,
    kinds_without_names_are_listed_and_selected_by_labels,
    an_object_that_loses_its_label_is_not_taken_for_deleted,
    a_kind_that_offers_no_watch_is_asked_for_and_is_unknown_where_it_says_too_little,
    what_cannot_be_found_is_said,
];

fn labelled(mut object: Value, label: &str) -> Value {
    object["metadata"]["labels"] = json!({ "tier": label });
    object
}

fn objects_are_named_in_every_form_that_kubectl_takes() {
    let (world, group) = (World::new("named"), format!("{}.example.com", unique("named")));
    let set = [
        deployment("web"),
        deployment("db"),
        config_map("web"),
        definition(&group, "Widget", "widgets"),
        custom(&group, "Widget", "one"),
    ];
    world.settle(&["apply"]).input(stream(&set)).json().all_settled();
    let widgets = format!("widgets.{group}");
    let versioned = format!("widgets.v1.{group}");
    let crd = format!("crd/{widgets}");
    for (words, objects) in [
        (&["deploy/web"][..], &["Deployment/web"][..]),
        (&["deployments", "web", "db"], &["Deployment/web", "Deployment/db"]),
        (&["deploy,cm", "web"], &["Deployment/web", "ConfigMap/web"]),
        (&["deployment.apps/web", "configmap/web"], &["Deployment/web", "ConfigMap/web"]),
        (&["deployments.v1.apps", "web"], &["Deployment/web"]),
        (&[&widgets, "one"], &["Widget/one"]),
        (&[&versioned], &["Widget/one"]),
        (&[&crd, "deploy/web"], &["Deployment/web"]),
    ] {
        let lines = world.settle(&["status"]).args(words).json();
        lines.exits_with(0);
        for object in objects {
            assert_eq!(lines.status(object), "Current", "{words:?}: {lines:#}");
        }
    }
    let missing = world.settle(&["status", "deploy/none"]).json();
    assert_eq!(missing.status("Deployment/none"), "NotFound");
    shared().kubectl(&["delete", "crd", &widgets, "--wait=false"]).success();
}

fn kinds_without_names_are_listed_and_selected_by_labels() {
    let (one, other) = (World::new("listed"), World::new("listed"));
    let tier = unique("tier");
    for world in [&one, &other] {
        let set = [labelled(config_map("a"), &tier), config_map("b"), labelled(deployment("web"), &tier)];
        world.settle(&["apply"]).input(stream(&set)).json().all_settled();
    }
    let selector = format!("tier={tier}");
    let lines = one.settle(&["status", "deploy,cm", "-l", &selector]).json();
    assert_eq!(lines.all_settled(), 2, "{lines:#}");
    let lines = one.settle(&["status", "deploy,cm", "-A", "-l", &selector]).json();
    assert_eq!(lines.all_settled(), 4, "{lines:#}");
    let lines = one.settle(&["status", "deploy"]).json();
    assert_eq!(lines.all_settled(), 1, "{lines:#}");
    let lines = one.settle(&["status", "all"]).json();
    assert!(lines.all_settled() >= 3, "Deployment, ReplicaSet, pod: {lines:#}");
}

fn an_object_that_loses_its_label_is_not_taken_for_deleted() {
    let world = World::new("label");
    let set = [labelled(config_map("a"), "x"), labelled(config_map("b"), "x")];
    world.settle(&["apply"]).input(stream(&set)).json().all_settled();
    let running = world.settle(&["status", "cm", "-l", "tier=x", "--watch", "-o", "json"]).start();
    running.wait_for_output("\"name\":\"b\"", e2e::SOON);
    shared().kubectl(&["label", "configmap", "a", "-n", world.name(), "tier-"]).success();
    shared().kubectl(&["delete", "configmap", "b", "-n", world.name()]).success();
    running.wait_for_output("NotFound", e2e::SOON);
    running.interrupt();
    let lines = e2e::Lines::of(running.finish(e2e::LIMIT));
    let asked = world.requests().resource("configmaps").filter(|request| request.verb == "get");
    assert_eq!(asked.count(), 2, "what lost its label, and what is gone: {asked}");
    assert_eq!((lines.status("ConfigMap/a"), lines.status("ConfigMap/b")), ("Current", "NotFound"));
}

fn what_cannot_be_found_is_said() {
    let world = World::new("none");
    let done = world.settle(&["status", "gadgetz/one"]).run();
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("gadgetz"), "{}", done.stderr);
    let done = world.settle(&["status", "deploy"]).run();
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stderr.contains("no such objects"), "{}", done.stderr);
    let user = shared().user("few").can(&["get"], &["configmaps"], world.name()).build();
    let call = settle(shared(), &["status", "cm", "-n", world.name()]).kubeconfig(user.kubeconfig());
    let done = call.run();
    assert_eq!(done.code, Some(4), "{}{}", done.stdout, done.stderr);
    assert!(done.stderr.contains("cannot list"), "{}", done.stderr);
}

/// The server has it, does not let anybody watch it, and gives it no uid.
fn a_kind_that_offers_no_watch_is_asked_for_and_is_unknown_where_it_says_too_little() {
    let user = shared().user("statuses").can_cluster(&["get", "list"], &["componentstatuses"]).build();
    let look = |name: &str| {
        let words = ["status", &format!("componentstatus/{name}")];
        settle(shared(), &words).kubeconfig(user.kubeconfig()).json()
    };
    let there = look("etcd-0");
    assert_eq!(there.status("ComponentStatus/etcd-0"), "Unknown", "{there:#}");
    assert!(there.message("ComponentStatus/etcd-0").contains("without name or uid"), "{there:#}");
    let missing = look("none");
    assert_eq!(missing.status("ComponentStatus/none"), "NotFound", "{missing:#}");
    let asked = shared().requests().user(user.name()).resource("componentstatuses");
    assert_eq!(asked.clone().verb("watch").count(), 0, "{asked}");
    assert!((2..=4).contains(&asked.count()), "{asked}");
}
