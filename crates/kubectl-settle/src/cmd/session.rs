//! What apply, destroy and status have in common: read the input, reach the cluster, complete the
//! input with what the cluster knows, and show the run.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use jiff::tz::TimeZone;
use kstatus::{CustomRule, Rulebook};
use kubesettle::cluster::{Cluster, Config, ConfigOptions};
use kubesettle::error::ExitClass;
use kubesettle::event::Operation;
use kubesettle::graph::GraphOptions;
use kubesettle::inventory::{self, lease::Holder};
use kubesettle::manifest::{InvalidPolicy, LoadOptions, Manifests, ResolveOptions, UnknownKinds};
use kubesettle::plan::Wanted;
use kubesettle::run::{Run, RunOptions, SetOptions, prepare};
use kubesettle::watch::Hub;

use super::signals::Signals;
use super::{Stop, drive, input};
use crate::args::Output;
use crate::exit::Failure;
use crate::print::out::Out;
use crate::print::{self, Events, Json, Page, Plain, PlainOptions, Printer};
use crate::settings::{Subject, View};

/// What differs between the commands.
pub(super) struct Job<'a> {
    pub(super) subject: &'a Subject,
    pub(super) view: View,
    pub(super) unknown_kinds: UnknownKinds,
    pub(super) operation: Operation,
    pub(super) options: RunOptions,
}

impl Job<'_> {
    /// Does the whole of it.
    pub(super) fn run(self, out: &mut Out) -> Result<ExitClass, Stop> {
        let rules = input::rules(&self.subject.rules)?;
        let manifests = self.load()?;
        let config = Config::load(&self.subject.cluster).map_err(|error| self.stop(&manifests, error))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| {
            Failure::new(ExitClass::Internal, format!("the runtime does not start: {error}"))
        })?;
        let class = runtime.block_on(self.connected(config, rules, manifests, out));
        // Requests under way are not waited for: a second signal means now.
        runtime.shutdown_background();
        class
    }

    /// Reads every source. Problems stay with the manifests, so that those that only the cluster
    /// can show come in the same report.
    fn load(&self) -> Result<Manifests, Stop> {
        let sources = input::sources(&self.subject.input)?;
        let mut options = LoadOptions::default();
        options.invalid = InvalidPolicy::Skip;
        options.allow_empty = self.subject.set.name.is_some();
        Manifests::load(&sources, &options)
            .map_err(|error| Stop::Input { problems: error.into_problems(), besides: None })
    }

    /// Without a cluster, the problems known so far are told as well.
    fn stop(&self, manifests: &Manifests, error: impl Into<Failure>) -> Stop {
        let failure = error.into();
        if manifests.problems().is_empty() || self.subject.skip_invalid {
            return Stop::Failure(failure);
        }
        Stop::Input { problems: manifests.problems().to_vec(), besides: Some(failure) }
    }

    async fn connected(
        self,
        config: Config,
        rules: Vec<CustomRule>,
        manifests: Manifests,
        out: &mut Out,
    ) -> Result<ExitClass, Stop> {
        let mut signals = Signals::listen();
        let resolving = self.resolve_options(&config);
        let server = config.server().to_owned();
        let cluster = tokio::select! {
            cluster = Cluster::connect(config) => cluster.map_err(|error| self.stop(&manifests, error))?,
            () = signals.next() => {
                let failure = Failure::new(ExitClass::Interrupted, "interrupted; nothing was written");
                return Err(failure.into());
            }
        };
        let wanted = prepare(&cluster, manifests, &resolving, &GraphOptions::default())
            .map_err(|error| Stop::Input { problems: error.into_problems(), besides: None })?;
        let mut options = self.options.clone();
        options.set = self.set(&wanted, cluster.default_namespace())?;
        options.tracking = self.subject.set.tracking.clone();
        let mut printer = self.printer(&wanted, server, out);
        let mut page = Page::default();
        print::left_out(wanted.problems(), &mut page);
        out.write(&mut page);
        let rulebook = Rulebook::default().with_rules(rules).with_rules(wanted.rules().iter().cloned());
        let hub = Hub::with_rules(&cluster, rulebook);
        let run = Run::start(&cluster, &hub, self.operation, wanted, options);
        Ok(drive::drive(run, printer.as_mut(), out, &mut signals).await)
    }

    /// The set that is named, or whose template is in the input.
    fn set(&self, wanted: &Wanted, namespace: &str) -> Result<Option<SetOptions>, Failure> {
        let set = &self.subject.set;
        let usage = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
        let found = match (&set.name, wanted.template()) {
            (Some(_), Some(_)) => {
                let text = "--set is given, and the input holds an inventory template: which set is meant?";
                return Err(Failure::usage(text).hint("leave one of the two out"));
            }
            (Some(name), None) => inventory::Wanted::named(namespace, name).map_err(|error| usage(&error))?,
            (None, Some(json)) => inventory::Wanted::template(json).map_err(|error| usage(&error))?,
            (None, None) => return Ok(None),
        };
        let run = format!("{:08x}", RandomState::new().hash_one(0_u8) >> 32);
        Ok(Some(SetOptions {
            wanted: found,
            statuses: false,
            lock_timeout: set.lock_timeout,
            holder: Holder::new(&set.me.0, &set.me.1, std::process::id(), &run),
        }))
    }

    fn resolve_options(&self, config: &Config) -> ResolveOptions {
        let mut options = ResolveOptions::default();
        options.default_namespace = Some(config.default_namespace().into());
        options.enforce_namespace = self.subject.cluster.namespace.is_some();
        options.unknown_kinds = self.unknown_kinds;
        if self.subject.skip_invalid {
            options.invalid = InvalidPolicy::Skip;
        }
        options
    }

    fn printer(&self, wanted: &Wanted, server: String, out: &Out) -> Box<dyn Printer> {
        let objects = wanted.objects();
        match self.view.output {
            Output::Json => Box::new(Json::default()),
            Output::Events => Box::new(Events::new(self.view.status_events)),
            Output::Plain => {
                let places: HashMap<_, _> =
                    objects.iter().map(|object| (object.id().clone(), object.place().to_string())).collect();
                let options = PlainOptions {
                    palette: out.palette(),
                    zone: TimeZone::system(),
                    quiet: self.view.quiet,
                    verbose: self.view.verbosity > 0,
                    server,
                    kubectl: kubectl(&self.subject.cluster),
                    places,
                };
                Box::new(Plain::new(options, objects.iter().map(|object| object.id())))
            }
        }
    }
}

/// `kubectl` with the flags that lead to the same cluster as the same user.
fn kubectl(options: &ConfigOptions) -> String {
    let kubeconfig = options.kubeconfig.as_ref().map(|path| path.to_string_lossy());
    let flags = [
        ("--kubeconfig", kubeconfig.as_deref()),
        ("--context", options.context.as_deref()),
        ("--cluster", options.cluster.as_deref()),
        ("--user", options.user.as_deref()),
        ("--as", options.as_user.as_deref()),
    ];
    print::kubectl(flags.into_iter().filter_map(|(flag, value)| Some((flag, value?))))
}
