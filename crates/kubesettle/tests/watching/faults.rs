//! Every way a stream can go wrong, and what the hub makes of it.

use std::time::Duration;

use kubesettle::watch::{Hub, Presence};
use sandbox::{Fault, Sandbox, WatchEnd, When};
use serde_json::json;

use crate::view::{View, cluster, config_map, config_map_object, count, watch};

/// A hub that watches `default/a` and `default/b`, both there.
async fn watched(sandbox: &Sandbox) -> (Hub, View) {
    sandbox.create(config_map_object("default", "a"));
    sandbox.create(config_map_object("default", "b"));
    let hub = Hub::new(&cluster(sandbox).await);
    let mut view = watch(&hub, &[config_map("default", "a"), config_map("default", "b")]).await;
    view.synced().await;
    (hub, view)
}

/// After whatever happened: a change and a deletion are both seen.
async fn is_alive(sandbox: &Sandbox, view: &mut View) {
    let (a, b) = (config_map("default", "a"), config_map("default", "b"));
    sandbox.edit("configmaps", "default", "a", |object| object["data"] = json!({"alive": "yes"}));
    sandbox.delete("configmaps", "default", "b");
    let newest = sandbox.get("configmaps", "default", "a").unwrap();
    let newest: u64 = newest["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
    view.until("the change is seen", |view| view.version(&a) == Some(newest)).await;
    view.until("the deletion is seen", |view| view.is_absent(&b)).await;
}

#[tokio::test(start_paused = true)]
async fn every_end_of_a_stream_is_survived_with_few_requests() {
    for end in [WatchEnd::Clean, WatchEnd::Expired, WatchEnd::Reset, WatchEnd::MidLine, WatchEnd::Silent] {
        let sandbox = Sandbox::builder().build();
        let (_hub, mut view) = watched(&sandbox).await;
        view.pass(Duration::from_secs(5)).await;
        sandbox.end_watches("configmaps", end);
        is_alive(&sandbox, &mut view).await;
        let requests = count(&sandbox, "watch", "configmaps") + count(&sandbox, "list", "configmaps");
        assert!(requests <= 4, "{end:?}: {requests} requests");
    }
}

#[tokio::test(start_paused = true)]
async fn answers_that_may_pass_are_waited_out_within_bounds() {
    let faults = [
        Fault::status(500, "InternalError", "etcd"),
        Fault::status(502, "", "bad gateway"),
        Fault::status(503, "ServiceUnavailable", "not yet ready"),
        Fault::status(504, "Timeout", "slow"),
        Fault::throttle(1),
        Fault::Refuse,
        Fault::Lose,
        Fault::status(410, "Expired", "too old resource version"),
        Fault::CutBody(7),
        Fault::EndBody(0),
    ];
    for fault in faults {
        let sandbox = Sandbox::builder().build();
        sandbox.inject(When::verb("watch").resource("configmaps").first(6), fault.clone());
        sandbox.create(config_map_object("default", "a"));
        sandbox.create(config_map_object("default", "b"));
        let hub = Hub::new(&cluster(&sandbox).await);
        let mut view = watch(&hub, &[config_map("default", "a"), config_map("default", "b")]).await;
        view.until("state after the faults", |view| view.is_present(&config_map("default", "a"))).await;
        is_alive(&sandbox, &mut view).await;
        let requests = count(&sandbox, "watch", "configmaps") + count(&sandbox, "list", "configmaps");
        assert!(requests <= 12, "{fault:?}: {requests} requests");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_every_watch_at_once_is_not_asked_in_a_hot_loop() {
    let sandbox = Sandbox::builder().build();
    let (_hub, mut view) = watched(&sandbox).await;
    sandbox.inject(
        When::verb("watch").resource("configmaps"),
        Fault::EndWatch(Duration::from_millis(1), WatchEnd::Clean),
    );
    sandbox.end_watches("configmaps", WatchEnd::Clean);
    let before = count(&sandbox, "watch", "configmaps");
    view.pass(Duration::from_secs(60)).await;
    let asked = count(&sandbox, "watch", "configmaps") - before;
    assert!(asked <= 12, "{asked} watches in a minute");
    sandbox.heal_all();
    is_alive(&sandbox, &mut view).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_without_streaming_lists_is_listed_in_pages() {
    let sandbox = Sandbox::builder().no_streaming_lists().build();
    for n in 0..1_200 {
        sandbox.create(config_map_object("default", &format!("foreign-{n}")));
    }
    let (_hub, mut view) = watched(&sandbox).await;
    assert_eq!(count(&sandbox, "list", "configmaps"), 2, "500, then as many small ones as fit a page");
    is_alive(&sandbox, &mut view).await;
}

#[tokio::test(start_paused = true)]
async fn a_continue_token_that_expires_gives_one_whole_list() {
    let sandbox = Sandbox::builder().no_streaming_lists().build();
    for n in 0..1_200 {
        sandbox.create(config_map_object("default", &format!("foreign-{n}")));
    }
    sandbox.inject(
        When::verb("list").resource("configmaps").nth(1),
        Fault::status(410, "Expired", "The provided continue parameter is too old"),
    );
    let (_hub, mut view) = watched(&sandbox).await;
    assert_eq!(count(&sandbox, "list", "configmaps"), 3, "a page, the token that failed, the whole");
    is_alive(&sandbox, &mut view).await;
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_that_never_ends_is_given_up_for_lists() {
    let sandbox = Sandbox::builder().build();
    sandbox.inject(When::verb("watch").resource("configmaps").first(1), Fault::HangBody(40));
    let began = tokio::time::Instant::now();
    let (_hub, mut view) = watched(&sandbox).await;
    assert_eq!(began.elapsed().as_secs(), 10, "of virtual time, without an event");
    assert!(count(&sandbox, "list", "configmaps") >= 1);
    is_alive(&sandbox, &mut view).await;
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_no_event_is_left_out_and_the_stream_goes_on() {
    let sandbox = Sandbox::builder().build();
    let body = concat!(
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"namespace\":\"default\",\"uid\":\"u\",\"resourceVersion\":\"1\"}}}\n",
        "this is no JSON\n",
        "{\"type\":\"SOMETHING\",\"object\":{}}\n",
        "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"2\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n",
    );
    let answer = Fault::Answer { code: 200, media_type: "application/json", body: body.into() };
    sandbox.inject(When::verb("watch").resource("configmaps").first(1), answer);
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &[config_map("default", "a"), config_map("default", "b")]).await;
    view.synced().await;
    assert!(view.is_present(&config_map("default", "a")));
    assert!(view.is_absent(&config_map("default", "b")));
}

#[tokio::test(start_paused = true)]
async fn lost_contact_is_said_once_and_its_targets_are_told() {
    let sandbox = Sandbox::builder().build();
    let (_hub, mut view) = watched(&sandbox).await;
    let outage = sandbox.inject(When::verb("watch").resource("configmaps"), Fault::Refuse);
    sandbox.end_watches("configmaps", WatchEnd::Reset);
    view.pass(Duration::from_secs(60)).await;
    assert_eq!(view.gaps.len(), 1, "{:?}", view.gaps);
    assert!(view.states[&config_map("default", "a")].gap.is_some());
    sandbox.heal(outage);
    view.until("contact is back", |view| view.states[&config_map("default", "a")].gap.is_none()).await;
    is_alive(&sandbox, &mut view).await;
}

#[tokio::test(start_paused = true)]
async fn trouble_with_one_kind_does_not_concern_the_others() {
    let sandbox = Sandbox::builder().build();
    sandbox.inject(When::verb("watch").resource("secrets"), Fault::Hang);
    sandbox.inject(When::verb("list").resource("secrets"), Fault::Hang);
    sandbox.create(config_map_object("default", "a"));
    let hub = Hub::new(&cluster(&sandbox).await);
    let (a, secret) = (config_map("default", "a"), crate::view::id("", "Secret", "default", "s"));
    let mut view = watch(&hub, &[a.clone(), secret.clone()]).await;
    view.until("the good kind is known", |view| view.is_present(&a)).await;
    view.synced().await;
    assert!(
        matches!(view.presence(&secret), Presence::Unknown(_)),
        "not a hang: {:?}",
        view.presence(&secret)
    );
}

/// One server of several is behind the others and answers for a kind that all of them serve.
#[tokio::test(start_paused = true)]
async fn a_kind_is_not_served_only_when_discovery_says_so_too() {
    let text = || Fault::Answer { code: 404, media_type: "text/plain", body: "404 page not found\n".into() };
    let a = config_map("default", "a");
    for verb in ["watch", "list"] {
        let sandbox = Sandbox::builder().build();
        sandbox.create(config_map_object("default", "a"));
        sandbox.create(config_map_object("default", "b"));
        if verb == "list" {
            sandbox.inject(When::verb("watch").resource("configmaps").first(1), Fault::status(400, "", "no"));
        }
        sandbox.inject(When::verb(verb).resource("configmaps").first(2), text());
        let hub = Hub::new(&cluster(&sandbox).await);
        let mut view = watch(&hub, &[a.clone(), config_map("default", "b")]).await;
        view.synced().await;
        let seen = view.presence(&a);
        assert!(matches!(seen, Presence::Unknown(_) | Presence::Present(_)), "{verb}: {seen:?}");
        view.until("it is found", |view| view.is_present(&a)).await;
        is_alive(&sandbox, &mut view).await;
    }
}

#[tokio::test(start_paused = true)]
async fn f33_versions_that_are_refused_in_every_way_lose_no_change_and_no_deletion() {
    let sandbox = Sandbox::builder().build();
    let (_hub, mut view) = watched(&sandbox).await;
    let a = config_map("default", "a");
    let refusals = [
        Fault::status(410, "Expired", "too old resource version: 1 (2)"),
        Fault::EndBody(0),
        Fault::status(504, "Timeout", "Timeout: Too large resource version: 999, current: 1"),
    ];
    for (turn, fault) in refusals.into_iter().enumerate() {
        sandbox.inject(When::verb("watch").resource("configmaps").first(2), fault);
        sandbox.end_watches("configmaps", WatchEnd::Expired);
        sandbox
            .edit("configmaps", "default", "a", |object| object["data"] = json!({"turn": turn.to_string()}));
        let newest = sandbox.get("configmaps", "default", "a").unwrap();
        let newest: u64 = newest["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
        view.until("the change is seen", |view| view.version(&a) == Some(newest)).await;
    }
    is_alive(&sandbox, &mut view).await;
    let requests = count(&sandbox, "watch", "configmaps") + count(&sandbox, "list", "configmaps");
    assert!(requests <= 24, "{requests} requests");
}

/// A backup of etcd is put back. The client may be out of contact for so long that the server gets further
/// than the client had seen: no version is too new then, and yet the history is another.
#[tokio::test(start_paused = true)]
async fn f34_a_backup_that_is_put_back_is_told_as_it_is() {
    for further in [None, Some(50)] {
        let sandbox = Sandbox::builder().build();
        let (_hub, mut view) = watched(&sandbox).await;
        let (a, b, c) = (config_map("default", "a"), config_map("default", "b"), config_map("default", "c"));
        view.add(std::slice::from_ref(&c)).await;
        view.synced().await;
        let saved = view.version(&a);
        let backup = sandbox.back_up();
        for turn in 0..20 {
            sandbox.edit("configmaps", "default", "a", |object| {
                object["data"] = json!({"turn": turn.to_string()})
            });
        }
        sandbox.delete("configmaps", "default", "b");
        sandbox.create(config_map_object("default", "c"));
        view.until("the changes are seen", |view| view.is_absent(&b) && view.is_present(&c)).await;

        let mark = count(&sandbox, "watch", "configmaps") + count(&sandbox, "list", "configmaps");
        let known = sandbox.version();
        let outage = ["watch", "list"]
            .map(|verb| sandbox.inject(When::verb(verb).resource("configmaps"), Fault::Refuse));
        sandbox.restore(&backup);
        for n in 0..further.unwrap_or(0) {
            sandbox.create(config_map_object("default", &format!("foreign-{n}")));
        }
        assert_eq!(sandbox.version() > known, further.is_some());
        view.pass(Duration::from_secs(10)).await;
        outage.into_iter().for_each(|fault| sandbox.heal(fault));
        view.until("the backup is seen", |view| {
            view.version(&a) == saved && view.is_present(&b) && view.is_absent(&c)
        })
        .await;
        assert!(view.states.values().all(|state| state.rewinds == 1), "{further:?}: {:?}", view.states);
        is_alive(&sandbox, &mut view).await;
        let requests = count(&sandbox, "watch", "configmaps") + count(&sandbox, "list", "configmaps") - mark;
        assert!(requests <= 8, "{further:?}: {requests} requests");
    }
}

#[tokio::test(start_paused = true)]
async fn credentials_that_are_rejected_for_good_are_a_gap_that_is_said_once() {
    let sandbox = Sandbox::builder().build();
    let outage = sandbox
        .inject(When::any().resource("configmaps"), Fault::status(401, "Unauthorized", "Unauthorized"));
    sandbox.create(config_map_object("default", "a"));
    let hub = Hub::new(&cluster(&sandbox).await);
    let a = config_map("default", "a");
    let mut view = watch(&hub, &[a.clone(), config_map("default", "b")]).await;
    view.synced().await;
    let Presence::Unknown(error) = view.presence(&a) else { panic!("{:?}", view.states) };
    assert!(error.message.contains("Unauthorized"), "{error}");
    view.pass(Duration::from_secs(600)).await;
    assert_eq!(view.gaps.len(), 1, "{:?}", view.gaps);
    let asked = count(&sandbox, "watch", "configmaps");
    assert!(asked <= 45, "{asked} times in ten minutes");
    sandbox.heal(outage);
    view.until("they are taken again", |view| view.is_present(&a)).await;
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_that_was_refused_is_not_tried_again_for_another_scope_of_the_kind() {
    let sandbox = Sandbox::builder().no_streaming_lists().build();
    let hub = Hub::new(&cluster(&sandbox).await);
    for namespace in ["default", "other", "third"] {
        let mut view = watch(&hub, &[config_map(namespace, "a"), config_map(namespace, "b")]).await;
        view.synced().await;
    }
    let requests = sandbox.requests();
    let tried = requests.iter().filter(|request| request.query.contains("sendInitialEvents"));
    assert_eq!(tried.count(), 1);
}
