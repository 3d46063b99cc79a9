//! Files and folders.

use std::fs;
use std::path::{Path, PathBuf};

use kubesettle::manifest::{InvalidPolicy, LoadOptions, Manifests, Source};

use crate::{config_map, lines};

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("kubesettle-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn source(&self, name: &str, recursive: bool) -> Source {
        Source::Path { path: self.0.join(name), recursive }
    }

    /// What was found, or what is wrong, with paths from here.
    fn load(&self, sources: &[Source], options: &LoadOptions) -> Result<Vec<String>, String> {
        let short = |text: String| {
            text.replace(&format!("{}/", self.0.display()), "").replace(&self.0.display().to_string(), ".")
        };
        let loaded = Manifests::load(sources, options).map_err(|problems| short(problems.to_string()))?;
        Ok(loaded.objects().iter().map(|object| short(format!("{object:?}"))).collect())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn link(target: &str, at: PathBuf) {
    std::os::unix::fs::symlink(Path::new(target), at).unwrap();
}

#[test]
fn a_folder_gives_its_manifests_in_order() {
    let folder = Folder::new("order");
    for name in
        ["b.yaml", "a.yml", "c.json", "d.txt", ".hidden.yaml", "sub/e.yaml", ".git/f.yaml", "sub/deep/g.yaml"]
    {
        let name_of = name.replace(['/', '.'], "-");
        folder.write(name, config_map(name_of.trim_start_matches('-'), ""));
    }
    link("b.yaml", folder.0.join("z-link.txt"));
    let options = LoadOptions::default();
    let flat = folder.load(&[folder.source("", false)], &options).unwrap();
    assert_eq!(
        flat,
        ["configmap/a-yml (a.yml:1)", "configmap/b-yaml (b.yaml:1)", "configmap/c-json (c.json:1)"]
    );
    let deep = folder.load(&[folder.source("", true)], &options).unwrap();
    assert_eq!(
        deep[3..],
        ["configmap/sub-deep-g-yaml (sub/deep/g.yaml:1)", "configmap/sub-e-yaml (sub/e.yaml:1)"]
    );
    let named = folder
        .load(&[folder.source("d.txt", false), folder.source(".hidden.yaml", false)], &options)
        .unwrap();
    assert_eq!(named, ["configmap/d-txt (d.txt:1)", "configmap/hidden-yaml (.hidden.yaml:1)"]);
}

#[test]
fn links_lead_to_files_and_never_round_and_round() {
    let folder = Folder::new("links");
    folder.write("real/a.yaml", config_map("a", ""));
    fs::create_dir(folder.0.join("set")).unwrap();
    link("../real/a.yaml", folder.0.join("set/a.yaml"));
    link("..", folder.0.join("set/up"));
    link("../real", folder.0.join("set/folder.yaml"));
    let found = folder.load(&[folder.source("set", true)], &LoadOptions::default());
    assert_eq!(found.unwrap(), ["configmap/a (set/a.yaml:1)"]);
    link("set", folder.0.join("alias"));
    let found = folder.load(&[folder.source("alias", false)], &LoadOptions::default());
    assert_eq!(found.unwrap(), ["configmap/a (alias/a.yaml:1)"]);
    link("gone.yaml", folder.0.join("set/dangling.yaml"));
    let found = folder.load(&[folder.source("set", true)], &LoadOptions::default());
    assert_eq!(found.unwrap_err(), "set/dangling.yaml: cannot be read: no such file or directory");
}

#[test]
fn everything_wrong_with_a_folder_is_told_at_once() {
    let folder = Folder::new("wrong");
    folder
        .write("a.yaml", format!("{}---\nkind: x\n", config_map("a", "")))
        .write("b.yaml", b"\xff\xfea\0".as_slice())
        .write("c.yaml", b"a: \xe9".as_slice())
        .write("d.yaml", config_map("a", ""))
        .write("e.yaml", "a: [\n");
    let sources = [folder.source("", false), folder.source("missing.yaml", false)];
    let wanted = "\
a.yaml:6: apiVersion and metadata.name are missing
b.yaml: is UTF-16 text; manifests are UTF-8
  save the file as UTF-8 (in PowerShell: `Out-File -Encoding utf8`)
c.yaml:1: is not UTF-8 text
e.yaml:1: YAML syntax: unclosed bracket '['
missing.yaml: cannot be read: no such file or directory
d.yaml:1: configmap/a: is the same object as at a.yaml:1";
    assert_eq!(folder.load(&sources, &LoadOptions::default()).unwrap_err(), wanted);
}

#[test]
fn a_file_given_twice_is_told_as_such() {
    let folder = Folder::new("twice");
    folder.write("a.yaml", config_map("a", ""));
    let found =
        folder.load(&[folder.source("", false), folder.source("a.yaml", false)], &LoadOptions::default());
    assert_eq!(found.unwrap_err(), "a.yaml:1: configmap/a: is read twice; is its file given twice?");
}

#[test]
fn the_good_objects_can_be_had_beside_the_problems() {
    let folder = Folder::new("skip");
    folder.write("a.yaml", format!("{}---\nkind: x\n---\n{}", config_map("a", ""), config_map("b", "")));
    let mut options = LoadOptions::default();
    options.invalid = InvalidPolicy::Skip;
    let loaded = Manifests::load(&[folder.source("a.yaml", false)], &options).unwrap();
    assert_eq!(loaded.objects().len(), 2);
    assert_eq!(lines(loaded.problems()).len(), 1);
}

#[test]
fn nothing_at_all_is_refused_unless_allowed() {
    let folder = Folder::new("nothing");
    folder.write("set/sub/a.yaml", config_map("a", "")).write("empty.yaml", "# nothing\n");
    let options = LoadOptions::default();
    assert_eq!(
        folder.load(&[folder.source("empty.yaml", false)], &options).unwrap_err(),
        "empty.yaml: no objects found"
    );
    assert_eq!(
        folder.load(&[folder.source("set", false)], &options).unwrap_err(),
        "set: no objects found\n  only .yaml, .yml and .json files directly in a folder are read; -R goes into its folders"
    );
    let stdin = || Source::Stdin(Default::default());
    let many = [stdin(), stdin(), stdin(), stdin(), stdin()];
    assert_eq!(folder.load(&many, &options).unwrap_err(), "stdin, stdin, stdin, 2 more: no objects found");
    let mut options = options;
    options.allow_empty = true;
    assert_eq!(folder.load(&[stdin()], &options).unwrap(), [""; 0]);
}

#[test]
fn what_is_larger_than_the_limit_is_not_read() {
    let folder = Folder::new("limit");
    folder.write("a.yaml", config_map("a", ""));
    let mut options = LoadOptions::default();
    options.max_bytes = 20;
    let stdin = Source::Stdin(config_map("b", "").into());
    let found = folder.load(&[folder.source("a.yaml", false), stdin], &options).unwrap_err();
    assert_eq!(found, "a.yaml: is larger than 20 bytes\nstdin: is larger than 20 bytes");
}

#[test]
fn the_line_of_a_field_is_found_in_the_file() {
    let folder = Folder::new("lines");
    let list = "kind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: b\n    labels:\n      a.b/c: x\n";
    folder.write("a.yaml", format!("{}---\n{list}", config_map("a", "data:\n  k: v\n")));
    let loaded = Manifests::load(&[folder.source("a.yaml", false)], &LoadOptions::default()).unwrap();
    let [a, b] = loaded.objects() else { panic!() };
    assert_eq!(a.line_of("data.k"), Some(6));
    assert_eq!(a.line_of("spec"), None);
    assert_eq!(b.line_of("metadata.labels[\"a.b/c\"]"), Some(15));
    folder.write("a.yaml", "# moved\n");
    assert_eq!(a.line_of("data.k"), None);
    let stdin =
        Manifests::load(&[Source::Stdin(config_map("a", "").into())], &LoadOptions::default()).unwrap();
    assert_eq!(stdin.objects()[0].line_of("metadata.name"), None);
}
