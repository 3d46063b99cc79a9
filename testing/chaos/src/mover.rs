//! Somebody else who works on the same cluster, around the proxy.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::direct::{BoxError, Direct};
use crate::phase::Step;
use crate::random::Random;
use crate::set::{Edition, Set, key};

const MERGE: &str = "application/merge-patch+json";
const JSON: &str = "application/json";

/// What the mover did, for the checks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moves {
    /// Objects of others: path and uid.
    pub(crate) foreign: BTreeMap<String, String>,
    /// Keys of objects of the set that were changed, deleted or made anew.
    pub(crate) touched: BTreeSet<String>,
    /// Something that was to be there was deleted: it may rightly be said to have failed.
    pub(crate) hurt: bool,
    pub(crate) lines: Vec<String>,
}

/// A task that moves things until it is told to stop.
pub(crate) struct Mover {
    task: JoinHandle<Moves>,
    stop: CancellationToken,
}

impl Mover {
    /// Begins; what was foreign before stays known.
    pub(crate) fn start(direct: Direct, set: Set, seed: u64, step: Step, before: &Moves) -> Self {
        let moves = Moves { foreign: before.foreign.clone(), ..Moves::default() };
        let random = Random::of(seed, &format!("mover {step:?}"));
        let stop = CancellationToken::new();
        let work = Work { direct, set, random, step, moves, number: 0 };
        Self { task: tokio::spawn(work.run(stop.clone())), stop }
    }

    /// Lets the move under way finish, and no other begin.
    pub(crate) async fn stop(self) -> Result<Moves, BoxError> {
        self.stop.cancel();
        Ok(self.task.await?)
    }
}

struct Work {
    direct: Direct,
    set: Set,
    random: Random,
    step: Step,
    moves: Moves,
    number: u32,
}

impl Work {
    async fn run(mut self, stop: CancellationToken) -> Moves {
        for _ in 0..self.random.between(2, 12) {
            let pause = Duration::from_millis(self.random.between(20, 600));
            tokio::select! {
                () = stop.cancelled() => break,
                () = tokio::time::sleep(pause) => {}
            }
            if let Err(error) = self.one().await {
                self.moves.lines.push(format!("mover: {error}"));
            }
        }
        self.moves
    }

    async fn one(&mut self) -> Result<(), BoxError> {
        match self.random.between(0, 9) {
            0..=2 => self.add_foreign().await,
            3 => self.change_foreign().await,
            4 => self.remove_foreign().await,
            5..=7 => self.label_own().await,
            8 => self.overwrite_own().await,
            _ => self.remove_own().await,
        }
    }

    async fn add_foreign(&mut self) -> Result<(), BoxError> {
        self.number += 1;
        let name = format!("foreign-{:?}-{}", self.step, self.number).to_lowercase();
        self.create(&name).await
    }

    /// A ConfigMap without our mark.
    async fn create(&mut self, name: &str) -> Result<(), BoxError> {
        let path = format!("/api/v1/namespaces/{}/configmaps", self.set.home);
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": { "by": "mover" }
        });
        let (status, object) = self.direct.ask(Method::POST, &path, Some((JSON, &object))).await?;
        self.moves.lines.push(format!("mover: create {name}: {status}"));
        if let Some(uid) = object["metadata"]["uid"].as_str().filter(|_| status == 201) {
            self.moves.foreign.insert(format!("{path}/{name}"), uid.to_owned());
        }
        Ok(())
    }

    async fn change_foreign(&mut self) -> Result<(), BoxError> {
        let paths: Vec<String> = self.moves.foreign.keys().cloned().collect();
        let Some(path) = self.random.pick(&paths) else { return Ok(()) };
        let patch = json!({ "data": { "turn": self.random.next().to_string() } });
        self.direct.ask(Method::PATCH, path, Some((MERGE, &patch))).await?;
        Ok(())
    }

    async fn remove_foreign(&mut self) -> Result<(), BoxError> {
        let paths: Vec<String> = self.moves.foreign.keys().cloned().collect();
        let Some(path) = self.random.pick(&paths) else { return Ok(()) };
        self.moves.foreign.remove(path);
        self.direct.ask(Method::DELETE, path, None).await?;
        self.moves.lines.push(format!("mover: delete {path}"));
        Ok(())
    }

    /// An object of the set that others may change: a ConfigMap of the home namespace.
    fn own(&mut self) -> Option<Value> {
        let maps = |edition| {
            let home = self.set.home.clone();
            let objects = self.set.objects(edition).into_iter();
            objects
                .filter(move |object| {
                    object["kind"] == "ConfigMap" && object["metadata"]["namespace"] == *home
                })
                .collect::<Vec<_>>()
        };
        let mut all = maps(Edition::First);
        all.extend(maps(Edition::Second));
        self.random.pick(&all).cloned()
    }

    async fn label_own(&mut self) -> Result<(), BoxError> {
        let Some(object) = self.own() else { return Ok(()) };
        let turn = self.random.next().to_string();
        let patch = json!({ "metadata": { "labels": { "turn": turn } } });
        let path = self.set.path(&object);
        let (status, _) = self.direct.ask(Method::PATCH, &path, Some((MERGE, &patch))).await?;
        self.moves.lines.push(format!("mover: label {path}: {status}"));
        Ok(())
    }

    async fn overwrite_own(&mut self) -> Result<(), BoxError> {
        let Some(object) = self.own() else { return Ok(()) };
        let patch = json!({ "data": { "key": "overwritten" } });
        let path = self.set.path(&object);
        self.moves.touched.insert(key(&object));
        let (status, _) = self.direct.ask(Method::PATCH, &path, Some((MERGE, &patch))).await?;
        self.moves.lines.push(format!("mover: overwrite {path}: {status}"));
        Ok(())
    }

    /// Deletes an object of the set; while the set is destroyed, sometimes puts its own in its place.
    async fn remove_own(&mut self) -> Result<(), BoxError> {
        let Some(object) = self.own() else { return Ok(()) };
        let path = self.set.path(&object);
        self.moves.touched.insert(key(&object));
        self.moves.foreign.remove(&path);
        self.moves.hurt |= self.step != Step::Destroy;
        let (status, _) = self.direct.ask(Method::DELETE, &path, None).await?;
        self.moves.lines.push(format!("mover: delete {path}: {status}"));
        if self.step == Step::Destroy && self.random.chance(60) {
            let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            self.create(&name).await?;
        }
        Ok(())
    }
}
