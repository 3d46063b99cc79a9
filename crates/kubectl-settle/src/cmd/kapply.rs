//! How objects are judged, and how a run ends, in the role of kapply.

use kstatus::Policy;
use kubesettle::error::ExitClass;
use kubesettle::event::Action;

use super::drive::Ended;

/// What counts as settled: a Job that has started, and a Service whose load balancer is yet to come.
pub(super) fn judge(policy: &mut Policy) {
    policy.started_jobs_are_current = true;
    policy.await_load_balancers = false;
}

/// The class, and what is said of it on standard error. There are only two: skipped objects, whatever
/// the reason, are no failure; and a look at objects never fails for what it sees.
pub(super) fn verdict(ended: &Ended) -> (ExitClass, Option<String>) {
    // What the run as a whole has to say has been said.
    if ended.message && ended.class != ExitClass::Ok {
        return (ExitClass::Failed, None);
    }
    let actions = [Action::Apply, Action::Prune, Action::Delete];
    let failed: usize = actions.iter().map(|action| ended.summary.tally(*action).failed).sum();
    let acted = actions.iter().any(|action| ended.summary.tally(*action).total() > 0);
    let waits = ended.summary.conclusions();
    let late = if acted { waits.failed + waits.timed_out + waits.unknown } else { 0 };
    let parts = [(failed, "resources failed"), (late, "resources failed to reconcile before timeout")];
    let parts: Vec<_> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    match parts.as_slice() {
        [] => (ExitClass::Ok, None),
        parts => (ExitClass::Failed, Some(format!("error: {}\n", parts.join(", ")))),
    }
}
