//! One seed from its first run to its last.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use harness::ControlPlane;
use http::Method;
use kubesettle::error::ExitClass;
use kubesettle::event::Operation;
use serde_json::{Value, json};

use crate::check::After;
use crate::direct::{BoxError, Direct};
use crate::mover::{Mover, Moves};
use crate::phase::{Order, Step, Told};
use crate::proxy::Proxy;
use crate::random::Random;
use crate::schedule::{Report, Schedule};
use crate::set::{Edition, Set};

/// What came of a seed.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// What was wrong.
    pub(crate) wrong: Vec<String>,
    pub(crate) report: Report,
    /// How the runs under faults ended.
    pub(crate) classes: Vec<ExitClass>,
    pub(crate) log: Vec<String>,
}

struct Seed {
    seed: u64,
    direct: Direct,
    set: Set,
    proxy: Proxy,
    kubeconfig: PathBuf,
    outcome: Outcome,
}

/// Runs one seed. `round` keeps the names of several campaigns on one cluster apart.
pub(crate) async fn run(plane: Arc<ControlPlane>, seed: u64, round: &str) -> Outcome {
    match Seed::prepare(&plane, seed, round).await {
        Ok(mut running) => {
            if let Err(error) = running.phases().await {
                running.outcome.wrong.push(error.to_string());
            }
            let home = format!("/api/v1/namespaces/{}", running.set.home);
            let _ = running.direct.ask(Method::DELETE, &home, None).await;
            running.outcome.log.extend(running.proxy.log());
            running.outcome
        }
        Err(error) => Outcome { wrong: vec![format!("cannot begin: {error}")], ..Outcome::default() },
    }
}

impl Seed {
    async fn prepare(plane: &ControlPlane, seed: u64, round: &str) -> Result<Self, BoxError> {
        let direct = Direct::new(plane)?;
        let set = Set::of(seed, round);
        let http1 = Random::of(seed, "protocol").chance(20);
        let proxy = Proxy::start(plane, http1).await?;
        let kubeconfig = write_kubeconfig(plane, &proxy, &set.home).await?;
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": set.home } });
        direct.ask(Method::POST, "/api/v1/namespaces", Some(("application/json", &namespace))).await?;
        let account = format!("/api/v1/namespaces/{}/serviceaccounts/default", set.home);
        while direct.get(&account).await?.is_null() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(Self { seed, direct, set, proxy, kubeconfig, outcome: Outcome::default() })
    }

    async fn phases(&mut self) -> Result<(), BoxError> {
        let mut moves = Moves::default();
        for step in [Step::Apply, Step::Change, Step::Destroy] {
            moves = self.phase(step, moves).await?;
            if !self.outcome.wrong.is_empty() {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn phase(&mut self, step: Step, before: Moves) -> Result<Moves, BoxError> {
        let objects = match step {
            Step::Apply => self.set.objects(Edition::First),
            Step::Change => self.set.objects(Edition::Second),
            Step::Destroy => Vec::new(),
        };
        self.proxy.note(&format!("=== {} under faults", step.name()));
        self.proxy.follow(Schedule::of(self.seed, step.name()));
        let mover = Mover::start(self.direct.clone(), self.set.clone(), self.seed, step, &before);
        let told = self.order(step, &objects).carry_out().await;
        let report = self.proxy.follow(Schedule::quiet()).report().clone();
        let moves = mover.stop().await?;
        self.outcome.report.add(&report);
        self.outcome.log.extend(moves.lines.iter().map(|line| format!("{} {line}", step.name())));
        let told = told?;
        self.outcome.classes.push(told.class);
        self.examine(step, &objects, &told, &moves, &report).await?;
        if self.outcome.wrong.is_empty() && (told.class != ExitClass::Ok || moves.hurt) {
            self.proxy.note(&format!("=== {} without faults", step.name()));
            let calm = Moves { foreign: moves.foreign.clone(), ..Moves::default() };
            let told = self.order(step, &objects).carry_out().await?;
            let report = self.proxy.follow(Schedule::quiet()).report().clone();
            self.examine(step, &objects, &told, &calm, &report).await?;
        }
        Ok(moves)
    }

    fn order(&self, step: Step, objects: &[Value]) -> Order {
        let operation = if step == Step::Destroy { Operation::Destroy } else { Operation::Apply };
        Order {
            kubeconfig: self.kubeconfig.clone(),
            home: self.set.home.clone(),
            operation,
            objects: objects.to_vec(),
        }
    }

    async fn examine(
        &mut self,
        step: Step,
        objects: &[Value],
        told: &Told,
        moves: &Moves,
        report: &Report,
    ) -> Result<(), BoxError> {
        let (direct, set) = (&self.direct, &self.set);
        let after = After { direct, set, step, objects, told, moves, report };
        let mut wrong = after.faults().await?;
        for _ in 0..60 {
            if self.proxy.open() == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        if self.proxy.open() > 0 {
            wrong.push(format!("{} connections are left open", self.proxy.open()));
        }
        self.outcome.log.push(format!(
            "{}: {:?} after {:.1} s, {} requests, faults {:?}, excuses {:?}",
            step.name(),
            told.class,
            told.time.as_secs_f64(),
            report.requests,
            report.faults,
            report.costly
        ));
        self.outcome.log.extend(told.lines.iter().cloned());
        self.outcome.wrong.extend(wrong.into_iter().map(|what| format!("{}: {what}", step.name())));
        Ok(())
    }
}

async fn write_kubeconfig(plane: &ControlPlane, proxy: &Proxy, home: &str) -> Result<PathBuf, BoxError> {
    let folder = plane.dir().join("data").join(home);
    tokio::fs::create_dir_all(&folder).await?;
    let token = folder.join("token");
    tokio::fs::write(&token, plane.admin_token()).await?;
    let path = folder.join("kubeconfig");
    tokio::fs::write(&path, kubeconfig(&proxy.url(), plane.ca_path(), &token)).await?;
    Ok(path)
}

/// A kubeconfig whose token stands in a file.
pub(crate) fn kubeconfig(server: &str, ca: &Path, token: &Path) -> String {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "chaos",
        "clusters": [{ "name": "chaos", "cluster": { "server": server, "certificate-authority": ca } }],
        "users": [{ "name": "chaos", "user": { "tokenFile": token } }],
        "contexts": [{ "name": "chaos", "context": { "cluster": "chaos", "user": "chaos" } }]
    })
    .to_string()
}
