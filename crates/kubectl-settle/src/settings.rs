//! What was typed, and what the environment says, made into what is meant.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use clap_complete::Shell;
use kubesettle::cluster::ConfigOptions;
use kubesettle::event::{DryRun, Operation};
use kubesettle::inventory::{InventoryPolicy, ProtectedKind, PruneGuard, PruneMax};
use kubesettle::manifest::LabelSelector;
use kubesettle::plan::{Recreate, Tracking};
use kubesettle::watch::ScopeStrategy;

use crate::args::{
    self, ApplyArgs, Cascade, Cli, ClusterArgs, Color, Command, DestroyArgs, GoDuration, InputArgs, Output,
    PruneArgs, Role, SetArgs, StatusArgs, Until, Validate, ViewArgs, WaitArgs, WatchArgs,
};
use crate::env::Variables;
use crate::exit::Failure;
use crate::saved::Agreed;
use asked::Asked;
use plan::dry_run;

pub(crate) use look::Only;
pub(crate) use plan::Diff;
pub(crate) use upkeep::{Init, Upkeep};

/// Everything a command needs to know.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) role: Role,
    pub(crate) view: View,
    pub(crate) task: Task,
}

/// How to show things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) output: Output,
    pub(crate) color: Color,
    pub(crate) quiet: bool,
    pub(crate) verbosity: u8,
    pub(crate) status_events: bool,
}

/// What to do.
#[derive(Debug)]
pub(crate) enum Task {
    Apply(Box<Apply>),
    Destroy(Box<Destroy>),
    Status(Box<Status>),
    Local(Box<Local>),
    Diff(Box<Diff>),
    Init(Box<Init>),
    Inventory(Box<Upkeep>),
    Version,
    Completion(Shell),
    Help(Vec<String>),
}

/// Objects and the cluster they belong to.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) cluster: ConfigOptions,
    /// Empty only when a set is named that need not be read.
    pub(crate) input: Vec<Input>,
    pub(crate) skip_invalid: bool,
    /// Those objects of the input that are meant.
    pub(crate) pick: Option<LabelSelector>,
    /// Files of rules.
    pub(crate) rules: Vec<PathBuf>,
    /// In which scopes its objects are watched.
    pub(crate) scope: ScopeStrategy,
    pub(crate) set: Set,
    /// Objects that are named instead.
    pub(crate) asked: Option<Asked>,
    /// Where to save the plan.
    pub(crate) out: Option<PathBuf>,
    /// The plan to be carried out, when one was made before.
    pub(crate) agreed: Option<Agreed>,
}

/// Which set, and how it is guarded.
#[derive(Debug, Default)]
pub(crate) struct Set {
    /// Its name, when one was given.
    pub(crate) name: Option<String>,
    /// The parent of an ApplySet, when one was given.
    pub(crate) applyset: Option<String>,
    /// There must be one: by its name, or by a template among the input.
    pub(crate) required: bool,
    /// What a run is about is what the set has on record, not the input.
    pub(crate) only: bool,
    pub(crate) tracking: Tracking,
    /// How each object went is kept in the record too.
    pub(crate) record_status: bool,
    pub(crate) lock_timeout: Duration,
    /// Who we are, in its lock: user and host.
    pub(crate) me: (String, String),
}

impl Set {
    /// It was named on the command line.
    pub(crate) fn is_named(&self) -> bool {
        self.name.is_some() || self.applyset.is_some()
    }
}

/// One place objects are read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Path {
        path: PathBuf,
        recursive: bool,
    },
    /// A folder with a kustomization, or an address of one.
    Kustomization(OsString),
    /// Standard input; `asked` when it was named, else for want of anything else.
    Stdin {
        asked: bool,
    },
}

#[derive(Debug)]
pub(crate) struct Apply {
    pub(crate) subject: Subject,
    pub(crate) wait: bool,
    pub(crate) timeout: Option<Duration>,
    /// `None` for the library's default.
    pub(crate) retry_for: Option<Duration>,
    pub(crate) object_timeout: Option<Duration>,
    pub(crate) removal_timeout: Option<Duration>,
    pub(crate) cascade: Cascade,
    pub(crate) recreate: Recreate,
    pub(crate) dry_run: Option<DryRun>,
    pub(crate) force_conflicts: bool,
    pub(crate) field_manager: String,
    pub(crate) validate: Validate,
}

#[derive(Debug)]
pub(crate) struct Destroy {
    pub(crate) subject: Subject,
    pub(crate) wait: bool,
    pub(crate) timeout: Option<Duration>,
    /// `None` for the library's default.
    pub(crate) retry_for: Option<Duration>,
    pub(crate) object_timeout: Option<Duration>,
    pub(crate) cascade: Cascade,
    pub(crate) dry_run: Option<DryRun>,
}

#[derive(Debug)]
pub(crate) struct Status {
    pub(crate) subject: Subject,
    pub(crate) only: Only,
    pub(crate) until: Until,
    pub(crate) timeout: Option<Duration>,
}

/// Verdicts on a dump.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) input: Vec<Input>,
    pub(crate) skip_invalid: bool,
    /// Files of rules.
    pub(crate) rules: Vec<PathBuf>,
    pub(crate) only: Only,
    /// Without the table of known custom kinds.
    pub(crate) generic: bool,
    /// With the rule that decided.
    pub(crate) explain: bool,
}

impl Settings {
    /// The run is to do this plan.
    pub(crate) fn agree(&mut self, agreed: Option<Agreed>) {
        match &mut self.task {
            Task::Apply(apply) => apply.subject.agreed = agreed,
            Task::Destroy(destroy) => destroy.subject.agreed = agreed,
            _ => {}
        }
    }
}

/// Gives the command line its meaning. The only place where that can fail.
///
/// # Errors
///
/// Usage that no flag alone shows to be wrong, and values of the environment that make no sense.
pub(crate) fn resolve(cli: Cli, role: Role, variables: &Variables) -> Result<Settings, Failure> {
    let layers = Layers(variables, role);
    let view = layers.view(&cli.view)?;
    let cluster = connection(cli.cluster, variables);
    let task = match cli.command {
        Command::Apply(args) => Task::Apply(Box::new(layers.apply(args, cluster)?)),
        Command::Destroy(args) => Task::Destroy(Box::new(layers.destroy(args, cluster)?)),
        Command::Status(args) if args.local.local == Some(true) => {
            Task::Local(Box::new(layers.local(args, cluster)?))
        }
        Command::Status(args) => Task::Status(Box::new(layers.status(args, cluster)?)),
        Command::Plan(args) => layers.plan(args, cluster)?,
        Command::Diff(args) => Task::Diff(Box::new(layers.diff(args, cluster)?)),
        Command::Inventory(args) => Task::Inventory(Box::new(upkeep::upkeep(args, cluster, layers.me()))),
        Command::Init(args) => Task::Init(Box::new(upkeep::init(args, cluster))),
        Command::Version => Task::Version,
        Command::Completion(args) => Task::Completion(args.shell()),
        Command::Help(args) => Task::Help(args.words),
    };
    Ok(Settings { role, view, task })
}

/// Flag over environment over default.
struct Layers<'a>(&'a Variables, Role);

impl Layers<'_> {
    fn pick<T>(
        &self,
        flag: Option<T>,
        variable: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Failure> {
        let Some(value) = self.0.get(variable).filter(|_| flag.is_none()) else { return Ok(flag) };
        let text = value.to_string_lossy();
        read(&text).map(Some).map_err(|why| {
            Failure::usage(format!("{variable} is set to \"{text}\": {why}"))
                .hint(format!("change or unset {variable}, or give the flag"))
        })
    }

    fn flag(&self, flag: Option<bool>, variable: &str) -> Result<Option<bool>, Failure> {
        self.pick(flag, variable, args::go_bool)
    }

    fn limit(&self, flag: Option<GoDuration>, variable: &str) -> Result<Option<Duration>, Failure> {
        let limit =
            self.pick(flag, variable, |text| GoDuration::from_str(text).map_err(|e| e.to_string()))?;
        Ok(limit.map(|GoDuration(time)| time).filter(|time| !time.is_zero()))
    }

    fn choice<T: ValueEnum>(&self, flag: Option<T>, variable: &str) -> Result<Option<T>, Failure> {
        self.pick(flag, variable, |text| {
            let names = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
            T::from_str(text, true).map_err(|_| {
                let names: Vec<_> = names.map(|value| value.get_name().to_owned()).collect();
                format!("expected one of {}", names.join(", "))
            })
        })
    }

    fn view(&self, args: &ViewArgs) -> Result<View, Failure> {
        Ok(View {
            output: self.choice(args.output, "KUBESETTLE_OUTPUT")?.unwrap_or(self.1.output()),
            color: self.color(args.color)?,
            quiet: args.quiet.unwrap_or(false),
            verbosity: args.verbosity.unwrap_or(0),
            status_events: args.status_events.unwrap_or(false),
        })
    }

    /// The common conventions come after our own variable: `NO_COLOR` wins over
    /// `CLICOLOR_FORCE`, a dumb terminal gets no colours.
    fn color(&self, flag: Option<Color>) -> Result<Color, Failure> {
        let set = |name| self.0.get(name).is_some_and(|value| value != "0");
        let conventions = || match () {
            () if self.0.get("NO_COLOR").is_some() => Color::Never,
            () if set("CLICOLOR_FORCE") || set("FORCE_COLOR") => Color::Always,
            () if self.0.get("TERM") == Some(OsStr::new("dumb")) => Color::Never,
            () => Color::Auto,
        };
        Ok(self.choice(flag, "KUBESETTLE_COLOR")?.unwrap_or_else(conventions))
    }

    fn wait(&self, args: &WaitArgs) -> Result<(bool, Option<Duration>), Failure> {
        let wait = self.flag(args.wait, "KUBESETTLE_WAIT")?.unwrap_or(true);
        Ok((wait, self.limit(args.timeout, "KUBESETTLE_TIMEOUT")?))
    }

    fn retry_for(&self, args: &WaitArgs) -> Result<Option<Duration>, Failure> {
        let read = |text: &str| GoDuration::from_str(text).map_err(|error| error.to_string());
        let time = self.pick(args.retry_for, "KUBESETTLE_RETRY_FOR", read)?;
        Ok(time.map(|GoDuration(time)| time))
    }

    fn scope(&self, args: WatchArgs) -> Result<ScopeStrategy, Failure> {
        Ok(self.pick(args.watch_scope, "KUBESETTLE_WATCH_SCOPE", args::watch_scope)?.unwrap_or_default())
    }

    fn set(&self, set: SetArgs, prune: PruneArgs) -> Result<Set, Failure> {
        let policy = self.pick(set.inventory_policy, "KUBESETTLE_INVENTORY_POLICY", |t| Ok(t.to_owned()))?;
        let policy = match policy {
            None => InventoryPolicy::default(),
            Some(word) => InventoryPolicy::parse(&word).ok_or_else(|| {
                Failure::usage(format!("--inventory-policy={word}: expected strict, adopt or force-adopt"))
            })?,
        };
        let usage = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
        let max = self.pick(prune.prune_max, "KUBESETTLE_PRUNE_MAX", |text| Ok(text.to_owned()))?;
        let max = max.map(|text| PruneMax::parse(&text)).transpose().map_err(|error| usage(&error))?;
        let allow = prune.prune_allow.iter().map(|kind| ProtectedKind::parse(kind));
        let allow = allow.collect::<Result<Vec<_>, _>>().map_err(|error| usage(&error))?;
        // kapply has no guard, and its scripts do not expect one.
        let as_kapply = self.1 == Role::Kapply;
        let allow = if as_kapply { ProtectedKind::ALL.to_vec() } else { allow };
        let otherwise = if as_kapply { PruneMax::All } else { PruneMax::Default };
        let tracking = Tracking {
            policy,
            no_prune: prune.no_prune.unwrap_or(false),
            guard: PruneGuard { max: max.unwrap_or(otherwise), allow },
            allow_empty: prune.allow_empty.unwrap_or(as_kapply),
            strict_needs: as_kapply,
        };
        Ok(Set {
            required: as_kapply && set.applyset.is_none(),
            name: set.set,
            applyset: set.applyset,
            only: false,
            tracking,
            record_status: self.flag(set.record_status, "KUBESETTLE_RECORD_STATUS")?.unwrap_or(false),
            lock_timeout: self.limit(set.lock_timeout, "KUBESETTLE_LOCK_TIMEOUT")?.unwrap_or_default(),
            me: self.me(),
        })
    }

    /// Who we are: user and host.
    fn me(&self) -> (String, String) {
        let word = |name: &str, or: &str| {
            self.0.get(name).map_or_else(|| or.to_owned(), |value| value.to_string_lossy().into_owned())
        };
        (word("USER", "somebody"), word("HOSTNAME", "this machine"))
    }

    fn subject(
        &self,
        args: InputArgs,
        cluster: ConfigOptions,
        set: Set,
        set_suffices: bool,
    ) -> Result<Subject, Failure> {
        let recursive = args.recursive.unwrap_or(false);
        let mut input = Vec::new();
        for name in args.filename {
            input.push(one_input(name, recursive)?);
        }
        input.extend(args.kustomize.map(Input::Kustomization));
        // kapply reads its one folder with all folders in it.
        if let Some(name) = args.directory {
            input.push(one_input(name, true)?);
        }
        if input.is_empty() && !(set_suffices && set.is_named()) {
            input.push(Input::Stdin { asked: false });
        }
        if input.iter().filter(|one| matches!(one, Input::Stdin { .. })).count() > 1 {
            return Err(Failure::usage("standard input (-) is given twice"));
        }
        let skip_invalid = self.flag(args.skip_invalid, "KUBESETTLE_SKIP_INVALID")?.unwrap_or(false);
        Ok(Subject {
            cluster,
            input,
            skip_invalid,
            pick: None,
            rules: args.rules,
            scope: ScopeStrategy::default(),
            set,
            asked: None,
            out: None,
            agreed: None,
        })
    }

    fn apply(&self, args: ApplyArgs, cluster: ConfigOptions) -> Result<Apply, Failure> {
        if args.server_side == Some(false) && self.1 != Role::Kapply {
            return Err(Failure::usage("--server-side=false: objects are only applied server-side")
                .hint("leave the flag out; fields of earlier client-side applies are taken over"));
        }
        let (wait, timeout) = self.wait(&args.wait)?;
        let write = self.write(args.write)?;
        let mut subject = self.subject(args.input, cluster, self.set(args.set, args.prune)?, false)?;
        subject.scope = self.scope(args.watching)?;
        subject.pick = pick::selector(args.pick)?;
        pick::check(&subject, Operation::Apply)?;
        let recreate = Recreate::parse(args.anew.recreate.iter().map(String::as_str))
            .map_err(|error| Failure::usage(error.to_string()))?;
        Ok(Apply {
            subject,
            recreate,
            wait,
            timeout,
            retry_for: self.retry_for(&args.wait)?,
            object_timeout: self.limit(args.reconcile_timeout, "KUBESETTLE_RECONCILE_TIMEOUT")?,
            removal_timeout: self.limit(args.prune_timeout, "KUBESETTLE_PRUNE_TIMEOUT")?,
            cascade: self
                .pick(args.cascade.or(args.prune_propagation_policy), "KUBESETTLE_CASCADE", args::cascade)?
                .unwrap_or_default(),
            dry_run: dry_run(args.dry_run),
            force_conflicts: write.force_conflicts,
            field_manager: write.field_manager,
            validate: write.validate,
        })
    }

    fn destroy(&self, args: DestroyArgs, cluster: ConfigOptions) -> Result<Destroy, Failure> {
        let (wait, timeout) = self.wait(&args.wait)?;
        let set = self.set(args.set, PruneArgs::default())?;
        let mut subject = self.subject(args.input, cluster, set, true)?;
        subject.scope = self.scope(args.watching)?;
        subject.pick = pick::selector(args.pick)?;
        pick::check(&subject, Operation::Destroy)?;
        Ok(Destroy {
            subject,
            wait,
            timeout,
            retry_for: self.retry_for(&args.wait)?,
            object_timeout: self.limit(args.delete_timeout, "KUBESETTLE_DELETE_TIMEOUT")?,
            cascade: self
                .pick(args.cascade.or(args.delete_propagation_policy), "KUBESETTLE_CASCADE", args::cascade)?
                .unwrap_or_default(),
            dry_run: dry_run(args.dry_run),
        })
    }

    fn status(&self, mut args: StatusArgs, cluster: ConfigOptions) -> Result<Status, Failure> {
        let watch = args.watch.unwrap_or(false);
        args.set = args.set.or(look::remote(&args.look)?);
        let asked = asked::asked(&mut args, self.1)?;
        let mut set = self.set(
            SetArgs { set: args.set, applyset: args.applyset, ..SetArgs::default() },
            PruneArgs::default(),
        )?;
        set.only = self.1 == Role::Kapply;
        let otherwise = if watch { Until::Forever } else { Until::Known };
        let mut subject = self.subject(args.input, cluster, set, true)?;
        if asked.is_some() {
            subject.input.clear();
        }
        subject.asked = asked;
        subject.scope = self.scope(args.watching)?;
        Ok(Status {
            subject,
            only: Only { namespaces: args.look.namespaces, statuses: args.look.statuses },
            until: args.until.unwrap_or(otherwise),
            timeout: self.limit(args.timeout, "KUBESETTLE_TIMEOUT")?,
        })
    }

    fn local(&self, args: StatusArgs, cluster: ConfigOptions) -> Result<Local, Failure> {
        let Subject { cluster, input, skip_invalid, rules, .. } =
            self.subject(args.input, cluster, Set::default(), false)?;
        let mut only = Only { namespaces: args.look.namespaces, statuses: args.look.statuses };
        only.namespaces.extend(cluster.namespace);
        let (generic, explain) = (args.local.generic, args.local.explain);
        Ok(Local {
            input,
            skip_invalid,
            rules,
            only,
            generic: generic.unwrap_or(false),
            explain: explain.unwrap_or(false),
        })
    }
}

fn one_input(name: OsString, recursive: bool) -> Result<Input, Failure> {
    let text = name.to_string_lossy();
    if text == "-" {
        return Ok(Input::Stdin { asked: true });
    }
    if text.starts_with("https://") || text.starts_with("http://") {
        return Err(Failure::usage(format!("{text}: addresses are not fetched"))
            .hint(format!("pipe it in: curl -fsSL '{text}' | kubectl settle apply -f -")));
    }
    if text.is_empty() {
        return Err(Failure::usage("an empty name stands where a file, a folder or - is expected"));
    }
    Ok(Input::Path { path: name.into(), recursive })
}

fn connection(args: ClusterArgs, variables: &Variables) -> ConfigOptions {
    ConfigOptions {
        kubeconfig: args.kubeconfig,
        context: args.context,
        cluster: args.cluster,
        user: args.user,
        namespace: args.namespace,
        server: args.server,
        token: args.token,
        as_user: args.as_user,
        as_groups: args.as_groups,
        as_uid: args.as_uid,
        certificate_authority: args.certificate_authority,
        client_certificate: args.client_certificate,
        client_key: args.client_key,
        insecure_skip_tls_verify: args.insecure_skip_tls_verify.unwrap_or(false),
        tls_server_name: args.tls_server_name,
        request_timeout: args.request_timeout.map(|timeout| timeout.0),
        proxy_url: args.proxy_url,
        disable_compression: args.disable_compression.unwrap_or(false),
        user_agent: format!("kubectl-settle/{}", env!("CARGO_PKG_VERSION")),
        environment: variables.for_library(),
    }
}

mod asked;
mod look;
pub(crate) mod pick;
mod plan;
mod upkeep;

#[cfg(test)]
mod tests;
