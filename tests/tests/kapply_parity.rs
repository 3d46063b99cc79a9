//! In the role of kapply: the same words on the same manifests, and sets that change hands.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use e2e::manifests::{annotated, config_map, depending, deployment, stream, within};
use e2e::{Folder, LIMIT, World, binary};
use harness::binaries::{Binary, path};
use harness::{Finished, shared, spawn};
use serde_json::{Value, json};

tests![
    a_set_lives_through_the_same_lines_with_both,
    what_kapply_applied_is_changed_pruned_and_destroyed_by_us,
    what_we_applied_is_changed_pruned_and_destroyed_by_kapply,
    a_field_that_left_a_client_side_applied_manifest_goes,
    an_object_in_a_namespace_that_left_the_set_is_skipped_as_with_kapply,
    an_object_whose_dependency_left_the_set_is_not_touched_by_either,
    a_set_that_brings_the_namespace_of_its_record_comes_and_goes,
    without_a_template_nothing_is_done,
    init_names_the_same_namespace_and_does_not_overwrite,
    a_rehearsal_writes_nothing,
];

/// One of the two tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Kapply,
    Ours,
}

pub(crate) const BOTH: [Tool; 2] = [Tool::Kapply, Tool::Ours];

impl Tool {
    fn path(self) -> &'static Path {
        static PATHS: OnceLock<[PathBuf; 2]> = OnceLock::new();
        let paths = PATHS.get_or_init(|| {
            let link = Folder::new(shared()).path().join("kapply");
            std::os::unix::fs::symlink(binary(), &link).expect("a link");
            [path(Binary::Kapply).expect("built"), link]
        });
        &paths[self as usize]
    }

    #[track_caller]
    fn run(self, words: &[&str]) -> Finished {
        let mut command = shared().command(self.path());
        command.args(words);
        let done = spawn(command, &[]).finish(LIMIT);
        assert!(!done.timed_out, "{self:?} {words:?}\n{}\n{}", done.stdout, done.stderr);
        done
    }
}

/// A folder with a template in a namespace.
pub(crate) struct Package {
    pub(crate) world: World,
    folder: Folder,
}

impl Package {
    pub(crate) fn new(prefix: &str, objects: &[Value]) -> Self {
        let package = Self { world: World::new(prefix), folder: Folder::new(shared()) };
        package.write(objects);
        Tool::Ours.run(&["init", package.folder.arg(), "-n", package.world.name()]).exits_with(0);
        package
    }

    pub(crate) fn write(&self, objects: &[Value]) {
        let name = self.world.name();
        let objects: Vec<_> = objects.iter().map(|object| within(object.clone(), name)).collect();
        self.folder.write("objects.yaml", &stream(&objects));
    }

    #[track_caller]
    pub(crate) fn run(&self, tool: Tool, words: &[&str]) -> Finished {
        let words: Vec<_> = words.iter().copied().chain([self.folder.arg()]).collect();
        tool.run(&words)
    }

    /// The lines of a successful run, comparable with those of another package: sorted, one of each
    /// phase, and without those that only come when a wait takes time.
    #[track_caller]
    fn lines(&self, tool: Tool, words: &[&str]) -> Vec<String> {
        let done = self.run(tool, words);
        done.exits_with(0);
        let said = done.stdout.replace(self.world.name(), "NS").replace(&self.record(), "RECORD");
        let mut lines: Vec<_> =
            said.lines().filter(|line| !line.ends_with("pending")).map(str::to_owned).collect();
        lines.sort();
        let is_phase = |line: &str| line.ends_with(" started") || line.ends_with(" finished");
        lines.dedup_by(|one, other| one == other && is_phase(one));
        lines
    }

    /// The name of the ConfigMap with the record.
    fn record(&self) -> String {
        let template = self.folder.read("inventory-template.yaml");
        let name = template.lines().find_map(|line| line.trim().strip_prefix("name: "));
        name.expect("a name").to_owned()
    }

    /// What the record holds, for a comparison with that of another namespace; null when it is gone.
    fn data(&self) -> Value {
        let text = self.world.get("v1", "configmaps", &self.record())["data"].to_string();
        serde_json::from_str(&text.replace(self.world.name(), "NS")).expect("JSON")
    }

    fn map(&self, name: &str) -> Value {
        self.world.get("v1", "configmaps", name)["data"].clone()
    }
}

fn with(mut map: Value, data: Value) -> Value {
    map["data"] = data;
    map
}

fn shop() -> Vec<Value> {
    vec![config_map("a"), config_map("b"), deployment("web")]
}

fn a_set_lives_through_the_same_lines_with_both() {
    let packages = BOTH.map(|tool| (tool, Package::new("lines", &shop())));
    let same = |words: &[&str]| {
        let [theirs, ours] = [0, 1].map(|at| packages[at].1.lines(packages[at].0, words));
        assert_eq!(ours, theirs, "{words:?}");
        assert_eq!(packages[1].1.data(), packages[0].1.data(), "the record after {words:?}");
    };
    same(&["preview"]);
    same(&["preview", "--server-side"]);
    same(&["apply", "--reconcile-timeout=1m"]);
    same(&["status"]);
    same(&["status", "--poll-until=current", "--output=events"]);
    for (_, package) in &packages {
        package.write(&[with(config_map("a"), json!({ "key": "new" })), deployment("web"), config_map("c")]);
    }
    same(&["preview", "--no-prune"]);
    same(&["preview"]);
    same(&["apply", "--prune-timeout=1m", "--prune-propagation-policy=Foreground", "--server-side=false"]);
    for (_, package) in &packages {
        let keep = annotated(config_map("c"), "cli-utils.sigs.k8s.io/on-remove", "keep");
        package.write(&[deployment("web"), keep]);
    }
    same(&["apply", "--output", "events", "--status-events=false"]);
    same(&["preview", "--destroy"]);
    same(&["destroy", "--delete-timeout=1m", "--delete-propagation-policy=Background"]);
    same(&["destroy"]);
}

fn changes_hands(first: Tool, then: Tool) {
    let package = Package::new("hands", &shop());
    package.run(first, &["apply", "--reconcile-timeout=1m"]).exits_with(0);
    let data = package.data();
    package.run(then, &["apply", "--reconcile-timeout=1m"]).exits_with(0);
    assert_eq!(package.data(), data, "the record when nothing changed");
    package.write(&[with(config_map("a"), json!({ "key": "new" })), deployment("web"), config_map("c")]);
    let done = package.run(then, &["apply", "--reconcile-timeout=1m"]);
    done.exits_with(0);
    assert!(done.stdout.contains("configmap/b prune successful\n"), "{}", done.stdout);
    assert_eq!(package.map("a"), json!({ "key": "new" }));
    assert_eq!(package.map("b"), Value::Null);
    package.write(&[config_map("a"), config_map("c")]);
    package.run(first, &["apply"]).exits_with(0);
    assert_eq!(package.map("a"), json!({ "key": "value" }));
    assert_eq!(package.data().as_object().map(serde_json::Map::len), Some(2), "{}", package.data());
    package.run(then, &["destroy"]).exits_with(0);
    assert_eq!((package.map("a"), package.data()), (Value::Null, Value::Null));
}

fn what_kapply_applied_is_changed_pruned_and_destroyed_by_us() {
    changes_hands(Tool::Kapply, Tool::Ours);
}

fn what_we_applied_is_changed_pruned_and_destroyed_by_kapply() {
    changes_hands(Tool::Ours, Tool::Kapply);
}

fn a_field_that_left_a_client_side_applied_manifest_goes() {
    let package = Package::new("field", &[with(config_map("a"), json!({ "stays": "1", "goes": "1" }))]);
    package.run(Tool::Kapply, &["apply"]).exits_with(0);
    package.write(&[with(config_map("a"), json!({ "stays": "2" }))]);
    let done = package.run(Tool::Ours, &["preview", "--server-side"]);
    done.exits_with(0);
    package.run(Tool::Ours, &["apply"]).exits_with(0);
    assert_eq!(package.map("a"), json!({ "stays": "2" }));
    let fields = package.world.get("v1", "configmaps", "a")["metadata"]["managedFields"].clone();
    assert_eq!((&fields[0]["manager"], &fields[0]["operation"]), (&json!("kubectl"), &json!("Apply")));
    assert_eq!(fields.as_array().map(Vec::len), Some(1), "{fields}");
}

/// Two packages with a namespace of their own making.
fn a_set_that_brings_the_namespace_of_its_record_comes_and_goes() {
    let run = |tool: Tool| {
        let (name, folder) = (e2e::unique("home"), Folder::new(shared()));
        let objects = [e2e::manifests::namespace(&name), within(config_map("a"), &name)];
        folder.write("objects.yaml", &stream(&objects));
        let mut said = String::new();
        for words in
            [&["init"][..], &["preview"], &["apply"], &["destroy", "--delete-timeout=1m"], &["destroy"]]
        {
            let words: Vec<_> = words.iter().copied().chain([folder.arg()]).collect();
            let done = tool.run(&words);
            done.exits_with(0);
            let lines: Vec<_> = done.stdout.lines().filter(|line| line.contains("result")).collect();
            said.push_str(&format!("{}\n", lines.join("\n").replace(&name, "NS")));
        }
        let gone = e2e::get(shared(), &e2e::named("v1", "", "namespaces", &name));
        (said, gone)
    };
    let [theirs, ours] = BOTH.map(run);
    assert_eq!(ours, theirs);
    assert_eq!(ours.1, Value::Null);
}

fn an_object_in_a_namespace_that_left_the_set_is_skipped_as_with_kapply() {
    let run = |tool: Tool| {
        let package = Package::new("left", &[]);
        let name = e2e::unique("inner");
        let object = within(config_map("a"), &name);
        let whole = stream(&[e2e::manifests::namespace(&name), object.clone()]);
        package.folder.write("objects.yaml", &whole);
        package.run(tool, &["apply", "--reconcile-timeout=1m"]).exits_with(0);
        package.folder.write("objects.yaml", &stream([&object]));
        let mut lines = package.lines(tool, &["apply", "--reconcile-timeout=1m"]);
        lines.iter_mut().for_each(|line| *line = line.replace(&name, "INNER"));
        package.folder.write("objects.yaml", &whole);
        package.run(tool, &["destroy"]).exits_with(0);
        lines
    };
    let [theirs, ours] = BOTH.map(run);
    assert_eq!(ours, theirs);
    assert!(
        ours.iter().any(|line| line.contains("dependency scheduled for delete: _INNER__Namespace")),
        "{ours:?}"
    );
}

fn an_object_whose_dependency_left_the_set_is_not_touched_by_either() {
    let run = |tool: Tool| {
        let package = Package::new("torn", &[]);
        let on = format!("/namespaces/{}/ConfigMap/b", package.world.name());
        let needy = depending(config_map("a"), &on);
        package.write(&[needy.clone(), config_map("b")]);
        package.run(tool, &["apply", "--reconcile-timeout=1m"]).exits_with(0);
        package.write(&[needy]);
        // kapply refuses a dependency outside of the input before it looks at the record.
        let lines = match tool {
            Tool::Kapply => Vec::new(),
            Tool::Ours => package.lines(tool, &["apply"]),
        };
        assert!(!package.map("b").is_null(), "{tool:?}");
        lines
    };
    let [_, ours] = BOTH.map(run);
    for line in [
        "configmap/a apply skipped: dependency scheduled for delete: NS_b__ConfigMap",
        "configmap/b prune skipped: dependent scheduled for apply: NS_a__ConfigMap",
    ] {
        assert!(ours.iter().any(|said| said == line), "{line}\n{ours:?}");
    }
}

fn without_a_template_nothing_is_done() {
    let folder = Folder::new(shared());
    folder.write("a.yaml", &stream([&config_map("never")]));
    for tool in BOTH {
        for command in ["apply", "destroy", "preview", "status"] {
            let done = tool.run(&[command, folder.arg()]);
            done.exits_with(1);
            let text = "Package uninitialized. Please run \"init\" command.";
            assert!(done.stderr.contains(text), "{tool:?} {command}: {}", done.stderr);
        }
    }
    assert!(e2e::get(shared(), &e2e::named("v1", "default", "configmaps", "never")).is_null());
}

fn init_names_the_same_namespace_and_does_not_overwrite() {
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": { "name": "x" },
    });
    let cases: &[(&[Value], &[&str])] = &[
        (&[within(config_map("a"), "one"), within(config_map("b"), "one"), role.clone()], &[]),
        (&[within(config_map("a"), "one"), within(config_map("b"), "two")], &[]),
        (&[within(config_map("a"), "one"), config_map("b")], &[]),
        (&[role], &[]),
        (&[within(config_map("a"), "one")], &["--namespace", "three", "--inventory-id=an_id"]),
    ];
    for (objects, flags) in cases {
        let said = BOTH.map(|tool| {
            let folder = Folder::new(shared());
            folder.write("objects.yaml", &stream(*objects));
            let words: Vec<_> = ["init", folder.arg()].into_iter().chain(flags.iter().copied()).collect();
            let (done, again) = (tool.run(&words), tool.run(&words));
            done.exits_with(0);
            again.exits_with(1);
            let told = "inventory object template file already exists";
            assert!(again.stderr.contains(told), "{}", again.stderr);
            let template = folder.read("inventory-template.yaml");
            let lines =
                template.lines().map(str::trim).filter(|line| !line.starts_with('#') && !line.is_empty());
            let random = |line: &&str| line.starts_with("name: ") || line.contains("inventory-id: ");
            let (random, fixed): (Vec<_>, Vec<_>) = lines.partition(random);
            assert_eq!(random.len(), 2);
            let id = random.iter().any(|line| line.ends_with("inventory-id: an_id"));
            (done.stdout.replace(folder.arg(), "FOLDER"), fixed.join("\n"), id)
        });
        assert_eq!(said[1], said[0], "{flags:?}");
    }
}

fn a_rehearsal_writes_nothing() {
    let package = Package::new("rehearsal", &shop());
    for flags in [&["preview"][..], &["preview", "--server-side"], &["preview", "--destroy"]] {
        package.run(Tool::Ours, flags).exits_with(0);
    }
    assert!(package.data().is_null() && package.map("a").is_null());
    package.run(Tool::Ours, &["apply"]).exits_with(0);
    let before = package.world.get("v1", "configmaps", "a");
    package.write(&[with(config_map("a"), json!({ "key": "other" })), deployment("web")]);
    let server = package.run(Tool::Ours, &["preview", "--server-side", "-o", "json"]);
    server.exits_with(0);
    let lines: Vec<Value> =
        server.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let told = |kind: &str, name: &str| {
        let is = |line: &&Value| line["type"] == kind && line["name"] == name && line["status"] != "Pending";
        lines.iter().find(is).map(|line| line["operation"].clone()).unwrap_or_default()
    };
    assert_eq!(lines[0]["dryRun"], "server");
    assert_eq!(told("apply", "a"), "configured");
    assert_eq!(told("apply", "web"), "unchanged");
    assert_eq!(told("prune", "b"), "deleted");
    assert_eq!(package.world.get("v1", "configmaps", "a"), before);
    assert!(!package.map("b").is_null());
}
