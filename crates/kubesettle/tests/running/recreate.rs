//! A field that cannot be changed: told, or the object is deleted and created anew.

use std::time::Duration;

use kubesettle::error::{ErrorClass, ExitClass};
use kubesettle::event::{Action, Body, Conclusion, DryRun, Operation, Outcome};
use kubesettle::plan::Recreate;
use kubesettle::run::RunOptions;

use crate::crash::kill_at_every_request_of;
use crate::scene::{Scene, Told};

/// A ConfigMap that cannot be changed.
fn fixed(name: &str, value: &str, metadata: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: default{metadata}}}\nimmutable: true\ndata: {{key: \"{value}\"}}\n"
    )
}

const ALLOWED: &str = ", annotations: {kubesettle.io/recreate: \"true\"}";

fn of_kind(kind: &str) -> RunOptions {
    let mut options = Scene::tracked();
    options.recreate = Recreate::parse([kind]).unwrap();
    options
}

fn uid(scene: &Scene, name: &str) -> String {
    let object = scene.sandbox.get("configmaps", "default", name).unwrap();
    object["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// What was told of an object's actions: `recreate Pending`, `recreate deleted`.
fn actions(told: &Told, name: &str) -> Vec<String> {
    let said = told.events.iter().filter_map(|event| match &event.body {
        Body::Started { id, action } if id.name() == name => Some(format!("{} begins", action.as_str())),
        Body::Finished { id, action, outcome } if id.name() == name => {
            Some(format!("{} {outcome:?}", action.as_str()))
        }
        _ => None,
    });
    said.collect()
}

#[tokio::test(start_paused = true)]
async fn without_leave_the_failure_names_the_field_and_the_way_out() {
    let scene = Scene::new();
    scene.apply(&fixed("a", "1", "")).await;
    let before = uid(&scene, "a");
    for options in [Scene::tracked(), of_kind("Secret")] {
        let told = scene.run(Operation::Apply, &fixed("a", "2", ""), options).await;
        assert_eq!(told.class(), Some(ExitClass::Failed));
        let Some(Outcome::Failed(error)) = told.outcome("a") else { panic!("{:?}", told.outcome("a")) };
        assert_eq!(error.class, ErrorClass::Immutable);
        assert!(error.causes.iter().any(|cause| &*cause.field == "data"), "{error:?}");
        assert!(error.hint().unwrap().contains("--recreate"));
    }
    assert_eq!(uid(&scene, "a"), before);
}

#[tokio::test(start_paused = true)]
async fn with_leave_the_object_is_tried_deleted_by_uid_waited_for_and_created() {
    for (metadata, options) in [(ALLOWED, Scene::tracked()), ("", of_kind("configmaps"))] {
        let scene = Scene::new();
        scene.apply(&fixed("a", "1", metadata)).await;
        let before = uid(&scene, "a");
        let seen = scene.sandbox.requests().len();
        let told = scene.run(Operation::Apply, &fixed("a", "2", metadata), options).await;
        assert_eq!(told.class(), Some(ExitClass::Ok), "{:?}", told.events);
        assert_eq!(
            actions(&told, "a"),
            ["apply begins", "recreate begins", "recreate Deleted", "apply Created"]
        );
        assert_eq!(told.conclusions()["a"], Conclusion::Settled);
        assert_ne!(uid(&scene, "a"), before);
        assert_eq!(scene.sandbox.get("configmaps", "default", "a").unwrap()["data"]["key"], "2");
        let requests = scene.sandbox.requests();
        let of_map = requests[seen..].iter().filter(|r| r.resource == "configmaps");
        let of_map: Vec<(&str, bool)> = of_map
            .filter(|request| {
                ["patch", "delete"].contains(&request.verb) && request.name != crate::scene::SET
            })
            .map(|request| (request.verb, request.name == "a"))
            .collect();
        assert_eq!(of_map, [("patch", true), ("patch", false), ("delete", true), ("patch", true)]);
        assert!(scene.recorded().contains("a"));
        let again = scene.apply(&fixed("a", "2", metadata)).await;
        assert_eq!(again.outcome("a"), Some(&Outcome::Unchanged));
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_server_would_not_take_anew_is_not_deleted() {
    let scene = Scene::new();
    let deployment = |app: &str, label: &str| {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: default{ALLOWED}}}\nspec:\n  selector: {{matchLabels: {{app: {app}}}}}\n  template:\n    metadata: {{labels: {{app: {label}}}}}\n    spec: {{containers: [{{name: c, image: \"example.test/img:1\"}}]}}\n"
        )
    };
    scene.apply(&deployment("a", "a")).await;
    let told = scene.apply(&deployment("b", "c")).await;
    assert_eq!(told.class(), Some(ExitClass::Failed));
    assert!(scene.sandbox.get("deployments.apps", "default", "web").is_some());
    let deletes = scene.sandbox.requests().iter().filter(|request| request.verb == "delete").count();
    assert_eq!(deletes, 0);
    let told = scene.apply(&deployment("b", "b")).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{:?}", told.events);
    assert_eq!(told.outcome("web"), Some(&Outcome::Deleted), "recreated");
}

#[tokio::test(start_paused = true)]
async fn an_object_that_does_not_go_is_told_with_what_holds_it_and_stays_on_record() {
    let scene = Scene::new();
    let held = format!("{ALLOWED}, finalizers: [example.com/hold]");
    scene.apply(&fixed("a", "1", &held)).await;
    let mut options = Scene::tracked();
    options.removal_timeout = Some(Duration::from_secs(10));
    let told = scene.run(Operation::Apply, &fixed("a", "2", &held), options).await;
    assert_eq!(told.class(), Some(ExitClass::Failed), "{:?}", told.events);
    let failed = told.events.iter().find_map(|event| match &event.body {
        Body::Finished { action: Action::Apply, outcome: Outcome::Failed(error), .. } => Some(error.clone()),
        _ => None,
    });
    let error = failed.unwrap();
    assert!(error.message.contains("example.com/hold"), "{error}");
    let terminating = told.position(|body| {
        matches!(body, Body::Verdict { verdict, .. } if verdict.status == kstatus::Status::Terminating)
    });
    assert!(terminating.is_some());
    assert!(scene.recorded().contains("a"));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_finalizer_lets_the_object_come_anew() {
    let scene = Scene::new();
    let held = format!("{ALLOWED}, finalizers: [example.com/hold]");
    scene.apply(&fixed("a", "1", &held)).await;
    let sandbox = scene.sandbox.clone();
    let free = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(20)).await;
        sandbox.edit("configmaps", "default", "a", |object| {
            object["metadata"].as_object_mut().unwrap().remove("finalizers");
        });
        sandbox.delete("configmaps", "default", "a");
    });
    let told = scene.apply(&fixed("a", "2", &held)).await;
    free.await.unwrap();
    assert_eq!(told.class(), Some(ExitClass::Ok), "{:?}", told.events);
    assert_eq!(actions(&told, "a").last().unwrap(), "apply Created");
}

#[tokio::test(start_paused = true)]
async fn a_rehearsal_tells_it_and_does_nothing() {
    let scene = Scene::new();
    scene.apply(&fixed("a", "1", ALLOWED)).await;
    let before = uid(&scene, "a");
    let mut options = Scene::tracked();
    options.dry_run = Some(DryRun::Server);
    let told = scene.run(Operation::Apply, &fixed("a", "2", ALLOWED), options).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{:?}", told.events);
    assert_eq!(told.outcome("a"), Some(&Outcome::Created));
    let said = |body: &Body| matches!(body, Body::Warning { message, .. } if message.contains("would be deleted and created anew"));
    assert!(told.position(said).is_some());
    assert_eq!(uid(&scene, "a"), before);
}

#[tokio::test(start_paused = true)]
async fn f23_a_recreation_killed_at_any_request_is_finished_by_the_next_run() {
    let before = [fixed("changes", "1", ALLOWED), fixed("goes", "1", "")].concat();
    let after = [fixed("changes", "2", ALLOWED), fixed("comes", "1", "")].concat();
    for after_it in [false, true] {
        kill_at_every_request_of(Operation::Apply, &before, &after, &["changes", "comes"], after_it).await;
    }
}
