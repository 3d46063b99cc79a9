//! A backup of etcd is put back, or etcd begins anew, under a client that goes on: what is told in the
//! end is what the restored server has.

use e2e::manifests::{config_map, custom, definition, deployment, namespace, stream, within};
use e2e::{Following, LIMIT, Lines, SOON, get, named, settle};
use harness::{Backup, ControlPlane, Mark, Requests, wait_until};
use serde_json::{Value, json};

tests![
    f34_a_backup_that_is_put_back_is_told_as_it_is,
    f34_a_backup_that_has_overtaken_what_was_known_is_told_as_it_is,
    f34_a_server_that_begins_anew_is_told_as_it_is,
    f34_a_run_does_not_say_of_a_backup_what_was_true_before,
    f34_a_run_in_mid_apply_says_of_each_object_what_the_backup_has,
];

const GROUP: &str = "restored.example.com";

/// A server of this test alone, on which nothing happens by itself.
struct Place {
    plane: ControlPlane,
}

impl Place {
    fn new() -> Self {
        Self { plane: ControlPlane::builder().without_controllers().start().unwrap() }
    }

    fn write(&self, object: &Value) {
        let reply = self.plane.api().apply(&path(object), "somebody", object);
        reply.unwrap().success();
    }

    fn delete(&self, object: &Value) {
        self.plane.api().delete(&path(object)).unwrap().success();
    }

    fn define(&self, kind: &str) {
        let crd = crd(kind);
        self.write(&crd);
        wait_until("the kind to be served", SOON, || {
            let list = named(&format!("{GROUP}/v1"), "default", &plural(kind), "");
            self.plane.api().get(list.trim_end_matches('/')).unwrap().status == 200
        });
    }

    fn follow(&self, server: &str, set: &[Value]) -> Following {
        let call = settle(&self.plane, &["status", "-s", server]);
        Following::start(call.input(stream(set)))
    }

    /// What clients of ours have asked since.
    fn requests(&self, mark: Mark) -> Requests {
        self.plane.requests().since(mark).user_agent("kubectl-settle/")
    }

    /// The version that the server is at.
    fn version(&self) -> u64 {
        let list = get(&self.plane, "/api/v1/namespaces/default/secrets?limit=1");
        list["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
    }
}

fn plural(kind: &str) -> String {
    format!("{}s", kind.to_lowercase())
}

fn path(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
    let namespace = match kind.as_str() {
        "CustomResourceDefinition" | "Namespace" => "",
        _ => object["metadata"]["namespace"].as_str().unwrap_or("default"),
    };
    named(&text(&object["apiVersion"]), namespace, &plural(&kind), &name)
}

fn crd(kind: &str) -> Value {
    definition(GROUP, kind, &plural(kind))
}

/// An object whose contents are seen in what is told of it.
fn says(kind: &str, name: &str, text: &str) -> Value {
    let mut object = within(custom(GROUP, kind, name), "default");
    object["status"] = json!({ "conditions": [{ "type": "Stalled", "status": "True", "message": text }] });
    object
}

/// Each object of a follower's set, and what is to be told of it.
fn until(following: &Following, told: &[(&str, &str, &str)]) {
    for (name, status, message) in told {
        following.until(name, status, message);
    }
}

fn f34_a_backup_that_is_put_back_is_told_as_it_is() {
    let place = Place::new();
    let widget = |name: &str, text: &str| says("Widget", name, text);
    ["Widget", "Gadget"].into_iter().for_each(|kind| place.define(kind));
    let before = [
        config_map("map-kept"),
        config_map("map-deleted"),
        widget("kept", "before"),
        widget("changed", "before"),
        widget("deleted", "before"),
        says("Gadget", "undefined", "before"),
    ];
    let after =
        [config_map("map-created"), widget("created", "after"), says("Latecomer", "defined", "after")];
    before.iter().for_each(|object| place.write(object));
    let set: Vec<Value> = before.iter().chain(&after).cloned().collect();
    let following = place.follow(place.plane.url(), &set);
    let as_saved = [
        ("map-kept", "Current", ""),
        ("map-deleted", "Current", ""),
        ("kept", "Failed", "before"),
        ("changed", "Failed", "before"),
        ("deleted", "Failed", "before"),
        ("undefined", "Failed", "before"),
        ("map-created", "NotFound", ""),
        ("created", "NotFound", ""),
        ("defined", "NotFound", "not served"),
    ];
    until(&following, &as_saved);
    let backup = place.plane.back_up();
    place.write(&widget("changed", "after"));
    [&before[1], &before[4], &crd("Gadget")].into_iter().for_each(|object| place.delete(object));
    place.define("Latecomer");
    after.iter().for_each(|object| place.write(object));
    let as_changed = [
        ("map-kept", "Current", ""),
        ("map-deleted", "NotFound", ""),
        ("kept", "Failed", "before"),
        ("changed", "Failed", "after"),
        ("deleted", "NotFound", ""),
        ("undefined", "NotFound", ""),
        ("map-created", "Current", ""),
        ("created", "Failed", "after"),
        ("defined", "Failed", "after"),
    ];
    until(&following, &as_changed);

    let mark = place.plane.mark();
    place.plane.restore(Some(&backup), || following.wait("the loss of contact", |it| !it.gaps().is_empty()));
    until(&following, &as_saved);
    // And what happens from now on is seen.
    place.write(&widget("changed", "again"));
    place.write(&widget("created", "again"));
    place.delete(&widget("kept", ""));
    place.define("Latecomer");
    place.write(&says("Latecomer", "defined", "again"));
    let as_lived_on = [
        ("changed", "Failed", "again"),
        ("created", "Failed", "again"),
        ("kept", "NotFound", ""),
        ("defined", "Failed", "again"),
    ];
    until(&following, &as_lived_on);
    following.end();
    few(&place.requests(mark), &["configmaps", "widgets", "gadgets", "latecomers"]);
}

/// Each kind is asked for a few times and no more, and nobody waits on a watch without its state.
fn few(asked: &Requests, kinds: &[&str]) {
    for kind in kinds {
        let asked = asked.clone().filter(|request| request.resource == *kind);
        assert!((1..=8).contains(&asked.count()), "{kind}: {asked}");
        let whole = |uri: &str| !uri.contains("watch=") || uri.contains("sendInitialEvents=true");
        let read = asked.clone().code(200).filter(|request| whole(&request.uri));
        assert!(read.count() >= 1, "{kind}: {asked}");
    }
    let polls = asked.clone().verb("get").filter(|request| !request.resource.is_empty());
    assert_eq!(polls.count(), 0, "{polls}");
}

/// The client is out of contact for so long that the restored server has got further than the client
/// had seen: no version is too old or too new, and yet another history.
fn f34_a_backup_that_has_overtaken_what_was_known_is_told_as_it_is() {
    let place = Place::new();
    place.define("Widget");
    let widget = |name: &str, text: &str| says("Widget", name, text);
    place.write(&widget("changed", "before"));
    place.write(&config_map("map-kept"));
    let set =
        [widget("changed", ""), widget("created", ""), config_map("map-kept"), config_map("map-created")];
    let proxy = place.plane.proxy();
    let following = place.follow(&proxy.url(), &set);
    until(
        &following,
        &[("changed", "Failed", "before"), ("created", "NotFound", ""), ("map-created", "NotFound", "")],
    );
    let backup = place.plane.back_up();
    for turn in 0..40 {
        place.write(&widget("changed", &format!("lost {turn}")));
        // What is not ours moves the version of its kind.
        place.write(&noise(turn));
    }
    place.write(&widget("created", "lost"));
    until(&following, &[("changed", "Failed", "lost 39"), ("created", "Failed", "lost")]);
    let known = place.version();

    proxy.shut();
    place.plane.restore(Some(&backup), || ());
    place.write(&config_map("map-created"));
    let mut turn = 100;
    while place.version() < known + 20 {
        place.write(&noise(turn));
        turn += 1;
    }
    let mark = place.plane.mark();
    proxy.open();
    until(
        &following,
        &[
            ("changed", "Failed", "before"),
            ("created", "NotFound", ""),
            ("map-kept", "Current", ""),
            ("map-created", "Current", ""),
        ],
    );
    following.end();
    few(&place.requests(mark), &["configmaps", "widgets"]);
}

fn f34_a_server_that_begins_anew_is_told_as_it_is() {
    let place = Place::new();
    place.define("Widget");
    let home = namespace("home");
    let at_home = |object| within(object, "home");
    let set = [
        home.clone(),
        at_home(config_map("map")),
        at_home(says("Widget", "one", "before")),
        at_home(says("Latecomer", "late", "")),
    ];
    set[..3].iter().for_each(|object| place.write(object));
    let following = place.follow(place.plane.url(), &set);
    let late = ("late", "NotFound", "not served");
    until(&following, &[("home", "Current", ""), ("map", "Current", ""), ("one", "Failed", "before"), late]);
    let mark = place.plane.mark();
    place.plane.restore(None, || following.wait("the loss of contact", |it| !it.gaps().is_empty()));
    until(&following, &[("home", "NotFound", ""), ("map", "NotFound", "")]);
    until(&following, &[("one", "NotFound", "not served"), late]);
    place.define("Widget");
    place.write(&home);
    place.write(&at_home(says("Widget", "one", "again")));
    place.write(&at_home(config_map("map")));
    until(&following, &[("home", "Current", ""), ("map", "Current", ""), ("one", "Failed", "again"), late]);
    following.end();
    few(&place.requests(mark), &["namespaces", "configmaps", "widgets"]);
}

fn f34_a_run_does_not_say_of_a_backup_what_was_true_before() {
    let place = Place::new();
    let edition = |text: &str| {
        let mut map = config_map("map");
        map["data"]["edition"] = json!(text);
        map
    };
    let run = |set: &[Value], backup: Option<&Backup>| {
        let words = ["apply", "-o", "json", "--timeout=60s", "--force-conflicts"];
        let running = settle(&place.plane, &words).input(stream(set)).start();
        running.wait_for_output("NoObservedGeneration", SOON);
        place.plane.restore(backup, || running.wait_for_output("\"gap\"", SOON));
        Lines::of(running.finish(LIMIT))
    };
    let live = |name: &str| get(&place.plane, &named("v1", "default", "configmaps", name));
    place.write(&edition("first"));
    let backup = place.plane.back_up();
    // Without controllers the Deployment never settles: the run waits.
    let set = [edition("second"), config_map("new"), deployment("web")];
    let lines = run(&set, Some(&backup));
    assert_eq!(live("map")["data"]["edition"], "first");
    assert!(live("new").is_null());
    lines.exits_with(1);
    for object in ["ConfigMap/map", "ConfigMap/new", "Deployment/web"] {
        assert_eq!(lines.conclusion(object), "Failed", "{lines:#}");
    }
    assert_eq!(lines.status("ConfigMap/new"), "NotFound");
    assert_eq!(lines.summary("Total")["successful"], 0, "{lines:#}");
}

fn f34_a_run_in_mid_apply_says_of_each_object_what_the_backup_has() {
    let place = Place::new();
    let mut set: Vec<Value> = (0..10).map(|number| config_map(&format!("object-{number}"))).collect();
    let apply =
        |set: &[Value]| settle(&place.plane, &["apply", "--set=shop", "-o", "json"]).input(stream(set));
    Lines::of(apply(&set).run()).all_settled();
    let backup = place.plane.back_up();
    set.extend((10..300).map(|number| config_map(&format!("object-{number}"))));
    let running = apply(&set).start();
    running.wait_for_output("\"operation\":\"created\"", SOON);
    place.plane.restore(Some(&backup), || running.wait_for_output("\"retry\"", SOON));
    let lines = Lines::of(running.finish(LIMIT));
    assert_ne!(lines.done.code, Some(0), "{lines:#}");
    let live = get(&place.plane, "/api/v1/namespaces/default/configmaps");
    let live = live["items"].as_array().unwrap();
    let names = || live.iter().map(|object| object["metadata"]["name"].as_str().unwrap());
    for number in 0..300 {
        let name = format!("object-{number}");
        let there = names().any(|live| live == name);
        let conclusion = lines.conclusion(&format!("ConfigMap/{name}"));
        assert_eq!(conclusion == "Settled", there, "{name} {conclusion}: {lines:#}");
    }
    // Whatever carries the mark of the set is on record.
    let record = &live.iter().find(|object| object["metadata"]["name"] == "shop").unwrap()["data"];
    let marked =
        |object: &&Value| object["metadata"]["annotations"]["config.k8s.io/owning-inventory"].is_string();
    for object in live.iter().filter(marked) {
        let name = object["metadata"]["name"].as_str().unwrap();
        let recorded = record.as_object().unwrap().keys().any(|key| key.split('_').nth(1) == Some(name));
        assert!(recorded, "{name} is not on record: {record}");
    }
    // Once more, and all is well.
    Lines::of(apply(&set).run()).all_settled();
}

/// Of nobody, and never twice the same.
fn noise(turn: u32) -> Value {
    let mut map = config_map("noise");
    map["data"]["turn"] = json!(turn.to_string());
    map
}
