//! Troubles on order, each seen from the client's side.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt as _;
use sandbox::{Fault, Sandbox, When};
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::client::{Client, Lines, Next, config_map};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn start() -> (Sandbox, Client) {
    let sandbox = Sandbox::builder().no_controllers().build();
    let client = Client::new(&sandbox);
    (sandbox, client)
}

#[tokio::test(start_paused = true)]
async fn requests_are_delayed_refused_lost_or_never_answered() {
    let (sandbox, client) = start();
    let path = format!("{MAPS}/a");
    sandbox.inject(When::verb("get").first(1), Fault::Delay(Duration::from_secs(3)));
    let started = Instant::now();
    client.get(&path).await.expect(404);
    assert_eq!(started.elapsed().as_secs(), 3);

    let apply = || {
        client.raw(
            Method::PATCH,
            "/api/v1/namespaces/default/configmaps/a?fieldManager=t",
            "application/apply-patch+yaml",
            Bytes::from(config_map("a", json!({})).to_string()),
        )
    };
    sandbox.inject(When::verb("patch").nth(0), Fault::Refuse);
    assert!(apply().await.is_err());
    assert!(sandbox.get("configmaps", "default", "a").is_none());
    sandbox.inject(When::verb("patch").nth(0), Fault::Lose);
    assert!(apply().await.is_err());
    assert!(sandbox.get("configmaps", "default", "a").is_some(), "carried out all the same");
    sandbox.inject(When::verb("patch").nth(0), Fault::Hang);
    assert!(timeout(Duration::from_secs(3600), apply()).await.is_err());
    assert_eq!(apply().await.unwrap().status(), 200);
}

#[tokio::test(start_paused = true)]
async fn bodies_are_cut_ended_or_left_hanging() {
    let (sandbox, client) = start();
    let rows =
        [(Fault::CutBody(10), true, 10), (Fault::EndBody(10), false, 10), (Fault::EndBody(0), false, 0)];
    for (fault, broken, bytes) in rows {
        let id = sandbox.inject(When::verb("list"), fault);
        let mut body = client.raw(Method::GET, MAPS, "", Bytes::new()).await.unwrap().into_body();
        let mut got = 0;
        let end = loop {
            match body.frame().await {
                Some(Ok(frame)) => got += frame.into_data().unwrap().len(),
                end => break end.is_some(),
            }
        };
        assert_eq!((end, got), (broken, bytes));
        assert_eq!(sandbox.hits(id), 1);
        sandbox.heal(id);
    }
    sandbox.inject(When::verb("list"), Fault::HangBody(10));
    let mut body = client.raw(Method::GET, MAPS, "", Bytes::new()).await.unwrap().into_body();
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap().len(), 10);
    assert!(timeout(Duration::from_secs(3600), body.frame()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_watch_can_be_cut_in_the_middle_of_a_line() {
    let (sandbox, client) = start();
    client.apply(&format!("{MAPS}/a"), &config_map("a", json!({}))).await.expect(201);
    sandbox.inject(When::verb("watch"), Fault::CutBody(50));
    let mut lines = client.watch(&format!("{MAPS}?watch=1")).await;
    assert_eq!(lines.next().await, Next::Broken);
}

#[tokio::test(start_paused = true)]
async fn events_can_be_forgotten_between_two_pages() {
    let (sandbox, client) = start();
    for name in ["a", "b", "c"] {
        client.apply(&format!("{MAPS}/{name}"), &config_map(name, json!({}))).await.expect(201);
    }
    let page = client.get(&format!("{MAPS}?limit=1")).await.expect(200);
    client.apply(&format!("{MAPS}/d"), &config_map("d", json!({}))).await.expect(201);
    sandbox.inject(When::verb("list").first(1), Fault::Compact);
    let token = page.json["metadata"]["continue"].as_str().unwrap();
    let expired = client.get(&format!("{MAPS}?limit=1&continue={token}")).await.expect(410);
    assert_eq!(expired.json["reason"], "Expired");
    let mut lines = client.watch(&format!("{MAPS}?watch=1&resourceVersion={}", page.version())).await;
    assert_eq!(Lines::short(&lines.next().await), "ERROR");
}

#[tokio::test(start_paused = true)]
async fn any_answer_can_take_the_place_of_the_real_one() {
    let (sandbox, client) = start();
    sandbox.inject(
        When::path("/apis").first(1),
        Fault::Answer {
            code: 502,
            media_type: "text/html",
            body: Bytes::from_static(b"<html>bad gateway</html>"),
        },
    );
    let page = client.get("/apis").await.expect(502);
    assert_eq!(
        (page.text.as_str(), page.headers["content-type"].as_bytes()),
        ("<html>bad gateway</html>", &b"text/html"[..])
    );
    client.get("/apis").await.expect(200);
    sandbox.inject(When::verb("get").user_agent("test/"), Fault::Warn("careful".to_owned()));
    let warned = client.get("/api/v1/namespaces/default").await.expect(200);
    assert_eq!(warned.headers["warning"], "299 - \"careful\"");
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_makes_the_same_run() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let sandbox = Sandbox::builder().seed(42).epoch(std::time::UNIX_EPOCH).build();
        sandbox.inject(When::any().chance(0.5), Fault::status(503, "ServiceUnavailable", "no"));
        let client = Client::new(&sandbox);
        for name in ["a", "b", "c", "d", "e", "f"] {
            client
                .apply(
                    &format!("/apis/apps/v1/namespaces/default/deployments/{name}"),
                    &crate::client::deployment(name, 2),
                )
                .await;
        }
        tokio::time::sleep(Duration::from_secs(5)).await;
        sandbox.heal_all();
        let pods = sandbox.list("pods", "");
        let codes: Vec<u16> = sandbox.requests().iter().map(|request| request.code).collect();
        runs.push((codes, sandbox.version(), pods.len()));
        assert!(pods.len() < 12 && !pods.is_empty());
    }
    assert_eq!(runs[0], runs[1]);
}
