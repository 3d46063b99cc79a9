//! `destroy`: delete objects, dependents first, and wait until they are gone.

use kubesettle::error::ExitClass;
use kubesettle::event::Operation;
use kubesettle::manifest::UnknownKinds;
use kubesettle::run::RunOptions;

use super::Stop;
use super::session::Job;
use crate::args::Role;
use crate::print::out::Out;
use crate::settings::{Destroy, Only, View};

/// Deletes and waits.
pub(crate) fn run(destroy: &Destroy, role: Role, view: View, out: &mut Out) -> Result<ExitClass, Stop> {
    let mut options = RunOptions::new("kubesettle");
    options.delete.propagation = destroy.cascade.into();
    options.wait = destroy.wait;
    options.timeout = destroy.timeout;
    options.retry_budget = destroy.retry_for.unwrap_or(options.retry_budget);
    options.removal_timeout = destroy.object_timeout;
    options.dry_run = destroy.dry_run;
    let job = Job {
        role,
        subject: &destroy.subject,
        view,
        // Objects of a kind that is not served do not exist either.
        unknown_kinds: UnknownKinds::Wait,
        operation: Operation::Destroy,
        options,
        only: Only::default(),
    };
    job.run(out)
}
