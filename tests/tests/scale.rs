//! Many objects: what they cost in requests and connections.

use e2e::manifests::{config_map, deployment, stream, within};
use e2e::{World, settle};
use harness::{Requests, shared};

tests![
    hundreds_of_deployments_cost_one_request_each,
    objects_in_many_namespaces_need_no_watch_for_each,
    a_no_op_opens_no_watch_on_pods,
];

/// Requests that are about objects, neither writes nor discovery.
fn looks(requests: &Requests) -> Requests {
    requests.clone().filter(|request| {
        ["get", "list", "watch"].contains(&request.verb.as_str()) && !request.resource.is_empty()
    })
}

fn hundreds_of_deployments_cost_one_request_each() {
    let world = World::new("many");
    let more = [shared().namespace("many"), shared().namespace("many")];
    let homes = [world.name(), more[0].name(), more[1].name()];
    let set: Vec<_> = (0..300).map(|n| within(deployment(&format!("web-{n}")), homes[n % 3])).collect();
    let proxy = shared().proxy();
    let config = world.user.kubeconfig_via(&proxy);
    let call = |words: &[&str]| settle(shared(), words).kubeconfig(&config).input(stream(&set)).json();

    let lines = call(&["apply"]);
    assert_eq!(lines.all_settled(), 300);
    assert_eq!(lines.summary("Apply")["created"], 300);
    let all = world.requests();
    let writes = all.clone().writes();
    assert_eq!(
        (writes.count(), writes.clone().verb("patch").resource("deployments.apps").count()),
        (300, 300),
        "{all}"
    );
    let gets = looks(&all).verb("get");
    assert_eq!(gets.count(), 0, "{gets}");
    // Per namespace: Deployments, and under a standstill their ReplicaSets and Pods, each a stream and,
    // where that is crowded, a list and a watch. The rest is discovery.
    assert!(all.count() - writes.count() <= 3 * 3 * 3 + 5, "{all}");
    let connections = proxy.traffic().connections;
    assert!((1..=3).contains(&connections), "{connections} connections");

    let mark = all.end();
    let again = call(&["apply"]);
    again.all_settled();
    assert_eq!(again.summary("Apply")["unchanged"], 300);
    let all = world.requests().since(mark);
    assert_eq!(all.clone().writes().count(), 300, "{all}");
    assert!(all.count() <= 300 + 30, "{all}");

    let mark = all.end();
    assert_eq!(call(&["destroy"]).all_settled(), 300);
    let all = world.requests().since(mark);
    assert_eq!(all.clone().verb("delete").count(), 300, "{all}");
    assert!(all.count() <= 300 + 30, "{all}");
}

fn objects_in_many_namespaces_need_no_watch_for_each() {
    let world = World::new("wide");
    let homes: Vec<_> = (0..12).map(|_| shared().namespace("wide")).collect();
    let set: Vec<_> = homes.iter().map(|home| within(config_map("a"), home.name())).collect();
    let lines = settle(shared(), &["apply"]).kubeconfig(world.user.kubeconfig()).input(stream(&set)).json();
    assert_eq!(lines.all_settled(), 12);
    let watches = world.requests().verb("watch");
    assert!(watches.count() <= 2, "{watches}");
}

fn a_no_op_opens_no_watch_on_pods() {
    let world = World::new("noop");
    let set = stream(&[deployment("web"), config_map("a")]);
    world.settle(&["apply"]).input(set.clone()).json().all_settled();
    let mark = world.requests().end();
    world.settle(&["apply"]).input(set).json().all_settled();
    let all = world.requests().since(mark);
    for resource in ["pods", "replicasets.apps"] {
        assert_eq!(all.clone().resource(resource).count(), 0, "{all}");
    }
    let gets = looks(&all).verb("get");
    assert_eq!(gets.count(), 0, "{gets}");
}
