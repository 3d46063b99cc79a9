//! Answers that no server should give, and that some give.

use std::time::Duration;

use kubesettle::id::ObjectId;
use kubesettle::watch::{Hub, Presence};
use sandbox::{Fault, Sandbox, WatchEnd, When};
use serde_json::json;

use crate::view::{View, cluster, config_map, config_map_object, count, id, watch};

/// The answer to the watch of this number: these lines, and the end.
fn script(sandbox: &Sandbox, resource: &str, number: u64, lines: &[String]) {
    let body = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>();
    let answer = Fault::Answer { code: 200, media_type: "application/json", body: body.into() };
    sandbox.inject(When::verb("watch").resource(resource).nth(number), answer);
}

fn event(what: &str, object: &str) -> String {
    format!(r#"{{"type":"{what}","object":{object}}}"#)
}

fn object(namespace: &str, name: &str, uid: &str, version: &str) -> String {
    format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}","uid":"{uid}","resourceVersion":"{version}"}}}}"#
    )
}

fn a(uid: &str, version: &str) -> String {
    object("default", "a", uid, version)
}

fn bookmark(version: &str) -> String {
    event("BOOKMARK", &format!(r#"{{"metadata":{{"resourceVersion":"{version}"}}}}"#))
}

fn end(version: &str) -> String {
    event(
        "BOOKMARK",
        &format!(
            r#"{{"metadata":{{"resourceVersion":"{version}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}}"#
        ),
    )
}

/// From which versions a resource was watched: `=` for the whole state first.
fn starts(sandbox: &Sandbox, resource: &str) -> Vec<String> {
    let requests = sandbox.requests();
    let watches = requests.iter().filter(|r| r.verb == "watch" && r.resource == resource);
    let version = |query: &str| {
        query.split('&').find_map(|part| part.strip_prefix("resourceVersion=").map(str::to_owned)).unwrap()
    };
    watches.map(|watch| version(&watch.query)).collect()
}

fn maps() -> [ObjectId; 2] {
    [config_map("default", "a"), config_map("default", "b")]
}

fn seen(view: &View, id: &ObjectId) -> String {
    match view.presence(id) {
        Presence::Present(digest) => digest.resource_version().to_owned(),
        other => format!("{other:?}"),
    }
}

/// A sandbox whose versions are beyond those of the scripts.
fn aged() -> Sandbox {
    let sandbox = Sandbox::builder().build();
    for n in 0..60 {
        sandbox.create(config_map_object("default", &format!("other-{n}")));
    }
    assert!(sandbox.version() > 50);
    sandbox
}

#[tokio::test(start_paused = true)]
async fn versions_that_are_not_numbers_are_compared_for_equality_only() {
    let sandbox = aged();
    script(&sandbox, "configmaps", 0, &[event("ADDED", &a("u", "x9")), end("m1")]);
    script(&sandbox, "configmaps", 1, &[event("MODIFIED", &a("u", "x10")), bookmark("b0")]);
    script(&sandbox, "configmaps", 2, &[event("MODIFIED", &a("u", "aaa"))]);
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &maps()).await;
    view.synced().await;
    assert!(view.is_absent(&maps()[1]));
    for version in ["x9", "x10", "aaa"] {
        view.until(version, |view| seen(view, &maps()[0]) == version).await;
    }
    assert_eq!(starts(&sandbox, "configmaps"), ["", "m1", "b0"]);
}

#[tokio::test(start_paused = true)]
async fn after_a_bookmark_that_is_older_than_what_was_seen_no_earlier_life_is_told_again() {
    let sandbox = aged();
    script(&sandbox, "configmaps", 0, &[event("ADDED", &a("first", "10")), end("10")]);
    let second = [event("DELETED", &a("first", "11")), event("ADDED", &a("second", "12")), bookmark("9")];
    script(&sandbox, "configmaps", 1, &second);
    // What has been told already comes once more, piece by piece.
    script(&sandbox, "configmaps", 2, &[event("ADDED", &a("first", "10"))]);
    script(&sandbox, "configmaps", 3, &[event("DELETED", &a("first", "11"))]);
    script(
        &sandbox,
        "configmaps",
        4,
        &[event("ADDED", &a("second", "12")), event("MODIFIED", &a("second", "13"))],
    );
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &maps()).await;
    let mut told = Vec::new();
    while told.last().is_none_or(|last| last != "13") {
        let before = view.updates;
        view.until("something", |view| view.updates > before).await;
        let now = seen(&view, &maps()[0]);
        if told.last() != Some(&now) {
            told.push(now);
        }
    }
    let told: Vec<&str> = told.iter().map(String::as_str).filter(|told| *told != "Pending").collect();
    assert_eq!(told, ["10", "12", "13"]);
}

#[tokio::test(start_paused = true)]
async fn three_undecodable_lines_in_a_row_are_a_reason_to_read_the_state_anew_and_two_are_not() {
    let bad = || String::from("this is no JSON");
    for (lines, anew) in [
        (vec![bad(), bad(), bookmark("11"), bad(), bad()], false),
        (vec![bad(), event("SOMETHING", "{}"), bad(), bookmark("12")], true),
    ] {
        let sandbox = aged();
        script(&sandbox, "configmaps", 0, &[event("ADDED", &a("u", "10")), end("10")]);
        script(&sandbox, "configmaps", 1, &lines);
        let hub = Hub::new(&cluster(&sandbox).await);
        let mut view = watch(&hub, &maps()).await;
        view.synced().await;
        view.pass(Duration::from_secs(10)).await;
        let next = if anew { "" } else { "11" };
        assert_eq!(starts(&sandbox, "configmaps"), ["", "10", next]);
        // Counted, and said once.
        let said: Vec<_> = view.gaps.iter().map(|gap| &*gap.reason).collect();
        assert!(said.iter().filter(|said| said.contains("passed over")).count() == 1, "{said:?}");
        assert!(said.iter().all(|said| !said.contains("this is no JSON")), "{said:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_of_another_namespace_or_kind_is_left_out_and_counted() {
    let sandbox = aged();
    let strange = r#"{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a","namespace":"default","uid":"s","resourceVersion":"3"}}"#;
    let lines = [
        event("ADDED", &object("other", "a", "o", "2")),
        event("ADDED", strange),
        event("ADDED", &object("default", "b", "b", "5")),
        end("10"),
    ];
    script(&sandbox, "configmaps", 0, &lines);
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &maps()).await;
    view.synced().await;
    assert!(view.is_absent(&maps()[0]), "{}", seen(&view, &maps()[0]));
    assert!(view.is_present(&maps()[1]));
    let said: Vec<_> = view.gaps.iter().filter(|gap| gap.reason.contains("passed over")).collect();
    assert_eq!(said.len(), 1, "{:?}", view.gaps);
    assert!(said[0].reason.contains("other/a"), "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn an_object_that_two_groups_show_is_told_under_both_names() {
    let sandbox = aged();
    let names = [id("", "Event", "default", "e"), id("events.k8s.io", "Event", "default", "e")];
    for resource in ["events", "events.events.k8s.io"] {
        script(&sandbox, resource, 0, &[event("ADDED", &object("default", "e", "same", "5")), end("10")]);
        script(&sandbox, resource, 1, &[event("DELETED", &object("default", "e", "same", "11"))]);
    }
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &names).await;
    view.synced().await;
    assert!(names.iter().all(|name| view.is_present(name)), "{:?}", view.states);
    view.until("gone under both", |view| names.iter().all(|name| view.is_absent(name))).await;
}

#[tokio::test(start_paused = true)]
async fn a_wanted_object_that_cannot_be_read_is_unknown_and_not_absent() {
    for streaming in [true, false] {
        let sandbox = aged();
        let broken = r#"{"metadata":{"name":"a","namespace":"default","uid":7,"resourceVersion":"3"}}"#;
        if streaming {
            script(&sandbox, "configmaps", 0, &[event("ADDED", broken), end("10")]);
        } else {
            sandbox.inject(
                When::verb("watch").resource("configmaps").nth(0),
                Fault::status(400, "BadRequest", "no"),
            );
            let body = format!(r#"{{"metadata":{{"resourceVersion":"10"}},"items":[{broken}]}}"#);
            let answer = Fault::Answer { code: 200, media_type: "application/json", body: body.into() };
            sandbox.inject(When::verb("list").resource("configmaps").nth(0), answer);
        }
        let hub = Hub::new(&cluster(&sandbox).await);
        let mut view = watch(&hub, &maps()).await;
        view.synced().await;
        assert!(matches!(view.presence(&maps()[0]), Presence::Unknown(_)), "{}", seen(&view, &maps()[0]));
        assert!(view.is_absent(&maps()[1]));
        // Once it can be read, it is known.
        sandbox.create(config_map_object("default", "a"));
        sandbox.end_watches("configmaps", WatchEnd::Expired);
        view.until("it is seen", |view| view.is_present(&maps()[0])).await;
        sandbox.delete("configmaps", "default", "a");
        view.until("and its end", |view| view.is_absent(&maps()[0])).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_discovery_names_and_nobody_serves_is_asked_for_less_and_less() {
    let sandbox = aged();
    let text = Fault::Answer { code: 404, media_type: "text/plain", body: "404 page not found\n".into() };
    let trouble = sandbox.inject(When::any().resource("configmaps"), text);
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &maps()).await;
    view.pass(Duration::from_secs(600)).await;
    assert!(view.synced);
    assert!(matches!(view.presence(&maps()[0]), Presence::Unknown(_)), "{}", seen(&view, &maps()[0]));
    let asked = count(&sandbox, "watch", "configmaps") + count(&sandbox, "list", "configmaps");
    assert!(asked <= 70, "{asked} times in ten minutes");
    sandbox.heal(trouble);
    view.until("it is served", |view| view.is_absent(&maps()[0])).await;
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_cannot_be_watched_is_asked_for_in_rounds() {
    let sandbox = aged();
    let kind = id("", "ComponentStatus", "", "scheduler");
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &[kind.clone(), maps()[0].clone()]).await;
    view.synced().await;
    assert!(view.is_absent(&kind), "{}", seen(&view, &kind));
    view.pass(Duration::from_secs(600)).await;
    assert_eq!(count(&sandbox, "watch", "componentstatuses"), 0);
    let asked = sandbox.request_count();
    assert!(asked <= 60, "{asked} requests in ten minutes");
}

/// A server says 405 although discovery promises more.
#[tokio::test(start_paused = true)]
async fn a_watch_that_is_not_allowed_after_all_is_done_without() {
    let sandbox = aged();
    sandbox.create(config_map_object("default", "a"));
    let no =
        Fault::status(405, "MethodNotAllowed", "watch is not supported on resources of kind \"configmaps\"");
    sandbox.inject(When::verb("watch").resource("configmaps"), no);
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &maps()).await;
    view.synced().await;
    assert!(view.is_present(&maps()[0]) && view.is_absent(&maps()[1]), "{:?}", view.states);
    sandbox.edit("configmaps", "default", "a", |object| object["data"] = json!({"a": "b"}));
    sandbox.create(config_map_object("default", "b"));
    view.until("it is seen", |view| view.is_present(&maps()[1])).await;
    view.pass(Duration::from_secs(600)).await;
    let asked = count(&sandbox, "watch", "configmaps");
    assert!(asked <= 13, "{asked} refused watches in ten minutes");
}
