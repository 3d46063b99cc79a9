//! The program as a person starts it, as far as that needs no cluster.

#![allow(clippy::expect_used, reason = "a test that cannot go on says so by panicking")]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Runs the program with nothing in its environment.
fn settle(words: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-settle"))
        .args(words)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    // A program that does not read its input has closed it.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    child.wait_with_output().expect("ends")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("not killed")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A kubeconfig for a port where nobody listens.
fn kubeconfig(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let text = "\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'http://127.0.0.1:9'}}]
users: [{name: u, user: {}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
";
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).open(&path).expect("opens");
    file.write_all(text.as_bytes()).expect("writes");
    path
}

const OBJECT: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n";

#[test]
fn the_version_is_a_line_or_json() {
    assert_eq!(out(&settle(&["version"], "")), format!("kubectl-settle {}\n", env!("CARGO_PKG_VERSION")));
    let json: Value = serde_json::from_str(&out(&settle(&["version", "-o", "json"], ""))).expect("JSON");
    assert_eq!(json["schemaVersion"], 1);
}

#[test]
fn help_goes_to_standard_output_and_bad_usage_to_standard_error() {
    for words in [&["--help"][..], &["help"], &["apply", "-h"], &["help", "exit-codes"], &["help", "events"]]
    {
        let output = settle(words, "");
        assert_eq!((code(&output), err(&output)), (0, String::new()), "{words:?}");
        assert!(!out(&output).is_empty());
    }
    for words in [&[][..], &["bogus"], &["apply", "--bogus"], &["apply", "--timeout", "5"], &["help", "x"]] {
        let output = settle(words, "");
        assert_eq!((code(&output), out(&output)), (2, String::new()), "{words:?}");
        assert!(!err(&output).is_empty());
    }
}

#[test]
fn completion_knows_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = out(&settle(&["completion", shell], ""));
        assert!(script.contains("destroy") && script.contains("kubectl-settle"), "{shell}");
    }
}

#[test]
fn a_bad_setting_in_the_environment_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-settle"))
        .args(["status", "-f", "x"])
        .env_clear()
        .env("KUBESETTLE_TIMEOUT", "soon")
        .output()
        .expect("runs");
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("KUBESETTLE_TIMEOUT"), "{}", err(&output));
}

#[test]
fn every_problem_of_the_input_is_told_and_nothing_is_written() {
    let input = "kind: ConfigMap\n---\napiVersion: v1\nkind: Secret\nmetadata: {}\n";
    let output = settle(&["apply", "-f", "-"], input);
    assert_eq!(code(&output), 2, "{}", err(&output));
    assert!(err(&output).contains("stdin:1") && err(&output).contains("stdin:3"), "{}", err(&output));
    let output = settle(&["apply", "-f", "-", "-o", "json"], input);
    let lines: Vec<Value> =
        out(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let types: Vec<_> = lines.iter().filter_map(|line| line["type"].as_str()).collect();
    assert_eq!(types, ["validation", "validation", "error", "end"]);
    assert_eq!(lines[3]["exitCode"], 2);
}

#[test]
fn an_empty_input_is_refused() {
    let output = settle(&["apply"], "");
    assert_eq!(code(&output), 2, "{}", err(&output));
}

#[test]
fn a_cluster_that_does_not_answer_is_code_6_with_what_was_tried() {
    let config = kubeconfig("nobody-listens.yaml");
    let output = settle(&["apply", "-f", "-", "--kubeconfig", &config.display().to_string()], OBJECT);
    assert_eq!(code(&output), 6, "{}", err(&output));
    assert!(err(&output).contains("127.0.0.1:9"), "{}", err(&output));
}

const DUMP: &str = r#"{"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","uid":"d","generation":2},
 "spec":{"replicas":2},"status":{"observedGeneration":1}},
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop","creationTimestamp":"2025-01-01T00:00:00Z"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"shop"},"spec":{"restartPolicy":"Never"},
 "status":{"phase":"Failed","reason":"Evicted","message":"The node was low on memory"}}]}"#;

#[test]
fn a_proxy_of_the_environment_is_named_when_it_is_in_the_way() {
    let through = |variable: &str, proxy: &str| {
        Command::new(env!("CARGO_BIN_EXE_kubectl-settle"))
            .args(["status", "deploy", "-s", "https://192.0.2.1:6443"])
            .env_clear()
            .env(variable, proxy)
            .output()
            .expect("runs")
    };
    let output = through("https_proxy", "http://me:canary@127.0.0.1:9");
    assert_eq!(code(&output), 6, "{}", err(&output));
    assert!(err(&output).contains("through the proxy 127.0.0.1:9: "), "{}", err(&output));
    assert!(!err(&output).contains("canary"), "{}", err(&output));

    let output = through("HTTPS_PROXY", "ftp://me:canary@127.0.0.1:9");
    assert_eq!(code(&output), 2, "{}", err(&output));
    let said = "error: the environment variable HTTPS_PROXY: proxy scheme \"ftp\" is not supported";
    assert!(err(&output).starts_with(said), "{}", err(&output));
    assert!(!err(&output).contains("from"), "{}", err(&output));
}

#[test]
fn a_dump_is_judged_without_a_cluster_one_line_per_object_in_order() {
    let output = settle(&["status", "--local", "-f", "-", "-o", "json", "--explain"], DUMP);
    assert_eq!((code(&output), err(&output)), (1, String::new()));
    let lines: Vec<Value> =
        out(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let told: Vec<_> = lines.iter().map(|line| (line["name"].as_str(), line["status"].as_str())).collect();
    let wanted =
        [(Some("web"), Some("InProgress")), (Some("a"), Some("Current")), (Some("p"), Some("Failed"))];
    assert_eq!(told, wanted);
    assert_eq!(
        (&lines[0]["type"], &lines[2]["seq"], &lines[2]["line"]),
        (&"status".into(), &2.into(), &5.into())
    );
    assert!(
        lines[0]["rule"].as_str().is_some_and(|rule| rule.contains("observedGeneration")),
        "{}",
        lines[0]
    );
}

#[test]
fn a_dump_looks_like_a_look_at_the_cluster() {
    let output = settle(&["status", "--local", "--explain", "-f", "-"], DUMP);
    let text = out(&output);
    for part in [
        "looking at 3 objects in 1 namespace at 2025-01-01T00:00:00Z",
        "deployment.apps/web  shop  in progress",
        "rule: every kind: ",
        "1 settled, 1 in progress, 1 failed",
        "pod/p in shop: failed, Evicted",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_a_dump_does_not_tell_is_told_beside_it() {
    let output = settle(&["status", "--local", "-f", "-", "-o", "json"], &format!("{OBJECT}---\n- 1\n"));
    assert_eq!((code(&output), out(&output).lines().count()), (2, 1));
    assert!(err(&output).contains("stdin:3"), "{}", err(&output));
    let skipping = ["status", "--local", "--skip-invalid", "-f", "-", "-o", "json"];
    assert_eq!(code(&settle(&skipping, &format!("{OBJECT}---\n- 1\n"))), 0);
    let nothing = settle(&["status", "--local", "-f", "-", "-o", "json"], "");
    assert_eq!((code(&nothing), out(&nothing)), (2, String::new()));
    for words in [
        &["status", "--generic"][..],
        &["status", "--local", "--watch"],
        &["status", "--local", "--set", "x"],
    ] {
        assert_eq!(code(&settle(words, DUMP)), 2, "{words:?}");
    }
}

const TWO: &str = "\
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: one, labels: {app: web}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: two}}
";

/// Runs the program where PATH is one folder that holds this.
#[cfg(unix)]
fn settle_with(name: &str, program: Option<(&str, &str)>, words: &[&str]) -> Output {
    use std::os::unix::fs::OpenOptionsExt;
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    if let Some((program, script)) = program {
        let mut options = std::fs::OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(0o755);
        let mut file = options.open(folder.join(program)).expect("opens");
        file.write_all(format!("#!/bin/sh\n{script}\n").as_bytes()).expect("writes");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-settle"));
    command.args(words).env_clear().env("PATH", &folder).stdin(Stdio::null()).output().expect("runs")
}

#[test]
#[cfg(unix)]
fn a_kustomization_is_built_by_kubectl_or_kustomize() {
    let words = ["status", "--local", "-o", "name", "-k", "over/lay"];
    let script = |word: &str| {
        format!(
            "test \"$*\" = '{word} -- over/lay' || exit 9\n\
             echo '{{apiVersion: v1, kind: ConfigMap, metadata: {{name: built}}}}'"
        )
    };
    for (program, word) in [("kubectl", "kustomize"), ("kustomize", "build")] {
        let output = settle_with(&format!("builds-{program}"), Some((program, &script(word))), &words);
        assert_eq!(out(&output), "configmap/built\n", "{program}: {}", err(&output));
        assert_eq!(code(&output), 0);
    }
}

#[test]
#[cfg(unix)]
fn a_kustomization_that_is_not_built_is_told_with_the_reason() {
    let words = ["apply", "-k", "over/lay"];
    let output = settle_with("builds-nothing", None, &words);
    assert_eq!(code(&output), 2);
    for name in ["kubectl kustomize", "kustomize build", "over/lay"] {
        assert!(err(&output).contains(name), "{}", err(&output));
    }
    let output = settle_with("builds-badly", Some(("kubectl", "echo no base here >&2; exit 1")), &words);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("no base here"), "{}", err(&output));
    let output = settle_with("builds-what", Some(("kubectl", "echo 'kind: Odd'")), &words);
    assert!(err(&output).contains("kustomize over/lay:1"), "{}", err(&output));
}

#[test]
fn labels_that_no_object_has_are_refused_and_so_is_a_part_of_a_set() {
    let output = settle(&["apply", "-f", "-", "-l", "app=db"], TWO);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("no object of the input has these labels"), "{}", err(&output));
    let template = "{apiVersion: v1, kind: ConfigMap, metadata: {name: i, namespace: one, labels: \
                    {cli-utils.sigs.k8s.io/inventory-id: shop}}}\n";
    for command in ["apply", "destroy"] {
        let output = settle(&[command, "-f", "-", "-l", "app=web"], &format!("{TWO}---\n{template}"));
        assert_eq!(code(&output), 2);
        assert!(err(&output).contains("tracked set"), "{command}: {}", err(&output));
    }
}

#[test]
fn a_reader_that_goes_away_is_no_news() {
    let many: String = (0..2000)
        .map(|n| format!("---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m{n}}}}}\n"))
        .collect();
    let input = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("many.yaml");
    let mut file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).open(&input).expect("opens");
    file.write_all(many.as_bytes()).expect("writes");
    let input = input.display().to_string();
    for words in [
        &["status", "--local", "-f", &input][..],
        &["status", "--local", "-f", &input, "-o", "json"],
        &["status", "--local", "-f", &input, "-o", "events"],
        &["status", "--local", "-f", &input, "-o", "name"],
        &["help", "events"],
        &["apply", "--help"],
        &["version"],
        &["completion", "bash"],
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_kubectl-settle"))
            .args(words)
            .env_clear()
            .stdout(writer)
            .output()
            .expect("ends");
        assert_eq!((code(&output), err(&output)), (0, String::new()), "{words:?}");
    }
}

#[test]
fn a_dump_is_judged_in_one_namespace() {
    let names = |more: &[&str]| {
        let words = [&["status", "--local", "-f", "-", "-o", "name"], more].concat();
        let output = settle(
            &words,
            &format!("{TWO}---\n{{apiVersion: v1, kind: Namespace, metadata: {{name: one}}}}\n"),
        );
        (out(&output), err(&output))
    };
    assert_eq!(names(&["-n", "one"]).0, "configmap/a\nnamespace/one\n");
    assert_eq!(names(&["--namespaces", "two"]).0, "configmap/b\n");
    assert_eq!(names(&["--statuses", "current"]).0.lines().count(), 3);
    let (nothing, why) = names(&["-n", "three"]);
    assert_eq!(nothing, "");
    assert!(why.contains("no object of the input"), "{why}");
}
