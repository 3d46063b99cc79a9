//! Users and what they may do; discovery.

use sandbox::{Sandbox, User};
use serde_json::json;

use crate::client::{Client, config_map};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn limited() -> (Sandbox, Client, Client) {
    let user = User::limited("limited")
        .allow("get,list,watch", "configmaps", "default", "a")
        .allow("patch", "secrets", "default", "");
    let sandbox = Sandbox::builder().user("t", user).user("root", User::admin("admin")).build();
    let (admin, limited) = (Client::with_token(&sandbox, "root"), Client::with_token(&sandbox, "t"));
    (sandbox, admin, limited)
}

#[tokio::test(start_paused = true)]
async fn a_right_on_one_name_covers_lists_and_watches_of_that_name_only() {
    let (_, admin, limited) = limited();
    admin.apply(&format!("{MAPS}/a"), &config_map("a", json!({}))).await.expect(201);
    let rows = [
        (format!("{MAPS}?fieldSelector=metadata.name%3Da"), 200, ""),
        (format!("{MAPS}?fieldSelector=metadata.name%3Da,metadata.namespace%3Ddefault"), 200, ""),
        (
            MAPS.to_owned(),
            403,
            "configmaps is forbidden: User \"limited\" cannot list resource \"configmaps\" in API group \"\" in the namespace \"default\"",
        ),
        (
            format!("{MAPS}?watch=1"),
            403,
            "configmaps is forbidden: User \"limited\" cannot watch resource \"configmaps\" in API group \"\" in the namespace \"default\"",
        ),
        (
            format!("{MAPS}?fieldSelector=metadata.name%3Db"),
            403,
            "configmaps \"b\" is forbidden: User \"limited\" cannot list resource \"configmaps\" in API group \"\" in the namespace \"default\"",
        ),
        (
            "/apis/apps/v1/deployments".to_owned(),
            403,
            "deployments.apps is forbidden: User \"limited\" cannot list resource \"deployments\" in API group \"apps\" at the cluster scope",
        ),
        (
            "/apis/none/v1/nones".to_owned(),
            403,
            "nones.none is forbidden: User \"limited\" cannot list resource \"nones\" in API group \"none\" at the cluster scope",
        ),
        ("/api".to_owned(), 200, ""),
        ("/version".to_owned(), 200, ""),
    ];
    for (target, code, message) in rows {
        let answer = limited.get(&target).await.expect(code);
        if code != 200 {
            assert_eq!(answer.message(), message);
            assert_eq!(answer.json["reason"], "Forbidden");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn applying_something_new_needs_the_right_to_create() {
    let (sandbox, admin, limited) = limited();
    let secret = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" } });
    let path = "/api/v1/namespaces/default/secrets/s";
    let refused = limited.apply(path, &secret).await.expect(403);
    assert_eq!(
        refused.message(),
        "secrets \"s\" is forbidden: User \"limited\" cannot create resource \"secrets\" in API group \"\" in the namespace \"default\""
    );
    admin.apply(path, &secret).await.expect(201);
    limited.apply(path, &secret).await.expect(200);
    sandbox.set_user("t", User::admin("limited").deny("patch", "secrets", "", ""));
    limited.apply(path, &secret).await.expect(403);
    limited.get(path).await.expect(200);
}

#[tokio::test(start_paused = true)]
async fn tokens_are_known_unknown_or_missing() {
    let (sandbox, _, limited) = limited();
    let bad = Client::with_token(&sandbox, "nobody").get(MAPS).await.expect(401);
    assert_eq!((bad.message(), &bad.json["reason"]), ("Unauthorized", &json!("Unauthorized")));
    let none = Client::new(&sandbox).get("/api/v1/namespaces").await.expect(403);
    assert_eq!(
        none.message(),
        "namespaces is forbidden: User \"system:anonymous\" cannot list resource \"namespaces\" in API group \"\" at the cluster scope"
    );
    sandbox.remove_user("t");
    limited.get("/api").await.expect(401);
}

#[tokio::test(start_paused = true)]
async fn a_user_may_ask_what_it_may_do() {
    let (_, _, limited) = limited();
    for (verb, allowed) in [("get", true), ("delete", false)] {
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
            "spec": { "resourceAttributes": { "verb": verb, "resource": "configmaps", "namespace": "default", "name": "a" } },
        });
        let answer =
            limited.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", &review).await.expect(201);
        assert_eq!(answer.json["status"]["allowed"], allowed);
    }
}

#[tokio::test(start_paused = true)]
async fn discovery_comes_in_one_document_or_in_many() {
    let sandbox = Sandbox::builder().build();
    let mut client = Client::new(&sandbox);
    let legacy = client.get("/apis").await.expect(200);
    assert_eq!(legacy.json["kind"], "APIGroupList");
    assert_eq!(client.get("/api").await.json["kind"], "APIVersions");
    let resources = client.get("/apis/apps/v1").await.expect(200);
    let names: Vec<&str> = resources.json["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"deployments") && names.contains(&"deployments/status"), "{names:?}");
    client.accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    let whole = client.get("/apis").await.expect(200);
    assert_eq!(whole.json["kind"], "APIGroupDiscoveryList");
    assert_eq!(
        whole.headers["content-type"],
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    );
    assert!(whole.headers.contains_key("etag"));
    let old = Sandbox::builder().no_aggregated_discovery().build();
    let mut old = Client::new(&old);
    old.accept = client.accept;
    assert_eq!(old.get("/apis").await.json["kind"], "APIGroupList");
}
