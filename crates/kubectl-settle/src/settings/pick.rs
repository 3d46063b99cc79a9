//! What `-l` means.

use kubesettle::event::Operation;
use kubesettle::manifest::LabelSelector;

use super::{Set, Subject};
use crate::args::PickArgs;
use crate::exit::Failure;

/// The selector that was given.
pub(super) fn selector(args: PickArgs) -> Result<Option<LabelSelector>, Failure> {
    let parsed = args.selector.map(|text| text.parse::<LabelSelector>()).transpose();
    parsed.map_err(|error| Failure::usage(format!("-l: {error}")))
}

/// A set that is named is not to be narrowed by accident.
pub(super) fn check(subject: &Subject, operation: Operation) -> Result<(), Failure> {
    match &subject.pick {
        Some(selector) if subject.set.is_named() => tracked(&subject.set, selector, operation),
        _ => Ok(()),
    }
}

/// A part of the input, where what is not in the input is taken away.
pub(crate) fn tracked(set: &Set, selector: &LabelSelector, operation: Operation) -> Result<(), Failure> {
    match operation {
        Operation::Apply if set.tracking.no_prune => Ok(()),
        Operation::Apply => Err(Failure::usage(format!(
            "-l {selector} is given with a tracked set: the objects without these labels would be pruned"
        ))
        .hint("add --no-prune, which leaves them alone and on record, or leave -l out")),
        Operation::Destroy => Err(Failure::usage(format!(
            "-l {selector} is given with a tracked set: all that it has on record is deleted, whatever its labels"
        ))
        .hint("leave -l out; or apply without the objects that are to go, which prunes them")),
        Operation::Status => Ok(()),
    }
}
