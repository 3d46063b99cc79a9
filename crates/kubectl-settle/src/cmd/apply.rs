//! `apply`: apply objects and wait until they have settled.

use kubesettle::cluster::Validation;
use kubesettle::error::ExitClass;
use kubesettle::event::Operation;
use kubesettle::manifest::UnknownKinds;
use kubesettle::run::RunOptions;

use super::Stop;
use super::session::Job;
use crate::args::Validate;
use crate::print::out::Out;
use crate::settings::{Apply, View};

/// Applies and waits.
pub(crate) fn run(apply: &Apply, view: View, out: &mut Out) -> Result<ExitClass, Stop> {
    let mut options = RunOptions::new(&*apply.field_manager);
    options.apply.force = apply.force_conflicts;
    options.apply.validation = match apply.validate {
        Validate::Strict => Validation::Strict,
        Validate::Warn => Validation::Warn,
        Validate::Ignore => Validation::Ignore,
    };
    options.wait = apply.wait;
    options.timeout = apply.timeout;
    options.object_timeout = apply.object_timeout;
    let job = Job {
        subject: &apply.subject,
        view,
        unknown_kinds: UnknownKinds::Wait,
        operation: Operation::Apply,
        options,
    };
    job.run(out)
}
