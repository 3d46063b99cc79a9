//! The API server goes away and comes back, under a run.

use e2e::manifests::{config_map, deployment, deployment_that, stream};
use e2e::{Following, LIMIT, Lines, SOON, named, settle};
use harness::{ControlPlane, Part, shared, wait_until};
use serde_json::json;

tests![
    f34_a_restart_in_mid_wait_is_waited_out,
    f34_a_restart_in_mid_apply_is_waited_out,
    f34_rights_that_a_restarted_server_does_not_know_yet_are_no_loss,
    f34_connections_that_are_cut_are_made_again,
    f34_a_server_that_stays_away_cannot_be_told_about,
    f34_a_server_that_falls_silent_is_noticed,
];

fn plane() -> ControlPlane {
    ControlPlane::builder().nodes(1).start().unwrap()
}

fn slow(name: &str, delay: &str) -> serde_json::Value {
    let mut object = deployment_that(name, "slow-ready");
    object["spec"]["template"]["metadata"]["annotations"]["kubesettle.test/delay"] = json!(delay);
    object
}

fn f34_a_restart_in_mid_wait_is_waited_out() {
    let plane = plane();
    let set = stream(&[slow("web", "12s"), config_map("a")]);
    let running = settle(&plane, &["apply", "-o", "json", "--timeout=120s"]).input(set).start();
    running.wait_for_output("\"have\":0,\"want\":1", SOON);
    plane.kill(Part::ApiServer);
    // Its absence is noticed before it is back.
    running.wait_for_output("\"gap\"", SOON);
    plane.start_again(Part::ApiServer);
    let lines = Lines::of(running.finish(LIMIT));
    assert_eq!(lines.all_settled(), 2);
    assert_eq!(lines.outcome("Deployment/web"), "created");
}

fn f34_a_restart_in_mid_apply_is_waited_out() {
    let plane = plane();
    let set: Vec<_> = (0..400).map(|number| config_map(&format!("object-{number}"))).collect();
    let running = settle(&plane, &["apply", "-o", "json", "--timeout=120s"]).input(stream(&set)).start();
    running.wait_for_output("\"operation\":\"created\"", SOON);
    plane.kill(Part::ApiServer);
    running.wait_for_output("\"retry\"", SOON);
    plane.start_again(Part::ApiServer);
    let lines = Lines::of(running.finish(LIMIT));
    assert_eq!(lines.all_settled(), 400);
    let list = plane.kubectl(&["get", "configmaps", "-o", "name"]).success();
    assert_eq!(list.lines().filter(|name| name.contains("/object-")).count(), 400);
    // A write whose answer was lost is no failure.
    assert_eq!(lines.summary("Apply")["failed"], 0);
}

/// A server that has just been started answers before it knows whom it may let in.
fn f34_rights_that_a_restarted_server_does_not_know_yet_are_no_loss() {
    let plane = ControlPlane::builder().without_controllers().start().unwrap();
    let user = plane.user("few").can(&["get", "list", "watch"], &["configmaps"], "default").build();
    let write = |name: &str| {
        let path = named("v1", "default", "configmaps", name);
        plane.api().apply(&path, "somebody", &config_map(name)).unwrap().success();
    };
    write("a");
    let call = settle(&plane, &["status"]).kubeconfig(user.kubeconfig());
    let following = Following::start(call.input(stream(&[config_map("a"), config_map("b")])));
    following.until("b", "NotFound", "");
    let mark = plane.mark();
    for turn in 0..3 {
        plane.kill(Part::ApiServer);
        plane.start_again(Part::ApiServer);
        if turn == 2 {
            write("b");
        }
    }
    following.until("b", "Current", "");
    let told = following.gaps();
    assert!(!told.iter().any(|gap| gap.to_string().contains("watched by its name")), "{told:?}");
    let named = plane.requests().since(mark).user(user.name()).resource("configmaps");
    let named = named.filter(|request| request.uri.contains("fieldSelector") || request.verb == "get");
    assert_eq!(named.count(), 0, "{named}");
    following.end();
}

fn f34_connections_that_are_cut_are_made_again() {
    let (ns, proxy) = (shared().namespace("cut"), shared().proxy());
    let config = shared().admin_kubeconfig_via(&proxy);
    let set = stream(&[slow("web", "5s"), deployment("other")]);
    let words = ["apply", "-o", "json", "--timeout=120s", "-n", ns.name()];
    let running = settle(shared(), &words).kubeconfig(config).input(set).start();
    running.wait_for_output("\"have\":0,\"want\":1", SOON);
    proxy.cut();
    let before = proxy.traffic().connections;
    wait_until("a new connection", LIMIT, || proxy.traffic().connections > before);
    assert_eq!(Lines::of(running.finish(LIMIT)).all_settled(), 2);
}

fn f34_a_server_that_stays_away_cannot_be_told_about() {
    let plane = plane();
    let set = stream(&[slow("web", "100s")]);
    let running = settle(&plane, &["apply", "-o", "json", "--timeout=20s"]).input(set).start();
    running.wait_for_output("\"have\":0,\"want\":1", SOON);
    plane.kill(Part::ApiServer);
    let lines = Lines::of(running.finish(LIMIT));
    assert!(matches!(lines.done.code, Some(3 | 4)), "{lines:#}");
    assert_eq!(lines.status("Deployment/web"), "Unknown", "{lines:#}");
    assert!(lines.message("Deployment/web").contains("contact"), "{lines:#}");
}

/// A black hole: the connection stays open, and nothing answers.
fn f34_a_server_that_falls_silent_is_noticed() {
    let plane = plane();
    let set = stream(&[slow("web", "5s")]);
    let running = settle(&plane, &["apply", "-o", "json", "--timeout=170s"]).input(set).start();
    running.wait_for_output("\"have\":0,\"want\":1", SOON);
    plane.pause(Part::ApiServer);
    running.wait_for_output("\"gap\"", SOON);
    plane.resume(Part::ApiServer);
    let lines = Lines::of(running.finish(LIMIT));
    assert_eq!(lines.all_settled(), 1);
}
