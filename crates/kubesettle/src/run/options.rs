//! How a run behaves.

use std::sync::Arc;
use std::time::Duration;

use super::record::SetOptions;
use crate::cluster::{ApplyParams, DeleteParams};
use crate::event::DryRun;
use crate::plan::{Recreate, SavedPlan, Tracking};
use crate::status::Judgement;
use crate::watch::{SubscribeOptions, Target};

/// How a run behaves.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// How objects are written.
    pub apply: ApplyParams,
    /// How objects are deleted.
    pub delete: DeleteParams,
    /// Which objects are deleted and created anew when a field of them cannot be changed.
    pub recreate: Recreate,
    /// Wait until objects have settled (or are gone); else the run ends with the last answer.
    pub wait: bool,
    /// Limit of the whole run; `None` for none.
    pub timeout: Option<Duration>,
    /// Limit of the wait for each object to settle, from its own write; `None` for none.
    pub object_timeout: Option<Duration>,
    /// Limit of the wait for each object to go, from its own deletion; `None` for none.
    pub removal_timeout: Option<Duration>,
    /// Write nothing and wait for nothing: only tell what would be done.
    pub dry_run: Option<DryRun>,
    /// How long a failing connection or server is tried again for one object. Default 30 s.
    pub retry_budget: Duration,
    /// How long a kind that is not served is waited for. Default 60 s.
    pub kind_budget: Duration,
    /// How long an object (or its namespace) that is being deleted is waited for before it is
    /// created anew. Default 2 minutes.
    pub deletion_budget: Duration,
    /// After so long without an event a reminder tells what is awaited. Default 30 s.
    pub reminder: Duration,
    /// How objects are watched.
    pub watch: SubscribeOptions,
    /// How objects are judged.
    pub judgement: Judgement,
    /// For a run that only looks: objects beside those of the input, such as [`select`](super::select)
    /// finds.
    pub targets: Vec<Target>,
    /// For a run that only looks: when it ends.
    pub until: LookUntil,
    /// The set to be tracked; `None` for a run without a record.
    pub set: Option<SetOptions>,
    /// How a tracked run treats what is not, or no longer, its own.
    pub tracking: Tracking,
    /// Do this and nothing else: the run is refused when anything has moved since the plan was made, and
    /// each object is written only in the state it was planned for.
    pub saved: Option<Arc<SavedPlan>>,
    /// Keep the plan for [`Run::take_plan`](super::Run::take_plan).
    pub keep_plan: bool,
}

/// When a run that only looks ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LookUntil {
    /// As soon as every object has a verdict and its explanation.
    #[default]
    Known,
    /// When every object is settled or failed.
    Settled,
    /// When every object is gone.
    Deleted,
    /// When it is cancelled.
    Forever,
}

impl RunOptions {
    /// Defaults with this field manager.
    pub fn new(field_manager: impl Into<String>) -> Self {
        Self {
            apply: ApplyParams::new(field_manager),
            delete: DeleteParams::default(),
            recreate: Recreate::default(),
            wait: true,
            timeout: None,
            object_timeout: None,
            removal_timeout: None,
            dry_run: None,
            retry_budget: Duration::from_secs(30),
            kind_budget: Duration::from_secs(60),
            deletion_budget: Duration::from_secs(120),
            reminder: Duration::from_secs(30),
            watch: SubscribeOptions::default(),
            judgement: Judgement::default(),
            targets: Vec::new(),
            until: LookUntil::default(),
            set: None,
            tracking: Tracking::default(),
            saved: None,
            keep_plan: false,
        }
    }
}
