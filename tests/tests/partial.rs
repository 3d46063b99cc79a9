//! Parts of the API do not answer: an aggregated API without its server, a conversion webhook that is
//! not there, a definition that another took the place of.

use e2e::manifests::{config_map, custom, definition, stream, within};
use e2e::{Lines, SOON, World, get, named, settle, unique};
use harness::{ControlPlane, shared, wait_until};
use serde_json::{Value, json};

tests![
    an_aggregated_api_without_its_server_concerns_its_own_objects_alone,
    a_conversion_webhook_that_is_not_there_fails_its_own_kind_alone,
    a_definition_that_is_replaced_in_mid_wait_brings_its_objects_anew,
];

/// A kind behind a server that is not there.
fn aggregated(plane: &ControlPlane, group: &str) {
    let service = json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": { "name": format!("v1.{group}") },
        "spec": {
            "group": group, "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100,
            "insecureSkipTLSVerify": true, "service": { "name": "nobody", "namespace": "default" },
        },
    });
    plane.apply(&stream(&[service]));
}

fn recorded(plane: &ControlPlane) -> Vec<String> {
    let data = get(plane, &named("v1", "default", "configmaps", "shop"))["data"].clone();
    data.as_object().map(|data| data.keys().cloned().collect()).unwrap_or_default()
}

fn an_aggregated_api_without_its_server_concerns_its_own_objects_alone() {
    let plane = ControlPlane::builder().without_controllers().start().unwrap();
    aggregated(&plane, "down.example.com");
    let apply = |flags: &[&str], objects: &[Value]| {
        settle(&plane, &["apply", "--set", "shop"]).args(flags).input(stream(objects)).json()
    };
    apply(&[], &[config_map("a"), config_map("b")]).all_settled();
    // An object of that group was applied when its server was there.
    let line = "default_one_down.example.com_Thing";
    let add = json!({ "data": { (line): "" } });
    plane.api().merge(&named("v1", "default", "configmaps", "shop"), &add).unwrap().success();
    let lines = apply(&[], &[config_map("a")]);
    lines.exits_with(0);
    assert_eq!(lines.outcome("ConfigMap/b"), "deleted");
    assert!(recorded(&plane).contains(&line.to_owned()), "what cannot be looked for is not forgotten");
    let told = |lines: &Lines| {
        lines.all("warning").any(|line| line["message"].to_string().contains("thing.down.example.com"))
    };
    assert!(told(&lines), "{lines:#}");

    let lines = apply(&["--timeout=6s"], &[config_map("a"), custom("down.example.com", "Thing", "two")]);
    lines.exits_with(3);
    assert_eq!(lines.conclusion("ConfigMap/a"), "Settled");
    assert_eq!(lines.conclusion("Thing/two"), "TimedOut", "{lines:#}");
    assert!(lines.done.stdout.contains("down.example.com"), "{lines:#}");

    let gone = settle(&plane, &["destroy", "--set", "shop"]).json();
    // Nobody can tell whether all is gone.
    gone.exits_with(4);
    assert_eq!(gone.outcome("ConfigMap/a"), "deleted", "{gone:#}");
    assert!(recorded(&plane).contains(&line.to_owned()), "the next destroy must find it\n{gone:#}");
}

fn a_conversion_webhook_that_is_not_there_fails_its_own_kind_alone() {
    let world = World::new("convert");
    let group = format!("{}.example.com", unique("convert"));
    let mut crd = definition(&group, "Gadget", "gadgets");
    let mut second = crd["spec"]["versions"][0].clone();
    second["name"] = json!("v2");
    second["storage"] = json!(false);
    crd["spec"]["versions"].as_array_mut().unwrap().push(second);
    crd["spec"]["conversion"] = json!({ "strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"],
        "clientConfig": { "url": "https://127.0.0.1:9/convert" },
    } });
    let name = format!("gadgets.{group}");
    let mut gadget = custom(&group, "Gadget", "one");
    gadget["apiVersion"] = json!(format!("{group}/v2"));
    let set = stream(&[crd, within(gadget, world.name()), config_map("a"), config_map("b")]);
    let lines = world.settle(&["apply", "--timeout=15s"]).input(set).json();
    assert!(matches!(lines.done.code, Some(1 | 3)), "{lines:#}");
    assert_eq!(lines.conclusion(&format!("CustomResourceDefinition/{name}")), "Settled", "{lines:#}");
    for map in ["ConfigMap/a", "ConfigMap/b"] {
        assert_eq!(lines.conclusion(map), "Settled", "{lines:#}");
    }
    let about: String = ["apply", "retry", "status"]
        .into_iter()
        .flat_map(|kind| lines.about(kind, "Gadget/one"))
        .map(Value::to_string)
        .collect();
    assert!(about.contains("conversion webhook"), "its words are told\n{lines:#}");
    let tries = world.requests().verb("patch").filter(|request| request.group == group);
    assert!(tries.count() <= 12, "{tries}");
    let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
    let _ = shared().api().delete(&path);
}

/// The server ends the watches of the old one; its objects go with it.
fn a_definition_that_is_replaced_in_mid_wait_brings_its_objects_anew() {
    let world = World::new("replace");
    let group = format!("{}.example.com", unique("replace"));
    let name = format!("gadgets.{group}");
    let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
    let mut crd = definition(&group, "Gadget", "gadgets");
    let set = [crd.clone(), within(custom(&group, "Gadget", "one"), world.name())];
    world.settle(&["apply"]).input(stream(&set)).json().all_settled();
    let _ = shared().api().delete(&path);
    wait_until("the definition to go", SOON, || get(shared(), &path).is_null());
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = json!("another");
    let set = [crd, within(custom(&group, "Gadget", "one"), world.name())];
    let again = world.settle(&["apply", "--timeout=60s"]).input(stream(&set)).json();
    assert_eq!(again.all_settled(), 2);
    assert_eq!(again.outcome("Gadget/one"), "created");
    let _ = shared().api().delete(&path);
}
