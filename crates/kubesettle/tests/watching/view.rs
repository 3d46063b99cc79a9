//! A subscriber that remembers the latest state of every target.

use std::collections::HashMap;
use std::time::Duration;

use http::HeaderValue;
use http::header::AUTHORIZATION;
use kubesettle::cluster::Cluster;
use kubesettle::id::{GroupKind, ObjectId};
use kubesettle::watch::{
    Gap, Hub, Presence, ScopeStrategy, SubscribeOptions, Subscription, Target, TargetState, Update,
};
use sandbox::{Sandbox, User};
use serde_json::{Value, json};
use tower::ServiceBuilder;

/// Longer than any wait of a test may take, in virtual time.
const LIMIT: Duration = Duration::from_secs(600);

pub(crate) struct View {
    subscription: Subscription,
    pub states: HashMap<ObjectId, TargetState>,
    pub gaps: Vec<Gap>,
    pub synced: bool,
    pub updates: usize,
}

pub(crate) async fn cluster(sandbox: &Sandbox) -> Cluster {
    let cluster = Cluster::from_service(sandbox.service(), "default");
    cluster.refresh_discovery().await.unwrap();
    cluster
}

/// The cluster as a user sees it who may do just this.
pub(crate) async fn cluster_as(sandbox: &Sandbox, user: User) -> Cluster {
    sandbox.set_user("token", user);
    cluster_with_token(sandbox).await
}

/// The cluster as the user sees it who has the token.
pub(crate) async fn cluster_with_token(sandbox: &Sandbox) -> Cluster {
    let service = ServiceBuilder::new()
        .map_request(|mut request: http::Request<_>| {
            request.headers_mut().insert(AUTHORIZATION, HeaderValue::from_static("Bearer token"));
            request
        })
        .service(sandbox.service());
    let cluster = Cluster::from_service(service, "default");
    cluster.refresh_discovery().await.unwrap();
    cluster
}

pub(crate) fn id(group: &str, kind: &str, namespace: &str, name: &str) -> ObjectId {
    ObjectId::new(GroupKind::new(group, kind), namespace, name)
}

pub(crate) fn config_map(namespace: &str, name: &str) -> ObjectId {
    id("", "ConfigMap", namespace, name)
}

pub(crate) fn config_map_object(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}})
}

pub(crate) fn targets_of(ids: &[ObjectId]) -> Vec<Target> {
    ids.iter().map(|id| Target { id: id.clone(), version: None }).collect()
}

pub(crate) async fn watch(hub: &Hub, targets: &[ObjectId]) -> View {
    watch_in(hub, targets, ScopeStrategy::Automatic).await
}

pub(crate) async fn watch_in(hub: &Hub, targets: &[ObjectId], scope: ScopeStrategy) -> View {
    watch_with(hub, targets, SubscribeOptions::in_scope(scope)).await
}

pub(crate) async fn watch_with(hub: &Hub, targets: &[ObjectId], options: SubscribeOptions) -> View {
    let subscription = hub.subscribe(targets_of(targets), options).await.unwrap();
    View { subscription, states: HashMap::new(), gaps: Vec::new(), synced: false, updates: 0 }
}

impl View {
    async fn step(&mut self) {
        self.updates += 1;
        match self.subscription.next().await.unwrap() {
            Update::Changed(states) => self.states.extend(states),
            Update::Gap(gap) => self.gaps.push(gap),
            Update::Synced => self.synced = true,
        }
    }

    /// Takes updates until this is so.
    pub(crate) async fn until(&mut self, what: &str, so: impl Fn(&Self) -> bool) {
        let all = async {
            while !so(self) {
                self.step().await;
            }
        };
        if tokio::time::timeout(LIMIT, all).await.is_err() {
            panic!("it never came to this: {what}; {:?}, gaps {:?}", self.states, self.gaps);
        }
    }

    pub(crate) async fn synced(&mut self) {
        self.until("synced", |view| view.synced).await;
    }

    /// Takes updates for so long.
    pub(crate) async fn pass(&mut self, time: Duration) {
        let _ = tokio::time::timeout(time, async {
            loop {
                self.step().await;
            }
        })
        .await;
    }

    pub(crate) fn presence(&self, id: &ObjectId) -> &Presence {
        self.states.get(id).map_or(&Presence::Pending, |state| &state.presence)
    }

    pub(crate) fn is_present(&self, id: &ObjectId) -> bool {
        matches!(self.presence(id), Presence::Present(_))
    }

    pub(crate) fn is_absent(&self, id: &ObjectId) -> bool {
        matches!(self.presence(id), Presence::Absent { .. })
    }

    pub(crate) fn version(&self, id: &ObjectId) -> Option<u64> {
        match self.presence(id) {
            Presence::Present(digest) => digest.resource_version().parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn subscription(&self) -> &Subscription {
        &self.subscription
    }

    pub(crate) async fn add(&mut self, ids: &[ObjectId]) {
        self.subscription.add(targets_of(ids)).await.unwrap();
        self.synced = false;
    }

    pub(crate) async fn remove(&mut self, ids: &[ObjectId]) {
        self.subscription.remove(ids.to_vec()).await.unwrap();
        ids.iter().for_each(|id| drop(self.states.remove(id)));
    }
}

/// Requests of this verb on this resource so far.
pub(crate) fn count(sandbox: &Sandbox, verb: &str, resource: &str) -> usize {
    sandbox.requests().iter().filter(|r| r.verb == verb && r.resource == resource).count()
}
