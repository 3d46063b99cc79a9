//! Plans in files: what `plan --out` writes, and what `apply FILE` makes of it.
//!
//! The file holds the flags that the plan was made with, the plan itself, and for which cluster. The input is
//! named, not copied: it is read again, and must be the same.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use kubesettle::inventory::PruneMax;
use kubesettle::plan::SavedPlan;
use kubesettle::run::RunOptions;
use serde::{Deserialize, Serialize};

use crate::args::{
    self, ApplyArgs, Cli, Command, DestroyArgs, InputArgs, PickArgs, PruneArgs, RecreateArgs, SetArgs,
    WriteArgs,
};
use crate::exit::Failure;
use crate::files;
use crate::settings::{Input, Subject};

const API_VERSION: &str = "kubesettle.io/v1";
const KIND: &str = "Plan";

/// A plan that is to be carried out.
#[derive(Clone, Debug)]
pub(crate) struct Agreed {
    /// The server that it was made for.
    pub(crate) server: String,
    pub(crate) plan: Arc<SavedPlan>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PlanFile {
    api_version: String,
    kind: String,
    tool: String,
    made: String,
    server: String,
    flags: Flags,
    plan: SavedPlan,
}

/// As much of a file as tells what it is.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Head {
    api_version: String,
    kind: String,
    tool: String,
}

impl Head {
    fn is_plan(&self) -> bool {
        self.api_version == API_VERSION && self.kind == KIND
    }
}

/// What the plan was made with, the environment's share included.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Flags {
    input: Vec<Place>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    selector: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    set: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    applyset: Option<String>,
    inventory_policy: String,
    skip_invalid: bool,
    rules: Vec<PathBuf>,
    no_prune: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prune_max: Option<String>,
    prune_allow: Vec<String>,
    allow_empty: bool,
    recreate: Vec<String>,
    cascade: String,
    field_manager: String,
    force_conflicts: bool,
    validate: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Place {
    path: String,
    recursive: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    kustomization: bool,
}

/// Writes a plan. Another plan of that name is replaced, nothing else is.
pub(crate) fn write(
    file: &Path,
    server: &str,
    subject: &Subject,
    options: &RunOptions,
    plan: SavedPlan,
) -> Result<(), Failure> {
    let text = PlanFile {
        api_version: API_VERSION.to_owned(),
        kind: KIND.to_owned(),
        tool: tool(),
        made: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        server: server.to_owned(),
        flags: Flags::of(subject, options),
        plan,
    };
    let text = serde_json::to_string_pretty(&text)
        .map_err(|error| Failure::usage(format!("the plan cannot be written down: {error}")))?;
    let shown = file.display();
    if file.exists() && !head(&files::text_of(file)?.unwrap_or_default()).is_some_and(|head| head.is_plan()) {
        return Err(Failure::usage(format!("{shown} exists and is no plan: it is not replaced"))
            .hint("give --out another name"));
    }
    files::replace(file, &format!("{text}\n"))
}

fn tool() -> String {
    format!("kubectl-settle {}", env!("CARGO_PKG_VERSION"))
}

fn head(text: &str) -> Option<Head> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    serde_json::from_str(text).ok()
}

impl Flags {
    fn of(subject: &Subject, options: &RunOptions) -> Self {
        let tracking = &subject.set.tracking;
        let place = |input: &Input| match input {
            Input::Path { path, recursive } => {
                let path = path.to_string_lossy().into_owned();
                Place { path, recursive: *recursive, kustomization: false }
            }
            Input::Kustomization(folder) => {
                let path = folder.to_string_lossy().into_owned();
                Place { path, recursive: false, kustomization: true }
            }
            Input::Stdin { .. } => Place { path: String::from("-"), recursive: false, kustomization: false },
        };
        Self {
            input: subject.input.iter().map(place).collect(),
            selector: subject.pick.as_ref().map(ToString::to_string),
            namespace: subject.cluster.namespace.clone(),
            set: subject.set.name.clone(),
            applyset: subject.set.applyset.clone(),
            inventory_policy: tracking.policy.word().to_owned(),
            skip_invalid: subject.skip_invalid,
            rules: subject.rules.clone(),
            no_prune: tracking.no_prune,
            prune_max: match tracking.guard.max {
                PruneMax::Default => None,
                PruneMax::Count(count) => Some(count.to_string()),
                PruneMax::Percent(percent) => Some(format!("{percent}%")),
                PruneMax::All => Some(String::from("100%")),
            },
            prune_allow: tracking.guard.allow.iter().map(|kind| kind.as_str().to_owned()).collect(),
            allow_empty: tracking.allow_empty,
            recreate: options.recreate.words().map(str::to_owned).collect(),
            cascade: options.delete.propagation.as_str().to_lowercase(),
            field_manager: options.apply.field_manager.clone(),
            force_conflicts: options.apply.force,
            validate: args::validate_word(options.apply.validation).to_owned(),
        }
    }
}

/// The plan that `apply FILE` names: the command line becomes the one that the plan was made with.
/// `None` when it names none.
pub(crate) fn open(cli: &mut Cli) -> Result<Option<Agreed>, Failure> {
    let Command::Apply(given) = &cli.command else { return Ok(None) };
    let Some(file) = given.input.directory.as_ref().map(PathBuf::from) else { return Ok(None) };
    let Some(text) = files::text_of(&file)? else { return Ok(None) };
    let Some(head) = head(&text).filter(Head::is_plan) else { return Ok(None) };
    let shown = file.display();
    let bad = |why: &dyn std::fmt::Display| {
        let Head { tool, .. } = &head;
        Failure::usage(format!("{shown} is no plan that this program understands: {why}"))
            .hint(format!("it was made by {tool:?}, this is {:?}; make a new plan", self::tool()))
    };
    let found: PlanFile = serde_json::from_str(&text).map_err(|error| bad(&error))?;
    found.plan.understood().map_err(|version| bad(&format!("version {version} of its form")))?;
    if let Some(flag) = settled_already(given) {
        return Err(Failure::usage(format!("{flag} cannot be given with a plan: {shown} settles that"))
            .hint("leave the flag out, or make a new plan with it"));
    }
    match (&cli.cluster.namespace, &found.flags.namespace) {
        (Some(now), then) if then.as_ref() != Some(now) => {
            let then = then.as_deref().unwrap_or("none");
            return Err(Failure::usage(format!("-n {now} is given, and {shown} was made with {then}")));
        }
        _ => cli.cluster.namespace.clone_from(&found.flags.namespace),
    }
    let PlanFile { server, flags, plan, .. } = found;
    let (given, destroy) = (given.clone(), plan.is_destroy());
    let args = flags.into_args(given)?;
    cli.command = if destroy {
        Command::Destroy(DestroyArgs {
            input: args.input,
            pick: args.pick,
            set: args.set,
            wait: args.wait,
            watching: args.watching,
            cascade: args.cascade,
            delete_propagation_policy: None,
            delete_timeout: args.prune_timeout,
            dry_run: args.dry_run,
        })
    } else {
        Command::Apply(args)
    };
    Ok(Some(Agreed { server, plan: Arc::new(plan) }))
}

/// A flag that was given and that a plan has settled already.
fn settled_already(given: &ApplyArgs) -> Option<&'static str> {
    let flags = [
        ("--set", given.set.set.is_some()),
        ("--applyset", given.set.applyset.is_some()),
        ("--inventory-policy", given.set.inventory_policy.is_some()),
        ("--skip-invalid", given.input.skip_invalid.is_some()),
        ("--rules", !given.input.rules.is_empty()),
        ("--no-prune", given.prune.no_prune.is_some()),
        ("--prune-max", given.prune.prune_max.is_some()),
        ("--prune-allow", !given.prune.prune_allow.is_empty()),
        ("--allow-empty", given.prune.allow_empty.is_some()),
        ("--recreate", !given.anew.recreate.is_empty()),
        ("--selector", given.pick.selector.is_some()),
        ("--cascade", given.cascade.is_some()),
        ("--prune-propagation-policy", given.prune_propagation_policy.is_some()),
        ("--field-manager", given.write.field_manager.is_some()),
        ("--force-conflicts", given.write.force_conflicts.is_some()),
        ("--validate", given.write.validate.is_some()),
    ];
    flags.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
}

impl Flags {
    /// The flags in full, with what a plan leaves open as it is given now.
    fn into_args(self, given: ApplyArgs) -> Result<ApplyArgs, Failure> {
        let wrong = |error: String| Failure::usage(format!("the plan has a flag that is wrong: {error}"));
        Ok(ApplyArgs {
            input: self.input(&given.input),
            pick: PickArgs { selector: self.selector },
            set: SetArgs {
                set: self.set,
                applyset: self.applyset,
                inventory_policy: Some(self.inventory_policy),
                ..given.set
            },
            prune: PruneArgs {
                no_prune: Some(self.no_prune),
                prune_max: self.prune_max,
                prune_allow: self.prune_allow,
                allow_empty: Some(self.allow_empty),
            },
            anew: RecreateArgs { recreate: self.recreate },
            write: WriteArgs {
                force_conflicts: Some(self.force_conflicts),
                field_manager: Some(self.field_manager),
                validate: Some(args::validate(&self.validate).map_err(wrong)?),
            },
            cascade: Some(args::cascade(&self.cascade).map_err(wrong)?),
            prune_propagation_policy: None,
            ..given
        })
    }

    /// Where the input is: where it was, unless -f says where it is now.
    fn input(&self, given: &InputArgs) -> InputArgs {
        let common = InputArgs {
            skip_invalid: Some(self.skip_invalid),
            rules: self.rules.clone(),
            ..InputArgs::default()
        };
        if !given.filename.is_empty() {
            return InputArgs { filename: given.filename.clone(), recursive: given.recursive, ..common };
        }
        if given.kustomize.is_some() {
            return InputArgs { kustomize: given.kustomize.clone(), ..common };
        }
        if let [Place { path, kustomization: true, .. }] = self.input.as_slice() {
            return InputArgs { kustomize: Some(path.into()), ..common };
        }
        // Only the folder that stands without -f differs from the others.
        let mixed = self.input.iter().any(|place| !place.recursive);
        let (folder, files): (Vec<_>, Vec<_>) = self.input.iter().partition(|place| mixed && place.recursive);
        InputArgs {
            filename: files.iter().map(|place| (&*place.path).into()).collect(),
            recursive: Some(!mixed),
            directory: folder.first().map(|place| (&*place.path).into()),
            ..common
        }
    }
}
