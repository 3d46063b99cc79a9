//! Apply-time mutation: values that come from other objects.

use kubesettle::error::{ErrorClass, ExitClass};
use kubesettle::event::{Body, DryRun, Operation, Outcome};
use serde_json::json;

use crate::scene::{Scene, config_maps};

/// A ConfigMap whose `key` takes that of another, as a whole or where the token stands.
fn taking(name: &str, value: &str, from: &str, path: &str, token: &str) -> String {
    let mut entry = json!({
        "sourceRef": { "kind": "ConfigMap", "name": from }, "sourcePath": path, "targetPath": "$.data.key",
    });
    if !token.is_empty() {
        entry["token"] = token.into();
    }
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": name, "namespace": "default",
            "annotations": { "config.kubernetes.io/apply-time-mutation": json!([entry]).to_string() },
        },
        "data": { "key": value },
    });
    format!("---\n{object}\n")
}

fn key(scene: &Scene, name: &str) -> String {
    let object = scene.sandbox.get("configmaps", "default", name).unwrap();
    object["data"]["key"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_value_is_taken_when_its_source_has_settled_and_again_when_it_changed() {
    let scene = Scene::new();
    for value in ["1", "2"] {
        let text = [
            taking("third", "at ${x}, ${x}", "second", "$.data.key", "${x}"),
            taking("second", "", "first", "$.data['key']", ""),
            config_maps(&[("first", value)]),
        ];
        let told = scene.apply(&text.concat()).await;
        assert_eq!(told.class(), Some(ExitClass::Ok), "{:?}", told.events);
        assert!(told.concluded("first") < told.finished("second"));
        assert!(told.concluded("second") < told.finished("third"));
        assert_eq!(
            (key(&scene, "second"), key(&scene, "third")),
            (value.into(), format!("at {value}, {value}"))
        );
    }
    let gone = scene.destroy().await;
    assert_eq!(gone.class(), Some(ExitClass::Ok));
    assert!(gone.concluded("third") < gone.finished("second"), "who takes a value goes before who gives it");
}

#[tokio::test(start_paused = true)]
async fn a_source_outside_of_the_set_is_read_once_and_not_touched() {
    let scene = Scene::new();
    let told =
        scene.run(Operation::Apply, &taking("a", "", "theirs", "$.data.key", ""), Scene::options()).await;
    assert!(
        matches!(told.outcome("a"), Some(Outcome::Skipped(_))),
        "it does not exist: {:?}",
        told.outcome("a")
    );
    scene.sandbox.create(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "theirs", "namespace": "default"}, "data": {"key": "x", "other": "y"}}));
    let before = scene.sandbox.requests().len();
    let both = json!([
        {"sourceRef": {"kind": "ConfigMap", "name": "theirs"}, "sourcePath": "$.data.key", "targetPath": "$.data.one"},
        {"sourceRef": {"kind": "ConfigMap", "name": "theirs", "namespace": "default"},
            "sourcePath": "$.data.other", "targetPath": "$.data.two"},
    ]);
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"one": "", "two": ""}, "metadata": {
        "name": "a", "namespace": "default",
        "annotations": {"config.kubernetes.io/apply-time-mutation": both.to_string()},
    }});
    let told = scene.run(Operation::Apply, &object.to_string(), Scene::options()).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{:?}", told.events);
    let live = scene.sandbox.get("configmaps", "default", "a").unwrap();
    assert_eq!(live["data"], json!({"one": "x", "two": "y"}));
    let requests = scene.sandbox.requests();
    let of = |verb: &str| {
        requests[before..].iter().filter(|r| r.verb == verb && r.resource == "configmaps").count()
    };
    assert_eq!((of("get"), of("patch")), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_value_that_is_not_there_fails_its_object_alone_and_nothing_is_written() {
    let scene = Scene::new();
    let text =
        [taking("bad", "", "source", "$.data.absent", ""), config_maps(&[("source", "1"), ("free", "1")])];
    let told = scene.apply(&text.concat()).await;
    assert_eq!(told.class(), Some(ExitClass::Failed));
    let Some(Outcome::Failed(error)) = told.outcome("bad") else { panic!("{:?}", told.outcome("bad")) };
    assert_eq!(error.class, ErrorClass::Invalid);
    assert_eq!(
        &*error.message,
        "apply-time mutation: configmap/source in default has no field $.data.absent"
    );
    assert!(scene.sandbox.get("configmaps", "default", "bad").is_none());
    assert_eq!(told.outcome("free"), Some(&Outcome::Created));
    assert!(!scene.recorded().contains("bad"));
}

#[tokio::test(start_paused = true)]
async fn a_rehearsal_says_which_value_is_not_known_yet() {
    for how in [DryRun::Client, DryRun::Server] {
        let scene = Scene::new();
        let text = [taking("a", "", "source", "$.data.key", ""), config_maps(&[("source", "1")])].concat();
        let mut options = Scene::options();
        options.dry_run = Some(how);
        let told = scene.run(Operation::Apply, &text, options.clone()).await;
        assert_eq!(told.class(), Some(ExitClass::Ok), "{:?}", told.events);
        assert_eq!(told.outcome("a"), Some(&Outcome::Created));
        let said = told.position(|body| match body {
            Body::Warning { message, .. } => {
                message.contains("takes from configmap/source in default is not known until that exists")
            }
            _ => false,
        });
        assert!(said.is_some(), "{how:?} {:?}", told.events);
        assert!(scene.sandbox.get("configmaps", "default", "a").is_none());
        scene.run(Operation::Apply, &text, Scene::options()).await;
        let told = scene.run(Operation::Apply, &text, options).await;
        let outcome = if how == DryRun::Server { Outcome::Unchanged } else { Outcome::Applied };
        assert_eq!(told.outcome("a"), Some(&outcome), "with the value that is there now");
    }
}
