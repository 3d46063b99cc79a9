//! Options of a control plane.

use std::path::PathBuf;

use super::{ControlPlane, start};
use crate::Error;
use crate::binaries::testing_dir;

/// What to start. Every part and three nodes, unless said otherwise.
#[derive(Debug, Clone)]
pub struct Builder {
    pub(super) nodes: usize,
    pub(super) stages: PathBuf,
    pub(super) kwok: bool,
    pub(super) controllers: bool,
    pub(super) api_flags: Vec<String>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            nodes: 3,
            stages: testing_dir().join("kwok").join("stages.yaml"),
            kwok: true,
            controllers: true,
            api_flags: Vec::new(),
        }
    }
}

impl Builder {
    /// How many fake nodes to make; each takes 250 pods.
    pub fn nodes(mut self, nodes: usize) -> Self {
        self.nodes = nodes;
        self
    }

    /// A file with kwok's Pod stages instead of `testing/kwok/stages.yaml`.
    pub fn kwok_stages(mut self, file: impl Into<PathBuf>) -> Self {
        self.stages = file.into();
        self
    }

    /// No fake kubelet and no nodes: pods stay unscheduled.
    pub fn without_kwok(mut self) -> Self {
        self.kwok = false;
        self.nodes = 0;
        self
    }

    /// No controller-manager, no scheduler, no nodes: nothing changes but by the test's own requests.
    pub fn without_controllers(mut self) -> Self {
        self.controllers = false;
        self.without_kwok()
    }

    /// One more flag of kube-apiserver, such as `--feature-gates=WatchList=false`.
    pub fn api_flag(mut self, flag: impl Into<String>) -> Self {
        self.api_flags.push(flag.into());
        self
    }

    /// Starts it, and returns when it serves, its nodes are ready and the default service account
    /// exists: a few seconds, plus minutes when the binaries have to be built first.
    pub fn start(self) -> Result<ControlPlane, Error> {
        start::start(&self)
    }
}
