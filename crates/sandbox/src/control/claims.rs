//! Claims on volumes: bound to a volume that fits, or to one made by their class.

use serde_json::{Value, json};

use super::act::{self, event, is_terminating};
use super::{collect, wants};
use crate::json::{at, list, set, text};
use crate::store::{Key, Store};
use crate::write::{Propagation, delete_object};

const ID: &str = "persistentvolumeclaims";
const VOLUMES: &str = "persistentvolumes";
const CLASSES: &str = "storageclasses.storage.k8s.io";
const DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";
const COMPONENT: &str = "persistentvolume-controller";

pub(super) fn look(store: &mut Store, key: &Key) {
    let Some(claim) = store.value(ID, key) else { return };
    if is_terminating(&claim) {
        if !in_use(store, key) {
            release(store, &claim);
            collect::drop_finalizer(store, ID, key, "kubernetes.io/pvc-protection");
        }
        return;
    }
    if text(&claim, &["status", "phase"]) == "Bound" {
        return;
    }
    match volume(store, key, &claim) {
        Ok(volume) => bind(store, key, &claim, &volume),
        Err(Some((kind, reason, message))) => event(store, &claim, COMPONENT, kind, reason, &message),
        Err(None) => {}
    }
}

fn in_use(store: &Store, key: &Key) -> bool {
    let Some(pods) = store.resources.get("pods") else { return false };
    let range = pods
        .objects
        .range(Key::new(&key.namespace, "")..)
        .take_while(|(pod, _)| pod.namespace == key.namespace);
    range.map(|(_, pod)| pod.value()).any(|pod| wants::claims(&pod).any(|name| *name == *key.name))
}

type Problem = Option<(&'static str, &'static str, String)>;

/// The volume for a claim: one that is there, or a new one. `Err`: none for now, and what an Event says.
fn volume(store: &mut Store, key: &Key, claim: &Value) -> Result<Value, Problem> {
    let named = at(claim, &["spec", "storageClassName"]).as_str().map(str::to_owned);
    let class = named.clone().or_else(|| default_class(store));
    let there = store
        .resources
        .get(VOLUMES)
        .into_iter()
        .flat_map(|volumes| volumes.objects.values())
        .map(|volume| volume.value());
    let fits = |volume: &Value| {
        text(volume, &["status", "phase"]) == "Available"
            && text(volume, &["spec", "storageClassName"]) == class.as_deref().unwrap_or_default()
    };
    if let Some(volume) = there.into_iter().find(fits) {
        return Ok(volume);
    }
    let Some(class) = class.filter(|class| !class.is_empty()) else {
        let message = "no persistent volumes available for this claim and no storage class is set";
        return Err(Some(("Normal", "FailedBinding", message.to_owned())));
    };
    let Some(definition) = store.value(CLASSES, &Key::new("", &class)) else {
        let message = format!("storageclass.storage.k8s.io \"{class}\" not found");
        return Err(Some(("Warning", "ProvisioningFailed", message)));
    };
    let waits = text(&definition, &["volumeBindingMode"]) == "WaitForFirstConsumer";
    if waits && !in_use(store, key) {
        let message = "waiting for first consumer to be created before binding";
        return Err(Some(("Normal", "WaitForFirstConsumer", message.to_owned())));
    }
    let name = format!("pvc-{}", text(claim, &["metadata", "uid"]));
    let volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": { "name": name },
        "spec": {
            "capacity": at(claim, &["spec", "resources", "requests"]), "accessModes": at(claim, &["spec", "accessModes"]),
            "storageClassName": class, "persistentVolumeReclaimPolicy": text(&definition, &["reclaimPolicy"]),
            "csi": { "driver": text(&definition, &["provisioner"]), "volumeHandle": name },
        },
    });
    act::create(store, VOLUMES, "csi-provisioner", volume).ok_or(None)?;
    store.value(VOLUMES, &Key::new("", &name)).ok_or(None)
}

fn default_class(store: &Store) -> Option<String> {
    let classes = store.resources.get(CLASSES)?.objects.values().map(|class| class.value());
    let mut default = classes.filter(|class| text(class, &["metadata", "annotations", DEFAULT]) == "true");
    default.next().map(|class| text(&class, &["metadata", "name"]).to_owned())
}

fn bind(store: &mut Store, key: &Key, claim: &Value, volume: &Value) {
    let name = text(volume, &["metadata", "name"]);
    let mut bound = volume.clone();
    set(
        &mut bound,
        &["spec", "claimRef"],
        json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": &*key.name, "namespace": &*key.namespace,
            "uid": claim["metadata"]["uid"],
        }),
    );
    set(&mut bound, &["status", "phase"], "Bound");
    store.put(VOLUMES, bound);
    let mut claim = claim.clone();
    set(&mut claim, &["spec", "volumeName"], name);
    set(&mut claim, &["spec", "storageClassName"], text(volume, &["spec", "storageClassName"]));
    set(&mut claim, &["metadata", "annotations", "pv.kubernetes.io/bind-completed"], "yes");
    set(
        &mut claim,
        &["status"],
        json!({
            "phase": "Bound", "accessModes": at(volume, &["spec", "accessModes"]), "capacity": at(volume, &["spec", "capacity"]),
        }),
    );
    store.put(ID, claim);
    let waiting: Vec<Key> = store
        .resources
        .get("pods")
        .into_iter()
        .flat_map(|pods| {
            pods.objects
                .range(Key::new(&key.namespace, "")..)
                .take_while(|(pod, _)| pod.namespace == key.namespace)
        })
        .map(|(pod, _)| pod.clone())
        .collect();
    for pod in waiting {
        store.soon("pods", &pod);
    }
}

/// A claim that goes leaves its volume, or takes it along.
fn release(store: &mut Store, claim: &Value) {
    let key = Key::new("", text(claim, &["spec", "volumeName"]));
    let Some(mut volume) = store.value(VOLUMES, &key) else { return };
    if text(&volume, &["spec", "persistentVolumeReclaimPolicy"]) == "Delete"
        && list(&volume, &["metadata", "finalizers"]).is_empty()
    {
        delete_object(store, VOLUMES, &key, Propagation::Background, None);
        return;
    }
    set(&mut volume, &["status", "phase"], "Released");
    store.put(VOLUMES, volume);
}
