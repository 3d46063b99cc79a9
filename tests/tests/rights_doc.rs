//! The roles of docs/rights.md do what the page says.

use e2e::World;
use e2e::manifests::{config_map, deployment, stream};
use harness::{User, shared};
use serde_json::{Value, json};

tests![f18_the_roles_of_the_page_are_enough, f18_without_a_lease_or_a_record];

/// The role of this name, as the page has it.
fn role(name: &str) -> Value {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/rights.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut roles = blocks.map(|block| serde_saphyr::from_str::<Value>(block).unwrap());
    roles.find(|role| role["metadata"]["name"] == name).unwrap_or_else(|| panic!("no role {name}"))
}

/// A user with the rules of a role in the world's namespace.
fn user(world: &World, role: &Value) -> User<'static> {
    let mut user = shared().user("page");
    for rule in role["rules"].as_array().unwrap() {
        let words = |key: &str| -> Vec<&str> {
            rule[key].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
        };
        let group = words("apiGroups")[0];
        let resources: Vec<String> = words("resources")
            .into_iter()
            .map(|name| if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") })
            .collect();
        let resources: Vec<&str> = resources.iter().map(String::as_str).collect();
        user = user.can(&words("verbs"), &resources, world.name());
    }
    user.build()
}

/// Nothing was refused, and nothing was asked for outside of the namespace but discovery.
#[track_caller]
fn stayed_inside(world: &World, user: &User<'_>) {
    let all = shared().requests().user(user.name());
    let outside = all.filter(|request| request.namespace != world.name() && !request.resource.is_empty());
    assert_eq!(outside.count(), 0, "{outside}");
    let refused = shared().requests().user(user.name()).code(403);
    assert_eq!(refused.count(), 0, "{refused}");
}

fn f18_the_roles_of_the_page_are_enough() {
    let world = World::new("page");
    let both = stream(&[config_map("a"), deployment("web")]);
    let one = stream(&[deployment("web")]);
    let call = |user: &User<'_>, words: &[&str]| world.settle(words).kubeconfig(user.kubeconfig());

    let plain = user(&world, &role("apply"));
    call(&plain, &["plan"]).input(both.clone()).run().exits_with(0);
    call(&plain, &["diff"]).input(both.clone()).run().exits_with(1);
    assert_eq!(call(&plain, &["apply"]).input(both.clone()).json().all_settled(), 2);
    call(&plain, &["diff"]).input(both.clone()).run().exits_with(0);
    stayed_inside(&world, &plain);

    let set = user(&world, &role("apply-set"));
    let adopt = ["apply", "--set=shop", "--inventory-policy=adopt"];
    assert_eq!(call(&set, &adopt).input(both).json().all_settled(), 2);
    let pruned = call(&set, &["apply", "--set=shop"]).input(one).json();
    assert_eq!((pruned.all_settled(), pruned.outcome("ConfigMap/a")), (2, "deleted"));
    stayed_inside(&world, &set);

    let reader = user(&world, &role("status"));
    assert_eq!(call(&reader, &["status", "--set=shop"]).json().all_settled(), 1);
    call(&reader, &["inventory", "show", "--set=shop"]).run().exits_with(0);
    call(&reader, &["inventory", "list"]).run().exits_with(0);
    stayed_inside(&world, &reader);

    let last = user(&world, &role("destroy-set"));
    assert_eq!(call(&last, &["destroy", "--set=shop"]).json().all_settled(), 1);
    stayed_inside(&world, &last);
    assert!(world.get("v1", "configmaps", "shop").is_null());
}

fn f18_without_a_lease_or_a_record() {
    let world = World::new("less");
    let set = stream(&[config_map("a")]);
    let mut without = role("apply-set");
    without["rules"].as_array_mut().unwrap().retain(|rule| rule["resources"] != json!(["leases"]));
    let no_lease = user(&world, &without);
    let done =
        world.settle(&["apply", "--set=shop"]).kubeconfig(no_lease.kubeconfig()).input(set.clone()).run();
    done.exits_with(0);
    let said = format!("{}{}", done.stdout, done.stderr);
    assert!(said.contains("no lock on the set"), "{said}");
    // Who may not read the record writes nothing.
    for rule in without["rules"].as_array_mut().unwrap() {
        if rule["resources"] == json!(["configmaps"]) {
            rule["verbs"] = json!(["create", "patch"]);
        }
    }
    let blind = user(&world, &without);
    let done = world.settle(&["apply", "--set=shop"]).kubeconfig(blind.kubeconfig()).input(set).run();
    assert!(matches!(done.code, Some(1 | 4 | 5)), "{:?}", done.code);
    assert!(
        format!("{}{}", done.stdout, done.stderr).contains("cannot read the inventory"),
        "{}",
        done.stderr
    );
    let writes = shared().requests().user(blind.name()).writes().filter(|request| request.code < 300);
    assert_eq!(writes.count(), 0, "{writes}");
}
