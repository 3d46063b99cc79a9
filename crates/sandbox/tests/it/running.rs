//! Workloads, namespaces and CRDs under a paused clock.

use std::time::Duration;

use sandbox::Sandbox;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::client::{Client, Lines, config_map, deployment};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

fn start() -> (Sandbox, Client) {
    let sandbox = Sandbox::builder().build();
    let client = Client::new(&sandbox);
    (sandbox, client)
}

fn condition(object: &Value, kind: &str) -> Value {
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.into_iter().find(|condition| condition["type"] == kind).unwrap_or_default()
}

fn with_outcome(name: &str, outcome: &str, delay: &str) -> Value {
    let mut object = deployment(name, 1);
    let annotations = json!({ "kubesettle.test/outcome": outcome, "kubesettle.test/delay": delay });
    object["spec"]["template"]["metadata"]["annotations"] = annotations;
    object["spec"]["progressDeadlineSeconds"] = json!(20);
    object
}

async fn until(what: &str, limit: u64, check: impl Fn() -> bool) -> Duration {
    let started = Instant::now();
    while !check() {
        assert!(started.elapsed() < Duration::from_secs(limit), "{what} within {limit} s");
        sleep(Duration::from_millis(10)).await;
    }
    started.elapsed()
}

#[tokio::test(start_paused = true)]
async fn a_deployment_becomes_available_within_milliseconds() {
    let (sandbox, client) = start();
    let mut lines = client.watch(&format!("{DEPLOYMENTS}?watch=1")).await;
    client.apply(&format!("{DEPLOYMENTS}/web"), &deployment("web", 3)).await.expect(201);
    let available = || {
        let status = sandbox.get("deployments.apps", "default", "web").unwrap()["status"].clone();
        status["availableReplicas"] == 3 && status["observedGeneration"] == 1
    };
    assert!(until("available", 5, available).await < Duration::from_millis(100));
    let object = sandbox.get("deployments.apps", "default", "web").unwrap();
    assert_eq!(condition(&object, "Progressing")["reason"], "NewReplicaSetAvailable");
    assert_eq!(condition(&object, "Available")["status"], "True");
    assert_eq!(object["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "1");
    assert_eq!(object["metadata"]["generation"], 1);
    let pods = sandbox.list("pods", "default");
    assert_eq!(pods.len(), 3);
    assert_eq!(pods[0]["metadata"]["ownerReferences"][0]["kind"], "ReplicaSet");
    assert_eq!(condition(&pods[0], "PodScheduled")["status"], "True");
    let again = client.apply(&format!("{DEPLOYMENTS}/web"), &deployment("web", 3)).await.expect(200);
    assert_eq!(again.json["metadata"]["resourceVersion"], object["metadata"]["resourceVersion"]);
    let events = lines.take(4).await;
    assert_eq!(events[0], "ADDED web");
    let version = sandbox.version();
    sleep(Duration::from_secs(3600)).await;
    assert_eq!(sandbox.version(), version, "what has settled stays quiet");
}

#[tokio::test(start_paused = true)]
async fn a_new_template_rolls_and_old_pods_go() {
    let (sandbox, client) = start();
    client.apply(&format!("{DEPLOYMENTS}/web"), &deployment("web", 4)).await.expect(201);
    sleep(Duration::from_secs(1)).await;
    let mut next = deployment("web", 4);
    next["spec"]["template"]["spec"]["containers"][0]["image"] = json!("image:2");
    client.apply(&format!("{DEPLOYMENTS}/web"), &next).await.expect(200);
    sleep(Duration::from_secs(2)).await;
    let object = sandbox.get("deployments.apps", "default", "web").unwrap();
    assert_eq!(object["status"]["updatedReplicas"], 4);
    assert_eq!(object["status"]["replicas"], 4);
    assert_eq!(condition(&object, "Progressing")["reason"], "NewReplicaSetAvailable");
    let pods = sandbox.list("pods", "default");
    assert_eq!(pods.len(), 4);
    assert!(pods.iter().all(|pod| pod["spec"]["containers"][0]["image"] == "image:2"));
    assert_eq!(sandbox.list("replicasets.apps", "default").len(), 2);
    client
        .apply(&format!("{DEPLOYMENTS}/web"), &{
            let mut fewer = next.clone();
            fewer["spec"]["replicas"] = json!(1);
            fewer
        })
        .await
        .expect(200);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(sandbox.list("pods", "default").len(), 1);
    client.apply(&format!("{DEPLOYMENTS}/web"), &deployment("web", 4)).await.expect(200);
    sleep(Duration::from_secs(2)).await;
    let object = sandbox.get("deployments.apps", "default", "web").unwrap();
    assert_eq!(object["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "3");
    assert_eq!(object["status"]["updatedReplicas"], 4);
}

#[tokio::test(start_paused = true)]
async fn outcomes_look_as_on_a_real_node() {
    let rows: [(&str, &str, &str, Value); 6] = [
        (
            "image-pull-backoff",
            "/status/containerStatuses/0/state/waiting/reason",
            "Pending",
            json!("ImagePullBackOff"),
        ),
        (
            "config-error",
            "/status/containerStatuses/0/state/waiting/message",
            "Pending",
            json!("configmap \"settings\" not found"),
        ),
        ("crash-loop", "/status/containerStatuses/0/lastState/terminated/exitCode", "Running", json!(1)),
        ("never-ready", "/status/containerStatuses/0/ready", "Running", json!(false)),
        ("slow-ready", "/status/containerStatuses/0/ready", "Running", json!(true)),
        ("exit-1", "/status/containerStatuses/0/restartCount", "Running", json!(1)),
    ];
    for (outcome, pointer, phase, expected) in rows {
        let (sandbox, client) = start();
        client
            .apply(&format!("{DEPLOYMENTS}/web"), &with_outcome("web", outcome, "1500ms"))
            .await
            .expect(201);
        sleep(Duration::from_millis(1700)).await;
        let pods = sandbox.list("pods", "default");
        let pod = &pods[0];
        assert_eq!(pod["status"]["phase"], phase, "{outcome}");
        assert_eq!(pod.pointer(pointer), Some(&expected), "{outcome} {pod}");
        let ready = condition(pod, "Ready");
        assert_eq!(ready["status"] == "True", outcome == "slow-ready", "{outcome}");
        sleep(Duration::from_secs(30)).await;
        let object = sandbox.get("deployments.apps", "default", "web").unwrap();
        let late = condition(&object, "Progressing")["reason"] == "ProgressDeadlineExceeded";
        assert_eq!(late, outcome != "slow-ready", "{outcome} {object}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_loop_counts_its_restarts() {
    let (sandbox, client) = start();
    client.apply(&format!("{DEPLOYMENTS}/web"), &with_outcome("web", "crash-loop", "1s")).await.expect(201);
    sleep(Duration::from_secs(12)).await;
    let pod = sandbox.list("pods", "default").remove(0);
    assert_eq!(pod["status"]["containerStatuses"][0]["restartCount"], 3, "at 1, 6 and 11 s");
    let events = sandbox.list("events", "default");
    assert!(events.iter().any(|event| event["reason"] == "BackOff" && event["count"] == 3));
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_asks_for_too_much_stays_unscheduled_and_says_why() {
    let (sandbox, client) = start();
    let mut object = deployment("web", 1);
    object["spec"]["template"]["spec"]["containers"][0]["resources"] =
        json!({ "requests": { "cpu": "1000" } });
    client.apply(&format!("{DEPLOYMENTS}/web"), &object).await.expect(201);
    sleep(Duration::from_secs(1)).await;
    let pod = sandbox.list("pods", "default").remove(0);
    let scheduled = condition(&pod, "PodScheduled");
    assert_eq!(scheduled["reason"], "Unschedulable");
    assert!(
        scheduled["message"].as_str().unwrap().starts_with("0/3 nodes are available: 3 Insufficient cpu."),
        "{scheduled}"
    );
}

#[tokio::test(start_paused = true)]
async fn deleting_a_deployment_takes_its_children_along_in_every_way() {
    for policy in ["Background", "Foreground", "Orphan"] {
        let (sandbox, client) = start();
        client.apply(&format!("{DEPLOYMENTS}/web"), &deployment("web", 2)).await.expect(201);
        sleep(Duration::from_secs(1)).await;
        let answer = client
            .delete(&format!("{DEPLOYMENTS}/web"), &json!({ "propagationPolicy": policy }))
            .await
            .expect(200);
        assert_eq!(answer.json["kind"] == "Status", policy == "Background", "{policy}");
        let there = sandbox.get("deployments.apps", "default", "web").is_some();
        assert_eq!(there, policy != "Background");
        sleep(Duration::from_secs(2)).await;
        assert!(sandbox.get("deployments.apps", "default", "web").is_none(), "{policy}");
        let left = if policy == "Orphan" { 2 } else { 0 };
        assert_eq!(sandbox.list("pods", "default").len(), left, "{policy}");
        assert_eq!(sandbox.list("replicasets.apps", "default").len(), left.min(1), "{policy}");
    }
}

#[tokio::test(start_paused = true)]
async fn stateful_sets_start_one_after_the_other_and_daemon_sets_everywhere() {
    let (sandbox, client) = start();
    let mut set = deployment("db", 3);
    set["kind"] = json!("StatefulSet");
    set["spec"]["serviceName"] = json!("db");
    set["spec"]["template"]["metadata"]["annotations"] =
        json!({ "kubesettle.test/outcome": "slow-ready", "kubesettle.test/delay": "1s" });
    client.apply("/apis/apps/v1/namespaces/default/statefulsets/db", &set).await.expect(201);
    sleep(Duration::from_millis(1500)).await;
    assert_eq!(sandbox.list("pods", "default").len(), 2, "the second waits for the first");
    sleep(Duration::from_secs(2)).await;
    let status = sandbox.get("statefulsets.apps", "default", "db").unwrap()["status"].clone();
    assert_eq!(
        (&status["readyReplicas"], &status["updatedReplicas"], &status["currentReplicas"]),
        (&json!(3), &json!(3), &json!(3))
    );
    assert_eq!(status["currentRevision"], status["updateRevision"]);
    set["spec"]["template"]["spec"]["containers"][0]["image"] = json!("image:2");
    client.apply("/apis/apps/v1/namespaces/default/statefulsets/db", &set).await.expect(200);
    sleep(Duration::from_millis(500)).await;
    let status = sandbox.get("statefulsets.apps", "default", "db").unwrap()["status"].clone();
    assert_ne!(status["currentRevision"], status["updateRevision"]);
    sleep(Duration::from_secs(10)).await;
    assert!(
        sandbox.list("pods", "default").iter().all(|pod| pod["spec"]["containers"][0]["image"] == "image:2")
    );

    let mut agent = deployment("agent", 1);
    agent["kind"] = json!("DaemonSet");
    agent["spec"].as_object_mut().unwrap().remove("replicas");
    client.apply("/apis/apps/v1/namespaces/default/daemonsets/agent", &agent).await.expect(201);
    sleep(Duration::from_secs(1)).await;
    let status = sandbox.get("daemonsets.apps", "default", "agent").unwrap()["status"].clone();
    assert_eq!(
        (&status["desiredNumberScheduled"], &status["numberReady"], &status["updatedNumberScheduled"]),
        (&json!(3), &json!(3), &json!(3))
    );
}

fn job(outcome: &str, limit: u64) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "work" },
        "spec": { "backoffLimit": limit, "template": {
            "metadata": { "annotations": { "kubesettle.test/outcome": outcome, "kubesettle.test/delay": "1s" } },
            "spec": { "restartPolicy": "Never", "containers": [{ "name": "c", "image": "image:1" }] },
        } },
    })
}

#[tokio::test(start_paused = true)]
async fn jobs_complete_or_fail_after_their_retries() {
    let path = "/apis/batch/v1/namespaces/default/jobs/work";
    let rows = [
        ("", 6, 3, "Complete", "CompletionsReached"),
        ("exit-1", 0, 3, "Failed", "BackoffLimitExceeded"),
        ("exit-1", 1, 20, "Failed", "BackoffLimitExceeded"),
    ];
    for (outcome, limit, within, kind, reason) in rows {
        let (sandbox, client) = start();
        client.apply(path, &job(outcome, limit)).await.expect(201);
        sleep(Duration::from_millis(500)).await;
        assert_eq!(sandbox.get("jobs.batch", "default", "work").unwrap()["status"]["active"], 1);
        let over =
            || condition(&sandbox.get("jobs.batch", "default", "work").unwrap(), kind)["reason"] == reason;
        let took = until(reason, within, over).await;
        assert_eq!(took > Duration::from_secs(10), limit == 1, "{took:?}");
        let again = client.apply(path, &job(outcome, limit)).await.expect(200);
        assert_eq!(again.json["metadata"]["generation"], 1);
        let mut changed = job(outcome, limit);
        changed["spec"]["template"]["spec"]["containers"][0]["image"] = json!("image:2");
        let refused = client.apply(path, &changed).await.expect(422);
        assert!(
            refused.message().contains("spec.template.spec: Invalid value:")
                && refused.message().ends_with("field is immutable"),
            "{}",
            refused.message()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_deleted_namespace_is_emptied_and_tells_what_holds_it() {
    let (sandbox, client) = start();
    client.namespace("shop").await;
    let maps = "/api/v1/namespaces/shop/configmaps";
    client.apply(&format!("{maps}/free"), &config_map("free", json!({}))).await.expect(201);
    let mut held = config_map("held", json!({}));
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    client.apply(&format!("{maps}/held"), &held).await.expect(201);
    let mut lines = client.watch("/api/v1/namespaces?watch=1&fieldSelector=metadata.name%3Dshop").await;
    assert_eq!(lines.take(1).await, ["ADDED shop"]);
    let gone = client.delete("/api/v1/namespaces/shop", &json!(null)).await.expect(200);
    assert_eq!(gone.json["status"]["phase"], "Terminating");
    let refused = client.apply(&format!("{maps}/new"), &config_map("new", json!({}))).await.expect(403);
    assert_eq!(
        refused.message(),
        "configmaps \"new\" is forbidden: unable to create new content in namespace shop because it is being terminated"
    );
    assert_eq!(refused.json["details"]["causes"][0]["reason"], "NamespaceTerminating");
    client.apply(&format!("{maps}/held"), &held).await.expect(200);
    client
        .apply("/api/v1/namespaces/shop", &json!({ "apiVersion": "v1", "kind": "Namespace" }))
        .await
        .expect(200);
    sleep(Duration::from_secs(4)).await;
    assert!(sandbox.get("configmaps", "shop", "free").is_some());
    sleep(Duration::from_secs(2)).await;
    assert!(sandbox.get("configmaps", "shop", "free").is_none());
    let namespace = sandbox.get("namespaces", "", "shop").unwrap();
    assert_eq!(
        condition(&namespace, "NamespaceContentRemaining")["message"],
        "Some resources are remaining: configmaps. has 1 resource instances"
    );
    assert!(
        condition(&namespace, "NamespaceFinalizersRemaining")["message"]
            .as_str()
            .unwrap()
            .ends_with("example.com/hold in 1 resource instances")
    );
    held["metadata"]["finalizers"] = json!([]);
    client.apply(&format!("{maps}/held"), &held).await.expect(200);
    assert!(sandbox.get("configmaps", "shop", "held").is_none(), "at once");
    let took = until("gone", 10, || sandbox.get("namespaces", "", "shop").is_none()).await;
    assert!(took > Duration::from_secs(3), "{took:?}");
    assert_eq!(Lines::short(&lines.next().await), "MODIFIED shop");
    let mut last = String::new();
    while !last.starts_with("DELETED") {
        last = Lines::short(&lines.next().await);
    }
}

fn crd(extra: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": "foos.g.io" },
        "spec": {
            "group": "g.io", "scope": "Namespaced", "names": { "plural": "foos", "kind": "Foo", "shortNames": ["fo"] },
            "versions": [{ "name": "v1", "served": true, "storage": true, "subresources": { "status": {} }, "schema": { "openAPIV3Schema": {
                "type": "object", "properties": {
                    "spec": { "type": "object", "properties": { "size": { "type": "integer" }, "extra": extra } },
                    "status": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
                },
            } } }],
        },
    })
}

const CRD: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/foos.g.io";
const FOOS: &str = "/apis/g.io/v1/namespaces/default/foos";

fn foo(name: &str, size: u64) -> Value {
    json!({ "apiVersion": "g.io/v1", "kind": "Foo", "metadata": { "name": name }, "spec": { "size": size } })
}

#[tokio::test(start_paused = true)]
async fn a_crd_is_established_and_then_served() {
    let sandbox =
        Sandbox::builder().establish_crds(Duration::from_millis(500), Duration::from_millis(500)).build();
    let client = Client::new(&sandbox);
    client.apply(&format!("{CRD}?dryRun=All"), &crd(json!({ "type": "string" }))).await.expect(201);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(client.get("/apis/g.io").await.expect(404).text, "404 page not found\n");
    client.apply(CRD, &crd(json!({ "type": "string" }))).await.expect(201);
    let unserved = client.apply(&format!("{FOOS}/a"), &foo("a", 1)).await.expect(404);
    assert_eq!(
        (unserved.text.as_str(), unserved.headers["content-type"].as_bytes()),
        ("404 page not found\n", &b"text/plain; charset=utf-8"[..])
    );
    sleep(Duration::from_millis(700)).await;
    assert_eq!(
        condition(
            &sandbox.get("customresourcedefinitions.apiextensions.k8s.io", "", "foos.g.io").unwrap(),
            "Established"
        )["status"],
        "True"
    );
    client.apply(&format!("{FOOS}/a"), &foo("a", 1)).await.expect(404);
    sleep(Duration::from_millis(500)).await;
    let made = client.apply(&format!("{FOOS}/a"), &foo("a", 1)).await.expect(201);
    assert_eq!(made.json["metadata"]["generation"], 1);
    assert_eq!(client.apply(&format!("{FOOS}/a"), &foo("a", 2)).await.json["metadata"]["generation"], 2);
    let wrong = client
        .apply(
            &format!("{FOOS}/a"),
            &json!({ "apiVersion": "g.io/v1", "kind": "Foo", "spec": { "nope": 1 } }),
        )
        .await
        .expect(500);
    assert_eq!(
        wrong.message(),
        "failed to create typed patch object (/; g.io/v1, Kind=Foo): .spec.nope: field not declared in schema"
    );
    let list = client.get(FOOS).await.expect(200);
    assert_eq!((&list.json["kind"], &list.json["items"][0]["kind"]), (&json!("FooList"), &json!("Foo")));
}

#[tokio::test(start_paused = true)]
async fn a_changed_crd_ends_its_watches_and_a_deleted_one_takes_its_objects() {
    let sandbox = Sandbox::builder().reinitializing_storage(true).build();
    let client = Client::new(&sandbox);
    client.apply(CRD, &crd(json!({ "type": "string" }))).await.expect(201);
    sleep(Duration::from_secs(1)).await;
    let made = client.apply(&format!("{FOOS}/a"), &foo("a", 1)).await.expect(201);
    let busy = client.get(FOOS).await.expect(429);
    assert_eq!(
        (busy.message(), busy.headers["retry-after"].as_bytes()),
        ("storage is (re)initializing", &b"1"[..])
    );
    let mut lines = client.watch(&format!("{FOOS}?watch=1")).await;
    assert_eq!(lines.take(1).await, ["ADDED a"]);
    client.apply(CRD, &crd(json!({ "type": "integer" }))).await.expect(200);
    client.apply(&format!("{FOOS}/b"), &foo("b", 1)).await.expect(201);
    let started = Instant::now();
    assert_eq!(lines.take(1).await, ["ADDED b"]);
    assert_eq!(lines.next_within(Duration::from_secs(9)).await, crate::client::Next::End);
    assert!((900..1100).contains(&started.elapsed().as_millis()), "{:?}", started.elapsed());
    client.get(&format!("{FOOS}?watch=1")).await.expect(429);
    let mut lines = client.watch(&format!("{FOOS}?watch=1&resourceVersion={}", made.version())).await;
    assert_eq!(Lines::short(&lines.next().await), "ERROR");
    let mut lines = client.watch(&format!("{FOOS}?watch=1")).await;
    assert_eq!(lines.take(2).await, ["ADDED a", "ADDED b"]);
    client.delete(CRD, &json!(null)).await.expect(200);
    let refused = client.apply(&format!("{FOOS}/new"), &foo("new", 1)).await.expect(403);
    assert_eq!(
        refused.message(),
        "foos.g.io \"new\" is forbidden: create not allowed while custom resource definition is terminating"
    );
    assert_eq!(lines.take(2).await, ["DELETED a", "DELETED b"]);
    assert_eq!(lines.next_within(Duration::from_secs(9)).await, crate::client::Next::End);
    assert_eq!(client.get(FOOS).await.expect(404).text, "404 page not found\n");
    let before = made.json["metadata"]["uid"].clone();
    client.apply(CRD, &crd(json!({ "type": "string" }))).await.expect(201);
    sleep(Duration::from_secs(1)).await;
    assert_ne!(
        client.apply(&format!("{FOOS}/a"), &foo("a", 1)).await.expect(201).json["metadata"]["uid"],
        before
    );
}

#[tokio::test(start_paused = true)]
async fn claims_are_bound_when_their_class_can() {
    let (sandbox, client) = start();
    let claim = |class: &str| {
        json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": "data" },
            "spec": { "accessModes": ["ReadWriteOnce"], "storageClassName": class, "resources": { "requests": { "storage": "1Gi" } } },
        })
    };
    let path = "/api/v1/namespaces/default/persistentvolumeclaims/data";
    client.apply(path, &claim("fast")).await.expect(201);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(
        sandbox.get("persistentvolumeclaims", "default", "data").unwrap()["status"]["phase"],
        "Pending"
    );
    client.delete(path, &json!(null)).await.expect(200);
    sleep(Duration::from_secs(1)).await;
    assert!(sandbox.get("persistentvolumeclaims", "default", "data").is_none());
    let class = json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": "fast" }, "provisioner": "p" });
    client.apply("/apis/storage.k8s.io/v1/storageclasses/fast", &class).await.expect(201);
    client.apply(path, &claim("fast")).await.expect(201);
    sleep(Duration::from_secs(1)).await;
    let bound = sandbox.get("persistentvolumeclaims", "default", "data").unwrap();
    assert_eq!(bound["status"]["phase"], "Bound");
    let again = client.apply(path, &claim("fast")).await.expect(200);
    assert_eq!(again.json["metadata"]["resourceVersion"], bound["metadata"]["resourceVersion"]);
}

#[tokio::test(start_paused = true)]
async fn a_crd_with_a_new_version_serves_its_objects_in_both() {
    let (sandbox, client) = start();
    let mut definition = crd(json!({ "type": "string" }));
    client.apply(CRD, &definition).await.expect(201);
    sleep(Duration::from_secs(1)).await;
    client.apply(&format!("{FOOS}/a"), &foo("a", 1)).await.expect(201);
    let mut newer = definition["spec"]["versions"][0].clone();
    newer["name"] = json!("v2");
    newer["storage"] = json!(false);
    definition["spec"]["versions"] = json!([definition["spec"]["versions"][0], newer]);
    client.apply(CRD, &definition).await.expect(200);
    sleep(Duration::from_secs(1)).await;
    let two = client.get(&FOOS.replace("v1", "v2")).await.expect(200);
    assert_eq!(
        (&two.json["apiVersion"], &two.json["items"][0]["apiVersion"]),
        (&json!("g.io/v2"), &json!("g.io/v2"))
    );
    let group = client.get("/apis/g.io").await.expect(200);
    assert_eq!(group.json["preferredVersion"]["version"], "v2");
    definition["spec"]["versions"][1]["served"] = json!(false);
    client.apply(CRD, &definition).await.expect(200);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(client.get(&FOOS.replace("v1", "v2")).await.expect(404).text, "404 page not found\n");
    client.get(FOOS).await.expect(200);
    assert_eq!(sandbox.list("foos.g.io", "").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn budgets_and_api_services_have_a_status() {
    let sandbox = Sandbox::builder().furnished_namespaces().default_storage_class("standard").build();
    let client = Client::new(&sandbox);
    client.apply(&format!("{DEPLOYMENTS}/web"), &deployment("web", 3)).await.expect(201);
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": { "name": "web" },
        "spec": { "minAvailable": 1, "selector": { "matchLabels": { "app": "web" } } },
    });
    client.apply("/apis/policy/v1/namespaces/default/poddisruptionbudgets/web", &budget).await.expect(201);
    let api = json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": { "name": "v1.x.io" },
        "spec": { "group": "x.io", "version": "v1", "service": { "namespace": "default", "name": "x" } },
    });
    client.apply("/apis/apiregistration.k8s.io/v1/apiservices/v1.x.io", &api).await.expect(201);
    sleep(Duration::from_secs(4)).await;
    let status = sandbox.get("poddisruptionbudgets.policy", "default", "web").unwrap()["status"].clone();
    assert_eq!((&status["currentHealthy"], &status["disruptionsAllowed"]), (&json!(3), &json!(2)));
    let api = sandbox.get("apiservices.apiregistration.k8s.io", "", "v1.x.io").unwrap();
    assert_eq!(condition(&api, "Available")["reason"], "ServiceNotFound");
    assert!(sandbox.get("configmaps", "default", "kube-root-ca.crt").is_some());
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": "data" },
        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } },
    });
    client.apply("/api/v1/namespaces/default/persistentvolumeclaims/data", &claim).await.expect(201);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(
        sandbox.get("persistentvolumeclaims", "default", "data").unwrap()["spec"]["storageClassName"],
        "standard"
    );
}
