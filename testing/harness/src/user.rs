//! Users with few rights.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use crate::{ControlPlane, TcpProxy, credentials, wait};

/// Gathers the rights of a new user; see [`ControlPlane::user`].
#[derive(Debug)]
pub struct UserBuilder<'p> {
    plane: &'p ControlPlane,
    label: String,
    name: String,
    rights: Vec<Right>,
}

#[derive(Debug)]
struct Right {
    namespace: Option<String>,
    rule: Value,
    /// One request that the rule allows, to see when the server knows it.
    probe: Value,
}

impl<'p> UserBuilder<'p> {
    #[track_caller]
    pub(crate) fn new(plane: &'p ControlPlane, label: &str) -> Self {
        let number = plane.users.fetch_add(1, Ordering::Relaxed);
        assert!(number < credentials::LIMITED_USERS, "all {} users are taken", credentials::LIMITED_USERS);
        Self { plane, label: label.to_owned(), name: credentials::limited(number), rights: Vec::new() }
    }

    /// Allows `verbs` on `resources` in one namespace. A resource is written `pods`, `pods/log` or
    /// `deployments.apps`; `*` stands for everything.
    pub fn can(self, verbs: &[&str], resources: &[&str], namespace: &str) -> Self {
        self.add(verbs, resources, Some(namespace), &[])
    }

    /// The same for objects of the given names only.
    pub fn can_named(self, verbs: &[&str], resources: &[&str], namespace: &str, names: &[&str]) -> Self {
        self.add(verbs, resources, Some(namespace), names)
    }

    /// Allows `verbs` on `resources` in all namespaces, and on cluster-scoped ones.
    pub fn can_cluster(self, verbs: &[&str], resources: &[&str]) -> Self {
        self.add(verbs, resources, None, &[])
    }

    /// The same for objects of the given names only.
    pub fn can_cluster_named(self, verbs: &[&str], resources: &[&str], names: &[&str]) -> Self {
        self.add(verbs, resources, None, names)
    }

    /// Allows everything in one namespace and nothing elsewhere.
    pub fn owns(self, namespace: &str) -> Self {
        self.can(&["*"], &["*"], namespace)
    }

    fn add(mut self, verbs: &[&str], resources: &[&str], namespace: Option<&str>, names: &[&str]) -> Self {
        for resource in resources {
            let (path, group) = match *resource {
                "*" => ("*", "*"),
                other => other.split_once('.').unwrap_or((other, "")),
            };
            let verb = verbs.first().copied().unwrap_or("*");
            let (plain, sub) = path.split_once('/').unwrap_or((path, ""));
            self.rights.push(Right {
                namespace: namespace.map(str::to_owned),
                rule: json!({ "verbs": verbs, "apiGroups": [group], "resources": [path], "resourceNames": names }),
                probe: json!({
                    "verb": verb,
                    "group": group,
                    "resource": plain,
                    "subresource": sub,
                    "namespace": namespace.unwrap_or_default(),
                    "name": names.first().copied().unwrap_or_default(),
                }),
            });
        }
        self
    }

    /// Makes the user; returns when the server knows all its rights.
    ///
    /// # Panics
    ///
    /// When the server refuses a rule.
    #[track_caller]
    pub fn build(self) -> User<'p> {
        let plane = self.plane;
        for (number, right) in self.rights.iter().enumerate() {
            let (role, binding) = role_and_binding(&self.name, &self.label, number, right);
            [role, binding].iter().for_each(|object| make(plane, right, object));
        }
        for right in &self.rights {
            wait::wait_until("the server to know the rights of a new user", Duration::from_secs(30), || {
                is_allowed(plane, &self.name, &right.probe)
            });
        }
        let namespace = self.rights.iter().find_map(|right| right.namespace.as_deref()).unwrap_or("default");
        let kubeconfig = plane.write_kubeconfig(&self.name, plane.url(), namespace);
        User {
            plane,
            namespace: namespace.to_owned(),
            kubeconfig,
            name: self.name,
            label: self.label,
            rights: self.rights,
        }
    }
}

fn role_and_binding(user: &str, label: &str, number: usize, right: &Right) -> (Value, Value) {
    let prefix = if right.namespace.is_some() { "" } else { "Cluster" };
    let metadata = json!({ "name": format!("{label}-{user}-{number}") });
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": format!("{prefix}Role"),
        "metadata": metadata,
        "rules": [right.rule],
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": format!("{prefix}RoleBinding"),
        "metadata": metadata,
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": role["kind"], "name": metadata["name"] },
        "subjects": [{ "kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user }],
    });
    (role, binding)
}

/// Where objects of its kind live.
fn collection(right: &Right, object: &Value) -> String {
    let place =
        right.namespace.iter().map(|namespace| format!("/namespaces/{namespace}")).collect::<String>();
    let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
    format!("/apis/rbac.authorization.k8s.io/v1{place}/{kind}s")
}

#[track_caller]
fn make(plane: &ControlPlane, right: &Right, object: &Value) {
    match plane.api.post(&collection(right, object), object) {
        Ok(reply) => drop(reply.success()),
        Err(error) => panic!("{error}"),
    }
}

fn is_allowed(plane: &ControlPlane, user: &str, attributes: &Value) -> bool {
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": { "user": user, "resourceAttributes": attributes },
    });
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    plane.api.post(path, &review).is_ok_and(|reply| reply.json()["status"]["allowed"] == true)
}

/// A user with exactly the rights it was given.
#[derive(Debug)]
pub struct User<'p> {
    plane: &'p ControlPlane,
    name: String,
    namespace: String,
    kubeconfig: PathBuf,
    label: String,
    rights: Vec<Right>,
}

impl User<'_> {
    /// Takes a right away, by its place among those it was given (one for each resource); returns when the
    /// server knows. What is under way goes on: a server looks at rights when a request begins.
    ///
    /// # Panics
    ///
    /// When the server refuses, or another right allows as much.
    #[track_caller]
    pub fn lose(&self, number: usize) {
        let right = &self.rights[number];
        let (_, binding) = role_and_binding(&self.name, &self.label, number, right);
        let name = binding["metadata"]["name"].as_str().unwrap_or_default();
        match self.plane.api.delete(&format!("{}/{name}", collection(right, &binding))) {
            Ok(reply) => drop(reply.success()),
            Err(error) => panic!("{error}"),
        }
        self.wait_until(right, false);
    }

    /// Gives a right back that was taken away; returns when the server knows.
    ///
    /// # Panics
    ///
    /// When the server refuses.
    #[track_caller]
    pub fn regain(&self, number: usize) {
        let right = &self.rights[number];
        make(self.plane, right, &role_and_binding(&self.name, &self.label, number, right).1);
        self.wait_until(right, true);
    }

    #[track_caller]
    fn wait_until(&self, right: &Right, allowed: bool) {
        wait::wait_until("the server to know the rights of a user", Duration::from_secs(30), || {
            is_allowed(self.plane, &self.name, &right.probe) == allowed
        });
    }

    /// The name the server knows it by, as in the audit log.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its kubeconfig; the default namespace is the first one it has a right in.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// A kubeconfig of this user through a counting proxy.
    pub fn kubeconfig_via(&self, proxy: &TcpProxy) -> PathBuf {
        self.plane.write_kubeconfig(&self.name, &proxy.url(), &self.namespace)
    }

    /// Its bearer token.
    pub fn token(&self) -> String {
        self.plane.credentials.token(&self.name)
    }
}
