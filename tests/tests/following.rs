//! Objects are followed while kinds, versions, namespaces and rights come and go around them.

use std::time::{Duration, Instant};

use e2e::manifests::{config_map, custom, definition, namespace, stream, within};
use e2e::{Following, LIMIT, World, settle, unique};
use harness::{User, shared};
use serde_json::{Value, json};

tests![
    f02_a_kind_comes_goes_and_comes_again_while_it_is_followed,
    f02_versions_of_a_kind_come_and_go_while_it_is_followed,
    f02_a_kind_that_changes_its_scope_is_followed_in_the_new_one,
    f26_a_kind_whose_conversion_fails_concerns_its_own_objects_only,
    a_namespace_comes_goes_and_comes_again_while_its_objects_are_followed,
    an_object_that_holds_its_namespace_back_is_told_to_be_terminating,
    f18_each_step_of_the_ladder_is_asked_once_and_told_once,
    f06_a_quota_that_is_used_up_is_told_by_an_event,
    f17_a_claim_that_binds_late_is_told_by_its_event,
    a_set_that_goes_well_asks_for_no_event,
];

/// Removes what no namespace holds.
struct Defined(String);

impl Drop for Defined {
    fn drop(&mut self) {
        let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}", self.0);
        let _ = shared().api().delete(&path);
    }
}

/// Follows this set as the user of the world.
fn follow(world: &World, set: &[Value], flags: &[&str]) -> Following {
    let call = settle(shared(), &["status"]).args(flags).kubeconfig(world.user.kubeconfig());
    Following::start(call.input(stream(set)))
}

fn group() -> String {
    format!("{}.example.com", unique("follow"))
}

fn widget(group: &str, world: &World, says: &str) -> Value {
    let mut widget = within(custom(group, "Widget", "one"), world.name());
    widget["status"] = json!({ "conditions": [{ "type": "Stalled", "status": "True", "message": says }] });
    widget
}

/// Defines the kind and waits until it is served.
fn define(crd: &Value) {
    shared().apply(&stream(std::slice::from_ref(crd)));
    let name = crd["metadata"]["name"].as_str().unwrap();
    shared().kubectl(&["wait", "--for=condition=Established", "crd", name]).success();
}

fn undefine(crd: &Value) {
    let name = crd["metadata"]["name"].as_str().unwrap();
    shared().kubectl(&["delete", "crd", name, "--wait"]).success();
}

/// Makes the object, as soon as the server takes it.
fn make(object: &Value) {
    let text = stream(std::slice::from_ref(object));
    let began = Instant::now();
    loop {
        let done = settle(shared(), &["apply", "--wait=false", "--force-conflicts", "--timeout=30s"])
            .input(text.clone())
            .run();
        if done.code == Some(0) {
            return;
        }
        assert!(began.elapsed() < LIMIT, "{}{}", done.stdout, done.stderr);
    }
}

fn f02_a_kind_comes_goes_and_comes_again_while_it_is_followed() {
    let (world, group) = (World::new("kinds"), group());
    let crd = definition(&group, "Widget", "widgets");
    let _defined = Defined(format!("widgets.{group}"));
    let mut other = config_map("a");
    other["metadata"]["namespace"] = json!(world.name());
    let following = follow(&world, &[widget(&group, &world, ""), other.clone()], &[]);
    following.until("one", "NotFound", "kind not served");
    for life in ["first", "second"] {
        define(&crd);
        make(&widget(&group, &world, life));
        following.until("one", "Failed", life);
        make(&widget(&group, &world, &format!("{life} changed")));
        following.until("one", "Failed", &format!("{life} changed"));
        undefine(&crd);
        following.until("one", "NotFound", "");
    }
    make(&other);
    following.until("a", "Current", "");
    following.end();
}

fn f02_versions_of_a_kind_come_and_go_while_it_is_followed() {
    let (world, group) = (World::new("versions"), group());
    let mut crd = definition(&group, "Widget", "widgets");
    let _defined = Defined(format!("widgets.{group}"));
    define(&crd);
    make(&widget(&group, &world, "first"));
    let following = follow(&world, &[widget(&group, &world, "")], &[]);
    following.until("one", "Failed", "first");
    let mut newer = crd["spec"]["versions"][0].clone();
    newer["name"] = json!("v2");
    newer["storage"] = json!(false);
    crd["spec"]["versions"] = json!([crd["spec"]["versions"][0], newer]);
    define(&crd);
    make(&widget(&group, &world, "with two"));
    following.until("one", "Failed", "with two");
    crd["spec"]["versions"][0]["served"] = json!(false);
    define(&crd);
    let mut v2 = widget(&group, &world, "by the other");
    v2["apiVersion"] = json!(format!("{group}/v2"));
    make(&v2);
    following.until("one", "Failed", "by the other");
    following.end();
}

fn f02_a_kind_that_changes_its_scope_is_followed_in_the_new_one() {
    let (world, group) = (World::new("scopes"), group());
    let mut crd = definition(&group, "Widget", "widgets");
    let _defined = Defined(format!("widgets.{group}"));
    define(&crd);
    make(&widget(&group, &world, "first"));
    let following = follow(&world, &[widget(&group, &world, "")], &[]);
    following.until("one", "Failed", "first");
    undefine(&crd);
    following.until("one", "NotFound", "");
    crd["spec"]["scope"] = json!("Cluster");
    define(&crd);
    // One of that name, and of no namespace, is another object.
    let mut wide = widget(&group, &world, "wide");
    wide["metadata"].as_object_mut().unwrap().remove("namespace");
    make(&wide);
    std::thread::sleep(Duration::from_secs(3));
    following.until("one", "NotFound", "");
    undefine(&crd);
    crd["spec"]["scope"] = json!("Namespaced");
    define(&crd);
    make(&widget(&group, &world, "back"));
    following.until("one", "Failed", "back");
    following.end();
}

fn f26_a_kind_whose_conversion_fails_concerns_its_own_objects_only() {
    let (world, group) = (World::new("convert"), group());
    let mut crd = definition(&group, "Widget", "widgets");
    let _defined = Defined(format!("widgets.{group}"));
    define(&crd);
    make(&widget(&group, &world, "first"));
    let mut newer = crd["spec"]["versions"][0].clone();
    newer["name"] = json!("v2");
    newer["storage"] = json!(false);
    crd["spec"]["versions"] = json!([crd["spec"]["versions"][0], newer]);
    // Nobody listens there.
    crd["spec"]["conversion"] = json!({ "strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"], "clientConfig": { "url": "https://127.0.0.1:1/convert" },
    } });
    define(&crd);
    let mut v2 = widget(&group, &world, "");
    v2["apiVersion"] = json!(format!("{group}/v2"));
    let other = within(config_map("a"), world.name());
    let following = follow(&world, &[v2, other.clone()], &[]);
    following.until("one", "Unknown", "");
    following.until("a", "NotFound", "");
    make(&other);
    following.until("a", "Current", "");
    let (_, why) = following.told("one").pop().unwrap();
    assert!(!why.is_empty(), "the reason is told");
    crd["spec"]["conversion"] = json!({ "strategy": "None" });
    define(&crd);
    following.until("one", "Failed", "first");
    following.end();
}

fn a_namespace_comes_goes_and_comes_again_while_its_objects_are_followed() {
    let (world, home) = (World::new("homes"), unique("home"));
    let inside = within(config_map("inside"), &home);
    for flags in [&[][..], &["--watch-scope=namespaces"], &["--watch-scope=cluster"]] {
        let following = follow(&world, &[inside.clone(), within(config_map("outside"), world.name())], flags);
        following.until("inside", "NotFound", "");
        for _ in 0..2 {
            shared().apply(&stream(&[namespace(&home)]));
            shared().apply(&stream(std::slice::from_ref(&inside)));
            following.until("inside", "Current", "");
            shared().kubectl(&["delete", "namespace", &home, "--wait"]).success();
            following.until("inside", "NotFound", "");
        }
        following.end();
    }
}

fn an_object_that_holds_its_namespace_back_is_told_to_be_terminating() {
    let (world, home) = (World::new("stuck"), unique("stuck"));
    let mut inside = within(config_map("inside"), &home);
    inside["metadata"]["finalizers"] = json!(["example.com/hold"]);
    let set = [namespace(&home), inside.clone()];
    shared().apply(&stream(&set));
    let following = follow(&world, &set, &[]);
    following.until("inside", "Current", "");
    shared().kubectl(&["delete", "namespace", &home, "--wait=false"]).success();
    following.until(&home, "Terminating", "");
    following.until("inside", "Terminating", "");
    let patch = r#"{"metadata":{"finalizers":null}}"#;
    shared().kubectl(&["patch", "configmap", "inside", "-n", &home, "--type=merge", "-p", patch]).success();
    following.until("inside", "NotFound", "");
    following.until(&home, "NotFound", "");
    following.end();
}

/// What a user may do with ConfigMaps, the strategy, and what is asked for: watches that were allowed,
/// refusals, and steps told.
type Step<'a> = (&'a str, User<'static>, &'a str, usize, usize, usize);

fn f18_each_step_of_the_ladder_is_asked_once_and_told_once() {
    let (one, other) = (World::new("ladder"), World::new("ladder"));
    let places = [one.name(), other.name()];
    let set: Vec<Value> =
        places.iter().flat_map(|ns| ["a", "b"].map(|name| within(config_map(name), ns))).collect();
    shared().apply(&stream(&set));
    let all = &["get", "list", "watch"][..];
    let cluster = shared().user("wide").can_cluster(all, &["configmaps"]).build();
    let each =
        shared().user("each").can(all, &["configmaps"], places[0]).can(all, &["configmaps"], places[1]);
    let names = shared().user("names").can_named(all, &["configmaps"], places[0], &["a", "b"]).can_named(
        all,
        &["configmaps"],
        places[1],
        &["a", "b"],
    );
    let get = shared().user("get").can(&["get"], &["configmaps"], places[0]).can(
        &["get"],
        &["configmaps"],
        places[1],
    );
    let none = shared().user("none").can(&["get"], &["secrets"], places[0]);
    let steps: [Step<'_>; 5] = [
        ("cluster", cluster, "Current", 1, 0, 0),
        // The cluster is refused.
        ("cluster", each.build(), "Current", 2, 1, 1),
        // Each namespace is refused.
        ("auto", names.build(), "Current", 4, 2, 2),
        // Then each name.
        ("auto", get.build(), "Current", 0, 2 + 4, 2 + 4),
        // Then the question for each.
        ("auto", none.build(), "Unknown", 0, 2 + 4 + 2, 2 + 4 + 2),
    ];
    for (scope, user, status, watches, refusals, told) in steps {
        let mark = shared().mark();
        let call = settle(shared(), &["status", "--watch-scope", scope]).kubeconfig(user.kubeconfig());
        let following = Following::start(call.input(stream(&set)));
        for name in ["a", "b"] {
            following.until(name, status, "");
        }
        following.wait("a word on each of the four", |following| {
            following.told("a").len() + following.told("b").len() >= 4
        });
        // Long enough for a loop to show itself.
        std::thread::sleep(Duration::from_secs(6));
        let why = following.told("a").pop().unwrap().1;
        let text = following.end();
        let gaps = text.lines().filter(|line| line.contains("\"type\":\"gap\"")).count();
        let asked = shared().requests().since(mark).user(user.name()).resource("configmaps");
        let refused = asked.clone().code(403);
        let allowed = asked.clone().verb("watch").code(200);
        assert_eq!(allowed.count(), watches, "{scope} {}: {asked}", user.name());
        assert_eq!(refused.count(), refusals, "{scope} {}: {asked}", user.name());
        assert_eq!(gaps, told, "{scope} {}: {text}", user.name());
        if status == "Unknown" {
            assert!(why.contains("cannot get resource \"configmaps\""), "{why}");
        }
    }
}

fn f06_a_quota_that_is_used_up_is_told_by_an_event() {
    let world = World::new("quota");
    let quota = json!({ "apiVersion": "v1", "kind": "ResourceQuota", "metadata": { "name": "none" },
        "spec": { "hard": { "pods": "0" } } });
    world.settle(&["apply"]).input(stream(&[quota])).json().all_settled();
    let mut database = e2e::manifests::deployment("database");
    database["kind"] = json!("StatefulSet");
    database["spec"]["serviceName"] = json!("database");
    let lines = world.settle(&["apply", "--timeout=25s"]).input(stream(&[database.clone()])).json();
    assert!(lines.message("StatefulSet/database").contains("exceeded quota"), "{lines:#}");
    let causes = lines.last_status("StatefulSet/database")["causes"].clone();
    assert_eq!(causes[0]["code"], "QuotaExceeded", "{lines:#}");
    let watches = world.requests().verb("watch").resource("events");
    assert_eq!(watches.count(), 1, "{watches}");
    // Without the right to see events the verdict does without, and nothing is said of it.
    let few = shared().user("few").can(&["get", "list", "watch"], &["statefulsets.apps"], world.name());
    let few = few.can(&["get", "list", "watch"], &["pods"], world.name()).build();
    let look = settle(shared(), &["status", "-n", world.name()]).kubeconfig(few.kubeconfig());
    let look = look.input(stream(&[database])).json();
    assert_eq!(look.status("StatefulSet/database"), "InProgress", "{look:#}");
    assert!(!look.all("gap").any(|gap| gap.to_string().contains("Event")), "{look:#}");
}

fn f17_a_claim_that_binds_late_is_told_by_its_event() {
    let world = World::new("late");
    let class = unique("late");
    let storage = json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": class },
        "provisioner": "example.com/none", "volumeBindingMode": "WaitForFirstConsumer" });
    let claim = json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": "data" },
        "spec": { "storageClassName": class, "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": "1Gi" } } } });
    shared().apply(&stream(&[storage, within(claim.clone(), world.name())]));
    // Whoever may not read StorageClasses learns it from the event.
    let user = shared().user("claims").owns(world.name()).build();
    let call = settle(shared(), &["status", "-n", world.name(), "--until=settled", "--timeout=60s"]);
    let lines = call.kubeconfig(user.kubeconfig()).input(stream(&[claim])).json();
    assert_eq!(lines.all_settled(), 1);
    assert!(lines.message("PersistentVolumeClaim/data").contains("WaitForFirstConsumer"), "{lines:#}");
    shared().kubectl(&["delete", "storageclass", &class]).success();
}

fn a_set_that_goes_well_asks_for_no_event() {
    let world = World::new("well");
    let set = stream(&[e2e::manifests::deployment("web"), e2e::manifests::job("once"), config_map("a")]);
    for _ in 0..2 {
        world.settle(&["apply"]).input(set.clone()).json().all_settled();
    }
    let asked = world.requests().resource("events");
    assert_eq!(asked.count(), 0, "{asked}");
}
