//! The promises under schedules that nobody would write down: objects, streams, rights, kinds, namespaces
//! and subscribers come and go at random, and in the end every target is told as it is. The model is the
//! server's own state.

use std::collections::BTreeSet;
use std::time::Duration;

use kubesettle::status::{Judgement, Watcher};
use kubesettle::watch::{Hub, SubscribeOptions};
use proptest::prelude::*;
use sandbox::WatchEnd;

use crate::model::{Judge, LABEL, Late, Play, TARGETS};
use crate::view::{cluster_with_token, targets_of, watch_with};

/// A step of a schedule.
#[derive(Clone, Debug)]
enum Act {
    Create(usize),
    Edit(usize),
    Label(usize, bool),
    Delete(usize),
    Recreate(usize),
    /// Pods of the Deployment fit on the node from now on, or do not.
    Size(bool),
    /// Written by us: nothing older may be told from here on.
    Write(usize),
    End(usize, WatchEnd),
    Compact,
    Fail(usize, u8),
    Rights(u8),
    Definition(bool),
    Namespace(usize, bool),
    /// Another subscriber comes, some by labels, and that of before goes.
    Subscribe(u32),
    /// The other subscriber wants this too, or no longer.
    Toggle(usize),
    Wait(u64),
}

fn act() -> impl Strategy<Value = Act> {
    let ends = [WatchEnd::Clean, WatchEnd::Expired, WatchEnd::Reset, WatchEnd::MidLine];
    let target = || 0..TARGETS;
    let place = || 0..6_usize;
    prop_oneof![
        3 => target().prop_map(Act::Create),
        4 => target().prop_map(Act::Edit),
        1 => (target(), any::<bool>()).prop_map(|(target, label)| Act::Label(target, label)),
        2 => target().prop_map(Act::Delete),
        2 => target().prop_map(Act::Recreate),
        1 => any::<bool>().prop_map(Act::Size),
        2 => target().prop_map(Act::Write),
        3 => (place(), 0..ends.len()).prop_map(move |(place, end)| Act::End(place, ends[end])),
        1 => Just(Act::Compact),
        2 => (place(), 0..11_u8).prop_map(|(place, which)| Act::Fail(place, which)),
        1 => (0..4_u8).prop_map(Act::Rights),
        1 => any::<bool>().prop_map(Act::Definition),
        1 => (0..2_usize, any::<bool>()).prop_map(|(namespace, there)| Act::Namespace(namespace, there)),
        1 => any::<u32>().prop_map(Act::Subscribe),
        1 => target().prop_map(Act::Toggle),
        4 => prop_oneof![0..200_u64, 1_000..40_000_u64].prop_map(Act::Wait),
    ]
}

async fn play(acts: Vec<Act>) -> Result<(), TestCaseError> {
    let mut play = Play::new();
    play.rights(3);
    let hub = Hub::new(&cluster_with_token(&play.sandbox).await);
    let judgement = Judgement { at_once: true, ..Judgement::default() };
    let options = SubscribeOptions::default();
    let watcher = Watcher::start(&hub, targets_of(&play.targets), options, judgement).await;
    let mut judge = Judge::new(watcher.map_err(|error| TestCaseError::fail(error.to_string()))?);
    let mut late = None;
    for act in acts {
        match act {
            Act::Create(target) => play.create(target),
            Act::Edit(target) => play.edit(target),
            Act::Label(target, label) => play.label(target, label),
            Act::Delete(target) => play.delete(target),
            Act::Recreate(target) => {
                play.delete(target);
                play.create(target);
            }
            Act::Size(fits) => play.size(fits),
            Act::Write(target) => {
                play.edit(target);
                if let Some(live) = play.live(target) {
                    judge.wrote(target, &live).await?;
                }
            }
            Act::End(place, how) => play.end(place, how),
            Act::Compact => play.sandbox.compact(),
            Act::Fail(place, which) => play.fail(place, which),
            Act::Rights(which) => play.rights(which),
            Act::Definition(there) => play.definition(there),
            Act::Namespace(namespace, there) => play.namespace(namespace, there),
            Act::Subscribe(which) => {
                let wanted: BTreeSet<usize> = (0..TARGETS).filter(|n| which >> n & 1 == 1).collect();
                let ids: Vec<_> = wanted.iter().map(|target| play.targets[*target].clone()).collect();
                let mut options = SubscribeOptions::default();
                if which >> 31 == 1 {
                    options = options.with_labels(LABEL);
                }
                late = Some(Late::new(watch_with(&hub, &ids, options).await, &play.targets, wanted).await);
            }
            Act::Toggle(target) => {
                if let Some(late) = &mut late {
                    late.toggle(target, &play.targets).await;
                }
            }
            Act::Wait(millis) => judge.follow(Duration::from_millis(millis)).await?,
        }
    }
    play.sandbox.heal_all();
    play.rights(3);
    judge.follow(Duration::from_secs(400)).await?;
    prop_assert!(judge.synced, "Synced never came");
    for target in 0..TARGETS {
        let status = judge.watcher.verdict(target).map(|verdict| verdict.status);
        prop_assert!(status.is_some(), "{target} is not judged");
        play.is_told(target, judge.watcher.presence(target), status)?;
    }
    if let Some(late) = &mut late {
        late.catch_up(&play).await?;
    }
    drop((hub, judge, late));
    tokio::time::sleep(Duration::from_millis(100)).await;
    prop_assert_eq!(play.sandbox.open_watches(""), 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_every_target_is_told_as_it_is_in_the_end(acts in prop::collection::vec(act(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.map_err(|error| TestCaseError::fail(error.to_string()))?.block_on(play(acts))?;
    }
}
