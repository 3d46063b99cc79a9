//! What the server refuses: told with its reason, never tried again, the rest goes on.

use e2e::manifests::{annotated, config_map, deployment, stream, within};
use e2e::{LIMIT, Lines, SOON, World, unique};
use harness::{shared, wait_until};
use serde_json::json;

tests![
    f12_an_object_that_is_too_large_fails_alone,
    f11_a_large_object_is_created_unchanged_and_configured,
    f15_a_denied_object_fails_alone_with_the_policys_words,
    f17_a_quota_fails_what_it_forbids_and_holds_up_what_lacks_pods,
    f17_a_raised_quota_lets_the_wait_end,
    f19_a_conflict_names_manager_and_field,
    f19_fields_of_a_client_side_apply_are_taken_over,
    an_immutable_field_is_named,
    a_missing_namespace_is_named,
];

fn f12_an_object_that_is_too_large_fails_alone() {
    let world = World::new("large");
    let mut large = config_map("large");
    large["data"]["key"] = json!("x".repeat(2 << 20));
    let mut set = vec![large];
    set.extend((0..10).map(|number| config_map(&format!("small-{number}"))));
    let lines = world.settle(&["apply"]).input(stream(&set)).json();
    lines.exits_with(1);
    assert_eq!(lines.failure("ConfigMap/large").0, "TooLarge", "{:?}", lines.failure("ConfigMap/large"));
    assert_eq!(lines.summary("Total")["successful"], 10);
    let tries = world.requests().writes().name("large");
    assert!(tries.count() <= 1, "never tried again\n{tries}");
    assert!(lines.about("retry", "ConfigMap/large").next().is_none());
}

fn f11_a_large_object_is_created_unchanged_and_configured() {
    let world = World::new("huge");
    let mut huge = config_map("huge");
    huge["data"]["key"] = json!("x".repeat(400 << 10));
    let apply = |object: &serde_json::Value| {
        let lines = world.settle(&["apply"]).input(stream([object])).json();
        lines.all_settled();
        lines.outcome("ConfigMap/huge").to_owned()
    };
    assert_eq!(apply(&huge), "created");
    assert_eq!(apply(&huge), "unchanged");
    huge["data"]["key"] = json!("y".repeat(400 << 10));
    assert_eq!(apply(&huge), "configured");
    let annotations = &world.get("v1", "configmaps", "huge")["metadata"]["annotations"];
    assert!(annotations["kubectl.kubernetes.io/last-applied-configuration"].is_null());
}

fn f15_a_denied_object_fails_alone_with_the_policys_words() {
    let world = World::new("denied");
    let name = unique("policy");
    let words = "no fifth object, says the test";
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": { "name": name },
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": world.name() } },
                "resourceRules": [{
                    "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"],
                }],
            },
            "validations": [{ "expression": "object.metadata.name != 'object-5'", "message": words }],
        },
    });
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": { "name": name },
        "spec": { "policyName": name, "validationActions": ["Deny"] },
    });
    shared().apply(&stream(&[policy, binding]));
    let probe = stream(&[within(config_map("object-5"), world.name())]);
    wait_until("the policy to be in force", LIMIT, || {
        let mut command = shared().command(shared().kubectl_path());
        command.args(["create", "--dry-run=server", "-f", "-"]);
        harness::spawn(command, probe.as_bytes()).finish(LIMIT).code != Some(0)
    });
    let mut set: Vec<_> = (1..10).map(|number| config_map(&format!("object-{number}"))).collect();
    set.push(deployment("web"));
    let lines = world.settle(&["apply"]).input(stream(&set)).json();
    lines.exits_with(1);
    let (code, error) = lines.failure("ConfigMap/object-5");
    assert_eq!(code, "Denied", "{error}");
    assert!(error.contains(words), "{error}");
    assert_eq!(lines.summary("Total")["successful"], 9);
    assert_eq!(lines.conclusion("Deployment/web"), "Settled");
    let tries = world.requests().writes().name("object-5");
    assert_eq!(tries.count(), 1, "{tries}");
    for plural in ["validatingadmissionpolicybindings", "validatingadmissionpolicies"] {
        let path = format!("/apis/admissionregistration.k8s.io/v1/{plural}/{name}");
        let _ = shared().api().delete(&path);
    }
}

/// A namespace where neither pods nor claims fit.
fn quota(world: &World, pods: &str) {
    let quota = json!({
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": { "name": "small", "namespace": world.name() },
        "spec": { "hard": { "pods": pods, "persistentvolumeclaims": "0" } },
    });
    shared().apply(&stream(&[quota]));
    wait_until("the quota to be in force", LIMIT, || {
        world.get("v1", "resourcequotas", "small")["status"]["hard"]["pods"] == pods
    });
}

fn f17_a_quota_fails_what_it_forbids_and_holds_up_what_lacks_pods() {
    let world = World::new("quota");
    quota(&world, "0");
    let claim = json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": { "name": "data" },
        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } },
    });
    let set = stream(&[claim, deployment("web"), config_map("fine")]);
    let lines = world.settle(&["apply", "--timeout=8s"]).input(set).json();
    lines.exits_with(1);
    let (code, error) = lines.failure("PersistentVolumeClaim/data");
    assert_eq!(code, "QuotaExceeded");
    assert!(error.contains("exceeded quota: small"), "{error}");
    assert_eq!(lines.conclusion("Deployment/web"), "TimedOut");
    assert!(lines.message("Deployment/web").contains("exceeded quota: small"), "{lines:#}");
    assert_eq!(lines.last_status("Deployment/web")["causes"][0]["code"], "QuotaExceeded");
    assert_eq!(lines.conclusion("ConfigMap/fine"), "Settled");
}

fn f17_a_raised_quota_lets_the_wait_end() {
    let world = World::new("quota");
    quota(&world, "0");
    let running = world.settle(&["apply", "-o", "json"]).input(stream(&[deployment("web")])).start();
    running.wait_for_output("QuotaExceeded", SOON);
    quota(&world, "10");
    // The controller tries again ever more rarely; a new pod template makes it try now.
    world.ns.kubectl(&["rollout", "restart", "deployment", "web"]).success();
    Lines::of(running.finish(LIMIT)).all_settled();
}

fn f19_a_conflict_names_manager_and_field() {
    let world = World::new("conflict");
    let path = e2e::named("apps/v1", world.name(), "deployments", "web");
    let mut scaled = deployment("web");
    scaled["spec"]["replicas"] = json!(2);
    shared().api().apply(&path, "scaler", &scaled).unwrap().success();
    let mut web = deployment("web");
    web["spec"]["replicas"] = json!(1);
    let set = stream(&[web.clone(), config_map("fine")]);
    let lines = world.settle(&["apply"]).input(set.clone()).json();
    lines.exits_with(1);
    let (code, error) = lines.failure("Deployment/web");
    assert_eq!(code, "FieldConflict");
    assert!(error.contains("scaler") && error.contains(".spec.replicas"), "{error}");
    let fields = &lines.result("Deployment/web").unwrap()["fields"];
    assert_eq!(fields[0]["field"], ".spec.replicas");
    assert_eq!(lines.conclusion("ConfigMap/fine"), "Settled");

    // Left out, it stays the other's.
    let mut without = web.clone();
    without["spec"].as_object_mut().unwrap().remove("replicas");
    world.settle(&["apply"]).input(stream(&[without])).json().all_settled();
    assert_eq!(world.get("apps/v1", "deployments", "web")["spec"]["replicas"], 2);

    // Taken over when asked for.
    world.settle(&["apply", "--force-conflicts"]).input(set).json().all_settled();
    assert_eq!(world.get("apps/v1", "deployments", "web")["spec"]["replicas"], 1);
}

fn f19_fields_of_a_client_side_apply_are_taken_over() {
    let world = World::new("legacy");
    let mut old = config_map("settings");
    old["data"] = json!({ "kept": "1", "dropped": "1" });
    let mut command = shared().command(shared().kubectl_path());
    command.args(["apply", "-n", world.name(), "-f", "-"]);
    harness::spawn(command, stream(&[old]).as_bytes()).finish(LIMIT).success();
    let mut new = config_map("settings");
    new["data"] = json!({ "kept": "2" });
    let lines = world.settle(&["apply"]).input(stream(&[new])).json();
    lines.all_settled();
    assert_eq!(lines.outcome("ConfigMap/settings"), "configured");
    assert_eq!(world.get("v1", "configmaps", "settings")["data"], json!({ "kept": "2" }));
}

fn an_immutable_field_is_named() {
    let world = World::new("immutable");
    world.settle(&["apply"]).input(stream(&[deployment("web")])).json().all_settled();
    let mut other = deployment("web");
    other["spec"]["selector"]["matchLabels"]["app"] = json!("other");
    other["spec"]["template"]["metadata"]["labels"]["app"] = json!("other");
    let lines = world.settle(&["apply"]).input(stream(&[other])).json();
    lines.exits_with(1);
    let (code, error) = lines.failure("Deployment/web");
    assert_eq!(code, "Immutable");
    assert!(error.contains("spec.selector"), "{error}");
}

fn a_missing_namespace_is_named() {
    let world = World::new("missing");
    let set = stream(&[
        within(config_map("a"), "no-such-namespace"),
        within(annotated(config_map("b"), "x", "y"), world.name()),
    ]);
    let lines = e2e::settle(shared(), &["apply"]).kubeconfig(world.user.kubeconfig()).input(set).json();
    lines.exits_with(1);
    let (code, error) = lines.failure("ConfigMap/a");
    assert_eq!(code, "NamespaceMissing");
    assert!(error.contains("no-such-namespace"), "{error}");
    assert_eq!(lines.conclusion("ConfigMap/b"), "Settled");
}
