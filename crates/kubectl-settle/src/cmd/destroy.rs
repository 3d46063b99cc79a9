//! `destroy`: delete objects, dependents first, and wait until they are gone.

use kubesettle::cluster::Propagation;
use kubesettle::error::ExitClass;
use kubesettle::event::Operation;
use kubesettle::manifest::UnknownKinds;
use kubesettle::run::RunOptions;

use super::Stop;
use super::session::Job;
use crate::args::Cascade;
use crate::print::out::Out;
use crate::settings::{Destroy, View};

/// Deletes and waits.
pub(crate) fn run(destroy: &Destroy, view: View, out: &mut Out) -> Result<ExitClass, Stop> {
    let mut options = RunOptions::new("kubesettle");
    options.delete.propagation = match destroy.cascade {
        Cascade::Background => Propagation::Background,
        Cascade::Foreground => Propagation::Foreground,
        Cascade::Orphan => Propagation::Orphan,
    };
    options.wait = destroy.wait;
    options.timeout = destroy.timeout;
    options.object_timeout = destroy.object_timeout;
    let job = Job {
        subject: &destroy.subject,
        view,
        // Objects of a kind that is not served do not exist either.
        unknown_kinds: UnknownKinds::Wait,
        operation: Operation::Destroy,
        options,
    };
    job.run(out)
}
