use kstatus::{CauseCode, Status, Timestamp, Verdict};

use super::{Dump, DumpOptions, exit_class};
use crate::error::ExitClass;
use crate::manifest::Source;

const POD: &str = r#"
apiVersion: v1
kind: Pod
metadata:
  name: web-1
  namespace: shop
  uid: 00000000-0000-4000-8000-000000000003
  creationTimestamp: "2025-01-01T00:00:00Z"
  ownerReferences: [{kind: ReplicaSet, controller: true, uid: 00000000-0000-4000-8000-000000000002}]
status: {phase: Pending, conditions: [{type: PodScheduled, status: "True"}]}
"#;
const REPLICA_SET: &str = r#"
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web
  namespace: shop
  uid: 00000000-0000-4000-8000-000000000002
  generation: 1
  ownerReferences: [{kind: Deployment, controller: true, uid: 00000000-0000-4000-8000-000000000001}]
spec: {replicas: 1}
status: {observedGeneration: 1, replicas: 1}
"#;
const DEPLOYMENT: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: 00000000-0000-4000-8000-000000000001, generation: 1}
spec: {replicas: 1}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1}
"#;
const EVENT: &str = r#"
apiVersion: v1
kind: Event
metadata: {name: e, namespace: shop}
involvedObject: {kind: Pod, namespace: shop, name: web-1}
type: Warning
reason: FailedMount
message: secret "tls" not found
lastTimestamp: "2025-01-01T00:10:00Z"
"#;

fn options() -> DumpOptions {
    DumpOptions { now: Timestamp::parse("2026-01-01T00:00:00Z"), ..DumpOptions::default() }
}

fn load(text: &str) -> Dump {
    let source = Source::Stdin(text.to_owned().into());
    Dump::load(&[source], 1 << 20, &options()).expect("objects")
}

fn verdicts(text: &str) -> Vec<Verdict> {
    load(text).judge(&options()).into_iter().map(|one| one.verdict).collect()
}

fn statuses(text: &str) -> Vec<Status> {
    verdicts(text).into_iter().map(|verdict| verdict.status).collect()
}

#[test]
fn a_deployment_is_told_what_its_pod_waits_for() {
    // The children stand before their owner: the order of a dump means nothing.
    let text = [EVENT, POD, REPLICA_SET, DEPLOYMENT].join("---");
    let all = verdicts(&text);
    let deployment = all.last().expect("four verdicts");
    assert_eq!(deployment.status, Status::InProgress);
    let cause = deployment.causes.first().expect("a cause");
    assert_eq!((cause.code, cause.chain.len()), (CauseCode::FailedMount, 3), "{deployment:?}");
    assert!(deployment.message.contains("secret \"tls\" not found"), "{deployment:?}");
}

#[test]
fn every_form_of_a_dump_holds_the_same_objects() {
    let one =
        r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","managedFields":[{}],"uid":"u"}}"#;
    let bare = r#"{"metadata":{"name":"a","managedFields":[{}],"uid":"u"}}"#;
    for text in [
        one.to_owned(),
        format!(r#"{{"apiVersion":"v1","kind":"List","items":[{one}]}}"#),
        format!(r#"{{"apiVersion":"v1","kind":"ConfigMapList","items":[{bare}]}}"#),
        format!(r#"{{"type":"ADDED","object":{one}}}"#),
        format!("# a comment\n---\n{one}\n---\n"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  managedFields: [{}]\n  uid: u\n".to_owned(),
    ] {
        let dump = load(&text);
        let [object] = dump.objects() else { panic!("{text}") };
        assert_eq!(object.id().to_string(), "configmap/a", "{text}");
        // Nothing is cleaned.
        assert!(object.uid().is_some() && object.json().windows(13).any(|part| part == b"managedFields"));
    }
    let lines = format!("{one}\n{one}\n\n{one}\n");
    assert_eq!(load(&lines).objects().len(), 3, "the same object three times is three lines");
}

#[test]
fn what_is_no_object_has_a_line_but_no_verdict() {
    let text = "{\"metadata\": {}}\n{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}";
    assert_eq!(statuses(text), [Status::Unknown, Status::Current]);
    let dump = load("kind: ConfigMap\napiVersion: v1\n---\njust words\n---\n a: [\n");
    assert_eq!((dump.objects().len(), dump.problems().len()), (1, 2), "{:?}", dump.problems());
    let nothing = Dump::load(&[Source::Stdin("".into())], 1 << 20, &options()).expect_err("no objects");
    assert!(nothing.to_string().contains("no objects"), "{nothing}");
}

const WIDGET: &str = "
apiVersion: example.com/v1
kind: Widget
metadata: {name: w, creationTimestamp: \"2025-01-01T00:00:00Z\"}
spec: {size: 3}
";
const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com, creationTimestamp: \"2024-01-01T00:00:00Z\"}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  versions: [{name: v1, schema: {openAPIV3Schema: {properties: {PROMISE: {}}}}}]
status: {conditions: [{type: Established, status: \"True\"}, {type: NamesAccepted, status: \"True\"}]}
";

#[test]
fn a_silent_object_is_as_settled_as_its_definition_says() {
    assert_eq!(statuses(WIDGET), [Status::InProgress], "nobody can tell whether a status is to come");
    let old = WIDGET
        .replace("kind: Widget", "kind: Widget\nstatus: {}")
        .replace("Z\"}", "Z\", managedFields: [{manager: m, time: \"2025-01-01T01:00:00Z\"}]}");
    assert_eq!(statuses(&old), [Status::Current], "an hour without a word");
    let quiet = format!("{WIDGET}---{}", DEFINITION.replace("PROMISE", "spec"));
    assert_eq!(statuses(&quiet)[0], Status::Current, "no status is declared");
    let promised = DEFINITION.replace("PROMISE: {}", "status: {properties: {conditions: {}}}");
    assert_eq!(statuses(&format!("{WIDGET}---{promised}"))[0], Status::InProgress, "a promise");
}

#[test]
fn the_clock_of_a_dump_is_the_last_thing_that_happened_in_it() {
    let later =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, creationTimestamp: \"2027-05-05T00:00:00Z\"}";
    let dump = load(&format!("{EVENT}---{POD}---\n{later}"));
    assert_eq!(dump.clock().to_string(), "2025-01-01T00:10:00Z");
    let timeless = load("apiVersion: v1\nkind: ConfigMap\n");
    assert_eq!(Some(timeless.clock()), options().now);
}

#[test]
fn the_class_of_a_dump_is_that_of_a_look_at_its_objects() {
    let of = |text: &str| exit_class(&verdicts(text));
    assert_eq!(of(DEPLOYMENT), ExitClass::Ok, "in progress is no failure");
    assert_eq!(of("{\"a\": 1}"), ExitClass::Unknown);
    let failed =
        "apiVersion: v1\nkind: Pod\nspec: {restartPolicy: Never}\nstatus: {phase: Failed, reason: Evicted}\n";
    assert_eq!(of(&format!("{failed}---\n{{\"a\": 1}}")), ExitClass::Failed);
}

#[test]
fn the_rule_that_decided_has_a_name() {
    let rule = |text: &str| {
        let dump = load(text);
        dump.rule(&dump.objects()[0]).expect("a rule").to_string()
    };
    assert!(rule(DEPLOYMENT).starts_with("Deployment.apps: "), "{}", rule(DEPLOYMENT));
    assert!(rule(WIDGET).starts_with("habits: no status"), "{}", rule(WIDGET));
    let terminating = WIDGET.replace("{name: w,", "{name: w, deletionTimestamp: \"2025-01-01T00:00:00Z\",");
    assert_eq!(rule(&terminating), "every kind: `metadata.deletionTimestamp` is set (kstatus)");
}

#[test]
fn a_rule_on_a_definition_counts_for_its_kind() {
    let rule = |text: &str| {
        let marked =
            format!("{{name: widgets.example.com, annotations: {{kubesettle.io/status-rule: {text}}},");
        DEFINITION.replace("{name: widgets.example.com,", &marked)
    };
    let good = format!("{WIDGET}---{}", rule("\"current: '{.spec.size}=3'\""));
    assert_eq!(verdicts(&good)[0].reason.as_str(), "RuleCurrent");
    let bad = load(&format!("{WIDGET}---{}", rule("\"current: '{.spec'\"")));
    assert_eq!((bad.warnings().len(), bad.judge(&options())[0].verdict.reason.as_str()), (1, "NoStatus"));
    // A file of rules comes before it.
    let text = "rules: [{match: {group: example.com, kind: Widget}, current: '{.spec.size}=4'}]";
    let rules = crate::rules::parse("r.yaml", text.as_bytes()).expect("good rules");
    let options = DumpOptions { rulebook: kstatus::Rulebook::default().with_rules(rules), ..options() };
    let dump = Dump::load(&[Source::Stdin(good.into())], 1 << 20, &options).expect("objects");
    assert_eq!(dump.judge(&options)[0].verdict.reason.as_str(), "RuleInProgress");
}
