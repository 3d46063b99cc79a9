//! Keeps the shape of the workspace: imports go one way, pure modules stay pure, files stay small.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that reads the sources")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Every Rust file below a folder with its text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                files.push((path, text));
            }
        }
    }
    assert!(!files.is_empty(), "nothing below {}", folder.display());
    files
}

/// A module of the library and the modules it may use.
const MODULES: &[(&str, &[&str])] = &[
    ("id", &[]),
    ("error", &["id"]),
    ("manifest", &["id"]),
    ("rules", &["id", "manifest"]),
    ("dump", &["id", "error", "manifest", "rules", "event"]),
    ("graph", &["id", "manifest"]),
    ("inventory", &["id"]),
    ("event", &["id", "error"]),
    ("plan", &["id", "error", "manifest", "graph", "inventory", "event"]),
    ("cluster", &["id", "error"]),
    ("watch", &["id", "error", "cluster"]),
    ("status", &["id", "error", "cluster", "watch"]),
    (
        "run",
        &[
            "id",
            "error",
            "manifest",
            "rules",
            "graph",
            "inventory",
            "event",
            "plan",
            "cluster",
            "watch",
            "status",
        ],
    ),
];

/// Modules without async, clients or runtime.
const PURE: &[&str] = &["id", "error", "manifest", "rules", "dump", "graph", "inventory", "event", "plan"];
const CLIENTS: &[&str] = &["tokio", "hyper", "hyper_util", "tower", "http", "rustls"];

fn module_of(path: &Path, root: &Path) -> String {
    let first = path.strip_prefix(root).unwrap().components().next().unwrap();
    first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()
}

/// The code of a file without its comments.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(number, line)| (number + 1, line.split("//").next().unwrap_or_default()))
}

/// True when `.await` stands there as a word.
fn waits(line: &str) -> bool {
    line.split(".await").skip(1).any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[test]
fn imports_of_the_library_go_one_way() {
    let root = workspace().join("crates/kubesettle/src");
    let allowed: BTreeMap<&str, &[&str]> = MODULES.iter().copied().collect();
    let mut wrong = Vec::new();
    for (path, text) in sources(&root) {
        let module = module_of(&path, &root);
        if module == "lib" {
            continue;
        }
        let Some(may_use) = allowed.get(module.as_str()) else {
            wrong.push(format!("{}: module {module} is in no row of the table", path.display()));
            continue;
        };
        for (number, line) in code(&text) {
            for used in line.split("crate::").skip(1) {
                let used = used.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
                let known = used.is_empty() || used == module || may_use.contains(&used);
                if !known && allowed.contains_key(used) {
                    wrong.push(format!("{}:{number}: {module} uses {used}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "imports against the direction:\n{}", wrong.join("\n"));
}

#[test]
fn pure_modules_know_no_runtime_and_no_client() {
    let library = workspace().join("crates/kubesettle/src");
    let status = workspace().join("crates/kstatus/src");
    let mut wrong = Vec::new();
    let pure =
        sources(&library).into_iter().filter(|(path, _)| PURE.contains(&module_of(path, &library).as_str()));
    for (path, text) in pure.chain(sources(&status)) {
        for (number, line) in code(&text) {
            let client = CLIENTS.iter().any(|name| line.contains(&format!("{name}::")));
            let asynchronous =
                ["async fn", "async move", "async {"].iter().any(|word| line.contains(word)) || waits(line);
            if client || asynchronous {
                wrong.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "not pure:\n{}", wrong.join("\n"));
}

#[test]
fn no_file_is_longer_than_a_thousand_lines() {
    let mut long = Vec::new();
    for folder in ["crates", "testing/harness", "tests"] {
        for (path, text) in sources(&workspace().join(folder)) {
            let lines = text.lines().count();
            if lines > 1_000 {
                long.push(format!("{}: {lines} lines", path.display()));
            }
        }
    }
    assert!(long.is_empty(), "split these:\n{}", long.join("\n"));
}

#[test]
fn only_one_module_of_the_library_knows_the_client_stack() {
    let root = workspace().join("crates/kubesettle/src");
    let mut wrong = Vec::new();
    for (path, text) in sources(&root) {
        if module_of(&path, &root) == "cluster" {
            continue;
        }
        for (number, line) in code(&text) {
            if CLIENTS[1..].iter().any(|name| line.trim_start().starts_with(&format!("use {name}::"))) {
                wrong.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "outside of `cluster`:\n{}", wrong.join("\n"));
}

/// A clock that is set while something is watched moves nothing.
#[test]
fn watching_reads_no_clock_that_can_be_set() {
    let root = workspace().join("crates/kubesettle/src");
    let mut wrong = Vec::new();
    for (path, text) in sources(&root) {
        if !["watch", "status"].contains(&module_of(&path, &root).as_str()) {
            continue;
        }
        for (number, line) in code(&text) {
            if ["SystemTime::now", "std::time::Instant", "Timestamp::now"]
                .iter()
                .any(|word| line.contains(word))
            {
                wrong.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "not monotonic:\n{}", wrong.join("\n"));
}

/// A document names a test by the end of its file's path, as `watching/faults.rs::name`.
#[test]
fn every_test_that_a_document_names_is_there() {
    let folders = ["crates", "testing", "tests"].map(|folder| workspace().join(folder));
    let files: Vec<(String, String)> = folders
        .iter()
        .flat_map(|folder| sources(folder))
        .map(|(path, text)| (path.display().to_string(), text))
        .collect();
    let (mut named, mut wrong) = (0, Vec::new());
    for entry in std::fs::read_dir(workspace().join("docs")).unwrap() {
        let document = entry.unwrap().path();
        if document.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = std::fs::read_to_string(&document).unwrap();
        for word in text.split([' ', '`', ',', '\n']).filter(|word| word.contains(".rs::")) {
            let (file, name) = word.split_once("::").unwrap();
            let (place, function) = (format!("/{file}"), format!("fn {name}("));
            named += 1;
            if !files.iter().any(|(path, text)| path.ends_with(&place) && text.contains(&function)) {
                wrong.push(format!("{}: {word}", document.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "named and not there:\n{}", wrong.join("\n"));
    assert!(named > 200, "{named} tests are named");
}

/// `unwrap`, `expect`, prints and `std::fs` are clippy's business; here stands that it is asked to.
#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    let read = |path: PathBuf| std::fs::read_to_string(&path).unwrap();
    let root = read(workspace().join("Cargo.toml"));
    for lint in [
        "unsafe_code = \"forbid\"",
        "unwrap_used = \"deny\"",
        "expect_used = \"deny\"",
        "print_stdout = \"deny\"",
    ] {
        assert!(root.contains(lint), "{lint}");
    }
    for member in root.lines().filter_map(|line| line.trim().strip_prefix('"')) {
        let member = member.trim_end_matches(['"', ',']);
        let manifest = read(workspace().join(member).join("Cargo.toml"));
        assert!(manifest.contains("[lints]\nworkspace = true"), "{member} has lints of its own");
    }
}
