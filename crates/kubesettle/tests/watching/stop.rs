//! Whatever a subscription was doing when it is dropped, nothing of it is left.

use std::time::Duration;

use kubesettle::id::ObjectId;
use kubesettle::watch::Hub;
use sandbox::{Fault, Sandbox, User, WatchEnd, When};
use serde_json::json;

use crate::view::{View, cluster_as, config_map, config_map_object, id, watch};

/// A state to be dropped in: what is done before, and for how long it goes on.
type Row = (&'static str, fn(&Sandbox), u64);

fn web() -> ObjectId {
    id("apps", "Deployment", "default", "web")
}

fn nothing(_: &Sandbox) {}

fn refuse(sandbox: &Sandbox) {
    sandbox.inject(When::verb("watch").resource("configmaps"), Fault::Refuse);
}

fn hang(sandbox: &Sandbox) {
    sandbox.inject(When::verb("watch").resource("configmaps"), Fault::Hang);
}

fn half_a_list(sandbox: &Sandbox) {
    sandbox.inject(When::verb("watch").resource("configmaps"), Fault::HangBody(40));
}

fn slow_pages(sandbox: &Sandbox) {
    sandbox.inject(When::verb("watch").resource("configmaps"), Fault::status(400, "BadRequest", "no"));
    sandbox.inject(When::verb("list").resource("configmaps"), Fault::Delay(Duration::from_secs(20)));
}

fn no_discovery(sandbox: &Sandbox) {
    sandbox.inject(When::path("/apis"), Fault::Hang);
}

fn only_get(sandbox: &Sandbox) {
    sandbox.set_user("token", User::limited("u").allow("get", "configmaps", "", ""));
}

fn no_right(sandbox: &Sandbox) {
    sandbox.set_user("token", User::limited("u"));
}

fn silent(sandbox: &Sandbox) {
    sandbox.inject(
        When::verb("watch").resource("configmaps"),
        Fault::EndWatch(Duration::from_secs(2), WatchEnd::Silent),
    );
}

const STATES: &[Row] = &[
    ("at once", nothing, 0),
    ("before the first answer", hang, 10),
    ("in the middle of a streaming list", half_a_list, 5),
    ("in the middle of a paged list", slow_pages, 25),
    ("in a pause after a failure", refuse, 20),
    ("while a kind is looked for", nothing, 20),
    ("while discovery does not answer", no_discovery, 20),
    ("while single objects are asked for", only_get, 30),
    ("while a denied look is tried again", only_get, 61),
    ("while nothing may be seen", no_right, 61),
    ("while a stream is silent", silent, 30),
    ("while all is well", nothing, 400),
];

#[tokio::test(start_paused = true)]
async fn a_subscription_that_is_dropped_in_any_state_leaves_neither_stream_nor_task() {
    for (state, before, seconds) in STATES {
        let sandbox = Sandbox::builder().nodes(1, 1_000).build();
        sandbox.create(config_map_object("default", "a"));
        sandbox.create(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
            "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "64"}}}]}}},
        }));
        let all = User::limited("u").allow("*", "*", "", "");
        let cluster = cluster_as(&sandbox, all).await;
        let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
        let without = tasks();
        before(&sandbox);
        let hub = Hub::new(&cluster);
        let targets = [
            config_map("default", "a"),
            config_map("default", "b"),
            config_map("other", "c"),
            id("example.com", "Widget", "default", "w"),
            web(),
        ];
        let mut view: View = watch(&hub, &targets).await;
        view.subscription().children(web(), true).await.unwrap();
        view.subscription().events(web(), true).await.unwrap();
        view.pass(Duration::from_secs(*seconds)).await;
        // Another subscriber of the same streams goes first, and is forgotten by itself.
        let other = watch(&hub, &targets).await;
        drop(other);
        view.pass(Duration::from_millis(1)).await;
        drop(hub);
        drop(view);
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(sandbox.open_watches(""), 0, "{state}");
        assert_eq!(tasks(), without, "{state}");
        let asked = sandbox.request_count();
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert_eq!(sandbox.request_count(), asked, "{state}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hub_whose_subscribers_are_gone_asks_for_nothing_and_serves_the_next() {
    for (state, before, seconds) in STATES {
        let sandbox = Sandbox::builder().build();
        sandbox.create(config_map_object("default", "a"));
        let all = || User::limited("u").allow("*", "*", "", "");
        let hub = Hub::new(&cluster_as(&sandbox, all()).await);
        before(&sandbox);
        let widget = id("example.com", "Widget", "default", "w");
        let mut view = watch(&hub, &[config_map("default", "a"), config_map("default", "b"), widget]).await;
        view.pass(Duration::from_secs(*seconds)).await;
        drop(view);
        // Streams linger for ten seconds, and what was denied is not tried for nobody.
        tokio::time::sleep(Duration::from_secs(75)).await;
        assert_eq!(sandbox.open_watches(""), 0, "{state}");
        let asked = sandbox.request_count();
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert_eq!(sandbox.request_count(), asked, "{state}");
        sandbox.heal_all();
        sandbox.set_user("token", all());
        let mut view = watch(&hub, &[config_map("default", "a")]).await;
        view.until("it serves the next", |view| view.is_present(&config_map("default", "a"))).await;
    }
}
