use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::values::{GoDuration, go_bool};

#[derive(Clone, Debug, Args)]
pub(crate) struct InitArgs {
    /// The folder to write inventory-template.yaml in
    #[arg(value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub(crate) directory: PathBuf,
    /// The id that marks all objects of the set [default: a random one]
    #[arg(long, short, value_name = "ID")]
    pub(crate) inventory_id: Option<String>,
}

#[derive(Clone, Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct InventoryArgs {
    #[command(subcommand)]
    pub(crate) command: InventoryCommand,
}

/// What is done with the record of a set.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum InventoryCommand {
    /// List the sets of a namespace, or of all
    List {
        /// Of all namespaces
        #[arg(
            long, short = 'A', value_name = "BOOL",
            num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
        )]
        all_namespaces: Option<bool>,
    },
    /// List the objects that a set has on record
    Show(WhichArgs),
    /// Drop one line of a record; the object that it names, if any, stays on the cluster
    Forget {
        #[command(flatten)]
        which: WhichArgs,
        /// The line's key, as `show` and error messages have it
        #[arg(long, value_name = "KEY")]
        line: String,
    },
    /// Make one of two records that have the same id, and remove the other
    Adopt {
        #[command(flatten)]
        which: WhichArgs,
        /// The ConfigMap, in the same namespace, whose objects are taken over
        #[arg(long, value_name = "NAME")]
        from: String,
    },
    /// Find the objects of a set by their annotation, and put those on record that are missing
    Rebuild(WhichArgs),
}

/// Whose record.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WhichArgs {
    /// The name of the set, which is that of its ConfigMap
    #[arg(long, value_name = "NAME", required_unless_present = "directory")]
    pub(crate) set: Option<String>,
    /// How long to wait for a run of the same set [default: 0]
    #[arg(long, value_name = "DURATION")]
    pub(crate) lock_timeout: Option<GoDuration>,
    /// A folder with an inventory template, instead of the name
    #[arg(value_name = "DIRECTORY", value_hint = ValueHint::DirPath, conflicts_with = "set")]
    pub(crate) directory: Option<PathBuf>,
}
