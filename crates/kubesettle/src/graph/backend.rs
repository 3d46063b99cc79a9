//! The workloads behind a Service, by its selector. Read from the bodies only when something needs
//! the Service to answer.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use crate::manifest::Object;

type Labels = BTreeMap<String, String>;

pub(super) struct Backends<'a> {
    objects: &'a [Object],
    /// By namespace; `None` when nothing is to be inferred.
    workloads: Option<HashMap<&'a str, Vec<u32>>>,
    /// By node of the Service.
    known: HashMap<u32, Vec<u32>>,
}

/// Kinds that keep pods running, all with a pod template.
const WORKLOADS: [(&str, &str); 4] =
    [("apps", "DaemonSet"), ("apps", "Deployment"), ("apps", "ReplicaSet"), ("apps", "StatefulSet")];

impl<'a> Backends<'a> {
    pub(super) fn new(objects: &'a [Object], wanted: bool) -> Self {
        Self { objects, workloads: wanted.then(HashMap::new), known: HashMap::new() }
    }

    /// The workloads whose pods the Service at that node selects.
    pub(super) fn of(&mut self, service: u32) -> Vec<u32> {
        if let Some(known) = self.known.get(&service) {
            return known.clone();
        }
        let found = self.find(service).unwrap_or_default();
        self.known.insert(service, found.clone());
        found
    }

    fn find(&mut self, service: u32) -> Option<Vec<u32>> {
        let object = self.objects.get(service as usize)?;
        let selector = selector(object.json()).filter(|selector| !selector.is_empty())?;
        let workloads = self.workloads.as_mut()?;
        if workloads.is_empty() {
            for (node, object) in (0..).zip(self.objects) {
                if WORKLOADS.contains(&(object.id().group(), object.id().kind())) {
                    workloads.entry(object.id().namespace()).or_default().push(node);
                }
            }
        }
        let beside = workloads.get(object.id().namespace())?;
        let selected = |node: &u32| {
            let labels = self.objects.get(*node as usize).and_then(|object| template_labels(object.json()));
            labels.is_some_and(|labels| selector.iter().all(|(key, value)| labels.get(key) == Some(value)))
        };
        Some(beside.iter().copied().filter(selected).collect())
    }
}

fn selector(json: &[u8]) -> Option<Labels> {
    #[derive(Deserialize)]
    struct Service {
        spec: Spec,
    }
    #[derive(Deserialize)]
    struct Spec {
        selector: Option<Labels>,
    }
    serde_json::from_slice::<Service>(json).ok()?.spec.selector
}

fn template_labels(json: &[u8]) -> Option<Labels> {
    #[derive(Deserialize)]
    struct Workload {
        spec: Spec,
    }
    #[derive(Deserialize)]
    struct Spec {
        template: Template,
    }
    #[derive(Deserialize)]
    struct Template {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        labels: Labels,
    }
    Some(serde_json::from_slice::<Workload>(json).ok()?.spec.template.metadata.labels)
}
