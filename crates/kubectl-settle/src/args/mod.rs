//! What was typed. Nothing here has a meaning yet: `settings` gives it one.

mod cluster;
mod commands;
mod look;
mod plan;
mod upkeep;
mod values;
mod view;
mod watch;

use std::ffi::OsString;
use std::path::Path;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

pub(crate) use cluster::ClusterArgs;
pub(crate) use commands::{
    ApplyArgs, CompletionArgs, DestroyArgs, HelpArgs, InputArgs, PickArgs, PruneArgs, RecreateArgs, SetArgs,
    StatusArgs, WaitArgs,
};
pub(crate) use look::{InvType, LookArgs};
pub(crate) use plan::{DiffArgs, PlanArgs, WriteArgs};
pub(crate) use upkeep::{InitArgs, InventoryArgs, InventoryCommand, WhichArgs};
pub(crate) use values::{
    Cascade, Color, DryRunArg, GoDuration, Output, Until, Validate, cascade, go_bool, validate, validate_word,
};
pub(crate) use view::ViewArgs;
pub(crate) use watch::{WatchArgs, watch_scope};

/// Applies Kubernetes objects and says truthfully when they have settled, or why they do not.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-settle",
    version,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    subcommand_required = true,
    after_help = AFTER_HELP
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

const AFTER_HELP: &str = "\
Defaults can be set in the environment; a flag wins over them:
  KUBESETTLE_OUTPUT, KUBESETTLE_COLOR, KUBESETTLE_TIMEOUT, KUBESETTLE_RECONCILE_TIMEOUT,
  KUBESETTLE_FIELD_MANAGER, KUBESETTLE_FORCE_CONFLICTS, KUBESETTLE_VALIDATE, KUBESETTLE_CASCADE,
  KUBESETTLE_WAIT, KUBESETTLE_SKIP_INVALID, KUBESETTLE_DELETE_TIMEOUT,
  KUBESETTLE_INVENTORY_POLICY, KUBESETTLE_LOCK_TIMEOUT, KUBESETTLE_PRUNE_MAX, KUBESETTLE_PRUNE_TIMEOUT,
  KUBESETTLE_RECORD_STATUS, KUBESETTLE_WATCH_SCOPE, KUBESETTLE_RETRY_FOR

Topics: `help exit-codes`, `help events`, `help dumps`, `help custom-rules`";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Apply objects and wait until they have settled
    Apply(ApplyArgs),
    /// Delete objects and wait until they are gone
    Destroy(DestroyArgs),
    /// Show what apply (or destroy) would do, and write nothing
    #[command(visible_alias = "preview")]
    Plan(PlanArgs),
    /// Show how objects would change; the exit code is 1 if they would
    Diff(DiffArgs),
    /// Show the state of objects, once or until a condition is met
    Status(StatusArgs),
    /// Write an inventory template, which makes a folder a set; needs no cluster
    Init(InitArgs),
    /// Look after the records of sets
    Inventory(InventoryArgs),
    /// Print the version of this program
    Version,
    /// Print a shell completion script
    Completion(CompletionArgs),
    /// Show help for a command or a topic
    Help(HelpArgs),
}

/// In whose place the program was called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// In its own.
    #[default]
    Settle,
    /// In that of kapply: a link of that name leads to it. Its defaults and exit codes hold then.
    Kapply,
}

impl Role {
    /// By the name that the program was called by.
    pub(crate) fn of(called_as: Option<&OsString>) -> Self {
        match called_as.and_then(|name| Path::new(name).file_stem()) {
            Some(stem) if stem == "kapply" => Self::Kapply,
            _ => Self::Settle,
        }
    }
}

/// The command line as clap knows it, under the name a person called it by.
pub(crate) fn definition(called_as: Option<&OsString>) -> clap::Command {
    let command =
        Cli::command().mut_subcommand("plan", plan::in_plan).mut_subcommand("status", commands::in_status);
    if Role::of(called_as) == Role::Kapply {
        return command.name("kapply").bin_name("kapply");
    }
    match called_as.and_then(|name| Path::new(name).file_stem()) {
        Some(stem) if stem == "kubectl-settle" => command.bin_name("kubectl settle"),
        _ => command,
    }
}

/// Reads a command line whose first word is the program.
pub(crate) fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = definition(words.first());
    let matches = command.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn apply(line: &str) -> ApplyArgs {
        match parse(&words(line)).expect("valid").command {
            Command::Apply(args) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_definition_has_no_contradictions() {
        definition(None).debug_assert();
    }

    #[test]
    fn a_plugin_is_shown_as_kubectl_shows_it() {
        for name in ["/usr/local/bin/kubectl-settle", "kubectl-settle", "kubectl-settle.exe"] {
            let help = definition(Some(&name.into())).render_help().to_string();
            assert!(help.contains("Usage: kubectl settle"), "{name}: {help}");
        }
        let error = parse(&words("/bin/kubectl-settle apply --bogus")).expect_err("unknown flag");
        assert!(error.to_string().contains("Usage: kubectl settle apply"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn booleans_are_written_as_kubectl_takes_them() {
        let args = apply("kubectl-settle apply --server-side --force-conflicts=false --wait=0 -R -f x");
        assert_eq!(args.server_side, Some(true));
        assert_eq!(args.write.force_conflicts, Some(false));
        assert_eq!(args.wait.wait, Some(false));
        assert_eq!(args.input.recursive, Some(true));
        assert!(parse(&words("kubectl-settle apply --wait=maybe")).is_err());
    }

    #[test]
    fn validate_and_cascade_have_a_value_of_their_own() {
        assert_eq!(apply("s apply --validate -f x").write.validate, Some(Validate::Strict));
        assert_eq!(apply("s apply --validate=false").write.validate, Some(Validate::Ignore));
        assert_eq!(apply("s apply --validate=warn").write.validate, Some(Validate::Warn));
        let parsed = parse(&words("s destroy --cascade=Foreground -f x")).expect("valid");
        let Command::Destroy(args) = parsed.command else { panic!() };
        assert_eq!(args.cascade, Some(Cascade::Foreground));
    }

    #[test]
    fn flags_of_the_cluster_stand_before_or_after_the_command() {
        for line in ["s -n shop apply -f x", "s apply -n shop -f x", "s apply -f x --namespace=shop"] {
            let cli = parse(&words(line)).expect("valid");
            assert_eq!(cli.cluster.namespace.as_deref(), Some("shop"), "{line}");
        }
    }

    #[test]
    fn files_repeat_and_a_folder_may_stand_alone() {
        let args = apply("s apply -f a.yaml -f - --filename=b,c dir");
        assert_eq!(args.input.filename, ["a.yaml", "-", "b", "c"]);
        assert_eq!(args.input.directory, Some("dir".into()));
    }

    #[test]
    fn verbosity_takes_a_number_as_kubectl_does_or_none() {
        let level = |line: &str| parse(&words(line)).expect("valid").view.verbosity;
        assert_eq!(level("s version"), None);
        assert_eq!(level("s version -v"), Some(1));
        assert_eq!(level("s version -v=6"), Some(6));
        assert_eq!(level("s version --v=4"), Some(4));
    }
}
