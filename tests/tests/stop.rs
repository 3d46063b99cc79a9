//! Whatever is dropped ends: no task and no connection is left, at whichever moment it is dropped.

use std::time::Duration;

use e2e::manifests::{config_map, deployment, deployment_that, stream};
use e2e::{LIMIT, World};
use harness::{TcpProxy, shared, wait_until};
use kubesettle::cluster::{Cluster, Config, ConfigOptions};
use kubesettle::event::Operation;
use kubesettle::graph::GraphOptions;
use kubesettle::id::{GroupKind, ObjectId};
use kubesettle::manifest::{LoadOptions, Manifests, ResolveOptions, Source};
use kubesettle::run::{Run, RunOptions, prepare};
use kubesettle::watch::{Hub, SubscribeOptions, Target, Update};
use tokio::runtime::Runtime;

tests![
    a_hub_that_is_dropped_leaves_no_task_and_no_connection,
    a_run_that_is_dropped_leaves_no_task_and_no_connection,
];

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

async fn connect(kubeconfig: std::path::PathBuf) -> Cluster {
    let options = ConfigOptions { kubeconfig: Some(kubeconfig), ..ConfigOptions::default() };
    Cluster::connect(Config::load(&options).unwrap()).await.unwrap()
}

/// Waits until all is over, and lets the runtime see to it.
fn all_over(runtime: &Runtime, proxy: &TcpProxy, when: &str) {
    let tasks = || runtime.metrics().num_alive_tasks();
    wait_until(&format!("the end of all tasks and connections, {when}"), LIMIT, || {
        runtime.block_on(async { tokio::time::sleep(Duration::from_millis(20)).await });
        tasks() == 0 && proxy.traffic().open == 0
    });
}

fn a_hub_that_is_dropped_leaves_no_task_and_no_connection() {
    let (seen, polled, hidden) = (World::new("stop"), World::new("stop"), World::new("stop"));
    // One kind for each way of looking: a watch, questions, refused ones, a kind that is not served, and
    // what is generated.
    let all = &["get", "list", "watch"][..];
    let user =
        shared().user("stop").can(all, &["*"], seen.name()).can(&["get"], &["*"], polled.name()).build();
    seen.settle(&["apply", "--wait=false"])
        .input(stream(&[deployment_that("stuck", "never-ready"), config_map("a")]))
        .run()
        .exits_with(0);
    let target = |group: &str, kind: &str, world: &World, name: &str| Target {
        id: ObjectId::new(GroupKind::new(group, kind), world.name(), name),
        version: None,
    };
    let stuck = target("apps", "Deployment", &seen, "stuck");
    let targets = vec![
        stuck.clone(),
        target("", "ConfigMap", &seen, "a"),
        target("", "ConfigMap", &polled, "a"),
        target("", "Secret", &polled, "s"),
        target("", "ConfigMap", &hidden, "a"),
        target("nowhere.example.com", "Thing", &seen, "t"),
    ];
    // How many updates are taken before it is dropped; at last all there are for a while.
    for updates in [0, 1, 2, 4, usize::MAX] {
        let (runtime, proxy) = (runtime(), shared().proxy());
        runtime.block_on(async {
            let hub = Hub::new(&connect(user.kubeconfig_via(&proxy)).await);
            let mut subscription = hub.subscribe(targets.clone(), SubscribeOptions::default()).await.unwrap();
            subscription.children(stuck.id.clone(), true).await.unwrap();
            subscription.events(stuck.id.clone(), true).await.unwrap();
            let mut synced = updates != usize::MAX;
            for _ in 0..updates {
                let waited = tokio::time::timeout(Duration::from_secs(5), subscription.next()).await;
                let Ok(update) = waited else { break };
                synced |= matches!(update.unwrap(), Update::Synced);
            }
            assert!(synced, "it came to know all");
            assert!(updates != usize::MAX || proxy.traffic().open > 0, "there is something to end");
        });
        all_over(&runtime, &proxy, &format!("after {updates} updates"));
    }
}

fn a_run_that_is_dropped_leaves_no_task_and_no_connection() {
    let world = World::new("stop");
    let set = stream(&[config_map("a"), deployment("web"), deployment_that("stuck", "never-ready")]);
    for events in [0, 1, 3, 6, 9] {
        let (runtime, proxy) = (runtime(), shared().proxy());
        runtime.block_on(async {
            let cluster = connect(world.user.kubeconfig_via(&proxy)).await;
            let source = Source::Bytes { name: "set.yaml".into(), data: set.clone().into_bytes().into() };
            let manifests = Manifests::load(&[source], &LoadOptions::default()).unwrap();
            let mut resolve = ResolveOptions::default();
            resolve.default_namespace = Some(world.name().into());
            let wanted = prepare(&cluster, manifests, &resolve, &GraphOptions::default()).unwrap();
            let mut options = RunOptions::new("kubesettle");
            options.apply.force = true;
            let hub = Hub::new(&cluster);
            let mut run = Run::start(&cluster, &hub, Operation::Apply, wanted, options);
            for _ in 0..events {
                run.next().await.unwrap();
            }
        });
        all_over(&runtime, &proxy, &format!("after {events} events"));
    }
}
