//! One subscriber that does not read, and others that do.

use std::time::Duration;

use kubesettle::watch::Update;

use crate::world::{World, named_pod, pod, subscribe, synced};
use crate::{alone, live};

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_reads_nothing_keeps_nothing_waiting_and_costs_no_more_for_more_events() {
    const TARGETS: usize = 100;
    const ROUNDS: u32 = 100;
    let _alone = alone();
    let world = World::new();
    world.fill("pods", TARGETS, |number| pod(number, 0, 1));
    let hub = world.hub().await;
    let mut views = Vec::new();
    for _ in 0..3 {
        let mut view = subscribe(&hub, (0..TARGETS).map(named_pod)).await;
        synced(&mut view).await;
        views.push(view);
    }
    let mut slow = views.pop().unwrap();
    let mut kept = Vec::new();
    for round in 2..2 + ROUNDS {
        for number in 0..TARGETS {
            world.tell("pods", "MODIFIED", &pod(number, 0, round));
        }
        // No time passes: what the fast ones get depends on nobody else.
        let began = tokio::time::Instant::now();
        for view in &mut views {
            let mut seen = 0;
            while seen < TARGETS {
                let Update::Changed(states) = view.next().await.unwrap() else { continue };
                seen += states.iter().filter(|(_, state)| version(state) == round.to_string()).count();
            }
        }
        assert_eq!(began.elapsed(), Duration::ZERO);
        kept.push(live());
    }
    let (first, last) = (kept[10], kept[kept.len() - 1]);
    assert!(last.saturating_sub(first) < 16 << 10, "{first} B grew to {last} B");
    let Update::Changed(states) = slow.next().await.unwrap() else { panic!("no state") };
    assert_eq!(states.len(), TARGETS);
    assert!(states.iter().all(|(_, state)| version(state) == (1 + ROUNDS).to_string()), "the latest");
}

fn version(state: &kubesettle::watch::TargetState) -> String {
    match &state.presence {
        kubesettle::watch::Presence::Present(digest) => digest.resource_version().to_owned(),
        _ => String::new(),
    }
}
