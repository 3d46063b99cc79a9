//! What schedules are played on, and what may be told of it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use kstatus::{Status, Uid};
use kubesettle::id::ObjectId;
use kubesettle::status::{Floor, Signal, Watcher};
use kubesettle::watch::{Presence, TargetState};
use proptest::prelude::*;
use sandbox::{Fault, Sandbox, User, WatchEnd, When};
use serde_json::{Value, json};

use crate::presence::crd;
use crate::view::{View, config_map, config_map_object, id};

const NAMESPACES: [&str; 2] = ["a", "b"];
const NAMES: [&str; 3] = ["x", "y", "z"];
const WIDGETS: &str = "widgets.example.com";
const DEPLOYMENTS: &str = "deployments.apps";
/// Resources whose streams and requests go wrong.
const RESOURCES: [&str; 6] = ["", "configmaps", WIDGETS, DEPLOYMENTS, "replicasets.apps", "pods"];

/// What some subscribers look for, and what some targets have at times.
pub(crate) const LABEL: &str = "team=b";

/// How many targets there are: ConfigMaps, a Widget, a Deployment.
pub(crate) const TARGETS: usize = NAMESPACES.len() * NAMES.len() + 2;
/// The Deployment, the last of them.
pub(crate) const WEB: usize = TARGETS - 1;

pub(crate) fn targets() -> Vec<ObjectId> {
    let maps = NAMESPACES.iter().flat_map(|ns| NAMES.iter().map(|name| config_map(ns, name)));
    maps.chain([id("example.com", "Widget", "a", "w"), id("apps", "Deployment", "a", "web")]).collect()
}

/// The cluster, and what is to be told of it.
pub(crate) struct Play {
    pub(crate) sandbox: Sandbox,
    pub(crate) targets: Vec<ObjectId>,
    turn: u64,
}

impl Play {
    pub(crate) fn new() -> Self {
        let sandbox = Sandbox::builder().nodes(1, 16_000).reinitializing_storage(true).build();
        let play = Self { sandbox, targets: targets(), turn: 0 };
        (0..NAMESPACES.len()).for_each(|namespace| play.namespace(namespace, true));
        play
    }

    fn resource(&self, target: usize) -> &'static str {
        match self.targets[target].kind() {
            "Widget" => WIDGETS,
            "Deployment" => DEPLOYMENTS,
            _ => "configmaps",
        }
    }

    pub(crate) fn live(&self, target: usize) -> Option<Value> {
        let id = &self.targets[target];
        self.sandbox.get(self.resource(target), id.namespace(), id.name())
    }

    pub(crate) fn create(&mut self, target: usize) {
        let id = &self.targets[target];
        if self.live(target).is_none() {
            let mut object = match id.kind() {
                "Deployment" => web(true),
                _ => config_map_object(id.namespace(), id.name()),
            };
            if id.kind() == "Widget" {
                object["apiVersion"] = json!("example.com/v1");
                object["kind"] = json!("Widget");
            }
            self.sandbox.create(object);
        }
    }

    pub(crate) fn edit(&mut self, target: usize) {
        self.turn += 1;
        let turn = self.turn.to_string();
        self.change(target, |object| object["metadata"]["annotations"] = json!({ "turn": turn }));
    }

    /// Somebody else says whose it is.
    pub(crate) fn label(&mut self, target: usize, label: bool) {
        let labels = if label { json!({"team": "b"}) } else { json!({}) };
        self.change(target, |object| object["metadata"]["labels"] = labels);
    }

    /// A template whose pods fit on the node, or do not.
    pub(crate) fn size(&mut self, fits: bool) {
        self.change(WEB, |object| {
            object["spec"] = web(fits)["spec"].clone();
            let generation = object["metadata"]["generation"].as_u64().unwrap_or_default();
            object["metadata"]["generation"] = json!(generation + 1);
        });
    }

    fn change(&mut self, target: usize, change: impl FnOnce(&mut Value)) {
        let id = &self.targets[target];
        self.sandbox.edit(self.resource(target), id.namespace(), id.name(), change);
    }

    pub(crate) fn delete(&mut self, target: usize) {
        let id = &self.targets[target];
        self.sandbox.delete(self.resource(target), id.namespace(), id.name());
    }

    pub(crate) fn namespace(&self, namespace: usize, there: bool) {
        let name = NAMESPACES[namespace];
        if !there {
            self.sandbox.delete("namespaces", "", name);
        } else if self.sandbox.get("namespaces", "", name).is_none() {
            self.sandbox.create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
        }
    }

    pub(crate) fn definition(&self, there: bool) {
        let all = "customresourcedefinitions.apiextensions.k8s.io";
        match (there, self.sandbox.get(all, "", WIDGETS)) {
            (true, None) => drop(self.sandbox.create(crd())),
            (false, _) => drop(self.sandbox.delete(all, "", WIDGETS)),
            (true, Some(_)) => {}
        }
    }

    pub(crate) fn end(&self, resource: usize, how: WatchEnd) {
        self.sandbox.end_watches(RESOURCES[resource % RESOURCES.len()], how);
    }

    pub(crate) fn fail(&self, resource: usize, which: u8) {
        let resource = RESOURCES[resource % RESOURCES.len()];
        let watch = When::verb("watch").resource(resource);
        let list = When::verb("list").resource(resource);
        let text =
            || Fault::Answer { code: 404, media_type: "text/plain", body: "404 page not found\n".into() };
        match which {
            0 => self.sandbox.inject(watch.first(4), Fault::Refuse),
            1 => {
                self.sandbox.inject(watch.first(2), Fault::status(410, "Expired", "too old resource version"))
            }
            2 => self.sandbox.inject(watch.first(3), Fault::status(503, "ServiceUnavailable", "busy")),
            3 => self.sandbox.inject(watch.first(1), Fault::HangBody(40)),
            4 => self.sandbox.inject(watch.first(2), Fault::CutBody(600)),
            5 => self.sandbox.inject(watch.first(2), Fault::status(400, "BadRequest", "no streaming list")),
            6 => self.sandbox.inject(list.first(2), Fault::status(410, "Expired", "continue token")),
            7 => self.sandbox.inject(watch.first(1), text()),
            8 => self.sandbox.inject(list.first(1), Fault::Hang),
            9 => self.sandbox.inject(watch.first(2), Fault::throttle(3)),
            _ => self.sandbox.inject(When::any().first(3), Fault::status(500, "InternalError", "no")),
        };
    }

    pub(crate) fn rights(&self, which: u8) {
        let see = |user: User, resource: &str| user.allow("get,list,watch", resource, "", "");
        let user = [WIDGETS, DEPLOYMENTS].into_iter().fold(User::limited("u"), see);
        let children = |user: User| see(see(user, "replicasets.apps"), "pods");
        let user = match which {
            0 => user,
            1 => children(user).allow("get", "configmaps", "", ""),
            2 => see(user, "replicasets.apps").allow("get,list,watch", "configmaps", "a", ""),
            _ => see(children(user), "configmaps"),
        };
        self.sandbox.set_user("token", user);
    }

    /// What the Deployment generated, by uid.
    fn generated(&self) -> BTreeSet<String> {
        let uid = |object: &Value| object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        let of = |owners: &BTreeSet<String>, resource: &str| -> BTreeSet<String> {
            let all = self.sandbox.list(resource, "a");
            let owner = |object: &Value| object["metadata"]["ownerReferences"][0]["uid"].clone();
            let ours =
                all.iter().filter(|object| owner(object).as_str().is_some_and(|uid| owners.contains(uid)));
            ours.map(uid).collect()
        };
        let root: BTreeSet<String> = self.live(WEB).iter().map(uid).collect();
        let sets = of(&root, "replicasets.apps");
        let pods = of(&sets, "pods");
        sets.into_iter().chain(pods).collect()
    }

    /// Promise 1 to 5 at the end: all is told as it is.
    pub(crate) fn is_told(
        &self,
        target: usize,
        told: &Presence,
        status: Option<Status>,
    ) -> Result<(), TestCaseError> {
        let id = &self.targets[target];
        match (self.live(target), told) {
            (Some(live), Presence::Present(digest)) => {
                let version = live["metadata"]["resourceVersion"].as_str().unwrap_or_default();
                prop_assert_eq!(digest.resource_version(), version, "{:?}", id);
                let stuck = target == WEB && size(&live) == size(&web(false));
                prop_assert!(
                    status.is_none_or(|status| (status == Status::Current) != stuck),
                    "{id:?}: {status:?}"
                );
            }
            (None, Presence::Absent { .. } | Presence::NotServed) => {
                prop_assert!(status.is_none_or(|status| status == Status::NotFound), "{id:?}: {status:?}");
            }
            (live, told) => prop_assert!(false, "{id:?} is {live:?} and told {told:?}"),
        }
        Ok(())
    }

    pub(crate) fn children_are_told(&self, state: &TargetState) -> Result<(), TestCaseError> {
        let told = state.children.iter().flatten().filter_map(|child| child.uid());
        let told: HashSet<Uid> = told.collect();
        let live: HashSet<Uid> = self.generated().iter().map(|uid| Uid::parse(uid)).collect();
        prop_assert_eq!(told, live, "{:?}", state);
        Ok(())
    }
}

fn size(web: &Value) -> &Value {
    &web["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"]
}

/// Two replicas that fit on the node, or do not.
fn web(fits: bool) -> Value {
    let cpu = if fits { "1" } else { "64" };
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "a"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
            "strategy": {"type": "Recreate"}, "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}}},
    })
}

/// What has been told of a target: what it was, and how old at least it may be from here on.
#[derive(Default)]
pub(crate) struct Told {
    version: u64,
    uid: Option<Uid>,
    gone: HashSet<Uid>,
    pub(crate) floor: u64,
}

impl Told {
    /// Promises 2 and 3.
    pub(crate) fn takes(&mut self, presence: &Presence) -> Result<(), TestCaseError> {
        match presence {
            Presence::Present(digest) => {
                let version: u64 = digest.resource_version().parse().unwrap_or_default();
                let uid = digest.uid();
                if uid == self.uid {
                    prop_assert!(version >= self.version, "{version} after {}", self.version);
                } else {
                    self.gone.extend(self.uid);
                }
                prop_assert!(uid.is_none_or(|uid| !self.gone.contains(&uid)), "an older life is told again");
                prop_assert!(version >= self.floor, "{version} is told, {} was written", self.floor);
                (self.version, self.uid) = (version, uid);
            }
            Presence::Absent { as_of, .. } => {
                let old = as_of.is_some_and(|as_of| as_of < self.floor);
                prop_assert!(!old, "absent as of {as_of:?}, {} was written", self.floor);
                self.gone.extend(self.uid.take());
            }
            Presence::Pending | Presence::NotServed | Presence::Unknown(_) => {}
        }
        Ok(())
    }
}

fn failed(error: impl ToString) -> TestCaseError {
    TestCaseError::fail(error.to_string())
}

/// A subscriber that judges, and what it was told.
pub(crate) struct Judge {
    pub(crate) watcher: Watcher,
    told: HashMap<usize, Told>,
    pub(crate) synced: bool,
}

impl Judge {
    pub(crate) fn new(watcher: Watcher) -> Self {
        Self { watcher, told: HashMap::new(), synced: false }
    }

    /// We wrote this: nothing older may be told from here on.
    pub(crate) async fn wrote(&mut self, target: usize, live: &Value) -> Result<(), TestCaseError> {
        let meta = &live["metadata"];
        let version = meta["resourceVersion"].as_str().and_then(|version| version.parse().ok());
        let uid = Uid::parse(meta["uid"].as_str().unwrap_or_default());
        self.told.entry(target).or_default().floor = version.unwrap_or_default();
        let floor = Floor { uid, version, generation: None, before: None };
        self.watcher.floor(target, floor).await.map(drop).map_err(failed)
    }

    pub(crate) async fn follow(&mut self, time: Duration) -> Result<(), TestCaseError> {
        let end = tokio::time::Instant::now() + time;
        while let Ok(signal) = tokio::time::timeout_at(end, self.watcher.next()).await {
            match signal.map_err(failed)? {
                Signal::Synced => {
                    self.synced = true;
                    for target in 0..self.watcher.len() {
                        let silent = matches!(self.watcher.presence(target), Presence::Pending);
                        prop_assert!(!silent, "{target} is silent at Synced");
                    }
                }
                Signal::Verdicts(changed) => {
                    for target in changed {
                        self.told.entry(target).or_default().takes(self.watcher.presence(target))?;
                    }
                }
                Signal::Gap(_) | Signal::Explained => {}
            }
        }
        Ok(())
    }
}

/// A subscriber that came later and wants this and that.
pub(crate) struct Late {
    view: View,
    wanted: BTreeSet<usize>,
}

impl Late {
    pub(crate) async fn new(view: View, targets: &[ObjectId], wanted: BTreeSet<usize>) -> Self {
        if wanted.contains(&WEB) {
            view.subscription().children(targets[WEB].clone(), true).await.unwrap();
        }
        Self { view, wanted }
    }

    pub(crate) async fn toggle(&mut self, target: usize, targets: &[ObjectId]) {
        let id = std::slice::from_ref(&targets[target]);
        if self.wanted.remove(&target) {
            return self.view.remove(id).await;
        }
        self.wanted.insert(target);
        self.view.add(id).await;
        if target == WEB {
            self.view.subscription().children(id[0].clone(), true).await.unwrap();
        }
    }

    pub(crate) async fn catch_up(&mut self, play: &Play) -> Result<(), TestCaseError> {
        self.view.pass(Duration::from_secs(1)).await;
        prop_assert!(
            self.view.synced || self.wanted.is_empty(),
            "a late subscriber is never told that all is known"
        );
        for target in &self.wanted {
            let id = &play.targets[*target];
            play.is_told(*target, self.view.presence(id), None)?;
            if *target == WEB && self.view.is_present(id) {
                play.children_are_told(&self.view.states[id])?;
            }
        }
        let snapshot = self.view.subscription().snapshot().await.map_err(failed)?;
        prop_assert_eq!(snapshot.len(), self.wanted.len());
        Ok(())
    }
}
