use kstatus::{Status, Verdict};
use kubesettle::error::ErrorClass;

use super::*;
use crate::print::fixtures::{
    Script, available, behind, config_map, current, deployment, refused, shop, show, verdict,
};

fn lines(printer: &mut Events, events: &[Event]) -> Vec<String> {
    show(printer, events).out.lines().map(str::to_owned).collect()
}

#[test]
fn a_run_reads_as_kapply_writes_it() {
    let expected = "\
apply phase started
namespace/shop apply successful
reconcile phase started
namespace/shop reconcile successful
configmap/settings apply successful
deployment.apps/web apply successful
deployment.apps/db apply successful
job.batch/migrate apply successful
configmap/settings reconcile successful
deployment.apps/web reconcile pending
deployment.apps/db reconcile pending
job.batch/migrate reconcile pending
deployment.apps/db reconcile successful
job.batch/migrate reconcile successful
deployment.apps/web reconcile failed
apply phase finished
reconcile phase finished
apply result: 5 attempted, 5 successful, 0 skipped, 0 failed
reconcile result: 5 attempted, 4 successful, 0 skipped, 1 failed, 0 timed out";
    assert_eq!(lines(&mut Events::default(), &shop()).join("\n"), expected);
}

#[test]
fn failures_and_skips_have_their_reason() {
    let (db, web, late) = (deployment("db"), deployment("web"), config_map("late"));
    let events = Script::new(Operation::Apply, 3, 1)
        .applied(&db, refused(ErrorClass::Invalid, "spec.replicas:\nmust not be negative"))
        .concluded(&db, Conclusion::NotApplied)
        .applied(&web, behind(&[&db], "its own action failed"))
        .concluded(&web, Conclusion::Skipped)
        .applied(&late, Outcome::Configured)
        .concluded(&late, Conclusion::TimedOut)
        .end();
    assert_eq!(
        lines(&mut Events::default(), &events),
        [
            "apply phase started",
            "deployment.apps/db apply failed: spec.replicas: must not be negative",
            "reconcile phase started",
            "deployment.apps/db reconcile skipped",
            "deployment.apps/web apply skipped: dependency apply actuation failed: shop_db_apps_Deployment",
            "deployment.apps/web reconcile skipped",
            "configmap/late apply successful",
            "configmap/late reconcile timeout",
            "apply phase finished",
            "reconcile phase finished",
            "apply result: 3 attempted, 1 successful, 1 skipped, 1 failed",
            "reconcile result: 3 attempted, 0 successful, 2 skipped, 0 failed, 1 timed out",
        ]
    );
}

#[test]
fn statuses_are_told_only_when_asked() {
    let web = deployment("web");
    let events = Script::new(Operation::Apply, 1, 1)
        .applied(&web, Outcome::Created)
        .verdict(&web, available(0, 3))
        .settled(&web, current())
        .end();
    let quiet = lines(&mut Events::new(false), &events);
    assert!(!quiet.iter().any(|line| line.contains(" is ")), "{quiet:?}");
    let asked = lines(&mut Events::new(true), &events);
    assert_eq!(asked[3], "deployment.apps/web reconcile pending");
    assert_eq!(asked[4], "deployment.apps/web is InProgress: Available: 0/3");
    assert_eq!(asked[5], "deployment.apps/web is Current: Resource is current");
}

#[test]
fn a_deletion_has_its_own_verb() {
    let (a, b) = (config_map("a"), config_map("b"));
    let events = Script::new(Operation::Destroy, 2, 1)
        .finished(&a, Action::Delete, Outcome::Deleted)
        .finished(&b, Action::Delete, Outcome::AlreadyGone)
        .verdict(&a, verdict(Status::Terminating, "going"))
        .settled(&a, Verdict::not_found())
        .settled(&b, Verdict::not_found())
        .end();
    assert_eq!(
        lines(&mut Events::default(), &events),
        [
            "delete phase started",
            "configmap/a delete successful",
            "configmap/b delete successful",
            "reconcile phase started",
            "configmap/a reconcile pending",
            "configmap/a reconcile successful",
            "configmap/b reconcile successful",
            "delete phase finished",
            "reconcile phase finished",
            "delete result: 2 attempted, 2 successful, 0 skipped, 0 failed",
            "reconcile result: 2 attempted, 2 successful, 0 skipped, 0 failed, 0 timed out",
        ]
    );
}

#[test]
fn invalid_objects_are_named() {
    let one = Body::Invalid { objects: vec![deployment("a")], error: "no kind".into() };
    let two = Body::Invalid { objects: vec![deployment("a"), config_map("b")], error: "cycle".into() };
    let events = Script::new(Operation::Apply, 0, 0).body(one).body(two).end();
    assert_eq!(
        lines(&mut Events::default(), &events),
        [
            "Invalid object (deployment.apps/a): no kind",
            "Invalid objects (deployment.apps/a, configmap/b): cycle",
        ]
    );
}

#[test]
fn what_kapply_has_no_line_for_goes_to_standard_error() {
    let events = Script::new(Operation::Apply, 1, 1)
        .warning(&config_map("a"), "deprecated")
        .applied(&config_map("a"), Outcome::Created)
        .end();
    let page = show(&mut Events::default(), &events);
    assert_eq!(page.err, "warning: configmap/a in shop: deprecated\n");
    assert!(!page.out.contains("deprecated"));
}

#[test]
fn skips_have_kapplys_words_for_how_far_the_nearest_object_got() {
    let (db, web, late) = (deployment("db"), deployment("web"), config_map("late"));
    let skipped = |conclusion: Option<Conclusion>, outcome: Outcome| {
        let mut script = Script::new(Operation::Apply, 2, 1).applied(&db, outcome);
        if let Some(conclusion) = conclusion {
            script = script.concluded(&db, conclusion);
        }
        let lines = lines(&mut Events::default(), &script.applied(&web, behind(&[&db], "x")).end());
        let line = lines.into_iter().find(|line| line.contains("web apply skipped: ")).expect("a line");
        line.split_once("skipped: ").expect("a reason").1.to_owned()
    };
    let key = "shop_db_apps_Deployment";
    assert_eq!(
        skipped(Some(Conclusion::TimedOut), Outcome::Created),
        format!("dependency apply reconcile timeout: {key}")
    );
    assert_eq!(skipped(None, Outcome::Created), format!("dependency apply reconcile failed: {key}"));
    assert_eq!(skipped(None, behind(&[&late], "x")), format!("dependency apply actuation skipped: {key}"));
    let leaving = Outcome::Skipped(Skip::Leaving { needs: late.clone() });
    let needed = Outcome::Skipped(Skip::Needed { by: web.clone() });
    let events = Script::new(Operation::Apply, 1, 1)
        .applied(&web, leaving)
        .finished(&late, Action::Prune, needed)
        .end();
    let lines = lines(&mut Events::default(), &events);
    let has = |line: &str| assert!(lines.iter().any(|said| said == line), "{line}: {lines:?}");
    has("deployment.apps/web apply skipped: dependency scheduled for delete: shop_late__ConfigMap");
    has("configmap/late prune skipped: dependent scheduled for apply: shop_web_apps_Deployment");
}
