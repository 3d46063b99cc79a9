//! A runtime, and a cluster.

use kubesettle::cluster::{Cluster, Config};
use kubesettle::error::ExitClass;

use super::Stop;
use super::signals::Signals;
use crate::exit::Failure;

/// Does some work on a runtime of its own.
pub(super) fn run<T>(work: impl Future<Output = Result<T, Stop>>) -> Result<T, Stop> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime
        .map_err(|error| Failure::new(ExitClass::Internal, format!("the runtime does not start: {error}")))?;
    let result = runtime.block_on(work);
    // Requests under way are not waited for: a second signal means now.
    runtime.shutdown_background();
    result
}

/// Reaches the cluster, unless a person has had enough.
pub(super) async fn connect(config: Config, signals: &mut Signals) -> Result<Cluster, Failure> {
    tokio::select! {
        cluster = Cluster::connect(config) => Ok(cluster?),
        () = signals.next() => {
            Err(Failure::new(ExitClass::Interrupted, "interrupted; nothing was written"))
        }
    }
}
