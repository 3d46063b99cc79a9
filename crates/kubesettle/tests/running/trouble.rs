//! Trouble between a run and its server: answers that are lost, contact that is lost and found again.

use std::collections::BTreeSet;
use std::time::{Duration, UNIX_EPOCH};

use kubesettle::error::{ErrorClass, ExitClass};
use kubesettle::event::{Body, Conclusion, Operation, Outcome};
use sandbox::{Fault, Sandbox, WatchEnd, When};
use serde_json::json;

use crate::scene::{SET, Scene, Told, config_maps};

/// What passes by itself: the request was not seen, its answer was lost, something on the way gave up.
fn passing() -> [Fault; 6] {
    [
        Fault::Refuse,
        Fault::Lose,
        Fault::CutBody(7),
        Fault::status(502, "", "bad gateway"),
        Fault::status(503, "ServiceUnavailable", "not yet ready"),
        Fault::throttle(1),
    ]
}

fn foreign(sandbox: &Sandbox, name: &str) {
    sandbox.create(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"}, "data": {"key": "theirs"}}));
}

#[tokio::test(start_paused = true)]
async fn f34_lock_and_record_are_asked_for_again_until_trouble_passes() {
    let places = [
        When::verb("get").resource("leases"),
        When::verb("create").resource("leases"),
        When::verb("update").resource("leases"),
        When::verb("delete").resource("leases"),
        When::verb("get").resource("configmaps"),
        When::verb("create").resource("configmaps"),
        When::verb("update").resource("configmaps"),
        When::verb("delete").resource("configmaps").name(SET),
    ];
    for place in places {
        for fault in passing() {
            let scene = Scene::new();
            let what = format!("{fault:?} at {place:?}");
            let clean = |told: &Told, when: &str| {
                assert_eq!(told.class(), Some(ExitClass::Ok), "{what}, {when}: {}", told.message());
                scene.assert_nothing_lost(&what);
            };
            scene.sandbox.inject(place.clone().first(2), fault.clone());
            clean(&scene.apply(&config_maps(&[("a", "1"), ("b", "1")])).await, "apply");
            scene.sandbox.inject(place.clone().first(2), fault.clone());
            clean(&scene.apply(&config_maps(&[("b", "2"), ("c", "1")])).await, "change");
            assert_eq!(scene.recorded().len(), 2, "{what}");
            scene.sandbox.inject(place.clone().first(2), fault.clone());
            clean(&scene.destroy().await, "destroy");
            assert!(scene.sandbox.get("configmaps", "default", SET).is_none(), "{what}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn f34_an_object_whose_answer_was_lost_stays_on_record_whatever_comes_after() {
    let after = [
        Fault::status(403, "Forbidden", "configmaps \"a\" is forbidden: User \"x\" cannot patch resource"),
        Fault::status(500, "InternalError", "Internal error occurred"),
        Fault::status(422, "Invalid", "ConfigMap \"a\" is invalid"),
        Fault::Refuse,
    ];
    for after in after {
        let scene = Scene::new();
        scene.sandbox.inject(When::verb("patch").name("a").first(1), Fault::Lose);
        scene.sandbox.inject(When::verb("patch").name("a").after(1), after.clone());
        let told = scene.apply(&config_maps(&[("a", "1")])).await;
        assert!(matches!(told.class(), Some(ExitClass::Failed | ExitClass::Unknown)), "{after:?}");
        assert!(scene.marked().contains("a"), "{after:?}");
        scene.assert_nothing_lost(&format!("{after:?}"));
    }
}

#[tokio::test(start_paused = true)]
async fn f34_what_a_lost_answer_did_is_told_as_ours() {
    let scene = Scene::new();
    scene.sandbox.inject(When::verb("patch").name("a").first(1), Fault::Lose);
    let told = scene.apply(&config_maps(&[("a", "1"), ("b", "1")])).await;
    assert_eq!(told.class(), Some(ExitClass::Ok));
    assert_eq!(told.outcome("a"), Some(&Outcome::Created));
    scene.sandbox.inject(When::verb("patch").name("a").first(1), Fault::Lose);
    let told = scene.apply(&config_maps(&[("a", "2"), ("b", "1")])).await;
    assert_eq!(told.outcome("a"), Some(&Outcome::Configured));
    scene.sandbox.inject(When::verb("delete").name("a").first(1), Fault::Lose);
    let told = scene.destroy().await;
    assert_eq!(told.class(), Some(ExitClass::Ok));
    assert_eq!(told.outcome("a"), Some(&Outcome::Deleted));
}

#[tokio::test(start_paused = true)]
async fn who_takes_a_name_while_its_deletion_is_unanswered_is_spared() {
    for fault in [Fault::Lose, Fault::Refuse] {
        let scene = Scene::new();
        scene.apply(&config_maps(&[("a", "1"), ("b", "1")])).await;
        let lost = matches!(fault, Fault::Lose);
        scene.sandbox.inject(When::verb("delete").name("a").first(2), fault);
        let mut run = scene.start(Operation::Destroy, "", Scene::tracked()).await.unwrap();
        let mut events = Vec::new();
        let mut taken = false;
        while let Some(event) = run.next().await {
            let retried = matches!(&event.body, Body::Retry { id, .. } if id.name() == "a");
            if retried && !std::mem::replace(&mut taken, true) {
                if !lost {
                    scene.sandbox.delete("configmaps", "default", "a");
                }
                foreign(&scene.sandbox, "a");
            }
            events.push(event);
        }
        let told = Told { events };
        assert!(taken, "the deletion is tried again");
        assert_eq!(scene.sandbox.get("configmaps", "default", "a").unwrap()["data"]["key"], "theirs");
        assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
        assert!(scene.sandbox.get("configmaps", "default", SET).is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn who_takes_a_name_while_its_kind_is_out_of_touch_is_spared_after_an_outage_too() {
    let scene = Scene::new();
    scene.apply(&config_maps(&[("a", "1"), ("b", "1")])).await;
    scene.sandbox.inject(When::verb("delete").name("a").first(4), Fault::Refuse);
    let mut options = Scene::tracked();
    options.retry_budget = Duration::from_secs(30);
    let mut run = scene.start(Operation::Destroy, "", options).await.unwrap();
    let mut events = Vec::new();
    let mut taken = false;
    while let Some(event) = run.next().await {
        let retried = matches!(&event.body, Body::Retry { id, .. } if id.name() == "a");
        if retried && !std::mem::replace(&mut taken, true) {
            scene.sandbox.inject(When::verb("watch").resource("configmaps").first(3), Fault::Refuse);
            scene.sandbox.inject(When::verb("list").resource("configmaps").first(1), Fault::Refuse);
            scene.sandbox.end_watches("configmaps", WatchEnd::Reset);
            scene.sandbox.delete("configmaps", "default", "a");
            foreign(&scene.sandbox, "a");
        }
        events.push(event);
    }
    let told = Told { events };
    let conflicts = told.events.iter().filter(
        |event| matches!(&event.body, Body::Retry { error, .. } if error.class == ErrorClass::Replaced),
    );
    assert!(conflicts.count() > 0, "the server was asked for an object that was gone");
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    assert_eq!(scene.sandbox.get("configmaps", "default", "a").unwrap()["data"]["key"], "theirs");
    assert!(scene.sandbox.get("configmaps", "default", SET).is_none());
}

/// Both happen between two looks, and what is there is as current as what was.
#[tokio::test(start_paused = true)]
async fn who_takes_a_name_right_after_its_deletion_does_not_keep_the_run_waiting() {
    let scene = Scene::new();
    scene.apply(&config_maps(&[("a", "1"), ("b", "1")])).await;
    let mut run = scene.start(Operation::Destroy, "", Scene::tracked()).await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        match &event.body {
            Body::Started { id, .. } if id.name() == "a" => {
                scene.sandbox.inject(When::verb("watch").resource("configmaps").first(2), Fault::Refuse);
                scene.sandbox.end_watches("configmaps", WatchEnd::Reset);
            }
            Body::Finished { id, .. } if id.name() == "a" => foreign(&scene.sandbox, "a"),
            _ => {}
        }
        events.push(event);
    }
    let told = Told { events };
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    assert_eq!(told.conclusions().get("a"), Some(&Conclusion::Settled));
    assert_eq!(scene.sandbox.get("configmaps", "default", "a").unwrap()["data"]["key"], "theirs");
}

#[tokio::test(start_paused = true)]
async fn contact_that_is_lost_at_the_start_is_waited_for() {
    for fault in [Fault::Refuse, Fault::status(503, "ServiceUnavailable", "not yet ready")] {
        let scene = Scene::new();
        let mut options = Scene::tracked();
        options.retry_budget = Duration::from_secs(30);
        scene.sandbox.inject(When::verb("watch").resource("configmaps").first(4), fault.clone());
        let text = config_maps(&[("a", "1"), ("b", "1")]);
        let told = scene.run(Operation::Apply, &text, options.clone()).await;
        assert_eq!(told.class(), Some(ExitClass::Ok), "{fault:?}");
        scene.sandbox.inject(When::verb("watch").resource("configmaps").first(4), fault.clone());
        let mut options = Scene::tracked();
        options.retry_budget = Duration::from_secs(30);
        let told = scene.run(Operation::Destroy, "", options).await;
        assert_eq!(told.class(), Some(ExitClass::Ok), "{fault:?}");
        assert_eq!(told.outcome("a"), Some(&Outcome::Deleted), "{fault:?}");
        assert!(scene.marked().is_empty(), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_destroy_cannot_look_at_stays_on_record_and_is_no_success() {
    let scene = Scene::new();
    scene.apply(&config_maps(&[("a", "1"), ("b", "1")])).await;
    for verb in ["watch", "list"] {
        scene.sandbox.inject(When::verb(verb).resource("configmaps"), Fault::Refuse);
    }
    let told = scene.destroy().await;
    assert_eq!(told.class(), Some(ExitClass::Unknown));
    assert!(told.message().contains("2 objects"), "{}", told.message());
    assert_eq!(scene.recorded().len(), 2);
    assert_eq!(scene.marked().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_about_the_lock_does_not_hold_up_the_run() {
    let scene = Scene::new();
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default}\nspec:\n  nodeSelector: {nobody: has}\n  containers: [{name: c, image: i}]\n";
    let mut options = Scene::tracked();
    options.timeout = Some(Duration::from_secs(25));
    scene.sandbox.inject(When::verb("get").resource("leases").after(1), Fault::Hang);
    let told = scene.run(Operation::Apply, text, options).await;
    assert_eq!(told.class(), Some(ExitClass::TimedOut));
    assert_eq!(told.conclusions()["p"], Conclusion::TimedOut);
    let end = told.events.last().unwrap().elapsed;
    assert!(end < Duration::from_secs(40), "{end:?}");
}

#[tokio::test(start_paused = true)]
async fn objects_whose_definition_went_are_gone_with_it_for_the_next_run_too() {
    let text = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.x.test}\nspec:\n  group: x.test\n  scope: Namespaced\n  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}\n  versions:\n  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}\n---\napiVersion: x.test/v1\nkind: Thing\nmetadata: {name: t, namespace: default}\n";
    let scene = Scene::new();
    assert_eq!(scene.apply(text).await.class(), Some(ExitClass::Ok));
    let refused = "configmaps \"shop\" is forbidden: User \"x\" cannot delete resource";
    scene.sandbox.inject(When::verb("delete").name(SET).first(1), Fault::status(403, "Forbidden", refused));
    assert_eq!(scene.destroy().await.class(), Some(ExitClass::Failed));
    assert!(scene.sandbox.get("configmaps", "default", SET).is_some());
    assert_eq!(scene.destroy().await.class(), Some(ExitClass::Ok));
    assert!(scene.sandbox.get("configmaps", "default", SET).is_none(), "nothing is left on record");
}

/// The lock of the set, with this last sign of life.
fn held_by_somebody(sandbox: &Sandbox, alive: &str) {
    sandbox.create(json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "kubesettle-shop", "namespace": "default",
            "labels": {"app.kubernetes.io/managed-by": "kubesettle"}},
        "spec": {"holderIdentity": "somebody else", "leaseDurationSeconds": 30, "leaseTransitions": 0,
            "acquireTime": alive, "renewTime": alive}}));
}

#[tokio::test(start_paused = true)]
async fn trouble_before_the_wait_for_a_lock_leaves_its_own_time_to_trouble_behind_it() {
    let epoch = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let scene = Scene { sandbox: Sandbox::builder().epoch(epoch).build() };
    held_by_somebody(&scene.sandbox, "2001-09-09T01:46:40.000000Z");
    let unavailable = || Fault::status(502, "", "bad gateway");
    scene.sandbox.inject(When::verb("get").resource("leases").first(1), unavailable());
    scene.sandbox.inject(When::verb("update").resource("leases").first(2), unavailable());
    let told = scene.apply(&config_maps(&[("a", "1")])).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    let warnings = told.events.iter().filter(
        |event| matches!(&event.body, Body::Warning { message, .. } if message.starts_with("took over")),
    );
    assert_eq!(warnings.count(), 1, "said once, however often it is tried");
}

/// Our clock is years ahead of the server's, and of that of the run that has the lock.
#[tokio::test(start_paused = true)]
async fn a_lock_is_not_taken_over_because_our_clock_is_wrong() {
    let epoch = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let scene = Scene { sandbox: Sandbox::builder().epoch(epoch).build() };
    let alive = "2001-09-09T01:46:40.000000Z";
    held_by_somebody(&scene.sandbox, alive);
    let mut options = Scene::tracked();
    options.set.as_mut().unwrap().lock_timeout = Duration::from_secs(5);
    let told = scene.run(Operation::Apply, &config_maps(&[("a", "1")]), options).await;
    assert_eq!(told.class(), Some(ExitClass::Refused));
    assert!(told.message().contains("somebody else"), "{}", told.message());
    assert!(scene.marked().is_empty());
}

fn deployments(count: usize, selector: &str) -> String {
    (0..count)
        .map(|number| {
            format!(
                "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d{number}, namespace: default}}\nspec:\n  replicas: 1\n  selector: {{matchLabels: {{app: d{number}}}}}\n  template:\n    metadata: {{labels: {{app: d{number}}}}}\n    spec:\n      nodeSelector: {{{selector}}}\n      containers: [{{name: c, image: i}}]\n"
            )
        })
        .collect()
}

/// Answers about children take their time, and every third request is sent away.
fn slow_and_unfair(scene: &Scene) {
    for resource in ["replicasets", "pods"] {
        for verb in ["list", "watch"] {
            let when = When::verb(verb).resource(resource);
            scene.sandbox.inject(when, Fault::Delay(Duration::from_millis(300)));
        }
    }
    scene.sandbox.inject(When::verb("patch").resource("deployments").chance(0.3), Fault::throttle(1));
}

#[tokio::test(start_paused = true)]
async fn f38_a_slow_and_unfair_server_is_waited_for() {
    let scene = Scene::new();
    slow_and_unfair(&scene);
    let mut options = Scene::tracked();
    options.retry_budget = Duration::from_secs(60);
    let told = scene.run(Operation::Apply, &deployments(60, ""), options).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    assert_eq!(told.conclusions().values().filter(|end| **end == Conclusion::Settled).count(), 60);
}

#[tokio::test(start_paused = true)]
async fn f38_a_timeout_names_what_is_unfinished_and_no_limiter() {
    let scene = Scene::new();
    slow_and_unfair(&scene);
    let mut options = Scene::tracked();
    options.retry_budget = Duration::from_secs(60);
    options.timeout = Some(Duration::from_secs(30));
    let told = scene.run(Operation::Apply, &deployments(3, "nobody: has"), options).await;
    assert_eq!(told.class(), Some(ExitClass::TimedOut));
    assert_eq!(told.conclusions().values().filter(|end| **end == Conclusion::TimedOut).count(), 3);
    for event in &told.events {
        assert!(!format!("{:?}", event.body).contains("limiter"), "{:?}", event.body);
    }
}

/// A backup of etcd is put back while a run waits: what it said to be settled is not so any more.
#[tokio::test(start_paused = true)]
async fn f34_what_a_backup_undid_is_no_success() {
    let stuck = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default}\nspec:\n  nodeSelector: {nobody: has}\n  containers: [{name: c, image: i}]\n";
    let scene = Scene::new();
    scene.apply(&config_maps(&[("kept", "1"), ("changed", "1"), ("gone", "1")])).await;
    let backup = scene.sandbox.back_up();
    let text = config_maps(&[("kept", "1"), ("changed", "2"), ("new", "1")]) + stuck;
    let mut options = Scene::tracked();
    options.timeout = Some(Duration::from_secs(300));
    let mut run = scene.start(Operation::Apply, &text, options).await.unwrap();
    let (mut events, mut settled) = (Vec::new(), BTreeSet::new());
    while let Some(event) = run.next().await {
        if let Body::Concluded { id, conclusion: Conclusion::Settled } = &event.body
            && settled.insert(id.name().to_owned())
            && settled.len() == 3
        {
            scene.sandbox.restore(&backup);
            // With what is told of the pod the run ends, whatever the watch of ConfigMaps knows by then.
            scene.sandbox.inject(When::verb("list").resource("configmaps").first(2), Fault::Refuse);
        }
        events.push(event);
    }
    let told = Told { events };
    assert_eq!(told.class(), Some(ExitClass::Failed), "{}", told.message());
    let conclusions = told.conclusions();
    for (name, conclusion) in [
        ("kept", Conclusion::Settled),
        ("changed", Conclusion::Failed),
        ("new", Conclusion::Failed),
        ("p", Conclusion::Failed),
    ] {
        assert_eq!(conclusions[name], conclusion, "{name}");
    }
    scene.assert_nothing_lost("after the backup");
    // Said of what is back, and of nothing else: by whom it was undone.
    let told = scene.apply(&config_maps(&[("kept", "1"), ("changed", "2"), ("new", "1")])).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    assert_eq!(scene.recorded(), scene.marked());
    assert_eq!(scene.sandbox.get("configmaps", "default", "changed").unwrap()["data"]["key"], "2");
    assert!(scene.sandbox.get("configmaps", "default", "gone").is_none());
}

/// The lock and the record go back too: they are taken again, and what is there is on record.
#[tokio::test(start_paused = true)]
async fn f34_a_run_keeps_its_lock_and_its_record_over_a_backup() {
    let stuck = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default}\nspec:\n  nodeSelector: {nobody: has}\n  containers: [{name: c, image: i}]\n";
    for recorded in [true, false] {
        let scene = Scene::new();
        let set = config_maps(&[("a", "1")]) + stuck;
        let mut options = Scene::tracked();
        options.timeout = Some(Duration::from_secs(20));
        scene.run(Operation::Apply, &set, options.clone()).await;
        if !recorded {
            scene.sandbox.delete("configmaps", "default", SET);
        }
        let backup = scene.sandbox.back_up();
        options.timeout = Some(Duration::from_secs(60));
        let mut run = scene.start(Operation::Apply, &set, options).await.unwrap();
        let (mut events, mut restored) = (Vec::new(), false);
        while let Some(event) = run.next().await {
            let waits = matches!(&event.body, Body::Verdict { id, .. } if id.name() == "p");
            if waits && !std::mem::replace(&mut restored, true) {
                scene.sandbox.restore(&backup);
            }
            events.push(event);
        }
        let told = Told { events };
        assert_ne!(told.class(), Some(ExitClass::Refused), "{recorded}: {}", told.message());
        assert!(!told.message().contains("another run"), "{recorded}: {}", told.message());
        scene.assert_nothing_lost(&format!("{recorded}: {}", told.message()));
        assert!(scene.recorded().contains("a"), "{recorded}: {:?}", scene.recorded());
    }
}

/// What is known from before the backup is not taken for the state after a write of ours.
#[tokio::test(start_paused = true)]
async fn f34_a_write_after_a_backup_is_judged_by_what_comes_after_it() {
    let scene = Scene::new();
    let backup = scene.sandbox.back_up();
    for n in 0..50 {
        foreign(&scene.sandbox, &format!("foreign-{n}"));
    }
    let mut options = Scene::options();
    options.retry_budget = Duration::from_secs(30);
    scene.sandbox.inject(When::verb("patch").name("late").first(4), Fault::Refuse);
    let text = config_maps(&[("early", "1"), ("late", "1")]);
    let mut run = scene.start(Operation::Apply, &text, options).await.unwrap();
    let (mut events, mut outage) = (Vec::new(), Vec::new());
    while let Some(event) = run.next().await {
        match &event.body {
            Body::Concluded { id, .. } if id.name() == "early" && outage.is_empty() => {
                for verb in ["watch", "list"] {
                    let when = When::verb(verb).resource("configmaps");
                    outage.push(scene.sandbox.inject(when, Fault::Refuse));
                }
                scene.sandbox.restore(&backup);
            }
            Body::Finished { id, .. } if id.name() == "late" => {
                tokio::time::sleep(Duration::from_secs(5)).await;
                outage.iter().for_each(|fault| scene.sandbox.heal(*fault));
            }
            _ => {}
        }
        events.push(event);
    }
    let told = Told { events };
    let conclusions = told.conclusions();
    assert_eq!(conclusions["late"], Conclusion::Settled, "{:?}", told.events);
    assert_eq!(conclusions["early"], Conclusion::Failed, "{:?}", told.events);
}

/// A server that has just been started does not know yet who may do what.
#[tokio::test(start_paused = true)]
async fn f34_a_refusal_of_a_server_that_was_away_is_not_the_last_word() {
    let refused =
        || Fault::status(403, "Forbidden", "configmaps \"a\" is forbidden: User \"x\" cannot patch resource");
    for (away, class) in [(true, ExitClass::Ok), (false, ExitClass::Failed)] {
        let scene = Scene::new();
        if away {
            scene.sandbox.inject(When::verb("patch").name("a").first(1), Fault::Refuse);
            scene.sandbox.inject(When::verb("patch").name("a").nth(1), refused());
        } else {
            scene.sandbox.inject(When::verb("patch").name("a").first(1), refused());
        }
        let told = scene.apply(&config_maps(&[("a", "1")])).await;
        assert_eq!(told.class(), Some(class), "{away}: {}", told.message());
    }
}
