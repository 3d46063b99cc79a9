//! A proxy between program and server does to requests what a test says.

use std::collections::VecDeque;
use std::ops::Deref;
use std::time::{Duration, Instant};

use chaos::{About, Asked, Canned, Ending, Fault, Proxy};
use e2e::manifests::{config_map, custom, definition, deployment, deployment_that, stream, within};
use e2e::{Following, LIMIT, Lines, SOON, World, named, settle, unique};
use harness::shared;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

tests![
    f33_versions_that_expire_in_every_way_lose_no_change_and_no_deletion,
    f38_a_slow_server_that_lets_few_requests_through_is_waited_for,
    f38_a_time_limit_behind_a_limit_of_requests_names_what_is_unfinished,
    a_watch_outlives_a_goaway_and_its_version_is_resumed,
];

/// The proxy, with a runtime of its own.
struct Faulty {
    proxy: Proxy,
    _runtime: Runtime,
}

impl Faulty {
    fn new() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let proxy = runtime.block_on(Proxy::start(shared(), false)).unwrap();
        Self { proxy, _runtime: runtime }
    }

    /// These are done to the watches of one resource, in this order; all other requests pass.
    fn watches(&self, plural: &'static str, faults: impl Into<VecDeque<Option<Fault>>>) {
        let mut faults = faults.into();
        self.script(move |asked: Asked<'_>| {
            let watch = matches!(asked.about, About::Watch | About::StreamingList);
            if watch && asked.path.ends_with(plural) { faults.pop_front().flatten() } else { None }
        });
    }
}

impl Deref for Faulty {
    type Target = Proxy;

    fn deref(&self) -> &Proxy {
        &self.proxy
    }
}

fn readiness(ready: bool, message: &str) -> Value {
    let status = if ready { "True" } else { "False" };
    json!({ "conditions": [{ "type": "Ready", "status": status, "reason": "Test", "message": message }] })
}

fn f33_versions_that_expire_in_every_way_lose_no_change_and_no_deletion() {
    let (world, faulty, group) =
        (World::new("expiry"), Faulty::new(), format!("{}.example.com", unique("expiry")));
    shared().apply(&stream(&[definition(&group, "Widget", "widgets")]));
    let crd = format!("widgets.{group}");
    shared().kubectl(&["wait", "--for=condition=Established", "crd", &crd]).success();
    let widget = |name: &str| {
        let mut widget = within(custom(&group, "Widget", name), world.name());
        widget["status"] = readiness(false, "begun");
        widget
    };
    let path = |name: &str| named(&format!("{group}/v1"), world.name(), "widgets", name);
    let say = |name: &str, ready: bool, message: &str| {
        let patch = json!({ "status": readiness(ready, message) });
        shared().api().merge(&path(name), &patch).unwrap().success();
    };
    faulty.watches(
        "/widgets",
        [
            Some(Fault::At("turn-1", Ending::Expired)),
            Some(Fault::At("turn-2", Ending::Clean)),
            Some(Fault::Answer(Canned::Expired)),
            Some(Fault::At("\"DELETED\"", Ending::Clean)),
            Some(Fault::Empty),
            Some(Fault::At("turn-3", Ending::TooLargeVersion)),
            Some(Fault::Answer(Canned::TooLargeVersion)),
        ],
    );
    let set = stream(&[widget("turning"), widget("gone"), widget("other")]);
    let words = ["apply", "-o", "json", "--timeout=150s", "-s", &faulty.url()];
    let running = world.settle(&words).input(set).start();
    let until = |text: &str| {
        running.wait_for_output(text, SOON);
        // A stream that does not live for a second is no sign of health.
        std::thread::sleep(Duration::from_secs(2));
    };
    until("begun");
    say("turning", false, "turn-1");
    until("turn-1");
    say("turning", false, "turn-2");
    until("turn-2");
    shared().api().delete(&path("gone")).unwrap().success();
    until("NotFound");
    say("other", true, "turn-3");
    let settled = format!("\"name\":\"other\",\"namespace\":\"{}\",\"status\":\"Current\"", world.name());
    until(&settled);
    say("turning", true, "done");
    // Each object has one end of its wait: read with the lines.
    let lines = Lines::of(running.finish(LIMIT));
    lines.exits_with(1);
    let ends =
        ["turning", "gone", "other"].map(|name| lines.conclusion(&format!("Widget/{name}")).to_owned());
    assert_eq!(ends, ["Settled", "Failed", "Settled"], "{lines:#}");
    assert_eq!(lines.status("Widget/gone"), "NotFound", "{lines:#}");
    assert_eq!(lines.all("gap").count(), 0, "{lines:#}");
    // What the proxy answers itself does not get to the server.
    let asked = world.requests().resource(&format!("widgets.{group}"));
    let (watches, lists) = (asked.clone().verb("watch").count(), asked.clone().verb("list").count());
    assert!(watches <= 8 && lists <= 4, "{asked}");
    shared().kubectl(&["delete", "crd", &crd, "--wait=false"]).success();
}

/// Lists take their time, and of all requests so many a second pass.
fn slow_and_unfair(faulty: &Faulty, per_second: u32) {
    let (mut second, mut passed) = (Instant::now(), 0);
    faulty.script(move |asked: Asked<'_>| {
        if second.elapsed() >= Duration::from_secs(1) {
            (second, passed) = (Instant::now(), 0);
        }
        passed += 1;
        let list =
            asked.about == About::StreamingList || (asked.about == About::Read && asked.path.ends_with('s'));
        match () {
            () if passed > per_second => Some(Fault::Answer(Canned::Throttled)),
            () if list => Some(Fault::Late(Duration::from_millis(300))),
            () => None,
        }
    });
}

/// Words of whoever is kept waiting by its own side.
fn speaks_of_a_limiter(text: &str) -> bool {
    let text = text.to_lowercase();
    ["rate limit", "limiter", "too many requests", "throttl", "429"].iter().any(|word| text.contains(word))
}

fn f38_a_slow_server_that_lets_few_requests_through_is_waited_for() {
    let (world, faulty) = (World::new("unfair"), Faulty::new());
    let set = |edition: &str| {
        let all = (0..60).map(|number| {
            let mut web = deployment(&format!("web-{number}"));
            web["spec"]["template"]["metadata"]["annotations"] = json!({ "edition": edition });
            web
        });
        stream(&all.collect::<Vec<_>>())
    };
    world.settle(&["apply", "--timeout=170s"]).input(set("first")).json().all_settled();
    slow_and_unfair(&faulty, 5);
    let mark = shared().mark();
    let words = ["apply", "-o", "json", "--timeout=170s", "-s", &faulty.url()];
    let lines = Lines::of(world.settle(&words).input(set("second")).start().finish(2 * LIMIT));
    assert_eq!(lines.all_settled(), 60);
    for number in 0..60 {
        let object = format!("Deployment/web-{number}");
        assert_eq!((lines.outcome(&object), lines.status(&object)), ("configured", "Current"), "{lines:#}");
    }
    let asked = world.requests().since(mark);
    assert_eq!(asked.clone().verb("patch").count(), 60, "{asked}");
    // One look at the Deployments; what they generate is looked at in common, if at all.
    assert!(asked.clone().resource("deployments.apps").verb("watch").count() <= 2, "{asked}");
    assert!(asked.clone().verb("list").count() + asked.clone().verb("watch").count() <= 10, "{asked}");
    assert_eq!(
        asked.clone().verb("get").filter(|request| !request.resource.is_empty()).count(),
        0,
        "{asked}"
    );
}

fn f38_a_time_limit_behind_a_limit_of_requests_names_what_is_unfinished() {
    let (world, faulty) = (World::new("unfair"), Faulty::new());
    slow_and_unfair(&faulty, 5);
    let set = stream(&[
        deployment("good"),
        config_map("a"),
        deployment_that("stuck", "never-ready"),
        deployment_that("stuck-too", "never-ready"),
    ]);
    let words = ["apply", "--timeout=25s", "-s", &faulty.url()];
    let plain = world.settle(&words).input(set.clone()).run();
    plain.exits_with(3);
    // That a request was tried again is told when it is; what the wait ended with is the objects.
    let (_, end) = plain.stdout.split_once("\n\n").unwrap();
    assert!(!speaks_of_a_limiter(end) && !speaks_of_a_limiter(&plain.stderr), "{plain:?}");
    for (object, unfinished) in [("a", false), ("good", false), ("stuck", true), ("stuck-too", true)] {
        assert_eq!(
            end.contains(&format!("/{object},")) || end.contains(&format!("/{object} ")),
            unfinished,
            "{end}"
        );
    }
    let lines = world.settle(&words).input(set).json();
    lines.exits_with(3);
    for (object, end) in [("good", "Settled"), ("stuck", "TimedOut"), ("stuck-too", "TimedOut")] {
        let object = format!("Deployment/{object}");
        assert_eq!(lines.conclusion(&object), end, "{lines:#}");
        assert!(!speaks_of_a_limiter(lines.message(&object)), "{lines:#}");
    }
}

/// The server says GOAWAY: the watch goes on where it is, and what comes after goes another way.
fn a_watch_outlives_a_goaway_and_its_version_is_resumed() {
    let (world, faulty) = (World::new("goaway"), Faulty::new());
    let [a, b, end] = ["a", "b", "the-end"].map(|name| within(config_map(name), world.name()));
    let path = |object: &Value| {
        named("v1", world.name(), "configmaps", object["metadata"]["name"].as_str().unwrap())
    };
    let write =
        |object: &Value| drop(shared().api().apply(&path(object), "somebody", object).unwrap().success());
    let delete = |object: &Value| drop(shared().api().delete(&path(object)).unwrap().success());
    [&a, &b].into_iter().for_each(write);
    faulty.watches("/configmaps", [Some(Fault::At("the-end", Ending::Clean))]);
    let call = settle(shared(), &["status", "-s", &faulty.url()]).kubeconfig(world.user.kubeconfig());
    let following = Following::start(call.input(stream(&[a.clone(), b.clone()])));
    following.until("b", "Current", "");
    let asked = || world.requests().resource("configmaps");
    assert_eq!((asked().verb("watch").count(), asked().count()), (1, 1), "{}", asked());
    faulty.drain();
    delete(&b);
    following.until("b", "NotFound", "");
    assert_eq!(asked().count(), 1, "the watch goes on: {}", asked());
    // A watch that did not live for a second would be no sign of health.
    std::thread::sleep(Duration::from_secs(2));
    let connections = faulty.accepted();
    write(&end);
    write(&b);
    following.until("b", "Current", "");
    delete(&a);
    following.until("a", "NotFound", "");
    assert_eq!((asked().verb("watch").count(), asked().count()), (2, 2), "{}", asked());
    let resumed = asked().iter().last().unwrap().uri.clone();
    assert!(resumed.contains("resourceVersion=") && !resumed.contains("sendInitialEvents"), "{resumed}");
    assert!(faulty.accepted() > connections, "by another connection");
    assert!(following.gaps().is_empty());
    following.end();
}
