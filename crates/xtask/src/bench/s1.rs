//! S1: many Deployments of one replica in one namespace.

use std::error::Error;
use std::time::{Duration, Instant};

use harness::{ControlPlane, Part};

use super::measure::{Sample, measure, median};
use super::tool::{Phase, Tool};
use super::workload::Workload;
use super::{Options, report, table};

/// All samples of one tool, phase by phase.
type Turns = Vec<(Tool, Phase, Vec<Sample>)>;

pub(super) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    for tool in &options.tools {
        tool.program()?;
    }
    let nodes = options.count.div_ceil(200).max(10);
    let plane = ControlPlane::builder().nodes(nodes).start()?;
    let mut turns: Turns = Vec::new();
    for round in 0..options.rounds {
        // Each round starts with another tool, so that none always finds the freshest server.
        for place in 0..options.tools.len() {
            let tool = options.tools[(round + place) % options.tools.len()];
            turn(&plane, tool, round, options.count, &mut turns)?;
        }
    }
    let rows: Vec<_> = turns.iter().map(|(tool, phase, samples)| (*tool, *phase, median(samples))).collect();
    let text = report::section(options.count, nodes, options.rounds, &table::markdown(&rows));
    println!("{text}");
    if options.write {
        report::write("s1", &text)?;
    }
    Ok(())
}

/// One tool does all its phases in a namespace of its own.
fn turn(
    plane: &ControlPlane,
    tool: Tool,
    round: usize,
    count: usize,
    turns: &mut Turns,
) -> Result<(), Box<dyn Error>> {
    let namespace = format!("bench-{tool}-{round}");
    let workload = Workload::write(plane.dir().join("data").join(&namespace), &namespace, count)?;
    if tool == Tool::Kapply {
        workload.add_inventory_template()?;
    }
    let user = plane.user(tool.name()).can_cluster(&["*"], &["*"]).build();
    for phase in Phase::ALL {
        let proxy = plane.proxy();
        let Some(command) = tool.command(phase, plane, &user, &proxy, &workload)? else { continue };
        quiet(plane);
        eprint!("round {}, {tool}, {}: ", round + 1, phase.title());
        let sample = measure(plane, user.name(), &proxy, command)?;
        eprintln!("{:.1} s, {} requests", sample.wall, sample.total());
        match turns.iter_mut().find(|(of, in_phase, _)| (*of, *in_phase) == (tool, phase)) {
            Some((_, _, samples)) => samples.push(sample),
            None => turns.push((tool, phase, vec![sample])),
        }
    }
    clean(plane, &namespace)
}

/// Removes what a tool left, and waits until it is gone.
fn clean(plane: &ControlPlane, namespace: &str) -> Result<(), Box<dyn Error>> {
    let path = format!("/api/v1/namespaces/{namespace}");
    plane.api().delete(&path)?;
    let end = Instant::now() + Duration::from_secs(600);
    while plane.api().get(&path)?.status != 404 {
        if Instant::now() > end {
            return Err(format!("namespace {namespace} is still there after ten minutes").into());
        }
        std::thread::sleep(Duration::from_millis(500));
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
