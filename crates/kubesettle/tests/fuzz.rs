//! The targets of the fuzzer on their kept corpora, and on what no file should hold: depth, length.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that reads files")]

#[path = "../../../fuzz/targets.rs"]
mod targets;

use std::path::Path;

fn each(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let data = std::fs::read(entry.unwrap().path()).unwrap();
        target(&data);
        // Also what a broken connection or a full disk leaves of it.
        target(&data[..data.len() / 2]);
        count += 1;
    }
    assert!(count > 0, "{} is empty", folder.display());
}

#[test]
fn any_object_has_a_bounded_verdict() {
    each("status", targets::status);
}

#[test]
fn any_text_is_read_or_refused() {
    each("manifests", targets::manifests);
}

#[test]
fn any_key_is_an_object_or_none() {
    each("inventory", targets::inventory);
}

#[test]
fn any_rule_is_read_or_refused() {
    each("rules", targets::rules);
}

#[test]
fn any_body_of_a_watch_is_survived() {
    each("watch", targets::watch);
}

const DEPTH: usize = 100_000;

/// On half as much stack as a thread has; a debug build takes 20 KB for each level of YAML, and 120 levels
/// are read.
#[test]
fn depth_is_bounded_everywhere() {
    std::thread::Builder::new().stack_size(1 << 20).spawn(depths).unwrap().join().unwrap();
}

fn depths() {
    for (open, close) in [("[", "]"), ("{\"status\":", "}")] {
        let deep = format!("{}1{}", open.repeat(DEPTH), close.repeat(DEPTH));
        let object =
            format!(r#"{{"apiVersion":"a.b/v1","kind":"C","metadata":{{"name":"x"}},"status":{deep}}}"#);
        let rule = "rules:\n- match: {group: a.b, kind: C}\n  current: '{.status}'\n\n%%\n";
        for text in [&deep, &object, &format!("{{\"type\":\"ADDED\",\"object\":{object}}}\n")] {
            targets::status(text.as_bytes());
            targets::manifests(text.as_bytes());
            targets::inventory(text.as_bytes());
            targets::rules(format!("{rule}{text}").as_bytes());
            targets::watch(text.as_bytes());
        }
    }
    for levels in [100, 118] {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        let deep = format!("apiVersion: v1\nkind: A\nmetadata: {{name: a}}\nspec: {open}1{close}\n");
        targets::manifests(deep.as_bytes());
        let list = "- ".repeat(levels);
        targets::manifests(format!("{list}1\n").as_bytes());
    }
    let indented: String = (0..2_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    targets::manifests(indented.as_bytes());
    targets::manifests(format!("kind: List\nitems: {}{}", "[".repeat(DEPTH), "]".repeat(DEPTH)).as_bytes());
    let lists = r#"{"kind":"List","items":["#.repeat(1_000) + &"]}".repeat(1_000);
    targets::manifests(lists.as_bytes());
    let nested =
        format!("rules:\n- match: {{group: a, kind: B}}\n  current: '{{.a{}'\n", "[?(@.b".repeat(DEPTH));
    targets::rules(nested.as_bytes());
}

#[test]
fn megabytes_are_bounded_everywhere() {
    let long = "x".repeat(3 << 20);
    let many = vec![r#"{"type":"Ready","status":"False","message":"m"}"#; 20_000].join(",");
    for object in [
        format!(
            r#"{{"apiVersion":"a.b/v1","kind":"{long}","metadata":{{"name":"{long}","namespace":"{long}"}}}}"#
        ),
        format!(r#"{{"apiVersion":"{long}","kind":"C","status":{{"phase":"{long}","{long}":"Failed"}}}}"#),
        format!(
            r#"{{"apiVersion":"a.b/v1","kind":"C","status":{{"conditions":[{{"type":"Ready","status":"False","reason":"{long}","message":"{long}"}}]}}}}"#
        ),
        format!(r#"{{"apiVersion":"a.b/v1","kind":"C","status":{{"conditions":[{many}]}}}}"#),
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"finalizers":["{long}"],"deletionTimestamp":"{long}"}}}}"#
        ),
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","status":{{"containerStatuses":[{{"name":"{long}","state":{{"waiting":{{"reason":"ErrImagePull","message":"{long}"}}}}}}]}}}}"#
        ),
    ] {
        targets::status(object.as_bytes());
        targets::manifests(object.as_bytes());
        targets::watch(format!("{{\"type\":\"MODIFIED\",\"object\":{object}}}\n").as_bytes());
    }
    targets::inventory(long.as_bytes());
    targets::rules(format!("rules:\n- match: {{group: a, kind: B}}\n  current: '{{.{long}}}'\n").as_bytes());
}
