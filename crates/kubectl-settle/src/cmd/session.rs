//! What apply, destroy and status have in common: read the input, reach the cluster, complete the
//! input with what the cluster knows, and show the run.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use jiff::tz::TimeZone;
use kstatus::{CustomRule, Rulebook};
use kubesettle::cluster::{Config, ConfigOptions};
use kubesettle::error::ExitClass;
use kubesettle::event::Operation;
use kubesettle::graph::GraphOptions;
use kubesettle::inventory::{self, lease::Holder};
use kubesettle::manifest::{Manifests, UnknownKinds};
use kubesettle::plan::Wanted;
use kubesettle::run::{Run, RunOptions, SetOptions, prepare};
use kubesettle::watch::{Hub, SubscribeOptions};

use super::drive::Ended;
use super::signals::Signals;
use super::{Stop, contact, drive, input, kapply};
use crate::args::{Output, Role};
use crate::exit::Failure;
use crate::print::out::Out;
use crate::print::{self, Events, Json, Names, Narrow, Page, Plain, PlainOptions, Printer};
use crate::saved;
use crate::settings::{Only, Subject, View};

/// What differs between the commands.
pub(super) struct Job<'a> {
    pub(super) role: Role,
    pub(super) subject: &'a Subject,
    pub(super) view: View,
    pub(super) unknown_kinds: UnknownKinds,
    pub(super) operation: Operation,
    pub(super) options: RunOptions,
    pub(super) only: Only,
}

impl Job<'_> {
    /// Does the whole of it.
    pub(super) fn run(self, out: &mut Out) -> Result<ExitClass, Stop> {
        let rules = input::rules(&self.subject.rules)?;
        let manifests = input::load(self.subject, self.operation)?;
        let config = Config::load(&self.subject.cluster)
            .map_err(|error| input::stop(self.subject, &manifests, error))?;
        contact::run(self.connected(config, rules, manifests, out))
    }

    async fn connected(
        self,
        config: Config,
        rules: Vec<CustomRule>,
        manifests: Manifests,
        out: &mut Out,
    ) -> Result<ExitClass, Stop> {
        let mut signals = Signals::listen();
        let resolving = input::resolve_options(self.subject, &config, self.unknown_kinds);
        let server = config.server().to_owned();
        self.same_server(&server)?;
        let cluster = contact::connect(config, &mut signals)
            .await
            .map_err(|error| input::stop(self.subject, &manifests, error))?;
        let order = match self.operation {
            Operation::Destroy => GraphOptions::removal(),
            Operation::Apply | Operation::Status => GraphOptions::default(),
        };
        let mut wanted = prepare(&cluster, manifests, &resolving, &order)
            .map_err(|error| Stop::Input { problems: error.into_problems(), besides: None })?;
        let mut options = self.options.clone();
        options.watch = SubscribeOptions::in_scope(self.subject.scope.clone());
        options.watch.labels = self.subject.asked.as_ref().and_then(|asked| asked.selector()).map(Arc::from);
        let mut page = Page::default();
        options.recreate = input::recreate(options.recreate, &wanted, &cluster, &mut page);
        let set = input::set(self.subject, &wanted, &cluster)?;
        options.set = set.map(|set| self.set(set));
        options.tracking = self.subject.set.tracking.clone();
        options.saved = self.subject.agreed.as_ref().map(|agreed| agreed.plan.clone());
        options.keep_plan = self.subject.out.is_some();
        if self.role == Role::Kapply {
            kapply::judge(&mut options.judgement.policy);
        }
        options.targets = input::named(self.subject, &cluster, &mut page).await?;
        print::left_out(wanted.problems(), &mut page);
        out.write(&mut page);
        let rulebook = Rulebook::default().with_rules(rules).with_rules(wanted.rules().iter().cloned());
        let hub = Hub::with_rules(&cluster, rulebook);
        if self.subject.set.only && options.set.is_some() {
            wanted = Wanted::default();
        }
        let form = self.printer(&wanted, &options, server.clone(), out);
        let mut printer = Narrow::to(&self.only, form);
        let run = Run::start(&cluster, &hub, self.operation, wanted, options);
        let mut ended = drive::drive(run, printer.as_mut(), out, &mut signals).await;
        self.save(&server, &mut ended, &mut page)?;
        out.write(&mut page);
        Ok(match self.role {
            Role::Settle => ended.class,
            Role::Kapply => {
                let (class, error) = kapply::verdict(&ended);
                page.err.extend(error);
                out.write(&mut page);
                class
            }
        })
    }

    /// A plan is about one cluster.
    fn same_server(&self, server: &str) -> Result<(), Stop> {
        let Some(agreed) = self.subject.agreed.as_ref().filter(|agreed| agreed.server != server) else {
            return Ok(());
        };
        let text = format!("the plan was made for the cluster at {}, this is {server}", agreed.server);
        Err(Failure::new(ExitClass::Refused, text).hint("make a new plan for this cluster").into())
    }

    /// Saves the plan where that was asked for; one that would fail is not worth keeping.
    fn save(&self, server: &str, ended: &mut Ended, page: &mut Page) -> Result<(), Stop> {
        let Some(file) = &self.subject.out else { return Ok(()) };
        let shown = file.display();
        match ended.plan.take().filter(|_| ended.class == ExitClass::Ok) {
            Some(plan) => {
                saved::write(file, server, self.subject, &self.options, plan)?;
                page.err.push_str(&format!("the plan is saved: apply {shown} carries it out\n"));
            }
            None => page.err.push_str(&format!("the plan is not saved in {shown}: it would not go well\n")),
        }
        Ok(())
    }

    fn set(&self, wanted: inventory::Wanted) -> SetOptions {
        let set = &self.subject.set;
        let run = format!("{:08x}", RandomState::new().hash_one(0_u8) >> 32);
        SetOptions {
            wanted,
            statuses: set.record_status,
            lock_timeout: set.lock_timeout,
            holder: Holder::new(&set.me.0, &set.me.1, std::process::id(), &run),
        }
    }

    fn printer(&self, wanted: &Wanted, run: &RunOptions, server: String, out: &Out) -> Box<dyn Printer> {
        let objects = wanted.objects();
        match self.view.output {
            Output::Json => Box::new(Json::default()),
            Output::Events => Box::new(Events::new(self.view.status_events)),
            Output::Name => Box::new(Names::default()),
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
                let named = run.targets.iter().map(|target| &target.id);
                Box::new(Plain::new(options, objects.iter().map(|object| object.id()).chain(named)))
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
