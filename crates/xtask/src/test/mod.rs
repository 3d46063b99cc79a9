//! `cargo xtask test`: everything that decides whether the tree is good.
//!
//! Each step runs to its end whatever became of the others. The last line is the total, in the form
//! `N passed, N failed`.

mod counts;
mod run;
mod step;
mod tools;

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use counts::Counts;
use step::Step;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Run only these steps, and those they need
    #[arg(long, value_delimiter = ',')]
    only: Vec<Step>,
    /// Leave these steps out
    #[arg(long, value_delimiter = ',')]
    skip: Vec<Step>,
    /// Print the steps, and run nothing
    #[arg(long)]
    list: bool,
}

/// How one step went.
struct Outcome {
    step: Step,
    passed: bool,
    counts: Counts,
    time: Duration,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    let steps = options.steps();
    if options.list {
        for step in steps {
            println!("{:<8} {}", step.name(), step.about());
        }
        return Ok(ExitCode::SUCCESS);
    }
    tools::install_missing()?;

    let start = Instant::now();
    let mut outcomes = Vec::new();
    for (number, &step) in steps.iter().enumerate() {
        println!("[{}/{}] {}: {}", number + 1, steps.len(), step.name(), step.about());
        let outcome = run_step(step);
        println!("[{}/{}] {}", number + 1, steps.len(), outcome.line());
        outcomes.push(outcome);
    }
    Ok(summary(&outcomes, start.elapsed()))
}

fn run_step(step: Step) -> Outcome {
    let start = Instant::now();
    let (passed, counts) = match step.run() {
        Ok(counts) => (counts.failed == 0, counts),
        Err(failure) => {
            println!("{}: {}", step.name(), failure.message);
            (false, failure.counts.with_failure())
        }
    };
    Outcome { step, passed, counts, time: start.elapsed() }
}

fn summary(outcomes: &[Outcome], time: Duration) -> ExitCode {
    println!();
    for outcome in outcomes {
        println!("{}", outcome.line());
        for name in &outcome.counts.failures {
            println!("           {name}");
        }
    }
    println!("all steps in {}", minutes(time));
    let sum =
        |count: fn(&Counts) -> usize| outcomes.iter().map(|outcome| count(&outcome.counts)).sum::<usize>();
    let (passed, failed) = (sum(|counts| counts.passed), sum(|counts| counts.failed));
    println!("{passed} passed, {failed} failed");
    if failed == 0 && outcomes.iter().all(|outcome| outcome.passed) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

impl Outcome {
    fn line(&self) -> String {
        let verdict = if self.passed { "ok" } else { "FAILED" };
        let mut line = format!("{:<8} {verdict:<6} {:>6}", self.step.name(), minutes(self.time));
        let Counts { passed, failed, ignored, .. } = self.counts;
        if passed + failed + ignored > 0 {
            line += &format!("  {passed} passed, {failed} failed, {ignored} ignored");
        }
        line
    }
}

impl Options {
    fn steps(&self) -> Vec<Step> {
        let wanted = |step: Step| {
            self.only.is_empty() || self.only.iter().any(|only| *only == step || only.needs().contains(&step))
        };
        Step::ALL.into_iter().filter(|&step| wanted(step) && !self.skip.contains(&step)).collect()
    }
}

fn minutes(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_brings_what_it_needs() {
        let options = Options { only: vec![Step::E2e], skip: Vec::new(), list: false };
        assert_eq!(options.steps(), [Step::Go, Step::Release, Step::E2e]);
    }

    #[test]
    fn a_skipped_step_is_left_out_even_when_needed() {
        let options = Options { only: vec![Step::E2e], skip: vec![Step::Go], list: false };
        assert_eq!(options.steps(), [Step::Release, Step::E2e]);
    }
}
