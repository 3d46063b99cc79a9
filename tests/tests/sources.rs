//! Where objects come from: standard input, files, folders, JSON.

use e2e::manifests::{config_map, stream};
use e2e::{Folder, World};
use harness::shared;
use serde_json::json;

tests![
    standard_input_is_read_when_named_or_when_nothing_else_is,
    files_and_standard_input_go_together,
    a_folder_is_read_without_the_folders_in_it,
    a_folder_is_read_with_the_folders_in_it_when_asked,
    a_lone_folder_is_read_with_all_folders_in_it,
    json_is_read_as_a_file_and_as_a_stream,
    yaml_is_read_as_kubectl_reads_it,
    labels_narrow_the_input_and_a_set_keeps_the_rest_on_record,
];

/// A folder with two files, one folder deep.
fn tree() -> Folder {
    let folder = Folder::new(shared());
    folder.write("top.yaml", &stream(&[config_map("top")]));
    folder.write("below/deep.yml", &stream(&[config_map("deep")]));
    folder.write("below/notes.txt", "not a manifest");
    folder
}

#[track_caller]
fn assert_applied(lines: &e2e::Lines, names: &[&str]) {
    assert_eq!(lines.all_settled(), names.len() as u64, "{lines:#}");
    for name in names {
        assert_eq!(lines.outcome(&format!("ConfigMap/{name}")), "created", "{lines:#}");
    }
}

fn standard_input_is_read_when_named_or_when_nothing_else_is() {
    let world = World::new("stdin");
    let lines = world.settle(&["apply"]).input(stream(&[config_map("a"), config_map("b")])).json();
    assert_applied(&lines, &["a", "b"]);
    let script = format!("{} apply -o json -n {}", e2e::binary().display(), world.name());
    let mut command = shared().command("sh");
    command.args(["-c", &script]).env("KUBECONFIG", world.user.kubeconfig());
    let done = harness::spawn(command, stream(&[config_map("c")]).as_bytes()).finish(e2e::LIMIT);
    assert_applied(&e2e::Lines::of(done), &["c"]);
}

fn files_and_standard_input_go_together() {
    let world = World::new("both");
    let folder = tree();
    let top = format!("{}/top.yaml", folder.arg());
    let deep = format!("{}/below/deep.yml", folder.arg());
    let lines = world.settle(&["apply", "-f", &top, "-f", &deep]).input(stream(&[config_map("a")])).json();
    assert_applied(&lines, &["top", "deep", "a"]);
}

fn a_folder_is_read_without_the_folders_in_it() {
    let world = World::new("flat");
    assert_applied(&world.settle(&["apply", "-f", tree().arg()]).json(), &["top"]);
}

fn a_folder_is_read_with_the_folders_in_it_when_asked() {
    let world = World::new("deep");
    assert_applied(&world.settle(&["apply", "-R", "-f", tree().arg()]).json(), &["top", "deep"]);
}

fn a_lone_folder_is_read_with_all_folders_in_it() {
    let world = World::new("lone");
    assert_applied(&world.settle(&["apply", tree().arg()]).json(), &["top", "deep"]);
}

fn json_is_read_as_a_file_and_as_a_stream() {
    let world = World::new("json");
    let folder = Folder::new(shared());
    folder.write(
        "list.json",
        &json!({ "apiVersion": "v1", "kind": "List", "items": [config_map("a")] }).to_string(),
    );
    assert_applied(&world.settle(&["apply", "-f", folder.arg()]).json(), &["a"]);
    let text = format!("{}\n{}", config_map("b"), config_map("c"));
    assert_applied(&world.settle(&["apply"]).input(text).json(), &["b", "c"]);
}

fn yaml_is_read_as_kubectl_reads_it() {
    let world = World::new("yaml");
    let text = "\
base: &base
  key: value
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: words
data:
  folded: >-
    one
    two
  quoted: \"yes\"
  big: \"9223372036854775807\"
---
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  type: ExternalName
  externalName: example.com
  ports:
  - port: 0x50
";
    let text = text.split_once("---\n").unwrap().1;
    let lines = world.settle(&["apply"]).input(text).json();
    assert_eq!(lines.all_settled(), 2);
    let data = &world.get("v1", "configmaps", "words")["data"];
    assert_eq!(data, &json!({ "folded": "one two", "quoted": "yes", "big": "9223372036854775807" }));
    assert_eq!(world.get("v1", "services", "web")["spec"]["ports"][0]["port"], 80);
}

fn labels_narrow_the_input_and_a_set_keeps_the_rest_on_record() {
    let world = World::new("picked");
    let mut web = config_map("web");
    web["metadata"]["labels"] = json!({ "app": "web" });
    let both = stream(&[web, config_map("db")]);
    let apply = |more: &[&str]| world.settle(&["apply", "-o", "name"]).args(more).input(both.clone()).run();
    assert_eq!(apply(&["-l", "app=web"]).success(), "configmap/web\n");
    assert!(world.get("v1", "configmaps", "db").is_null());
    apply(&[]).exits_with(0);
    let done = world.settle(&["destroy", "-o", "name", "-l", "app=web"]).input(both.clone()).run();
    assert_eq!(done.success(), "configmap/web\n");
    assert!(!world.get("v1", "configmaps", "db").is_null());
    apply(&["--set", "shop", "--inventory-policy", "adopt"]).exits_with(0);
    apply(&["--set", "shop", "-l", "app=web"]).exits_with(2);
    let done = apply(&["--set", "shop", "-l", "app=web", "--no-prune"]);
    assert_eq!(done.success(), "configmap/web\n");
    assert!(!world.get("v1", "configmaps", "db").is_null());
    let record = world.settle(&["inventory", "show", "--set", "shop"]).run().success();
    assert_eq!(record.lines().count(), 2, "{record}");
}
