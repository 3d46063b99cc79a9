//! Objects that depend on what is not of the set.

use std::time::Duration;

use kubesettle::error::ExitClass;
use kubesettle::event::{Body, Conclusion, Operation, Outcome, Skip};
use serde_json::{Value, json};

use crate::scene::{Scene, Told, config_maps};

fn behind(on: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: default, annotations: {{config.kubernetes.io/depends-on: {on}}}}}\n{}",
        config_maps(&[("free", "1")])
    )
}

async fn applied(scene: &Scene, on: &str) -> Told {
    let mut options = Scene::options();
    options.timeout = Some(Duration::from_secs(20));
    scene.run(Operation::Apply, &behind(on), options).await
}

/// Why `a` was skipped, and because of which object.
fn skipped(told: &Told) -> (String, String) {
    match told.outcome("a") {
        Some(Outcome::Skipped(Skip::Dependency { chain, reason })) => {
            (chain.last().map(|id| format!("{id:#}")).unwrap_or_default(), reason.to_string())
        }
        other => panic!("{other:?}"),
    }
}

fn web(outcome: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "w"}}, "template": {
            "metadata": {"labels": {"app": "w"}, "annotations": {"kubesettle.test/outcome": outcome}},
            "spec": {"containers": [{"name": "c", "image": "example.test/img:1"}]}}}})
}

#[tokio::test(start_paused = true)]
async fn f05_an_object_outside_of_the_set_that_does_not_settle_in_time_is_named() {
    let scene = Scene::new();
    scene.sandbox.create(web("never-ready"));
    let mut options = Scene::options();
    options.timeout = Some(Duration::from_secs(20));
    options.reminder = Duration::from_secs(5);
    // It comes before the one that it waits for.
    let above = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: above, namespace: default, annotations: {config.kubernetes.io/depends-on: /namespaces/default/ConfigMap/a}}\n";
    let text = format!("{above}{}", behind("apps/namespaces/default/Deployment/web"));
    let told = scene.run(Operation::Apply, &text, options).await;
    assert_eq!(told.class(), Some(ExitClass::TimedOut), "{}", told.message());
    assert_eq!(told.conclusions()["free"], Conclusion::Settled);
    assert_eq!(told.conclusions()["a"], Conclusion::TimedOut);
    let last = told.events.iter().rev().find_map(|event| match &event.body {
        Body::Verdict { id, verdict } if id.name() == "a" => Some(verdict.message.clone()),
        _ => None,
    });
    let last = last.unwrap_or_default();
    assert!(
        last.starts_with("not started: waits for deployment.apps/web in default, InProgress: "),
        "{last}"
    );
    let reminded = told.events.iter().find_map(|event| match &event.body {
        Body::Waiting { awaited, .. } => awaited.iter().find(|awaited| awaited.id.name() == "a").cloned(),
        _ => None,
    });
    let reminded = reminded.and_then(|awaited| awaited.verdict).map(|verdict| verdict.message);
    let reminded = reminded.unwrap_or_default();
    assert!(!reminded.is_empty() && last.starts_with(&reminded), "a reminder says it too: {reminded}");
    let Some(Outcome::Skipped(Skip::Dependency { chain, .. })) = told.outcome("above") else {
        panic!("{:?}", told.outcome("above"));
    };
    assert_eq!(chain.last().unwrap().name(), "a");
}

#[tokio::test(start_paused = true)]
async fn f05_an_object_outside_of_the_set_that_goes_while_it_is_awaited_is_named() {
    let scene = Scene::new();
    scene.sandbox.create(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata":
        {"name": "going", "namespace": "default", "finalizers": ["example.com/hold"]}}));
    scene.sandbox.delete("configmaps", "default", "going");
    let sandbox = scene.sandbox.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(5)).await;
        sandbox.edit("configmaps", "default", "going", |object| object["metadata"]["finalizers"] = json!([]));
        sandbox.delete("configmaps", "default", "going");
    });
    let told = applied(&scene, "/namespaces/default/ConfigMap/going").await;
    let (id, reason) = skipped(&told);
    assert_eq!(id, "configmap/going in default");
    assert!(reason.starts_with("NotFound"), "{reason}");
    assert!(told.events.last().unwrap().elapsed < Duration::from_secs(20));
}

#[tokio::test(start_paused = true)]
async fn f05_an_object_outside_of_the_set_of_a_kind_that_is_not_served_is_named() {
    let scene = Scene::new();
    let told = applied(&scene, "example.com/namespaces/default/Widget/w").await;
    let (id, reason) = skipped(&told);
    assert_eq!(id, "widget.example.com/w in default");
    assert!(reason.contains("not served") || reason.contains("serves no"), "{reason}");
    assert_eq!(told.conclusions()["free"], Conclusion::Settled);
}

#[tokio::test(start_paused = true)]
async fn f05_behind_two_missing_objects_outside_of_the_set_an_object_is_skipped_once() {
    let scene = Scene::new();
    let told = applied(&scene, "'/namespaces/default/ConfigMap/one,/namespaces/default/ConfigMap/two'").await;
    let ends = told.events.iter().filter(|event| match &event.body {
        Body::Finished { id, .. } | Body::Concluded { id, .. } => id.name() == "a",
        _ => false,
    });
    assert_eq!(ends.count(), 2, "one outcome, one conclusion");
    assert_eq!(told.conclusions()["a"], Conclusion::Skipped);
}

#[tokio::test(start_paused = true)]
async fn an_object_outside_of_the_set_is_waited_for_and_never_written() {
    let scene = Scene::new();
    scene.sandbox.create(web(""));
    let before = scene.sandbox.requests().len();
    let told = applied(&scene, "apps/namespaces/default/Deployment/web").await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    assert_eq!(told.outcome("a"), Some(&Outcome::Created));
    let touched = told.position(|body| matches!(body, Body::Started { id, .. } if id.name() == "web"));
    assert_eq!(touched, None);
    let requests = scene.sandbox.requests();
    let ours = requests[before..].iter().filter(|request| request.writes() && request.name == "web");
    assert_eq!(ours.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn f05_a_dry_run_skips_what_depends_on_a_missing_object_outside_of_the_set() {
    let scene = Scene::new();
    let text = behind("/namespaces/default/ConfigMap/elsewhere");
    for there in [false, true] {
        let mut options = Scene::options();
        options.dry_run = Some(kubesettle::event::DryRun::Server);
        let told = scene.run(Operation::Apply, &text, options).await;
        assert_eq!(told.outcome("free"), Some(&Outcome::Created));
        if there {
            assert_eq!(told.outcome("a"), Some(&Outcome::Created));
            return;
        }
        assert_eq!(told.class(), Some(ExitClass::Failed));
        assert_eq!(skipped(&told), ("configmap/elsewhere in default".into(), "it is not there".into()));
        scene.sandbox.create(json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "elsewhere", "namespace": "default"}}));
    }
}

/// Each problem of a rehearsal is told, not the first alone.
#[tokio::test(start_paused = true)]
async fn one_refusal_does_not_end_a_dry_run() {
    let scene = Scene::new();
    let denied = sandbox::Fault::status(403, "Forbidden", "admission webhook \"policy\" denied the request");
    for name in ["b", "d"] {
        let when = sandbox::When::verb("patch").resource("configmaps").name(name);
        scene.sandbox.inject(when, denied.clone());
    }
    let mut options = Scene::options();
    options.dry_run = Some(kubesettle::event::DryRun::Server);
    let text = config_maps(&[("a", "1"), ("b", "1"), ("c", "1"), ("d", "1")]);
    let told = scene.run(Operation::Apply, &text, options).await;
    assert_eq!(told.class(), Some(ExitClass::Failed), "{}", told.message());
    for (name, fine) in [("a", true), ("b", false), ("c", true), ("d", false)] {
        let failed = matches!(told.outcome(name), Some(Outcome::Failed(_)));
        assert_eq!(failed, !fine, "{name}: {:?}", told.outcome(name));
    }
    assert!(scene.sandbox.get("configmaps", "default", "a").is_none());
}
