//! The stress scenarios of cli-utils, in a size for every day. `KUBESETTLE_STRESS=1000` gives them
//! theirs. What they cost is counted, never timed.

use e2e::manifests::{config_map, custom, definition, deployment, namespace, stream, within};
use e2e::{LIMIT, Lines, World, settle, unique};
use harness::{ControlPlane, shared};
use serde_json::Value;

tests![
    deployments_by_the_hundred_come_and_go_as_one_set,
    namespaces_by_the_dozen_with_objects_of_a_custom_kind_come_and_go_as_one_set,
    a_run_that_is_cut_short_again_and_again_gets_there,
];

fn size(default: usize) -> usize {
    std::env::var("KUBESETTLE_STRESS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// More than the limit of other tests when the size is more than theirs.
fn finish(call: e2e::Settle) -> Lines {
    Lines::of(call.args(["-o", "json"]).run_within(LIMIT * 10))
}

fn plane(pods: usize) -> ControlPlane {
    ControlPlane::builder().nodes(pods / 200 + 1).start().unwrap()
}

fn deployments_by_the_hundred_come_and_go_as_one_set() {
    let count = size(150);
    let plane = plane(count);
    let set: Vec<Value> =
        (0..count).map(|nth| within(deployment(&format!("web-{nth:04}")), "default")).collect();
    let mark = plane.mark();
    let come = finish(settle(&plane, &["apply", "--set", "many"]).input(stream(&set)));
    assert_eq!(come.all_settled(), count as u64);
    let all = plane.requests().since(mark);
    assert_eq!(all.clone().resource("deployments.apps").writes().count(), count, "{all}");
    // The record and the lock are written a few times, whatever the size of the set.
    assert!(all.clone().writes().count() <= count + 10 + count / 100, "{all}");
    assert!(all.count() <= count + 60 + count / 100, "{all}");
    let gone = finish(settle(&plane, &["destroy", "--set", "many"]));
    assert_eq!(gone.all_settled(), count as u64);
    let left = plane.kubectl(&["get", "deployments,configmaps", "-o", "name"]).success();
    assert_eq!(left.lines().filter(|name| !name.contains("kube-root-ca")).count(), 0, "{left}");
}

fn namespaces_by_the_dozen_with_objects_of_a_custom_kind_come_and_go_as_one_set() {
    let count = size(60);
    let world = World::new("wide");
    let group = format!("{}.example.com", unique("stress"));
    let mut set = vec![definition(&group, "CronTab", "crontabs")];
    for nth in 0..count {
        let home = format!("{}-{nth:04}", world.name());
        set.push(within(config_map("a"), &home));
        set.push(within(custom(&group, "CronTab", "one"), &home));
        set.push(namespace(&home));
    }
    let user = |words: &[&str]| settle(shared(), words).kubeconfig(world.user.kubeconfig());
    let watches = |from| world.requests().since(from).verb("watch");
    let mark = shared().mark();
    let folder = e2e::Folder::new(shared());
    folder.write("set.yaml", &stream(&set));
    settle(shared(), &["init", folder.arg(), "-n", world.name()]).run().exits_with(0);
    let come = finish(user(&["apply", folder.arg()]));
    assert_eq!(come.all_settled(), set.len() as u64);
    // One for each kind, not for each namespace; those of a kind that is not served yet fail first.
    let open = watches(mark).filter(|watch| watch.code == 200);
    assert!(open.count() <= 8, "{open}");
    let writes = world.requests().since(mark).writes().filter(|write| write.code < 300);
    assert!(writes.count() <= set.len() + 10 + set.len() / 100, "{writes}");
    let mark = world.requests().end();
    let gone = finish(user(&["destroy", folder.arg()]));
    assert_eq!(gone.all_settled(), set.len() as u64);
    let open = watches(mark).filter(|watch| watch.code == 200);
    assert!(open.count() <= 8, "{open}");
    let left = shared().kubectl(&["get", "namespaces", "-o", "name"]).success();
    assert!(!left.contains(&format!("{}-0", world.name())), "{left}");
}

/// cli-utils gives every attempt three minutes, and itself fifteen attempts.
fn a_run_that_is_cut_short_again_and_again_gets_there() {
    let count = size(100);
    let plane = plane(count);
    let set: Vec<Value> =
        (0..count).map(|nth| within(deployment(&format!("web-{nth:04}")), "default")).collect();
    let limit = format!("--timeout={}ms", 300 + 3 * count);
    let until_it_ends = |words: &[&str]| {
        for attempt in 1..=60 {
            let call = settle(&plane, words).args(["--set", "retried", &limit]);
            let lines = match words[0] {
                "apply" => finish(call.input(stream(&set))),
                _ => finish(call),
            };
            match lines.done.code {
                Some(0) => return attempt,
                Some(3) => assert_eq!(lines.summary("Total")["failed"], 0, "{lines:#}"),
                _ => panic!("attempt {attempt}\n{lines:#}"),
            }
        }
        panic!("{words:?} never got there");
    };
    let come = until_it_ends(&["apply"]);
    let live = plane.kubectl(&["get", "deployments", "-o", "name"]).success();
    assert_eq!(live.lines().count(), count);
    let gone = until_it_ends(&["destroy"]);
    let left = plane.kubectl(&["get", "deployments,configmaps", "-o", "name"]).success();
    assert_eq!(left.lines().filter(|name| !name.contains("kube-root-ca")).count(), 0, "{left}");
    assert!(come + gone > 2, "no attempt was cut short: {come} and {gone}");
}
