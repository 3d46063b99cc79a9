use std::path::PathBuf;

use clap::{Args, Command, ValueHint};

use super::commands::{ApplyArgs, InputArgs, PickArgs};
use super::values::{Validate, go_bool, validate};

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

/// A plan takes every flag that apply takes, so that one line of flags serves both.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) apply: ApplyArgs,
    /// Show what destroy would do
    #[arg(
        long, value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) destroy: Option<bool>,
    /// Save the plan in this file, for `apply FILE`: that does exactly this, or refuses when anything has
    /// moved since
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
}

/// What two flags of apply mean in a plan.
pub(super) fn in_plan(command: Command) -> Command {
    command
        .mut_arg("dry_run", |arg| {
            arg.help(
                "Who says what would be done: server (every request is sent, nothing is stored) or client \
                 (only by what exists) [default: server; client under the name kapply]",
            )
        })
        .mut_arg("server_side", |arg| {
            arg.help("The same as --dry-run=server, or with false as --dry-run=client")
        })
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) pick: PickArgs,
    /// Compare with the objects as the set of this name has them
    #[arg(long, value_name = "NAME")]
    pub(crate) set: Option<String>,
    /// Compare with the objects as this ApplySet has them, named as with apply
    #[arg(long, value_name = "[RESOURCE[.GROUP]/]NAME", conflicts_with = "set")]
    pub(crate) applyset: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}
