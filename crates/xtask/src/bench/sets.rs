//! S1, S3, S7: every tool applies a set and waits, applies it again, and destroys it.

use std::error::Error;
use std::time::{Duration, Instant};

use harness::{ControlPlane, Part};

use super::measure::{Sample, measure, median};
use super::scenario::{Scenario, Workload};
use super::tool::{Phase, Tool, Turn};
use super::{Options, report, table};

/// All samples of one size, by tool and phase.
type Samples = Vec<(Tool, Phase, Vec<Sample>)>;

pub(super) fn run(scenario: Scenario, options: &Options) -> Result<(), Box<dyn Error>> {
    for tool in &options.tools {
        tool.program()?;
    }
    let counts = if options.counts.is_empty() { scenario.counts() } else { &options.counts };
    let mut text = report::preface(scenario, counts, options.rounds);
    for count in counts.iter().copied() {
        let nodes = scenario.nodes(count);
        let plane = ControlPlane::builder().nodes(nodes).start()?;
        let mut samples = Samples::new();
        for round in 0..options.rounds {
            // Each round starts with another tool, so that none always finds the freshest server.
            for place in 0..options.tools.len() {
                let tool = options.tools[(round + place) % options.tools.len()];
                turn(&plane, scenario, tool, round, count, &mut samples)?;
            }
        }
        let rows: Vec<_> =
            samples.iter().map(|(tool, phase, samples)| (*tool, *phase, median(samples))).collect();
        text.push_str(&format!("\n{}\n", scenario.title(count)));
        text.push_str(&table::markdown(&rows));
    }
    println!("{text}");
    if options.write {
        report::write(scenario.name(), &text)?;
    }
    Ok(())
}

/// One tool does all its phases with objects of its own.
fn turn(
    plane: &ControlPlane,
    scenario: Scenario,
    tool: Tool,
    round: usize,
    count: usize,
    samples: &mut Samples,
) -> Result<(), Box<dyn Error>> {
    let mark = format!("bench-{tool}-{round}");
    let workload = Workload::write(scenario, count, plane.dir().join("data").join(&mark), &mark)?;
    if tool == Tool::Kapply {
        workload.add_inventory_template()?;
    }
    let user = plane.user(tool.name()).can_cluster(&["*"], &["*"]).build();
    for phase in Phase::ALL {
        let proxy = plane.proxy();
        let turn = Turn { scenario, phase, plane, user: &user, proxy: &proxy, workload: &workload };
        let Some(command) = tool.command(&turn)? else { continue };
        quiet(plane);
        eprint!("round {}, {tool}, {}: ", round + 1, phase.title());
        let sample = measure(plane, user.name(), &proxy, command)?;
        eprintln!("{:.1} s, {} requests", sample.wall, sample.total());
        match samples.iter_mut().find(|(of, in_phase, _)| (*of, *in_phase) == (tool, phase)) {
            Some((_, _, samples)) => samples.push(sample),
            None => samples.push((tool, phase, vec![sample])),
        }
    }
    clean(plane, &workload)
}

/// Removes what a tool left, and waits until it is gone.
fn clean(plane: &ControlPlane, workload: &Workload) -> Result<(), Box<dyn Error>> {
    for path in &workload.leftovers {
        plane.api().delete(path)?;
    }
    let end = Instant::now() + Duration::from_secs(600);
    for path in &workload.leftovers {
        while plane.api().get(path)?.status != 404 {
            if Instant::now() > end {
                return Err(format!("{path} is still there after ten minutes").into());
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    }
    Ok(())
}

/// Waits until the API server has little left to do from what came before; a minute at most.
fn quiet(plane: &ControlPlane) {
    let cpu = || plane.usage(Part::ApiServer).cpu + plane.usage(Part::ControllerManager).cpu;
    let mut calm = 0;
    for _ in 0..60 {
        let before = cpu();
        std::thread::sleep(Duration::from_secs(1));
        calm = if cpu() - before < Duration::from_millis(120) { calm + 1 } else { 0 };
        if calm == 2 {
            return;
        }
    }
}
