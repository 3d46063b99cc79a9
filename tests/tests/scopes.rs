//! In which scopes objects are watched, as asked for.

use e2e::manifests::{config_map, deployment, stream, within};
use e2e::{World, settle};
use harness::{Request, Requests, shared};

tests![
    f18_each_watch_scope_opens_the_streams_that_it_names,
    f18_what_is_outside_of_the_watched_namespaces_is_unknown,
];

/// Two namespaces, and two ConfigMaps and a Deployment in each.
struct Places {
    one: World,
    other: World,
}

impl Places {
    fn new() -> Self {
        Self { one: World::new("scope"), other: World::new("scope") }
    }

    fn set(&self) -> String {
        let objects = || [config_map("a"), config_map("b"), deployment("web")];
        let places = [&self.one, &self.other];
        let set: Vec<_> = places
            .iter()
            .flat_map(|place| objects().into_iter().map(|object| within(object, place.name())))
            .collect();
        stream(&set)
    }

    /// As the user of the first place, whose requests are counted from its making on.
    fn settle(&self, words: &[&str]) -> e2e::Settle {
        settle(shared(), words).kubeconfig(self.one.user.kubeconfig())
    }

    /// What was opened. One that turns out to be crowded, since other tests have made much, is listed then
    /// and watched from there.
    fn watches(&self, resource: &str) -> Requests {
        let opened = |request: &Request| request.uri.contains("sendInitialEvents");
        self.one.requests().verb("watch").resource(resource).filter(opened)
    }
}

fn f18_each_watch_scope_opens_the_streams_that_it_names() {
    for (scope, cluster, namespaces) in [("auto", 0, 2), ("cluster", 1, 0), ("namespaces", 0, 2)] {
        let places = Places::new();
        let flag = format!("--watch-scope={scope}");
        for (command, settled) in [("apply", 6), ("status", 6), ("destroy", 6)] {
            let lines = places.settle(&[command, &flag]).input(places.set()).json();
            assert_eq!(lines.all_settled(), settled, "{command} {flag}");
        }
        let watches = places.watches("configmaps");
        let of_all = watches.clone().namespace("").count();
        assert_eq!(of_all, 3 * cluster, "{flag}: {watches}");
        assert_eq!(watches.count() - of_all, 3 * namespaces, "{flag}: {watches}");
        // No Deployment of another namespace either, nor anything by its name.
        let deployments = places.watches("deployments.apps");
        assert_eq!(deployments.clone().namespace("").count(), 3 * cluster, "{flag}: {deployments}");
    }
}

fn f18_what_is_outside_of_the_watched_namespaces_is_unknown() {
    let places = Places::new();
    places.settle(&["apply"]).input(places.set()).json().all_settled();
    let flag = format!("--watch-scope={}", places.one.name());
    let lines = places.settle(&["status", &flag]).input(places.set()).json();
    lines.exits_with(4);
    let outside = lines.all("status").filter(|line| line["namespace"] == places.other.name());
    let outside: Vec<_> = outside.collect();
    assert_eq!(outside.len(), 3, "{lines:#}");
    for line in outside {
        assert_eq!(line["status"], "Unknown", "{line}");
        assert!(line["message"].as_str().unwrap().contains(places.other.name()), "{line}");
    }
}
