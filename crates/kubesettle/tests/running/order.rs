//! Order, failure, cancellation, time limits.

use std::time::Duration;

use kubesettle::error::ExitClass;
use kubesettle::event::{Body, Conclusion, Operation, Outcome, Skip};
use sandbox::{Fault, When};

use crate::scene::{Scene, config_maps};

fn depends(name: &str, on: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: default\n  annotations: {{config.kubernetes.io/depends-on: /namespaces/default/ConfigMap/{on}}}\n"
    )
}

fn deployment(name: &str, outcome: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: default}}\nspec:\n  replicas: 1\n  selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}, annotations: {{kubesettle.test/outcome: \"{outcome}\"}}}}\n    spec: {{containers: [{{name: c, image: \"example.test/img:1\"}}]}}\n"
    )
}

#[tokio::test(start_paused = true)]
async fn a_dependency_settles_before_its_dependent_starts() {
    let scene = Scene::new();
    let text = format!("{}{}", depends("second", "first"), config_maps(&[("first", "1"), ("free", "1")]));
    let told = scene.run(Operation::Apply, &text, Scene::options()).await;
    assert_eq!(told.class(), Some(ExitClass::Ok));
    assert!(told.concluded("first") < told.finished("second"));
}

#[tokio::test(start_paused = true)]
async fn f05_a_failed_dependency_skips_its_dependents_and_nothing_else() {
    let scene = Scene::new();
    let denied = Fault::status(403, "Forbidden", "admission webhook \"policy\" denied the request");
    scene.sandbox.inject(When::verb("patch").resource("configmaps").name("b"), denied);
    let text =
        format!("{}{}{}", depends("a", "b"), depends("above", "a"), config_maps(&[("b", "1"), ("c", "1")]));
    let told = scene.run(Operation::Apply, &text, Scene::options()).await;
    assert_eq!(told.class(), Some(ExitClass::Failed));
    for (name, length) in [("a", 1), ("above", 2)] {
        let Some(Outcome::Skipped(Skip::Dependency { chain, .. })) = told.outcome(name) else {
            panic!("{name}: {:?}", told.outcome(name));
        };
        assert_eq!(chain.len(), length);
        assert_eq!(chain.last().unwrap().name(), "b");
    }
    assert_eq!(told.conclusions()["c"], Conclusion::Settled);
}

#[tokio::test(start_paused = true)]
async fn f05_a_dependency_outside_the_set_must_be_there() {
    let scene = Scene::new();
    let told = scene.run(Operation::Apply, &depends("a", "elsewhere"), Scene::options()).await;
    assert!(matches!(told.outcome("a"), Some(Outcome::Skipped(Skip::Dependency { .. }))));
    scene.sandbox.create(serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "elsewhere", "namespace": "default"}}));
    let told = scene.run(Operation::Apply, &depends("a", "elsewhere"), Scene::options()).await;
    assert_eq!(told.outcome("a"), Some(&Outcome::Created));
}

#[tokio::test(start_paused = true)]
async fn a_cause_is_told_long_before_the_time_is_up() {
    let scene = Scene::new();
    let text = format!("{}{}", deployment("bad", "image-pull-backoff"), deployment("good", ""));
    let told = scene.run(Operation::Apply, &text, Scene::options()).await;
    assert_eq!(told.class(), Some(ExitClass::Failed), "{}", told.message());
    assert_eq!(told.conclusions()["good"], Conclusion::Settled);
    let named = told.events.iter().find_map(|event| match &event.body {
        Body::Verdict { id, verdict }
            if id.name() == "bad" && verdict.message.contains("ImagePullBackOff") =>
        {
            Some(event.elapsed)
        }
        _ => None,
    });
    assert!(named.unwrap() <= Duration::from_secs(3), "named after {named:?}");
    let end = told.events.last().unwrap().elapsed;
    assert!(end < Duration::from_secs(70), "the hold ends the wait, not the limit: {end:?}");
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_leaves_every_unfinished_object_with_its_verdict() {
    let scene = Scene::new();
    let mut options = Scene::options();
    options.timeout = Some(Duration::from_secs(10));
    let told = scene.run(Operation::Apply, &deployment("slow", "never-ready"), options).await;
    assert_eq!(told.class(), Some(ExitClass::TimedOut));
    assert_eq!(told.conclusions()["slow"], Conclusion::TimedOut);
    assert!(told.position(|body| matches!(body, Body::Verdict { id, .. } if id.name() == "slow")).is_some());
}

#[tokio::test(start_paused = true)]
async fn cancelled_at_any_event_a_run_ends_with_a_conclusion_for_every_object() {
    let names: Vec<String> = (0..6).map(|n| format!("c{n}")).collect();
    let pairs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    let text =
        format!("{}{}{}", config_maps(&pairs), depends("last", "c0"), deployment("slow", "never-ready"));
    for cancel_at in 0.. {
        let scene = Scene::new();
        let mut run = scene.start(Operation::Apply, &text, Scene::tracked()).await.unwrap();
        let (mut events, mut concluded) = (0, std::collections::HashSet::new());
        let mut class = None;
        while let Some(event) = run.next().await {
            if events == cancel_at {
                run.cancel_handle().cancel();
            }
            events += 1;
            match event.body {
                Body::Concluded { id, .. } => {
                    concluded.insert(id);
                }
                Body::End { class: ended, .. } => class = Some(ended),
                _ => {}
            }
        }
        if class != Some(ExitClass::Interrupted) {
            assert!(cancel_at > 20);
            return;
        }
        assert!(concluded.len() == 8 || concluded.is_empty(), "cancelled at {cancel_at}: {concluded:?}");
        scene.assert_nothing_lost(&format!("cancelled at event {cancel_at}"));
        assert_eq!(scene.sandbox.open_watches(""), 0, "no watch is left behind");
    }
}

#[tokio::test(start_paused = true)]
async fn one_write_for_each_object_and_no_read_of_any() {
    let scene = Scene::new();
    let names: Vec<String> = (0..100).map(|n| format!("c{n}")).collect();
    let pairs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    for turn in 0..2 {
        let before = scene.sandbox.requests().len();
        let told = scene.run(Operation::Apply, &config_maps(&pairs), Scene::options()).await;
        assert_eq!(told.class(), Some(ExitClass::Ok));
        let requests = scene.sandbox.requests();
        let of = |verb: &str| requests[before..].iter().filter(|r| r.verb == verb).count();
        assert_eq!((of("patch"), of("get"), of("list"), of("watch")), (100, 0, 0, 1), "turn {turn}");
    }
}

#[tokio::test(start_paused = true)]
async fn f01_a_custom_resource_waits_for_its_kind_and_is_never_said_to_be_missing_once_written() {
    let scene = Scene {
        sandbox: sandbox::Sandbox::builder()
            .establish_crds(Duration::from_secs(3), Duration::from_secs(5))
            .build(),
    };
    let text = format!(
        "{}{}",
        config_maps(&[("free", "1")]),
        "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: default}\n\
         ---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}\n  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]\n"
    );
    let told = scene.run(Operation::Apply, &text, Scene::options()).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{:?}", told.events);
    assert!(told.concluded("free") < told.concluded("widgets.example.com"), "nobody else is held up");
    assert_eq!(told.outcome("w"), Some(&Outcome::Created));
    let missing = told.position(|body| match body {
        Body::Verdict { id, verdict } => id.name() == "w" && verdict.status == kstatus::Status::NotFound,
        _ => false,
    });
    assert_eq!(missing, None);
}

fn job(name: &str, outcome: &str) -> String {
    format!(
        "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}, namespace: default}}\nspec:\n  ttlSecondsAfterFinished: 0\n  backoffLimit: 0\n  template:\n    metadata: {{annotations: {{kubesettle.test/outcome: \"{outcome}\"}}}}\n    spec: {{restartPolicy: Never, containers: [{{name: c, image: \"example.test/img:1\"}}]}}\n"
    )
}

/// Removes a Job in the moment it has finished, as its TTL of zero does.
async fn sweep_finished_jobs(sandbox: sandbox::Sandbox) {
    loop {
        for job in sandbox.list("jobs.batch", "default") {
            let conditions = job["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let over = conditions.iter().any(|c| matches!(c["type"].as_str(), Some("Complete" | "Failed")));
            if over {
                sandbox.delete("jobs.batch", "default", job["metadata"]["name"].as_str().unwrap());
            }
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn f30_a_job_that_is_removed_when_it_ends_is_judged_by_how_it_ended() {
    let scene = Scene::new();
    let sweeper = tokio::spawn(sweep_finished_jobs(scene.sandbox.clone()));
    let text = format!("{}{}", job("succeeds", ""), job("fails", "exit-1"));
    let told = scene.run(Operation::Apply, &text, Scene::options()).await;
    sweeper.abort();
    assert_eq!(told.conclusions()["succeeds"], Conclusion::Settled, "{:?}", told.events);
    assert_eq!(told.conclusions()["fails"], Conclusion::Failed);
    assert_eq!(told.class(), Some(ExitClass::Failed));
}

#[tokio::test(start_paused = true)]
async fn f02_a_kind_that_never_comes_is_named_when_time_is_up() {
    let scene = Scene::new();
    let mut options = Scene::options();
    options.timeout = Some(Duration::from_secs(20));
    let text = "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: default}\n";
    let told = scene.run(Operation::Apply, text, options).await;
    assert_eq!(told.class(), Some(ExitClass::TimedOut));
    let last = told.events.iter().rev().find_map(|event| match &event.body {
        Body::Verdict { verdict, .. } => Some(verdict.message.clone()),
        _ => None,
    });
    assert!(last.as_deref().unwrap_or_default().contains("Widget"), "{last:?}");
    let first = told.position(|body| matches!(body, Body::Retry { .. })).unwrap();
    assert!(told.events[first].elapsed < Duration::from_secs(2), "said at once");
}
