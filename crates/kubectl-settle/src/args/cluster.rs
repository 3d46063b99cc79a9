use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::values::{RequestTimeout, go_bool};

/// kubectl's connection flags.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct ClusterArgs {
    /// The kubeconfig file to use instead of those of KUBECONFIG or ~/.kube/config
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The kubeconfig context to use
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// The kubeconfig cluster to use
    #[arg(long, global = true, value_name = "NAME", hide_short_help = true)]
    pub(crate) cluster: Option<String>,
    /// The kubeconfig user to use
    #[arg(long, global = true, value_name = "NAME", hide_short_help = true)]
    pub(crate) user: Option<String>,
    /// The namespace for objects that name none
    #[arg(long, short, global = true, value_name = "NAME")]
    pub(crate) namespace: Option<String>,
    /// The address of the API server
    #[arg(long, short, global = true, value_name = "URL", value_hint = ValueHint::Url, hide_short_help = true)]
    pub(crate) server: Option<String>,
    /// A bearer token for the API server
    #[arg(long, global = true, value_name = "TOKEN", hide_short_help = true)]
    pub(crate) token: Option<String>,
    /// The user to act as: a name, or a service account as system:serviceaccount:NAMESPACE:NAME
    #[arg(long = "as", global = true, value_name = "USER", hide_short_help = true)]
    pub(crate) as_user: Option<String>,
    /// A group to act as; repeatable
    #[arg(long = "as-group", global = true, value_name = "GROUP", hide_short_help = true)]
    pub(crate) as_groups: Vec<String>,
    /// The uid to act as
    #[arg(long, global = true, value_name = "UID", hide_short_help = true)]
    pub(crate) as_uid: Option<String>,
    /// A file with the certificates of the authority that signed the server's
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub(crate) certificate_authority: Option<PathBuf>,
    /// A file with the client certificate
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub(crate) client_certificate: Option<PathBuf>,
    /// A file with the key of the client certificate
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub(crate) client_key: Option<PathBuf>,
    /// Do not check the server's certificate; anybody in between can read and change everything
    #[arg(
        long, global = true, value_name = "BOOL", hide_short_help = true,
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) insecure_skip_tls_verify: Option<bool>,
    /// The name to expect in the server's certificate, when it is not the host's
    #[arg(long, global = true, value_name = "NAME", hide_short_help = true)]
    pub(crate) tls_server_name: Option<String>,
    /// How long the server may take to answer one request (30s, 2m, or seconds; 0: for ever)
    #[arg(long, global = true, value_name = "DURATION", hide_short_help = true)]
    pub(crate) request_timeout: Option<RequestTimeout>,
    /// The proxy to reach the server through
    #[arg(long, global = true, value_name = "URL", value_hint = ValueHint::Url, hide_short_help = true)]
    pub(crate) proxy_url: Option<String>,
    /// Accepted for kubectl's sake: nothing is kept between calls
    #[arg(long, global = true, value_name = "FOLDER", hide = true)]
    pub(crate) cache_dir: Option<PathBuf>,
    /// Accepted for kubectl's sake: no version is required
    #[arg(
        long, global = true, value_name = "BOOL", hide = true,
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) match_server_version: Option<bool>,
    /// Do not ask the server for compressed answers
    #[arg(
        long, global = true, value_name = "BOOL", hide_short_help = true,
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool
    )]
    pub(crate) disable_compression: Option<bool>,
}
