//! Kinds that are not served yet when the run begins.

use e2e::manifests::{config_map, custom, definition, deployment, namespace, stream, within};
use e2e::{LIMIT, Lines, SOON, World, get, named, settle, unique};
use harness::shared;
use serde_json::json;

tests![
    f01_a_definition_and_its_object_go_in_one_set,
    f01_the_set_is_applied_again_and_destroyed,
    f01_a_namespace_a_definition_and_its_object_go_in_one_set,
    f02_a_kind_that_somebody_else_defines_is_waited_for,
    f02_a_kind_that_never_comes_ends_with_the_time,
    f03_a_definition_whose_names_are_taken_fails_with_those_behind_it,
    f31_an_object_without_a_controller_is_in_progress_until_the_time_ends,
    an_object_of_a_vanished_kind_is_already_gone,
    a_changed_definition_does_not_disturb_the_wait,
];

fn group() -> String {
    format!("{}.example.com", unique("late"))
}

/// Removes what no namespace holds.
struct Defined(String);

impl Drop for Defined {
    fn drop(&mut self) {
        let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}", self.0);
        let _ = shared().api().delete(&path);
    }
}

fn f01_a_definition_and_its_object_go_in_one_set() {
    let (world, group) = (World::new("crd"), group());
    let name = format!("widgets.{group}");
    let _defined = Defined(name.clone());
    let set = [custom(&group, "Widget", "one"), definition(&group, "Widget", "widgets"), deployment("free")];
    let lines = world.settle(&["apply"]).input(stream(&set)).json();
    assert_eq!(lines.all_settled(), 3);
    let crd = format!("CustomResourceDefinition/{name}");
    lines.in_order(("wait", &crd, "Successful"), ("apply", "Widget/one", "Pending"));
    lines.in_order(("apply", "Deployment/free", "Pending"), ("wait", &crd, "Successful"));
    assert_eq!(world.get(&format!("{group}/v1"), "widgets", "one")["spec"]["size"], 1);
    let created =
        world.requests().verb("patch").filter(|request| request.resource == "widgets" && request.code < 300);
    assert_eq!(created.count(), 1, "{created}");
}

fn f01_the_set_is_applied_again_and_destroyed() {
    let (world, group) = (World::new("crd"), group());
    let name = format!("widgets.{group}");
    let _defined = Defined(name.clone());
    let set = [definition(&group, "Widget", "widgets"), custom(&group, "Widget", "one")];
    world.settle(&["apply"]).input(stream(&set)).json().all_settled();
    let again = world.settle(&["apply"]).input(stream(&set)).json();
    again.all_settled();
    assert_eq!(again.summary("Apply")["unchanged"], 2, "{again:#}");
    let gone = world.settle(&["destroy"]).input(stream(&set)).json();
    gone.all_settled();
    gone.in_order(
        ("wait", "Widget/one", "Successful"),
        ("delete", &format!("CustomResourceDefinition/{name}"), "Pending"),
    );
    let again = world.settle(&["destroy"]).input(stream(&set)).json();
    again.all_settled();
    assert_eq!(again.summary("Delete")["alreadyGone"], 2, "{again:#}");
}

fn f01_a_namespace_a_definition_and_its_object_go_in_one_set() {
    let (world, group, home) = (World::new("crd"), group(), unique("home"));
    let _defined = Defined(format!("widgets.{group}"));
    let set = [
        within(custom(&group, "Widget", "one"), &home),
        definition(&group, "Widget", "widgets"),
        namespace(&home),
    ];
    let lines = settle(shared(), &["apply"]).kubeconfig(world.user.kubeconfig()).input(stream(&set)).json();
    assert_eq!(lines.all_settled(), 3);
    let gone = settle(shared(), &["destroy"]).kubeconfig(world.user.kubeconfig()).input(stream(&set)).json();
    assert_eq!(gone.all_settled(), 3);
    assert!(get(shared(), &format!("/api/v1/namespaces/{home}")).is_null());
}

fn f02_a_kind_that_somebody_else_defines_is_waited_for() {
    let (world, group) = (World::new("third"), group());
    let _defined = Defined(format!("widgets.{group}"));
    let placed = within(custom(&group, "Widget", "one"), world.name());
    // It goes where the others go, once it is known that the kind has namespaces.
    let nowhere = custom(&group, "Widget", "two");
    let set = [placed, nowhere, config_map("free")];
    let running = world.settle(&["apply", "-o", "json", "--timeout=60s"]).input(stream(&set)).start();
    running.wait_for_output("Widget", SOON);
    running.wait_for_output("\"conclusion\":\"Settled\"", SOON);
    shared().apply(&stream(&[definition(&group, "Widget", "widgets")]));
    let lines = Lines::of(running.finish(LIMIT));
    assert_eq!(lines.all_settled(), 3);
    for name in ["one", "two"] {
        assert_eq!(lines.outcome(&format!("Widget/{name}")), "created");
        assert!(!world.get(&format!("{group}/v1"), "widgets", name).is_null());
    }
}

fn f02_a_kind_that_never_comes_ends_with_the_time() {
    let (world, group) = (World::new("never"), group());
    let set = [within(custom(&group, "Widget", "one"), world.name()), config_map("free")];
    let lines = world.settle(&["apply", "--timeout=8s"]).input(stream(&set)).json();
    lines.exits_with(3);
    assert_eq!(lines.conclusion("ConfigMap/free"), "Settled");
    assert_eq!(lines.conclusion("Widget/one"), "TimedOut");
    let said = lines.about("retry", "Widget/one").chain(lines.about("apply", "Widget/one"));
    assert!(said.filter_map(|line| line["error"].as_str()).any(|error| error.contains(&group)), "{lines:#}");
    // It is looked for, not asked for.
    let requests = world.requests().filter(|request| request.group == group);
    assert_eq!(requests.count(), 0, "{requests}");
    let discovery = world.requests().filter(|request| request.uri.starts_with("/api"));
    let discovery = discovery.filter(|request| request.resource.is_empty());
    assert!(discovery.count() <= 2 + 2 * 8, "{discovery}");
}

fn f03_a_definition_whose_names_are_taken_fails_with_those_behind_it() {
    let (world, group) = (World::new("taken"), group());
    let _defined = (Defined(format!("widgets.{group}")), Defined(format!("gadgets.{group}")));
    shared().apply(&stream(&[definition(&group, "Widget", "widgets")]));
    shared().kubectl(&["wait", "--for=condition=Established", "crd", &format!("widgets.{group}")]).success();
    let mut rival = definition(&group, "Gadget", "gadgets");
    // The kind of its list is that of the other's.
    rival["spec"]["names"]["listKind"] = json!("WidgetList");
    let set = [rival, custom(&group, "Gadget", "one"), custom(&group, "Gadget", "two"), deployment("free")];
    let lines = world.settle(&["apply", "--timeout=60s"]).input(stream(&set)).json();
    lines.exits_with(1);
    let crd = format!("CustomResourceDefinition/gadgets.{group}");
    assert_eq!(lines.conclusion(&crd), "Failed", "{lines:#}");
    assert!(lines.message(&crd).contains("WidgetList"), "{lines:#}");
    for name in ["Gadget/one", "Gadget/two"] {
        assert_eq!((lines.outcome(name), lines.conclusion(name)), ("skipped", "Skipped"), "{lines:#}");
    }
    assert_eq!(lines.conclusion("Deployment/free"), "Settled");
    // At once, not when time runs out.
    assert_ne!(lines.all("end").next().unwrap()["message"], "the time limit was reached");
}

fn f31_an_object_without_a_controller_is_in_progress_until_the_time_ends() {
    let (world, group) = (World::new("silent"), group());
    let _defined = Defined(format!("widgets.{group}"));
    let mut promising = definition(&group, "Widget", "widgets");
    let version = &mut promising["spec"]["versions"][0];
    version["subresources"] = json!({ "status": {} });
    version["schema"]["openAPIV3Schema"] = json!({
        "type": "object",
        "properties": {
            "spec": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
            "status": { "type": "object", "properties": {
                "observedGeneration": { "type": "integer" },
                "conditions": { "type": "array", "items": { "type": "object", "properties": {
                    "type": { "type": "string" }, "status": { "type": "string" },
                } } },
            } },
        },
    });
    let set = [promising, custom(&group, "Widget", "one")];
    let lines = world.settle(&["apply", "--timeout=6s"]).input(stream(&set)).json();
    lines.exits_with(3);
    assert_eq!((lines.status("Widget/one"), lines.conclusion("Widget/one")), ("InProgress", "TimedOut"));
    // Its controller speaks: settled.
    let path = format!("{}/status", named(&format!("{group}/v1"), world.name(), "widgets", "one"));
    let running = world.settle(&["apply", "-o", "json"]).input(stream(&set)).start();
    running.wait_for_output("\"unchanged\"", SOON);
    let mut spoken = custom(&group, "Widget", "one");
    spoken["metadata"]["namespace"] = json!(world.name());
    spoken["status"] = json!({
        "observedGeneration": 1,
        "conditions": [{ "type": "Ready", "status": "True" }],
    });
    shared().api().apply(&path, "controller", &spoken).unwrap().success();
    assert_eq!(Lines::of(running.finish(LIMIT)).all_settled(), 2);
}

fn an_object_of_a_vanished_kind_is_already_gone() {
    let (world, group) = (World::new("vanished"), group());
    let set = [custom(&group, "Widget", "one"), config_map("a")];
    world.settle(&["apply"]).input(stream(&[config_map("a")])).json().all_settled();
    let gone = world.settle(&["destroy"]).input(stream(&set)).json();
    assert_eq!(gone.all_settled(), 2);
    assert_eq!(gone.outcome("Widget/one"), "alreadyGone");
    assert_eq!(gone.outcome("ConfigMap/a"), "deleted");
}

fn a_changed_definition_does_not_disturb_the_wait() {
    let (world, group) = (World::new("schema"), group());
    let _defined = Defined(format!("widgets.{group}"));
    let mut crd = definition(&group, "Widget", "widgets");
    let on = format!("{group}/namespaces/{}/Widget/one", world.name());
    let mut slow = e2e::manifests::deployment_that("slow", "slow-ready");
    slow["spec"]["template"]["metadata"]["annotations"]["kubesettle.test/delay"] = json!("6s");
    let held = e2e::manifests::annotated(config_map("behind"), "config.kubernetes.io/depends-on", &on);
    let set = [crd.clone(), custom(&group, "Widget", "one"), slow, held];
    let running = world.settle(&["apply", "-o", "json"]).input(stream(&set)).start();
    running.wait_for_output("\"kind\":\"ConfigMap\",\"name\":\"behind\"", SOON);
    // The server ends every watch of the kind when its schema changes.
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = json!("changed");
    shared().apply(&stream(&[crd]));
    let lines = Lines::of(running.finish(LIMIT));
    assert_eq!(lines.all_settled(), 4);
}
