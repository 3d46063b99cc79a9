use proptest::prelude::*;
use proptest::strategy::Strategy as _;

use super::super::{Entries, Entry, Fate, ObjectStatus, Outcomes, Reconcile, Strategy, after, before};
use super::*;

const FATES: [Fate; 11] = [
    Fate::Untouched,
    Fate::Skipped(Strategy::Apply),
    Fate::Skipped(Strategy::Delete),
    Fate::Refused(Strategy::Apply),
    Fate::Refused(Strategy::Delete),
    Fate::Deleting,
    Fate::Gone,
    Fate::Abandoned,
    Fate::Identical,
    Fate::Unclear,
    Fate::Applied,
];

fn run(old: &Entries, input: &[ObjectId], told: &[(ObjectId, Fate)]) -> Entries {
    let mut outcomes = Outcomes::new();
    for (id, fate) in told {
        outcomes.tell(id, *fate);
    }
    after(old, &before(old, input), &outcomes)
}

#[test]
fn before_the_first_object_old_and_new_stand_together_all_pending() {
    let old = plain(&[cm("old"), cm("both")]);
    let entries = before(&old, &[cm("both"), cm("new")]);
    let expected = [("both", Strategy::Apply), ("new", Strategy::Apply), ("old", Strategy::Delete)];
    let expected: Entries = expected
        .map(|(name, strategy)| (cm(name), Entry { status: Some(ObjectStatus::pending(strategy)) }))
        .into();
    assert_eq!(entries, expected);
}

/// What happened, whether it was in the record before, whether it is afterwards.
#[test]
fn the_final_inventory_is_that_of_the_table() {
    let cases = [
        (Fate::Applied, true, true),
        (Fate::Applied, false, true),
        (Fate::Refused(Strategy::Apply), true, true),
        (Fate::Refused(Strategy::Apply), false, false),
        (Fate::Skipped(Strategy::Apply), true, true),
        (Fate::Skipped(Strategy::Apply), false, false),
        (Fate::Unclear, true, true),
        (Fate::Unclear, false, true),
        (Fate::Gone, true, false),
        (Fate::Gone, false, false),
        (Fate::Deleting, true, true),
        (Fate::Refused(Strategy::Delete), true, true),
        (Fate::Refused(Strategy::Delete), false, false),
        (Fate::Skipped(Strategy::Delete), true, true),
        (Fate::Skipped(Strategy::Delete), false, false),
        (Fate::Abandoned, true, false),
        (Fate::Abandoned, false, false),
        (Fate::Identical, true, false),
        // Not to be pruned, invalid, cancelled, kind not served, no right to look.
        (Fate::Untouched, true, true),
        (Fate::Untouched, false, false),
    ];
    for (fate, was, is) in cases {
        let old = if was { plain(&[cm("x")]) } else { Entries::new() };
        let input = [cm("x")];
        let last = run(&old, &input, &[(cm("x"), fate)]);
        assert_eq!(last.contains_key(&cm("x")), is, "{fate:?}, in the record before: {was}");
    }
}

/// Applied or deleted, and then not reconciled: the record keeps it either way.
#[test]
fn how_a_wait_ends_takes_no_object_off_the_record() {
    for waited in Reconcile::ALL {
        for (fate, old) in [(Fate::Applied, false), (Fate::Applied, true), (Fate::Deleting, true)] {
            let old = if old { plain(&[cm("x")]) } else { Entries::new() };
            let mut outcomes = Outcomes::new();
            outcomes.tell(&cm("x"), fate);
            outcomes.waited(&cm("x"), *waited);
            assert!(
                after(&old, &before(&old, &[cm("x")]), &outcomes).contains_key(&cm("x")),
                "{fate:?} {waited:?}"
            );
        }
    }
}

#[test]
fn an_object_of_which_nothing_was_told_stays_old_or_new() {
    let old = plain(&[cm("old")]);
    assert_eq!(names(&run(&old, &[cm("new")], &[])), ["new", "old"]);
}

#[test]
fn a_prune_that_was_skipped_and_abandoned_leaves() {
    let old = plain(&[cm("kept")]);
    for order in [[0, 1], [1, 0]] {
        let told = [Fate::Skipped(Strategy::Delete), Fate::Abandoned];
        let told: Vec<_> = order.iter().map(|nth| (cm("kept"), told[*nth])).collect();
        assert!(run(&old, &[], &told).is_empty());
    }
}

#[test]
fn a_newcomer_that_failed_is_not_kept_by_the_record_written_before_it() {
    // The union that this run wrote is not what was there before the run.
    let input = [cm("denied")];
    let last = run(&Entries::new(), &input, &[(cm("denied"), Fate::Refused(Strategy::Apply))]);
    assert!(last.is_empty());
}

#[test]
fn an_object_that_was_recreated_and_refused_is_known_to_be_gone() {
    let old = plain(&[cm("job")]);
    let told = [(cm("job"), Fate::Gone), (cm("job"), Fate::Refused(Strategy::Apply))];
    assert!(run(&old, &[cm("job")], &told).is_empty());
    let told = [(cm("job"), Fate::Gone), (cm("job"), Fate::Applied)];
    assert_eq!(names(&run(&old, &[cm("job")], &told)), ["job"]);
}

#[test]
fn a_destroy_may_remove_the_inventory_only_when_nothing_is_left() {
    let old = plain(&[cm("a"), cm("b")]);
    for (fate, left) in [
        (Fate::Gone, 0),
        (Fate::Abandoned, 0),
        (Fate::Deleting, 1),
        (Fate::Refused(Strategy::Delete), 1),
        (Fate::Skipped(Strategy::Delete), 1),
        (Fate::Untouched, 1),
    ] {
        assert_eq!(run(&old, &[], &[(cm("a"), Fate::Gone), (cm("b"), fate)]).len(), left, "{fate:?}");
    }
}

/// Fate, end of the wait, status in kapply's words.
#[test]
fn statuses_say_how_far_each_object_got() {
    use Reconcile::{Failed, Succeeded, Timeout};
    let cases = [
        (Fate::Applied, Some(Succeeded), "Apply Succeeded Succeeded"),
        (Fate::Applied, Some(Timeout), "Apply Succeeded Timeout"),
        (Fate::Applied, None, "Apply Succeeded Pending"),
        (Fate::Refused(Strategy::Apply), None, "Apply Failed Skipped"),
        (Fate::Skipped(Strategy::Delete), Some(Failed), "Delete Skipped Skipped"),
        (Fate::Deleting, Some(Timeout), "Delete Succeeded Timeout"),
        (Fate::Unclear, None, "Apply Pending Pending"),
        (Fate::Untouched, None, "Apply Pending Pending"),
    ];
    for (fate, waited, expected) in cases {
        let old = plain(&[cm("x")]);
        let mut outcomes = Outcomes::new();
        outcomes.tell(&cm("x"), fate);
        if let Some(waited) = waited {
            outcomes.waited(&cm("x"), waited);
        }
        let status = after(&old, &before(&old, &[cm("x")]), &outcomes)[&cm("x")].status.unwrap();
        assert_eq!(format!("{} {} {}", status.strategy, status.actuation, status.reconcile), expected);
    }
}

type Told = Vec<(usize, Fate, Option<Reconcile>)>;

fn told() -> impl proptest::strategy::Strategy<Value = (Told, Told)> {
    let one = (0_usize..8, 0_usize..FATES.len(), proptest::option::of(0_usize..Reconcile::ALL.len()));
    let one = one.prop_map(|(id, fate, wait)| (id, FATES[fate], wait.map(|wait| Reconcile::ALL[wait])));
    proptest::collection::vec(one, 0..24)
        .prop_flat_map(|told| (Just(told.clone()), Just(told).prop_shuffle()))
}

fn object(nth: usize) -> ObjectId {
    cm(&format!("o{nth}"))
}

fn outcomes(told: &Told) -> Outcomes {
    let mut outcomes = Outcomes::new();
    for (id, fate, waited) in told {
        outcomes.tell(&object(*id), *fate);
        if let Some(waited) = waited {
            outcomes.waited(&object(*id), *waited);
        }
    }
    outcomes
}

#[test]
fn the_order_in_which_outcomes_are_told_does_not_count() {
    proptest!(|((told, shuffled) in told(), in_old in 0_u8..=255, in_input in 0_u8..=255)| {
        let pick = |bits: u8| (0..8).filter(move |nth| bits >> nth & 1 == 1).map(object);
        let old = plain(&pick(in_old).collect::<Vec<_>>());
        let input: Vec<_> = pick(in_input).collect();
        let written = before(&old, &input);
        for id in old.keys().chain(&input) {
            prop_assert!(written.contains_key(id));
        }
        let last = after(&old, &written, &outcomes(&told));
        prop_assert_eq!(&last, &after(&old, &written, &outcomes(&shuffled)));
        let twice: Told = told.iter().chain(&shuffled).copied().collect();
        prop_assert_eq!(&last, &after(&old, &written, &outcomes(&twice)));

        let certain = [Fate::Gone, Fate::Abandoned, Fate::Identical];
        for id in old.keys().filter(|id| !last.contains_key(*id)) {
            let fate = outcomes(&told).fate(id);
            prop_assert!(fate.is_some_and(|fate| certain.contains(&fate)), "{:?} left as {:?}", id, fate);
        }
        for id in last.keys() {
            prop_assert!(written.contains_key(id));
        }
    });
}
