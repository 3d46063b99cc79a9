//! Children that come into sight before what they belong to.

use std::time::Duration;

use kubesettle::watch::{Presence, TargetState};

use crate::world::{
    World, deployment, named_pod, pod, replica_set, subscribe, synced, until, web, with_children,
};
use crate::{alone, live};

fn versions(state: &TargetState) -> Vec<String> {
    let pods = state.children.iter().flatten().filter(|child| child.kind().kind() == "Pod");
    let mut versions: Vec<String> = pods.map(|pod| pod.resource_version().to_owned()).collect();
    versions.sort();
    versions
}

#[tokio::test(start_paused = true)]
async fn a_new_pod_that_is_ahead_of_its_replica_set_is_linked_without_a_request() {
    let _alone = alone();
    let world = World::new();
    world.fill("deployments", 1, deployment);
    world.fill("replicasets", 0, |number| replica_set(number, number));
    world.fill("pods", 0, |number| pod(number, number, 1));
    let hub = world.hub().await;
    let mut view = subscribe(&hub, [web(0)].into_iter()).await;
    synced(&mut view).await;
    with_children(&mut view, [web(0)].into_iter()).await;
    world.tell("pods", "ADDED", &pod(7, 5, 1));
    world.tell("pods", "MODIFIED", &pod(7, 5, 2));
    tokio::time::sleep(Duration::from_secs(5)).await;
    world.tell("replicasets", "ADDED", &replica_set(5, 0));
    until(&mut view, |_, state| versions(state) == ["2"]).await;
    assert_eq!(world.asked().len(), 3, "{:?}", world.asked());
}

#[tokio::test(start_paused = true)]
async fn strangers_that_turn_out_to_be_ours_are_listed_once_more_and_only_once() {
    let _alone = alone();
    let world = World::new();
    world.fill("deployments", 1, deployment);
    world.fill("replicasets", 0, |number| replica_set(number, number));
    world.fill("pods", 100, |number| pod(number, number / 5, 1));
    let hub = world.hub().await;
    let mut view = subscribe(&hub, [web(0)].into_iter()).await;
    synced(&mut view).await;
    with_children(&mut view, [web(0)].into_iter()).await;
    for set in 0..20 {
        world.tell("replicasets", "ADDED", &replica_set(set, 0));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    until(&mut view, |_, state| versions(state).len() == 100).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.asked().len(), 4, "{:?}", world.asked());
}

#[tokio::test(start_paused = true)]
async fn what_stays_without_an_owner_of_ours_is_let_go_and_forgotten_when_it_is_deleted() {
    const PODS: usize = 2_000;
    let _alone = alone();
    let world = World::new();
    world.fill("deployments", 1, deployment);
    world.fill("replicasets", 0, |number| replica_set(number, number));
    world.fill("pods", 0, |number| pod(number, number, 1));
    let hub = world.hub().await;
    let mut view = subscribe(&hub, [web(0)].into_iter()).await;
    synced(&mut view).await;
    with_children(&mut view, [web(0)].into_iter()).await;
    let before = live();
    for number in 0..PODS {
        world.tell("pods", "ADDED", &pod(number, number, 1));
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    // The loop turns over what it held as new with the next new object.
    world.tell("pods", "ADDED", &pod(PODS, PODS, 1));
    tokio::time::sleep(Duration::from_secs(60)).await;
    let each = (live() - before).div_ceil(PODS);
    println!("{each} B");
    assert!(each <= 150, "{each} B for each pod of others, tables that have grown included");
    for number in 0..=PODS {
        world.tell("pods", "DELETED", &pod(number, number, 2));
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let each = live().saturating_sub(before).div_ceil(PODS);
    println!("{each} B");
    assert!(each <= 100, "{each} B after they are gone");
    assert_eq!(world.asked().len(), 3, "{:?}", world.asked());
}

#[tokio::test(start_paused = true)]
async fn a_list_that_ends_as_more_names_come_says_nothing_about_those() {
    let _alone = alone();
    // Which of the two the hub takes first is left to chance.
    for _ in 0..20 {
        let world = World::new();
        world.fill("pods", 20, |number| pod(number, number, 1));
        let gate = world.hold("pods");
        let hub = world.hub().await;
        let mut first = subscribe(&hub, (0..2).map(named_pod)).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let next = world.hold("pods");
        gate.open();
        let mut second = subscribe(&hub, (12..20).map(named_pod)).await;
        synced(&mut first).await;
        let early = tokio::time::timeout(Duration::from_secs(1), async {
            until(&mut second, |_, state| matches!(state.presence, Presence::Absent { .. })).await;
        });
        assert!(early.await.is_err(), "nobody has looked for these yet");
        next.open();
        let present = |state: &TargetState| matches!(state.presence, Presence::Present(_));
        until(&mut second, |_, state| present(state)).await;
        synced(&mut second).await;
    }
}
