//! A namespace of one test.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::{ControlPlane, Part, wait};

/// A namespace that is deleted, without waiting, when the test is over.
#[derive(Debug)]
pub struct Namespace<'p> {
    plane: &'p ControlPlane,
    name: String,
}

impl<'p> Namespace<'p> {
    #[track_caller]
    pub(crate) fn create(plane: &'p ControlPlane, prefix: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(1);
        let name = format!("{prefix}-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let object = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
        match plane.api.post("/api/v1/namespaces", &object) {
            Ok(reply) => drop(reply.success()),
            Err(error) => panic!("{error}"),
        }
        if plane.process_id(Part::ControllerManager).is_some() {
            wait::wait_until("the default service account", Duration::from_secs(30), || {
                plane.has_default_account(&name)
            });
        }
        Self { plane, name }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs kubectl as admin in this namespace.
    pub fn kubectl(&self, args: &[&str]) -> crate::Finished {
        let mut all = vec!["--namespace", self.name.as_str()];
        all.extend_from_slice(args);
        self.plane.kubectl(&all)
    }

    /// One value of an object of this namespace, by kubectl's JSONPath: `get("deployment/shop", ".status.phase")`.
    /// Empty when there is no such object or value.
    pub fn get(&self, object: &str, path: &str) -> String {
        self.kubectl(&["get", object, "--ignore-not-found", "-o", &format!("jsonpath={{{path}}}")]).stdout
    }
}

impl Drop for Namespace<'_> {
    fn drop(&mut self) {
        let _ = self.plane.api.delete(&format!("/api/v1/namespaces/{}", self.name));
    }
}
