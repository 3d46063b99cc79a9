//! Rules that definitions carry, in a run.

use kubesettle::event::{Body, Conclusion, Operation};

use crate::scene::Scene;

const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
  annotations:
    kubesettle.io/status-rule: RULE
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
";

fn widget(name: &str, spec: &str) -> String {
    format!("---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n")
}

#[tokio::test(start_paused = true)]
async fn the_rule_on_a_definition_of_the_set_judges_its_objects() {
    let rule = "\"{current: '{.spec.go}=now', failed: '{.spec.broken}'}\"";
    let text = DEFINITION.replace("RULE", rule) + &widget("good", "go: now") + &widget("bad", "broken: true");
    let told = Scene::new().run(Operation::Apply, &text, Scene::options()).await;
    let conclusions = told.conclusions();
    assert_eq!(conclusions.get("good"), Some(&Conclusion::Settled), "{conclusions:?}");
    assert_eq!(conclusions.get("bad"), Some(&Conclusion::Failed), "{conclusions:?}");
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_cannot_be_read_is_a_warning_and_no_more() {
    let text = DEFINITION.replace("RULE", "\"current: '{.spec'\"") + &widget("good", "go: now");
    let told = Scene::new().run(Operation::Apply, &text, Scene::options()).await;
    let warned =
        |body: &Body| matches!(body, Body::Warning { message, .. } if message.contains("status-rule"));
    assert!(told.position(warned).is_some());
    assert_eq!(told.conclusions().get("good"), Some(&Conclusion::Settled));
}
