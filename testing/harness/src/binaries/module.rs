//! Which program comes from which Go module, and how it is built.

use std::path::{Path, PathBuf};

/// Kubernetes reports this version; it is the one that `testing/control-plane/go.mod` pins.
const KUBERNETES: &str = "v1.36.3";

/// A program that tests run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are the names of the programs")]
pub enum Binary {
    Etcd,
    KubeApiserver,
    KubeControllerManager,
    KubeScheduler,
    Kubectl,
    Kwok,
    /// The CLI of cli-utils, the tool that kubesettle is measured against.
    Kapply,
    /// The bare client that a benchmark starts from.
    Floor,
    /// What the Go library kstatus says about objects, line by line.
    Oracle,
    /// Follows objects with the status watcher of cli-utils.
    Watcher,
}

impl Binary {
    pub(super) const ALL: [Self; 10] = [
        Self::Etcd,
        Self::KubeApiserver,
        Self::KubeControllerManager,
        Self::KubeScheduler,
        Self::Kubectl,
        Self::Kwok,
        Self::Kapply,
        Self::Floor,
        Self::Oracle,
        Self::Watcher,
    ];

    /// The file name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver => "kube-apiserver",
            Self::KubeControllerManager => "kube-controller-manager",
            Self::KubeScheduler => "kube-scheduler",
            Self::Kubectl => "kubectl",
            Self::Kwok => "kwok",
            Self::Kapply => "kapply",
            Self::Floor => "floor",
            Self::Oracle => "oracle",
            Self::Watcher => "watcher",
        }
    }

    /// The module that pins it.
    pub fn module(self) -> Module {
        match self {
            Self::Etcd => Module::Etcd,
            Self::KubeApiserver | Self::KubeControllerManager | Self::KubeScheduler | Self::Kubectl => {
                Module::ControlPlane
            }
            Self::Kwok => Module::Kwok,
            Self::Kapply | Self::Floor | Self::Oracle | Self::Watcher => Module::Peers,
        }
    }

    /// The Go package with its `main`.
    pub(super) fn package(self) -> &'static str {
        match self {
            Self::Etcd => "go.etcd.io/etcd/server/v3",
            Self::KubeApiserver => "k8s.io/kubernetes/cmd/kube-apiserver",
            Self::KubeControllerManager => "k8s.io/kubernetes/cmd/kube-controller-manager",
            Self::KubeScheduler => "k8s.io/kubernetes/cmd/kube-scheduler",
            Self::Kubectl => "k8s.io/kubernetes/cmd/kubectl",
            Self::Kwok => "sigs.k8s.io/kwok/cmd/kwok",
            Self::Kapply => "sigs.k8s.io/cli-utils/cmd",
            Self::Floor => "./floor",
            Self::Oracle => "./oracle",
            Self::Watcher => "./watcher",
        }
    }
}

/// A Go module under `testing/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are the names of the folders")]
pub enum Module {
    ControlPlane,
    Etcd,
    Kwok,
    Peers,
}

impl Module {
    /// Those without which no control plane starts.
    pub const CONTROL_PLANE: [Self; 3] = [Self::ControlPlane, Self::Etcd, Self::Kwok];

    /// Every module.
    pub const ALL: [Self; 4] = [Self::ControlPlane, Self::Etcd, Self::Kwok, Self::Peers];

    /// The name of its folder.
    pub fn name(self) -> &'static str {
        match self {
            Self::ControlPlane => "control-plane",
            Self::Etcd => "etcd",
            Self::Kwok => "kwok",
            Self::Peers => "peers",
        }
    }

    /// Its folder in the source tree.
    pub fn dir(self) -> PathBuf {
        testing_dir().join(self.name())
    }

    /// About how long a first build takes on two cores.
    pub(super) fn minutes(self) -> u32 {
        match self {
            Self::ControlPlane => 6,
            Self::Etcd | Self::Kwok | Self::Peers => 2,
        }
    }

    pub(super) fn binaries(self) -> impl Iterator<Item = Binary> {
        Binary::ALL.into_iter().filter(move |binary| binary.module() == self)
    }

    pub(super) fn link_flags(self) -> String {
        match self {
            // Without these the server says that it is v0.0.0.
            Self::ControlPlane => {
                let mut parts = KUBERNETES.trim_start_matches('v').split('.');
                let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                let package = "k8s.io/component-base/version";
                format!(
                    "-s -w -X {package}.gitVersion={KUBERNETES} -X {package}.gitMajor={major} -X {package}.gitMinor={minor}"
                )
            }
            Self::Etcd | Self::Kwok | Self::Peers => "-s -w".to_owned(),
        }
    }
}

/// The folder `testing/` of the source tree this crate was built from.
pub(crate) fn testing_dir() -> PathBuf {
    let harness = Path::new(env!("CARGO_MANIFEST_DIR"));
    harness.parent().unwrap_or(harness).to_path_buf()
}
