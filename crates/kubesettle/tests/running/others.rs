//! Others act on objects that a run has written and waits for.

use std::time::Duration;

use kstatus::Status;
use kubesettle::error::ExitClass;
use kubesettle::event::{Body, Conclusion, Operation, Outcome, Skip, WarningSource};
use sandbox::Sandbox;
use serde_json::{Value, json};

use crate::scene::{SET, Scene, Told, config_maps};

fn deployment(name: &str, outcome: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: default}}\nspec:\n  selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}, annotations: {{kubesettle.test/outcome: \"{outcome}\"}}}}\n    spec: {{containers: [{{name: c, image: \"example.test/img:1\"}}]}}\n"
    )
}

/// Deletes an object and creates it anew before anybody sees that it was gone.
fn replace(sandbox: &Sandbox, resource: &str, name: &str) {
    let mut object = sandbox.get(resource, "default", name).unwrap();
    sandbox.delete(resource, "default", name);
    let metadata = &object["metadata"];
    object["metadata"] = json!({"name": metadata["name"], "namespace": metadata["namespace"],
        "annotations": metadata["annotations"]});
    object.as_object_mut().unwrap().remove("status");
    assert!(sandbox.create(object).is_some());
}

/// Applies, and acts once when the first verdict on `name` is told.
async fn meanwhile(scene: &Scene, text: &str, name: &str, act: impl FnOnce(&Sandbox)) -> Told {
    let mut options = Scene::tracked();
    options.timeout = Some(Duration::from_secs(40));
    scene.meanwhile(Operation::Apply, text, options, name, act).await
}

fn warnings(told: &Told, name: &str) -> Vec<String> {
    let said = told.events.iter().filter_map(|event| match &event.body {
        Body::Warning { id: Some(id), source: WarningSource::Run, message } if id.name() == name => {
            Some(message.to_string())
        }
        _ => None,
    });
    said.collect()
}

fn last_verdict(told: &Told, name: &str) -> (Status, String) {
    let last = told.events.iter().rev().find_map(|event| match &event.body {
        Body::Verdict { id, verdict } if id.name() == name => Some((verdict.status, verdict.message.clone())),
        _ => None,
    });
    last.unwrap()
}

#[tokio::test(start_paused = true)]
async fn f26_an_object_made_anew_while_it_is_awaited_is_a_failure_and_so_are_those_behind_it() {
    let scene = Scene::new();
    let behind = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: behind, namespace: default, annotations: {config.kubernetes.io/depends-on: apps/namespaces/default/Deployment/stuck}}\n";
    let text = format!("{}{behind}", deployment("stuck", "never-ready"));
    let told =
        meanwhile(&scene, &text, "stuck", |sandbox| replace(sandbox, "deployments.apps", "stuck")).await;
    assert_eq!(told.class(), Some(ExitClass::Failed), "{}", told.message());
    assert_eq!(told.conclusions()["stuck"], Conclusion::Failed);
    let (status, message) = last_verdict(&told, "stuck");
    assert_eq!(status, Status::Failed);
    assert!(message.contains("somebody deleted it") && message.contains("created it anew"), "{message}");
    let Some(Outcome::Skipped(Skip::Dependency { reason, .. })) = told.outcome("behind") else {
        panic!("{:?}", told.outcome("behind"));
    };
    assert!(reason.contains("created it anew"), "{reason}");
    assert!(told.events.last().unwrap().elapsed < Duration::from_secs(40), "not at the time limit");
    assert!(scene.recorded().contains("stuck"), "nobody knows whose it is");
}

/// Nothing can be seen of it but another uid: the verdict on a ConfigMap stays what it was.
#[tokio::test(start_paused = true)]
async fn f26_an_object_made_anew_after_it_settled_is_a_failure_while_others_are_awaited() {
    let scene = Scene::new();
    let text = format!("{}{}", config_maps(&[("a", "1"), ("b", "1")]), deployment("web", ""));
    let told = meanwhile(&scene, &text, "web", |sandbox| replace(sandbox, "configmaps", "a")).await;
    assert_eq!(told.class(), Some(ExitClass::Failed), "{}", told.message());
    assert_eq!(told.conclusions()["a"], Conclusion::Failed);
    assert_eq!(told.conclusions()["b"], Conclusion::Settled);
    assert_eq!(told.conclusions()["web"], Conclusion::Settled);
}

#[tokio::test(start_paused = true)]
async fn f26_a_namespace_made_anew_with_its_objects_does_not_hide_their_deletion() {
    let scene = Scene::new();
    scene.sandbox.create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "room"}}));
    let inside = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: inside, namespace: room}\n";
    let text = format!("{inside}{}", deployment("slow", "never-ready"));
    let told = meanwhile(&scene, &text, "slow", |sandbox| {
        sandbox.delete("namespaces", "", "room");
        let sandbox = sandbox.clone();
        tokio::spawn(async move {
            while sandbox.get("namespaces", "", "room").is_some() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            sandbox.create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "room"}}));
            sandbox.create(json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "inside", "namespace": "room"}}));
        });
    })
    .await;
    assert!(scene.sandbox.get("configmaps", "room", "inside").is_some());
    assert_eq!(told.conclusions()["inside"], Conclusion::Failed);
    assert_eq!(told.class(), Some(ExitClass::Failed));
}

#[tokio::test(start_paused = true)]
async fn a_deletion_by_somebody_is_told_as_such() {
    let scene = Scene::new();
    let text = deployment("stuck", "never-ready");
    let told = meanwhile(&scene, &text, "stuck", |sandbox| {
        sandbox.delete("deployments.apps", "default", "stuck");
    })
    .await;
    assert_eq!(told.conclusions()["stuck"], Conclusion::Failed);
    assert_eq!(warnings(&told, "stuck"), ["somebody deleted it after it was applied"]);
}

#[tokio::test(start_paused = true)]
async fn a_change_by_somebody_is_told_once_and_judged() {
    let scene = Scene::new();
    let told = meanwhile(&scene, &deployment("web", ""), "web", |sandbox| {
        sandbox.edit("deployments.apps", "default", "web", |object| {
            object["spec"]["replicas"] = json!(2);
            object["metadata"]["generation"] = json!(2);
        });
    })
    .await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    assert_eq!(
        warnings(&told, "web"),
        ["somebody changed it after it was applied; it is judged as it is now"]
    );
    let quiet = scene.apply(&deployment("other", "")).await;
    assert!(warnings(&quiet, "other").is_empty(), "nobody else wrote it");
}

#[tokio::test(start_paused = true)]
async fn a_job_that_finished_may_be_followed_by_the_next() {
    let scene = Scene::new();
    let job = "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: once, namespace: default}\nspec:\n  template:\n    spec: {restartPolicy: Never, containers: [{name: c, image: \"example.test/img:1\"}]}\n";
    let text = format!("{job}{}", deployment("slow", "never-ready"));
    let sandbox = scene.sandbox.clone();
    let next = tokio::spawn(async move {
        let finished = |job: &Value| job["status"]["completionTime"].is_string();
        while !sandbox.get("jobs.batch", "default", "once").is_some_and(|job| finished(&job)) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
        sandbox.delete("jobs.batch", "default", "once");
        sandbox.create(json!({"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "once", "namespace": "default"}, "spec": {"template": {"spec": {
                "restartPolicy": "Never", "containers": [{"name": "c", "image": "example.test/img:1"}]}}}}));
    });
    let told = meanwhile(&scene, &text, "nobody", |_| {}).await;
    next.await.unwrap();
    assert_eq!(told.conclusions()["once"], Conclusion::Settled);
    assert_eq!(told.conclusions()["slow"], Conclusion::TimedOut);
}

/// The reader of the events is gone: as a signal, with the record written and nothing left behind.
#[tokio::test(start_paused = true)]
async fn a_run_whose_events_nobody_reads_any_more_stops_in_order() {
    let scene = Scene::new();
    let names: Vec<String> = (0..300).map(|n| format!("c{n}")).collect();
    let pairs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    let mut run = scene.start(Operation::Apply, &config_maps(&pairs), Scene::tracked()).await.unwrap();
    while let Some(event) = run.next().await {
        if matches!(event.body, Body::Finished { .. }) {
            break;
        }
    }
    drop(run);
    tokio::time::sleep(Duration::from_secs(60)).await;
    let applied = scene.marked().len();
    assert!((1..300).contains(&applied), "{applied} applied");
    scene.assert_nothing_lost("after the reader went");
    assert_eq!(scene.sandbox.open_watches(""), 0);
    assert!(scene.sandbox.get("configmaps", "default", SET).is_some());
    let lock = scene.sandbox.get("leases.coordination.k8s.io", "default", "kubesettle-shop").unwrap();
    assert!(lock["spec"]["holderIdentity"].is_null(), "the lock is given back: {lock}");
}
