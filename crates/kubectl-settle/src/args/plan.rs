use clap::Args;

use super::commands::{InputArgs, PruneArgs, SetArgs};
use super::values::{DryRunArg, GoDuration, Validate, go_bool, validate};

/// How objects are written.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WriteArgs {
    /// Take over fields that other field managers own
    #[arg(
        long, value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) force_conflicts: Option<bool>,
    /// The name under which fields are owned [default: kubesettle; kubectl under the name kapply]
    #[arg(long, value_name = "NAME")]
    pub(crate) field_manager: Option<String>,
    /// What to do about unknown and duplicate fields: strict, warn or ignore [default: strict]
    #[arg(
        long, value_name = "HOW",
        num_args = 0..=1, require_equals = true, default_missing_value = "strict", value_parser = validate
    )]
    pub(crate) validate: Option<Validate>,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) set: SetArgs,
    #[command(flatten)]
    pub(crate) prune: PruneArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
    /// Show what destroy would do
    #[arg(
        long, value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) destroy: Option<bool>,
    /// Who says what would be done: server (every request is sent, nothing is stored) or client (only by
    /// what exists) [default: server; client under the name kapply]
    #[arg(long, value_name = "WHO")]
    pub(crate) dry_run: Option<DryRunArg>,
    /// The same as --dry-run=server, or with false as --dry-run=client
    #[arg(
        long, value_name = "BOOL", hide_short_help = true,
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) server_side: Option<bool>,
    /// How long everything may take, such as 1m30s (0: no limit) [default: 0]
    #[arg(long, value_name = "DURATION")]
    pub(crate) timeout: Option<GoDuration>,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Compare with the objects as the set of this name has them
    #[arg(long, value_name = "NAME")]
    pub(crate) set: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}
