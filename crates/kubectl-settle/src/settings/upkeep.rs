//! What `init` and `inventory` mean.

use std::path::PathBuf;

use kubesettle::cluster::ConfigOptions;

use crate::args::{InitArgs, InventoryArgs, InventoryCommand};

/// A template to be written.
#[derive(Debug)]
pub(crate) struct Init {
    pub(crate) cluster: ConfigOptions,
    pub(crate) directory: PathBuf,
    pub(crate) id: Option<String>,
}

/// What is to be done with a record, or with all.
#[derive(Debug)]
pub(crate) struct Upkeep {
    pub(crate) cluster: ConfigOptions,
    pub(crate) what: InventoryCommand,
    /// Who we are: user and host.
    pub(crate) me: (String, String),
}

pub(super) fn init(args: InitArgs, cluster: ConfigOptions) -> Init {
    Init { cluster, directory: args.directory, id: args.inventory_id }
}

pub(super) fn upkeep(args: InventoryArgs, cluster: ConfigOptions, me: (String, String)) -> Upkeep {
    Upkeep { cluster, what: args.command, me }
}
