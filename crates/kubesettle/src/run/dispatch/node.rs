use kstatus::Uid;
use tokio::time::Instant;

use crate::error::ApiError;
use crate::event::Conclusion;

/// Where one object stands.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Its place in the watcher.
    pub target: usize,
    pub phase: Phase,
    pub attempts: u32,
    /// When its requests began to fail.
    pub failing: Option<Instant>,
    /// Why its last request failed.
    pub error: Option<ApiError>,
    /// Since when its wait goes on.
    pub awaited: Option<Instant>,
    /// Its resourceVersion before our write, as the watch had it.
    pub before: Option<Box<str>>,
    /// The life of it that we deleted.
    pub deleted: Option<Uid>,
    pub conclusion: Option<Conclusion>,
    /// Its kind has been said to be missing.
    pub kind_missing_told: bool,
    /// How often discovery was asked for the kind it defines.
    pub looks: u32,
}

impl Node {
    pub(super) fn at(target: usize) -> Self {
        Self { target, ..Self::default() }
    }
}

#[derive(Debug, Default, PartialEq)]
pub(super) enum Phase {
    /// Waits for others, or for a place.
    #[default]
    Waiting,
    /// Its request is under way.
    UnderWay,
    /// Its next attempt comes at this moment.
    Resting(Instant),
    /// Written; its verdict decides.
    Awaiting,
    /// Nothing more happens to it.
    Over,
}
