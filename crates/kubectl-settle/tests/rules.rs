//! Custom rules as a person uses them, and every example of `docs/rules`.

#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that reads files and says so by panicking"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn settle(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kubectl-settle")).args(words).env_clear().output().expect("runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn lines(output: &Output) -> Vec<Value> {
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn file(name: &str, content: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).expect("writes");
    path.display().to_string()
}

fn rules() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules")
}

#[test]
fn every_example_of_the_documentation_gets_the_verdict_it_must() {
    let mut kinds = 0;
    for entry in std::fs::read_dir(rules()).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            continue;
        }
        kinds += 1;
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let examples = rules().join("examples").join(&name);
        let source = std::fs::read_to_string(&examples).expect("examples beside the rule");
        let expected: Vec<Value> = serde_saphyr::from_multiple(&source).expect("YAML");
        let (rule, objects) = (path.display().to_string(), examples.display().to_string());
        let output =
            settle(&["status", "--local", "-o", "json", "--explain", "--rules", &rule, "-f", &objects]);
        let verdicts = lines(&output);
        assert_eq!((verdicts.len(), text(&output.stderr)), (expected.len(), String::new()), "{name}");
        assert!(expected.len() >= 2, "{name} shows too little");
        for (nth, (verdict, example)) in verdicts.iter().zip(&expected).enumerate() {
            let part = example["expect"]["message"].as_str().unwrap_or_default();
            let said = verdict["message"].as_str().expect("a message");
            assert_eq!(verdict["status"], example["expect"]["status"], "{name}, example {nth}: {verdict}");
            assert!(said.contains(part), "{name}, example {nth}: {said}");
            assert_eq!(verdict["causes"], serde_json::json!([]), "{name}, example {nth}");
            assert!(
                verdict["rule"].as_str().is_some_and(|rule| rule.starts_with("custom rule for ")),
                "{verdict}"
            );
        }
    }
    assert!(kinds >= 10, "only {kinds} kinds");
}

#[test]
fn a_file_of_rules_that_cannot_be_read_is_exit_2_with_its_line() {
    let bad = file("bad-rules.yaml", "rules:\n- match: {group: a.b, kind: C}\n  current: '{.status'\n");
    let object = file("object.yaml", "apiVersion: a.b/v1\nkind: C\nmetadata: {name: x}\n");
    for command in [&["status", "--local"][..], &["status"], &["apply"], &["destroy"]] {
        let words = [command, &["-f", &object, "--rules", &bad]].concat();
        let output = settle(&words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(text(&output.stderr).contains("bad-rules.yaml:3: current: "), "{}", text(&output.stderr));
    }
    let output = settle(&["status", "--local", "-f", &object, "--rules", "no/such/file.yaml"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_rule_that_fails_on_an_object_is_told_beside_the_verdict_of_the_tables() {
    let rules = file(
        "failing-rules.yaml",
        "rules:\n- match: {group: a.b, kind: C}\n  current: object.status.phase == 'Up'\n",
    );
    let object =
        file("silent.yaml", "apiVersion: a.b/v1\nkind: C\nmetadata: {name: x}\nstatus: {ready: true}\n");
    let output = settle(&["status", "--local", "-f", &object, "--rules", &rules]);
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        told.contains("warning") && told.contains("failing-rules.yaml:2, current: no such key: phase"),
        "{told}"
    );
    assert!(told.contains("settled"), "{told}");
}
