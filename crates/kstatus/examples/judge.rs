//! Reads JSON lines from standard input, each an object or a record with an `object`, and prints
//! one verdict a line. `--generic`: without the table of known custom kinds.
//!
//! A recorded object is judged at the moment it was recorded: the clock stands at the newest time
//! the object mentions.
#![allow(clippy::print_stdout, reason = "a program's output")]

use std::io::BufRead;

use kstatus::{Facts, History, Policy, Rulebook, Surroundings, Timestamp, assess};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let generic = std::env::args().any(|argument| argument == "--generic");
    let book = if generic { Rulebook::habits_only() } else { Rulebook::default() };
    let (facts, policy) = (Facts::default(), Policy::default());
    for line in std::io::stdin().lock().lines() {
        let record: Value = serde_json::from_str(&line?)?;
        let object = record.get("object").unwrap_or(&record).to_string();
        let now = newest(record.get("object").unwrap_or(&record)).unwrap_or(Timestamp::from_millis(0));
        let around = Surroundings { children: &[], events: &[], facts: &facts, now, policy: &policy };
        let verdict = match book.digest(object.as_bytes()) {
            Ok(digest) => serde_json::to_value(assess(&digest, &around, &mut History::default()))?,
            Err(error) => json!({"status": "Unknown", "message": error.to_string()}),
        };
        println!("{verdict}");
    }
    Ok(())
}

fn newest(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => Timestamp::parse(text),
        Value::Array(items) => items.iter().filter_map(newest).max(),
        Value::Object(fields) => fields.values().filter_map(newest).max(),
        _ => None,
    }
}
