//! On real sockets, in clear text: HTTP/1.1, where each watch has a connection to itself.

use std::time::Duration;

use kubesettle::cluster::{Cluster, Config, ConfigOptions};
use kubesettle::watch::{Hub, ScopeStrategy};
use sandbox::Sandbox;
use serde_json::json;

use crate::view::{config_map, config_map_object, watch_in};

#[tokio::test]
async fn over_http_1_each_watch_has_a_connection_and_none_is_left_in_the_end() {
    const NAMESPACES: usize = 5;
    let sandbox = Sandbox::builder().build();
    let server = sandbox.listen("127.0.0.1:0").await.unwrap();
    let options = ConfigOptions { server: Some(server.url()), ..ConfigOptions::default() };
    let cluster = Cluster::connect(Config::load(&options).unwrap()).await.unwrap();
    let targets: Vec<_> = (0..NAMESPACES).map(|n| config_map(&format!("n{n}"), "a")).collect();
    let hub = Hub::new(&cluster);
    let mut view = watch_in(&hub, &targets, ScopeStrategy::Namespaces).await;
    view.synced().await;
    assert!(targets.iter().all(|target| view.is_absent(target)));
    // What asked for discovery may be open yet, in wait for the next question.
    let open = server.connections_open();
    assert!((NAMESPACES..=NAMESPACES + 2).contains(&open), "{open} connections");
    sandbox.create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n3"}}));
    sandbox.create(config_map_object("n3", "a"));
    view.until("a change is seen", |view| view.is_present(&targets[3])).await;
    server.cut();
    sandbox.delete("configmaps", "n3", "a");
    view.until("and one behind a cut too", |view| view.is_absent(&targets[3])).await;
    drop((view, hub, cluster));
    for _ in 0..100 {
        if server.connections_open() == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!((server.connections_open(), sandbox.open_watches("")), (0, 0));
}
