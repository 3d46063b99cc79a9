//! Users with few rights: their objects settle, and nobody is asked for more than is needed.

use e2e::manifests::{config_map, deployment, deployment_that, job, stream, within};
use e2e::{Lines, SOON, Settle, get, settle};
use harness::{Mark, Namespace, Request, Requests, User, shared};
use serde_json::{Value, json};

tests![
    f18_rights_in_one_namespace_are_enough,
    f18_an_object_in_a_forbidden_namespace_fails_alone,
    f18_without_list_and_watch_objects_are_polled_by_name,
    f18_without_watch_the_failure_is_explained_too,
    f18_without_watch_a_deletion_is_noticed_too,
    f18_rights_on_names_alone_are_enough,
    f18_a_reader_can_look,
    f18_what_may_not_be_seen_is_unknown,
    f18_what_may_not_be_written_is_forbidden,
    f18_a_right_taken_away_in_mid_wait_leaves_the_others,
];

/// One test's namespace.
struct Place {
    ns: Namespace<'static>,
    mark: Mark,
}

impl Place {
    fn new() -> Self {
        Self { ns: shared().namespace("rights"), mark: shared().mark() }
    }

    fn name(&self) -> &str {
        self.ns.name()
    }

    fn settle(&self, user: &User<'_>, words: &[&str]) -> Settle {
        settle(shared(), words).args(["-n", self.name()]).kubeconfig(user.kubeconfig())
    }

    fn requests(&self, user: &User<'_>) -> Requests {
        shared().requests().since(self.mark).user(user.name())
    }
}

/// Paths that say what is served, and nothing about objects.
fn is_discovery(request: &Request) -> bool {
    request.resource.is_empty()
}

/// A set of many kinds.
fn shop() -> Vec<Value> {
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": "web" },
        "spec": { "selector": { "app": "web" }, "ports": [{ "port": 80 }] },
    });
    let account = json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "web" } });
    let mut database = deployment("database");
    database["kind"] = json!("StatefulSet");
    database["spec"]["serviceName"] = json!("database");
    vec![config_map("settings"), account, service, deployment("web"), database, job("migrate")]
}

fn f18_rights_in_one_namespace_are_enough() {
    let place = Place::new();
    let user = shared().user("owner").owns(place.name()).build();
    let set = stream(&shop());
    let lines = place.settle(&user, &["apply"]).input(set.clone()).json();
    assert_eq!(lines.all_settled(), 6);
    let again = place.settle(&user, &["apply"]).input(set.clone()).json();
    again.all_settled();
    assert_eq!(again.summary("Apply")["unchanged"], 6, "{again:#}");
    place.settle(&user, &["status"]).input(set.clone()).json().all_settled();
    assert_eq!(place.settle(&user, &["destroy"]).input(set).json().all_settled(), 6);
    let outside =
        place.requests(&user).filter(|request| request.namespace != place.name() && !is_discovery(request));
    assert_eq!(outside.count(), 0, "{outside}");
    let refused = place.requests(&user).code(403);
    assert_eq!(refused.count(), 0, "{refused}");
}

fn f18_an_object_in_a_forbidden_namespace_fails_alone() {
    let (place, other) = (Place::new(), shared().namespace("forbidden"));
    let user = shared().user("owner").owns(place.name()).build();
    let mut set: Vec<_> = shop().into_iter().map(|object| within(object, place.name())).collect();
    set.push(within(config_map("intruder"), other.name()));
    let lines = settle(shared(), &["apply"]).kubeconfig(user.kubeconfig()).input(stream(&set)).json();
    lines.exits_with(1);
    let (code, error) = lines.failure("ConfigMap/intruder");
    assert_eq!(code, "Forbidden");
    assert!(error.contains("cannot patch resource"), "{error}");
    assert_eq!(lines.summary("Total")["successful"], 6, "{lines:#}");
    let tries = place.requests(&user).namespace(other.name()).writes();
    assert_eq!(tries.count(), 1, "{tries}");
}

/// Everything in the place but to list and watch Deployments.
fn poller(place: &Place) -> User<'static> {
    shared()
        .user("poller")
        .can(&["get", "create", "patch", "delete"], &["deployments.apps"], place.name())
        .can(&["*"], &["configmaps", "pods"], place.name())
        .can(&["*"], &["replicasets.apps"], place.name())
        .build()
}

fn f18_without_list_and_watch_objects_are_polled_by_name() {
    let place = Place::new();
    let user = poller(&place);
    let mut slow = deployment_that("slow", "slow-ready");
    slow["spec"]["template"]["metadata"]["annotations"]["kubesettle.test/delay"] = json!("3s");
    let set = stream(&[deployment("web"), slow, config_map("a")]);
    let lines = place.settle(&user, &["apply"]).input(set.clone()).json();
    assert_eq!(lines.all_settled(), 3);
    assert_eq!(lines.outcome("Deployment/web"), "created");
    let polls = place.requests(&user).resource("deployments.apps").verb("get");
    assert!(polls.clone().name("web").count() >= 1 && polls.clone().name("slow").count() >= 2, "{polls}");
    // A note says so.
    assert!(lines.all("gap").chain(lines.all("warning")).count() >= 1, "{lines:#}");
    let again = place.settle(&user, &["apply"]).input(set.clone()).json();
    again.all_settled();
    assert_eq!(again.summary("Apply")["unchanged"], 3, "{again:#}");
    let gone = place.settle(&user, &["destroy"]).input(set).json();
    gone.all_settled();
    // What was not asked for yet is not taken for gone.
    assert_eq!(gone.summary("Delete")["deleted"], 3, "{gone:#}");
    assert_eq!(place.ns.kubectl(&["get", "deployments", "-o", "name"]).success(), "");
}

fn f18_without_watch_the_failure_is_explained_too() {
    let place = Place::new();
    let user = poller(&place);
    let image = e2e::manifests::annotated(
        deployment_that("image", "image-pull-backoff"),
        "kubesettle.io/hold",
        "ImagePullBackOff=0",
    );
    let lines = place.settle(&user, &["apply", "--timeout=60s"]).input(stream(&[image])).json();
    lines.exits_with(1);
    assert_eq!(lines.conclusion("Deployment/image"), "Failed");
    assert!(lines.message("Deployment/image").contains("ImagePullBackOff"), "{lines:#}");
}

fn f18_without_watch_a_deletion_is_noticed_too() {
    let place = Place::new();
    let user = poller(&place);
    let set = stream(&[deployment_that("stuck", "never-ready")]);
    let running = place.settle(&user, &["apply", "-o", "json", "--timeout=90s"]).input(set).start();
    running.wait_for_output("\"have\":0,\"want\":1", SOON);
    place.ns.kubectl(&["delete", "deployment", "stuck"]).success();
    let lines = Lines::of(running.finish(e2e::LIMIT));
    lines.exits_with(1);
    assert_eq!(
        (lines.status("Deployment/stuck"), lines.conclusion("Deployment/stuck")),
        ("NotFound", "Failed")
    );
}

fn f18_rights_on_names_alone_are_enough() {
    let place = Place::new();
    let verbs = &["get", "list", "watch", "patch", "delete"];
    // The right to create cannot be given by name.
    let user = shared()
        .user("named")
        .can_named(verbs, &["deployments.apps"], place.name(), &["web"])
        .can_named(verbs, &["configmaps"], place.name(), &["a", "b"])
        .can(&["create"], &["deployments.apps", "configmaps"], place.name())
        .build();
    let set = stream(&[deployment("web"), config_map("a"), config_map("b")]);
    let lines = place.settle(&user, &["apply"]).input(set.clone()).json();
    assert_eq!(lines.all_settled(), 3);
    assert_eq!(lines.summary("Apply")["created"], 3);
    place.settle(&user, &["destroy"]).input(set).json().all_settled();
}

fn f18_a_reader_can_look() {
    let place = Place::new();
    let owner = shared().user("owner").owns(place.name()).build();
    let set = stream(&shop());
    place.settle(&owner, &["apply"]).input(set.clone()).json().all_settled();
    let reader = shared().user("reader").can(&["get", "list", "watch"], &["*"], place.name()).build();
    let look = place.settle(&reader, &["status"]).input(set.clone()).json();
    assert_eq!(look.all_settled(), 6);
    let writes = place.requests(&reader).writes();
    assert_eq!(writes.count(), 0, "{writes}");
    // And no more than look.
    let lines = place.settle(&reader, &["apply"]).input(set).json();
    lines.exits_with(1);
    assert_eq!(lines.summary("Apply")["failed"], 6, "{lines:#}");
}

fn f18_what_may_not_be_seen_is_unknown() {
    let place = Place::new();
    let blind = shared().user("blind").can(&["get", "list", "watch"], &["configmaps"], place.name()).build();
    let set = stream(&[deployment("web"), config_map("a")]);
    place
        .settle(&shared().user("owner").owns(place.name()).build(), &["apply"])
        .input(set.clone())
        .json()
        .all_settled();
    let look = place.settle(&blind, &["status"]).input(set.clone()).json();
    look.exits_with(4);
    assert_eq!((look.status("Deployment/web"), look.conclusion("Deployment/web")), ("Unknown", "Unknown"));
    assert!(look.message("Deployment/web").contains("forbidden"), "{look:#}");
    assert_eq!(look.status("ConfigMap/a"), "Current");
    // Written, but not to be seen: nobody can tell.
    let writer = shared()
        .user("writer")
        .can(&["create", "patch"], &["deployments.apps"], place.name())
        .can(&["*"], &["configmaps"], place.name())
        .build();
    let mut web = deployment("web");
    web["spec"]["replicas"] = json!(2);
    let lines =
        place.settle(&writer, &["apply", "--force-conflicts"]).input(stream(&[web, config_map("a")])).json();
    lines.exits_with(4);
    assert_eq!((lines.outcome("Deployment/web"), lines.conclusion("Deployment/web")), ("applied", "Unknown"));
    assert_eq!(lines.conclusion("ConfigMap/a"), "Settled");
}

fn f18_what_may_not_be_written_is_forbidden() {
    let place = Place::new();
    let user = shared()
        .user("half")
        .can(&["*"], &["configmaps"], place.name())
        .can(&["get", "list", "watch", "patch"], &["deployments.apps"], place.name())
        .build();
    let set = stream(&[deployment("new"), config_map("a")]);
    let lines = place.settle(&user, &["apply"]).input(set.clone()).json();
    lines.exits_with(1);
    let (code, error) = lines.failure("Deployment/new");
    assert_eq!(code, "Forbidden");
    assert!(error.contains("cannot create resource"), "{error}");
    assert_eq!(lines.conclusion("ConfigMap/a"), "Settled");
    // To delete what is not there needs no right; to delete what is there does.
    place.ns.kubectl(&["create", "deployment", "new", "--image=new:1"]).success();
    let gone = place.settle(&user, &["destroy"]).input(set).json();
    gone.exits_with(1);
    assert_eq!(gone.failure("Deployment/new").0, "Forbidden");
    assert_eq!(gone.conclusion("ConfigMap/a"), "Settled");
}

fn f18_a_right_taken_away_in_mid_wait_leaves_the_others() {
    let place = Place::new();
    let user = shared()
        .user("revoked")
        .can(&["get", "create", "patch", "list", "watch"], &["deployments.apps"], place.name())
        .can(&["*"], &["configmaps", "pods"], place.name())
        .can(&["*"], &["jobs.batch", "replicasets.apps"], place.name())
        .build();
    let mut slow = job("slow");
    slow["spec"]["template"]["metadata"]["annotations"] = json!({ "kubesettle.test/delay": "10s" });
    let set = stream(&[deployment_that("stuck", "never-ready"), slow]);
    let running = place.settle(&user, &["apply", "-o", "json", "--timeout=30s"]).input(set).start();
    running.wait_for_output("\"have\":0,\"want\":1", SOON);
    let roles = get(
        shared(),
        &format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings", place.name()),
    );
    let role = roles["items"].as_array().unwrap().iter().find(|binding| {
        let role = binding["roleRef"]["name"].as_str().unwrap();
        role.ends_with("-0")
    });
    let role = role.unwrap()["metadata"]["name"].as_str().unwrap();
    place.ns.kubectl(&["delete", "rolebinding", role]).success();
    let lines = Lines::of(running.finish(e2e::LIMIT));
    // A watch that is open goes on: the server checks rights at its start. Either way the run ends,
    // and the others are not disturbed.
    assert!(matches!(lines.done.code, Some(3 | 4)), "{lines:#}");
    assert_eq!(lines.conclusion("Job/slow"), "Settled", "{lines:#}");
    assert!(["TimedOut", "Unknown"].contains(&lines.conclusion("Deployment/stuck")), "{lines:#}");
}
