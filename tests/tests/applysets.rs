//! ApplySets: what kubectl began we go on with, and the other way round.

use e2e::manifests::{config_map, deployment, stream, within};
use e2e::{Folder, World};
use harness::{Finished, run, shared};
use serde_json::{Value, json};

tests![
    an_applyset_of_kubectl_is_pruned_and_destroyed_by_us,
    an_applyset_of_ours_is_pruned_by_kubectl,
    an_applyset_reaches_into_other_namespaces,
    an_applyset_of_another_tool_is_refused,
    objects_of_an_applyset_are_somebodys,
    a_custom_object_may_be_the_parent_of_an_applyset,
    what_a_controller_made_is_no_member_of_an_applyset,
];

const ID: &str = "applyset.kubernetes.io/id";
const PART_OF: &str = "applyset.kubernetes.io/part-of";
const TOOLING: &str = "applyset.kubernetes.io/tooling";
const KINDS: &str = "applyset.kubernetes.io/contains-group-kinds";
const NAMESPACES: &str = "applyset.kubernetes.io/additional-namespaces";

/// `kubectl apply --prune --applyset` with this input.
fn kubectl(world: &World, folder: &Folder, parent: &str, objects: &[Value]) -> Finished {
    let file = folder.write("kubectl.yaml", &stream(objects));
    let mut command = shared().command(shared().kubectl_path());
    command.env("KUBECTL_APPLYSET", "true").env("KUBECONFIG", world.user.kubeconfig());
    command.args(["apply", "-n", world.name(), "--prune", "--server-side", "--field-manager=kubesettle"]);
    command.arg(format!("--applyset={parent}")).arg("-f").arg(file);
    run(command, e2e::LIMIT)
}

fn names(world: &World) -> Vec<&'static str> {
    let there = |name: &&str| !world.get("v1", "configmaps", name).is_null();
    ["a", "b", "c"].into_iter().filter(there).collect()
}

fn an_applyset_of_kubectl_is_pruned_and_destroyed_by_us() {
    let (world, folder) = (World::new("theirs"), Folder::new(shared()));
    kubectl(&world, &folder, "configmaps/set", &[config_map("a"), config_map("b"), deployment("web")])
        .success();
    let plan = world.settle(&["plan", "--applyset=configmaps/set"]).input(stream(&[config_map("a")])).json();
    assert_eq!((plan.outcome("ConfigMap/b"), plan.outcome("Deployment/web")), ("deleted", "deleted"));
    assert_eq!(names(&world), ["a", "b"]);
    let set = stream(&[config_map("a"), config_map("c")]);
    let lines = world.settle(&["apply", "--applyset=configmaps/set"]).input(set).json();
    assert_eq!(lines.all_settled(), 4);
    assert_eq!((lines.outcome("ConfigMap/a"), lines.outcome("ConfigMap/c")), ("unchanged", "created"));
    assert_eq!(names(&world), ["a", "c"]);
    let parent = world.get("v1", "configmaps", "set")["metadata"].clone();
    assert_eq!(parent["annotations"][KINDS], "ConfigMap");
    let looked = world.settle(&["status", "--applyset=configmaps/set"]).json();
    assert_eq!(looked.all_settled(), 2);
    // kubectl goes on where we left off.
    let done = kubectl(&world, &folder, "configmaps/set", &[config_map("a"), config_map("b")]).success();
    assert!(done.contains("configmap/c pruned"), "{done}");
    assert_eq!(world.settle(&["destroy", "--applyset=configmaps/set"]).json().all_settled(), 2);
    assert_eq!(names(&world), [""; 0]);
    assert!(world.get("v1", "configmaps", "set").is_null());
}

fn an_applyset_of_ours_is_pruned_by_kubectl() {
    let (world, folder) = (World::new("ours"), Folder::new(shared()));
    let set = [config_map("a"), config_map("b"), deployment("web")];
    world.settle(&["apply", "--applyset=set"]).input(stream(&set)).json().all_settled();
    let parent = world.get("v1", "secrets", "set")["metadata"].clone();
    assert_eq!(parent["annotations"][KINDS], "ConfigMap,Deployment.apps");
    assert!(parent["annotations"][TOOLING].as_str().unwrap().starts_with("kubectl/"));
    let member = world.get("v1", "configmaps", "a")["metadata"].clone();
    assert_eq!(member["labels"][PART_OF], parent["labels"][ID]);
    assert_eq!(member["annotations"], Value::Null);
    let done = kubectl(&world, &folder, "set", &[config_map("a")]).success();
    assert!(done.contains("configmap/b pruned") && done.contains("deployment.apps/web pruned"), "{done}");
    let again = world.settle(&["apply", "--applyset=secret/set"]).input(stream(&[config_map("a")])).json();
    assert_eq!((again.all_settled(), again.outcome("ConfigMap/a")), (1, "unchanged"));
}

fn an_applyset_reaches_into_other_namespaces() {
    let (world, folder) = (World::new("home"), Folder::new(shared()));
    let other = shared().namespace("away");
    let set = [config_map("a"), within(config_map("b"), other.name())];
    let file = folder.write("set.yaml", &stream(&set));
    let words = ["apply", "--applyset=set", "-f", file.to_str().unwrap()];
    // Without -n, since that holds for all objects of the input.
    let call = |words: &[&str]| e2e::settle(shared(), words).kubeconfig(world.user.kubeconfig());
    let context = shared().user("home").can_cluster(&["*"], &["*"]).can(&["*"], &["*"], world.name()).build();
    call(&words).kubeconfig(context.kubeconfig()).run().exits_with(0);
    let parent = world.get("v1", "secrets", "set")["metadata"].clone();
    assert_eq!(parent["annotations"][NAMESPACES], other.name());
    folder.write("set.yaml", &config_map("a").to_string());
    call(&words).kubeconfig(context.kubeconfig()).run().exits_with(0);
    assert_eq!(other.get("configmap/b", ".metadata.name"), "");
    assert_eq!(world.get("v1", "secrets", "set")["metadata"]["annotations"][NAMESPACES], "");
}

fn an_applyset_of_another_tool_is_refused() {
    let world = World::new("helm");
    let words = ["apply", "--applyset=set"];
    world.settle(&words).input(stream(&[config_map("a")])).run().exits_with(0);
    let change =
        |text: &str| drop(world.ns.kubectl(&["annotate", "--overwrite", "secret", "set", text]).success());
    change(&format!("{TOOLING}=helm/v3"));
    let done = world.settle(&words).input(stream(&[config_map("b")])).run();
    done.exits_with(5);
    assert!(done.stderr.contains("helm/v3 looks after it"), "{}", done.stderr);
    change(&format!("{TOOLING}=kubectl/v1.36"));
    change(&format!("{KINDS}-"));
    world.settle(&words).input(stream(&[config_map("b")])).run().exits_with(5);
    assert_eq!(names(&world), ["a"]);
    // An object that is there and no parent is not made one.
    world.ns.kubectl(&["create", "configmap", "c"]).success();
    let done = world.settle(&["apply", "--applyset=configmaps/c"]).input(stream(&[config_map("b")])).run();
    done.exits_with(5);
    assert!(done.stderr.contains("it is no ApplySet"), "{}", done.stderr);
    world
        .settle(&["apply", "--applyset=nobodyskind/x"])
        .input(stream(&[config_map("b")]))
        .run()
        .exits_with(2);
    world.settle(&["apply", "--applyset=x", "--set=y"]).input(stream(&[config_map("b")])).run().exits_with(2);
}

fn objects_of_an_applyset_are_somebodys() {
    let world = World::new("whose");
    let set = stream(&[config_map("a")]);
    world.settle(&["apply", "--applyset=one"]).input(set.clone()).run().exits_with(0);
    for words in [["apply", "--applyset=two"], ["apply", "--set=three"]] {
        let mut words = words.to_vec();
        words.push("--inventory-policy=adopt");
        let lines = world.settle(&words).input(set.clone()).json();
        lines.exits_with(5);
        assert_eq!(lines.outcome("ConfigMap/a"), "skipped", "{lines:#}");
    }
    world.settle(&["apply", "--set=three"]).input(stream(&[config_map("b")])).run().exits_with(0);
    let both = stream(&[config_map("a"), config_map("b")]);
    let lines = world.settle(&["apply", "--applyset=one"]).input(both).json();
    assert_eq!(lines.outcome("ConfigMap/b"), "skipped", "{lines:#}");
}

fn a_custom_object_may_be_the_parent_of_an_applyset() {
    let world = World::new("custom");
    let group = format!("{}.example.com", world.name());
    let definition = e2e::manifests::definition(&group, "Bundle", "bundles");
    world.settle(&["apply"]).input(stream(std::slice::from_ref(&definition))).run().exits_with(0);
    let parent = format!("--applyset=bundles.{group}/set");
    let set = stream(&[config_map("a"), config_map("b")]);
    let done = world.settle(&["apply", &parent]).input(set.clone()).run();
    done.exits_with(5);
    assert!(done.stderr.contains("create it, with the label"), "{}", done.stderr);
    let mut object = e2e::manifests::custom(&group, "Bundle", "set");
    object["metadata"]["annotations"] = json!({ TOOLING: "kubectl/v1.36", KINDS: "" });
    object["metadata"]["labels"] = json!({ ID: id_in(&done.stderr) });
    world.settle(&["apply"]).input(stream(&[object])).run().exits_with(0);
    world.settle(&["apply", &parent]).input(set).run().exits_with(0);
    assert_eq!(names(&world), ["a", "b"]);
    world.settle(&["destroy", &parent]).run().exits_with(0);
    assert_eq!(names(&world), [""; 0]);
    // It is not ours to delete, and a parent no more.
    let left = world.get(&format!("{group}/v1"), "bundles", "set");
    assert_eq!(left["spec"]["size"], 1);
    world.settle(&["destroy"]).input(stream(&[definition])).run().exits_with(0);
}

/// The id in a message: `applyset-…-v1`.
fn id_in(text: &str) -> String {
    let at = text.find("applyset-").expect("an id");
    text[at..]
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
        .next()
        .unwrap()
        .to_owned()
}

fn what_a_controller_made_is_no_member_of_an_applyset() {
    let world = World::new("made");
    world.settle(&["apply", "--applyset=set"]).input(stream(&[config_map("a")])).run().exits_with(0);
    let owner = world.get("v1", "configmaps", "a")["metadata"].clone();
    let mut copy = config_map("b");
    copy["metadata"]["labels"] = owner["labels"].clone();
    copy["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": owner["uid"], "controller": true,
    }]);
    let path = format!("/api/v1/namespaces/{}/configmaps", world.name());
    shared().api().post(&path, &copy).expect("an answer").success();
    let lines = world.settle(&["apply", "--applyset=set"]).input(stream(&[config_map("a")])).json();
    assert_eq!(lines.all_settled(), 1);
    assert_eq!(names(&world), ["a", "b"]);
}
