//! Paths and queries of the Kubernetes API.

use std::fmt::Write as _;

use super::discovery::Resource;
use super::types::Scope;

/// The path of a collection: `/apis/apps/v1/namespaces/shop/deployments`; without `namespace` that
/// of all namespaces.
pub(super) fn collection(resource: &Resource, namespace: &str) -> String {
    let mut path = String::with_capacity(96);
    match resource.group() {
        "" => path.push_str("/api/"),
        group => {
            path.push_str("/apis/");
            push_segment(&mut path, group);
            path.push('/');
        }
    }
    push_segment(&mut path, resource.version());
    if resource.namespaced() && !namespace.is_empty() {
        path.push_str("/namespaces/");
        push_segment(&mut path, namespace);
    }
    path.push('/');
    push_segment(&mut path, resource.plural());
    path
}

/// The path of one object.
pub(super) fn object(resource: &Resource, namespace: &str, name: &str) -> String {
    let mut path = collection(resource, namespace);
    path.push('/');
    push_segment(&mut path, name);
    path
}

/// The path of a pod's log.
pub(super) fn log(namespace: &str, pod: &str) -> String {
    format!("/api/v1/namespaces/{}/pods/{}/log", encoded_segment(namespace), encoded_segment(pod))
}

/// The path and first query parameters that cover a scope.
pub(super) fn scope(resource: &Resource, scope: &Scope) -> Url {
    match scope {
        Scope::Cluster => Url::new(collection(resource, "")),
        Scope::Namespace(namespace) => Url::new(collection(resource, namespace)),
        Scope::Name { namespace, name } => {
            let selector = format!("metadata.name={name}");
            Url::new(collection(resource, namespace)).with("fieldSelector", &selector)
        }
        Scope::Labels { namespace, selector } => {
            Url::new(collection(resource, namespace)).with("labelSelector", selector)
        }
    }
}

/// A path with its query, built in one string.
pub(super) struct Url {
    text: String,
    has_query: bool,
}

impl Url {
    pub(super) fn new(path: String) -> Self {
        Self { text: path, has_query: false }
    }

    pub(super) fn with(mut self, key: &str, value: &str) -> Self {
        self.text.push(if self.has_query { '&' } else { '?' });
        self.has_query = true;
        self.text.push_str(key);
        self.text.push('=');
        push_segment(&mut self.text, value);
        self
    }

    pub(super) fn with_some(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    pub(super) fn into_string(self) -> String {
        self.text
    }
}

/// `text` with everything escaped that means something in a path or a query.
pub(super) fn encoded_segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_segment(&mut out, text);
    out
}

fn push_segment(out: &mut String, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' | b'=' | b'@' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::discovery::tests::resource;

    #[test]
    fn paths_of_kinds_and_objects() {
        let deployments = resource("apps", "v1", "Deployment", "deployments", true);
        let roles = resource("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false);
        let services = resource("", "v1", "Service", "services", true);
        let rows = [
            (collection(&deployments, ""), "/apis/apps/v1/deployments"),
            (collection(&deployments, "shop"), "/apis/apps/v1/namespaces/shop/deployments"),
            (object(&services, "shop", "web"), "/api/v1/namespaces/shop/services/web"),
            (
                object(&roles, "ignored", "system:node/α"),
                "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node%2F%CE%B1",
            ),
        ];
        for (path, expected) in rows {
            assert_eq!(path, expected);
        }
    }

    #[test]
    fn a_name_scope_is_a_field_selector() {
        let services = resource("", "v1", "Service", "services", true);
        let one = Scope::Name { namespace: "shop".into(), name: "web".into() };
        let url = scope(&services, &one).with("watch", "1").with_some("x", None).into_string();
        assert_eq!(url, "/api/v1/namespaces/shop/services?fieldSelector=metadata.name=web&watch=1");
    }
}
