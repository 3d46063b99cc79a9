//! F23: killed at every request, the next run converges, and nothing of ours is ever off the record.

use std::collections::BTreeSet;
use std::time::Duration;

use kubesettle::error::ExitClass;
use kubesettle::event::Operation;

use crate::scene::{Scene, config_maps};

/// Two stay (one of them changed), two go, two come.
const BEFORE: &[(&str, &str)] = &[("stays", "1"), ("changes", "1"), ("goes-a", "1"), ("goes-b", "1")];
const AFTER: &[(&str, &str)] = &[("stays", "1"), ("changes", "2"), ("comes-a", "1"), ("comes-b", "1")];

async fn killed(scene: &Scene, operation: Operation, text: &str) {
    if let Some(mut run) = scene.start(operation, text, Scene::tracked()).await {
        // The process dies when its connections do.
        while !scene.sandbox.is_killed() {
            if matches!(tokio::time::timeout(Duration::from_millis(50), run.next()).await, Ok(None)) {
                break;
            }
        }
    }
}

async fn kill_at_every_request(operation: Operation, after_it: bool) {
    let names: Vec<&str> = match operation {
        Operation::Destroy => Vec::new(),
        _ => AFTER.iter().map(|(name, _)| *name).collect(),
    };
    kill_at_every_request_of(operation, &config_maps(BEFORE), &config_maps(AFTER), &names, after_it).await;
}

/// Kills the change from one set to another; `left` is what there is of ConfigMaps in the end.
pub(crate) async fn kill_at_every_request_of(
    operation: Operation,
    before: &str,
    after: &str,
    left: &[&str],
    after_it: bool,
) {
    let wanted: BTreeSet<String> = left.iter().map(|name| (*name).to_owned()).collect();
    for nth in 0.. {
        let scene = Scene::new();
        assert_eq!(scene.apply(before).await.class(), Some(ExitClass::Ok));
        let at = scene.sandbox.request_count() + nth;
        if after_it {
            scene.sandbox.kill_after(at)
        } else {
            scene.sandbox.kill_before(at)
        }
        killed(&scene, operation, after).await;
        let survived = !scene.sandbox.is_killed();
        scene.assert_nothing_lost(&format!("killed at request {nth}"));
        scene.sandbox.revive();
        // Long enough for the lock of the dead to run out.
        let told = scene.run(operation, after, Scene::tracked()).await;
        assert_eq!(told.class(), Some(ExitClass::Ok), "request {nth}: {} {:?}", told.message(), told.events);
        scene.assert_nothing_lost(&format!("after the run that follows request {nth}"));
        assert_eq!(scene.recorded(), wanted, "request {nth}");
        assert_eq!(scene.marked(), wanted, "request {nth}");
        if survived {
            assert!(nth > 10, "a run has more requests than {nth}");
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn f23_an_apply_killed_before_any_request_is_finished_by_the_next() {
    kill_at_every_request(Operation::Apply, false).await;
}

#[tokio::test(start_paused = true)]
async fn f23_an_apply_killed_after_any_request_is_finished_by_the_next() {
    kill_at_every_request(Operation::Apply, true).await;
}

#[tokio::test(start_paused = true)]
async fn f23_a_destroy_killed_before_any_request_is_finished_by_the_next() {
    kill_at_every_request(Operation::Destroy, false).await;
}

#[tokio::test(start_paused = true)]
async fn f23_a_destroy_killed_after_any_request_is_finished_by_the_next() {
    kill_at_every_request(Operation::Destroy, true).await;
}
