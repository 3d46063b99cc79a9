//! What a status says right after our change of the object may be about what it was before.

use kubesettle::event::{Body, Conclusion, Operation, Outcome};
use sandbox::Sandbox;
use serde_json::{Value, json};

use crate::scene::{Scene, Told};

/// A widget of this size, and the kind it is of.
fn widget(size: u32) -> String {
    let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "widgets.example.com" },
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": { "plural": "widgets", "kind": "Widget" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": open } }],
        },
    });
    let widget = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "spec": { "size": size },
        "metadata": { "name": "w", "namespace": "default" },
    });
    format!("{definition}\n---\n{widget}\n")
}

/// Writes a status as its controller would.
fn report(sandbox: &Sandbox, status: &Value) {
    assert!(sandbox.edit("widgets.example.com", "default", "w", |object| object["status"] = status.clone()));
}

fn condition(name: &str, word: &str, reason: &str) -> Value {
    json!({ "conditions": [{ "type": name, "status": word, "reason": reason, "message": reason }] })
}

/// A widget that has been reported on like this.
async fn reported(status: &Value) -> Scene {
    let scene = Scene::new();
    let mut options = Scene::options();
    options.wait = false;
    scene.run(Operation::Apply, &widget(1), options).await;
    report(&scene.sandbox, status);
    scene
}

fn reasons(told: &Told) -> Vec<String> {
    let verdicts = told.events.iter().filter_map(|event| match &event.body {
        Body::Verdict { id, verdict } if id.name() == "w" => Some(verdict.reason.as_str().to_owned()),
        _ => None,
    });
    verdicts.collect()
}

fn conclusion(told: &Told) -> Conclusion {
    told.conclusions()["w"].clone()
}

#[tokio::test(start_paused = true)]
async fn after_a_change_a_status_without_a_generation_is_believed_when_it_is_written_anew() {
    for before in
        [condition("Ready", "True", "Old"), condition("Stalled", "True", "Old"), json!({"phase": "Failed"})]
    {
        let scene = reported(&before).await;
        let act = |sandbox: &Sandbox| report(sandbox, &condition("Ready", "False", "Working"));
        let mut options = Scene::options();
        options.timeout = Some(std::time::Duration::from_secs(30));
        let told = scene.meanwhile(Operation::Apply, &widget(2), options, "w", act).await;
        assert_eq!(reasons(&told), ["StatusNotRenewed", "Working"], "{before}");
        assert_eq!(conclusion(&told), Conclusion::TimedOut, "{before}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_status_that_nobody_writes_anew_is_believed_after_a_grace() {
    let scene = reported(&condition("Ready", "True", "Old")).await;
    let told = scene.run(Operation::Apply, &widget(2), Scene::options()).await;
    assert_eq!(reasons(&told).first().map(String::as_str), Some("StatusNotRenewed"));
    assert_eq!(conclusion(&told), Conclusion::Settled);
}

#[tokio::test(start_paused = true)]
async fn what_was_not_changed_or_tells_its_generation_is_believed_at_once() {
    let scene = reported(&condition("Ready", "True", "Old")).await;
    let told = scene.run(Operation::Apply, &widget(1), Scene::options()).await;
    assert_eq!(told.outcome("w"), Some(&Outcome::Unchanged));
    assert!(!reasons(&told).contains(&"StatusNotRenewed".to_owned()));

    let mut dated = condition("Ready", "True", "Old");
    dated["observedGeneration"] = json!(1);
    report(&scene.sandbox, &dated);
    let act = |sandbox: &Sandbox| {
        let mut dated = condition("Ready", "True", "New");
        dated["observedGeneration"] = json!(2);
        report(sandbox, &dated);
    };
    let told = scene.meanwhile(Operation::Apply, &widget(2), Scene::options(), "w", act).await;
    assert_eq!(reasons(&told).first().map(String::as_str), Some("LatestGenerationNotObserved"));
    assert_eq!(conclusion(&told), Conclusion::Settled);
}

/// The controller observes a change before it takes the verdict on the rollout before back.
#[tokio::test(start_paused = true)]
async fn a_deadline_that_was_exceeded_before_the_change_fails_nothing() {
    let deployment = |outcome: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: w, namespace: default}}\nspec:\n  selector: {{matchLabels: {{app: w}}}}\n  template:\n    metadata: {{labels: {{app: w}}, annotations: {{round: \"{outcome}\"}}}}\n    spec: {{containers: [{{name: c, image: \"example.test/img:1\"}}]}}\n"
        )
    };
    let sandbox = Sandbox::builder().no_controllers().build();
    let scene = Scene { sandbox };
    let mut options = Scene::options();
    options.wait = false;
    scene.run(Operation::Apply, &deployment("one"), options).await;
    let late = |sandbox: &Sandbox, generation: i64| {
        let since = "2000-01-01T00:00:00Z";
        let status = json!({ "observedGeneration": generation, "replicas": 1, "updatedReplicas": 1,
            "conditions": [{ "type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
                "message": "timed out", "lastTransitionTime": since }] });
        assert!(sandbox.edit("deployments.apps", "default", "w", |object| object["status"] = status.clone()));
    };
    late(&scene.sandbox, 1);
    let act = |sandbox: &Sandbox| late(sandbox, 2);
    let mut options = Scene::options();
    options.timeout = Some(std::time::Duration::from_secs(5));
    let told = scene.meanwhile(Operation::Apply, &deployment("two"), options, "w", act).await;
    assert_eq!(reasons(&told), ["LatestGenerationNotObserved", "StatusNotRenewed"]);
    assert_eq!(conclusion(&told), Conclusion::TimedOut);
}
