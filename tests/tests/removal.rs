//! Objects that leave their set, and sets that are destroyed.

use e2e::manifests::{annotated, config_map, custom, definition, deployment, namespace, stream, within};
use e2e::{LIMIT, Lines, SOON, World, get, settle, unique};
use harness::{shared, wait_until};
use serde_json::{Value, json};

tests![
    f15_a_prune_that_a_policy_refuses_stays_on_record_and_is_done_when_the_policy_is_gone,
    f21_a_reference_to_a_strangers_object_prunes_nothing,
    f24_two_runs_of_one_set_serialise_and_nothing_is_lost,
    f25_a_namespace_that_only_left_the_input_stays_and_goes_with_its_objects,
    f25_the_namespace_of_the_record_stays_until_the_set_is_destroyed,
    f25_a_namespace_that_holds_what_is_not_ours_is_not_pruned,
    f28_a_pruned_object_with_a_stuck_finalizer_times_out_and_stays_on_record,
    f28_who_holds_an_object_is_found_out,
    f39_a_mixed_set_is_destroyed_in_reverse_and_its_record_last,
];

const HOLD: &str = "example.com/cleanup";
const OWNER: &str = "config.k8s.io/owning-inventory";

fn free(world: &World, what: &str) {
    let free = r#"{"metadata":{"finalizers":null}}"#;
    world.ns.kubectl(&["patch", what, "--type=merge", "-p", free]).success();
}

fn record(world: &World) -> Vec<String> {
    lines_of(&world.get("v1", "configmaps", "shop"))
}

fn lines_of(record: &Value) -> Vec<String> {
    record["data"].as_object().map(|data| data.keys().cloned().collect()).unwrap_or_default()
}

/// A set that lives in several namespaces. Its record is in the context's.
struct Spread<'w> {
    world: &'w World,
    name: String,
}

impl<'w> Spread<'w> {
    fn new(world: &'w World) -> Self {
        Self { world, name: unique("spread") }
    }

    fn run(&self, words: &[&str]) -> e2e::Settle {
        settle(shared(), words).args(["--set", &self.name]).kubeconfig(self.world.user.kubeconfig())
    }

    fn apply(&self, set: &[Value]) -> Lines {
        self.run(&["apply"]).input(stream(set)).json()
    }

    fn is_recorded(&self, name: &str) -> bool {
        let record = get(shared(), &format!("/api/v1/namespaces/default/configmaps/{}", self.name));
        lines_of(&record).iter().any(|key| key.contains(&format!("_{name}_")))
    }

    /// A ConfigMap in the world's namespace.
    fn map(&self, name: &str) -> Value {
        within(config_map(name), self.world.name())
    }
}

fn is_recorded(world: &World, name: &str) -> bool {
    record(world).iter().any(|key| key.contains(&format!("_{name}_")))
}

fn apply(world: &World, set: &[Value]) -> Lines {
    world.settle(&["apply", "--set", "shop"]).input(stream(set)).json()
}

fn f15_a_prune_that_a_policy_refuses_stays_on_record_and_is_done_when_the_policy_is_gone() {
    let world = World::new("kept");
    let (stays, goes) = (config_map("stays"), annotated(config_map("goes"), "guarded", world.name()));
    apply(&world, &[stays.clone(), goes]).all_settled();
    let name = unique("keeps");
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": { "name": name },
        "spec": {
            "matchConstraints": { "resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["configmaps"],
            }] },
            "validations": [{
                "expression": format!("oldObject.metadata.namespace != '{}' || oldObject.metadata.name != 'goes'", world.name()),
                "message": "not today",
            }],
        },
    });
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": { "name": name }, "spec": { "policyName": name, "validationActions": ["Deny"] },
    });
    shared().apply(&stream(&[policy, binding]));
    wait_until("the policy to be in force", LIMIT, || {
        let tried = world.ns.kubectl(&["delete", "configmap", "goes", "--dry-run=server"]);
        tried.stderr.contains("not today")
    });
    let lines = apply(&world, std::slice::from_ref(&stays));
    lines.exits_with(1);
    assert!(lines.failure("ConfigMap/goes").1.contains("not today"), "{lines:#}");
    assert!(is_recorded(&world, "goes"));
    for path in ["validatingadmissionpolicybindings", "validatingadmissionpolicies"] {
        let _ = shared().api().delete(&format!("/apis/admissionregistration.k8s.io/v1/{path}/{name}"));
    }
    wait_until("the policy to be out of force", LIMIT, || {
        world.ns.kubectl(&["delete", "configmap", "goes", "--dry-run=server"]).code == Some(0)
    });
    apply(&world, &[stays]).all_settled();
    assert!(!is_recorded(&world, "goes") && world.get("v1", "configmaps", "goes").is_null());
}

fn f21_a_reference_to_a_strangers_object_prunes_nothing() {
    let world = World::new("foreign");
    apply(&world, &[config_map("a")]).all_settled();
    shared().apply(&stream(&[within(deployment("dns"), world.name())]));
    let key = format!("{}_dns_apps_Deployment", world.name());
    let patch = json!({ "data": { (&*key): "" } }).to_string();
    world.ns.kubectl(&["patch", "configmap", "shop", "--type=merge", "-p", &patch]).success();
    let lines = apply(&world, &[config_map("a")]);
    assert_eq!(lines.outcome("Deployment/dns"), "skipped", "{lines:#}");
    assert!(!world.get("apps/v1", "deployments", "dns").is_null());

    let patch = json!({ "data": { "no line of ours".replace(' ', "-"): "" } }).to_string();
    world.ns.kubectl(&["patch", "configmap", "shop", "--type=merge", "-p", &patch]).success();
    let mark = world.requests().end();
    let stopped = apply(&world, &[config_map("a"), config_map("b")]);
    stopped.exits_with(5);
    let said = stopped.all("end").next().expect("an end")["message"].to_string();
    assert!(said.contains("no-line-of-ours") && said.contains("inventory forget"), "{said}");
    let written = world.requests().since(mark).writes().resource("configmaps");
    assert_eq!(written.count(), 0, "{written}");
}

fn f24_two_runs_of_one_set_serialise_and_nothing_is_lost() {
    let world = World::new("twins");
    let names = |range: std::ops::Range<u32>| -> Vec<Value> {
        range.map(|number| config_map(&format!("c{number}"))).collect()
    };
    let run = |set: &[Value]| {
        world
            .settle(&["apply", "--set", "shop", "-o", "json", "--lock-timeout=60s"])
            .input(stream(set))
            .start()
    };
    let (first, second) = (run(&names(0..10)), run(&names(5..15)));
    let both = [Lines::of(first.finish(LIMIT)), Lines::of(second.finish(LIMIT))];
    for lines in &both {
        lines.exits_with(0);
    }
    // Whoever came last has the say; nothing live is off the record, nothing on record is not live.
    let recorded = record(&world);
    assert_eq!(recorded.len(), 10, "{recorded:?}");
    let live = world.ns.kubectl(&["get", "configmaps", "-o", "name"]).success();
    let ours: Vec<&str> = live.lines().filter(|line| line.starts_with("configmap/c")).collect();
    assert_eq!(ours.len(), 10, "{live}");
    assert!(ours.iter().all(|line| is_recorded(&world, line.trim_start_matches("configmap/"))));

    let holding = run(&[config_map("c0"), e2e::manifests::deployment_that("stuck", "never-ready")]);
    holding.wait_for_output("\"have\":0,\"want\":1", SOON);
    let refused = apply(&world, &names(0..2));
    refused.exits_with(5);
    let _ = holding.finish(std::time::Duration::from_millis(1));
}

fn f25_a_namespace_that_only_left_the_input_stays_and_goes_with_its_objects() {
    let world = World::new("home");
    let (set_of, name) = (Spread::new(&world), unique("room"));
    let maps: Vec<Value> = (0..3).map(|number| within(config_map(&format!("m{number}")), &name)).collect();
    let mut set = vec![namespace(&name), set_of.map("stays")];
    set.extend(maps.clone());
    set_of.apply(&set).all_settled();

    set.remove(0);
    let lines = set_of.apply(&set);
    lines.exits_with(0);
    let kept = lines.result(&format!("Namespace/{name}")).expect("told");
    assert!(kept["error"].as_str().unwrap_or_default().contains("in use"), "{kept}");
    assert!(set_of.is_recorded(&name));

    let lines = set_of.apply(&[set_of.map("stays")]);
    lines.all_settled();
    for number in 0..3 {
        let map = format!("ConfigMap/m{number}");
        lines.in_order(("wait", &map, "Successful"), ("prune", &format!("Namespace/{name}"), "Pending"));
    }
    assert!(get(shared(), &format!("/api/v1/namespaces/{name}")).is_null());
    assert!(!set_of.is_recorded(&name));
}

fn f25_the_namespace_of_the_record_stays_until_the_set_is_destroyed() {
    let world = World::new("own");
    let name = unique("own");
    let run = |words: &[&str], set: &[Value]| {
        let run = settle(shared(), words).args(["--set", "shop", "-n", &name]);
        run.kubeconfig(world.user.kubeconfig()).input(stream(set)).json()
    };
    run(&["apply"], &[namespace(&name), config_map("a"), config_map("b")]).all_settled();
    let lines = run(&["apply"], &[config_map("a")]);
    lines.exits_with(0);
    assert_eq!(lines.outcome(&format!("Namespace/{name}")), "skipped", "{lines:#}");
    let gone = settle(shared(), &["destroy", "--set", "shop", "-n", &name]);
    gone.kubeconfig(world.user.kubeconfig()).json().all_settled();
    assert!(get(shared(), &format!("/api/v1/namespaces/{name}")).is_null());
}

fn f25_a_namespace_that_holds_what_is_not_ours_is_not_pruned() {
    let world = World::new("held");
    let (set_of, name) = (Spread::new(&world), unique("shared"));
    set_of.apply(&[namespace(&name), set_of.map("stays"), within(config_map("ours"), &name)]).all_settled();
    shared().apply(&stream(&[within(config_map("theirs"), &name)]));
    let lines = set_of.apply(&[set_of.map("stays")]);
    lines.exits_with(5);
    let said = lines.all("end").next().expect("an end")["message"].to_string();
    assert!(said.contains(&format!("configmap/theirs in {name}")), "{said}");
    assert!(said.contains("--prune-allow Namespace"), "{said}");
    assert!(!get(shared(), &format!("/api/v1/namespaces/{name}/configmaps/ours")).is_null());
    let allowed = set_of.run(&["apply", "--prune-allow", "ns"]);
    allowed.input(stream(&[set_of.map("stays")])).json().all_settled();
    assert!(get(shared(), &format!("/api/v1/namespaces/{name}")).is_null());
}

fn f28_a_pruned_object_with_a_stuck_finalizer_times_out_and_stays_on_record() {
    let world = World::new("stuck");
    let mut held = config_map("held");
    held["metadata"]["finalizers"] = json!([HOLD]);
    apply(&world, &[held.clone(), config_map("stays")]).all_settled();
    let prune = world.settle(&["apply", "--set", "shop", "--prune-timeout=3s"]);
    let lines = prune.input(stream(&[config_map("stays")])).json();
    lines.exits_with(3);
    assert_eq!(lines.conclusion("ConfigMap/held"), "TimedOut");
    assert!(lines.message("ConfigMap/held").contains(HOLD), "{lines:#}");
    assert!(is_recorded(&world, "held"));
    let again = apply(&world, &[held, config_map("stays")]);
    again.exits_with(1);
    assert!(again.failure("ConfigMap/held").1.contains("being deleted"), "{again:#}");
    assert_eq!(world.get("v1", "configmaps", "held")["metadata"]["finalizers"], json!([HOLD]));
    free(&world, "configmap/held");
    apply(&world, &[config_map("stays")]).all_settled();
    assert!(!is_recorded(&world, "held"));
}

fn f28_who_holds_an_object_is_found_out() {
    let world = World::new("holder");
    let set_of = Spread::new(&world);
    let room = unique("room");
    let inside = within(config_map("inside"), &room);
    set_of.apply(&[namespace(&room), inside, set_of.map("alone")]).all_settled();
    let hold = |namespace: &str, name: &str| {
        let mut held = within(
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name } }),
            namespace,
        );
        held["metadata"]["finalizers"] = json!([HOLD]);
        let path = format!("/api/v1/namespaces/{namespace}/configmaps/{name}");
        shared().api().apply(&path, "widget-operator", &held).expect("an answer").success();
    };
    hold(world.name(), "alone");
    hold(&room, "inside");
    let run = set_of.run(&["destroy", "-o", "json"]).start();
    run.wait_for_output("no workload of that name is there", SOON);
    free(&world, "configmap/alone");
    let path = format!("/api/v1/namespaces/{room}/configmaps/inside");
    shared().api().merge(&path, &json!({ "metadata": { "finalizers": null } })).expect("an answer").success();
    let lines = Lines::of(run.finish(LIMIT));
    lines.all_settled();
    let said: Vec<_> = lines.all("warning").map(|line| line["message"].to_string()).collect();
    assert!(
        said.iter().any(|said| said.contains("example.com/cleanup was set by widget-operator")),
        "{said:?}"
    );
    hold_and_see(&world, &unique("room"));
}

/// A namespace that somebody else's object keeps, deleted by itself.
fn hold_and_see(world: &World, room: &str) {
    let mut held = within(config_map("theirs"), room);
    held["metadata"]["finalizers"] = json!([HOLD]);
    shared().apply(&stream(&[namespace(room), held]));
    let run = settle(shared(), &["destroy", "-o", "json"]).kubeconfig(world.user.kubeconfig());
    let run = run.input(stream(&[namespace(room)])).start();
    run.wait_for_output(
        &format!("still there: configmap/theirs in {room}, held by finalizers: {HOLD}"),
        SOON,
    );
    let path = format!("/api/v1/namespaces/{room}/configmaps/theirs");
    shared().api().merge(&path, &json!({ "metadata": { "finalizers": null } })).expect("an answer").success();
    Lines::of(run.finish(LIMIT)).all_settled();
}

fn f39_a_mixed_set_is_destroyed_in_reverse_and_its_record_last() {
    let world = World::new("mixed");
    let set_of = Spread::new(&world);
    let group = format!("{}.example.com", unique("mixed"));
    let (room, rights, hook) = (unique("room"), unique("rights"), unique("hook"));
    let mut widget = within(custom(&group, "Widget", "w"), &room);
    widget["metadata"]["finalizers"] = json!([HOLD]);
    let operator = within(deployment("operator"), &room);
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": { "name": rights }, "rules": [],
    });
    let webhook = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": { "name": hook },
        "webhooks": [{
            "name": "w.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore",
            "clientConfig": { "service": { "namespace": room, "name": "operator" } },
            "rules": [{ "apiGroups": [group], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["widgets"] }],
        }],
    });
    let kept = annotated(set_of.map("kept"), "cli-utils.sigs.k8s.io/on-remove", "keep");
    let mut going = set_of.map("going");
    going["metadata"]["finalizers"] = json!([HOLD]);
    let set = [
        namespace(&room),
        definition(&group, "Widget", "widgets"),
        widget,
        operator,
        role,
        webhook,
        kept,
        going,
        set_of.map("gone"),
        set_of.map("theirs"),
    ];
    set_of.apply(&set).all_settled();
    world.ns.kubectl(&["delete", "configmap", "gone"]).success();
    world.ns.kubectl(&["delete", "configmap", "going", "--wait=false"]).success();
    world
        .ns
        .kubectl(&["annotate", "configmap", "theirs", "--overwrite", &format!("{OWNER}=another")])
        .success();

    let run = set_of.run(&["destroy", "-o", "json"]).start();
    run.wait_for_output("\"status\":\"Terminating\"", SOON);
    let path = format!("/apis/{group}/v1/namespaces/{room}/widgets/w");
    wait_until("the widget to be on its way", LIMIT, || {
        get(shared(), &path)["metadata"]["deletionTimestamp"].is_string()
    });
    assert!(
        !get(shared(), &format!("/apis/apps/v1/namespaces/{room}/deployments/operator")).is_null(),
        "the operator stays until its objects are gone"
    );
    shared().api().merge(&path, &json!({ "metadata": { "finalizers": null } })).expect("an answer").success();
    free(&world, "configmap/going");
    let lines = Lines::of(run.finish(LIMIT));
    lines.exits_with(0);

    let (crd, place) = (format!("CustomResourceDefinition/widgets.{group}"), format!("Namespace/{room}"));
    let hook = format!("ValidatingWebhookConfiguration/{hook}");
    lines.in_order(("wait", &hook, "Successful"), ("delete", "Widget/w", "Pending"));
    lines.in_order(("wait", "Widget/w", "Successful"), ("delete", "Deployment/operator", "Pending"));
    lines.in_order(("delete", "Deployment/operator", "Pending"), ("delete", &crd, "Pending"));
    lines.in_order(("wait", "Deployment/operator", "Successful"), ("delete", &place, "Pending"));
    for skipped in ["ConfigMap/kept", "ConfigMap/theirs"] {
        assert_eq!(lines.outcome(skipped), "skipped", "{lines:#}");
        let name = skipped.trim_start_matches("ConfigMap/");
        assert!(!world.get("v1", "configmaps", name).is_null());
    }
    assert!(world.get("v1", "configmaps", "kept")["metadata"]["annotations"][OWNER].is_null());
    assert_eq!(world.get("v1", "configmaps", "theirs")["metadata"]["annotations"][OWNER], "another");
    assert_eq!(lines.conclusion("ConfigMap/going"), "Settled");
    let record = format!("/api/v1/namespaces/default/configmaps/{}", set_of.name);
    assert!(get(shared(), &record).is_null(), "the record went");
    let writes = world.requests().writes().resource("configmaps");
    let last = writes.iter().last().expect("a write");
    assert_eq!(last.name, set_of.name, "the record goes last\n{writes}");
}
