//! Records states of real objects, for the test that compares kstatus with the Go library: starts a
//! control plane, applies `testing/recorded/scene.yaml`, drives it through changes, failures and
//! deletions, and writes what the API server said of each object to `testing/recorded/states.jsonl`.
//!
//! `cargo run -p e2e --example record`
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command for developers"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use harness::ControlPlane;
use serde_json::{Value, json};

/// States kept of one kind.
const OF_A_KIND: usize = 24;
/// Of the kinds that say most.
const OF_A_WORKLOAD: usize = 48;

/// What happens after the scene stands: seconds to wait, then calls of kubectl.
const STEPS: &[(u64, &[&str])] = &[
    (
        9,
        &[
            "-n rec-a set image deployment/good main=registry.example/good:2",
            "-n rec-a set image deployment/slow main=registry.example/slow:2",
            "-n rec-a set image deployment/anew main=registry.example/anew:2",
            "-n rec-a set image statefulset/db main=registry.example/db:2",
            "-n rec-a set image statefulset/db-part main=registry.example/db-part:2",
            "-n rec-a set image statefulset/db-hand main=registry.example/db-hand:2",
            "-n rec-a set image daemonset/agent main=registry.example/agent:2",
            "-n rec-a set image daemonset/agent-slow main=registry.example/agent-slow:2",
            "-n rec-a set image daemonset/agent-hand main=registry.example/agent-hand:2",
            "-n rec-a scale replicaset/set-good --replicas=0",
            "-n rec-a scale replicaset/set-slow --replicas=3",
            "-n rec-a scale replicationcontroller/rc-slow --replicas=3",
            "-n rec-a delete pod pod-kept --wait=false",
            "-n rec-a delete pod pod-good --wait=false",
            "-n rec-a apply -f -",
            "delete namespace rec-held --wait=false",
            "delete pv rec-lost --wait=false",
            "-n rec-quota delete resourcequota small",
        ],
    ),
    (
        9,
        &[
            "-n rec-a patch job/job-held --type=merge -p {\"spec\":{\"suspend\":false}}",
            "-n rec-a patch job/job-endless --type=merge -p {\"spec\":{\"suspend\":true}}",
            "-n rec-a patch deployment/paused --type=merge -p {\"spec\":{\"paused\":false}}",
            "-n rec-a patch statefulset/db-part --type=merge -p {\"spec\":{\"updateStrategy\":{\"rollingUpdate\":{\"partition\":0}}}}",
            "-n rec-a patch service/svc-door --subresource=status --type=merge -p {\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"203.0.113.9\"}]}}}",
            "-n rec-a patch pod/pod-gated --type=merge -p {\"spec\":{\"schedulingGates\":null}}",
            "-n rec-a scale deployment/slow --replicas=1",
            "-n rec-a scale statefulset/db-slow --replicas=1",
            "-n rec-a scale deployment/anew --replicas=0",
            "-n rec-a rollout undo deployment/good",
            "-n rec-a delete pvc claim-bound --wait=false",
            "-n rec-a patch widget/one --subresource=status --type=merge -p {\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"reason\":\"Working\"}]}}",
            "-n rec-a patch deployment/image --type=json -p [{\"op\":\"remove\",\"path\":\"/spec/template/metadata/annotations\"}]",
            "-n rec-a patch deployment/crash --type=json -p [{\"op\":\"remove\",\"path\":\"/spec/template/metadata/annotations\"}]",
            "-n rec-a patch statefulset/db-crash --type=json -p [{\"op\":\"remove\",\"path\":\"/spec/template/metadata/annotations\"}]",
        ],
    ),
    (
        12,
        &[
            "-n rec-a patch widget/one --subresource=status --type=merge -p {\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
            "-n rec-a delete deployment good --cascade=foreground --wait=false",
            "-n rec-a delete statefulset db --cascade=foreground --wait=false",
            "-n rec-a delete daemonset agent --cascade=foreground --wait=false",
            "-n rec-a delete job job-endless --cascade=foreground --wait=false",
            "-n rec-a delete replicaset set-late --cascade=foreground --wait=false",
            "-n rec-a delete replicationcontroller rc-good --cascade=foreground --wait=false",
            "-n rec-a annotate deployment/slow rec=end",
        ],
    ),
    (
        14,
        &[
            "delete crd widgets.rec-kinds.example.com --wait=false",
            "delete namespace rec-empty --wait=false",
            "delete apiservice v1.rec-absent.example.com",
        ],
    ),
    (6, &[]),
];

const WIDGET: &str = r#"{"apiVersion": "rec-kinds.example.com/v1", "kind": "Widget",
    "metadata": {"name": "one", "namespace": "rec-a", "finalizers": ["example.com/keep"]}, "spec": {"size": 1}}"#;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testing/recorded");
    let scene = std::fs::read_to_string(folder.join("scene.yaml")).unwrap();
    let plane = ControlPlane::builder().start().unwrap_or_else(|error| panic!("{error}"));
    let mut paths = watchable(&plane);
    paths.push("/apis/rec-kinds.example.com/v1/widgets".to_owned());
    let over = AtomicBool::new(false);
    let states: Vec<Value> = std::thread::scope(|scope| {
        let watches: Vec<_> = paths.iter().map(|path| scope.spawn(|| watch(&plane, path, &over))).collect();
        drive(&plane, &scene);
        over.store(true, Ordering::Relaxed);
        watches.into_iter().flat_map(|watch| watch.join().unwrap()).collect()
    });
    let kept = choose(states);
    let lines: String = kept.iter().map(|state| format!("{state}\n")).collect();
    assert!(lines.len() < 1_000_000, "{} bytes", lines.len());
    std::fs::write(folder.join("states.jsonl"), &lines).unwrap();
    println!("{} states, {} bytes", kept.len(), lines.len());
}

fn drive(plane: &ControlPlane, scene: &str) {
    // Kinds and namespaces come with the rest: what came too early is applied again.
    for _ in 0..2 {
        let mut command = plane.command(plane.kubectl_path());
        command.args(["apply", "--server-side", "-f", "-"]);
        let done = harness::spawn(command, scene.as_bytes()).finish(Duration::from_secs(120));
        eprint!("{}", done.stderr);
    }
    for (seconds, calls) in STEPS {
        // Not a wait for anything: the cluster is left to itself for a while.
        std::thread::sleep(Duration::from_secs(*seconds));
        for call in *calls {
            let mut command = plane.command(plane.kubectl_path());
            command.args(call.split(' '));
            let done = harness::spawn(command, WIDGET.as_bytes()).finish(Duration::from_secs(60));
            if done.code != Some(0) {
                eprintln!("kubectl {call}: {}", done.stderr);
            }
        }
    }
}

/// Collections of every built-in kind that can be watched.
fn watchable(plane: &ControlPlane) -> Vec<String> {
    let get = |path: &str| plane.api().get(path).unwrap().success().json();
    let groups = get("/apis");
    let versions = groups["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| format!("/apis/{}", group["preferredVersion"]["groupVersion"].as_str().unwrap()));
    let mut paths = Vec::new();
    for root in std::iter::once("/api/v1".to_owned()).chain(versions) {
        for resource in get(&root)["resources"].as_array().unwrap() {
            let name = resource["name"].as_str().unwrap();
            let watches = resource["verbs"].as_array().unwrap().contains(&json!("watch"));
            if watches && name != "events" && name != "leases" {
                paths.push(format!("{root}/{name}"));
            }
        }
    }
    paths
}

/// Every state of the objects of a collection, until it is over.
fn watch(plane: &ControlPlane, path: &str, over: &AtomicBool) -> Vec<Value> {
    let mut states = Vec::new();
    let mut version = "0".to_owned();
    while !over.load(Ordering::Relaxed) {
        let query = format!("{path}?watch=1&timeoutSeconds=4&resourceVersion={version}");
        let reply = plane.api().get(&query).unwrap();
        if reply.status != 200 {
            // A kind that is yet to come.
            std::thread::sleep(Duration::from_millis(200));
            continue;
        }
        for line in reply.text.lines() {
            let mut event: Value = serde_json::from_str(line).unwrap();
            if event["type"] == "ERROR" {
                version = "0".to_owned();
                continue;
            }
            let object = event["object"].take();
            if let Some(of) = object["metadata"]["resourceVersion"].as_str() {
                of.clone_into(&mut version);
            }
            if event["type"] != "DELETED" && is_ours(&object) {
                states.push(plain(object));
            }
        }
    }
    states
}

fn is_ours(object: &Value) -> bool {
    let metadata = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
    let named = metadata("name").starts_with("rec-") || metadata("name").contains(".rec-");
    let node = object["kind"] == "Node" && metadata("name") == "node-0";
    metadata("namespace").starts_with("rec-") && metadata("name") != "kube-root-ca.crt"
        || (metadata("namespace").is_empty() && (named || node))
}

/// Without what says nothing about the object's state, or nothing that may be kept.
fn plain(mut object: Value) -> Value {
    let metadata = object["metadata"].as_object_mut().unwrap();
    metadata.remove("managedFields");
    if object["kind"] == "Secret" {
        object.as_object_mut().unwrap().remove("data");
    }
    object
}

/// Some states of every kind, no two of them alike.
fn choose(states: Vec<Value>) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let mut kinds: BTreeMap<(String, String), Vec<Value>> = BTreeMap::new();
    for state in states {
        if seen.insert(face(&state)) {
            let text = |key: &str| state[key].as_str().unwrap_or_default().to_owned();
            kinds.entry((text("apiVersion"), text("kind"))).or_default().push(state);
        }
    }
    let mut kept = Vec::new();
    for ((_, kind), states) in kinds {
        let workload =
            ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "Pod"].contains(&&*kind);
        let wanted = if workload { OF_A_WORKLOAD } else { OF_A_KIND };
        println!("{:>5} of {:>5} {kind}", states.len().min(wanted), states.len());
        let all = states.len();
        // Spread over the whole record: its beginning, its middle and its end.
        let chosen = (0..wanted.min(all)).map(|place| place * all / wanted.min(all));
        kept.extend(chosen.map(|place| states[place].clone()));
    }
    kept
}

/// What two states have in common that differ in names and times only.
fn face(state: &Value) -> String {
    let status = serde_json::to_string(&state["status"]).unwrap();
    let own = state["metadata"]["name"].as_str().unwrap_or("?");
    let base = own.rsplit_once('-').map_or(own, |(base, _)| base);
    let masked: String = status
        .replace(own, "NAME")
        .replace(base, "NAME")
        .split('"')
        .map(|part| if part.len() >= 20 && part.ends_with('Z') { "TIME" } else { part })
        .collect::<Vec<_>>()
        .join("\"");
    let metadata = &state["metadata"];
    let made = state["kind"] == "Pod" || state["spec"]["template"].is_object();
    json!([
        state["kind"],
        if made { &Value::Null } else { &state["spec"] },
        masked,
        metadata["deletionTimestamp"].is_string(),
        metadata["generation"],
        state["spec"]["replicas"],
        state["spec"]["paused"],
        state["spec"]["suspend"],
        state["spec"]["updateStrategy"],
    ])
    .to_string()
}
