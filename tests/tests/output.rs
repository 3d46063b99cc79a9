//! What is said besides the way of the objects: warnings, reminders, help.

use e2e::manifests::{config_map, deployment, stream};
use e2e::{World, settle};
use harness::shared;
use serde_json::{Value, json};

tests![
    a_warning_of_the_server_is_told_once_for_each_object,
    warnings_go_to_standard_error_beside_the_lines_of_events,
    values_of_secrets_are_never_shown,
    without_a_wait_only_the_writes_count,
    a_dumb_pipe_gets_no_colours,
    help_and_version_need_no_cluster,
];

const DEPRECATED: &str = "v1 Endpoints is deprecated";

fn endpoints(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": { "name": name },
        "subsets": [{ "addresses": [{ "ip": "10.1.2.3" }], "ports": [{ "port": 80 }] }],
    })
}

fn a_warning_of_the_server_is_told_once_for_each_object() {
    let world = World::new("warned");
    let set = stream(&[endpoints("a"), endpoints("b"), config_map("fine")]);
    let lines = world.settle(&["apply"]).input(set.clone()).json();
    assert_eq!(lines.all_settled(), 3);
    for name in ["Endpoints/a", "Endpoints/b"] {
        let told: Vec<_> = lines.about("warning", name).collect();
        assert_eq!(told.len(), 1, "{lines:#}");
        assert_eq!(told[0]["source"], "server");
        assert!(told[0]["message"].as_str().unwrap().contains(DEPRECATED));
    }
    assert_eq!(lines.all("warning").count(), 2);
    // For people: once, and how often it came again.
    let done = world.settle(&["apply"]).input(set).run().success();
    assert_eq!(done.matches("warning  ").count(), 1, "{done}");
    assert_eq!(done.matches("the same warning once more").count(), 1, "{done}");
}

fn warnings_go_to_standard_error_beside_the_lines_of_events() {
    let world = World::new("warned");
    let done = world.settle(&["apply", "-o", "events"]).input(stream(&[endpoints("a")])).run();
    done.exits_with(0);
    assert_eq!(done.stderr.matches(DEPRECATED).count(), 1, "{}", done.stderr);
    assert!(!done.stdout.contains(DEPRECATED), "{}", done.stdout);
}

fn values_of_secrets_are_never_shown() {
    let world = World::new("secret");
    let (plain, encoded) = ("canary-in-a-coal-mine", "Y2FuYXJ5LWluLWEtY29hbC1taW5l");
    let secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": { "name": "hidden" },
        "data": { "password": encoded },
    });
    let mut wrong = secret.clone();
    wrong["metadata"]["name"] = json!("wrong");
    wrong["data"]["password"] = json!(plain);
    let mut worse = secret.clone();
    worse["metadata"]["name"] = json!("worse");
    worse["stringData"] = json!([plain]);
    for form in ["plain", "json", "events"] {
        let set = stream(&[secret.clone(), wrong.clone(), worse.clone()]);
        let done = world.settle(&["apply", "-v", "-o", form]).input(set).run();
        done.exits_with(1);
        for canary in [plain, encoded] {
            assert!(
                !done.stdout.contains(canary) && !done.stderr.contains(canary),
                "{}{}",
                done.stdout,
                done.stderr
            );
        }
    }
    assert_eq!(world.get("v1", "secrets", "hidden")["data"]["password"], encoded);
}

fn without_a_wait_only_the_writes_count() {
    let world = World::new("nowait");
    let stuck = e2e::manifests::deployment_that("stuck", "never-ready");
    let lines = world.settle(&["apply", "--wait=false"]).input(stream(&[stuck, deployment("web")])).json();
    lines.exits_with(0);
    assert_eq!(lines.outcome("Deployment/stuck"), "created");
    assert_eq!(lines.conclusion("Deployment/stuck"), "NotAwaited");
}

fn a_dumb_pipe_gets_no_colours() {
    let world = World::new("pipe");
    let set = stream(&[config_map("a")]);
    let plain = world.settle(&["apply"]).input(set.clone()).run();
    assert!(!plain.success().contains('\u{1b}'));
    let coloured = world.settle(&["apply", "--color=always"]).input(set).run();
    assert!(coloured.success().contains('\u{1b}'));
}

fn help_and_version_need_no_cluster() {
    let nowhere = "/no/such/kubeconfig";
    for words in
        [&["help"][..], &["apply", "--help"], &["help", "exit-codes"], &["help", "events"], &["version"]]
    {
        let done = settle(shared(), words).kubeconfig(nowhere).run();
        assert!(!done.success().is_empty(), "{words:?}");
    }
}
