//! An API server of which some collections are made up as they are read.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full};
use kubesettle::cluster::Cluster;
use kubesettle::id::{GroupKind, ObjectId};
use kubesettle::watch::{Hub, SubscribeOptions, Subscription, Target, TargetState, Update};
use sandbox::{BoxError, Sandbox};
use tokio::sync::{mpsc, oneshot};
use tower::ServiceExt as _;

/// Longer than anything may take, in virtual time.
const LIMIT: Duration = Duration::from_secs(600);
/// Objects of one chunk of a body.
const CHUNK: usize = 16;

type Line = Arc<dyn Fn(usize) -> String + Send + Sync>;
type Body = http_body_util::combinators::UnsyncBoxBody<Bytes, BoxError>;

/// A collection that nobody stores.
struct Collection {
    count: usize,
    object: Line,
    followers: Vec<mpsc::UnboundedSender<Bytes>>,
    /// What was told while nobody followed, for whoever watches from the version of a list.
    missed: Vec<Bytes>,
    /// The end of the next list waits for this.
    held: Option<oneshot::Receiver<()>>,
}

/// Holds back the end of a list.
pub(crate) struct Gate(oneshot::Sender<()>);

impl Gate {
    pub(crate) fn open(self) {
        self.0.send(()).unwrap();
    }
}

#[derive(Clone)]
pub(crate) struct World {
    sandbox: Sandbox,
    collections: Arc<Mutex<HashMap<&'static str, Collection>>>,
    asked: Arc<Mutex<Vec<String>>>,
    accepts: Arc<Mutex<Vec<String>>>,
}

impl World {
    pub(crate) fn new() -> Self {
        let sandbox = Sandbox::builder().build();
        Self { sandbox, collections: Arc::default(), asked: Arc::default(), accepts: Arc::default() }
    }

    /// `plural` of the namespace `n` has so many objects, each made by its number.
    pub(crate) fn fill<F>(&self, plural: &'static str, count: usize, object: F)
    where
        F: Fn(usize) -> String + Send + Sync + 'static,
    {
        let collection = Collection {
            count,
            object: Arc::new(move |number| {
                crate::sample();
                object(number)
            }),
            followers: Vec::new(),
            missed: Vec::new(),
            held: None,
        };
        self.collections.lock().unwrap().insert(plural, collection);
    }

    /// Sends an event to whoever watches.
    pub(crate) fn tell(&self, plural: &str, event: &str, object: &str) {
        let line = Bytes::from(format!("{{\"type\":\"{event}\",\"object\":{object}}}\n"));
        let mut collections = self.collections.lock().unwrap();
        let Collection { followers, missed, .. } = collections.get_mut(plural).unwrap();
        followers.retain(|follower| follower.send(line.clone()).is_ok());
        if followers.is_empty() {
            missed.push(line);
        }
    }

    /// Lets the next list of this collection tell everything but its end.
    pub(crate) fn hold(&self, plural: &str) -> Gate {
        let (gate, held) = oneshot::channel();
        self.collections.lock().unwrap().get_mut(plural).unwrap().held = Some(held);
        Gate(gate)
    }

    /// What was asked of these collections so far: `stream pods`, `list pods`, `watch pods`, `get pods`;
    /// the pages of a list in a row as one.
    pub(crate) fn asked(&self) -> Vec<String> {
        let mut asked = self.asked.lock().unwrap().clone();
        asked.dedup_by(|next, before| next == before && next.starts_with("list "));
        asked
    }

    /// What these questions accepted as an answer.
    pub(crate) fn accepts(&self) -> Vec<String> {
        self.accepts.lock().unwrap().clone()
    }

    pub(crate) async fn hub(&self) -> Hub {
        let world = self.clone();
        let service = tower::service_fn(move |request: Request<Full<Bytes>>| world.clone().answer(request));
        let cluster = Cluster::from_service(service, "n");
        cluster.refresh_discovery().await.unwrap();
        Hub::new(&cluster)
    }

    async fn answer(self, request: Request<Full<Bytes>>) -> Result<Response<Body>, Infallible> {
        let query = request.uri().query().unwrap_or_default();
        let asked = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(key, _)| *key == name).map(|(_, value)| value.parse::<usize>().unwrap_or(0)).next()
        };
        let plural = request.uri().path().split_once("/namespaces/n/").map(|(_, plural)| plural.to_owned());
        if let Some(plural) = plural {
            let verb = match (asked("watch"), asked("sendInitialEvents"), asked("limit")) {
                (Some(_), Some(_), _) => "stream",
                (Some(_), None, _) => "watch",
                (None, _, Some(_)) => "list",
                (None, _, None) => "get",
            };
            self.asked.lock().unwrap().push(format!("{verb} {plural}"));
            let accept = request.headers().get("accept").unwrap().to_str().unwrap().to_owned();
            self.accepts.lock().unwrap().push(accept);
            if let Some(collection) = self.collections.lock().unwrap().get_mut(&*plural) {
                let first = asked("continue").unwrap_or(0);
                return Ok(Response::new(match asked("limit") {
                    Some(limit) => collection.page(first, limit).boxed_unsync(),
                    None => collection.stream(verb == "stream").boxed_unsync(),
                }));
            }
        }
        let answer = self.sandbox.service().oneshot(request).await.unwrap();
        Ok(answer.map(|body| body.map_err(Into::into).boxed_unsync()))
    }
}

impl Collection {
    /// The next page of a list; its token is the number of the first object.
    fn page(&mut self, first: usize, limit: usize) -> Page {
        let end = self.count.min(first + limit);
        let next = if end < self.count { format!(r#","continue":"{end}""#) } else { String::new() };
        let held = if end < self.count { None } else { self.held.take() };
        let object = self.object.clone();
        let head = format!(r#"{{"metadata":{{"resourceVersion":"1000000"{next}}},"items":["#);
        Page { first, next: first, end, object, held, head: Some(head), tail: Some("]}") }
    }

    /// The events from now on, after the objects themselves or from the version of the last list.
    fn stream(&mut self, initial: bool) -> Stream {
        let (sender, events) = mpsc::unbounded_channel();
        let missed = std::mem::take(&mut self.missed);
        if !initial {
            missed.into_iter().for_each(|line| sender.send(line).unwrap());
        }
        self.followers.push(sender);
        let (count, object) = (self.count, self.object.clone());
        let (next, held) = if initial { (0, self.held.take()) } else { (count, None) };
        Stream { next, count, object, held, ended: !initial, events }
    }
}

/// A page of a list, made up as it is read.
struct Page {
    first: usize,
    next: usize,
    end: usize,
    object: Line,
    held: Option<oneshot::Receiver<()>>,
    head: Option<String>,
    tail: Option<&'static str>,
}

impl http_body::Body for Page {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(head) = self.head.take() {
            return Poll::Ready(Some(Ok(Frame::data(head.into()))));
        }
        if self.next < self.end {
            let end = self.end.min(self.next + CHUNK);
            let comma = |number| if number == self.first { "" } else { "," };
            let items: String = (self.next..end)
                .map(|number| format!("{}{}", comma(number), (self.object)(number)))
                .collect();
            self.next = end;
            return Poll::Ready(Some(Ok(Frame::data(items.into()))));
        }
        if let Some(held) = &mut self.held {
            let _ = std::task::ready!(Pin::new(held).poll(context));
            self.held = None;
        }
        let end = self.tail.take();
        Poll::Ready(end.map(|end| Ok(Frame::data(end.into()))))
    }
}

/// A streaming list, and then the events that are told.
struct Stream {
    next: usize,
    count: usize,
    object: Line,
    held: Option<oneshot::Receiver<()>>,
    ended: bool,
    events: mpsc::UnboundedReceiver<Bytes>,
}

impl http_body::Body for Stream {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.next < self.count {
            let end = self.count.min(self.next + CHUNK);
            let lines: String = (self.next..end)
                .map(|number| format!("{{\"type\":\"ADDED\",\"object\":{}}}\n", (self.object)(number)))
                .collect();
            self.next = end;
            return Poll::Ready(Some(Ok(Frame::data(lines.into()))));
        }
        if let Some(held) = &mut self.held {
            let _ = std::task::ready!(Pin::new(held).poll(context));
            self.held = None;
        }
        if !self.ended {
            self.ended = true;
            let end = "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"1000000\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n";
            return Poll::Ready(Some(Ok(Frame::data(end.into()))));
        }
        self.events.poll_recv(context).map(|line| line.map(|line| Ok(Frame::data(line))))
    }
}

/// A stable uid for the object of this number.
pub(crate) fn uid(kind: u16, number: usize) -> String {
    // Spread like the random ones of a server.
    let spread = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{:08x}-{kind:04x}-4000-8000-{:012x}", spread >> 32, number)
}

pub(crate) const DEPLOYMENT: u16 = 1;
pub(crate) const REPLICA_SET: u16 = 2;
pub(crate) const POD: u16 = 3;

fn meta(kind: u16, name: &str, number: usize, version: u32, owner: Option<(&str, String)>) -> String {
    let owner = owner.map_or(String::new(), |(kind, uid)| {
        format!(r#","ownerReferences":[{{"apiVersion":"apps/v1","kind":"{kind}","name":"owner","uid":"{uid}","controller":true,"blockOwnerDeletion":true}}]"#)
    });
    format!(
        r#""metadata":{{"name":"{name}","namespace":"n","uid":"{}","resourceVersion":"{version}","generation":1,"creationTimestamp":"2026-11-30T00:00:00Z","labels":{{"app":"some-app","pod-template-hash":"6f48d5df77"}}{owner},"managedFields":[{{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{{"f:metadata":{{"f:labels":{{}}}}}}}}]}}"#,
        uid(kind, number)
    )
}

pub(crate) fn deployment(number: usize) -> String {
    let marks = r#""annotations":{"config.k8s.io/owning-inventory":"shop-6f48d5df77-1764547200"},"labels""#;
    let meta = meta(DEPLOYMENT, &format!("web-{number}"), number, 1, None).replacen(r#""labels""#, marks, 1);
    format!(
        r#"{{"apiVersion":"apps/v1","kind":"Deployment",{meta},"spec":{{"replicas":10}},"status":{{"observedGeneration":1,"replicas":10,"updatedReplicas":10,"readyReplicas":10,"availableReplicas":10,"conditions":[{{"type":"Available","status":"True","reason":"MinimumReplicasAvailable"}},{{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}}]}}}}"#
    )
}

/// A ReplicaSet of the Deployment with the number `owner`.
pub(crate) fn replica_set(number: usize, owner: usize) -> String {
    let owner = Some(("Deployment", uid(DEPLOYMENT, owner)));
    let meta = meta(REPLICA_SET, &format!("web-{number}-6f48d5df77"), number, 1, owner);
    format!(
        r#"{{"apiVersion":"apps/v1","kind":"ReplicaSet",{meta},"spec":{{"replicas":10}},"status":{{"observedGeneration":1,"replicas":10,"fullyLabeledReplicas":10,"readyReplicas":10,"availableReplicas":10}}}}"#
    )
}

/// A Pod of the ReplicaSet with the number `owner`.
pub(crate) fn pod(number: usize, owner: usize, version: u32) -> String {
    let owner = Some(("ReplicaSet", uid(REPLICA_SET, owner)));
    let meta = meta(POD, &format!("web-6f48d5df77-{number}"), number, version, owner);
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod",{meta},"spec":{{"nodeName":"node","containers":[{{"name":"c","image":"i"}}]}},"status":{{"phase":"Running","conditions":[{{"type":"PodScheduled","status":"True"}},{{"type":"Initialized","status":"True"}},{{"type":"ContainersReady","status":"True"}},{{"type":"Ready","status":"True"}}],"containerStatuses":[{{"name":"c","ready":true,"restartCount":0,"state":{{"running":{{"startedAt":"2026-11-30T00:00:00Z"}}}}}}]}}}}"#
    )
}

pub(crate) fn web(number: usize) -> ObjectId {
    ObjectId::new(GroupKind::new("apps", "Deployment"), "n", &format!("web-{number}"))
}

pub(crate) fn named_pod(number: usize) -> ObjectId {
    ObjectId::new(GroupKind::new("", "Pod"), "n", &format!("web-6f48d5df77-{number}"))
}

pub(crate) async fn subscribe(hub: &Hub, targets: impl Iterator<Item = ObjectId>) -> Subscription {
    let targets = targets.map(|id| Target { id, version: None }).collect();
    hub.subscribe(targets, SubscribeOptions::default()).await.unwrap()
}

/// Takes updates until all is told.
pub(crate) async fn synced(subscription: &mut Subscription) {
    let all = async {
        loop {
            let update = subscription.next().await.unwrap();
            crate::sample();
            if matches!(update, Update::Synced) {
                return;
            }
        }
    };
    tokio::time::timeout(LIMIT, all).await.unwrap();
}

/// Asks for the children of these targets and takes updates until all of them are known.
pub(crate) async fn with_children(subscription: &mut Subscription, targets: impl Iterator<Item = ObjectId>) {
    let mut open = HashSet::new();
    for target in targets {
        subscription.children(target.clone(), true).await.unwrap();
        open.insert(target);
    }
    until(subscription, |target, state| {
        if state.children.is_some() {
            open.remove(target);
        }
        open.is_empty()
    })
    .await;
}

/// Takes updates until `so` says that it is enough.
pub(crate) async fn until(
    subscription: &mut Subscription,
    mut so: impl FnMut(&ObjectId, &TargetState) -> bool,
) {
    let all = async {
        loop {
            let update = subscription.next().await.unwrap();
            crate::sample();
            if let Update::Changed(states) = update
                && states.iter().fold(false, |done, (target, state)| so(target, state) || done)
            {
                return;
            }
        }
    };
    tokio::time::timeout(LIMIT, all).await.unwrap();
}
