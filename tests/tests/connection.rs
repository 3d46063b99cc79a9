//! Which cluster, as whom, in which namespace: flags and kubeconfigs as kubectl has them.

use std::path::PathBuf;

use e2e::manifests::{config_map, deployment, deployment_that, stream};
use e2e::{Folder, LIMIT, Lines, SOON, World, get, named, settle};
use harness::{Requests, User, shared, wait_until};

tests![
    a_context_is_chosen_by_name,
    a_namespace_comes_from_the_flag_or_from_the_context,
    the_flag_for_the_kubeconfig_wins_over_the_environment,
    a_list_of_kubeconfigs_is_merged_and_missing_files_are_passed_over,
    a_token_and_a_server_are_enough,
    somebody_is_impersonated,
    a_credential_plugin_is_run_once,
    f35_a_credential_plugin_that_fails_is_named,
    f35_a_credential_plugin_is_asked_again_when_its_token_is_rejected,
    a_token_file_is_read,
    f35_a_token_file_that_is_rewritten_is_read_again_when_its_token_is_rejected,
    requests_have_a_user_agent_and_a_field_manager,
];

fn set() -> String {
    stream(&[config_map("a")])
}

/// A kubeconfig with one context for each of some users, the last of them current.
fn contexts(folder: &Folder, users: &[(&str, String, &str)]) -> PathBuf {
    let mut text = format!(
        "apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster: {{server: '{}', certificate-authority: '{}'}}\nusers:\n",
        shared().url(),
        shared().ca_path().display()
    );
    for (name, token, _) in users {
        text += &format!("- name: {name}\n  user: {{token: '{token}'}}\n");
    }
    text += "contexts:\n";
    for (name, _, namespace) in users {
        text += &format!(
            "- name: as-{name}\n  context: {{cluster: c, user: {name}, namespace: '{namespace}'}}\n"
        );
    }
    text += &format!("current-context: as-{}\n", users.last().unwrap().0);
    folder.write("contexts.yaml", &text)
}

fn requests(user: &User<'_>) -> Requests {
    shared().requests().user(user.name())
}

fn a_context_is_chosen_by_name() {
    let (one, two) = (World::new("one"), World::new("two"));
    let folder = Folder::new(shared());
    let config =
        contexts(&folder, &[("one", one.user.token(), one.name()), ("two", two.user.token(), two.name())]);
    let call = |words: &[&str]| settle(shared(), words).kubeconfig(&config).input(set()).json();
    assert_eq!(call(&["apply"]).all_settled(), 1);
    assert_eq!((one.requests().count(), two.requests().writes().count()), (0, 1));
    assert_eq!(call(&["apply", "--context=as-one"]).all_settled(), 1);
    assert_eq!((one.requests().writes().count(), two.requests().writes().count()), (1, 1));
    for world in [&one, &two] {
        assert!(!world.get("v1", "configmaps", "a").is_null());
    }
    // Another user in the same place.
    let done = call(&["destroy", "--context=as-one", "--user=two"]);
    assert_eq!(done.outcome(&format!("ConfigMap/{}/a", one.name())), "deleted");
    assert_eq!((one.requests().writes().count(), two.requests().writes().count()), (1, 2));
}

fn a_namespace_comes_from_the_flag_or_from_the_context() {
    let (world, other) = (World::new("here"), World::new("there"));
    let folder = Folder::new(shared());
    let config = contexts(&folder, &[("me", world.user.token(), world.name())]);
    let call = |words: &[&str]| settle(shared(), words).kubeconfig(&config).input(set()).json();
    call(&["apply", "-n", other.name()]).all_settled();
    assert!(!other.get("v1", "configmaps", "a").is_null());
    assert!(world.get("v1", "configmaps", "a").is_null());
    call(&["apply"]).all_settled();
    assert!(!world.get("v1", "configmaps", "a").is_null());
}

fn the_flag_for_the_kubeconfig_wins_over_the_environment() {
    let world = World::new("flag");
    let path = world.user.kubeconfig().to_str().unwrap();
    let words = ["apply", "--kubeconfig", path, "-n", world.name()];
    let lines = settle(shared(), &words).kubeconfig("/no/such/file").input(set()).json();
    lines.all_settled();
    assert_eq!(world.requests().writes().count(), 1);
    let done = settle(shared(), &["apply", "--kubeconfig=/no/such/file"]).input(set()).run();
    done.exits_with(2);
    assert!(done.stderr.contains("/no/such/file"), "{}", done.stderr);
}

fn a_list_of_kubeconfigs_is_merged_and_missing_files_are_passed_over() {
    let world = World::new("list");
    let folder = Folder::new(shared());
    let context = folder.write(
        "context.yaml",
        &format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: mine\ncontexts:\n- name: mine\n  context: {{cluster: c, user: me, namespace: {}}}\n",
            world.name()
        ),
    );
    let rest = contexts(&folder, &[("me", world.user.token(), "default")]);
    let list = format!("/no/such/file:{}:{}", context.display(), rest.display());
    settle(shared(), &["apply"]).kubeconfig(list).input(set()).json().all_settled();
    assert!(!world.get("v1", "configmaps", "a").is_null());
    assert_eq!(world.requests().writes().count(), 1);
}

fn a_token_and_a_server_are_enough() {
    let world = World::new("bare");
    let folder = Folder::new(shared());
    let empty = folder.write("kubeconfig", "");
    let (token, ca) = (world.user.token(), shared().ca_path().to_str().unwrap());
    let words = ["apply", "-n", world.name(), "-s", shared().url(), "--token", &token];
    let call = |more: &[&str]| settle(shared(), &words).args(more).kubeconfig(&empty).input(set()).run();
    call(&["--certificate-authority", ca]).exits_with(0);
    call(&["--insecure-skip-tls-verify"]).exits_with(0);
    call(&["--certificate-authority", ca, "--tls-server-name=localhost"]).exits_with(0);
    call(&["--certificate-authority", ca, "--tls-server-name=elsewhere.example"]).exits_with(6);
    call(&[]).exits_with(6);
    assert_eq!(world.requests().writes().count(), 3);
}

fn somebody_is_impersonated() {
    let world = World::new("as");
    let account = format!("system:serviceaccount:{}:default", world.name());
    let subject = format!("--serviceaccount={}:default", world.name());
    world.ns.kubectl(&["create", "rolebinding", "may", "--clusterrole=edit", &subject]).success();
    let lines = world.settle(&["apply", "--as", &account]).input(set()).json();
    lines.all_settled();
    // The audit log names who asked; what was written tells for whom.
    assert!(world.requests().verb("patch").count() >= 1);
    let mut secret = config_map("mine");
    secret["kind"] = "Role".into();
    secret["apiVersion"] = "rbac.authorization.k8s.io/v1".into();
    secret.as_object_mut().unwrap().remove("data");
    secret["rules"] = serde_json::json!([]);
    let lines = world.settle(&["apply", "--as", &account]).input(stream(&[secret.clone()])).json();
    lines.exits_with(1);
    let (code, error) = lines.failure("Role/mine");
    assert_eq!(code, "Forbidden");
    assert!(error.contains(&account), "{error}");
    let words = ["apply", "--as=somebody", "--as-group=system:masters"];
    world.settle(&words).input(stream(&[secret])).json().all_settled();
}

/// A kubeconfig whose user comes from a plugin: a script that notes each of its calls.
fn plugin(folder: &Folder, namespace: &str, script: &str) -> PathBuf {
    let calls = folder.path().join("calls");
    let script = folder.script("plugin", &format!("echo call >> '{}'\n{script}\n", calls.display()));
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters:\n- name: c\n  cluster: {{server: '{}', certificate-authority: '{}'}}\ncontexts:\n- name: x\n  context: {{cluster: c, user: u, namespace: {namespace}}}\nusers:\n- name: u\n  user:\n    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: '{}'\n      interactiveMode: Never\n",
        shared().url(),
        shared().ca_path().display(),
        script.display()
    );
    folder.write("kubeconfig", &text)
}

fn credential(token: &str) -> String {
    format!(
        r#"echo '{{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{{"token":"{token}"}}}}'"#
    )
}

fn a_credential_plugin_is_run_once() {
    let world = World::new("plugin");
    let folder = Folder::new(shared());
    let config = plugin(&folder, world.name(), &credential(&world.user.token()));
    let set = stream(&[config_map("a"), config_map("b"), deployment("web")]);
    let lines = settle(shared(), &["apply"]).kubeconfig(config).input(set).json();
    assert_eq!(lines.all_settled(), 3);
    assert_eq!(folder.read("calls"), "call\n");
    assert_eq!(world.requests().writes().count(), 3);
}

fn f35_a_credential_plugin_that_fails_is_named() {
    let world = World::new("plugin");
    let folder = Folder::new(shared());
    let config = plugin(&folder, world.name(), "echo 'please log in' >&2; exit 7");
    let done = settle(shared(), &["apply"]).kubeconfig(config).input(set()).run();
    done.exits_with(6);
    for part in ["plugin", "please log in"] {
        assert!(done.stderr.contains(part), "{part:?} in\n{}", done.stderr);
    }
    let config = plugin(&folder, world.name(), "echo 'no JSON'");
    let done = settle(shared(), &["apply"]).kubeconfig(config).input(set()).run();
    done.exits_with(6);
    assert!(done.stderr.contains("plugin"), "{}", done.stderr);
}

/// The first credential is good until the Secret it is bound to is deleted.
fn f35_a_credential_plugin_is_asked_again_when_its_token_is_rejected() {
    let (world, proxy) = (World::new("plugin"), shared().proxy());
    world.ns.kubectl(&["create", "secret", "generic", "session"]).success();
    let subject = format!("--serviceaccount={}:default", world.name());
    world.ns.kubectl(&["create", "rolebinding", "may", "--clusterrole=edit", &subject]).success();
    let bound = ["create", "token", "default", "--bound-object-kind=Secret", "--bound-object-name=session"];
    let bound = world.ns.kubectl(&bound).success();
    let folder = Folder::new(shared());
    let script = format!(
        "if [ $(wc -l < '{}') = 1 ]; then\n{}\nelse\n{}\nfi",
        folder.path().join("calls").display(),
        credential(bound.trim()),
        credential(&world.user.token())
    );
    let config = plugin(&folder, world.name(), &script);
    let mut slow = deployment_that("web", "slow-ready");
    slow["spec"]["template"]["metadata"]["annotations"]["kubesettle.test/delay"] = "30s".into();
    let words = ["apply", "-o", "json", "-s", &proxy.url()];
    let running = settle(shared(), &words).kubeconfig(config).input(stream(&[slow])).start();
    running.wait_for_output("\"have\":0,\"want\":1", SOON);
    world.ns.kubectl(&["delete", "secret", "session"]).success();
    let account = format!("--token={}", bound.trim());
    wait_until("the server to forget the first token", SOON, || {
        let look = settle(shared(), &["status", &account]).args(["-n", world.name()]).input(set()).run();
        look.code == Some(6)
    });
    proxy.cut();
    let lines = Lines::of(running.finish(LIMIT));
    assert_eq!(lines.all_settled(), 1);
    assert_eq!(folder.read("calls"), "call\ncall\n");
    // What came after was asked for with the second.
    assert!(world.requests().verb("watch").count() >= 1);
}

fn a_token_file_is_read() {
    let world = World::new("file");
    let folder = Folder::new(shared());
    let token = folder.write("token", &format!("{}\n", world.user.token()));
    let text = std::fs::read_to_string(world.user.kubeconfig()).unwrap();
    let text =
        text.replace(&format!("token: {}", world.user.token()), &format!("tokenFile: {}", token.display()));
    assert!(text.contains("tokenFile"));
    let config = folder.write("kubeconfig", &text);
    let lines = settle(shared(), &["apply", "-n", world.name()]).kubeconfig(config).input(set()).json();
    lines.all_settled();
}

/// The first token is good until the Secret it is bound to is deleted; the file has another by then.
fn f35_a_token_file_that_is_rewritten_is_read_again_when_its_token_is_rejected() {
    let (world, proxy) = (World::new("rewritten"), shared().proxy());
    world.ns.kubectl(&["create", "secret", "generic", "session"]).success();
    let subject = format!("--serviceaccount={}:default", world.name());
    world.ns.kubectl(&["create", "rolebinding", "may", "--clusterrole=edit", &subject]).success();
    let bound = ["create", "token", "default", "--bound-object-kind=Secret", "--bound-object-name=session"];
    let bound = world.ns.kubectl(&bound).success();
    let folder = Folder::new(shared());
    let token = folder.write("token", bound.trim());
    let text = std::fs::read_to_string(world.user.kubeconfig()).unwrap();
    let from = format!("token: {}", world.user.token());
    let config = folder.write("kubeconfig", &text.replace(&from, &format!("tokenFile: {}", token.display())));
    let mut slow = deployment_that("web", "slow-ready");
    slow["spec"]["template"]["metadata"]["annotations"]["kubesettle.test/delay"] = "30s".into();
    let words = ["apply", "-o", "json", "-n", world.name(), "-s", &proxy.url()];
    let running = settle(shared(), &words).kubeconfig(config).input(stream(&[slow])).start();
    running.wait_for_output("\"have\":0,\"want\":1", SOON);
    folder.write("token", &world.user.token());
    world.ns.kubectl(&["delete", "secret", "session"]).success();
    let account = format!("--token={}", bound.trim());
    wait_until("the server to forget the first token", SOON, || {
        let look = settle(shared(), &["status", &account]).args(["-n", world.name()]).input(set()).run();
        look.code == Some(6)
    });
    proxy.cut();
    let lines = Lines::of(running.finish(LIMIT));
    assert_eq!(lines.all_settled(), 1);
    assert!(world.requests().verb("watch").count() >= 1, "the new token was used");
}

fn requests_have_a_user_agent_and_a_field_manager() {
    let world = World::new("agent");
    world.settle(&["apply"]).input(set()).json().all_settled();
    let all = requests(&world.user);
    assert_eq!(all.clone().user_agent("kubectl-settle/").count(), all.count(), "{all}");
    let manager = |name: &str| {
        let object = get(shared(), &named("v1", world.name(), "configmaps", name));
        object["metadata"]["managedFields"][0]["manager"].clone()
    };
    assert_eq!(manager("a"), "kubesettle");
    let other = world.settle(&["apply", "--field-manager=team-a"]).input(stream(&[config_map("b")])).run();
    Lines::of(settle(shared(), &["status", "-o", "json"]).args(["-n", world.name()]).input(set()).run());
    other.exits_with(0);
    assert_eq!(manager("b"), "team-a");
}
