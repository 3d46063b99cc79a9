//! Objects that pass from hand to hand: between two sets, into a set and out of it again.

use kubesettle::error::ExitClass;
use kubesettle::event::{Operation, Outcome, Skip};
use kubesettle::inventory::{InventoryPolicy, OWNING_INVENTORY, Wanted};
use kubesettle::run::RunOptions;
use sandbox::Sandbox;
use serde_json::{Value, json};

use crate::scene::{SET, Scene, config_maps};

fn behind(name: &str, on: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: default, annotations: {{config.kubernetes.io/depends-on: {on}}}}}\ndata: {{key: \"1\"}}\n"
    )
}

const WEB: &str = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: c, image: \"example.test/img:1\"}]}\n";

fn annotate(sandbox: &Sandbox, name: &str, key: &str, value: &str) {
    assert!(sandbox.edit("configmaps", "default", name, |object| {
        object["metadata"]["annotations"][key] = value.into();
    }));
}

fn config_map(name: &str, annotations: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "theirs"},
        "metadata": {"name": name, "namespace": "default", "annotations": annotations}})
}

fn key(scene: &Scene, name: &str) -> Value {
    scene.sandbox.get("configmaps", "default", name).unwrap_or_default()["data"]["key"].clone()
}

fn of_set(name: &str, policy: InventoryPolicy) -> RunOptions {
    let mut options = Scene::tracked();
    options.tracking.policy = policy;
    if let Some(set) = &mut options.set {
        set.wanted = Wanted::named("default", name).unwrap();
    }
    options
}

/// The plan is made once; the wait for what goes first may take long.
#[tokio::test(start_paused = true)]
async fn what_somebody_claims_or_keeps_while_a_destroy_waits_is_spared() {
    for (annotation, value) in [(OWNING_INVENTORY, "another"), ("cli-utils.sigs.k8s.io/on-remove", "keep")] {
        let scene = Scene::new();
        let text = format!(
            "{}{}",
            config_maps(&[("x", "1"), ("free", "1")]),
            behind("above", "/namespaces/default/ConfigMap/x")
        );
        assert_eq!(scene.apply(&text).await.class(), Some(ExitClass::Ok));
        scene.sandbox.edit("configmaps", "default", "above", |object| {
            object["metadata"]["finalizers"] = json!(["example.com/hold"]);
        });
        let told = scene
            .meanwhile(Operation::Destroy, "", Scene::tracked(), "above", |sandbox| {
                annotate(sandbox, "x", annotation, value);
                sandbox.edit("configmaps", "default", "above", |object| {
                    object["metadata"]["finalizers"] = json!([])
                });
                sandbox.delete("configmaps", "default", "above");
            })
            .await;
        assert!(scene.sandbox.get("configmaps", "default", "x").is_some(), "{annotation}");
        let spared = match told.outcome("x") {
            Some(Outcome::Skipped(Skip::Refused { .. })) => annotation == OWNING_INVENTORY,
            Some(Outcome::Skipped(Skip::Kept { .. })) => annotation != OWNING_INVENTORY,
            _ => false,
        };
        assert!(spared, "{annotation}: {:?}", told.outcome("x"));
        assert!(scene.sandbox.get("configmaps", "default", "free").is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn what_another_set_takes_while_an_apply_waits_stays_with_it() {
    let scene = Scene::new();
    let text = format!("{WEB}{}", behind("x", "apps/namespaces/default/Deployment/web"));
    let told = scene
        .meanwhile(Operation::Apply, &text, Scene::tracked(), "web", |sandbox| {
            sandbox.create(config_map("x", json!({(OWNING_INVENTORY): "another"})));
        })
        .await;
    assert_eq!(told.class(), Some(ExitClass::Refused), "{}", told.message());
    let Some(Outcome::Skipped(Skip::Refused { hint, .. })) = told.outcome("x") else {
        panic!("{:?}", told.outcome("x"));
    };
    assert!(hint.contains("another"), "{hint}");
    assert_eq!(key(&scene, "x"), "theirs");
    assert!(!scene.recorded().contains("x"), "what is not ours is not recorded");
}

/// A controller makes the service account of a namespace of the set.
#[tokio::test(start_paused = true)]
async fn what_nobodys_set_made_while_an_apply_waits_is_taken() {
    let scene = Scene::new();
    let text = format!("{WEB}{}", behind("x", "apps/namespaces/default/Deployment/web"));
    let told = scene
        .meanwhile(Operation::Apply, &text, Scene::tracked(), "web", |sandbox| {
            sandbox.create(config_map("x", json!({"made-by": "a-controller"})));
        })
        .await;
    assert!(!matches!(told.outcome("x"), Some(Outcome::Skipped(_))), "{:?}", told.outcome("x"));
}

#[tokio::test(start_paused = true)]
async fn an_object_is_handed_from_one_set_to_another_in_one_pipeline() {
    let scene = Scene::new();
    scene.apply(&config_maps(&[("a", "1"), ("x", "1")])).await;
    let x = config_maps(&[("x", "1")]);
    let told = scene.run(Operation::Apply, &x, of_set("next", InventoryPolicy::Strict)).await;
    let Some(Outcome::Skipped(Skip::Refused { hint, .. })) = told.outcome("x") else {
        panic!("{:?}", told.outcome("x"));
    };
    assert!(hint.contains("set default/shop") && hint.contains("--inventory-policy"), "{hint}");
    let told = scene.run(Operation::Apply, &x, of_set("next", InventoryPolicy::ForceAdopt)).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    let told = scene.apply(&config_maps(&[("a", "1")])).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    assert!(!scene.recorded().contains("x"), "the former owner has forgotten it");
    assert_eq!(scene.destroy().await.class(), Some(ExitClass::Ok));
    assert_eq!(key(&scene, "x"), "1");
    scene.run(Operation::Destroy, "", of_set("next", InventoryPolicy::Strict)).await;
    assert!(scene.sandbox.get("configmaps", "default", "x").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_record_that_was_lost_is_made_anew_from_the_same_input() {
    let scene = Scene::new();
    let text = config_maps(&[("a", "1"), ("b", "1")]);
    scene.apply(&text).await;
    assert!(scene.sandbox.delete("configmaps", "default", SET));
    let told = scene.apply(&text).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    assert_eq!(told.outcome("a"), Some(&Outcome::Unchanged));
    assert_eq!(scene.recorded().len(), 2);
    scene.assert_nothing_lost("after the record came back");
}

/// As `kubectl get -o yaml` prints it, status, uid and all; later the uid is that of a former life.
#[tokio::test(start_paused = true)]
async fn a_dump_of_a_live_object_is_applied_as_a_manifest() {
    let scene = Scene::new();
    scene.apply(WEB).await;
    let dump = scene.sandbox.get("deployments.apps", "default", "web").unwrap();
    assert!(dump["status"].is_object() && dump["metadata"]["uid"].is_string());
    let told = scene.apply(&dump.to_string()).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    scene.sandbox.delete("deployments.apps", "default", "web");
    let told = scene.apply(&dump.to_string()).await;
    assert_eq!(told.class(), Some(ExitClass::Ok), "{}", told.message());
    assert_eq!(told.outcome("web"), Some(&Outcome::Created));
}
