//! Plans that are saved, agreed to, and carried out later, or not.

use std::fs;

use e2e::manifests::{config_map, deployment, stream};
use e2e::{Folder, World};
use harness::shared;
use serde_json::{Value, json};

tests![
    a_saved_plan_is_carried_out_as_it_was_made,
    a_saved_plan_is_refused_when_anything_has_moved,
    a_saved_plan_holds_no_secret_and_names_its_input,
    a_saved_plan_settles_its_flags,
    a_saved_plan_of_a_part_of_a_kustomization_is_of_that_part,
    a_saved_plan_of_a_destroy_deletes,
    a_plan_that_would_fail_is_not_saved,
    an_object_that_appears_while_a_plan_is_carried_out_is_left_alone,
];

/// A world with a set of two objects, and a folder with another input for it.
struct Planned {
    world: World,
    folder: Folder,
    file: String,
}

impl Planned {
    fn new(prefix: &str) -> Self {
        let world = World::new(prefix);
        let set = stream(&[config_map("a"), config_map("b")]);
        world.settle(&["apply", "--set", "shop"]).input(set).run().exits_with(0);
        let folder = Folder::new(shared());
        let mut changed = config_map("a");
        changed["data"]["key"] = json!("changed");
        folder.write("in/a.yaml", &changed.to_string());
        folder.write("in/c.yaml", &config_map("c").to_string());
        let file = folder.path().join("shop.plan").to_str().unwrap().to_owned();
        let planned = Self { world, folder, file };
        planned.plan();
        planned
    }

    fn input(&self) -> String {
        format!("{}/in", self.folder.arg())
    }

    fn plan(&self) {
        let done =
            self.world.settle(&["plan", "--set", "shop", "-f", &self.input(), "--out", &self.file]).run();
        done.exits_with(0);
        assert!(done.stderr.contains("the plan is saved"), "{}", done.stderr);
    }

    /// Objects of the set, each with its value.
    fn live(&self) -> Vec<Value> {
        ["a", "b", "c"].map(|name| self.world.get("v1", "configmaps", name)["data"]["key"].clone()).to_vec()
    }

    /// The plan is refused, says why, and nothing is written.
    #[track_caller]
    fn is_refused(&self, why: &str) {
        let (before, mark) = (self.live(), self.world.requests().writes().resource("configmaps").count());
        let done = self.world.settle(&["apply", &self.file]).run();
        done.exits_with(5);
        let said = format!("{}{}", done.stdout, done.stderr);
        assert!(said.contains(why) && said.contains("make a new plan"), "{why:?} is not in {said}");
        assert_eq!(self.live(), before);
        let after = self.world.requests().writes().resource("configmaps");
        assert_eq!(after.count(), mark, "{after}");
    }
}

fn a_saved_plan_is_carried_out_as_it_was_made() {
    let planned = Planned::new("agreed");
    let lines = planned.world.settle(&["apply", &planned.file]).json();
    assert_eq!(lines.all_settled(), 3);
    assert_eq!((lines.outcome("ConfigMap/a"), lines.outcome("ConfigMap/c")), ("configured", "created"));
    assert_eq!(planned.live(), [json!("changed"), Value::Null, json!("value")]);
    // It was carried out: now it is stale.
    planned.is_refused("was written since by another run");
}

fn a_saved_plan_is_refused_when_anything_has_moved() {
    let planned = Planned::new("moved");
    let (ns, input) = (&planned.world.ns, planned.input());
    // On the cluster.
    ns.kubectl(&["annotate", "configmap", "a", "by=hand"]).success();
    planned.is_refused("configmap/a in");
    planned.plan();
    ns.kubectl(&["delete", "configmap", "b"]).success();
    planned.is_refused("configmap/b in");
    planned.plan();
    ns.kubectl(&["create", "configmap", "c"]).success();
    planned.is_refused("exists on the cluster now");
    ns.kubectl(&["delete", "configmap", "c"]).success();
    planned.plan();
    // In the input.
    planned.folder.write("in/d.yaml", &config_map("d").to_string());
    planned.is_refused("configmap/d in");
    fs::remove_file(format!("{input}/d.yaml")).unwrap();
    planned.folder.write("in/c.yaml", &config_map("c").to_string().replace("value", "other"));
    planned.is_refused("has another manifest");
    fs::remove_file(format!("{input}/c.yaml")).unwrap();
    planned.is_refused("configmap/c in");
    planned.folder.write("in/c.yaml", &config_map("c").to_string());
    // In the record.
    ns.kubectl(&["annotate", "configmap", "shop", "by=hand"]).success();
    planned.is_refused("the inventory");
    planned.plan();
    assert_eq!(planned.world.settle(&["apply", &planned.file]).json().all_settled(), 2);
}

fn a_saved_plan_holds_no_secret_and_names_its_input() {
    let world = World::new("secret");
    let folder = Folder::new(shared());
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" }, "stringData": { "k": "canary-7261" },
    });
    let input = folder.write("s.yaml", &secret.to_string());
    let file = folder.path().join("s.plan");
    let words = ["plan", "-f", input.to_str().unwrap(), "--out", file.to_str().unwrap()];
    world.settle(&words).run().exits_with(0);
    let text = folder.read("s.plan");
    assert!(!text.contains("canary") && !text.contains("Y2FuYXJ5"), "{text}");
    let plan: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(plan["flags"]["input"][0]["path"], input.to_str().unwrap());
    assert_eq!(plan["plan"]["objects"][0]["live"], "absent");
    // A file that is no plan is not replaced by one.
    let done = world.settle(&["plan", "-f", words[2], "--out", words[2]]).run();
    done.exits_with(2);
    assert!(done.stderr.contains("is no plan: it is not replaced"), "{}", done.stderr);
    // The input may have moved house, not changed.
    let moved = folder.write("elsewhere/s.yaml", &secret.to_string());
    fs::remove_file(&input).unwrap();
    world.settle(&["apply", words[4]]).run().exits_with(2);
    world.settle(&["apply", words[4], "-f", moved.to_str().unwrap()]).run().exits_with(0);
}

fn a_saved_plan_settles_its_flags() {
    let planned = Planned::new("flags");
    for flag in [
        "--set=other",
        "--force-conflicts",
        "--prune-max=3",
        "--cascade=orphan",
        "--field-manager=me",
        "--recreate=job",
    ] {
        let done = planned.world.settle(&["apply", &planned.file, flag]).run();
        done.exits_with(2);
        assert!(done.stderr.contains("cannot be given with a plan"), "{flag}: {}", done.stderr);
    }
    let done = planned.world.settle(&["apply", &planned.file]).env("KUBESETTLE_FIELD_MANAGER", "me").run();
    done.exits_with(0);
    let fields = planned.world.get("v1", "configmaps", "c")["metadata"]["managedFields"].clone();
    assert_eq!(fields[0]["manager"], "kubesettle");
    let broken =
        planned.folder.write("b.plan", &planned.folder.read("shop.plan").replace("\"flags\"", "\"flogs\""));
    let done = planned.world.settle(&["apply", broken.to_str().unwrap()]).run();
    done.exits_with(2);
    assert!(done.stderr.contains("is no plan that this program understands"), "{}", done.stderr);
}

fn a_saved_plan_of_a_destroy_deletes() {
    let planned = Planned::new("destroyed");
    let words = ["plan", "--destroy", "--set", "shop", "--out", &planned.file];
    planned.world.settle(&words).run().exits_with(0);
    assert_eq!(planned.world.settle(&["apply", &planned.file]).json().all_settled(), 2);
    assert_eq!(planned.live(), [Value::Null, Value::Null, Value::Null]);
}

fn a_plan_that_would_fail_is_not_saved() {
    let world = World::new("refused");
    let folder = Folder::new(shared());
    let mut wrong = deployment("web");
    wrong["spec"]["replicas"] = json!("many");
    let input = folder.write("in.yaml", &wrong.to_string());
    let file = folder.path().join("in.plan");
    let done = world.settle(&["plan", "-f", input.to_str().unwrap(), "--out", file.to_str().unwrap()]).run();
    done.exits_with(1);
    assert!(!file.exists() && done.stderr.contains("the plan is not saved"), "{}", done.stderr);
}

fn an_object_that_appears_while_a_plan_is_carried_out_is_left_alone() {
    let world = World::new("race");
    let folder = Folder::new(shared());
    // The second waits for the first, which takes its time.
    let mut slow = e2e::manifests::deployment_that("slow", "slow-ready");
    slow["spec"]["template"]["metadata"]["annotations"]["kubesettle.test/delay"] = json!("5s");
    let after = e2e::manifests::depending(
        config_map("late"),
        &format!("apps/namespaces/{}/Deployment/slow", world.name()),
    );
    let input = folder.write("in.yaml", &stream(&[slow, after]));
    let file = folder.path().join("in.plan");
    let file = file.to_str().unwrap();
    world.settle(&["plan", "-f", input.to_str().unwrap(), "--out", file]).run().exits_with(0);
    let running = world.settle(&["apply", file, "-o", "json"]).start();
    running.wait_for_output("\"have\":0,\"want\":1", e2e::SOON);
    world.ns.kubectl(&["create", "configmap", "late", "--from-literal=other=theirs"]).success();
    let lines = e2e::Lines::of(running.finish(e2e::LIMIT));
    lines.exits_with(1);
    assert_eq!(lines.failure("ConfigMap/late").0, "Replaced", "{lines:#}");
    assert_eq!(world.get("v1", "configmaps", "late")["data"], json!({ "other": "theirs" }));
}

fn a_saved_plan_of_a_part_of_a_kustomization_is_of_that_part() {
    let (world, folder) = (World::new("overlay"), Folder::new(shared()));
    let mut web = config_map("web");
    web["metadata"]["labels"] = json!({ "app": "web" });
    folder.script("kubectl", &format!("echo '{web}'\necho ---\necho '{}'\n", config_map("db")));
    let file = folder.path().join("part.plan").to_str().unwrap().to_owned();
    let settle = |words: &[&str]| world.settle(words).env("PATH", folder.arg());
    settle(&["plan", "-k", "over/lay", "-l", "app=web", "--out", &file]).run().exits_with(0);
    let done = settle(&["apply", &file, "-l", "app=db"]).run();
    done.exits_with(2);
    assert!(done.stderr.contains("--selector"), "{}", done.stderr);
    assert_eq!(settle(&["apply", &file, "-o", "name"]).run().success(), "configmap/web\n");
    assert!(world.get("v1", "configmaps", "db").is_null());
}
