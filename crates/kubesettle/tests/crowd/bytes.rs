//! Bytes that live once everything has been told.

use std::time::Duration;

use kubesettle::id::ObjectId;
use kubesettle::watch::{Presence, TargetState};

use crate::world::{
    World, deployment, named_pod, pod, replica_set, subscribe, synced, until, web, with_children,
};
use crate::{alone, live, peak};

/// Per object, rounded up.
fn each(before: usize, after: usize, count: usize) -> usize {
    after.saturating_sub(before).div_ceil(count)
}

/// What is asked of kinds that turn out to have many objects.
fn crowded(kinds: &[&str]) -> Vec<String> {
    let steps = |kind: &&str| ["stream", "list", "watch"].map(|step| format!("{step} {kind}"));
    kinds.iter().flat_map(steps).collect()
}

#[tokio::test(start_paused = true)]
async fn ten_wanted_pods_among_a_hundred_thousand_of_others_cost_what_ten_cost() {
    let _alone = alone();
    let world = World::new();
    world.fill("pods", 100_010, |number| pod(number, number / 10, 1));
    let hub = world.hub().await;
    let before = live();
    let mut view = subscribe(&hub, (0..10).map(|number| named_pod(number * 10_000))).await;
    synced(&mut view).await;
    let kept = live().saturating_sub(before);
    println!("{kept} B");
    assert!(kept < 64 << 10, "{kept} B");
    assert_eq!(world.asked(), crowded(&["pods"]));
}

#[tokio::test(start_paused = true)]
async fn what_others_generated_costs_at_most_a_hundred_bytes() {
    const SETS: usize = 10_000;
    const PODS: usize = 100_000;
    let _alone = alone();
    let world = World::new();
    world.fill("deployments", 10, deployment);
    world.fill("replicasets", SETS, |number| replica_set(number, number));
    world.fill("pods", PODS, |number| pod(number, number / 10, 1));
    let hub = world.hub().await;
    let mut view = subscribe(&hub, (0..10).map(web)).await;
    synced(&mut view).await;
    let before = live();
    with_children(&mut view, (0..10).map(web)).await;
    let stranger = each(before, live(), SETS + PODS);
    println!("{stranger} B for each stranger");
    assert!(stranger <= 100, "{stranger} B");
    let mut asked = vec![String::from("stream deployments")];
    asked.extend(crowded(&["replicasets", "pods"]));
    assert_eq!(world.asked(), asked);

    for target in (0..10).map(web) {
        view.children(target, false).await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(11)).await;
    let left = live().saturating_sub(before);
    assert!(left < 64 << 10, "{left} B are left when nobody looks any more");
}

#[tokio::test(start_paused = true)]
async fn a_settled_object_of_ours_costs_at_most_four_hundred_bytes() {
    const TARGETS: usize = 1_000;
    const PODS: usize = 10_000;
    let _alone = alone();
    let world = World::new();
    world.fill("deployments", TARGETS, deployment);
    world.fill("replicasets", TARGETS, |number| replica_set(number, number));
    world.fill("pods", PODS, |number| pod(number, number / 10, 1));
    let hub = world.hub().await;
    // The names are the caller's, who holds them anyway: the hub has no copy of its own.
    let names: Vec<ObjectId> = (0..TARGETS).map(web).collect();
    let before = live();
    let mut view = subscribe(&hub, names.iter().cloned()).await;
    synced(&mut view).await;
    let (targets, target_peak) = (live(), peak());
    with_children(&mut view, names.iter().cloned()).await;
    let (all, child_peak) = (live(), peak());
    let (target, child) = (each(before, targets, TARGETS), each(targets, all, TARGETS + PODS));
    println!("{target} B for each target, {child} B for each child");
    let (of_targets, of_children) =
        (each(before, target_peak, TARGETS), each(targets, child_peak, TARGETS + PODS));
    println!("at most {of_targets} B for each target while they were listed, {of_children} B for each child");
    assert!(child <= 400, "{child} B for each child");
    assert!(target <= 400, "{target} B for each target, with its marks, leases and subscriber");
    assert_eq!(world.asked(), crowded(&["deployments", "replicasets", "pods"]));
}

#[tokio::test(start_paused = true)]
async fn a_key_that_shows_wanted_objects_too_forgets_what_was_generated_when_nobody_looks_any_more() {
    const SETS: usize = 1_000;
    const PODS: usize = 10_000;
    let _alone = alone();
    let world = World::new();
    world.fill("deployments", 100, deployment);
    world.fill("replicasets", SETS, |number| replica_set(number, number));
    world.fill("pods", PODS, |number| pod(number, number / 10, 1));
    let hub = world.hub().await;
    let mut view = subscribe(&hub, (0..100).map(web).chain((0..2).map(named_pod))).await;
    synced(&mut view).await;
    let before = live();
    for version in [2_000_000, 3_000_000] {
        with_children(&mut view, (0..100).map(web)).await;
        for target in (0..100).map(web) {
            view.children(target, false).await.unwrap();
        }
        tokio::time::sleep(Duration::from_secs(11)).await;
        // What others do is told still, and not kept.
        for number in 2..PODS {
            world.tell("pods", "MODIFIED", &pod(number, number / 10, version));
        }
        world.tell("pods", "MODIFIED", &pod(1, 0, version));
        let latest = |state: &TargetState| match &state.presence {
            Presence::Present(digest) => digest.resource_version() == version.to_string(),
            _ => false,
        };
        until(&mut view, |_, state| latest(state)).await;
        let left = live().saturating_sub(before);
        println!("{left} B are left");
        assert!(left < 64 << 10, "{left} B are left of what was generated");
    }
}
