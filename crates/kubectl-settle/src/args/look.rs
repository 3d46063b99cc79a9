use clap::{Args, ValueEnum};
use kstatus::Status;

/// What of a look is shown, in kapply's words.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LookArgs {
    /// Show only objects of these namespaces
    #[arg(long, value_name = "NAME", value_delimiter = ',', hide_short_help = true)]
    pub(crate) namespaces: Vec<String>,
    /// Show objects only while they have one of these statuses: InProgress, Failed, Current, Terminating,
    /// NotFound, Unknown
    #[arg(long, value_name = "STATUS", value_delimiter = ',', hide_short_help = true, value_parser = status)]
    pub(crate) statuses: Vec<Status>,
    /// Where the set is found: local (in the input, or by --set) or remote (on the cluster, by
    /// --inv-names) [default: local]
    #[arg(long, value_name = "WHERE", hide_short_help = true, conflicts_with_all = ["set", "applyset"])]
    pub(crate) inv_type: Option<InvType>,
    /// With --inv-type=remote: the name of the set
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        hide_short_help = true,
        alias = "inventory-names"
    )]
    pub(crate) inv_names: Vec<String>,
}

/// Where a set is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum InvType {
    /// In the input
    #[default]
    Local,
    /// On the cluster
    Remote,
}

/// A status in any case, as kapply has them.
fn status(word: &str) -> Result<Status, String> {
    let found = Status::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(word));
    found.ok_or_else(|| "expected InProgress, Failed, Current, Terminating, NotFound or Unknown".to_owned())
}
