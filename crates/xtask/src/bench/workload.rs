//! The manifests of one turn: a namespace and many small Deployments.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of manifests, one object per file, named `KIND.NAME.yaml`.
#[derive(Debug)]
pub(super) struct Workload {
    pub(super) dir: PathBuf,
    pub(super) namespace: String,
}

impl Workload {
    pub(super) fn write(dir: PathBuf, namespace: &str, count: usize) -> Result<Self, Box<dyn Error>> {
        fs::create_dir_all(&dir)?;
        let workload = Self { dir, namespace: namespace.to_owned() };
        workload.file(
            &format!("namespace.{namespace}"),
            &format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {namespace}\n"),
        )?;
        for number in 0..count {
            let name = format!("web-{number:05}");
            workload.file(&format!("deployment.{name}"), &deployment(&name, namespace))?;
        }
        Ok(workload)
    }

    /// Adds the object in which the peer keeps its inventory.
    pub(super) fn add_inventory_template(&self) -> Result<(), Box<dyn Error>> {
        let name = format!("inventory-{}", self.namespace);
        self.file(
            &format!("configmap.{name}"),
            &format!(
                "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
  namespace: default
  labels:
    cli-utils.sigs.k8s.io/inventory-id: {name}
"
            ),
        )
    }

    fn file(&self, name: &str, text: &str) -> Result<(), Box<dyn Error>> {
        let path: &Path = &self.dir.join(format!("{name}.yaml"));
        fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()).into())
    }
}

fn deployment(name: &str, namespace: &str) -> String {
    format!(
        "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  namespace: {namespace}
  labels:
    app: {name}
spec:
  replicas: 1
  selector:
    matchLabels:
      app: {name}
  template:
    metadata:
      labels:
        app: {name}
    spec:
      containers:
      - name: main
        image: registry.example/web:1
        resources:
          requests:
            cpu: 10m
            memory: 16Mi
"
    )
}
