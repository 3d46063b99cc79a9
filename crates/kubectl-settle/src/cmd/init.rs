//! `init`: write an inventory template. Needs no cluster.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, absolute};

use jiff::Timestamp;
use kubesettle::cluster::Config;
use kubesettle::error::ExitClass;
use kubesettle::id::GroupKind;
use kubesettle::inventory::{TEMPLATE_FILE, template};
use kubesettle::manifest::{InvalidPolicy, LoadOptions, Manifests, Scope, Source};

use super::Stop;
use crate::exit::Failure;
use crate::files;
use crate::print::{self, Page};
use crate::settings::Init;

/// Kinds of every cluster whose objects live in no namespace: group and kinds.
const CLUSTER_SCOPED: &[(&str, &[&str])] = &[
    ("", &["Namespace", "Node", "PersistentVolume", "ComponentStatus"]),
    (
        "admissionregistration.k8s.io",
        &[
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        ],
    ),
    ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["APIService"]),
    ("certificates.k8s.io", &["CertificateSigningRequest", "ClusterTrustBundle"]),
    ("flowcontrol.apiserver.k8s.io", &["FlowSchema", "PriorityLevelConfiguration"]),
    ("networking.k8s.io", &["IPAddress", "IngressClass", "ServiceCIDR"]),
    ("node.k8s.io", &["RuntimeClass"]),
    ("policy", &["PodSecurityPolicy"]),
    ("rbac.authorization.k8s.io", &["ClusterRole", "ClusterRoleBinding"]),
    ("resource.k8s.io", &["DeviceClass", "DeviceTaintRule", "ResourceSlice"]),
    ("scheduling.k8s.io", &["PriorityClass"]),
    (
        "storage.k8s.io",
        &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"],
    ),
];

/// Writes the template.
pub(crate) fn run(init: &Init, page: &mut Page) -> Result<ExitClass, Stop> {
    let folder = &init.directory;
    if !folder.is_dir() {
        return Err(Failure::usage(format!("{} is no folder", folder.display())).into());
    }
    let file = absolute(folder).unwrap_or_else(|_| folder.clone()).join(TEMPLATE_FILE);
    let namespace = namespace(init, page)?;
    let chance = RandomState::new();
    let id = init.id.clone().unwrap_or_else(|| random_uuid(&chance));
    let suffix = (chance.hash_one(2_u8) >> 32) as u32;
    let date = Timestamp::now().strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    let text = template(&namespace, suffix, &id, &date).map_err(|error| Failure::usage(error.to_string()))?;
    page.out.push_str(&format!("namespace: {namespace} is used for inventory object\n"));
    files::create(&file, &text)?;
    page.out.push_str(&format!("Initialized: {}\n", file.display()));
    Ok(ExitClass::Ok)
}

/// The one that was asked for, else the one that all objects share, else that of the context.
fn namespace(init: &Init, page: &mut Page) -> Result<String, Stop> {
    if let Some(namespace) = &init.cluster.namespace {
        return Ok(namespace.clone());
    }
    if let Some(namespace) = shared(&init.directory, page)? {
        return Ok(namespace);
    }
    let asked = &init.cluster;
    let named = asked.context.is_some() || asked.kubeconfig.is_some() || asked.cluster.is_some();
    match Config::load(&init.cluster) {
        Ok(config) => Ok(config.default_namespace().to_owned()),
        Err(error) if named => Err(Failure::from(error).into()),
        // Without any kubeconfig it is that of every new one.
        Err(_) => Ok("default".to_owned()),
    }
}

fn shared(folder: &Path, page: &mut Page) -> Result<Option<String>, Stop> {
    let mut options = LoadOptions::default();
    options.invalid = InvalidPolicy::Skip;
    options.allow_empty = true;
    let source = Source::Path { path: folder.to_owned(), recursive: true };
    let manifests = Manifests::load(&[source], &options)
        .map_err(|error| Stop::Input { problems: error.into_problems(), besides: None })?;
    print::problems(manifests.problems(), false, page);
    let crds = || manifests.objects().iter().filter_map(|object| object.crd());
    let has_none = |kind: &GroupKind| {
        let built_in = CLUSTER_SCOPED.iter().filter(|(group, _)| *group == kind.group());
        built_in.flat_map(|(_, kinds)| *kinds).any(|known| *known == kind.kind())
            || crds().any(|crd| crd.group_kind() == kind && crd.scope() == Scope::Cluster)
    };
    let objects = manifests.objects().iter().filter(|object| !has_none(object.group_kind()));
    let mut namespaces: Vec<&str> = objects.map(|object| object.id().namespace()).collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    Ok(match namespaces.as_slice() {
        [one] if !one.is_empty() => Some((*one).to_owned()),
        _ => None,
    })
}

/// A random UUID, version 4.
fn random_uuid(chance: &RandomState) -> String {
    let (high, low) = (chance.hash_one(0_u8), chance.hash_one(1_u8));
    let high = high & !0xf000 | 0x4000;
    let low = low & !(0b11 << 62) | 0b10 << 62;
    let all = format!("{high:016x}{low:016x}");
    format!("{}-{}-{}-{}-{}", &all[..8], &all[8..12], &all[12..16], &all[16..20], &all[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_ids_are_uuids_and_differ() {
        let (one, two) = (random_uuid(&RandomState::new()), random_uuid(&RandomState::new()));
        assert_ne!(one, two);
        assert_eq!((one.len(), &one[14..15], one.matches('-').count()), (36, "4", 4));
        assert!("89ab".contains(&one[19..20]), "{one}");
    }
}
