//! Sets that hold each other up: a webhook and what it guards, a claim and its pod, a kind and its versions.

use e2e::manifests::{annotated, config_map, custom, definition, depending, deployment_that, stream};
use e2e::{LIMIT, Lines, SOON, Webhook, World, get, unique};
use harness::{shared, wait_until};
use serde_json::{Value, json};

tests![
    f07_a_webhook_and_what_it_guards_come_and_go_in_one_set,
    f09_an_object_in_a_version_that_is_gone_fails_alone_and_moves_with_its_manifest,
    f09_objects_of_a_group_that_is_gone_leave_the_record_with_a_note,
    f09_fields_of_a_version_that_is_gone_do_not_hold_up_the_next,
    an_immutable_field_is_changed_by_a_new_object_where_that_is_allowed,
];

fn record(world: &World) -> String {
    world.get("v1", "configmaps", "shop")["data"].to_string()
}

/// A Service that leads to a port of this machine, where the API server looks for the webhook.
fn door(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": name },
        "spec": { "type": "ExternalName", "externalName": "localhost", "selector": { "app": name } },
    })
}

fn f07_a_webhook_and_what_it_guards_come_and_go_in_one_set() {
    let world = World::new("guarded");
    let hook = Webhook::new(&format!("hook.{}.svc", world.name()));
    let name = unique("hook");
    let mut workload = deployment_that("hook", "slow-ready");
    workload["spec"]["template"]["metadata"]["annotations"]["kubesettle.test/delay"] = json!("2s");
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": { "name": name },
        "webhooks": [{
            "name": "hook.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
            "clientConfig": {
                "service": { "namespace": world.name(), "name": "hook", "port": hook.port() },
                "caBundle": hook.ca_bundle(),
            },
            "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": world.name() } },
            "objectSelector": { "matchLabels": { "guarded": "yes" } },
            "rules": [{ "apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"] }],
        }],
    });
    let mut guarded = depending(
        config_map("guarded"),
        &format!("admissionregistration.k8s.io/ValidatingWebhookConfiguration/{name}"),
    );
    guarded["metadata"]["labels"] = json!({ "guarded": "yes" });
    let set = [guarded, configuration, door("hook"), workload, config_map("free")];

    let run = world.settle(&["apply", "--set", "shop", "-o", "json"]).input(stream(&set)).start();
    run.wait_for_output("\"retry\"", SOON);
    hook.open();
    let lines = Lines::of(run.finish(LIMIT));
    assert_eq!(lines.all_settled(), 5);
    let configured = format!("ValidatingWebhookConfiguration/{name}");
    lines.in_order(("wait", "Deployment/hook", "Successful"), ("apply", &configured, "Pending"));
    lines.in_order(("wait", "ConfigMap/free", "Successful"), ("apply", &configured, "Pending"));
    let retry = lines.about("retry", "ConfigMap/guarded").next().expect("a retry");
    let said = retry["error"].as_str().unwrap_or_default();
    assert!(said.contains("failed calling webhook") && said.contains("refused"), "{said}");

    let gone = world.settle(&["destroy", "--set", "shop"]).json();
    assert_eq!(gone.all_settled(), 5);
    for object in ["ConfigMap/free", "Service/hook", "Deployment/hook"] {
        gone.in_order(("wait", &configured, "Successful"), ("delete", object, "Pending"));
    }
}

/// A definition that serves these versions; the last is the one that is stored.
fn versions(group: &str, served: &[(&str, bool)]) -> Value {
    let mut object = definition(group, "Widget", "widgets");
    let one = object["spec"]["versions"][0].clone();
    let last = served.len() - 1;
    let all = served.iter().enumerate().map(|(at, (name, served))| {
        let mut version = one.clone();
        version["name"] = (*name).into();
        version["served"] = (*served).into();
        version["storage"] = (at == last).into();
        version
    });
    object["spec"]["versions"] = all.collect();
    object
}

fn widget(group: &str, version: &str, size: u32) -> Value {
    let mut object = custom(group, "Widget", "w");
    object["apiVersion"] = format!("{group}/{version}").into();
    object["spec"]["size"] = size.into();
    object
}

fn apply(world: &World, set: &[Value]) -> Lines {
    world.settle(&["apply", "--set", "shop"]).input(stream(set)).json()
}

fn is_served(group: &str, version: &str) -> bool {
    let reply = shared().api().get(&format!("/apis/{group}/{version}")).expect("an answer");
    reply.status == 200
}

fn f09_an_object_in_a_version_that_is_gone_fails_alone_and_moves_with_its_manifest() {
    let world = World::new("versions");
    let group = format!("{}.example.com", unique("versions"));
    shared().apply(&versions(&group, &[("v1beta1", true), ("v1", true)]).to_string());
    wait_until("both versions to be served", LIMIT, || {
        is_served(&group, "v1beta1") && is_served(&group, "v1")
    });
    apply(&world, &[widget(&group, "v1beta1", 1), config_map("a")]).all_settled();

    shared().apply(&versions(&group, &[("v1beta1", false), ("v1", true)]).to_string());
    wait_until("the old version to be gone", LIMIT, || !is_served(&group, "v1beta1"));
    let lines = apply(&world, &[widget(&group, "v1beta1", 1), config_map("a")]);
    lines.exits_with(1);
    let (_, error) = lines.failure("Widget/w");
    assert!(error.contains("not served in version v1beta1") && error.contains("served: v1"), "{error}");
    assert_eq!(lines.conclusion("ConfigMap/a"), "Settled");
    let path = format!("/apis/{group}/v1/namespaces/{}/widgets/w", world.name());
    assert_eq!(get(shared(), &path)["spec"]["size"], 1, "it was not pruned");
    assert!(record(&world).contains("_w_"));

    let lines = apply(&world, &[widget(&group, "v1", 2), config_map("a")]);
    lines.all_settled();
    assert_eq!(lines.outcome("Widget/w"), "configured");
    assert_eq!(get(shared(), &path)["spec"]["size"], 2);
    assert_eq!(record(&world).matches("_w_").count(), 1);
    shared()
        .api()
        .delete(&format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.{group}"))
        .expect("gone");
}

fn f09_objects_of_a_group_that_is_gone_leave_the_record_with_a_note() {
    let world = World::new("gone");
    let group = format!("{}.example.com", unique("gone"));
    shared().apply(&versions(&group, &[("v1", true)]).to_string());
    wait_until("the kind to be served", LIMIT, || is_served(&group, "v1"));
    apply(&world, &[widget(&group, "v1", 1), config_map("a")]).all_settled();
    let crd = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.{group}");
    shared().api().delete(&crd).expect("gone");
    wait_until("the group to be gone", LIMIT, || !is_served(&group, "v1") && get(shared(), &crd).is_null());
    let lines = apply(&world, &[config_map("a")]);
    lines.all_settled();
    let notes: Vec<_> = lines.all("warning").map(|line| line["message"].to_string()).collect();
    assert!(notes.iter().any(|note| note.contains("leaves the record")), "{notes:?}");
    assert!(!record(&world).contains("_w_"), "{}", record(&world));
}

fn f09_fields_of_a_version_that_is_gone_do_not_hold_up_the_next() {
    let world = World::new("dead");
    let group = format!("{}.example.com", unique("dead"));
    let with_schema = |served: &[(&str, bool, &str)]| {
        let plain: Vec<_> = served.iter().map(|(name, served, _)| (*name, *served)).collect();
        let mut object = versions(&group, &plain);
        for (at, (_, _, field)) in served.iter().enumerate() {
            let spec = json!({ "type": "object", "properties": { "size": { "type": "integer" }, (*field): { "type": "string" } } });
            object["spec"]["versions"][at]["schema"]["openAPIV3Schema"] =
                json!({ "type": "object", "properties": { "spec": spec } });
        }
        object
    };
    let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.{group}");
    shared().apply(&with_schema(&[("v1beta1", true, "old")]).to_string());
    wait_until("the kind to be served", LIMIT, || is_served(&group, "v1beta1"));
    let mut old = widget(&group, "v1beta1", 1);
    old["spec"]["old"] = "x".into();
    apply(&world, &[old]).all_settled();

    shared().apply(&with_schema(&[("v1beta1", true, "old"), ("v1", true, "new")]).to_string());
    wait_until("the new version to be served", LIMIT, || is_served(&group, "v1"));
    // What is stored is written anew, as before any version is taken away.
    let live = format!("/apis/{group}/v1/namespaces/{}/widgets/w", world.name());
    let touched = json!({ "metadata": { "annotations": { "touched": "yes" } } });
    wait_until("the object to be stored in the new version", LIMIT, || {
        shared().api().merge(&live, &touched).is_ok_and(|reply| reply.status == 200)
    });
    let stored = json!({ "status": { "storedVersions": ["v1"] } });
    shared().api().merge(&format!("{path}/status"), &stored).expect("an answer").success();
    shared().apply(&with_schema(&[("v1", true, "new")]).to_string());
    wait_until("the old version to be gone", LIMIT, || !is_served(&group, "v1beta1"));

    let mut new = widget(&group, "v1", 2);
    new["spec"]["new"] = "y".into();
    let lines = apply(&world, &[new.clone()]);
    lines.all_settled();
    let live = get(shared(), &live);
    assert_eq!(live["spec"], json!({ "size": 2, "new": "y" }));
    let again = apply(&world, &[new]);
    assert_eq!(again.outcome("Widget/w"), "unchanged", "{again:#}");
    shared().api().delete(&path).expect("gone");
}

fn an_immutable_field_is_changed_by_a_new_object_where_that_is_allowed() {
    let world = World::new("anew");
    let fixed = |value: &str, allowed: bool| {
        let mut map = config_map("fixed");
        map["immutable"] = json!(true);
        map["data"]["key"] = value.into();
        if allowed { annotated(map, "kubesettle.io/recreate", "true") } else { map }
    };
    let uid = || world.get("v1", "configmaps", "fixed")["metadata"]["uid"].clone();
    apply(&world, &[fixed("1", false)]).all_settled();
    let first = uid();
    let refused = apply(&world, &[fixed("2", false)]);
    refused.exits_with(1);
    assert_eq!(refused.failure("ConfigMap/fixed").0, "Immutable");
    let flagged = world.settle(&["apply", "--set", "shop", "--recreate", "cm"]);
    let lines = flagged.input(stream(&[fixed("2", false)])).json();
    lines.all_settled();
    assert_eq!(lines.outcome("ConfigMap/fixed"), "created");
    let second = uid();
    assert_ne!(first, second);
    apply(&world, &[fixed("3", true)]).all_settled();
    assert_ne!(uid(), second);
    let never = world
        .settle(&["apply", "--set", "shop", "--recreate", "pvc"])
        .input(stream(&[fixed("3", true)]))
        .run();
    never.exits_with(2);
    assert!(never.stderr.contains("kubesettle.io/recreate"), "{}", never.stderr);
    let typo = world.settle(&["apply", "--set", "shop", "--recreate", "confgmap"]);
    let typo = typo.input(stream(&[fixed("3", true)])).run();
    typo.exits_with(0);
    assert!(typo.stderr.contains("no kind of that name"), "{}", typo.stderr);

    let mut web = e2e::manifests::deployment("web");
    apply(&world, &[web.clone(), fixed("3", true)]).all_settled();
    web["spec"]["selector"]["matchLabels"]["tier"] = "front".into();
    let refused = world.settle(&["apply", "--set", "shop", "--recreate", "deployments.apps"]);
    let refused = refused.input(stream(&[web.clone(), fixed("3", true)])).json();
    refused.exits_with(1);
    let (code, error) = refused.failure("Deployment/web");
    assert_eq!(code, "Immutable");
    assert!(error.contains("spec.selector") && error.contains("it was not recreated"), "{error}");
    assert!(
        !world.get("apps/v1", "deployments", "web").is_null(),
        "the server would not take it, so it stays"
    );
    web["spec"]["template"]["metadata"]["labels"]["tier"] = "front".into();
    let taken = world.settle(&["apply", "--set", "shop", "--recreate", "deployments.apps"]);
    taken.input(stream(&[web, fixed("3", true)])).json().all_settled();
}
