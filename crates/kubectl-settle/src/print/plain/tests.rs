use insta::assert_snapshot;
use kstatus::{CauseCode, Status, Verdict};
use kubesettle::error::{ApiError, ErrorClass, ExitClass};
use kubesettle::event::{DryRun, Outcome};
use kubesettle::id::GroupKind;

use super::*;
use crate::print::fixtures::{
    Script, available, behind, config_map, current, deployment, fatal, id, refused, shop, show, troubled,
    verdict,
};

fn options() -> Options {
    Options {
        palette: Palette::new(false),
        zone: TimeZone::UTC,
        quiet: false,
        verbose: false,
        server: String::new(),
        kubectl: "kubectl".to_owned(),
        places: HashMap::new(),
    }
}

fn ids(events: &[Event]) -> Vec<ObjectId> {
    let mut summary = Summary::new();
    events.iter().for_each(|event| summary.observe(event));
    summary.objects().iter().map(|object| object.id.clone()).collect()
}

fn plain_with(options: Options, events: &[Event]) -> String {
    let ids = ids(events);
    let page = show(&mut Plain::new(options, &ids), events);
    format!("{}{}", page.out, page.err)
}

fn plain(events: &[Event]) -> String {
    plain_with(options(), events)
}

#[test]
fn a_run_with_a_missing_image() {
    let places = HashMap::from([(deployment("web"), "shop/web.yaml:14".to_owned())]);
    let options = Options {
        places,
        server: "https://10.0.0.1:6443".to_owned(),
        kubectl: "kubectl --context prod".to_owned(),
        ..options()
    };
    assert_snapshot!(plain_with(options, &shop()));
}

#[test]
fn quiet_says_only_what_goes_wrong() {
    assert_snapshot!(plain_with(Options { quiet: true, ..options() }, &shop()));
    let fine = Script::new(Operation::Apply, 1, 1)
        .applied(&config_map("a"), Outcome::Created)
        .settled(&config_map("a"), current())
        .end();
    assert_eq!(plain_with(Options { quiet: true, ..options() }, &fine), "");
}

#[test]
fn colours_only_add_to_words() {
    let coloured = plain_with(Options { palette: Palette::new(true), ..options() }, &shop());
    assert!(coloured.contains("\u{1b}["));
    let mut bare = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        bare.push_str(before);
        rest = after.split_once('m').expect("the end of a colour").1;
    }
    bare.push_str(rest);
    assert_eq!(bare, plain(&shop()));
}

#[test]
fn what_settles_at_once_has_one_line() {
    let (a, b) = (config_map("a"), config_map("b"));
    let events = Script::new(Operation::Apply, 2, 1)
        .applied(&a, Outcome::Unchanged)
        .applied(&b, Outcome::Created)
        .at(200)
        .settled(&a, current())
        .at(300)
        .settled(&b, current())
        .end();
    let text = plain(&events);
    assert_eq!(text.lines().filter(|line| line.contains("configmap/")).count(), 2, "{text}");
    assert!(text.contains("unchanged     settled") && text.contains("created       settled"), "{text}");
}

#[test]
fn a_thousand_objects_stay_readable() {
    let mut script = Script::new(Operation::Apply, 1000, 1);
    let ids: Vec<_> = (0..1000).map(|n| deployment(&format!("web-{n}"))).collect();
    for (n, id) in ids.iter().enumerate() {
        let millis = n as u64 * 5;
        script = script.at(millis).applied(id, Outcome::Created).verdict(id, available(0, 3));
    }
    for (n, id) in ids.iter().enumerate() {
        let millis = 5_000 + n as u64 * 10;
        script = script.at(millis).verdict(id, available(1, 3)).verdict(id, available(2, 3));
        script = script.settled(id, available(3, 3));
    }
    let text = plain(&script.end());
    // Two lines an object, the head, a blank line and the totals.
    assert_eq!(text.lines().count(), 2003);
    assert!(text.ends_with("1000 applied: 1000 created.  1000 settled, in 14s\n"), "{text}");
}

#[test]
fn many_failures_with_one_cause_are_one_entry() {
    let mut script = Script::new(Operation::Apply, 203, 1);
    for n in 0..200 {
        let name = format!("web-{n}");
        let id = deployment(&name);
        let failed = fatal(troubled(&name, CauseCode::InvalidImageName, "\"Web:latest\"", 4 + n % 3));
        script = script
            .applied(&id, Outcome::Created)
            .at(4_000)
            .verdict(&id, failed)
            .concluded(&id, Conclusion::Failed);
    }
    for name in ["a", "b"] {
        let message = format!("deployments.apps \"{name}\" is forbidden: User \"ci\" cannot patch");
        script = script
            .applied(&deployment(name), refused(ErrorClass::Forbidden, &message))
            .concluded(&deployment(name), Conclusion::NotApplied);
    }
    let text = plain(&script.end());
    let (_, report) = text.split_once("\n\n").expect("a report");
    assert_snapshot!(report);
}

#[test]
fn a_refused_write_shows_fields_hint_and_what_it_blocked() {
    let (db, web, cron) = (deployment("db"), deployment("web"), deployment("cron"));
    let mut conflict = ApiError::local(ErrorClass::FieldConflict, "Apply failed with 1 conflict");
    conflict.causes.push(kubesettle::error::FieldCause {
        field: ".spec.replicas".into(),
        message: "conflict with \"hpa\"".into(),
    });
    let events = Script::new(Operation::Apply, 3, 1)
        .applied(&db, Outcome::Failed(conflict))
        .concluded(&db, Conclusion::NotApplied)
        .applied(&web, behind(&[&db], "its own action failed"))
        .concluded(&web, Conclusion::Skipped)
        .applied(&cron, behind(&[&web, &db], "its own action failed"))
        .concluded(&cron, Conclusion::Skipped)
        .end();
    assert_snapshot!(plain(&events));
}

#[test]
fn timeouts_and_unknown_states_say_what_was_missing() {
    let (web, job) = (deployment("web"), id("batch", "Job", "shop", "migrate"));
    let events = Script::new(Operation::Apply, 2, 1)
        .applied(&web, Outcome::Configured)
        .applied(&job, Outcome::Created)
        .at(10)
        .verdict(&web, available(1, 3))
        .verdict(&job, verdict(Status::Unknown, "no right to watch jobs.batch in shop"))
        .at(60_000)
        .concluded(&web, Conclusion::TimedOut)
        .concluded(&job, Conclusion::Unknown)
        .end();
    assert_snapshot!(plain(&events));
}

#[test]
fn a_destroyed_set_is_gone() {
    let (web, config) = (deployment("web"), config_map("settings"));
    let old = config_map("old");
    let events = Script::new(Operation::Destroy, 3, 1)
        .finished(&web, Action::Delete, Outcome::Deleted)
        .finished(&old, Action::Delete, Outcome::AlreadyGone)
        .concluded(&old, Conclusion::Settled)
        .at(100)
        .verdict(&web, verdict(Status::Terminating, "Resource scheduled for deletion"))
        .at(3_000)
        .settled(&web, Verdict::not_found())
        .finished(&config, Action::Delete, Outcome::Deleted)
        .settled(&config, Verdict::not_found())
        .end();
    assert_snapshot!(plain(&events));
}

#[test]
fn a_look_lists_each_state_once() {
    let (web, db, old) = (deployment("web"), deployment("db"), config_map("old"));
    let crash = || fatal(troubled("db", CauseCode::CrashLoopBackOff, "back-off 5m0s", 0));
    let events = Script::new(Operation::Status, 3, 1)
        .verdict(&web, available(3, 3))
        .verdict(&db, crash())
        .verdict(&old, Verdict::not_found())
        .concluded(&web, Conclusion::NotAwaited)
        .concluded(&db, Conclusion::NotAwaited)
        .concluded(&old, Conclusion::NotAwaited)
        .end();
    assert_snapshot!(plain(&events));
}

#[test]
fn an_interrupted_run_says_what_was_not_done() {
    let (web, db) = (deployment("web"), deployment("db"));
    let events = Script::new(Operation::Apply, 2, 1)
        .applied(&web, Outcome::Created)
        .at(400)
        .concluded(&web, Conclusion::Cancelled)
        .applied(&db, Outcome::Cancelled)
        .concluded(&db, Conclusion::Cancelled)
        .end_as(ExitClass::Interrupted, Some("stopped by the user"));
    assert_snapshot!(plain(&events));
}

#[test]
fn repeated_warnings_and_retries_are_folded() {
    let deprecated = "policy/v1beta1 PodDisruptionBudget is deprecated";
    let gone = || ApiError::local(ErrorClass::Unreachable, "connection refused");
    let mut script = Script::new(Operation::Apply, 3, 1);
    for name in ["a", "b", "c"] {
        let id = config_map(name);
        script = script.warning(&id, deprecated).retry(&id, 1, gone()).retry(&id, 2, gone());
        script = script.applied(&id, Outcome::Created).settled(&id, current());
    }
    let text = plain(&script.end());
    assert_eq!(text.matches(deprecated).count(), 2, "{text}");
    assert!(text.contains("the same warning 2 times more"), "{text}");
    assert_eq!(text.matches("connection refused").count(), 3, "{text}");
}

#[test]
fn progress_is_told_the_more_rarely_the_more_objects_there_are() {
    let told = |objects| {
        let web = deployment("web");
        let mut script = Script::new(Operation::Apply, objects, 1).applied(&web, Outcome::Created);
        for step in 1..=50 {
            script = script.at(step * 1000).verdict(&web, available(step as i64, 100));
        }
        plain(&script.end()).matches("in progress").count()
    };
    assert_eq!(told(1), 50);
    assert!((3..=6).contains(&told(100)), "{}", told(100));
    assert!(told(1000) <= 2);
}

#[test]
fn text_from_the_cluster_cannot_forge_lines() {
    let web = deployment("web");
    let evil = "no\n14:02:11  deployment.apps/web  shop  settled\u{1b}[2K";
    let events = Script::new(Operation::Apply, 1, 1)
        .applied(&web, refused(ErrorClass::Denied, evil))
        .concluded(&web, Conclusion::NotApplied)
        .end();
    let text = plain(&events);
    assert!(!text.contains('\u{1b}'));
    assert!(!text.lines().any(|line| line.starts_with("14:02:11  deployment.apps/web  shop  settled")));
}

#[test]
fn what_a_refusal_lists_stands_on_lines_of_its_own() {
    let message =
        "the plan is stale\n  configmap/a was changed\n  configmap/b is gone\u{1b}[2J\nmake a new plan";
    let text = plain(&Script::new(Operation::Apply, 2, 1).end_as(ExitClass::Refused, Some(message)));
    let end =
        "error: the plan is stale\n  configmap/a was changed\n  configmap/b is gone [2J\n  make a new plan\n";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn a_set_whose_objects_are_not_known_yet_is_named_and_its_lines_line_up() {
    let set = Some(ObjectId::new(GroupKind::new("", "ConfigMap"), "default", "shop"));
    let start = Start { operation: Operation::Destroy, dry_run: None, set, objects: 0, namespaces: 0 };
    let events = Script::starting(start)
        .finished(&deployment("web"), Action::Delete, Outcome::Deleted)
        .finished(&config_map("a"), Action::Delete, Outcome::Deleted)
        .settled(&deployment("web"), current())
        .settled(&config_map("a"), current())
        .end();
    let page = show(&mut Plain::new(options(), &[]), &events);
    let lines: Vec<&str> = page.out.lines().collect();
    assert_eq!(lines[0], "destroying the set default/shop");
    assert!(lines[1].contains("deployment.apps/web  shop  deleted"), "{}", page.out);
    assert!(lines[2].contains("configmap/a          shop  deleted"), "{}", page.out);
}

#[test]
fn nothing_to_look_at_is_no_list() {
    let events = Script::new(Operation::Status, 0, 0).end();
    assert!(plain(&events).ends_with("\n0 objects, in 0.0s\n"), "{}", plain(&events));
}

#[test]
fn a_dry_run_does_not_say_that_it_did_not_wait() {
    let start =
        |dry_run| Start { operation: Operation::Apply, dry_run, set: None, objects: 1, namespaces: 1 };
    let totals = |dry_run| {
        let script = Script::starting(start(dry_run)).applied(&config_map("a"), Outcome::Created);
        plain(&script.concluded(&config_map("a"), Conclusion::NotAwaited).end())
    };
    assert!(totals(Some(DryRun::Server)).contains("1 applied: 1 created, in "));
    assert!(totals(None).contains("1 applied: 1 created.  1 not awaited, in "));
}

#[test]
fn an_object_that_fails_on_in_other_words_is_told_once_in_a_while() {
    let crash = |text: &str| fatal(troubled("web", CauseCode::CrashLoopBackOff, text, 1));
    let script = Script::new(Operation::Apply, 1, 1).applied(&deployment("web"), Outcome::Created);
    let script = (3..20).fold(script, |script, restarts| {
        script.at(restarts * 5_000).verdict(&deployment("web"), crash(&format!("{restarts} restarts")))
    });
    let said = plain(&script.concluded(&deployment("web"), Conclusion::Failed).end());
    let (lines, report) = said.split_once("\n\n").expect("a report");
    let told = ["3 restarts", "8 restarts", "14 restarts", "19 restarts"];
    let failed = lines.lines().filter(|line| line.contains("  failed  ")).count();
    assert_eq!(failed, told.len(), "{said}");
    assert!(told.iter().all(|words| lines.contains(words)), "{said}");
    assert!(report.contains("19 restarts"), "{said}");
}

#[test]
fn what_is_deleted_to_be_created_anew_is_told_so() {
    let job = id("batch", "Job", "shop", "migrate");
    let events = Script::new(Operation::Apply, 1, 1)
        .finished(&job, Action::Recreate, Outcome::Deleted)
        .applied(&job, Outcome::Created)
        .settled(&job, current())
        .end();
    let said = plain(&events);
    assert!(said.contains("deleted       to be created anew\n"), "{said}");
    assert!(said.contains("created       settled\n"), "{said}");
}

#[test]
fn a_cause_that_an_object_copies_from_below_is_told_once() {
    let mut below = troubled("web", CauseCode::QuotaExceeded, "exceeded quota: small", 1);
    let mut copy = below.causes[0].clone();
    copy.chain.truncate(1);
    copy.object = copy.chain[0].clone();
    copy.container = None;
    copy.message = "QuotaExceeded: exceeded quota: small".to_owned();
    below.causes.push(copy);
    let script = Script::new(Operation::Apply, 1, 1).applied(&deployment("web"), Outcome::Created);
    let said = plain(
        &script.verdict(&deployment("web"), below).concluded(&deployment("web"), Conclusion::TimedOut).end(),
    );
    assert!(!said.contains("also:"), "{said}");
}
