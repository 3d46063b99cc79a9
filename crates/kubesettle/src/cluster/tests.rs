//! Whole requests against a scripted server in this process.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use tokio::time::Instant;

use super::discovery::tests::{API, APIS, resource};
use super::testing::{Folder, Script, Seen, answer, silent};
use super::*;

fn cluster(script: &Script, on: impl Fn(&Seen) -> Response<Full<Bytes>> + Send + Sync + 'static) -> Cluster {
    Cluster::from_service(script.service(on), "default")
}

fn configmaps() -> Resource {
    resource("", "v1", "ConfigMap", "configmaps", true)
}

const WRITTEN: &str = r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","uid":"u-1",
    "resourceVersion":"7","generation":2,"managedFields":[{"manager":"m"}]}}"#;

#[tokio::test]
async fn apply_sends_what_it_was_told_and_reads_little() {
    let script = Script::default();
    let cluster = cluster(&script, |_| {
        let mut response = answer(201, WRITTEN);
        response.headers_mut().insert("warning", r#"299 - "old \"api\"""#.parse().unwrap());
        response
    });
    let mut params = ApplyParams::new("kube settle");
    let body = Bytes::from_static(b"{}");
    let written = cluster.apply(&configmaps(), "shop", "a", body.clone(), &params).await.unwrap();
    let expected = Written {
        created: true,
        uid: "u-1".to_owned(),
        resource_version: "7".to_owned(),
        generation: Some(2),
        deleting: false,
        has_former_fields: false,
        warnings: vec![r#"old "api""#.into()],
    };
    assert_eq!(written, expected);
    let seen = script.last();
    assert_eq!(seen.method, "PATCH");
    assert_eq!(
        seen.target,
        "/api/v1/namespaces/shop/configmaps/a?fieldManager=kube%20settle&force=false&fieldValidation=Strict"
    );
    assert_eq!(seen.headers.get("content-type").unwrap(), "application/apply-patch+yaml");
    let accept = seen.headers.get("accept").unwrap().to_str().unwrap();
    assert!(accept.starts_with("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"), "{accept}");
    assert_eq!(seen.body, "{}");

    (params.force, params.dry_run, params.validation) = (true, true, Validation::Warn);
    let (_, whole) = cluster.apply_and_read(&configmaps(), "shop", "a", body, &params).await.unwrap();
    assert_eq!(whole, WRITTEN);
    let seen = script.last();
    assert!(seen.target.ends_with("force=true&fieldValidation=Warn&dryRun=All"), "{}", seen.target);
    assert_eq!(seen.headers.get("accept").unwrap(), "application/json");
}

#[tokio::test]
async fn answers_that_are_no_objects_are_protocol_errors() {
    let script = Script::default();
    let cluster = cluster(&script, |_| answer(200, "<html>log in</html>"));
    let params = ApplyParams::new("m");
    let error = cluster.apply(&configmaps(), "a", "a", Bytes::new(), &params).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Protocol);
}

#[tokio::test]
async fn deletes_tell_gone_from_replaced_from_accepted() {
    let rows: [(u16, &str, Result<Deletion, ErrorClass>); 6] = [
        (
            200,
            r#"{"kind":"Status","status":"Success","details":{"name":"a","kind":"configmaps","uid":"u"}}"#,
            Ok(Deletion::Accepted { uid: Some("u".to_owned()), removed: true, warnings: Vec::new() }),
        ),
        (
            200,
            r#"{"kind":"ConfigMap","metadata":{"uid":"u","deletionTimestamp":"2026-01-01T00:00:00Z"}}"#,
            Ok(Deletion::Accepted { uid: Some("u".to_owned()), removed: false, warnings: Vec::new() }),
        ),
        (
            404,
            r#"{"kind":"Status","message":"configmaps \"a\" not found","reason":"NotFound","details":{"name":"a","kind":"configmaps"},"code":404}"#,
            Ok(Deletion::Gone),
        ),
        (404, "404 page not found\n", Err(ErrorClass::NotServed)),
        (
            409,
            r#"{"kind":"Status","message":"the UID in the precondition (x) does not match the UID in record (y).","reason":"Conflict","code":409}"#,
            Err(ErrorClass::Replaced),
        ),
        (
            403,
            r#"{"kind":"Status","message":"configmaps \"a\" is forbidden: User \"u\" cannot delete resource","reason":"Forbidden","code":403}"#,
            Err(ErrorClass::Forbidden),
        ),
    ];
    for (code, body, expected) in rows {
        let script = Script::default();
        let cluster = cluster(&script, move |_| answer(code, body));
        let params = DeleteParams {
            propagation: Propagation::Foreground,
            dry_run: false,
            grace: Some(Duration::from_secs(3)),
        };
        let deletion = cluster.delete(&configmaps(), "shop", "a", Some("u"), &params).await;
        assert_eq!(deletion.map_err(|error| error.class), expected, "{body}");
        let sent: serde_json::Value = serde_json::from_slice(&script.last().body).unwrap();
        let wanted = serde_json::json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground",
            "preconditions": {"uid": "u"}, "gracePeriodSeconds": 3});
        assert_eq!(sent, wanted);
    }
}

#[tokio::test]
async fn a_rehearsed_delete_removes_nothing() {
    let script = Script::default();
    let cluster = cluster(&script, |_| answer(200, r#"{"kind":"Status","details":{"uid":"u"}}"#));
    let params = DeleteParams { dry_run: true, ..DeleteParams::default() };
    let deletion = cluster.delete(&configmaps(), "shop", "a", None, &params).await.unwrap();
    let expected = Deletion::Accepted { uid: Some("u".to_owned()), removed: false, warnings: Vec::new() };
    assert_eq!(deletion, expected);
    let sent: serde_json::Value = serde_json::from_slice(&script.last().body).unwrap();
    assert_eq!(sent.get("dryRun"), Some(&serde_json::json!(["All"])));
}

#[tokio::test]
async fn an_absent_object_is_none_and_an_absent_kind_is_not() {
    let script = Script::default();
    let cluster = cluster(&script, |seen| match seen.target.as_str() {
        "/api/v1/namespaces/shop/configmaps/a" => answer(200, "{}"),
        "/api/v1/namespaces/shop/configmaps/b" => answer(
            404,
            r#"{"kind":"Status","message":"configmaps \"b\" not found","details":{"name":"b","kind":"configmaps"},"code":404}"#,
        ),
        _ => answer(404, "404 page not found\n"),
    });
    let kind = configmaps();
    assert_eq!(cluster.get(&kind, "shop", "a", Content::Full).await, Ok(Some(Bytes::from_static(b"{}"))));
    assert_eq!(cluster.get(&kind, "shop", "b", Content::MetadataOnly).await, Ok(None));
    let foos = resource("example.com", "v1", "Foo", "foos", true);
    let error = cluster.get(&foos, "shop", "a", Content::Full).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::NotServed);
}

#[tokio::test]
async fn lists_and_watches_ask_for_metadata_in_their_own_words() {
    let script = Script::default();
    let cluster = cluster(&script, |_| answer(200, "{\"type\":\"ADDED\"}\n"));
    let kind = configmaps();
    let scope = Scope::Namespace("shop".into());
    let page = ListPage { limit: Some(500), continue_token: None, resource_version: Some("0") };
    cluster.list(&kind, &scope, page, Content::MetadataOnly).await.unwrap();
    let seen = script.last();
    assert_eq!(seen.target, "/api/v1/namespaces/shop/configmaps?limit=500&resourceVersion=0");
    assert!(seen.headers.get("accept").unwrap().to_str().unwrap().contains("as=PartialObjectMetadataList;"));
    assert_eq!(seen.headers.get("accept-encoding").unwrap(), "gzip");

    let page = ListPage { limit: Some(500), continue_token: Some("a/b=="), resource_version: Some("0") };
    cluster.list(&kind, &Scope::Cluster, page, Content::Full).await.unwrap();
    assert_eq!(script.last().target, "/api/v1/configmaps?limit=500&continue=a%2Fb==");

    let timeout = Duration::from_secs(300);
    let start = WatchStart::From("7");
    let mut lines = cluster.watch(&kind, &scope, start, timeout, Content::MetadataOnly).await.unwrap();
    let seen = script.last();
    assert_eq!(
        seen.target,
        "/api/v1/namespaces/shop/configmaps?watch=1&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=7"
    );
    assert!(seen.headers.get("accept").unwrap().to_str().unwrap().contains("as=PartialObjectMetadata;"));
    assert!(seen.headers.get("accept-encoding").is_none(), "events do not wait in a compressor");
    assert_eq!(lines.next().await.unwrap(), Some(&b"{\"type\":\"ADDED\"}"[..]));
    assert_eq!(lines.next().await.unwrap(), None);

    cluster.watch(&kind, &scope, WatchStart::StreamingList, timeout, Content::Full).await.unwrap();
    let target = script.last().target;
    assert!(
        target.ends_with("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion="),
        "{target}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_is_given_up() {
    let cluster = Cluster::from_service(silent(), "default");
    let started = Instant::now();
    let error = cluster.get(&configmaps(), "a", "a", Content::Full).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::TimedOut);
    assert_eq!(started.elapsed(), Duration::from_secs(60));
}

fn discovery(seen: &Seen) -> Response<Full<Bytes>> {
    match seen.target.as_str() {
        "/api" => answer(200, API),
        "/apis" => answer(200, APIS),
        _ => answer(404, "404 page not found\n"),
    }
}

#[tokio::test(start_paused = true)]
async fn discovery_is_shared_and_slows_down_to_once_a_second() {
    let script = Script::default();
    let cluster = cluster(&script, discovery);
    assert_eq!(cluster.discovery_epoch(), 0);
    cluster.refresh_discovery().await.unwrap();
    assert_eq!(cluster.discovery_epoch(), 1);
    let kind = GroupKind::new("apps", "Deployment");
    assert_eq!(cluster.resource(&kind, None).unwrap().plural(), "deployments");
    assert_eq!(cluster.resource(&kind, Some("v2")), None);
    let accept = script.last().headers.get("accept").unwrap().to_str().unwrap().to_owned();
    assert!(!accept.contains(' ') && accept.contains("v=v2;as=APIGroupDiscoveryList"), "{accept}");

    let started = Instant::now();
    let many = (0..50).map(|_| cluster.refresh_discovery());
    for result in futures_util::future::join_all(many).await {
        result.unwrap();
    }
    assert_eq!(started.elapsed(), Duration::from_millis(50), "not sooner");
    assert_eq!(script.seen().len(), 4, "one refresh for all");
    assert_eq!(cluster.discovery_epoch(), 1, "nothing changed");

    let mut waits = Vec::new();
    for _ in 0..7 {
        let before = Instant::now();
        cluster.refresh_discovery().await.unwrap();
        waits.push(before.elapsed().as_millis());
    }
    assert_eq!(waits, [100, 200, 400, 800, 1000, 1000, 1000]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = Instant::now();
    cluster.refresh_discovery().await.unwrap();
    assert_eq!(before.elapsed(), Duration::ZERO, "after a quiet second at once");
}

#[tokio::test(start_paused = true)]
async fn an_unchanged_document_is_not_sent_again() {
    let script = Script::default();
    let cluster = cluster(&script, |seen| {
        if seen.headers.get("if-none-match").is_some_and(|tag| tag == "\"1\"") {
            return answer(304, "");
        }
        // Complete, so that its name may be relied on.
        let body = if seen.target == "/api" { API } else { r#"{"kind":"APIGroupDiscoveryList","items":[]}"# };
        let mut response = answer(200, body);
        response.headers_mut().insert("etag", "\"1\"".parse().unwrap());
        response
    });
    cluster.refresh_discovery().await.unwrap();
    cluster.refresh_discovery().await.unwrap();
    assert!(script.last().headers.contains_key("if-none-match"));
    assert!(cluster.resource(&GroupKind::new("", "ConfigMap"), None).is_some());
    assert_eq!(cluster.discovery_epoch(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_failed_refresh_keeps_the_table_and_can_be_tried_again() {
    let script = Script::default();
    let fail = Arc::new(AtomicUsize::new(0));
    let failing = fail.clone();
    let cluster = cluster(&script, move |seen| match failing.load(Ordering::Relaxed) {
        0 => discovery(seen),
        _ => answer(503, "down"),
    });
    cluster.refresh_discovery().await.unwrap();
    fail.store(1, Ordering::Relaxed);
    assert_eq!(cluster.refresh_discovery().await.unwrap_err().class, ErrorClass::Unavailable);
    assert!(cluster.resource(&GroupKind::new("apps", "Deployment"), None).is_some());
    fail.store(0, Ordering::Relaxed);
    cluster.refresh_discovery().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn old_servers_are_asked_group_by_group() {
    let script = Script::default();
    let down = Arc::new(AtomicUsize::new(0));
    let is_down = down.clone();
    let cluster = cluster(&script, move |seen| match seen.target.as_str() {
        "/api" => answer(200, r#"{"kind":"APIVersions","versions":["v1"]}"#),
        "/api/v1" => answer(
            200,
            r#"{"kind":"APIResourceList","resources":[{"name":"configmaps","namespaced":true,"kind":"ConfigMap","verbs":["get"]}]}"#,
        ),
        "/apis" => answer(
            200,
            r#"{"kind":"APIGroupList","groups":[{"name":"a","versions":[{"version":"v1"}]},{"name":"gone","versions":[{"version":"v1"}]}]}"#,
        ),
        "/apis/a/v1" if is_down.load(Ordering::Relaxed) == 1 => answer(503, "down"),
        "/apis/a/v1" => answer(
            200,
            r#"{"kind":"APIResourceList","resources":[{"name":"foos","namespaced":false,"kind":"Foo","verbs":["get"]}]}"#,
        ),
        _ => answer(404, "404 page not found\n"),
    });
    cluster.refresh_discovery().await.unwrap();
    down.store(1, Ordering::Relaxed);
    cluster.refresh_discovery().await.unwrap();
    let foo = cluster.resource(&GroupKind::new("a", "Foo"), None).unwrap();
    assert!(!foo.namespaced(), "kept while its group is down");
    assert!(cluster.resource(&GroupKind::new("", "ConfigMap"), Some("v1")).is_some());
    assert_eq!(cluster.discovery_epoch(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_rejected_token_is_renewed_once_and_the_request_sent_again() {
    let folder = Folder::new("renewal");
    let token = folder.write("token", "one");
    let script = Script::default();
    let service = script.service(|seen| match seen.headers.get("authorization").unwrap().to_str().unwrap() {
        "Bearer two" => answer(200, WRITTEN),
        _ => answer(401, r#"{"kind":"Status","message":"Unauthorized","reason":"Unauthorized","code":401}"#),
    });
    let cluster = Cluster(Arc::new(Inner {
        transport: Transport::in_process(client_of(service)),
        credentials: Credentials::new(config::Auth::TokenFile(token), Arc::default()).unwrap(),
        discovery: Discovery::default(),
        base: "http://in-process".to_owned(),
        headers: HeaderMap::new(),
        namespace: "default".into(),
        compression: true,
        time: ServerTime::default(),
    }));
    let params = ApplyParams::new("m");
    let body = Bytes::from_static(b"{}");
    let kind = configmaps();
    let apply = || cluster.apply(&kind, "a", "a", body.clone(), &params);
    assert_eq!(apply().await.unwrap_err().class, ErrorClass::Unauthorized);
    assert_eq!(script.seen().len(), 1, "a token just read is wrong, not old");

    tokio::time::sleep(Duration::from_secs(20)).await;
    folder.write("token", "two");
    assert_eq!(apply().await.unwrap().uid, "u-1");
    let seen = script.seen();
    assert_eq!(seen.len(), 3);
    assert_eq!(script.last().body, "{}", "with its body");

    folder.write("token", "three");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(apply().await.unwrap_err().class, ErrorClass::Unauthorized);
    assert_eq!(script.seen().len(), 4);
}

/// Embedders spawn these on any runtime.
#[test]
fn everything_can_move_between_threads() {
    fn send<T: Send>(_: T) {}
    fn shared<T: Send + Sync>() {}
    shared::<Cluster>();
    let cluster = Cluster::from_service(silent(), "default");
    let (kind, params) = (configmaps(), ApplyParams::new("m"));
    send(cluster.apply(&kind, "", "", Bytes::new(), &params));
    send(cluster.list(&kind, &Scope::Cluster, ListPage::default(), Content::Full));
    send(cluster.watch(&kind, &Scope::Cluster, WatchStart::StreamingList, Duration::ZERO, Content::Full));
    send(cluster.refresh_discovery());
    send(async |mut lines: Lines| lines.next().await.map(|line| line.is_some()));
}

#[tokio::test]
async fn logs_and_version() {
    let script = Script::default();
    let cluster = cluster(&script, |_| answer(200, r#"{"gitVersion":"v1.36.3"}"#));
    assert_eq!(cluster.server_version().await.unwrap(), "v1.36.3");
    let params = LogParams { container: Some("app"), previous: true, lines: Some(10), bytes: Some(4096) };
    cluster.logs("shop", "web-1", &params).await.unwrap();
    assert_eq!(
        script.last().target,
        "/api/v1/namespaces/shop/pods/web-1/log?container=app&previous=true&tailLines=10&limitBytes=4096"
    );
}
