//! Rights that are taken away and given back while objects are followed.

use std::time::{Duration, Instant};

use e2e::manifests::{config_map, stream, within};
use e2e::{Following, World, named, settle};
use harness::shared;

tests![f18_rights_that_go_and_come_back_are_stepped_down_and_up_once];

/// How often what was denied is tried again.
const AGAIN: u64 = 60;

/// A refusal is believed after so many: it comes right after contact was lost, and a server that has just
/// been started refuses everybody.
const SURE: usize = 4;

/// What is lost, and then asked for: watches that are allowed, refusals, steps told.
struct Step {
    lost: &'static [usize],
    watches: usize,
    refusals: usize,
    told: usize,
}

/// All, each namespace, each name, single GETs, nothing; and all again.
fn f18_rights_that_go_and_come_back_are_stepped_down_and_up_once() {
    let (one, other) = (World::new("steps"), World::new("steps"));
    let [here, there] = [one.name(), other.name()];
    let moved = within(config_map("moved"), there);
    let set = [
        within(config_map("here-a"), here),
        within(config_map("here-b"), here),
        within(config_map("there"), there),
        moved.clone(),
    ];
    shared().apply(&stream(&set));
    // A right is known by its first verb.
    let (watch, maps) = (&["watch", "list", "get"][..], &["configmaps"][..]);
    let user = shared().user("steps").can_cluster(watch, maps).can(watch, maps, here).can(watch, maps, there);
    let user = user.can_named(watch, maps, here, &["here-a", "here-b"]);
    let user = user.can_named(watch, maps, there, &["there", "moved"]);
    let user = user.can(&["get"], maps, here).can(&["get"], maps, there).build();

    let (proxy, mark, began) = (shared().proxy(), shared().mark(), Instant::now());
    let call = settle(shared(), &["status", "--watch-scope=cluster"]).kubeconfig(user.kubeconfig_via(&proxy));
    let following = Following::start(call.input(stream(&set)));
    set.iter()
        .for_each(|object| following.until(object["metadata"]["name"].as_str().unwrap(), "Current", ""));
    let path = named("v1", there, "configmaps", "moved");
    let toggle = |there: bool| {
        let api = shared().api();
        let done = if there { api.apply(&path, "somebody", &moved) } else { api.delete(&path) };
        done.unwrap().success();
    };
    let asked = || shared().requests().since(mark).user(user.name()).resource("configmaps");
    // Exactly so many, while what was denied is not tried again.
    let refusals = |expected: usize| {
        let again = usize::try_from(began.elapsed().as_secs() / AGAIN).unwrap() * expected;
        let refused = asked().code(403);
        assert!((expected..=expected + again).contains(&refused.count()), "{expected}: {}", asked());
    };

    let steps = [
        Step { lost: &[], watches: 1, refusals: 0, told: 0 },
        Step { lost: &[0], watches: 2, refusals: SURE, told: 1 },
        Step { lost: &[1, 2], watches: 4, refusals: 2 * SURE, told: 2 },
        Step { lost: &[3, 4], watches: 0, refusals: 4 * SURE, told: 4 },
    ];
    let (mut watches, mut refused, mut told, mut is_there) = (0, 0, 0, true);
    for step in steps {
        step.lost.iter().for_each(|right| user.lose(*right));
        proxy.cut();
        refused += step.refusals;
        told += step.told;
        following.wait("the step", |it| told == 0 || it.gaps().len() >= told);
        // It goes on with what is left.
        is_there = !is_there;
        toggle(is_there);
        following.until("moved", if is_there { "Current" } else { "NotFound" }, "");
        refusals(refused);
        watches += step.watches;
        let allowed =
            asked().verb("watch").code(200).filter(|request| request.uri.contains("sendInitialEvents"));
        assert!(allowed.count() >= watches, "{watches}: {}", asked());
        assert_eq!(following.gaps().len(), told, "each step is told once");
    }

    // Two rounds of questions end with the first refusal of each.
    [5, 6].into_iter().for_each(|right| user.lose(right));
    for name in ["here-a", "here-b", "there", "moved"] {
        following.until(name, "Unknown", "cannot get resource \"configmaps\"");
    }
    // Long enough for a loop to show itself.
    std::thread::sleep(Duration::from_secs(5));
    refusals(refused + 2);
    assert_eq!(following.gaps().len(), told + 2);

    toggle(!is_there);
    user.regain(0);
    let before = asked();
    for name in ["here-a", "here-b", "there"] {
        following.until(name, "Current", "");
    }
    following.until("moved", if is_there { "NotFound" } else { "Current" }, "");
    toggle(is_there);
    following.until("moved", if is_there { "Current" } else { "NotFound" }, "");
    std::thread::sleep(Duration::from_secs(5));
    let after = shared().requests().since(before.end()).user(user.name()).resource("configmaps");
    // All namespaces hold what other tests have made, too: that may be much, and is listed then.
    let lists = after.clone().verb("list").count();
    let watches = after.clone().verb("watch").code(200).count();
    assert!((watches, lists) == (1, 0) || (watches == 2 && (1..=4).contains(&lists)), "{after}");
    assert_eq!(after.clone().verb("get").count(), 0, "{after}");
    following.end();
}
