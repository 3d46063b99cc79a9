//! The table of differences, as the tests read it.

use std::collections::BTreeSet;
use std::path::Path;

fn text(root: &Path) -> String {
    std::fs::read_to_string(root.join("docs/differences.md")).expect("docs/differences.md")
}

/// The cells of every row with an id: the section it stands in, then its cells.
fn rows(text: &str) -> Vec<(String, Vec<String>)> {
    let mut section = String::new();
    let mut rows = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut section);
        } else if line.starts_with("| `D-") {
            let cells = line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned());
            rows.push((section.clone(), cells.collect()));
        }
    }
    rows
}

/// The ids of the section about status.
pub(crate) fn status_rows(root: &Path) -> BTreeSet<String> {
    let rows = rows(&text(root));
    rows.iter()
        .filter(|(section, _)| section == "Status")
        .map(|(_, cells)| cells[0].trim_matches('`').to_owned())
        .collect()
}

/// Checks the form of the table, and that the tests it names are there.
pub(crate) fn check(root: &Path) {
    let rows = rows(&text(root));
    let mut seen = BTreeSet::new();
    for (section, cells) in rows.iter().filter(|(section, _)| section != "Argo CD's corpus") {
        let id = &cells[0];
        assert!(seen.insert(id.clone()), "{id} stands twice");
        assert_eq!(cells.len(), 5, "{id} in {section}: id, difference, reason, report, test");
        for name in cells[4].split(", ") {
            assert!(is_there(root, name), "{id} names {name}, which is not there");
        }
    }
}

/// `case NAME`, a file, or `file::function`.
fn is_there(root: &Path, name: &str) -> bool {
    if let Some(case) = name.strip_prefix("case ") {
        return root.join(format!("crates/kstatus/tests/cases/{case}.yaml")).is_file();
    }
    let (file, function) = name.split_once("::").unwrap_or((name, ""));
    std::fs::read_to_string(root.join(file)).is_ok_and(|text| text.contains(&format!("fn {function}")))
}
