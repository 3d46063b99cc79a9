//! A few objects among very many of others, and a server that sends its clients away now and then.

use std::thread;

use e2e::manifests::{config_map, stream};
use e2e::{LIMIT, Lines, settle};
use harness::{ControlPlane, Requests};
use serde_json::{Value, json};

tests![
    ten_pods_among_ten_thousand_of_others_cost_a_compressed_list_and_little_memory,
    a_server_that_sends_goaway_is_connected_to_again,
];

const FOREIGN: usize = 10_000;
const HANDS: usize = 8;

fn pod(name: &str, scheduler: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
        "spec": {"schedulerName": scheduler, "containers": [{"name": "c", "image": "example.test/c:1"}]},
    })
}

fn reads(requests: &Requests) -> Requests {
    requests.clone().filter(|request| request.verb == "get" && !request.resource.is_empty())
}

fn ten_pods_among_ten_thousand_of_others_cost_a_compressed_list_and_little_memory() {
    let plane = ControlPlane::builder().nodes(1).start().unwrap();
    let create = |hand: usize| {
        for number in (hand..FOREIGN).step_by(HANDS) {
            let other = pod(&format!("other-{number}"), "nobody");
            plane.api().post("/api/v1/namespaces/default/pods", &other).unwrap().success();
        }
    };
    thread::scope(|scope| (0..HANDS).for_each(|hand| drop(scope.spawn(move || create(hand)))));
    let user = plane.user("few").can_cluster(&["*"], &["*"]).build();
    let proxy = plane.proxy();
    let set: Vec<_> = (0..10).map(|number| pod(&format!("wanted-{number}"), "default-scheduler")).collect();
    let mark = plane.mark();
    let running = settle(&plane, &["apply", "-o", "json"])
        .kubeconfig(user.kubeconfig_via(&proxy))
        .input(stream(&set))
        .start();
    let done = running.finish(LIMIT);
    let peak = done.peak;
    assert_eq!(Lines::of(done).all_settled(), 10);
    let all = plane.requests().since(mark).user(user.name());
    let watches = all.clone().verb("watch").resource("pods").count();
    assert_eq!(watches, 2, "a stream that turns out to be crowded, and the watch behind the list: {all}");
    assert!(all.clone().verb("list").resource("pods").count() <= 12, "pages of about two megabytes: {all}");
    assert_eq!(reads(&all).count(), 0, "{all}");
    let traffic = proxy.traffic();
    assert!(traffic.connections <= 3);
    assert!(traffic.received < 3_000_000, "{} bytes: it comes compressed", traffic.received);
    assert!(peak < 64 << 20, "{} MiB", peak >> 20);
}

fn a_server_that_sends_goaway_is_connected_to_again() {
    let plane = ControlPlane::builder().api_flag("--goaway-chance=0.02").nodes(1).start().unwrap();
    let user = plane.user("sent-away").can_cluster(&["*"], &["*"]).build();
    let proxy = plane.proxy();
    let set: Vec<_> = (0..500).map(|number| config_map(&format!("object-{number}"))).collect();
    let lines = settle(&plane, &["apply"]).kubeconfig(user.kubeconfig_via(&proxy)).input(stream(&set)).json();
    assert_eq!(lines.all_settled(), 500);
    // One for requests and one for watches would do where nobody is sent away.
    let connections = proxy.traffic().connections;
    assert!((3..60).contains(&connections), "{connections} connections");
}
