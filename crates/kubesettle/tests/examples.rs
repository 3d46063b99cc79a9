//! The examples do what they say.
#![allow(clippy::unwrap_used, dead_code, reason = "tests, and programs of which a part is used")]

#[path = "../examples/digests.rs"]
mod digests;
#[path = "../examples/embed.rs"]
mod embed;
#[path = "../examples/reader.rs"]
mod reader;

use kstatus::Status;
use kubesettle::cluster::Cluster;
use kubesettle::error::ExitClass;
use kubesettle::event::Body;
use sandbox::Sandbox;

fn count(sandbox: &Sandbox, verb: &str, resource: &str) -> usize {
    sandbox.requests().iter().filter(|request| request.verb == verb && request.resource == resource).count()
}

#[tokio::test(start_paused = true)]
async fn two_runs_share_one_hub() {
    let sandbox = Sandbox::builder().nodes(2, 64_000).build();
    let cluster = Cluster::from_service(sandbox.service(), "default");
    cluster.refresh_discovery().await.unwrap();
    let mut ends = Vec::new();
    let mut settled = 0;
    embed::two_runs(&cluster, &mut |name, event| match &event.body {
        Body::End { class, .. } => ends.push((name.to_owned(), *class)),
        Body::Concluded { .. } => settled += 1,
        _ => {}
    })
    .await
    .unwrap();
    ends.sort_by_key(|(name, _)| name.clone());
    assert_eq!(ends, [(String::from("back"), ExitClass::Ok), (String::from("front"), ExitClass::Ok)]);
    assert_eq!(settled, 4);
    for kind in ["configmaps", "deployments.apps"] {
        let streams = count(&sandbox, "watch", kind);
        assert!(streams <= 2 && sandbox.open_watches(kind) <= 2, "{kind}: {streams}");
        assert_eq!(count(&sandbox, "list", kind) + count(&sandbox, "get", kind), 0, "{kind}");
    }
    assert_eq!(count(&sandbox, "watch", "pods") + count(&sandbox, "watch", "events"), 0);
}

#[tokio::test(start_paused = true)]
async fn objects_are_followed_without_any_verdict() {
    let sandbox = Sandbox::builder().build();
    let mut lines = Vec::new();
    digests::follow(&sandbox, &mut |line| lines.push(line)).await.unwrap();
    let synced = lines.iter().position(|line| line == "synced").unwrap();
    assert_eq!(synced, 2, "both are told before: {lines:?}");
    assert!(lines.last().unwrap().ends_with("not there"), "{lines:?}");
    assert_eq!(count(&sandbox, "watch", "configmaps"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_reader_judges_by_a_child() {
    let sandbox = Sandbox::builder().build();
    let mut told = Vec::new();
    reader::judge(&sandbox, &mut |verdict| told.push((verdict.status, verdict.message.clone())))
        .await
        .unwrap();
    let written = (Status::Current, String::from("12 files were written"));
    let nothing = (Status::InProgress, String::from("nothing was written yet"));
    assert_eq!(told, [nothing, written]);
    assert_eq!(count(&sandbox, "get", "configmaps"), 0, "children come by their watch");
}
