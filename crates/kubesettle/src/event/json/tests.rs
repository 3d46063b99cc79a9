use kstatus::Status;
use serde_json::Value;

use super::*;
use crate::error::{ErrorClass, ExitClass, FieldCause};
use crate::event::fixtures::{deployment, event, image_missing, namespace, start, stream, verdict};
use crate::event::{Awaited, Operation};
use crate::id::GroupKind;

/// What every line of the fixtures begins with.
fn head(kind: &str) -> String {
    format!(r#"{{"timestamp":"2025-01-01T00:00:00Z","type":"{kind}","seq":0,"elapsed":0.000,"#)
}

fn check(body: Body, kind: &str, rest: &str) {
    let line = to_json_line(&event(body));
    assert_eq!(line, format!("{}{rest}}}", head(kind)));
    serde_json::from_str::<Value>(&line).expect("JSON");
}

const WEB: &str = r#""group":"apps","kind":"Deployment","name":"web","namespace":"shop""#;

#[test]
fn the_first_line_names_the_schema() {
    check(
        start(Operation::Apply, 18),
        "start",
        r#""schemaVersion":1,"operation":"apply","objects":18,"namespaces":1"#,
    );
    let set = ObjectId::new(GroupKind::new("", "ConfigMap"), "default", "shop");
    check(
        Body::Start(Start {
            operation: Operation::Destroy,
            dry_run: None,
            set: Some(set),
            objects: 2,
            namespaces: 0,
        }),
        "start",
        r#""schemaVersion":1,"operation":"destroy","set":{"group":"","kind":"ConfigMap","name":"shop","namespace":"default"},"objects":2,"namespaces":0"#,
    );
}

#[test]
fn invalid_objects_are_kapplys_validation_line() {
    check(
        Body::Invalid { objects: vec![deployment("web")], error: "cycle".into() },
        "validation",
        &format!(r#""objects":[{{{WEB}}}],"error":"cycle""#),
    );
}

#[test]
fn every_outcome_has_kapplys_word_and_ours() {
    let words = [
        (Outcome::Created, "Successful", "created"),
        (Outcome::Configured, "Successful", "configured"),
        (Outcome::Unchanged, "Successful", "unchanged"),
        (Outcome::Applied, "Successful", "applied"),
        (Outcome::Deleted, "Successful", "deleted"),
        (Outcome::AlreadyGone, "Successful", "alreadyGone"),
        (Outcome::Cancelled, "Skipped", "cancelled"),
    ];
    for (outcome, status, operation) in words {
        for action in [Action::Apply, Action::Prune, Action::Delete, Action::Recreate] {
            check(
                Body::Finished { id: deployment("web"), action, outcome: outcome.clone() },
                action.as_str(),
                &format!(r#"{WEB},"status":"{status}","operation":"{operation}""#),
            );
        }
    }
    check(
        Body::Started { id: namespace("shop"), action: Action::Apply },
        "apply",
        r#""group":"","kind":"Namespace","name":"shop","namespace":"","status":"Pending""#,
    );
}

#[test]
fn a_failure_carries_code_status_fields_and_hint() {
    let mut error = ApiError::local(ErrorClass::FieldConflict, "1 conflict");
    error.status = Some(409);
    error.causes = vec![FieldCause { field: ".spec.replicas".into(), message: "owned by hpa".into() }];
    let hint = error.hint().expect("a conflict has a hint");
    let keys = format!(
        r#""error":"1 conflict","code":"FieldConflict","httpStatus":409,"fields":[{{"field":".spec.replicas","message":"owned by hpa"}}],"hint":"{hint}""#
    );
    check(
        Body::Finished {
            id: deployment("web"),
            action: Action::Apply,
            outcome: Outcome::Failed(error.clone()),
        },
        "apply",
        &format!(r#"{WEB},"status":"Failed","operation":"failed",{keys}"#),
    );
    check(
        Body::Retry {
            id: deployment("web"),
            action: Action::Apply,
            error,
            attempt: 2,
            delay: Duration::from_millis(1500),
        },
        "retry",
        &format!(r#"{WEB},"action":"apply","attempt":2,{keys},"delay":1.500"#),
    );
}

#[test]
fn a_skip_names_its_chain() {
    let skip = Skip::Dependency { chain: vec![deployment("web")], reason: "it timed out".into() };
    check(
        Body::Finished { id: namespace("x"), action: Action::Apply, outcome: Outcome::Skipped(skip) },
        "apply",
        &format!(
            r#""group":"","kind":"Namespace","name":"x","namespace":"","status":"Skipped","operation":"skipped","error":"needs deployment.apps/web in shop: it timed out","code":"Dependency","chain":[{{{WEB}}}]"#
        ),
    );
}

#[test]
fn a_verdict_has_its_causes_and_progress() {
    check(
        Body::Verdict { id: deployment("web"), verdict: verdict(Status::NotFound, "gone") },
        "status",
        &format!(r#"{WEB},"status":"NotFound","message":"gone","reason":"NotFound","causes":[]"#),
    );
    let line = to_json_line(&event(Body::Verdict { id: deployment("web"), verdict: image_missing() }));
    let line: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(line["status"], "InProgress");
    assert_eq!(line["progress"], serde_json::json!({"have": 1, "want": 3, "what": "available"}));
    let cause = &line["causes"][0];
    assert_eq!(cause["code"], "ImagePullBackOff");
    assert_eq!(cause["object"], serde_json::json!({"group": "", "kind": "Pod", "name": "web-7c9d-x2"}));
    assert_eq!(cause["chain"].as_array().map(Vec::len), Some(3));
    assert_eq!(cause["container"], "app");
    assert_eq!(cause["since"], "2025-01-01T00:00:00Z");
    assert_eq!(cause["fatal"], false);
    assert_eq!(cause["count"], 1);
    assert_eq!(cause["failsAt"], "2025-01-01T00:01:00Z");
}

#[test]
fn every_conclusion_has_kapplys_word() {
    let words = [
        (Conclusion::Settled, "Successful", "Settled"),
        (Conclusion::Failed, "Failed", "Failed"),
        (Conclusion::NotApplied, "Skipped", "NotApplied"),
        (Conclusion::Skipped, "Skipped", "Skipped"),
        (Conclusion::TimedOut, "Timeout", "TimedOut"),
        (Conclusion::Unknown, "Timeout", "Unknown"),
        (Conclusion::Cancelled, "Skipped", "Cancelled"),
        (Conclusion::NotAwaited, "Skipped", "NotAwaited"),
    ];
    for (conclusion, status, word) in words {
        check(
            Body::Concluded { id: deployment("web"), conclusion },
            "wait",
            &format!(r#"{WEB},"status":"{status}","conclusion":"{word}""#),
        );
    }
    let any = event(start(Operation::Apply, 1));
    assert_eq!(
        pending_wait_line(&any, &deployment("web")),
        format!(r#"{}{WEB},"status":"Pending"}}"#, head("wait"))
    );
}

#[test]
fn a_reminder_lists_what_is_awaited() {
    let awaited = vec![
        Awaited {
            id: deployment("web"),
            verdict: Some(verdict(Status::InProgress, "1 of 3")),
            since: Duration::from_secs(30),
        },
        Awaited { id: namespace("x"), verdict: None, since: Duration::ZERO },
    ];
    check(
        Body::Waiting { awaited, total: 18 },
        "waiting",
        &format!(
            r#""total":18,"awaited":[{{{WEB},"status":"InProgress","reason":"NotFound","message":"1 of 3","seconds":30.000}},{{"group":"","kind":"Namespace","name":"x","namespace":"","seconds":0.000}}]"#
        ),
    );
}

#[test]
fn notices_name_their_source() {
    check(
        Body::Warning {
            id: Some(deployment("web")),
            source: WarningSource::Server,
            message: "deprecated".into(),
        },
        "warning",
        &format!(r#"{WEB},"source":"server","message":"deprecated""#),
    );
    check(
        Body::Warning { id: None, source: WarningSource::Run, message: "slow".into() },
        "warning",
        r#""source":"run","message":"slow""#,
    );
    check(
        Body::Gap {
            kind: GroupKind::new("apps", "Deployment"),
            namespace: "".into(),
            reason: "forbidden".into(),
        },
        "gap",
        r#""group":"apps","kind":"Deployment","namespace":"","reason":"forbidden""#,
    );
}

#[test]
fn the_summary_has_a_line_per_action_and_a_total() {
    let mut summary = Summary::new();
    for event in stream([
        start(Operation::Apply, 3),
        Body::Finished { id: deployment("a"), action: Action::Apply, outcome: Outcome::Created },
        Body::Finished { id: deployment("b"), action: Action::Apply, outcome: Outcome::Unchanged },
        Body::Finished { id: deployment("c"), action: Action::Prune, outcome: Outcome::Deleted },
        Body::Concluded { id: deployment("a"), conclusion: Conclusion::TimedOut },
        Body::Concluded { id: deployment("b"), conclusion: Conclusion::Settled },
        Body::Concluded { id: deployment("c"), conclusion: Conclusion::Settled },
    ]) {
        summary.observe(&event);
    }
    let lines = to_json_line(&event(Body::Summary(summary)));
    let rest: Vec<_> =
        lines.lines().map(|line| line.strip_prefix(&head("summary")).unwrap_or(line)).collect();
    assert_eq!(
        rest,
        [
            r#""action":"Apply","count":2,"successful":2,"skipped":0,"failed":0,"created":1,"unchanged":1}"#,
            r#""action":"Prune","count":1,"successful":1,"skipped":0,"failed":0,"deleted":1}"#,
            r#""action":"Wait","count":3,"successful":2,"skipped":0,"failed":0,"timeout":1}"#,
            r#""action":"Total","count":3,"successful":2,"skipped":0,"failed":0,"timeout":1,"unknown":0,"cancelled":0,"notAwaited":0,"invalid":0,"seconds":6.000}"#,
        ]
    );
}

#[test]
fn the_last_line_has_the_exit_code() {
    check(Body::End { class: ExitClass::Ok, message: None }, "end", r#""outcome":"Ok","exitCode":0"#);
    check(
        Body::End { class: ExitClass::Interrupted, message: Some("Ctrl-C".into()) },
        "end",
        r#""outcome":"Interrupted","exitCode":130,"message":"Ctrl-C""#,
    );
}

#[test]
fn text_from_outside_cannot_break_a_line() {
    let message = "line one\nline \"two\" \u{1b}[31m";
    let line = to_json_line(&event(Body::Warning {
        id: None,
        source: WarningSource::Server,
        message: message.into(),
    }));
    assert!(!line.contains('\n') && !line.contains('\u{1b}'));
    let back: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(back["message"], message);
}
