//! S4 and S5: our watcher beside the status watcher of cli-utils, following the same objects at the same
//! time on one control plane.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use harness::binaries::{self, Binary};
use harness::{ControlPlane, Mark, Running, TcpProxy, Usage, User, spawn};
use serde_json::{Value, json};

use super::report;
use crate::workspace;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Pods of others in the namespace of the ten that are followed
    #[arg(long, default_value_t = 10_000)]
    foreign: usize,
    /// Deployments that are followed
    #[arg(long, default_value_t = 1_000)]
    deployments: usize,
    /// Pods of each Deployment
    #[arg(long, default_value_t = 10)]
    replicas: usize,
    /// The rollout alone, and our watcher alone: ten thousand Pods keep the peer and the server busy for long
    #[arg(long)]
    alone: bool,
    /// Write the tables into docs/performance.md
    #[arg(long)]
    write: bool,
}

const LIMIT: Duration = Duration::from_secs(20 * 60);
/// How long to wait for what is on its way when nothing more happens.
const REST: Duration = Duration::from_secs(10);
/// Requests of the set-up in flight at once.
const HANDS: usize = 8;
const WANTED: usize = 10;

pub(super) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if options.alone {
        return alone(options);
    }
    let programs = [("kubesettle", example("watch")?), ("cli-utils", binaries::path(Binary::Watcher)?)];
    let Options { foreign, deployments, replicas, .. } = *options;
    let mut text = format!(
        "\
{}; both watchers follow the same objects at the same time on one control plane
(`cargo xtask bench watch --foreign {foreign} --deployments {deployments} --replicas {replicas}`): *kubesettle* is
`crates/kubesettle/examples/watch.rs`, *cli-utils* its `DefaultStatusWatcher` (`testing/peers/watcher`). Memory is
what is held at the end, after ten quiet seconds; requests are those of the API server's audit log, bytes those on
the wire.
",
        report::machine()
    );
    let plane = plane(options)?;
    let _ = writeln!(text, "\n### S4: {WANTED} Pods among {foreign} of others\n");
    text.push_str(&few_among_many(&plane, &programs, foreign)?);
    let _ = writeln!(text, "\n### S5: {deployments} Deployments of {replicas} replicas, all rolling\n");
    text.push_str(&rollout(&plane, &programs, deployments, replicas)?);
    println!("{text}");
    if options.write {
        report::write("watch", &text)?;
    }
    Ok(())
}

fn alone(options: &Options) -> Result<(), Box<dyn Error>> {
    let Options { deployments, replicas, .. } = *options;
    let mut text = format!(
        "{}; `cargo xtask bench watch --alone --deployments {deployments} --replicas {replicas}`\n\n",
        report::machine()
    );
    let _ = writeln!(text, "### S5: {deployments} Deployments of {replicas} replicas, all rolling\n");
    text.push_str(&rollout(&plane(options)?, &[("kubesettle", example("watch")?)], deployments, replicas)?);
    println!("{text}");
    if options.write {
        report::write("watch-alone", &text)?;
    }
    Ok(())
}

fn plane(options: &Options) -> Result<ControlPlane, Box<dyn Error>> {
    let nodes = (options.deployments * options.replicas * 2).div_ceil(250).max(3);
    Ok(ControlPlane::builder().nodes(nodes).start()?)
}

/// One of our examples, compiled for speed.
fn example(name: &str) -> Result<PathBuf, Box<dyn Error>> {
    let path = workspace::release_dir().join("examples").join(name);
    if path.is_file() {
        return Ok(path);
    }
    let next = "cargo build --release -p kubesettle --examples";
    Err(format!("{} is not there\nnext step: {next}", path.display()).into())
}

type Programs = [(&'static str, PathBuf)];

fn few_among_many(
    plane: &ControlPlane,
    programs: &Programs,
    foreign: usize,
) -> Result<String, Box<dyn Error>> {
    let path = "/api/v1/namespaces/crowd/pods";
    create(plane, "/api/v1/namespaces", 1, |_| namespace("crowd"))?;
    create(plane, path, foreign, |number| pod(&format!("other-{number:05}"), "nobody"))?;
    create(plane, path, WANTED, |number| pod(&format!("wanted-{number:05}"), "default-scheduler"))?;
    let targets: String = (0..WANTED).map(|number| format!("\tPod\tcrowd\twanted-{number:05}\n")).collect();
    let followers = follow(plane, programs, "crowd", &targets)?;
    thread::sleep(REST);
    let table = table(plane, &followers);
    plane.api().delete("/api/v1/namespaces/crowd")?.success();
    Ok(table)
}

fn rollout(
    plane: &ControlPlane,
    programs: &Programs,
    deployments: usize,
    replicas: usize,
) -> Result<String, Box<dyn Error>> {
    let path = "/apis/apps/v1/namespaces/rolling/deployments";
    let name = |number: usize| format!("web-{number:05}");
    create(plane, "/api/v1/namespaces", 1, |_| namespace("rolling"))?;
    create(plane, path, deployments, |number| deployment(&name(number), replicas))?;
    let targets: String =
        (0..deployments).map(|number| format!("apps\tDeployment\trolling\t{}\n", name(number))).collect();
    let followers = follow(plane, programs, "rolling", &targets)?;
    let mut command = plane.command(example("latency")?);
    command.arg(plane.dir().join("data").join("rolling.tsv"));
    let clock = spawn(command, b"");
    clock.wait_for_output("synced", LIMIT);
    let patch = json!({"spec": {"template": {"metadata": {"annotations": {"bench/turn": "2"}}}}});
    each(deployments, |number| {
        plane.api().merge(&format!("{path}/{}", name(number)), &patch)?.success();
        Ok(())
    })?;
    let end = Instant::now() + LIMIT;
    while !rolled(&plane.api().get(path)?.json()) {
        if Instant::now() > end {
            return Err("the rollout did not end".into());
        }
        thread::sleep(Duration::from_secs(2));
    }
    thread::sleep(REST);
    let mut text = table(plane, &followers);
    let told = clock.kill().stdout;
    let last = told.lines().last().unwrap_or_default();
    let _ = writeln!(
        text,
        "\nFrom an event at the socket to the verdict (`crates/kubesettle/examples/latency.rs`): {last}."
    );
    Ok(text)
}

fn rolled(list: &Value) -> bool {
    list["items"].as_array().is_some_and(|items| {
        items.iter().all(|item| {
            let (spec, status) = (&item["spec"], &item["status"]);
            status["observedGeneration"] == item["metadata"]["generation"]
                && [&status["replicas"], &status["updatedReplicas"], &status["availableReplicas"]]
                    .iter()
                    .all(|count| **count == spec["replicas"])
        })
    })
}

/// A watcher that has said that all is current.
struct Follower<'a> {
    name: &'static str,
    user: User<'a>,
    proxy: TcpProxy,
    running: Running,
    mark: Mark,
}

fn follow<'a>(
    plane: &'a ControlPlane,
    programs: &Programs,
    scenario: &str,
    targets: &str,
) -> Result<Vec<Follower<'a>>, Box<dyn Error>> {
    let file = plane.dir().join("data").join(format!("{scenario}.tsv"));
    fs::create_dir_all(plane.dir().join("data"))?;
    fs::write(&file, targets)?;
    let mut followers = Vec::new();
    for (name, program) in programs {
        let user = plane.user(&format!("{scenario}-{name}")).can_cluster(&["*"], &["*"]).build();
        let proxy = plane.proxy();
        let mut command: Command = plane.command(program.clone());
        command.env("KUBECONFIG", user.kubeconfig_via(&proxy));
        if *name == "cli-utils" {
            command.arg("-targets");
        }
        command.arg(&file);
        let mark = plane.mark();
        followers.push(Follower { name, user, proxy, running: spawn(command, b""), mark });
    }
    for follower in &followers {
        follower.running.wait_for_output("current", LIMIT);
    }
    Ok(followers)
}

fn table(plane: &ControlPlane, followers: &[Follower<'_>]) -> String {
    let used: Vec<Usage> = followers.iter().map(|follower| Usage::of(follower.running.id())).collect();
    let traffic: Vec<_> = followers.iter().map(|follower| follower.proxy.traffic()).collect();
    let requests: Vec<Vec<(String, usize)>> = followers
        .iter()
        .map(|follower| plane.requests().since(follower.mark).user(follower.user.name()).by_verb())
        .collect();
    let mut text = String::new();
    let mut row = |title: &str, cells: Vec<String>| {
        let _ = writeln!(text, "| {title} | {} |", cells.join(" | "));
    };
    let mib = |bytes: u64| format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20));
    let mb = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    row("", followers.iter().map(|follower| follower.name.to_owned()).collect());
    row("---", followers.iter().map(|_| "---:".to_owned()).collect());
    row("memory held", used.iter().map(|used| mib(used.resident)).collect());
    row("peak memory", used.iter().map(|used| mib(used.peak)).collect());
    row("own CPU", used.iter().map(|used| format!("{:.2} s", used.cpu.as_secs_f64())).collect());
    let total =
        |verbs: &Vec<(String, usize)>| verbs.iter().map(|(_, count)| count).sum::<usize>().to_string();
    row("requests", requests.iter().map(total).collect());
    row("bytes from the server", traffic.iter().map(|traffic| mb(traffic.received)).collect());
    row("bytes to the server", traffic.iter().map(|traffic| mb(traffic.sent)).collect());
    row("connections", traffic.iter().map(|traffic| traffic.connections.to_string()).collect());
    text.push('\n');
    for (follower, verbs) in followers.iter().zip(&requests) {
        let verbs: Vec<String> = verbs.iter().map(|(verb, count)| format!("{count} {verb}")).collect();
        let _ = writeln!(text, "- requests of {}: {}", follower.name, verbs.join(", "));
    }
    text
}

/// Creates so many objects.
fn create(
    plane: &ControlPlane,
    path: &str,
    count: usize,
    object: impl Fn(usize) -> Value + Sync,
) -> Result<(), Box<dyn Error>> {
    each(count, |number| {
        plane.api().post(path, &object(number))?.success();
        Ok(())
    })
}

/// Does something for each number, several at once.
fn each(
    count: usize,
    work: impl Fn(usize) -> Result<(), harness::Error> + Sync,
) -> Result<(), Box<dyn Error>> {
    let share = |hand: usize| (hand..count).step_by(HANDS).try_for_each(&work);
    let done: Result<(), harness::Error> = thread::scope(|scope| {
        let hands: Vec<_> = (0..HANDS).map(|hand| scope.spawn(move || share(hand))).collect();
        hands
            .into_iter()
            .try_for_each(|hand| hand.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    Ok(done?)
}

fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

fn pod(name: &str, scheduler: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"schedulerName": scheduler, "containers": [{"name": "c", "image": "example.test/c:1"}]},
    })
}

fn deployment(name: &str, replicas: usize) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "c", "image": "example.test/c:1"}]},
            },
        },
    })
}
