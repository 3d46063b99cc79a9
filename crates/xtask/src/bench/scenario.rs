//! What is measured: which objects, how many, and what a tool is asked to do with them.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

/// A set of objects of some size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scenario {
    Deployments,
    Tenants,
    ConfigMaps,
}

impl Scenario {
    /// How the command and the part of the page are called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Deployments => "s1",
            Self::Tenants => "s3",
            Self::ConfigMaps => "s7",
        }
    }

    pub(super) fn counts(self) -> &'static [usize] {
        match self {
            Self::Deployments | Self::Tenants => &[1000],
            Self::ConfigMaps => &[1000, 10_000],
        }
    }

    pub(super) fn title(self, count: usize) -> String {
        match self {
            Self::Deployments => format!("{count} Deployments of one replica in one namespace"),
            Self::Tenants => format!("{count} namespaces, each with a custom object and a ConfigMap"),
            Self::ConfigMaps => format!("{count} ConfigMaps in one namespace, tracked"),
        }
    }

    /// Only what makes pods needs nodes for them.
    pub(super) fn nodes(self, count: usize) -> usize {
        match self {
            Self::Deployments => count.div_ceil(200).max(10),
            Self::Tenants | Self::ConfigMaps => 1,
        }
    }

    /// True when kubesettle keeps a record of the set.
    pub(super) fn is_tracked(self) -> bool {
        self == Self::ConfigMaps
    }

    fn objects(self, count: usize, mark: &str) -> Vec<Written> {
        let numbers = 0..count;
        match self {
            Self::Deployments => std::iter::once(namespace(0, mark))
                .chain(numbers.map(|number| deployment(&format!("web-{number:05}"), mark)))
                .collect(),
            Self::Tenants => std::iter::once(definition(mark))
                .chain(numbers.flat_map(|number| {
                    let name = format!("{mark}-{number:05}");
                    [namespace(1, &name), custom(mark, &name), config_map("settings", &name)]
                }))
                .collect(),
            Self::ConfigMaps => std::iter::once(namespace(0, mark))
                .chain(numbers.map(|number| config_map(&format!("settings-{number:05}"), mark)))
                .collect(),
        }
    }
}

/// The manifests of one turn.
#[derive(Debug)]
pub(super) struct Workload {
    /// A folder with one object per file.
    pub(super) dir: PathBuf,
    /// For the floor, which knows no kinds: stage, path on the server and file of each object.
    pub(super) index: PathBuf,
    /// The path whose Deployments the floor watches; empty when there are none.
    pub(super) watch: String,
    /// What the names of this turn begin with.
    pub(super) mark: String,
    /// Cluster-scoped objects that have to go afterwards, as paths.
    pub(super) leftovers: Vec<String>,
}

/// One object: when it may be written, where, and its text.
struct Written {
    stage: u8,
    path: String,
    text: String,
}

impl Workload {
    pub(super) fn write(
        scenario: Scenario,
        count: usize,
        root: PathBuf,
        mark: &str,
    ) -> Result<Self, Box<dyn Error>> {
        let dir = root.join("manifests");
        fs::create_dir_all(&dir)?;
        let mut index = String::new();
        let mut leftovers = Vec::new();
        for (number, Written { stage, path, text }) in scenario.objects(count, mark).into_iter().enumerate() {
            let file = dir.join(format!("{number:06}.yaml"));
            fs::write(&file, text)?;
            let _ = writeln!(index, "{stage}\t{path}\t{}", file.display());
            if !path.contains("/namespaces/") || path.matches('/').count() == 4 {
                leftovers.push(path);
            }
        }
        let watch = match scenario {
            Scenario::Deployments => format!("/apis/apps/v1/namespaces/{mark}/deployments"),
            Scenario::Tenants | Scenario::ConfigMaps => String::new(),
        };
        let workload = Self { dir, index: root.join("index.tsv"), watch, mark: mark.to_owned(), leftovers };
        fs::write(&workload.index, index)?;
        Ok(workload)
    }

    /// Adds the object in which the peer keeps its inventory.
    pub(super) fn add_inventory_template(&self) -> Result<(), Box<dyn Error>> {
        let name = format!("inventory-{}", self.mark);
        let text = format!(
            "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
  namespace: default
  labels:
    cli-utils.sigs.k8s.io/inventory-id: {name}
"
        );
        fs::write(self.dir.join("inventory.yaml"), text)?;
        Ok(())
    }
}

fn namespace(stage: u8, name: &str) -> Written {
    let path = format!("/api/v1/namespaces/{name}");
    Written { stage, path, text: format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n") }
}

fn config_map(name: &str, namespace: &str) -> Written {
    let path = format!("/api/v1/namespaces/{namespace}/configmaps/{name}");
    let text = format!(
        "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
  namespace: {namespace}
data:
  mode: quiet
"
    );
    Written { stage: 2, path, text }
}

/// A group of its own for every turn, so that no turn meets what another left behind.
fn definition(mark: &str) -> Written {
    let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tenants.{mark}.example");
    let text = format!(
        "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: tenants.{mark}.example
spec:
  group: {mark}.example
  names: {{plural: tenants, singular: tenant, kind: Tenant}}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              plan: {{type: string}}
"
    );
    Written { stage: 0, path, text }
}

fn custom(mark: &str, namespace: &str) -> Written {
    let path = format!("/apis/{mark}.example/v1/namespaces/{namespace}/tenants/main");
    let text = format!(
        "\
apiVersion: {mark}.example/v1
kind: Tenant
metadata:
  name: main
  namespace: {namespace}
spec:
  plan: small
"
    );
    Written { stage: 2, path, text }
}

fn deployment(name: &str, namespace: &str) -> Written {
    let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
    let text = format!(
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
    );
    Written { stage: 2, path, text }
}
