//! From what was named on the command line to what is wanted of the cluster.

use std::path::PathBuf;

use kstatus::CustomRule;
use kubesettle::cluster::{Cluster, Config};
use kubesettle::error::{ErrorClass, ExitClass};
use kubesettle::event::Operation;
use kubesettle::id::{GroupKind, ObjectId};
use kubesettle::inventory;
use kubesettle::manifest::{
    InvalidPolicy, LabelSelector, LoadOptions, Manifests, Object, ResolveOptions, Source, UnknownKinds,
};
use kubesettle::plan::{Recreate, Wanted};
use kubesettle::rules;
use kubesettle::run::{SelectError, select};
use kubesettle::watch::Target;

use super::Stop;
use crate::exit::Failure;
use crate::print::Page;
use crate::settings::{Input, Subject, pick};
use crate::{kustomize, stdin};

/// The rules of these files.
pub(super) fn rules(files: &[PathBuf]) -> Result<Vec<CustomRule>, Stop> {
    rules::load(files).map_err(|error| Stop::Input { problems: error.into_problems(), besides: None })
}

/// Every place; standard input is read whole.
pub(super) fn sources(input: &[Input], max_bytes: u64) -> Result<Vec<Source>, Failure> {
    let mut sources = Vec::with_capacity(input.len());
    for one in input {
        sources.push(match one {
            Input::Path { path, recursive } => Source::Path { path: path.clone(), recursive: *recursive },
            Input::Kustomization(folder) => Source::Bytes {
                name: format!("kustomize {}", folder.to_string_lossy()).into(),
                data: kustomize::build(folder)?.into(),
            },
            Input::Stdin { asked } => Source::Stdin(stdin::read(*asked, max_bytes)?.into()),
        });
    }
    Ok(sources)
}

/// Reads every source. Problems stay with the manifests, so that those that only the cluster can show
/// come in the same report.
pub(super) fn load(subject: &Subject, operation: Operation) -> Result<Manifests, Stop> {
    let mut options = LoadOptions::default();
    let sources = sources(&subject.input, options.max_bytes)?;
    options.invalid = InvalidPolicy::Skip;
    options.allow_empty = subject.asked.is_some() || subject.set.is_named();
    let mut manifests = Manifests::load(&sources, &options)
        .map_err(|error| Stop::Input { problems: error.into_problems(), besides: None })?;
    let template = || manifests.objects().iter().any(|object| object.inventory_id().is_some());
    if subject.set.required && subject.set.name.is_none() && !template() {
        return Err(Failure::usage("Package uninitialized. Please run \"init\" command.")
            .hint("init writes a template into the folder; what it names keeps the list of what was applied")
            .into());
    }
    if let Some(selector) = &subject.pick {
        if template() {
            pick::tracked(&subject.set, selector, operation)?;
        }
        narrow(&mut manifests, selector)?;
    }
    Ok(manifests)
}

/// Leaves out what has not the labels; a template is no object to be selected.
fn narrow(manifests: &mut Manifests, selector: &LabelSelector) -> Result<(), Failure> {
    let is_template = |object: &Object| object.inventory_id().is_some();
    manifests.retain(|object| is_template(object) || selector.admits(object));
    if manifests.objects().iter().all(is_template) && manifests.problems().is_empty() {
        return Err(Failure::usage(format!("-l {selector}: no object of the input has these labels"))
            .hint("the labels of the objects themselves count, not those of templates of Pods in them"));
    }
    Ok(())
}

/// Without a cluster, the problems known so far are told as well.
pub(super) fn stop(subject: &Subject, manifests: &Manifests, error: impl Into<Failure>) -> Stop {
    let failure = error.into();
    if manifests.problems().is_empty() || subject.skip_invalid {
        return Stop::Failure(failure);
    }
    Stop::Input { problems: manifests.problems().to_vec(), besides: Some(failure) }
}

/// How namespaces and kinds are filled in.
pub(super) fn resolve_options(subject: &Subject, config: &Config, unknown: UnknownKinds) -> ResolveOptions {
    let mut options = ResolveOptions::default();
    options.default_namespace = Some(config.default_namespace().into());
    options.enforce_namespace = subject.cluster.namespace.is_some();
    options.unknown_kinds = unknown;
    if subject.skip_invalid {
        options.invalid = InvalidPolicy::Skip;
    }
    options
}

/// Objects that nobody can list are not known.
fn class_of(class: ErrorClass) -> ExitClass {
    match class {
        ErrorClass::Unreachable | ErrorClass::Unauthorized => ExitClass::Unreachable,
        ErrorClass::BadRequest | ErrorClass::Invalid => ExitClass::Usage,
        _ => ExitClass::Unknown,
    }
}

/// The kinds of `--recreate`, short names too. One that nobody knows is told: it lets nothing be recreated.
pub(super) fn recreate(asked: Recreate, wanted: &Wanted, cluster: &Cluster, page: &mut Page) -> Recreate {
    let plural = |word: &str| {
        let found = cluster.resources_named(word);
        found.first().map(|resource| format!("{}.{}", resource.plural(), resource.group()))
    };
    let (known, unknown) = asked.as_known(plural);
    for word in unknown {
        let is_it = |kind: &str| word.split('.').next().is_some_and(|name| kind.eq_ignore_ascii_case(name));
        if !wanted.objects().iter().any(|object| is_it(object.group_kind().kind())) {
            page.err.push_str(&format!("warning: --recreate {word}: the server has no kind of that name\n"));
        }
    }
    known
}

/// The objects that are named.
pub(super) async fn named(
    subject: &Subject,
    cluster: &Cluster,
    page: &mut Page,
) -> Result<Vec<Target>, Failure> {
    let Some(asked) = &subject.asked else { return Ok(Vec::new()) };
    let namespace = cluster.default_namespace();
    let found = select(cluster, &asked.selection(namespace)).await.map_err(|error| match &error {
        SelectError::UnknownKind { .. } => Failure::usage(error.to_string())
            .hint("kubectl api-resources lists the kinds; a folder of that name is not there either"),
        SelectError::List { error: why, .. } => Failure::new(class_of(why.class), error.to_string()),
    })?;
    if found.is_empty() {
        page.err.push_str(&format!("no such objects in {}\n", asked.place(namespace)));
    }
    Ok(found)
}

/// The set that is named, or whose template is in the input.
pub(super) fn set(
    subject: &Subject,
    wanted: &Wanted,
    cluster: &Cluster,
) -> Result<Option<inventory::Wanted>, Failure> {
    let namespace = cluster.default_namespace();
    if let Some(text) = &subject.set.applyset {
        return applyset(text, cluster).map(|parent| Some(inventory::Wanted::applyset(&parent)));
    }
    let usage = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
    let found = match (&subject.set.name, wanted.template()) {
        (Some(_), Some(_)) => {
            let text = "--set is given, and the input holds an inventory template: which set is meant?";
            return Err(Failure::usage(text).hint("leave one of the two out"));
        }
        (Some(name), None) => inventory::Wanted::named(namespace, name).map_err(|error| usage(&error))?,
        (None, Some(json)) => inventory::Wanted::template(json).map_err(|error| usage(&error))?,
        (None, None) => return Ok(None),
    };
    Ok(Some(found))
}

/// The parent that `[RESOURCE[.GROUP]/]NAME` means; a Secret where no kind is named, as with kubectl.
fn applyset(text: &str, cluster: &Cluster) -> Result<ObjectId, Failure> {
    let wrong = |why: &str| {
        Failure::usage(format!("--applyset={text}: {why}"))
            .hint("write it as kubectl takes it: NAME for a Secret, configmaps/NAME, RESOURCE.GROUP/NAME")
    };
    let (kind, namespaced, name) = match text.split_once('/') {
        None => (GroupKind::new("", "Secret"), true, text),
        Some((word, name)) => match cluster.resources_named(word).first() {
            Some(resource) => (resource.group_kind().clone(), resource.namespaced(), name),
            None => return Err(wrong(&format!("the cluster serves nothing called {word:?}"))),
        },
    };
    if name.is_empty() || name.contains('/') {
        return Err(wrong("a name is missing"));
    }
    let namespace = if namespaced { &**cluster.default_namespace() } else { "" };
    Ok(ObjectId::new(kind, namespace, name))
}
