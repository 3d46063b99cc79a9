use crate::cause::CauseCode;

/// How long a cause is watched before it makes the verdict `Failed`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Hold {
    /// It is shown and never fails the object alone; a deadline elsewhere decides.
    Never,
    /// It fails the object after this many milliseconds without progress; 0: at once.
    Millis(u64),
    /// It fails the object when the same container has been restarted this often without ever
    /// having been ready.
    Restarts(u32),
}

/// The hold of one cause, and where the cause is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HoldRow {
    /// The cause.
    pub code: CauseCode,
    /// Where it is found on the objects.
    pub found: &'static str,
    /// The default hold.
    pub hold: Hold,
}

/// The default holds of all causes.
pub const DEFAULT_HOLDS: &[HoldRow] = &[
    row(CauseCode::ImagePullBackOff, "container waiting", Hold::Millis(60_000)),
    row(CauseCode::ErrImagePull, "container waiting", Hold::Millis(60_000)),
    row(CauseCode::InvalidImageName, "container waiting", Hold::Millis(0)),
    row(CauseCode::ErrImageNeverPull, "container waiting", Hold::Millis(0)),
    row(CauseCode::CrashLoopBackOff, "container waiting, restart count", Hold::Restarts(3)),
    row(CauseCode::CreateContainerConfigError, "container waiting", Hold::Millis(60_000)),
    row(CauseCode::CreateContainerError, "container waiting", Hold::Millis(60_000)),
    row(CauseCode::RunContainerError, "container waiting", Hold::Millis(60_000)),
    row(CauseCode::OOMKilled, "container terminated", Hold::Never),
    row(CauseCode::Error, "container terminated", Hold::Never),
    row(CauseCode::DeadlineExceeded, "pod or Job ended", Hold::Never),
    row(CauseCode::Evicted, "pod ended", Hold::Never),
    row(CauseCode::Unschedulable, "condition PodScheduled", Hold::Never),
    row(CauseCode::FailedMount, "event", Hold::Never),
    row(CauseCode::FailedAttachVolume, "event", Hold::Never),
    row(CauseCode::ProvisioningFailed, "event", Hold::Never),
    row(CauseCode::FailedCreatePodSandBox, "event", Hold::Never),
    row(CauseCode::ProbeFailed, "event while not ready; not ready for long", Hold::Never),
    row(CauseCode::QuotaExceeded, "condition ReplicaFailure, event", Hold::Never),
    row(CauseCode::AdmissionDenied, "condition ReplicaFailure, event", Hold::Never),
    row(CauseCode::FailedCreate, "condition ReplicaFailure, event", Hold::Never),
    row(CauseCode::ProgressDeadlineExceeded, "condition Progressing", Hold::Millis(0)),
    row(CauseCode::JobFailed, "condition Failed of a Job", Hold::Millis(0)),
    row(CauseCode::FinalizerPending, "deletion", Hold::Never),
    row(CauseCode::NamespaceContentRemaining, "conditions of a namespace", Hold::Never),
    row(CauseCode::NotPermitted, "answer of the server", Hold::Never),
    row(CauseCode::ControllerSilent, "no status after the grace", Hold::Never),
    row(CauseCode::RuleError, "a custom rule that cannot be evaluated", Hold::Never),
];

const fn row(code: CauseCode, found: &'static str, hold: Hold) -> HoldRow {
    HoldRow { code, found, hold }
}

/// What a run may set about judging. `Default` is the documented behaviour.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    holds: Vec<(CauseCode, Hold)>,
    /// How long an object whose CRD promises conditions may stay without them before it counts as
    /// current with "no status reported". Milliseconds.
    pub promised_status_grace: u64,
    /// The same for a custom kind whose CRD could not be read. Milliseconds.
    pub unknown_status_grace: u64,
    /// How long a pod may be unschedulable, or run without being ready, before that is a cause.
    /// Milliseconds.
    pub unschedulable_grace: u64,
    /// When a node autoscaler has said that it will not help an unschedulable pod.
    pub scale_up_refused: Hold,
    /// kapply's reading of Jobs: one that has started is current.
    pub started_jobs_are_current: bool,
    /// Whether a Service of type LoadBalancer waits for an address.
    pub await_load_balancers: bool,
    /// Whether an Ingress waits for an address.
    pub await_ingress_addresses: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            holds: Vec::new(),
            promised_status_grace: 60_000,
            unknown_status_grace: 10_000,
            unschedulable_grace: 15_000,
            scale_up_refused: Hold::Millis(15_000),
            started_jobs_are_current: false,
            await_load_balancers: true,
            await_ingress_addresses: false,
        }
    }
}

impl Policy {
    /// The hold of a cause: the one set here, else the default.
    pub fn hold(&self, code: CauseCode) -> Hold {
        let set = self.holds.iter().find(|(of, _)| *of == code).map(|(_, hold)| *hold);
        let default = || DEFAULT_HOLDS.iter().find(|row| row.code == code).map(|row| row.hold);
        set.or_else(default).unwrap_or(Hold::Never)
    }

    /// Sets the hold of a cause for this run.
    pub fn set_hold(&mut self, code: CauseCode, hold: Hold) {
        self.holds.retain(|(of, _)| *of != code);
        self.holds.push((code, hold));
    }
}
