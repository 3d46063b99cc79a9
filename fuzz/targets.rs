//! What the fuzzer calls. Each function takes any bytes and panics when something is wrong.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "each target uses one of them, and a panic is the result"
)]

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use kstatus::{Digest, EventNote, Facts, History, Policy, Rulebook, Surroundings, Timestamp, assess};
use kubesettle::cluster::Cluster;
use kubesettle::dump::{Dump, DumpOptions};
use kubesettle::id::{GroupKind, ObjectId};
use kubesettle::inventory::{Inventory, Wanted};
use kubesettle::manifest::{Manifests, Source};
use kubesettle::rules;
use kubesettle::watch::{Hub, SubscribeOptions, Target, Update};
use sandbox::Sandbox;
use tower::ServiceExt as _;

/// No verdict tells more than a person would read, whatever the object holds.
const LONGEST_MESSAGE: usize = 64 << 10;
/// What a digest may keep of the largest object.
const LARGEST_DIGEST: usize = 128 << 10;

/// kstatus: total, the same twice, and bounded.
pub(crate) fn status(data: &[u8]) {
    let mut facts = Facts::default();
    facts.learn(data);
    let events: Vec<EventNote> = EventNote::read(data).into_iter().collect();
    for book in [Rulebook::default(), Rulebook::habits_only()] {
        let Ok(digest) = book.digest(data) else { continue };
        assert!(digest.kept_bytes() <= LARGEST_DIGEST, "{} bytes are kept", digest.kept_bytes());
        book.rule(data).expect("what has a digest has a rule");
        let twin = book.digest(data).expect("again");
        let first = judged(&digest, &events, &facts);
        assert_eq!(first, judged(&twin, &events, &facts));
        assert!(first.message.len() <= LONGEST_MESSAGE, "{} bytes are said", first.message.len());
        serde_json::to_string(&first).expect("a verdict has a JSON form");
    }
}

fn judged(digest: &Digest, events: &[EventNote], facts: &Facts) -> kstatus::Verdict {
    let policy = Policy::default();
    // An object that owns itself must not lead round in a circle.
    let around = Surroundings {
        children: &[digest, digest],
        events,
        facts,
        now: Timestamp::from_seconds(1_790_000_000),
        policy: &policy,
    };
    assess(digest, &around, &mut History::default())
}

/// Manifests and dumps: what was read has a JSON form that is read the same again.
pub(crate) fn manifests(data: &[u8]) {
    if let Ok(set) = Manifests::parse("fuzz", data) {
        for object in set.objects() {
            let again = Manifests::parse("again", object.json()).expect("our own JSON");
            assert_eq!(again.objects()[0].id(), object.id());
            assert_eq!(again.objects()[0].json(), object.json());
        }
    }
    let options = DumpOptions::default();
    if let Ok(dump) = Dump::load(&[Source::Stdin(data.to_vec().into())], 64 << 20, &options) {
        let judged = dump.judge(&options);
        assert_eq!(judged.len(), dump.objects().len());
    }
}

/// Keys of an inventory: what is understood is written back as it was.
pub(crate) fn inventory(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for key in text.lines() {
        if let Ok(id) = ObjectId::parse_inventory_key(key) {
            let again = ObjectId::parse_inventory_key(&id.inventory_key());
            assert!(!id.has_faithful_key() || again.as_ref() == Ok(&id), "{key:?}");
        }
        if let Ok(id) = ObjectId::parse_reference(key) {
            assert_eq!(ObjectId::parse_reference(&id.reference()).as_ref(), Ok(&id), "{key:?}");
        }
        let entry = serde_json::json!({key: ""});
        let config_map = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "data": entry, "metadata": {
            "name": "inventory", "namespace": "default", "labels": {kubesettle::inventory::ID_LABEL: "set"}}});
        if let Ok(wanted) = Wanted::template(config_map.to_string().as_bytes()) {
            let _ = Inventory::read(&wanted, &[config_map.to_string().as_bytes()]);
        }
    }
    let _ = Inventory::read(&Wanted::named("default", "set").expect("a good name"), &[data]);
}

/// Rules and their expressions: read or refused with a place, and evaluated without a panic. What
/// stands behind the first line `%%` is the object.
pub(crate) fn rules(data: &[u8]) {
    let cut = data.windows(4).position(|part| part == b"\n%%\n");
    let (text, object) = data.split_at(cut.map_or(data.len(), |at| at + 1));
    match rules::parse("fuzz", text) {
        Ok(rules) => {
            let book = Rulebook::default().with_rules(rules);
            let object = object.strip_prefix(b"%%\n").unwrap_or(object);
            let digest = book.digest(object);
            assert!(digest.is_err() || digest.is_ok_and(|digest| digest.kept_bytes() <= LARGEST_DIGEST));
        }
        Err(problems) => assert!(!problems.problems().is_empty()),
    }
}

type Broken = Box<dyn std::error::Error + Send + Sync>;

/// The body of a watch: whatever stands in it, the hub goes on, and each target has a state.
pub(crate) fn watch(data: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(watched(Bytes::copy_from_slice(data)));
}

async fn watched(body: Bytes) {
    let sandbox = Sandbox::builder().build();
    sandbox.create(serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "default"}}));
    let inner = sandbox.service();
    let fuzzed = move |request: http::Request<Full<Bytes>>| {
        let (inner, body) = (inner.clone(), body.clone());
        let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
        async move {
            if is_watch {
                let body = Full::new(body).map_err(|never| -> Broken { match never {} }).boxed_unsync();
                return Ok(http::Response::new(body));
            }
            let answer = inner.oneshot(request).await?;
            Ok::<_, Broken>(answer.map(|body| body.map_err(Broken::from).boxed_unsync()))
        }
    };
    let cluster = Cluster::from_service(tower::service_fn(fuzzed), "default");
    cluster.refresh_discovery().await.expect("the sandbox is reached");
    let id = ObjectId::new(GroupKind::new("", "ConfigMap"), "default", "a");
    let hub = Hub::new(&cluster);
    let mut subscription =
        hub.subscribe(vec![Target { id, version: None }], SubscribeOptions::default()).await.expect("a hub");
    let mut synced = false;
    for _ in 0..64 {
        match tokio::time::timeout(Duration::from_secs(120), subscription.next()).await {
            Ok(update) => synced |= matches!(update.expect("a hub that goes on"), Update::Synced),
            Err(_) => break,
        }
    }
    assert!(synced, "the target has no state");
}
