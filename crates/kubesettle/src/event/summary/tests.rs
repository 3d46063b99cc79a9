use super::*;
use crate::error::ApiError;
use crate::event::fixtures::{deployment, event, start, stream, verdict};

fn fold(bodies: impl IntoIterator<Item = Body>) -> Summary {
    let mut summary = Summary::new();
    for event in stream(bodies) {
        summary.observe(&event);
    }
    summary
}

fn finished(name: &str, action: Action, outcome: Outcome) -> Body {
    Body::Finished { id: deployment(name), action, outcome }
}

fn applied(name: &str, outcome: Outcome) -> Body {
    finished(name, Action::Apply, outcome)
}

fn concluded(name: &str, conclusion: Conclusion) -> Body {
    Body::Concluded { id: deployment(name), conclusion }
}

fn status(name: &str, status: Status) -> Body {
    Body::Verdict { id: deployment(name), verdict: verdict(status, "") }
}

fn refused(class: ErrorClass) -> Outcome {
    Outcome::Failed(ApiError::local(class, "no"))
}

fn behind(name: &str) -> Outcome {
    Outcome::Skipped(Skip::Dependency { chain: vec![deployment(name)], reason: "it failed".into() })
}

#[test]
fn objects_are_counted_not_events() {
    let summary = fold([
        start(Operation::Apply, 1),
        applied("web", Outcome::Created),
        status("web", Status::InProgress),
        status("web", Status::Failed),
        concluded("web", Conclusion::Failed),
        status("web", Status::Current),
        concluded("web", Conclusion::Settled),
    ]);
    assert_eq!(summary.objects().len(), 1);
    assert_eq!(summary.conclusions(), Conclusions { settled: 1, ..Conclusions::default() });
    assert_eq!(summary.exit_class(), ExitClass::Ok);
    assert_eq!(summary.unfinished().count(), 0);
}

#[test]
fn each_outcome_has_its_count() {
    let summary = fold([
        start(Operation::Apply, 9),
        applied("a", Outcome::Created),
        applied("b", Outcome::Configured),
        applied("c", Outcome::Unchanged),
        applied("d", Outcome::Applied),
        applied("e", refused(ErrorClass::Invalid)),
        applied("f", behind("e")),
        applied("g", Outcome::Cancelled),
        finished("h", Action::Prune, Outcome::Deleted),
        finished("i", Action::Prune, Outcome::AlreadyGone),
    ]);
    let apply = summary.tally(Action::Apply);
    assert_eq!(
        apply,
        Tally {
            created: 1,
            configured: 1,
            unchanged: 1,
            applied: 1,
            failed: 1,
            skipped: 1,
            cancelled: 1,
            ..Tally::default()
        }
    );
    assert_eq!((apply.total(), apply.successful()), (7, 4));
    let prune = summary.tally(Action::Prune);
    assert_eq!((prune.deleted, prune.already_gone, prune.total()), (1, 1, 2));
    assert_eq!(summary.tally(Action::Delete), Tally::default());
}

#[test]
fn a_second_result_of_one_action_replaces_the_first() {
    let summary = fold([applied("a", refused(ErrorClass::Invalid)), applied("a", Outcome::Created)]);
    assert_eq!(summary.tally(Action::Apply), Tally { created: 1, ..Tally::default() });
}

#[test]
fn the_exit_class_follows_the_worst_object() {
    use Conclusion::{Cancelled, Failed, NotApplied, NotAwaited, Settled, TimedOut, Unknown};
    let cases: &[(&[Conclusion], ExitClass)] = &[
        (&[], ExitClass::Ok),
        (&[Settled, NotAwaited], ExitClass::Ok),
        (&[Settled, Unknown], ExitClass::Unknown),
        (&[Unknown, TimedOut], ExitClass::TimedOut),
        (&[TimedOut, Failed], ExitClass::Failed),
        (&[TimedOut, NotApplied], ExitClass::Failed),
        (&[Failed, Cancelled], ExitClass::Interrupted),
    ];
    for (conclusions, expected) in cases {
        let names = ["a", "b"];
        let bodies = names.iter().zip(conclusions.iter()).map(|(n, c)| concluded(n, c.clone()));
        assert_eq!(fold(bodies).exit_class(), *expected, "{conclusions:?}");
    }
}

#[test]
fn what_was_not_tried_is_late_or_interrupted() {
    let ends = |conclusion| fold([applied("a", Outcome::Cancelled), concluded("a", conclusion)]).exit_class();
    assert_eq!(ends(Conclusion::TimedOut), ExitClass::TimedOut);
    assert_eq!(ends(Conclusion::Cancelled), ExitClass::Interrupted);
}

#[test]
fn lost_contact_and_rejected_credentials_have_their_own_class() {
    let classes = [
        (ErrorClass::Unreachable, Conclusion::Unknown, ExitClass::Unknown),
        (ErrorClass::TimedOut, Conclusion::Unknown, ExitClass::Unknown),
        (ErrorClass::Unauthorized, Conclusion::NotApplied, ExitClass::Unreachable),
    ];
    for (class, conclusion, expected) in classes {
        let summary = fold([applied("a", refused(class)), concluded("a", conclusion)]);
        assert_eq!(summary.exit_class(), expected, "{class:?}");
    }
    assert_eq!(fold([applied("a", refused(ErrorClass::Forbidden))]).exit_class(), ExitClass::Failed);
}

#[test]
fn a_skipped_dependent_takes_the_class_of_where_it_began() {
    let late = [
        concluded("db", Conclusion::TimedOut),
        applied("web", behind("db")),
        concluded("web", Conclusion::Skipped),
    ];
    assert_eq!(fold(late).exit_class(), ExitClass::TimedOut);
    let outside = [applied("web", behind("elsewhere")), concluded("web", Conclusion::Skipped)];
    assert_eq!(fold(outside).exit_class(), ExitClass::Failed);
}

#[test]
fn an_object_of_others_refuses_an_apply_but_no_deletion() {
    let skip = || Outcome::Skipped(Skip::Refused { message: "policy".into(), hint: "adopt".into() });
    assert_eq!(fold([applied("a", skip())]).exit_class(), ExitClass::Refused);
    assert_eq!(fold([finished("a", Action::Delete, skip())]).exit_class(), ExitClass::Ok);
}

#[test]
fn looking_once_reports_what_was_seen() {
    let look = |word| {
        let seen = [start(Operation::Status, 1), status("a", word), concluded("a", Conclusion::NotAwaited)];
        fold(seen).exit_class()
    };
    assert_eq!(look(Status::Current), ExitClass::Ok);
    assert_eq!(look(Status::InProgress), ExitClass::Ok);
    assert_eq!(look(Status::NotFound), ExitClass::Ok);
    assert_eq!(look(Status::Failed), ExitClass::Failed);
    assert_eq!(look(Status::Unknown), ExitClass::Unknown);
}

#[test]
fn an_apply_without_waiting_does_not_judge() {
    let summary = fold([
        start(Operation::Apply, 1),
        applied("a", Outcome::Created),
        status("a", Status::Failed),
        concluded("a", Conclusion::NotAwaited),
    ]);
    assert_eq!(summary.exit_class(), ExitClass::Ok);
}

#[test]
fn unfinished_objects_keep_their_last_verdict_and_order() {
    let summary = fold([
        applied("b", Outcome::Created),
        applied("a", Outcome::Created),
        applied("c", Outcome::Unchanged),
        status("a", Status::InProgress),
        status("a", Status::Unknown),
        concluded("c", Conclusion::Settled),
        concluded("a", Conclusion::Unknown),
    ]);
    let unfinished: Vec<_> =
        summary.unfinished().map(|o| (o.id.name(), o.verdict.as_ref().map(|v| v.status))).collect();
    assert_eq!(unfinished, [("b", None), ("a", Some(Status::Unknown))]);
    assert_eq!(summary.elapsed(), Duration::from_secs(6));
}

#[test]
fn invalid_objects_are_counted() {
    let invalid = Body::Invalid { objects: vec![deployment("a"), deployment("b")], error: "twice".into() };
    let mut summary = Summary::new();
    summary.observe(&event(invalid));
    assert_eq!((summary.invalid(), summary.objects().len()), (2, 0));
}
