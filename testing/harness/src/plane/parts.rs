//! The processes of a control plane, each of which a test may stop, pause and start again.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::Signal;

use super::ControlPlane;
use crate::process::Process;
use crate::{Error, Usage, wait};

/// One process of the control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the variants are the names of the programs")]
pub enum Part {
    Etcd,
    ApiServer,
    ControllerManager,
    Scheduler,
    Kwok,
}

impl Part {
    /// Every part, in the order in which they are started.
    pub const ALL: [Self; 5] =
        [Self::Etcd, Self::ApiServer, Self::ControllerManager, Self::Scheduler, Self::Kwok];

    /// The name of its program and of its log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Kwok => "kwok",
        }
    }
}

/// How a part is started, as often as need be.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) part: Part,
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    pub(super) home: PathBuf,
    pub(super) log: PathBuf,
}

#[derive(Debug)]
pub(super) struct Parts {
    slots: Mutex<Vec<Slot>>,
}

#[derive(Debug)]
struct Slot {
    recipe: Recipe,
    process: Option<Process>,
}

impl Parts {
    pub(super) fn new() -> Self {
        Self { slots: Mutex::new(Vec::new()) }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn start(&self, recipe: Recipe) -> Result<(), Error> {
        let process = Some(recipe.start()?);
        self.lock().push(Slot { recipe, process });
        Ok(())
    }

    /// The first part that has ended by itself, as an error.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.lock().iter_mut().filter_map(|slot| slot.process.as_mut()).try_for_each(Process::check)
    }

    fn with<T>(&self, part: Part, act: impl FnOnce(&mut Slot) -> T) -> Option<T> {
        self.lock().iter_mut().find(|slot| slot.recipe.part == part).map(act)
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        // Those that write go first, so that no log fills with complaints about a missing server.
        let mut slots = std::mem::take(&mut *self.lock());
        while slots.pop().is_some() {}
    }
}

impl Recipe {
    fn start(&self) -> Result<Process, Error> {
        Process::start(self.part.name(), &self.program, &self.args, &self.home, &self.log)
    }
}

impl ControlPlane {
    /// Ends a part in good order (at most ten seconds). Does nothing when it does not run.
    pub fn stop(&self, part: Part) {
        if let Some(process) = self.parts.with(part, |slot| slot.process.take()).flatten() {
            process.stop(Duration::from_secs(10));
        }
    }

    /// Ends a part at once, with open connections reset.
    pub fn kill(&self, part: Part) {
        drop(self.parts.with(part, |slot| slot.process.take()));
    }

    /// Starts a stopped part again, at the same address; waits until the API server serves.
    ///
    /// # Panics
    ///
    /// When it does not start.
    #[track_caller]
    pub fn start_again(&self, part: Part) {
        let started = self.parts.with(part, |slot| match slot.process {
            Some(_) => Ok(()),
            None => slot.recipe.start().map(|process| slot.process = Some(process)),
        });
        match started {
            Some(Ok(())) if part == Part::ApiServer => {
                wait::wait_until("the API server to be ready again", Duration::from_secs(60), || {
                    self.is_ready()
                });
            }
            Some(Ok(())) => {}
            Some(Err(error)) => panic!("{error}"),
            None => panic!("this control plane was built without {}", part.name()),
        }
    }

    /// Freezes a part: connections stay open and nothing answers.
    pub fn pause(&self, part: Part) {
        self.signal(part, Signal::STOP);
    }

    /// Lets a frozen part go on.
    pub fn resume(&self, part: Part) {
        self.signal(part, Signal::CONT);
    }

    /// CPU time and memory of a part; zero when it does not run.
    pub fn usage(&self, part: Part) -> Usage {
        self.process_id(part).map(Usage::of).unwrap_or_default()
    }

    /// The process id of a part that runs.
    pub fn process_id(&self, part: Part) -> Option<u32> {
        self.parts.with(part, |slot| slot.process.as_ref().map(Process::id)).flatten()
    }

    fn signal(&self, part: Part, signal: Signal) {
        self.parts.with(part, |slot| slot.process.iter().for_each(|process| process.signal(signal)));
    }

    /// Whether the API server says that it is ready.
    pub(super) fn is_ready(&self) -> bool {
        self.api.get("/readyz").is_ok_and(|reply| reply.status == 200)
    }
}
