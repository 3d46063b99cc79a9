//! Reads JSON lines from standard input, each an object or a record with an `object`, and prints
//! one verdict a line. `--generic`: without the table of known custom kinds.
#![allow(clippy::print_stdout, reason = "a program's output")]

use std::io::BufRead;

use kstatus::{Facts, History, Policy, Rulebook, Surroundings, Timestamp, assess};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let generic = std::env::args().any(|argument| argument == "--generic");
    let book = Rulebook { ecosystems: !generic, ..Rulebook::default() };
    let (facts, policy) = (Facts::default(), Policy::default());
    let now = Timestamp::parse("2030-01-01T00:00:00Z").ok_or("no time")?;
    let around = Surroundings { children: &[], events: &[], facts: &facts, now, policy: &policy };
    for line in std::io::stdin().lock().lines() {
        let record: Value = serde_json::from_str(&line?)?;
        let object = record.get("object").unwrap_or(&record).to_string();
        let verdict = match book.digest(object.as_bytes()) {
            Ok(digest) => serde_json::to_value(assess(&digest, &around, &mut History::default()))?,
            Err(error) => json!({"status": "Unknown", "message": error.to_string()}),
        };
        println!("{verdict}");
    }
    Ok(())
}
