//! What `init` means.

use std::path::PathBuf;

use kubesettle::cluster::ConfigOptions;

use crate::args::InitArgs;

/// A template to be written.
#[derive(Debug)]
pub(crate) struct Init {
    pub(crate) cluster: ConfigOptions,
    pub(crate) directory: PathBuf,
    pub(crate) id: Option<String>,
}

pub(super) fn init(args: InitArgs, cluster: ConfigOptions) -> Init {
    Init { cluster, directory: args.directory, id: args.inventory_id }
}
