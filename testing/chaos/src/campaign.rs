//! Many seeds, several at a time, on one control plane.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use harness::ControlPlane;

use crate::direct::BoxError;
use crate::schedule::Report;
use crate::seed::{self, Outcome};

/// What is asked for.
#[derive(Debug, Args)]
pub struct Options {
    /// How many seeds
    #[arg(long, default_value_t = 50)]
    seeds: u64,
    /// The first of them
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// This seed alone
    #[arg(long)]
    seed: Option<u64>,
    /// How many at a time
    #[arg(long, default_value_t = 8)]
    at_once: usize,
    /// Where the logs of failed seeds go
    #[arg(long, default_value = "target/chaos")]
    logs: PathBuf,
    /// Keep the log of every seed
    #[arg(long)]
    keep_logs: bool,
}

/// Runs it to its end and says whether all was well.
///
/// # Errors
/// When it could not be carried out.
pub async fn run(options: &Options) -> Result<ExitCode, BoxError> {
    let plane = tokio::task::spawn_blocking(|| ControlPlane::builder().nodes(2).start()).await?;
    let plane = Arc::new(plane.map_err(|error| error.to_string())?);
    tokio::fs::create_dir_all(&options.logs).await?;
    let began = Instant::now();
    let mut open = match options.seed {
        Some(seed) => seed..seed + 1,
        None => options.from..options.from + options.seeds,
    };
    let mut under_way = FuturesUnordered::new();
    let mut tally = Tally::default();
    loop {
        while under_way.len() < options.at_once.max(1)
            && let Some(seed) = open.next()
        {
            let running = seed::run(plane.clone(), seed, "");
            under_way.push(async move { (seed, tokio::spawn(running).await) });
        }
        let Some((seed, outcome)) = under_way.next().await else { break };
        let outcome = outcome.unwrap_or_else(|error| Outcome {
            wrong: vec![format!("the test itself failed: {error}")],
            ..Outcome::default()
        });
        tally.add(seed, &outcome, options).await?;
        if tally.done().is_multiple_of(50) {
            eprintln!("{} seeds in {} s, {} failed", tally.done(), began.elapsed().as_secs(), tally.failed);
        }
    }
    tally.print(began);
    tokio::task::spawn_blocking(move || drop(plane)).await?;
    Ok(if tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Default)]
struct Tally {
    passed: u64,
    failed: u64,
    report: Report,
    classes: BTreeMap<&'static str, u64>,
}

impl Tally {
    fn done(&self) -> u64 {
        self.passed + self.failed
    }

    async fn add(&mut self, seed: u64, outcome: &Outcome, options: &Options) -> Result<(), BoxError> {
        self.report.add(&outcome.report);
        for class in &outcome.classes {
            *self.classes.entry(class.as_str()).or_default() += 1;
        }
        let log = options.logs.join(format!("seed-{seed}.log"));
        if options.keep_logs || !outcome.wrong.is_empty() {
            tokio::fs::write(&log, outcome.log.join("\n")).await?;
        }
        if outcome.wrong.is_empty() {
            self.passed += 1;
            return Ok(());
        }
        self.failed += 1;
        println!("seed {seed} FAILED");
        for what in &outcome.wrong {
            println!("  {what}");
        }
        println!("  log: {}; again: cargo xtask chaos --seed {seed}", log.display());
        Ok(())
    }

    fn print(&self, began: Instant) {
        println!();
        println!("| fault | times |");
        println!("| --- | ---: |");
        for (name, count) in &self.report.faults {
            println!("| {name} | {count} |");
        }
        let classes: Vec<String> =
            self.classes.iter().map(|(name, count)| format!("{name} {count}")).collect();
        println!();
        println!(
            "{} requests, {} faults; runs under faults ended as: {}; {} s",
            self.report.requests,
            self.report.total(),
            classes.join(", "),
            began.elapsed().as_secs()
        );
        println!("{} passed, {} failed", self.passed, self.failed);
    }
}
