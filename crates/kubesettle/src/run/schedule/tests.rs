use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::graph::GraphOptions;
use crate::manifest::{LoadOptions, Manifests, ResolveOptions, ScopeAnswer, Source};

/// ConfigMaps c0… in namespace `ns`; `edges` are (dependent, dependency).
fn graph(count: usize, edges: &[(usize, usize)]) -> Graph {
    let text: String = (0..count)
        .map(|node| {
            let dependencies: Vec<String> = edges
                .iter()
                .filter(|(from, _)| *from == node)
                .map(|(_, to)| format!("/namespaces/ns/ConfigMap/c{to}"))
                .collect();
            let annotation = match dependencies.is_empty() {
                true => String::new(),
                false => format!(
                    "annotations: {{config.kubernetes.io/depends-on: \"{}\"}}",
                    dependencies.join(",")
                ),
            };
            format!(
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c{node}\n  namespace: ns\n  {annotation}\n"
            )
        })
        .collect();
    let source = Source::Bytes { name: "test.yaml".into(), data: Bytes::from(text) };
    let input = Manifests::load(&[source], &LoadOptions::default()).unwrap();
    let input = input.resolve(|_, _| ScopeAnswer::Namespaced, &ResolveOptions::default()).unwrap();
    Graph::build(input.objects(), &GraphOptions::default()).unwrap()
}

fn schedule(count: usize, edges: &[(usize, usize)], action: Action) -> Schedule {
    Schedule::new(graph(count, edges), action, |_| 0)
}

fn drain(schedule: &mut Schedule) -> Vec<usize> {
    let mut ready: Vec<usize> = std::iter::from_fn(|| schedule.pop()).collect();
    ready.sort_unstable();
    ready
}

#[test]
fn an_object_starts_when_its_own_edges_are_met_and_not_later() {
    let mut schedule = schedule(4, &[(1, 0), (3, 2)], Action::Apply);
    assert_eq!(drain(&mut schedule), [0, 2]);
    schedule.reach(2, Milestone::Accepted);
    assert_eq!(drain(&mut schedule), [0_usize; 0], "a declared dependency must settle");
    schedule.reach(2, Milestone::Settled);
    assert_eq!(drain(&mut schedule), [3], "nothing waits for an unrelated branch");
}

#[test]
fn deletion_goes_the_other_way() {
    let mut schedule = schedule(3, &[(1, 0), (2, 1)], Action::Delete);
    assert_eq!(drain(&mut schedule), [2]);
    schedule.reach(2, Milestone::Settled);
    assert_eq!(drain(&mut schedule), [1]);
}

#[test]
fn a_failure_stops_what_hangs_on_it_with_the_whole_chain_and_nothing_else() {
    let mut schedule = schedule(5, &[(1, 0), (2, 1), (4, 3)], Action::Apply);
    drain(&mut schedule);
    let stopped = schedule.fail(0);
    assert_eq!(stopped, [Stopped { node: 1, chain: vec![0] }, Stopped { node: 2, chain: vec![1, 0] }]);
    schedule.reach(3, Milestone::Settled);
    assert_eq!(drain(&mut schedule), [4]);
    schedule.reach(0, Milestone::Settled);
    assert_eq!(drain(&mut schedule), [0_usize; 0], "what was stopped stays stopped");
}

#[test]
fn conditions_outside_the_set_hold_an_object_back() {
    let mut schedule = Schedule::new(graph(2, &[]), Action::Apply, |node| usize::from(node == 1));
    assert_eq!(drain(&mut schedule), [0]);
    schedule.meet(1);
    assert_eq!(drain(&mut schedule), [1]);
}

#[test]
fn an_object_knows_whether_somebody_still_waits_for_it() {
    let mut schedule = schedule(2, &[(1, 0)], Action::Apply);
    schedule.reach(0, Milestone::Accepted);
    assert!(schedule.waited_for(0));
    schedule.reach(0, Milestone::Settled);
    assert!(!schedule.waited_for(0));
}

/// cli-utils' table of dependencies: how far the other object came, whether it came no further, and what
/// becomes of the one that waits for it. Deleting, the dependent is the other object.
#[test]
fn what_becomes_of_an_object_follows_from_the_one_it_waits_for() {
    #[derive(Debug, PartialEq)]
    enum Then {
        Starts,
        Waits,
        IsStopped,
    }
    let cases = [
        (Milestone::Nothing, false, Then::Waits),
        (Milestone::Accepted, false, Then::Waits),
        (Milestone::Settled, false, Then::Starts),
        // Its action failed or was skipped; it did not settle, or not in time.
        (Milestone::Nothing, true, Then::IsStopped),
        (Milestone::Accepted, true, Then::IsStopped),
        (Milestone::Settled, true, Then::Starts),
    ];
    for (action, other, waiting) in [(Action::Apply, 0, 1), (Action::Delete, 1, 0), (Action::Prune, 1, 0)] {
        for (reached, fails, expected) in &cases {
            let mut schedule = schedule(2, &[(1, 0)], action);
            assert_eq!(drain(&mut schedule), [other]);
            schedule.reach(other, *reached);
            let stopped = *fails && !schedule.fail(other).is_empty();
            let then = match (drain(&mut schedule) == [waiting], stopped) {
                (true, false) => Then::Starts,
                (false, true) => Then::IsStopped,
                _ => Then::Waits,
            };
            assert_eq!(then, *expected, "{action:?}, the other {reached:?}, for good: {fails}");
        }
    }
}

proptest! {
    #[test]
    fn every_object_starts_once_and_after_all_it_waits_for(
        edges in prop::collection::vec((0_usize..12, 0_usize..12), 0..30),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 24),
        delete in any::<bool>(),
    ) {
        // Edges from a higher to a lower number form no cycle.
        let mut edges: Vec<(usize, usize)> = edges.into_iter().filter(|(from, to)| from > to).collect();
        edges.sort_unstable();
        edges.dedup();
        let action = if delete { Action::Delete } else { Action::Apply };
        let mut schedule = schedule(12, &edges, action);
        let mut done: Vec<usize> = Vec::new();
        let mut running: Vec<usize> = Vec::new();
        let mut choice = choices.iter();
        loop {
            running.extend(std::iter::from_fn(|| schedule.pop()));
            if running.is_empty() {
                break;
            }
            let next = running.swap_remove(choice.next().map_or(0, |index| index.index(running.len())));
            for (dependent, dependency) in &edges {
                let (first, second) = if delete { (dependent, dependency) } else { (dependency, dependent) };
                prop_assert!(*second != next || done.contains(first));
            }
            prop_assert!(!done.contains(&next));
            done.push(next);
            schedule.reach(next, Milestone::Settled);
        }
        prop_assert_eq!(done.len(), 12);
    }
}
