use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Clone, Debug, Args)]
pub(crate) struct InitArgs {
    /// The folder to write inventory-template.yaml in
    #[arg(value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub(crate) directory: PathBuf,
    /// The id that marks all objects of the set [default: a random one]
    #[arg(long, short, value_name = "ID")]
    pub(crate) inventory_id: Option<String>,
}
