use kubesettle::error::ExitClass;
use serde_json::Value;

use super::*;
use crate::print::fixtures::{shop, show};

fn parse(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn every_line_is_an_object_with_a_time_and_a_type() {
    let page = show(&mut Json::default(), &shop());
    assert_eq!(page.err, "");
    let lines = parse(&page.out);
    for line in &lines {
        assert!(line["timestamp"].is_string() && line["type"].is_string(), "{line}");
        assert!(line["seq"].is_number() && line["elapsed"].is_number(), "{line}");
    }
    assert_eq!((&lines[0]["type"], &lines[0]["schemaVersion"]), (&json!("start"), &json!(1)));
    let last = lines.last().expect("an end");
    assert_eq!((&last["type"], &last["exitCode"]), (&json!("end"), &json!(1)));
}

#[test]
fn a_wait_that_takes_time_begins_as_pending() {
    let lines = parse(&show(&mut Json::default(), &shop()).out);
    let waits = |name: &str| -> Vec<String> {
        let mine = lines.iter().filter(|line| line["type"] == "wait" && line["name"] == name);
        mine.filter_map(|line| line["status"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(waits("web"), ["Pending", "Failed"]);
    assert_eq!(waits("db"), ["Pending", "Successful"]);
    assert_eq!(waits("settings"), ["Successful"]);
}

#[test]
fn a_command_that_does_not_get_to_its_run_says_so_in_json_too() {
    let failure = Failure::new(ExitClass::Unreachable, "no answer").hint("is it up?");
    let lines = parse(&failure_lines(&failure));
    assert_eq!(lines[0]["error"], "no answer");
    assert_eq!(lines[0]["hint"], "is it up?");
    assert_eq!((&lines[1]["outcome"], &lines[1]["exitCode"]), (&json!("Unreachable"), &json!(6)));
}
