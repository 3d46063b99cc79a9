//! Tracked sets: policies, guards, keep and detach, two runs at once, foreign and broken records.

use kubesettle::error::ExitClass;
use kubesettle::event::{Body, DryRun, Operation, Outcome, Skip};
use sandbox::{Fault, When};
use serde_json::json;

use crate::scene::{SET, Scene, Told, config_maps};

fn set_of(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|n| format!("c{n}")).collect();
    let pairs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    config_maps(&pairs)
}

#[tokio::test(start_paused = true)]
async fn what_leaves_the_input_is_pruned_and_what_is_unchanged_is_left_alone() {
    let scene = Scene::new();
    scene.apply(&config_maps(&[("a", "1"), ("b", "1")])).await;
    let told = scene.apply(&config_maps(&[("a", "1")])).await;
    assert_eq!(told.class(), Some(ExitClass::Ok));
    assert_eq!(told.outcome("a"), Some(&Outcome::Unchanged));
    assert_eq!(told.outcome("b"), Some(&Outcome::Deleted));
    assert_eq!(scene.recorded().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_object_of_nobody_is_not_taken_by_the_strict_policy() {
    let scene = Scene::new();
    scene.sandbox.create(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "default"}, "data": {"key": "theirs"}}));
    let told = scene.apply(&config_maps(&[("a", "ours"), ("b", "1")])).await;
    assert_eq!(told.class(), Some(ExitClass::Refused));
    assert!(matches!(told.outcome("a"), Some(Outcome::Skipped(Skip::Refused { .. }))));
    assert_eq!(told.outcome("b"), Some(&Outcome::Created));
    assert_eq!(scene.sandbox.get("configmaps", "default", "a").unwrap()["data"]["key"], "theirs");
    assert!(!scene.recorded().contains("a"), "what is not ours is not recorded");
}

/// The warnings of a run.
fn warnings(told: &Told) -> Vec<&str> {
    let warnings = told.events.iter().filter_map(|event| match &event.body {
        Body::Warning { message, .. } => Some(&**message),
        _ => None,
    });
    warnings.collect()
}

#[tokio::test(start_paused = true)]
async fn objects_that_are_applied_without_their_set_stay_in_it() {
    let scene = Scene::new();
    scene.apply(&config_maps(&[("a", "1"), ("b", "1")])).await;
    let changed = config_maps(&[("a", "2"), ("b", "1"), ("c", "1")]);
    for how in [Some(DryRun::Server), None] {
        let mut options = Scene::options();
        options.dry_run = how;
        let told = scene.run(Operation::Apply, &changed, options).await;
        let outcomes = ["a", "b", "c"].map(|name| told.outcome(name).unwrap().clone());
        assert_eq!(outcomes, [Outcome::Configured, Outcome::Unchanged, Outcome::Created], "{how:?}");
        let said = warnings(&told);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("2 objects, such as configmap/"), "{said:?}");
        assert!(said[0].contains("default_shop"), "{said:?}");
    }
    assert_eq!(scene.marked().len(), 2, "the new one belongs to nobody");
    let told = scene.apply(&config_maps(&[("a", "1"), ("b", "1")])).await;
    assert_eq!(told.class(), Some(ExitClass::Ok));
    assert_eq!(told.outcome("a"), Some(&Outcome::Configured));
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_left_alone_behind_another_is_told_once_with_its_own_reason() {
    let scene = Scene::new();
    let behind = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: z, namespace: default, annotations: {config.kubernetes.io/depends-on: /namespaces/default/ConfigMap/a}}\n";
    for name in ["a", "z"] {
        scene.sandbox.create(json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "default"}}));
    }
    for how in [Some(DryRun::Server), None] {
        let mut options = Scene::tracked();
        options.dry_run = how;
        let text = format!("{}{behind}", config_maps(&[("a", "1")]));
        let told = scene.run(Operation::Apply, &text, options).await;
        for name in ["a", "z"] {
            let skipped: Vec<&Outcome> = told
                .events
                .iter()
                .filter_map(|event| match &event.body {
                    Body::Finished { id, outcome, .. } if id.name() == name => Some(outcome),
                    _ => None,
                })
                .collect();
            let [Outcome::Skipped(Skip::Refused { .. })] = skipped[..] else { panic!("{name}: {skipped:?}") };
        }
        assert_eq!(told.class(), Some(ExitClass::Refused), "{how:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_look_at_a_set_that_was_never_applied_says_so() {
    let scene = Scene::new();
    let told = scene.run(Operation::Status, "", Scene::tracked()).await;
    assert_eq!(told.class(), Some(ExitClass::Ok));
    assert_eq!(warnings(&told), ["no inventory default/shop was found"]);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_to_be_kept_stays_and_loses_our_mark() {
    let scene = Scene::new();
    let kept = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, namespace: default, annotations: {client.lifecycle.config.k8s.io/deletion: detach}}\n";
    scene.apply(&format!("{}{kept}", config_maps(&[("a", "1")]))).await;
    let told = scene.apply(&config_maps(&[("a", "1")])).await;
    assert!(
        matches!(told.outcome("kept"), Some(Outcome::Skipped(Skip::Kept { .. }))),
        "{:?}",
        told.outcome("kept")
    );
    assert_eq!(told.class(), Some(ExitClass::Ok));
    assert!(scene.sandbox.get("configmaps", "default", "kept").is_some());
    assert!(!scene.marked().contains("kept") && !scene.recorded().contains("kept"));
}

#[tokio::test(start_paused = true)]
async fn f21_a_foreign_reference_in_the_record_is_not_pruned() {
    let scene = Scene::new();
    scene.apply(&config_maps(&[("a", "1")])).await;
    scene.sandbox.create(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "foreign", "namespace": "kube-system"}}));
    scene.sandbox.edit("configmaps", "default", SET, |record| {
        record["data"]["kube-system_foreign__ConfigMap"] = "".into();
    });
    let told = scene.apply(&config_maps(&[("a", "1")])).await;
    assert_eq!(told.class(), Some(ExitClass::Ok));
    assert!(scene.sandbox.get("configmaps", "kube-system", "foreign").is_some());
}

#[tokio::test(start_paused = true)]
async fn f21_a_record_that_cannot_be_read_stops_the_run_before_any_write() {
    let scene = Scene::new();
    scene.apply(&config_maps(&[("a", "1")])).await;
    scene.sandbox.edit("configmaps", "default", SET, |record| record["data"]["no-key-of-ours"] = "".into());
    let writes = |scene: &Scene| {
        let all = scene.sandbox.requests();
        all.iter().filter(|request| request.writes() && request.resource == "configmaps").count()
    };
    let before = writes(&scene);
    let told = scene.apply(&config_maps(&[("a", "2")])).await;
    assert_eq!(told.class(), Some(ExitClass::Refused));
    assert!(told.message().contains("no-key-of-ours"), "{}", told.message());
    assert_eq!(writes(&scene), before);
}

#[tokio::test(start_paused = true)]
async fn f15_a_refused_object_fails_alone_and_is_not_recorded() {
    let scene = Scene::new();
    let denied = Fault::status(403, "Forbidden", "admission webhook \"policy\" denied the request: no c5");
    scene.sandbox.inject(When::verb("patch").resource("configmaps").name("c5"), denied);
    let told = scene.apply(&set_of(10)).await;
    assert_eq!(told.class(), Some(ExitClass::Failed));
    assert!(matches!(told.outcome("c5"), Some(Outcome::Failed(_))));
    assert_eq!(scene.recorded().len(), 9);
    assert_eq!(scene.marked().len(), 9);
}

#[tokio::test(start_paused = true)]
async fn a_prune_that_is_refused_stays_on_record_and_is_done_by_the_next_run() {
    let scene = Scene::new();
    scene.apply(&config_maps(&[("a", "1"), ("b", "1")])).await;
    let denied = Fault::status(403, "Forbidden", "admission webhook \"policy\" denied the request: keep b");
    let rule = scene.sandbox.inject(When::verb("delete").resource("configmaps").name("b"), denied);
    let told = scene.apply(&config_maps(&[("a", "1")])).await;
    assert_eq!(told.class(), Some(ExitClass::Failed));
    assert!(scene.recorded().contains("b"));
    scene.sandbox.heal(rule);
    scene.apply(&config_maps(&[("a", "1")])).await;
    assert!(!scene.recorded().contains("b") && !scene.marked().contains("b"));
}

#[tokio::test(start_paused = true)]
async fn pruning_more_than_half_of_a_big_set_is_refused_before_any_write() {
    let scene = Scene::new();
    scene.apply(&set_of(30)).await;
    let told = scene.apply(&set_of(5)).await;
    assert_eq!(told.class(), Some(ExitClass::Refused));
    assert!(told.message().contains("--prune-max"), "{}", told.message());
    assert_eq!((scene.marked().len(), scene.recorded().len()), (30, 30));
    let mut options = Scene::tracked();
    options.tracking.guard.max = kubesettle::inventory::PruneMax::parse("25").unwrap();
    let told = scene.run(Operation::Apply, &set_of(5), options).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    assert_eq!(scene.marked().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn an_empty_input_does_not_prune_everything() {
    let scene = Scene::new();
    scene.apply(&config_maps(&[("a", "1")])).await;
    let told = scene.apply("").await;
    assert_eq!(told.class(), Some(ExitClass::Refused));
    assert!(scene.marked().contains("a"));
}

#[tokio::test(start_paused = true)]
async fn f24_two_runs_of_one_set_follow_one_another() {
    let scene = Scene::new();
    let (a, b) = (config_maps(&[("a", "1")]), config_maps(&[("a", "1"), ("b", "1")]));
    let (first, second) = tokio::join!(scene.apply(&a), scene.apply(&b));
    assert_eq!((first.class(), second.class()), (Some(ExitClass::Ok), Some(ExitClass::Ok)));
    scene.assert_nothing_lost("after both");
    let told = scene.apply(&b).await;
    assert_eq!(told.class(), Some(ExitClass::Ok));
    assert_eq!(scene.recorded().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn f40_destroying_twice_or_nothing_is_no_error() {
    let scene = Scene::new();
    scene.apply(&set_of(3)).await;
    for _ in 0..2 {
        let told = scene.destroy().await;
        assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
        assert!(scene.marked().is_empty());
        assert!(scene.sandbox.get("configmaps", "default", SET).is_none(), "the record is gone last");
    }
}

#[tokio::test(start_paused = true)]
async fn a_set_past_two_thousand_objects_is_recorded_in_parts() {
    let scene = Scene::new();
    let told = scene.apply(&set_of(2_100)).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    assert!(scene.sandbox.get("configmaps", "default", "shop-1").is_some());
    let told = scene.destroy().await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    assert!(scene.marked().is_empty());
    assert!(scene.sandbox.get("configmaps", "default", "shop-1").is_none());
}

#[tokio::test(start_paused = true)]
async fn an_object_with_the_name_of_the_record_or_its_lock_is_refused_before_any_write() {
    let lease = "---\napiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: kubesettle-shop, namespace: default}\n";
    for text in [config_maps(&[(SET, "1"), ("a", "1")]), format!("{lease}{}", config_maps(&[("a", "1")]))] {
        let scene = Scene::new();
        let told = scene.apply(&text).await;
        assert_eq!(told.class(), Some(ExitClass::Usage), "{}", told.message());
        assert!(
            told.message().contains("test.yaml") && told.message().contains("--set"),
            "{}",
            told.message()
        );
        let writes = scene.sandbox.requests().iter().filter(|request| request.writes()).count();
        assert_eq!(writes, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_record_in_parts_leaves_the_names_of_the_set_to_the_set() {
    let scene = Scene::new();
    let text = format!("{}{}", set_of(2_100), config_maps(&[("shop-1", "mine")]));
    for _ in 0..2 {
        let told = scene.apply(&text).await;
        assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
        let mine = scene.sandbox.get("configmaps", "default", "shop-1").unwrap();
        assert_eq!(mine["data"], json!({"key": "mine"}));
        assert!(scene.sandbox.get("configmaps", "default", "shop-2").is_some(), "a part by another name");
    }
    assert_eq!(scene.destroy().await.class(), Some(ExitClass::Ok));
    assert!(scene.marked().is_empty());
}

#[tokio::test(start_paused = true)]
async fn somebody_elses_config_map_under_the_name_of_the_record_stops_the_run() {
    let scene = Scene::new();
    let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": SET, "namespace": "default"}, "data": {"key": "theirs"}});
    scene.sandbox.create(theirs);
    let told = scene.apply(&config_maps(&[("a", "1")])).await;
    assert_eq!(told.class(), Some(ExitClass::Refused), "{}", told.message());
    assert!(scene.sandbox.get("configmaps", "default", "a").is_none());
    let record = scene.sandbox.get("configmaps", "default", SET).unwrap();
    assert_eq!(record["data"], json!({"key": "theirs"}));
}

#[tokio::test(start_paused = true)]
async fn an_object_that_comes_back_under_its_name_while_its_deletion_is_awaited_is_gone() {
    let scene = Scene::new();
    let held = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, namespace: default, finalizers: [example.com/hold]}\n";
    scene.apply(&format!("{held}{}", config_maps(&[("a", "1")]))).await;
    let sandbox = scene.sandbox.clone();
    let theirs = tokio::spawn(async move {
        let going = |object: &serde_json::Value| object["metadata"]["deletionTimestamp"].is_string();
        while !sandbox.get("configmaps", "default", "held").is_some_and(|object| going(&object)) {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        sandbox.edit("configmaps", "default", "held", |object| object["metadata"]["finalizers"] = json!([]));
        sandbox.delete("configmaps", "default", "held");
        assert!(sandbox.get("configmaps", "default", "held").is_none());
        sandbox.create(json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "held", "namespace": "default"}, "data": {"key": "theirs"}}));
    });
    let told = scene.apply(&config_maps(&[("a", "1")])).await;
    theirs.await.unwrap();
    assert_eq!(told.class(), Some(ExitClass::Ok), "{} {:?}", told.message(), told.events);
    assert_eq!(told.outcome("held"), Some(&Outcome::Deleted));
    let now = scene.sandbox.get("configmaps", "default", "held").unwrap();
    assert_eq!(now["data"]["key"], "theirs");
    assert!(!scene.recorded().contains("held"));
}

#[tokio::test(start_paused = true)]
async fn an_object_that_another_set_took_over_in_the_meantime_is_not_deleted_with_this_one() {
    let scene = Scene::new();
    scene.apply(&config_maps(&[("a", "1"), ("shared", "1")])).await;
    scene.sandbox.edit("configmaps", "default", "shared", |object| {
        object["metadata"]["annotations"]["config.k8s.io/owning-inventory"] = "another".into();
    });
    let told = scene.destroy().await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    assert!(matches!(told.outcome("shared"), Some(Outcome::Skipped(Skip::Refused { .. }))));
    assert!(scene.sandbox.get("configmaps", "default", "shared").is_some());
    assert!(scene.sandbox.get("configmaps", "default", "a").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_record_whose_namespace_is_being_deleted_stops_the_run_and_says_so() {
    let scene = Scene::new();
    scene.sandbox.create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "room"}}));
    scene.sandbox.create(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "held", "namespace": "room", "finalizers": ["example.com/hold"]}}));
    scene.sandbox.delete("namespaces", "", "room");
    let mut options = Scene::tracked();
    if let Some(set) = &mut options.set {
        set.wanted = kubesettle::inventory::Wanted::named("room", SET).unwrap();
    }
    let told = scene.run(Operation::Apply, &config_maps(&[("a", "1")]), options).await;
    assert_eq!(told.class(), Some(ExitClass::Refused));
    let message = told.message();
    assert!(
        message.starts_with("namespace room, where the record of the set belongs, is being deleted"),
        "{message}"
    );
    assert!(scene.marked().is_empty());
}

/// Also of a set that is not tracked.
#[tokio::test(start_paused = true)]
async fn annotations_that_keep_an_object_hold_without_a_record_too() {
    let scene = Scene::new();
    let marked = |key: &str, value: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: marked, namespace: default, annotations: {{{key}: {value}}}}}\ndata: {{key: \"1\"}}\n"
        )
    };
    let changed = |text: &str| text.replace("\"1\"", "\"2\"");
    let fixed = marked("client.lifecycle.config.k8s.io/mutation", "ignore");
    assert_eq!(
        scene.run(Operation::Apply, &fixed, Scene::options()).await.outcome("marked"),
        Some(&Outcome::Created)
    );
    let told = scene.run(Operation::Apply, &changed(&fixed), Scene::options()).await;
    assert_eq!(told.class(), Some(ExitClass::Ok));
    assert!(matches!(told.outcome("marked"), Some(Outcome::Skipped(Skip::Kept { .. }))));
    assert_eq!(scene.sandbox.get("configmaps", "default", "marked").unwrap()["data"]["key"], "1");
    for (key, value) in
        [("cli-utils.sigs.k8s.io/on-remove", "keep"), ("client.lifecycle.config.k8s.io/deletion", "detach")]
    {
        let kept = marked(key, value);
        scene.run(Operation::Apply, &kept, Scene::options()).await;
        let told = scene.run(Operation::Destroy, &kept, Scene::options()).await;
        assert_eq!(told.class(), Some(ExitClass::Ok));
        assert!(matches!(told.outcome("marked"), Some(Outcome::Skipped(Skip::Kept { .. }))), "{key}");
        assert!(scene.sandbox.get("configmaps", "default", "marked").is_some());
    }
    let told = scene.run(Operation::Apply, &config_maps(&[("marked", "3")]), Scene::options()).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    let told = scene.run(Operation::Destroy, &config_maps(&[("marked", "3")]), Scene::options()).await;
    assert_eq!(told.outcome("marked"), Some(&Outcome::Deleted));
}
