//! The handle to a sandbox: building it, looking into it, and making trouble.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::faults::{Fault, FaultId, When};
use crate::kinds::Kind;
use crate::log::Logged;
use crate::service::{Inner, Service};
use crate::settings::Settings;
use crate::store::{Backup, Key, Mould, Object, Store};
use crate::streams::WatchEnd;
use crate::users::{User, Users};
use crate::write::{Propagation, commit, delete_object, managed};

/// An API server in memory. Cheap to clone; all clones are the same server.
///
/// Everything it does depends on the requests, the seed and tokio's clock. Controllers have no task of
/// their own: what they had to do by now is done when anybody asks, so a test that pauses the clock sees
/// each step at its exact time.
#[derive(Clone, Debug)]
pub struct Sandbox(pub(crate) Arc<Inner>);

/// How a [`Sandbox`] behaves.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    settings: Settings,
    users: Users,
    storage_class: Option<String>,
}

impl Builder {
    /// The date at the start. By default that of the host, so that timestamps fit those of the client.
    #[must_use]
    pub fn epoch(mut self, epoch: SystemTime) -> Self {
        self.settings.epoch = epoch.duration_since(UNIX_EPOCH).unwrap_or_default();
        self
    }

    /// A StorageClass that makes volumes, and that claims without a class get. Without one, claims stay pending.
    #[must_use]
    pub fn default_storage_class(mut self, name: &str) -> Self {
        self.storage_class = Some(name.to_owned());
        self
    }

    /// What uids and chances are drawn from.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// How many events of each resource are kept; older ones are compacted.
    #[must_use]
    pub fn history(mut self, events: usize) -> Self {
        self.settings.history = events;
        self
    }

    /// How long controllers take to notice a change; 5 ms by default.
    #[must_use]
    pub fn step(mut self, step: Duration) -> Self {
        self.settings.step = step;
        self
    }

    /// Without any controller: objects stay as they were written. What is wanted all the same is switched on
    /// afterwards.
    #[must_use]
    pub fn no_controllers(mut self) -> Self {
        let settings = &mut self.settings;
        for switch in [
            &mut settings.workloads,
            &mut settings.collector,
            &mut settings.namespaces,
            &mut settings.volumes,
            &mut settings.crds,
        ] {
            *switch = false;
        }
        self
    }

    /// Do workloads get Pods, and do Pods run?
    #[must_use]
    pub fn workloads(mut self, on: bool) -> Self {
        self.settings.workloads = on;
        self
    }

    /// Are objects removed whose owners are gone?
    #[must_use]
    pub fn garbage_collector(mut self, on: bool) -> Self {
        self.settings.collector = on;
        self
    }

    /// Are deleted namespaces emptied and removed?
    #[must_use]
    pub fn namespace_controller(mut self, on: bool) -> Self {
        self.settings.namespaces = on;
        self
    }

    /// Do namespaces get the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt`, as in a real
    /// cluster? Not by default.
    #[must_use]
    pub fn furnished_namespaces(mut self) -> Self {
        self.settings.furnish = true;
        self
    }

    /// From the deletion of a namespace until its content is removed; 5 s by default.
    #[must_use]
    pub fn namespace_sweep(mut self, after: Duration) -> Self {
        self.settings.namespace_sweep = after;
        self
    }

    /// From the creation of a CRD until it is `Established`, and from then until its kind is served.
    #[must_use]
    pub fn establish_crds(mut self, established: Duration, served: Duration) -> Self {
        self.settings.crds = true;
        self.settings.crd_established = established;
        self.settings.crd_served = served;
        self
    }

    /// Is the first LIST or WATCH of a new or changed custom kind answered with 429
    /// `storage is (re)initializing`? Not by default.
    #[must_use]
    pub fn reinitializing_storage(mut self, on: bool) -> Self {
        self.settings.crd_reinitializing = on;
        self
    }

    /// Without streaming lists: an older server.
    #[must_use]
    pub fn no_streaming_lists(mut self) -> Self {
        self.settings.streaming_lists = false;
        self
    }

    /// Without discovery in one document: a much older server.
    #[must_use]
    pub fn no_aggregated_discovery(mut self) -> Self {
        self.settings.aggregated_discovery = false;
        self
    }

    /// Nodes, and the CPU of each in thousandths; 3 of 32 cores by default.
    #[must_use]
    pub fn nodes(mut self, count: usize, cpu_millis: u64) -> Self {
        self.settings.nodes = count;
        self.settings.node_cpu_millis = cpu_millis;
        self
    }

    /// Time between two bookmarks of a watch; a minute by default.
    #[must_use]
    pub fn bookmarks(mut self, every: Duration) -> Self {
        self.settings.bookmark = every;
        self
    }

    /// A user, by bearer token.
    #[must_use]
    pub fn user(mut self, token: &str, user: User) -> Self {
        self.users.set(token, user);
        self
    }

    /// Starts the server.
    pub fn build(self) -> Sandbox {
        let nodes = self.settings.nodes;
        let cpu = self.settings.node_cpu_millis;
        let sandbox = Sandbox(Arc::new(Inner::new(self.settings, self.users)));
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            sandbox.create(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } }));
        }
        for index in 0..nodes {
            sandbox.create(node(index, cpu));
        }
        if let Some(name) = self.storage_class {
            sandbox.create(json!({
                "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "sandbox",
                "metadata": { "name": name, "annotations": { "storageclass.kubernetes.io/is-default-class": "true" } },
            }));
        }
        sandbox
    }
}

fn node(index: usize, cpu_millis: u64) -> Value {
    let resources = json!({ "cpu": format!("{cpu_millis}m"), "memory": "256Gi", "pods": "110" });
    let name = format!("node-{index}");
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": name, "labels": { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" } },
        "status": {
            "capacity": resources, "allocatable": resources,
            "conditions": [{ "type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status" }],
        },
    })
}

impl Sandbox {
    /// A server with the usual behaviour, to be changed.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A client's way to this server.
    pub fn service(&self) -> Service {
        Service(self.0.clone())
    }

    /// Puts an object in place without a request: nothing is checked, nothing logged. An object of that
    /// name is replaced and keeps its uid. Its status is taken as it is. `None` when its kind is not served.
    pub fn create(&self, object: Value) -> Option<Value> {
        self.0.with(|state| put(&mut state.store, object))
    }

    /// The object as it is now. `resource` is `pods` or `deployments.apps`.
    pub fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        self.0.with(|state| state.store.value(resource, &Key::new(namespace, name)))
    }

    /// All objects of a resource, in one namespace or, with an empty one, in all.
    pub fn list(&self, resource: &str, namespace: &str) -> Vec<Value> {
        self.0.with(|state| {
            let Some(resource) = state.store.resources.get(resource) else { return Vec::new() };
            let version = resource.kind.preferred();
            let objects = resource
                .objects
                .values()
                .filter(|object| namespace.is_empty() || *object.key.namespace == *namespace);
            objects.map(|object| object.whole(&resource.kind, version)).collect()
        })
    }

    /// Changes an object in place, as some controller would: a new version, no check. False when there
    /// is none.
    pub fn edit(&self, resource: &str, namespace: &str, name: &str, change: impl FnOnce(&mut Value)) -> bool {
        self.0.with(|state| {
            let Some(mut value) = state.store.value(resource, &Key::new(namespace, name)) else {
                return false;
            };
            change(&mut value);
            state.store.put(resource, value).is_some()
        })
    }

    /// Deletes an object as a request would, in the background. False when there is none.
    pub fn delete(&self, resource: &str, namespace: &str, name: &str) -> bool {
        self.0.with(|state| {
            let key = Key::new(namespace, name);
            let there = state.store.get(resource, &key).is_some();
            delete_object(&mut state.store, resource, &key, Propagation::Background, None);
            there
        })
    }

    /// Puts `count` like objects of a kind in a namespace, which no controller ever looks at: they cost
    /// a few hundred bytes each. `template` is an object without a name; the names are `prefix-0` and up.
    pub fn fill(&self, template: Value, namespace: &str, prefix: &str, count: usize) {
        self.0.with(|state| fill(&mut state.store, template, namespace, prefix, count));
    }

    /// The newest resourceVersion.
    pub fn version(&self) -> u64 {
        self.0.with(|state| state.store.version())
    }

    /// Compacts the history: older versions are expired from now on. Watches that are open go on.
    pub fn compact(&self) {
        self.0.with(|state| state.store.compact());
    }

    /// What the server knows now, for [`restore`](Self::restore).
    pub fn back_up(&self) -> Backup {
        self.0.with(|state| state.store.back_up())
    }

    /// Puts the data back as somebody does who restores a backup of etcd: later versions are given out a
    /// second time, all watches break, and older versions are expired.
    pub fn restore(&self, backup: &Backup) {
        self.0.with(|state| {
            state.store.restore(backup.clone());
            let now = Instant::now();
            state.store.streams.end("", now, WatchEnd::Reset);
            state.store.tell();
        });
    }

    /// Orders a fault for requests to come.
    pub fn inject(&self, when: When, fault: Fault) -> FaultId {
        self.0.with(|state| state.faults.add(when, fault))
    }

    /// How many requests a fault has met.
    pub fn hits(&self, id: FaultId) -> u64 {
        self.0.with(|state| state.faults.hits(id))
    }

    /// Ends a fault.
    pub fn heal(&self, id: FaultId) {
        self.0.with(|state| state.faults.remove(id));
    }

    /// Ends all faults.
    pub fn heal_all(&self) {
        self.0.with(|state| state.faults.clear());
    }

    /// Sets or replaces a user.
    pub fn set_user(&self, token: &str, user: User) {
        self.0.with(|state| state.users.set(token, user));
    }

    /// Makes a token unknown.
    pub fn remove_user(&self, token: &str) {
        self.0.with(|state| state.users.remove(token));
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Logged> {
        self.0.with(|state| state.log.clone())
    }

    /// How many requests there were so far; also the index of the next one.
    pub fn request_count(&self) -> u64 {
        self.0.with(|state| state.log.len() as u64)
    }

    /// Breaks all connections once request `index` was carried out: its answer is lost, open watches
    /// break, and every further request fails until [`revive`](Self::revive).
    pub fn kill_after(&self, index: u64) {
        self.kill(index, false);
    }

    /// As [`kill_after`](Self::kill_after), but the request is not carried out.
    pub fn kill_before(&self, index: u64) {
        self.kill(index, true);
    }

    fn kill(&self, index: u64, before: bool) {
        self.0.with(|state| {
            state.kill.at = Some(index);
            state.kill.before = before;
        });
    }

    /// True when connections were broken for good.
    pub fn is_killed(&self) -> bool {
        self.0.with(|state| state.kill.dead)
    }

    /// Lets requests through again.
    pub fn revive(&self) {
        self.0.with(|state| state.kill = crate::service::Kill::default());
    }

    /// Ends the open watches of a resource now, of all with an empty name; how many there were.
    pub fn end_watches(&self, resource: &str, how: WatchEnd) -> usize {
        self.0.with(|state| {
            let now = Instant::now();
            let ended = state.store.streams.end(resource, now, how);
            state.store.tell();
            ended
        })
    }

    /// How many watches of a resource are open, of all with an empty name.
    pub fn open_watches(&self, resource: &str) -> usize {
        self.0.with(|state| state.store.streams.count(resource))
    }

    /// The namespaces of the open watches of a resource; an empty one stands for all.
    pub fn watched_namespaces(&self, resource: &str) -> Vec<String> {
        self.0
            .with(|state| state.store.streams.namespaces(resource).iter().map(ToString::to_string).collect())
    }
}

fn kind_of(store: &Store, object: &Value) -> Option<Arc<Kind>> {
    store.kind_of(object["apiVersion"].as_str()?, object["kind"].as_str()?)
}

fn put(store: &mut Store, mut object: Value) -> Option<Value> {
    let kind = kind_of(store, &object)?;
    let key = Key::new(
        crate::json::text(&object, &["metadata", "namespace"]),
        crate::json::text(&object, &["metadata", "name"]),
    );
    if let Some(live) = store.value(&kind.id, &key) {
        for field in ["uid", "creationTimestamp"] {
            object["metadata"][field] = live["metadata"][field].clone();
        }
        let new = store.put(&kind.id, object)?;
        return Some(new.whole(&kind, kind.preferred()));
    }
    let target = crate::ask::Target {
        group: kind.group.to_string(),
        version: kind.preferred().to_owned(),
        plural: kind.plural.to_string(),
        namespace: key.namespace.to_string(),
        name: key.name.to_string(),
        subresource: String::new(),
    };
    let how = commit::Commit { kind: &kind, version: kind.preferred(), subresource: "", dry_run: false };
    let status = object.get("status").cloned();
    let time = store.stamp();
    let api_version = kind.api_version(kind.preferred());
    let author = managed::Author {
        manager: "sandbox",
        operation: managed::Operation::Update,
        api_version: &api_version,
        subresource: "",
        time: &time,
    };
    commit::create(store, &how, &target, object, Some(&author)).ok()?;
    if let Some(status) = status {
        let mut value = store.value(&kind.id, &key)?;
        value["status"] = status;
        store.put(&kind.id, value)?;
    }
    store.value(&kind.id, &key)
}

fn fill(store: &mut Store, mut template: Value, namespace: &str, prefix: &str, count: usize) {
    let Some(kind) = kind_of(store, &template) else { return };
    crate::json::set(&mut template, &["metadata", "creationTimestamp"], store.stamp());
    if !namespace.is_empty() {
        crate::json::set(&mut template, &["metadata", "namespace"], namespace);
    }
    let mould = Arc::new(Mould::new(template));
    let namespace: Arc<str> = namespace.into();
    for index in 0..count {
        let key = Key { namespace: namespace.clone(), name: format!("{prefix}-{index}").into() };
        let (uid, version) = (store.next_uid(), store.next_version());
        store.put_foreign(&kind.id, Object::cast(mould.clone(), key, uid, version));
    }
    store.tell();
}
