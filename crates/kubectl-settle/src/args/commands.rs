use std::ffi::OsString;

use clap::{Args, ValueHint};
use clap_complete::Shell;

use super::values::{Cascade, GoDuration, Until, Validate, cascade, go_bool, validate};

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
    /// A folder to read with all its folders; without it and without -f, standard input
    #[arg(value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub(crate) directory: Option<OsString>,
    /// Leave invalid objects out instead of refusing all
    #[arg(
        long, value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) skip_invalid: Option<bool>,
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
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    /// How long one object may take to settle after it was applied (0: no limit) [default: 0]
    #[arg(long, value_name = "DURATION")]
    pub(crate) reconcile_timeout: Option<GoDuration>,
    /// Take over fields that other field managers own
    #[arg(
        long, value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) force_conflicts: Option<bool>,
    /// The name under which fields are owned [default: kubesettle]
    #[arg(long, value_name = "NAME")]
    pub(crate) field_manager: Option<String>,
    /// Accepted for kubectl's sake: every apply is a server-side apply
    #[arg(
        long, value_name = "BOOL", hide_short_help = true,
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) server_side: Option<bool>,
    /// What to do about unknown and duplicate fields: strict, warn or ignore [default: strict]
    #[arg(
        long, value_name = "HOW",
        num_args = 0..=1, require_equals = true, default_missing_value = "strict", value_parser = validate
    )]
    pub(crate) validate: Option<Validate>,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DestroyArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    /// What becomes of what the objects own: background, foreground or orphan [default: background]
    #[arg(
        long, value_name = "HOW", alias = "delete-propagation-policy",
        num_args = 0..=1, require_equals = true, default_missing_value = "background", value_parser = cascade
    )]
    pub(crate) cascade: Option<Cascade>,
    /// How long one object may take to go once its deletion was accepted (0: no limit) [default: 0]
    #[arg(long, value_name = "DURATION", alias = "reconcile-timeout")]
    pub(crate) delete_timeout: Option<GoDuration>,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Go on showing changes until interrupted, or until the condition of --until is met
    #[arg(
        long, short, value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) watch: Option<bool>,
    /// When to stop: known (every state is known), settled, deleted or forever [default: known]
    #[arg(long, value_name = "CONDITION", alias = "poll-until")]
    pub(crate) until: Option<Until>,
    /// How long to go on (0: no limit) [default: 0]
    #[arg(long, value_name = "DURATION")]
    pub(crate) timeout: Option<GoDuration>,
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
    /// A command, or the topic exit-codes or events
    #[arg(value_name = "COMMAND")]
    pub(crate) words: Vec<String>,
}
