//! A place on the shared control plane for one test.

use std::sync::atomic::{AtomicUsize, Ordering};

use harness::{ControlPlane, Mark, Namespace, Requests, User, shared};
use serde_json::Value;

use crate::settle::{Settle, settle};

/// A name that no other test of this process uses.
pub fn unique(prefix: &str) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(1);
    format!("{prefix}-u{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The path of an object for [`harness::Api`]: `named("apps/v1", "shop", "deployments", "web")`.
/// Without a namespace, of a cluster-scoped one.
pub fn named(version: &str, namespace: &str, plural: &str, name: &str) -> String {
    let root = if version.contains('/') { "apis" } else { "api" };
    match namespace {
        "" => format!("/{root}/{version}/{plural}/{name}"),
        _ => format!("/{root}/{version}/namespaces/{namespace}/{plural}/{name}"),
    }
}

/// A namespace, and a user with every right whose requests can be counted: nobody else goes by that
/// name.
#[derive(Debug)]
pub struct World {
    /// Where the test's objects live.
    pub ns: Namespace<'static>,
    /// Whose requests are counted.
    pub user: User<'static>,
    mark: Mark,
}

impl World {
    /// On the shared control plane.
    #[track_caller]
    pub fn new(prefix: &str) -> Self {
        let plane = shared();
        let ns = plane.namespace(prefix);
        let user = plane.user(prefix).can_cluster(&["*"], &["*"]).build();
        Self { ns, user, mark: plane.mark() }
    }

    /// The name of its namespace.
    pub fn name(&self) -> &str {
        self.ns.name()
    }

    /// A call as its user, in its namespace.
    pub fn settle(&self, words: &[&str]) -> Settle {
        settle(shared(), words).args(["-n", self.name()]).kubeconfig(self.user.kubeconfig())
    }

    /// The requests of its user so far.
    pub fn requests(&self) -> Requests {
        shared().requests().since(self.mark).user(self.user.name())
    }

    /// An object of its namespace as it is on the cluster; null when it is not there.
    #[track_caller]
    pub fn get(&self, version: &str, plural: &str, name: &str) -> Value {
        get(shared(), &named(version, self.name(), plural, name))
    }
}

/// An object as it is on the cluster; null when it is not there.
///
/// # Panics
///
/// When the server does not say.
#[track_caller]
pub fn get(plane: &ControlPlane, path: &str) -> Value {
    let reply = plane.api().get(path).expect("an answer");
    match reply.status {
        404 => Value::Null,
        _ => reply.success().json(),
    }
}
