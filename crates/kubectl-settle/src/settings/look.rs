//! What of a look is shown, and at which set it is.

use kstatus::Status;
use kubesettle::id::ObjectId;

use crate::args::{InvType, LookArgs};
use crate::exit::Failure;

/// What is shown. Without a word all is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Only {
    pub(crate) namespaces: Vec<String>,
    pub(crate) statuses: Vec<Status>,
}

impl Only {
    /// Everything is shown.
    pub(crate) fn is_all(&self) -> bool {
        self.namespaces.is_empty() && self.statuses.is_empty()
    }

    /// True for an object of the namespaces, and for these themselves.
    pub(crate) fn is_there(&self, id: &ObjectId) -> bool {
        let place = if id.group_kind().is("", "Namespace") { id.name() } else { id.namespace() };
        self.namespaces.is_empty() || self.namespaces.iter().any(|namespace| namespace == place)
    }

    /// True for an object in this state.
    pub(crate) fn shows(&self, id: &ObjectId, status: Status) -> bool {
        self.is_there(id) && (self.statuses.is_empty() || self.statuses.contains(&status))
    }
}

/// The set that kapply's flags name.
pub(super) fn remote(args: &LookArgs) -> Result<Option<String>, Failure> {
    match (args.inv_type.unwrap_or_default(), args.inv_names.as_slice()) {
        (InvType::Local, []) => Ok(None),
        (InvType::Local, _) => Err(Failure::usage("--inv-names is given without --inv-type=remote")
            .hint("add --inv-type=remote, or leave --inv-names out: the input says which set is meant")),
        (InvType::Remote, [name]) => Ok(Some(name.clone())),
        (InvType::Remote, names) => {
            let many = if names.is_empty() { "every set" } else { "several sets" };
            Err(Failure::usage(format!("--inv-type=remote: {many} at once cannot be looked at"))
                .hint("name one with --inv-names and -n; kubectl settle inventory list -A lists them"))
        }
    }
}
