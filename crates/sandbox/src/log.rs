//! Every request that came, in order.

/// One request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Counted from 0 over the sandbox's life.
    pub index: u64,
    /// `GET`, `PATCH` and so on.
    pub method: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`; empty for discovery.
    pub verb: &'static str,
    /// The path as sent.
    pub path: String,
    /// The query as sent.
    pub query: String,
    /// `pods`, `deployments.apps`; empty for discovery.
    pub resource: String,
    /// Empty for cluster-scoped kinds and for all namespaces.
    pub namespace: String,
    /// The object's name; empty for collections.
    pub name: String,
    /// `status` and the like.
    pub subresource: String,
    /// The `User-Agent` header.
    pub user_agent: String,
    /// `dryRun=All` was asked for.
    pub dry_run: bool,
    /// Bytes of the request's body.
    pub bytes: usize,
    /// The answer's status; 0 when none was given.
    pub code: u16,
}

impl Logged {
    /// True for a request that may change what is stored.
    pub fn writes(&self) -> bool {
        matches!(self.verb, "create" | "update" | "patch" | "delete" | "deletecollection") && !self.dry_run
    }
}
