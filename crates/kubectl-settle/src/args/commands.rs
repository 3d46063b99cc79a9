use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use clap_complete::Shell;

use super::look::LookArgs;
use super::plan::WriteArgs;
use super::values::{Cascade, DryRunArg, GoDuration, Until, cascade, go_bool};
use super::watch::WatchArgs;

/// Where the objects come from.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct InputArgs {
    /// A file, a folder, or - for standard input; repeatable
    #[arg(long, short, value_name = "FILE", value_delimiter = ',', value_hint = ValueHint::AnyPath)]
    pub(crate) filename: Vec<OsString>,
    /// Go into the folders of the folders given with -f
    #[arg(
        long, short = 'R', value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) recursive: Option<bool>,
    /// A folder with a kustomization: what `kubectl kustomize`, or without kubectl `kustomize build`, makes of it
    #[arg(
        long, short = 'k', value_name = "DIRECTORY", value_hint = ValueHint::DirPath,
        conflicts_with_all = ["filename", "directory", "recursive"]
    )]
    pub(crate) kustomize: Option<OsString>,
    /// A folder to read with all its folders, or for apply a saved plan; without it and without -f, standard
    /// input
    #[arg(value_name = "DIRECTORY", value_hint = ValueHint::AnyPath)]
    pub(crate) directory: Option<OsString>,
    /// Leave invalid objects out instead of refusing all
    #[arg(
        long, value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) skip_invalid: Option<bool>,
    /// Judge the kinds named in this file by its rules; repeatable (help custom-rules)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) rules: Vec<PathBuf>,
}

/// Which objects of the input are meant.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PickArgs {
    /// Take only those objects of the input that have these labels: app=web,tier!=db,env in (a,b),new,!old
    #[arg(long, short = 'l', value_name = "SELECTOR")]
    pub(crate) selector: Option<String>,
}

/// How long to wait.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WaitArgs {
    /// Wait for the result [default: true]
    #[arg(
        long, value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) wait: Option<bool>,
    /// How long everything may take, such as 1m30s (0: no limit) [default: 0]
    #[arg(long, value_name = "DURATION")]
    pub(crate) timeout: Option<GoDuration>,
    /// How long a request for one object is tried again when the connection, the server or a webhook
    /// is in trouble (0: not at all) [default: 30s]
    #[arg(long, value_name = "DURATION")]
    pub(crate) retry_for: Option<GoDuration>,
}

/// Which set a run is about, and how it treats what is not its own.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SetArgs {
    /// Track the objects as the set of this name; its record is a ConfigMap in the namespace of -n or of
    /// the context. (A template among the input, as kapply has it, does the same)
    #[arg(long, value_name = "NAME")]
    pub(crate) set: Option<String>,
    /// Track the objects as an ApplySet, as kubectl --applyset does: its parent is this Secret, or
    /// RESOURCE.GROUP/NAME such as configmaps/NAME
    #[arg(long, value_name = "[RESOURCE[.GROUP]/]NAME", conflicts_with = "set")]
    pub(crate) applyset: Option<String>,
    /// What may be done with objects of nobody or of another set: strict (nothing), adopt or
    /// force-adopt [default: strict]
    #[arg(long, value_name = "POLICY")]
    pub(crate) inventory_policy: Option<String>,
    /// How long to wait for another run of the same set [default: 0]
    #[arg(long, value_name = "DURATION")]
    pub(crate) lock_timeout: Option<GoDuration>,
    /// Keep in the record how each object went, in kapply's form
    #[arg(
        long, value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) record_status: Option<bool>,
}

/// What happens to objects of the set that are not in the input any more.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PruneArgs {
    /// Leave objects alone that left the set; they stay on record
    #[arg(
        long, value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) no_prune: Option<bool>,
    /// Refuse to prune more than this many objects, or percent of the set [default: 50% when more than 10]
    #[arg(long, value_name = "N|P%")]
    pub(crate) prune_max: Option<String>,
    /// Allow to prune objects of this kind although they hold what is not ours; repeatable
    #[arg(long, value_name = "KIND")]
    pub(crate) prune_allow: Vec<String>,
    /// Allow an empty input to prune the whole set
    #[arg(
        long, value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) allow_empty: Option<bool>,
}

/// What may be replaced.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RecreateArgs {
    /// Delete and create objects of this kind anew when a field of them cannot be changed; repeatable.
    /// Objects with the annotation kubesettle.io/recreate: "true" always are
    #[arg(long, value_name = "KIND")]
    pub(crate) recreate: Vec<String>,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) pick: PickArgs,
    #[command(flatten)]
    pub(crate) set: SetArgs,
    #[command(flatten)]
    pub(crate) prune: PruneArgs,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    #[command(flatten)]
    pub(crate) watching: WatchArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
    #[command(flatten)]
    pub(crate) anew: RecreateArgs,
    /// How long one object may take to settle after it was applied (0: no limit) [default: 0]
    #[arg(long, value_name = "DURATION")]
    pub(crate) reconcile_timeout: Option<GoDuration>,
    /// How long one object may take to go once it is pruned (0: no limit) [default: 0]
    #[arg(long, value_name = "DURATION")]
    pub(crate) prune_timeout: Option<GoDuration>,
    /// What becomes of what pruned objects own: background, foreground or orphan [default: background]
    #[arg(
        long, value_name = "HOW",
        num_args = 0..=1, require_equals = true, default_missing_value = "background", value_parser = cascade
    )]
    pub(crate) cascade: Option<Cascade>,
    /// The same, as kapply has it
    #[arg(long, value_name = "HOW", hide_short_help = true, conflicts_with = "cascade", value_parser = cascade)]
    pub(crate) prune_propagation_policy: Option<Cascade>,
    /// Write nothing: none, client or server, as with plan [default: none]
    #[arg(long, value_name = "WHO", num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    pub(crate) dry_run: Option<DryRunArg>,
    /// Accepted for kubectl's sake: every apply is a server-side apply
    #[arg(
        long, value_name = "BOOL", hide_short_help = true,
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) server_side: Option<bool>,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DestroyArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) pick: PickArgs,
    #[command(flatten)]
    pub(crate) set: SetArgs,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    #[command(flatten)]
    pub(crate) watching: WatchArgs,
    /// What becomes of what the objects own: background, foreground or orphan [default: background]
    #[arg(
        long, value_name = "HOW",
        num_args = 0..=1, require_equals = true, default_missing_value = "background", value_parser = cascade
    )]
    pub(crate) cascade: Option<Cascade>,
    /// The same, as kapply has it
    #[arg(long, value_name = "HOW", hide_short_help = true, conflicts_with = "cascade", value_parser = cascade)]
    pub(crate) delete_propagation_policy: Option<Cascade>,
    /// How long one object may take to go once its deletion was accepted (0: no limit) [default: 0]
    #[arg(long, value_name = "DURATION", alias = "reconcile-timeout")]
    pub(crate) delete_timeout: Option<GoDuration>,
    /// Delete nothing: none, client or server, as with plan [default: none]
    #[arg(long, value_name = "WHO", num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    pub(crate) dry_run: Option<DryRunArg>,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// More of them
    #[arg(value_name = "TYPE/NAME", index = 2, hide = true)]
    pub(crate) named: Vec<OsString>,
    /// Look at the named kinds in all namespaces
    #[arg(
        long, short = 'A', value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) all_namespaces: Option<bool>,
    /// Look at those objects of the named kinds that have these labels now; one that loses them is no
    /// deletion, and goes on being looked at
    #[arg(long, short = 'l', value_name = "SELECTOR")]
    pub(crate) selector: Option<String>,
    /// Show the objects of this set
    #[arg(long, value_name = "NAME")]
    pub(crate) set: Option<String>,
    /// Show the members of this ApplySet, named as with apply
    #[arg(long, value_name = "[RESOURCE[.GROUP]/]NAME", conflicts_with = "set")]
    pub(crate) applyset: Option<String>,
    /// Go on showing changes until interrupted, or until the condition of --until is met
    #[arg(
        long, short, value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) watch: Option<bool>,
    /// When to stop: known (every state is known), settled, deleted or forever [default: known]
    #[arg(long, value_name = "CONDITION", alias = "poll-until")]
    pub(crate) until: Option<Until>,
    /// Accepted for kapply's sake: nothing is polled here
    #[arg(long, value_name = "DURATION", hide = true)]
    pub(crate) poll_period: Option<GoDuration>,
    /// How long to go on (0: no limit) [default: 0]
    #[arg(long, value_name = "DURATION")]
    pub(crate) timeout: Option<GoDuration>,
    #[command(flatten)]
    pub(crate) watching: WatchArgs,
    #[command(flatten)]
    pub(crate) look: LookArgs,
    #[command(flatten)]
    pub(crate) local: LocalArgs,
}

/// Verdicts on a dump.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Without a cluster")]
pub(crate) struct LocalArgs {
    /// Judge the objects as they stand in the input, such as the output of kubectl get -o yaml or
    /// the folder of a must-gather, and ask no cluster. With -o json one line per object; with -n only the
    /// objects of that namespace
    #[arg(
        long, value_name = "BOOL", conflicts_with_all = ["set", "watch", "until", "inv_type", "inv_names"],
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) local: Option<bool>,
    /// With --local: judge custom kinds by habits only, without the table of known ones
    #[arg(
        long, value_name = "BOOL", requires = "local",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) generic: Option<bool>,
    /// With --local: name the rule that decided on each object
    #[arg(
        long, value_name = "BOOL", requires = "local",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) explain: Option<bool>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CompletionArgs {
    /// The shell
    #[arg(value_parser = ["bash", "zsh", "fish"])]
    shell: String,
}

impl CompletionArgs {
    pub(crate) fn shell(&self) -> Shell {
        match self.shell.as_str() {
            "zsh" => Shell::Zsh,
            "fish" => Shell::Fish,
            _ => Shell::Bash,
        }
    }
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct HelpArgs {
    /// A command, or a topic: exit-codes, events, dumps or custom-rules
    #[arg(value_name = "COMMAND")]
    pub(crate) words: Vec<String>,
}

/// What stands alone in a look at objects.
pub(super) fn in_status(command: clap::Command) -> clap::Command {
    command
        .mut_arg("directory", |arg| {
            arg.index(1).value_name("DIRECTORY|TYPE[/NAME]").help(
                "A folder to read with all its folders, if there is one of that name; else kinds and names as \
                 kubectl takes them: deploy/web svc/web, deploy web db, pods,svc, widgets.v1.example.com. \
                 Without any and without -f, standard input",
            )
        })
        .override_usage("kubectl settle status [OPTIONS] [DIRECTORY | TYPE[,TYPE...] [NAME...] | TYPE/NAME...]")
}
