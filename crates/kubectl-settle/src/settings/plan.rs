//! What `plan` and `diff` mean, and how objects are written.

use kubesettle::cluster::ConfigOptions;
use kubesettle::event::DryRun;

use super::{Layers, Subject, Task, pick};
use crate::args::{
    self, ApplyArgs, DestroyArgs, DiffArgs, DryRunArg, Output, PlanArgs, PruneArgs, Role, SetArgs, Validate,
    WriteArgs,
};
use crate::exit::Failure;

/// A comparison of the input with the cluster.
#[derive(Debug)]
pub(crate) struct Diff {
    pub(crate) subject: Subject,
    pub(crate) write: Write,
}

/// How objects are written.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) force_conflicts: bool,
    pub(crate) field_manager: String,
    pub(crate) validate: Validate,
}

impl Role {
    /// The form of the output, unless another is asked for.
    pub(super) fn output(self) -> Output {
        match self {
            Self::Settle => Output::default(),
            Self::Kapply => Output::Events,
        }
    }

    fn field_manager(self) -> &'static str {
        match self {
            Self::Settle => "kubesettle",
            Self::Kapply => "kubectl",
        }
    }

    fn rehearsal(self) -> DryRun {
        match self {
            Self::Settle => DryRun::Server,
            Self::Kapply => DryRun::Client,
        }
    }
}

/// As the flag has it.
pub(super) fn dry_run(flag: Option<DryRunArg>) -> Option<DryRun> {
    match flag? {
        DryRunArg::None => None,
        DryRunArg::Client => Some(DryRun::Client),
        DryRunArg::Server => Some(DryRun::Server),
    }
}

impl Layers<'_> {
    pub(super) fn write(&self, args: WriteArgs) -> Result<Write, Failure> {
        let manager =
            self.pick(args.field_manager, "KUBESETTLE_FIELD_MANAGER", |text| Ok(text.to_owned()))?;
        let field_manager = manager.unwrap_or_else(|| self.1.field_manager().to_owned());
        check_field_manager(&field_manager)?;
        Ok(Write {
            force_conflicts: self.flag(args.force_conflicts, "KUBESETTLE_FORCE_CONFLICTS")?.unwrap_or(false),
            field_manager,
            validate: self.pick(args.validate, "KUBESETTLE_VALIDATE", args::validate)?.unwrap_or_default(),
        })
    }

    /// A plan is an apply or a destroy that writes nothing.
    pub(super) fn plan(&self, args: PlanArgs, cluster: ConfigOptions) -> Result<Task, Failure> {
        let PlanArgs { apply: args, destroy, out } = args;
        let flag = match (args.dry_run, args.server_side) {
            (Some(DryRunArg::None), _) => {
                return Err(Failure::usage("--dry-run=none: a plan is never carried out")
                    .hint("leave the flag out, or use apply or destroy"));
            }
            (None, Some(true)) => Some(DryRun::Server),
            (None, Some(false)) => Some(DryRun::Client),
            (flag, _) => dry_run(flag),
        };
        let how = Some(flag.unwrap_or(self.1.rehearsal()));
        if destroy.unwrap_or(false) {
            let ApplyArgs { input, pick, set, wait, .. } = args;
            let cascade = args.cascade.or(args.prune_propagation_policy);
            let args = DestroyArgs { input, pick, set, wait, cascade, ..DestroyArgs::default() };
            let mut destroy = self.destroy(args, cluster)?;
            destroy.dry_run = how;
            destroy.subject.out = out;
            return Ok(Task::Destroy(Box::new(destroy)));
        }
        let mut apply = self.apply(ApplyArgs { server_side: None, ..args }, cluster)?;
        apply.dry_run = how;
        apply.subject.out = out;
        Ok(Task::Apply(Box::new(apply)))
    }

    pub(super) fn diff(&self, args: DiffArgs, cluster: ConfigOptions) -> Result<Diff, Failure> {
        let set = SetArgs { set: args.set, applyset: args.applyset, ..SetArgs::default() };
        let mut set = self.set(set, PruneArgs::default())?;
        set.required = false;
        let mut subject = self.subject(args.input, cluster, set, false)?;
        subject.pick = pick::selector(args.pick)?;
        Ok(Diff { subject, write: self.write(args.write)? })
    }
}

/// The API server's own rule, told before anything is sent.
fn check_field_manager(name: &str) -> Result<(), Failure> {
    let printable = name.chars().all(|c| !c.is_control());
    if (1..=128).contains(&name.len()) && printable {
        return Ok(());
    }
    Err(Failure::usage("the field manager's name must have 1 to 128 printable characters"))
}
