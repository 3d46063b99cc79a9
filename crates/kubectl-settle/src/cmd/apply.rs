//! `apply`: apply objects and wait until they have settled.

use kubesettle::error::ExitClass;
use kubesettle::event::Operation;
use kubesettle::manifest::UnknownKinds;
use kubesettle::run::RunOptions;

use super::Stop;
use super::session::Job;
use crate::args::Role;
use crate::print::out::Out;
use crate::settings::{Apply, Only, View};

/// Applies and waits.
pub(crate) fn run(apply: &Apply, role: Role, view: View, out: &mut Out) -> Result<ExitClass, Stop> {
    let mut options = RunOptions::new(&*apply.field_manager);
    options.apply.force = apply.force_conflicts;
    options.apply.validation = apply.validate.into();
    options.recreate = apply.recreate.clone();
    options.wait = apply.wait;
    options.timeout = apply.timeout;
    options.retry_budget = apply.retry_for.unwrap_or(options.retry_budget);
    options.object_timeout = apply.object_timeout;
    options.removal_timeout = apply.removal_timeout;
    options.delete.propagation = apply.cascade.into();
    options.dry_run = apply.dry_run;
    let job = Job {
        role,
        subject: &apply.subject,
        view,
        unknown_kinds: UnknownKinds::Wait,
        operation: Operation::Apply,
        options,
        only: Only::default(),
    };
    job.run(out)
}
