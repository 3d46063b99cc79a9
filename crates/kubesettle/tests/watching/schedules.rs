//! The promises under schedules that nobody would write down: objects, streams, rights and kinds come
//! and go at random, and in the end every target is told as it is. The model is the server's own state.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use kstatus::Status;
use kubesettle::id::ObjectId;
use kubesettle::status::{Floor, Judgement, Signal, Watcher};
use kubesettle::watch::{Hub, Presence, SubscribeOptions};
use proptest::prelude::*;
use sandbox::{Fault, Sandbox, User, WatchEnd, When};
use serde_json::{Value, json};

use crate::presence::crd;
use crate::view::{cluster_as, config_map, config_map_object, id, targets_of};

const NAMESPACES: [&str; 2] = ["a", "b"];
const NAMES: [&str; 3] = ["x", "y", "z"];
const WIDGETS: &str = "widgets.example.com";

/// A step of a schedule.
#[derive(Clone, Debug)]
enum Act {
    Create(usize),
    Edit(usize),
    Delete(usize),
    Recreate(usize),
    /// Written by us: nothing older may be told from here on.
    Write(usize),
    End(WatchEnd),
    Compact,
    Fail(u8),
    Rights(u8),
    Definition(bool),
    Wait(u64),
}

fn act() -> impl Strategy<Value = Act> {
    let ends = [WatchEnd::Clean, WatchEnd::Expired, WatchEnd::Reset, WatchEnd::MidLine];
    let target = 0..NAMESPACES.len() * NAMES.len() + 1;
    prop_oneof![
        3 => target.clone().prop_map(Act::Create),
        4 => target.clone().prop_map(Act::Edit),
        2 => target.clone().prop_map(Act::Delete),
        2 => target.clone().prop_map(Act::Recreate),
        2 => target.prop_map(Act::Write),
        3 => (0..ends.len()).prop_map(move |end| Act::End(ends[end])),
        1 => Just(Act::Compact),
        2 => (0..5_u8).prop_map(Act::Fail),
        1 => (0..4_u8).prop_map(Act::Rights),
        1 => any::<bool>().prop_map(Act::Definition),
        4 => prop_oneof![0..200_u64, 1_000..40_000_u64].prop_map(Act::Wait),
    ]
}

/// The ConfigMaps, and one Widget.
fn targets() -> Vec<ObjectId> {
    let maps = NAMESPACES.iter().flat_map(|ns| NAMES.iter().map(|name| config_map(ns, name)));
    maps.chain([id("example.com", "Widget", "a", "w")]).collect()
}

struct Play {
    sandbox: Sandbox,
    targets: Vec<ObjectId>,
    turn: u64,
}

impl Play {
    fn resource(&self, target: usize) -> &'static str {
        if target + 1 == self.targets.len() { WIDGETS } else { "configmaps" }
    }

    fn live(&self, target: usize) -> Option<Value> {
        let id = &self.targets[target];
        self.sandbox.get(self.resource(target), id.namespace(), id.name())
    }

    fn create(&mut self, target: usize) {
        let id = &self.targets[target];
        if self.live(target).is_none() {
            let mut object = config_map_object(id.namespace(), id.name());
            if self.resource(target) == WIDGETS {
                object["apiVersion"] = json!("example.com/v1");
                object["kind"] = json!("Widget");
            }
            self.sandbox.create(object);
        }
    }

    fn edit(&mut self, target: usize) {
        self.turn += 1;
        let (id, turn) = (&self.targets[target], self.turn.to_string());
        self.sandbox.edit(self.resource(target), id.namespace(), id.name(), |object| {
            object["data"] = json!({ "turn": turn });
        });
    }

    fn delete(&mut self, target: usize) {
        let id = &self.targets[target];
        self.sandbox.delete(self.resource(target), id.namespace(), id.name());
    }

    fn fail(&self, which: u8) {
        let watch = When::verb("watch").resource("configmaps");
        match which {
            0 => self.sandbox.inject(watch.first(4), Fault::Refuse),
            1 => {
                self.sandbox.inject(watch.first(2), Fault::status(410, "Expired", "too old resource version"))
            }
            2 => self.sandbox.inject(watch.first(3), Fault::status(503, "ServiceUnavailable", "busy")),
            3 => self.sandbox.inject(watch.first(1), Fault::HangBody(40)),
            _ => self.sandbox.inject(When::any().first(3), Fault::status(500, "InternalError", "no")),
        };
    }

    fn rights(&self, which: u8) {
        let user = User::limited("u").allow("get,list,watch", WIDGETS, "", "");
        let user = match which {
            0 => user,
            1 => user.allow("get", "configmaps", "", ""),
            2 => user.allow("get,list,watch", "configmaps", "a", ""),
            _ => user.allow("get,list,watch", "configmaps", "", ""),
        };
        self.sandbox.set_user("token", user);
    }
}

/// What has been told of a target: what it was, and how old at least it may be from here on.
#[derive(Default)]
struct Told {
    version: u64,
    uid: Option<kstatus::Uid>,
    gone: HashSet<kstatus::Uid>,
    floor: u64,
}

impl Told {
    /// Promises 2 and 3.
    fn takes(&mut self, presence: &Presence, judged: bool) -> Result<(), TestCaseError> {
        let Presence::Present(digest) = presence else { return Ok(()) };
        let version: u64 = digest.resource_version().parse().unwrap_or_default();
        let uid = digest.uid();
        if uid == self.uid {
            prop_assert!(version >= self.version, "{version} after {}", self.version);
        } else if let Some(before) = self.uid.and_then(|before| uid.map(|_| before)) {
            self.gone.insert(before);
        }
        prop_assert!(uid.is_none_or(|uid| !self.gone.contains(&uid)), "an older life is told again");
        prop_assert!(!judged || version >= self.floor, "{version} is judged, {} was written", self.floor);
        (self.version, self.uid) = (version, uid);
        Ok(())
    }
}

async fn follow(
    watcher: &mut Watcher,
    told: &mut HashMap<usize, Told>,
    time: Duration,
) -> Result<bool, TestCaseError> {
    let mut synced = false;
    let end = tokio::time::Instant::now() + time;
    while let Ok(signal) = tokio::time::timeout_at(end, watcher.next()).await {
        match signal.map_err(|error| TestCaseError::fail(error.to_string()))? {
            Signal::Synced => {
                synced = true;
                for target in 0..watcher.len() {
                    let silent = matches!(watcher.presence(target), Presence::Pending);
                    prop_assert!(!silent, "{target} is silent at Synced");
                }
            }
            Signal::Verdicts(changed) => {
                for target in changed {
                    told.entry(target).or_default().takes(watcher.presence(target), true)?;
                }
            }
            Signal::Gap(_) | Signal::Explained => {}
        }
    }
    Ok(synced)
}

async fn play(acts: Vec<Act>) -> Result<(), TestCaseError> {
    let sandbox = Sandbox::builder().build();
    for namespace in NAMESPACES {
        sandbox.create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}));
    }
    let mut play = Play { sandbox, targets: targets(), turn: 0 };
    let all = User::limited("u").allow("get,list,watch", "configmaps", "", "").allow(
        "get,list,watch",
        WIDGETS,
        "",
        "",
    );
    let cluster = cluster_as(&play.sandbox, all).await;
    let hub = Hub::new(&cluster);
    let judgement = Judgement { at_once: true, ..Judgement::default() };
    let options = SubscribeOptions::default();
    let watcher = Watcher::start(&hub, targets_of(&play.targets), options, judgement).await;
    let mut watcher = watcher.map_err(|error| TestCaseError::fail(error.to_string()))?;
    let mut told = HashMap::new();
    let mut synced = false;
    for act in acts {
        match act {
            Act::Create(target) => play.create(target),
            Act::Edit(target) => play.edit(target),
            Act::Delete(target) => play.delete(target),
            Act::Recreate(target) => {
                play.delete(target);
                play.create(target);
            }
            Act::Write(target) => {
                play.edit(target);
                if let Some(live) = play.live(target) {
                    let meta = &live["metadata"];
                    let version = meta["resourceVersion"].as_str().and_then(|version| version.parse().ok());
                    let uid = kstatus::Uid::parse(meta["uid"].as_str().unwrap_or_default());
                    told.entry(target).or_insert_with(Told::default).floor = version.unwrap_or_default();
                    let floor = Floor { uid, version, generation: None };
                    watcher
                        .floor(target, floor)
                        .await
                        .map_err(|error| TestCaseError::fail(error.to_string()))?;
                }
            }
            Act::End(how) => drop(play.sandbox.end_watches("configmaps", how)),
            Act::Compact => play.sandbox.compact(),
            Act::Fail(which) => play.fail(which),
            Act::Rights(which) => play.rights(which),
            Act::Definition(true) => drop(play.sandbox.create(crd())),
            Act::Definition(false) => {
                play.sandbox.delete("customresourcedefinitions.apiextensions.k8s.io", "", WIDGETS);
            }
            Act::Wait(millis) => {
                synced |= follow(&mut watcher, &mut told, Duration::from_millis(millis)).await?;
            }
        }
    }
    play.sandbox.heal_all();
    play.rights(3);
    synced |= follow(&mut watcher, &mut told, Duration::from_secs(400)).await?;
    prop_assert!(synced, "Synced never came");
    for (target, id) in play.targets.iter().enumerate() {
        let presence = watcher.presence(target);
        let status = watcher.verdict(target).map(|verdict| verdict.status);
        match (play.live(target), presence) {
            (Some(live), Presence::Present(digest)) => {
                let version = live["metadata"]["resourceVersion"].as_str().unwrap_or_default();
                prop_assert_eq!(digest.resource_version(), version, "{:?}", id);
                prop_assert_eq!(status, Some(Status::Current), "{:?}", id);
            }
            (None, Presence::Absent { .. } | Presence::NotServed) => {
                prop_assert_eq!(status, Some(Status::NotFound), "{:?}", id);
            }
            (live, told) => prop_assert!(false, "{id:?} is {live:?} and told {told:?}"),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_every_target_is_told_as_it_is_in_the_end(acts in prop::collection::vec(act(), 1..50)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.map_err(|error| TestCaseError::fail(error.to_string()))?.block_on(play(acts))?;
    }
}
