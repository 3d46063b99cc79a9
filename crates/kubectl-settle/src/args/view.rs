use clap::Args;

use super::values::{Color, Output, go_bool};

/// How to show what happens.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ViewArgs {
    /// The form of the output [default: plain]
    #[arg(long, short, global = true, value_name = "FORM")]
    pub(crate) output: Option<Output>,
    /// When to use colours [default: auto]
    #[arg(long, global = true, value_name = "WHEN")]
    pub(crate) color: Option<Color>,
    /// Say nothing about what goes well
    #[arg(
        long, short, global = true, value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) quiet: Option<bool>,
    /// Say more: every change of progress and every attempt
    #[arg(
        short = 'v', long = "v", global = true, value_name = "LEVEL",
        num_args = 0..=1, require_equals = true, default_missing_value = "1"
    )]
    pub(crate) verbosity: Option<u8>,
    /// With -o events: also print every change of status
    #[arg(
        long, global = true, value_name = "BOOL", hide_short_help = true,
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) status_events: Option<bool>,
}
