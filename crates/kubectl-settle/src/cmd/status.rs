//! `status`: show the state of objects, once or until a condition is met.

use kubesettle::error::ExitClass;
use kubesettle::event::Operation;
use kubesettle::manifest::UnknownKinds;
use kubesettle::run::{LookUntil, RunOptions};

use super::Stop;
use super::session::Job;
use crate::args::{Role, Until};
use crate::print::out::Out;
use crate::settings::{Status, View};

/// Looks only.
pub(crate) fn run(status: &Status, role: Role, view: View, out: &mut Out) -> Result<ExitClass, Stop> {
    let mut options = RunOptions::new("kubesettle");
    options.until = match status.until {
        Until::Known => LookUntil::Known,
        Until::Settled => LookUntil::Settled,
        Until::Deleted => LookUntil::Deleted,
        Until::Forever => LookUntil::Forever,
    };
    options.timeout = status.timeout;
    let job = Job {
        role,
        subject: &status.subject,
        view,
        unknown_kinds: UnknownKinds::Wait,
        operation: Operation::Status,
        options,
        only: status.only.clone(),
    };
    job.run(out)
}
