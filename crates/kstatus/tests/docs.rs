//! `docs/status-rules.md` is what the tables say. Written anew with `KSTATUS_WRITE_DOCS=1`.
#![allow(clippy::disallowed_methods, reason = "the page is a file, and the wish to write it a variable")]

use std::path::Path;

#[test]
fn the_page_of_rules_is_what_the_tables_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/status-rules.md");
    let rules = kstatus::rules_as_markdown();
    if std::env::var("KSTATUS_WRITE_DOCS").is_ok() {
        std::fs::write(&path, &rules).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(page == rules, "docs/status-rules.md is out of date; run with KSTATUS_WRITE_DOCS=1");
}
