//! Kinds that come, change and go: definitions, their versions, and what discovery says of them.

use std::time::Duration;

use kubesettle::id::ObjectId;
use kubesettle::watch::{Hub, Presence};
use sandbox::{Builder, Fault, Sandbox, When};
use serde_json::{Value, json};

use crate::presence::{crd, widget_object};
use crate::view::{View, cluster, config_map, config_map_object, count, id, watch};

const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";
const WIDGETS: &str = "widgets.example.com";

fn widget() -> ObjectId {
    id("example.com", "Widget", "default", "w")
}

/// How often what the server serves was asked for.
fn discoveries(sandbox: &Sandbox) -> usize {
    sandbox.requests().iter().filter(|request| request.path == "/apis").count()
}

fn widgets_asked_for(sandbox: &Sandbox) -> usize {
    count(sandbox, "watch", WIDGETS) + count(sandbox, "list", WIDGETS)
}

/// A widget that is there and watched.
async fn followed(builder: Builder, crd: Value) -> (Sandbox, View) {
    let sandbox = builder.build();
    sandbox.create(crd);
    tokio::time::sleep(Duration::from_secs(5)).await;
    sandbox.create(widget_object());
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &[widget()]).await;
    view.synced().await;
    assert!(view.is_present(&widget()), "{:?}", view.states);
    (sandbox, view)
}

fn change(sandbox: &Sandbox, change: impl FnOnce(&mut Value)) {
    let bump = |crd: &mut Value| {
        let generation = crd["metadata"]["generation"].as_u64().unwrap();
        crd["metadata"]["generation"] = json!(generation + 1);
        change(crd);
    };
    assert!(sandbox.edit(DEFINITIONS, "", WIDGETS, bump));
}

#[tokio::test(start_paused = true)]
async fn a_kind_is_looked_for_with_growing_pauses_and_without_asking_for_its_objects() {
    let sandbox = Sandbox::builder().build();
    sandbox.create(config_map_object("default", "a"));
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &[widget(), config_map("default", "a")]).await;
    view.synced().await;
    assert!(matches!(view.presence(&widget()), Presence::NotServed));
    let before = discoveries(&sandbox);
    view.pass(Duration::from_secs(600)).await;
    let asked = discoveries(&sandbox) - before;
    assert!((20..=65).contains(&asked), "{asked} times in ten minutes");
    assert_eq!(widgets_asked_for(&sandbox), 0);
    assert!(count(&sandbox, "watch", "configmaps") <= 3, "the others are left alone");
    sandbox.create(crd());
    sandbox.create(widget_object());
    view.until("it is served", |view| !matches!(view.presence(&widget()), Presence::NotServed)).await;
}

#[tokio::test(start_paused = true)]
async fn nobody_looks_for_a_kind_once_nobody_wants_it() {
    let sandbox = Sandbox::builder().build();
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view = watch(&hub, &[widget(), config_map("default", "a")]).await;
    view.synced().await;
    view.remove(&[widget()]).await;
    view.pass(Duration::from_secs(15)).await;
    let before = sandbox.request_count();
    view.pass(Duration::from_secs(600)).await;
    assert!(sandbox.request_count() - before <= 4, "{}", sandbox.request_count() - before);
}

/// Established and served are different instants.
#[tokio::test(start_paused = true)]
async fn a_kind_that_is_defined_but_not_served_yet_is_asked_for_again() {
    let sandbox = Sandbox::builder()
        .establish_crds(Duration::from_secs(1), Duration::from_secs(20))
        .reinitializing_storage(true)
        .build();
    let hub = Hub::new(&cluster(&sandbox).await);
    let mut view =
        watch(&hub, &[widget(), id("apiextensions.k8s.io", "CustomResourceDefinition", "", WIDGETS)]).await;
    view.synced().await;
    sandbox.create(crd());
    hub.kinds_changed().await.unwrap();
    view.pass(Duration::from_secs(15)).await;
    assert!(matches!(view.presence(&widget()), Presence::NotServed));
    view.until("it is served", |view| view.is_absent(&widget())).await;
    sandbox.create(widget_object());
    view.until("its object is seen", |view| view.is_present(&widget())).await;
    assert!(widgets_asked_for(&sandbox) <= 4, "{}", widgets_asked_for(&sandbox));
}

/// Any change of a definition ends all watches of its kind in good order; what follows is 429, then 410.
#[tokio::test(start_paused = true)]
async fn a_definition_that_changes_loses_no_deletion_of_its_objects() {
    let builder = Sandbox::builder().reinitializing_storage(true);
    let (sandbox, mut view) = followed(builder, crd()).await;
    let mut other = widget_object();
    other["metadata"]["name"] = json!("kept");
    sandbox.create(other);
    let kept = id("example.com", "Widget", "default", "kept");
    view.add(std::slice::from_ref(&kept)).await;
    view.synced().await;
    let before = widgets_asked_for(&sandbox);
    change(&sandbox, |crd| {
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = json!("x")
    });
    // While nobody can watch.
    tokio::time::sleep(Duration::from_millis(1_050)).await;
    sandbox.delete(WIDGETS, "default", "w");
    sandbox.compact();
    view.until("its end is seen", |view| view.is_absent(&widget())).await;
    view.until("the other is known", |view| view.is_present(&kept)).await;
    let asked = widgets_asked_for(&sandbox) - before;
    assert!((2..=8).contains(&asked), "{asked} requests");
}

fn two_versions() -> Value {
    let mut crd = crd();
    let mut newer = crd["spec"]["versions"][0].clone();
    newer["name"] = json!("v2");
    newer["storage"] = json!(false);
    crd["spec"]["versions"].as_array_mut().unwrap().push(newer);
    crd
}

fn watched_versions(sandbox: &Sandbox) -> Vec<String> {
    let requests = sandbox.requests();
    let watches = requests.iter().filter(|r| r.verb == "watch" && r.resource == WIDGETS && r.code == 200);
    let mut versions: Vec<String> = watches.map(|r| r.path.split('/').nth(3).unwrap().to_owned()).collect();
    versions.dedup();
    versions
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_served_no_more_moves_the_watch_to_another() {
    let (sandbox, mut view) = followed(Sandbox::builder(), two_versions()).await;
    let first = watched_versions(&sandbox).pop().unwrap();
    let at = usize::from(first == "v2");
    change(&sandbox, |crd| crd["spec"]["versions"][at]["served"] = json!(false));
    view.pass(Duration::from_secs(30)).await;
    assert!(view.is_present(&widget()), "{:?}", view.states);
    let versions = watched_versions(&sandbox);
    assert!(versions.len() == 2 && versions[1] != first, "{versions:?}");
    sandbox.delete(WIDGETS, "default", "w");
    view.until("its end is seen", |view| view.is_absent(&widget())).await;
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_changes_its_scope_is_another_kind_of_name() {
    let (sandbox, mut view) = followed(Sandbox::builder(), crd()).await;
    sandbox.delete(DEFINITIONS, "", WIDGETS);
    view.until("the kind is gone", |view| matches!(view.presence(&widget()), Presence::NotServed)).await;
    let mut wide = crd();
    wide["spec"]["scope"] = json!("Cluster");
    sandbox.create(wide);
    tokio::time::sleep(Duration::from_secs(5)).await;
    let mut object = widget_object();
    object["metadata"].as_object_mut().unwrap().remove("namespace");
    sandbox.create(object);
    view.pass(Duration::from_secs(30)).await;
    assert!(!view.is_present(&widget()), "that of no namespace is another object: {:?}", view.states);
    sandbox.delete(DEFINITIONS, "", WIDGETS);
    view.pass(Duration::from_secs(30)).await;
    sandbox.create(crd());
    tokio::time::sleep(Duration::from_secs(5)).await;
    sandbox.create(widget_object());
    view.until("it is back", |view| view.is_present(&widget())).await;
}

#[tokio::test(start_paused = true)]
async fn a_definition_that_is_made_anew_brings_another_life_of_its_objects() {
    let (sandbox, mut view) = followed(Sandbox::builder(), crd()).await;
    let uid = |view: &View| match view.presence(&widget()) {
        Presence::Present(digest) => digest.uid(),
        _ => None,
    };
    let first = uid(&view);
    sandbox.delete(DEFINITIONS, "", WIDGETS);
    while sandbox.get(DEFINITIONS, "", WIDGETS).is_some() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The watches of the old one are still open.
    sandbox.create(crd());
    tokio::time::sleep(Duration::from_millis(200)).await;
    sandbox.create(widget_object());
    assert!(sandbox.get(WIDGETS, "default", "w").is_some() && sandbox.open_watches(WIDGETS) > 0);
    view.until("the new one", |view| uid(view).is_some() && uid(view) != first).await;
}

/// The server of an aggregated API is down: its group cannot be told about, and its kinds answer nothing.
#[tokio::test(start_paused = true)]
async fn a_group_that_is_silent_holds_up_nobody_but_its_own() {
    let (sandbox, view) = followed(Sandbox::builder(), crd()).await;
    drop(view);
    for verb in ["watch", "list", "get"] {
        sandbox.inject(When::verb(verb).resource(WIDGETS), Fault::Hang);
    }
    sandbox.create(config_map_object("default", "a"));
    let hub = Hub::new(&cluster(&sandbox).await);
    let began = tokio::time::Instant::now();
    let mut view = watch(&hub, &[config_map("default", "a"), widget()]).await;
    view.until("the good one", |view| view.is_present(&config_map("default", "a"))).await;
    assert_eq!(began.elapsed(), Duration::ZERO, "not a moment later than alone");
    let mut alone = watch(&hub, &[config_map("default", "a")]).await;
    alone.synced().await;
    assert_eq!(began.elapsed(), Duration::ZERO, "nor is another subscriber held up");
    view.synced().await;
    assert!(began.elapsed() <= Duration::from_secs(31), "{:?}", began.elapsed());
    let Presence::Unknown(error) = view.presence(&widget()) else { panic!("{:?}", view.states) };
    assert!(error.message.contains("does not answer"), "{error}");
    view.pass(Duration::from_secs(300)).await;
    assert_eq!(view.gaps.len(), 1, "{:?}", view.gaps);
    sandbox.heal_all();
    view.until("it is back", |view| view.is_present(&widget())).await;
}
