//! Bad input: everything that is wrong is told at once, and nothing is written.

use e2e::manifests::{config_map, depending, deployment, stream, within};
use e2e::{Folder, World, settle};
use harness::{Finished, shared};
use serde_json::json;

tests![
    all_problems_of_all_files_are_told_at_once,
    problems_have_lines_of_their_own_in_json,
    an_empty_folder_is_no_input,
    a_missing_file_is_named,
    f10_a_kind_unknown_to_a_built_in_group_is_refused_with_near_names,
    f10_a_name_made_by_the_server_is_refused,
    f10_duplicates_name_both_places,
    f10_lists_are_flattened_and_empty_documents_ignored,
    f05_a_cycle_is_an_error_that_names_its_objects,
    invalid_objects_can_be_left_out,
    an_object_in_another_namespace_than_asked_for_is_refused,
    a_field_that_does_not_exist_is_the_servers_to_refuse,
    usage_errors_end_before_any_request,
];

/// Exit code 2, all of `parts` on standard error, and nothing written.
#[track_caller]
fn assert_refused(world: &World, done: &Finished, parts: &[&str]) {
    done.exits_with(2);
    for part in parts {
        assert!(done.stderr.contains(part), "{part:?} in\n{}", done.stderr);
    }
    let writes = world.requests().writes();
    assert_eq!(writes.count(), 0, "{writes}");
}

/// Three files with a problem each, and a good one.
fn broken(world: &World) -> Folder {
    let folder = Folder::new(shared());
    folder.write("a-good.yaml", &stream(&[config_map("good")]));
    folder.write("b-syntax.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: [a\n");
    folder.write("c-name.yaml", "# No name.\napiVersion: v1\nkind: ConfigMap\nmetadata: {}\n");
    folder.write(
        "d-kinds.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fine\n---\napiVersion: apps/v1\nkind: Deploymnet\nmetadata:\n  name: web\n",
    );
    assert_eq!(world.requests().count(), 0);
    folder
}

fn all_problems_of_all_files_are_told_at_once() {
    let world = World::new("broken");
    let folder = broken(&world);
    let done = world.settle(&["apply", "-f", folder.arg()]).run();
    let place = |name: &str| format!("{}/{name}", folder.arg());
    let parts = [place("b-syntax.yaml:4"), place("c-name.yaml:2"), place("d-kinds.yaml:6")];
    let parts: Vec<_> = parts.iter().map(String::as_str).collect();
    assert_refused(&world, &done, &parts);
    assert_refused(&world, &done, &["metadata.name", "Deploymnet", "Deployment", "3 problems"]);
    assert_eq!(done.stdout, "");
}

fn problems_have_lines_of_their_own_in_json() {
    let world = World::new("broken");
    let folder = broken(&world);
    let lines = world.settle(&["apply", "-f", folder.arg()]).json();
    assert_refused(&world, &lines.done, &["c-name.yaml:2"]);
    assert!(!lines.ran());
    let found = |name: &str| {
        lines.all("validation").filter(|line| line["file"].as_str().unwrap().ends_with(name)).count()
    };
    assert_eq!(lines.all("validation").count(), 3, "{lines:#}");
    assert_eq!((found("b-syntax.yaml"), found("c-name.yaml"), found("d-kinds.yaml")), (1, 1, 1), "{lines:#}");
}

fn an_empty_folder_is_no_input() {
    let world = World::new("empty");
    let folder = Folder::new(shared());
    let done = world.settle(&["apply", "-f", folder.arg()]).run();
    assert_refused(&world, &done, &[folder.arg()]);
    folder.write("README.md", "Nothing here.");
    assert_refused(&world, &world.settle(&["apply", "-f", folder.arg()]).run(), &[folder.arg()]);
    assert_refused(&world, &world.settle(&["apply"]).input("# nothing\n").run(), &["stdin"]);
}

fn a_missing_file_is_named() {
    let world = World::new("missing");
    let done = world.settle(&["apply", "-f", "no/such.yaml", "-f", "nor/this.yaml"]).run();
    assert_refused(&world, &done, &["no/such.yaml", "nor/this.yaml"]);
}

fn f10_a_kind_unknown_to_a_built_in_group_is_refused_with_near_names() {
    let world = World::new("kind");
    let mut object = deployment("web");
    object["kind"] = json!("Deploymnet");
    let done = world.settle(&["apply"]).input(stream(&[config_map("good"), object])).run();
    assert_refused(&world, &done, &["Deploymnet", "Deployment", "stdin:4"]);
    let mut object = deployment("web");
    object["apiVersion"] = json!("extensions/v1beta1");
    let done = world.settle(&["apply"]).input(stream(&[object])).run();
    assert_refused(&world, &done, &["extensions/v1beta1"]);
}

fn f10_a_name_made_by_the_server_is_refused() {
    let world = World::new("generate");
    let mut object = config_map("x");
    object["metadata"] = json!({ "generateName": "x-" });
    let done = world.settle(&["apply"]).input(stream(&[object])).run();
    assert_refused(&world, &done, &["generateName", "stdin:2"]);
}

fn f10_duplicates_name_both_places() {
    let world = World::new("twice");
    let folder = Folder::new(shared());
    folder.write("a.yaml", &stream(&[deployment("web")]));
    folder.write("b.yaml", &stream(&[config_map("one"), within(deployment("web"), world.name())]));
    let done = world.settle(&["apply", "-f", folder.arg()]).run();
    assert_refused(&world, &done, &["a.yaml:2", "b.yaml:4"]);
}

fn f10_lists_are_flattened_and_empty_documents_ignored() {
    let world = World::new("lists");
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": [config_map("a"), deployment("web")] });
    let typed =
        json!({ "apiVersion": "v1", "kind": "ConfigMapList", "items": [{ "metadata": { "name": "b" } }] });
    let text = format!("---\n# a comment\n---\n{}---\n---\n", stream(&[list, typed]));
    let lines = world.settle(&["apply"]).input(text).json();
    assert_eq!(lines.all_settled(), 3);
    for object in ["ConfigMap/a", "ConfigMap/b", "Deployment/web"] {
        assert_eq!(lines.outcome(object), "created");
    }
}

fn f05_a_cycle_is_an_error_that_names_its_objects() {
    let world = World::new("cycle");
    let on = |name: &str| format!("/namespaces/{}/ConfigMap/{name}", world.name());
    let set = [
        depending(config_map("a"), &on("b")),
        depending(config_map("b"), &on("a")),
        depending(config_map("c"), &on("a")),
    ];
    let done = world.settle(&["apply"]).input(stream(&set)).run();
    assert_refused(&world, &done, &["configmap/a", "configmap/b"]);
    assert!(!done.stderr.contains("configmap/c"), "{}", done.stderr);
}

fn invalid_objects_can_be_left_out() {
    let world = World::new("skip");
    let folder = broken(&world);
    let lines = world.settle(&["apply", "--skip-invalid", "-f", folder.arg()]).json();
    lines.exits_with(0);
    assert_eq!(lines.outcome("ConfigMap/good"), "created");
    assert_eq!(lines.outcome("ConfigMap/fine"), "created");
    for part in ["b-syntax.yaml:4", "c-name.yaml:2", "d-kinds.yaml:6"] {
        assert!(lines.done.stderr.contains(part), "{part} in\n{lines:#}");
    }
}

fn an_object_in_another_namespace_than_asked_for_is_refused() {
    let world = World::new("elsewhere");
    let done = world.settle(&["apply"]).input(stream(&[within(config_map("a"), "kube-system")])).run();
    assert_refused(&world, &done, &["kube-system", world.name(), "stdin:2"]);
}

fn a_field_that_does_not_exist_is_the_servers_to_refuse() {
    let world = World::new("field");
    let mut object = deployment("web");
    object["spec"]["replica"] = json!(2);
    let lines = world.settle(&["apply"]).input(stream(&[object, config_map("good")])).json();
    lines.exits_with(1);
    let (code, error) = lines.failure("Deployment/web");
    assert_eq!(code, "Schema");
    assert!(error.contains(".spec.replica"), "{error}");
    assert_eq!(lines.conclusion("ConfigMap/good"), "Settled");
    let tries = world.requests().resource("deployments.apps").verb("patch");
    assert_eq!(tries.count(), 1, "never tried again\n{tries}");
}

fn usage_errors_end_before_any_request() {
    let world = World::new("usage");
    let file = Folder::new(shared()).write("a.yaml", &stream(&[config_map("a")]));
    let file = file.to_str().unwrap();
    for words in [
        &["apply", "-f", file, "--no-such-flag"][..],
        &["apply", "-f", file, "--timeout=soon"],
        &["apply", "-f", "-", "-f", "-"],
        &["apply", "-f", "https://example.com/a.yaml"],
        &["apply", "-f", file, "--context=nowhere"],
        &["explode", "-f", file],
    ] {
        let done = settle(shared(), words).kubeconfig(world.user.kubeconfig()).run();
        assert_eq!(done.code, Some(2), "{words:?}\n{}", done.stderr);
        assert!(!done.stderr.is_empty());
    }
    assert_eq!(world.requests().count(), 0);
}
