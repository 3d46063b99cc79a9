//! What a sandbox is built with.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The date at the start, since 1970.
    pub(crate) epoch: Duration,
    pub(crate) seed: u64,
    /// Events kept for each resource.
    pub(crate) history: usize,
    /// How long controllers take to notice a change.
    pub(crate) step: Duration,
    pub(crate) workloads: bool,
    pub(crate) collector: bool,
    pub(crate) namespaces: bool,
    /// New namespaces get a service account and the cluster's certificates.
    pub(crate) furnish: bool,
    pub(crate) volumes: bool,
    pub(crate) crds: bool,
    /// From the creation of a CRD until it is `Established`.
    pub(crate) crd_established: Duration,
    /// From then on until its kind is served.
    pub(crate) crd_served: Duration,
    /// The first LIST or WATCH of a new or changed custom resource is answered with 429.
    pub(crate) crd_reinitializing: bool,
    /// From the deletion of a namespace until its content is removed.
    pub(crate) namespace_sweep: Duration,
    /// Watches with `sendInitialEvents` are understood.
    pub(crate) streaming_lists: bool,
    /// Discovery in one document is understood.
    pub(crate) aggregated_discovery: bool,
    pub(crate) nodes: usize,
    pub(crate) node_cpu_millis: u64,
    pub(crate) bookmark: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            epoch: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            seed: 1,
            history: 20_000,
            step: Duration::from_millis(5),
            workloads: true,
            collector: true,
            namespaces: true,
            furnish: false,
            volumes: true,
            crds: true,
            crd_established: Duration::from_millis(50),
            crd_served: Duration::from_millis(10),
            crd_reinitializing: false,
            namespace_sweep: Duration::from_secs(5),
            streaming_lists: true,
            aggregated_discovery: true,
            nodes: 3,
            node_cpu_millis: 32_000,
            bookmark: Duration::from_secs(60),
        }
    }
}
