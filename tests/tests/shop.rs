//! The life of `examples/shop`: applied, applied again, changed, destroyed, destroyed again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use e2e::{Folder, get, settle, unique};
use harness::shared;
use serde_json::Value;

tests![
    the_example_is_applied_again_changed_and_destroyed,
    a_shop_is_told_in_plain_lines,
    a_shop_is_told_in_the_lines_of_events,
    a_destroyed_shop_goes_dependents_first,
];

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("examples/shop")
}

/// The example under another name: its namespace, and the group of its custom kind.
struct Shop {
    folder: Folder,
    name: String,
}

impl Shop {
    fn new() -> Self {
        let name = unique("shop");
        let folder = Folder::new(shared());
        folder.copy(&example(), |file, text| {
            let text = text
                .replace("namespace: shop\n", &format!("namespace: {name}\n"))
                .replace("namespaces/shop/", &format!("namespaces/{name}/"))
                .replace("shop.example.com", &format!("{name}.example.com"));
            match file {
                "namespace.yaml" => text.replace("  name: shop\n", &format!("  name: {name}\n")),
                _ => text,
            }
        });
        Self { folder, name }
    }

    fn path(&self) -> &str {
        self.folder.arg()
    }
}

/// Every object of a folder as it is on the cluster, by kind and name.
fn objects(folder: &str) -> BTreeMap<String, Value> {
    let list = shared().kubectl(&["get", "-f", folder, "-o", "json"]).success();
    let list: Value = serde_json::from_str(&list).unwrap();
    let name = |object: &Value| format!("{}/{}", object["kind"], object["metadata"]["name"]).replace('"', "");
    list["items"].as_array().unwrap().iter().map(|object| (name(object), object.clone())).collect()
}

/// What shows that somebody wrote an object.
fn versions(objects: &BTreeMap<String, Value>) -> BTreeMap<String, (String, Value)> {
    let version = |name: &String, object: &Value| {
        let metadata = &object["metadata"];
        // An autoscaler's controller writes its status whenever it likes.
        let written = match name.starts_with("HorizontalPodAutoscaler/") {
            true => &Value::Null,
            false => &metadata["resourceVersion"],
        };
        (written.to_string(), metadata["generation"].clone())
    };
    objects.iter().map(|(name, object)| (name.clone(), version(name, object))).collect()
}

fn the_example_is_applied_again_changed_and_destroyed() {
    let plane = shared();
    let folder = Folder::new(plane);
    folder.copy(&example(), |_, text| text);

    let first = settle(plane, &["apply", "-f", example().to_str().unwrap()]).json();
    let count = first.all_settled();
    let before = objects(folder.arg());
    assert_eq!(before.len() as u64, count);
    for name in before.keys() {
        assert_eq!((first.outcome(name), first.conclusion(name)), ("created", "Settled"), "{first:#}");
    }
    first.in_order(("wait", "StatefulSet/database", "Successful"), ("apply", "Deployment/web", "Pending"));
    first.in_order(
        ("wait", "CustomResourceDefinition/discounts.shop.example.com", "Successful"),
        ("apply", "Discount/welcome", "Pending"),
    );

    let again = settle(plane, &["apply", "-f", folder.arg()]).json();
    assert_eq!(again.all_settled(), count);
    assert_eq!(again.summary("Apply")["unchanged"], count, "{again:#}");
    assert_eq!(versions(&objects(folder.arg())), versions(&before));

    let web = folder.read("web.yaml").replace("replicas: 3", "replicas: 2");
    folder.write("web.yaml", &web);
    let changed = settle(plane, &["apply", "-f", folder.arg()]).json();
    changed.all_settled();
    assert_eq!(changed.outcome("Deployment/web"), "configured", "{changed:#}");
    assert_eq!(changed.summary("Apply")["unchanged"], count - 1, "{changed:#}");
    let after = objects(folder.arg());
    assert_eq!(after["Deployment/web"]["status"]["availableReplicas"], 2);
    let (mut after, mut before) = (versions(&after), versions(&before));
    // The budget's controller counts the pods of the Deployment.
    for name in ["Deployment/web", "PodDisruptionBudget/web"] {
        assert!(after.remove(name).is_some() && before.remove(name).is_some());
    }
    assert_eq!(after, before);

    let destroyed = settle(plane, &["destroy", "-f", folder.arg()]).json();
    assert_eq!(destroyed.all_settled(), count);
    assert_eq!(get(plane, "/api/v1/namespaces/shop"), Value::Null);
    let definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/discounts.shop.example.com";
    assert_eq!(get(plane, definition), Value::Null);

    let again = settle(plane, &["destroy", "-f", folder.arg()]).json();
    assert_eq!(again.all_settled(), count);
    assert_eq!(again.summary("Delete")["alreadyGone"], count, "{again:#}");
}

fn a_shop_is_told_in_plain_lines() {
    let shop = Shop::new();
    let first = settle(shared(), &["apply", "-f", shop.path()]).run();
    first.exits_with(0);
    let count = objects(shop.path()).len();
    let lines: Vec<_> = first.stdout.lines().collect();
    assert!(lines[0].starts_with(&format!("applying {count} objects in 1 namespace")), "{}", first.stdout);
    let settled =
        |name: &str| lines.iter().any(|line| line.contains(&format!("{name} ")) && line.contains("settled"));
    for name in ["deployment.apps/web", "statefulset.apps/database", "job.batch/migrate-schema"] {
        assert!(settled(name), "{name}\n{}", first.stdout);
    }
    let totals = format!("{count} applied: {count} created.  {count} settled, in ");
    assert!(lines.last().unwrap().starts_with(&totals), "{totals}\n{}", first.stdout);
    assert_eq!(first.stderr, "");

    let again = settle(shared(), &["apply", "-f", shop.path()]).run();
    let totals = format!("{count} applied: {count} unchanged.  {count} settled, in ");
    assert!(again.success().lines().last().unwrap().starts_with(&totals));

    let look = settle(shared(), &["status", "-f", shop.path()]).run().success();
    assert!(look.contains(&format!("{count} objects: {count} settled, in ")), "{look}");

    let quiet = settle(shared(), &["destroy", "--quiet", "-f", shop.path()]).run();
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (Some(0), "", ""));
    let look = settle(shared(), &["status", "-f", shop.path()]).run().success();
    assert!(look.contains(&format!("{count} objects: {count} not found, in ")), "{look}");
}

fn a_shop_is_told_in_the_lines_of_events() {
    let shop = Shop::new();
    let applied = settle(shared(), &["apply", "-o", "events", "-f", shop.path()]).run().success();
    let count = objects(shop.path()).len();
    let times = |text: &str, end: &str| text.lines().filter(|line| line.ends_with(end)).count();
    assert_eq!(times(&applied, " apply successful"), count, "{applied}");
    assert_eq!(times(&applied, " reconcile successful"), count, "{applied}");
    assert!(applied.contains("deployment.apps/web apply successful\n"), "{applied}");
    assert!(applied.contains("statefulset.apps/database reconcile pending\n"), "{applied}");
    let totals = format!(
        "apply result: {count} attempted, {count} successful, 0 skipped, 0 failed\n\
         reconcile result: {count} attempted, {count} successful, 0 skipped, 0 failed, 0 timed out\n"
    );
    assert!(applied.ends_with(&totals), "{applied}");

    let gone = settle(shared(), &["destroy", "-o", "events", "-f", shop.path()]).run().success();
    assert_eq!(times(&gone, " delete successful"), count, "{gone}");
    assert_eq!(times(&gone, " reconcile successful"), count, "{gone}");
    assert!(
        gone.contains(&format!(
            "delete result: {count} attempted, {count} successful, 0 skipped, 0 failed\n"
        ))
    );
}

fn a_destroyed_shop_goes_dependents_first() {
    let shop = Shop::new();
    settle(shared(), &["apply", "-f", shop.path()]).json().all_settled();
    let gone = settle(shared(), &["destroy", "-f", shop.path()]).json();
    gone.all_settled();
    let definition = format!("CustomResourceDefinition/discounts.{}.example.com", shop.name);
    let namespace = format!("Namespace/{}", shop.name);
    for (first, then) in [
        ("Deployment/web", "StatefulSet/database"),
        ("Job/migrate-schema", "StatefulSet/database"),
        ("Discount/welcome", &definition),
        ("Deployment/web", &namespace),
        ("Secret/database", &namespace),
    ] {
        gone.in_order(("wait", first, "Successful"), ("delete", then, "Pending"));
    }
}
