use kubesettle::event::{Conclusion, Counts, DryRun, Start};

use super::*;
use crate::print::fixtures::{Script, config_map};

/// What a run's phases are, each turn in one word, with `.` for an event in between.
fn told(script: Script) -> String {
    let mut phases = Phases::default();
    let mut words = Vec::new();
    for event in script.end() {
        let mut turns = phases.before(&event);
        if matches!(event.body, Body::Concluded { .. }) {
            turns.extend(phases.waits());
        }
        turns.extend(phases.after(&event));
        words.extend(turns.into_iter().map(|turn| match turn {
            Turn::Starts(phase) => format!("+{}", phase.as_str()),
            Turn::Ends(phase) => format!("-{}", phase.as_str()),
        }));
    }
    words.join(" ")
}

fn tracked(operation: Operation, objects: usize, dry_run: Option<DryRun>) -> Script {
    let set = Some(config_map("inventory"));
    Script::starting(Start { operation, dry_run, set, objects, namespaces: 1 })
}

fn written(script: Script) -> Script {
    script.body(Body::Inventory { id: config_map("inventory"), entries: 1, shards: 1 })
}

#[test]
fn each_kind_of_action_has_one_phase_and_a_wait_of_its_own() {
    let counts = Counts { apply: 2, prune: 1, ..Counts::default() };
    let (a, b, c) = (config_map("a"), config_map("b"), config_map("c"));
    let script = written(tracked(Operation::Apply, 2, None).body(Body::Plan(counts)))
        .applied(&a, Outcome::Created)
        .concluded(&a, Conclusion::Settled)
        .applied(&b, Outcome::Created)
        .concluded(&b, Conclusion::Settled)
        .finished(&c, Action::Prune, Outcome::Deleted)
        .concluded(&c, Conclusion::Settled);
    assert_eq!(
        told(written(script)),
        "+Inventory -Inventory +Apply +Wait -Apply -Wait +Prune -Prune +Wait -Wait +Inventory -Inventory"
    );
}

#[test]
fn a_destroy_tells_of_its_inventory_once_and_a_rehearsal_as_if_it_wrote() {
    let counts = Counts { delete: 1, ..Counts::default() };
    let a = config_map("a");
    let script = written(tracked(Operation::Destroy, 0, None).body(Body::Plan(counts)))
        .finished(&a, Action::Delete, Outcome::Deleted)
        .concluded(&a, Conclusion::Settled);
    assert_eq!(told(written(script)), "+Delete -Delete +Wait -Wait +Inventory -Inventory");
    let nothing = tracked(Operation::Destroy, 0, None).body(Body::Plan(Counts::default()));
    assert_eq!(told(nothing), "+Inventory -Inventory");
    let rehearsal = tracked(Operation::Apply, 1, Some(DryRun::Client))
        .body(Body::Plan(Counts { apply: 1, ..Counts::default() }))
        .applied(&a, Outcome::Created);
    assert_eq!(told(rehearsal), "+Inventory -Inventory +Apply -Apply +Inventory -Inventory");
}

#[test]
fn what_is_still_open_ends_with_the_run() {
    let a = config_map("a");
    let script = Script::new(Operation::Apply, 2, 1).applied(&a, Outcome::Created);
    assert_eq!(told(script), "+Apply -Apply");
}
