//! Where every object of a run stands, with what the loop asks at every turn kept up to date, so that
//! a turn costs the same among ten objects and among ten thousand.

use std::collections::BTreeSet;
use std::ops::{Index, IndexMut, Range};
use std::time::Duration;

use kstatus::Uid;
use tokio::time::Instant;

use super::recreate::Anew;
use crate::error::ApiError;
use crate::event::Conclusion;
use crate::run::retry::Failing;
use crate::status::Floor;

/// Where one object stands.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Its place in the watcher.
    pub target: usize,
    phase: Phase,
    /// How long its wait may go on.
    patience: Option<Duration>,
    pub attempts: u32,
    /// Since when its requests fail.
    pub failing: Failing,
    /// Why its last request failed.
    pub error: Option<ApiError>,
    /// Since when its wait goes on.
    awaited: Option<Instant>,
    /// Its resourceVersion before our write, as the watch had it.
    pub before: Option<Box<str>>,
    /// Its generation before our write.
    pub generation: Option<i64>,
    /// What our write left behind.
    pub written: Option<Floor>,
    /// It is being recreated.
    pub anew: Option<Anew>,
    /// The life of it that is to be deleted.
    pub deleted: Option<Uid>,
    /// One of its requests may have been carried out although its answer is missing.
    pub unclear: bool,
    pub conclusion: Option<Conclusion>,
    /// It was put into a namespace when its kind came.
    pub placed: bool,
    /// Its kind has been said to be missing.
    pub kind_missing_told: bool,
    /// It was found out why it does not go, or will be.
    pub examined: bool,
    /// How often discovery was asked for the kind it defines.
    pub looks: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
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

impl Node {
    /// `patience` is how long its wait may go on.
    pub(super) fn new(target: usize, patience: Option<Duration>) -> Self {
        Self { target, patience, ..Self::default() }
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// Since when its wait goes on, if it has begun.
    pub(super) fn awaited(&self) -> Option<Instant> {
        self.awaited
    }

    /// When its wait has taken long enough.
    fn patience_ends(&self) -> Option<Instant> {
        self.awaited.zip(self.patience).map(|(since, patience)| since + patience)
    }

    /// Its request, or the wait for its turn, goes on.
    fn is_busy(&self) -> bool {
        matches!(self.phase, Phase::Waiting | Phase::UnderWay | Phase::Resting(_))
    }
}

/// All nodes of a run.
#[derive(Debug, Default)]
pub(super) struct Board {
    nodes: Vec<Node>,
    /// Nodes from here on may not start yet.
    open: usize,
    /// So many open nodes are busy.
    busy: usize,
    awaiting: BTreeSet<usize>,
    /// When nodes are to be tried again.
    attempts: BTreeSet<(Instant, usize)>,
    /// When waits have taken long enough.
    limits: BTreeSet<(Instant, usize)>,
    /// The last node that was found to be worth waiting for.
    hope: Option<usize>,
}

impl Board {
    pub(super) fn new(nodes: Vec<Node>) -> Self {
        Self { nodes, ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter()
    }

    /// The nodes that may start.
    pub(super) fn opened(&self) -> impl Iterator<Item = (usize, &Node)> {
        self.nodes[..self.open].iter().enumerate()
    }

    /// Nodes up to this one may start.
    pub(super) fn open_until(&mut self, end: usize) {
        let more: Range<usize> = self.open..end.clamp(self.open, self.nodes.len());
        self.busy += self.nodes[more.clone()].iter().filter(|node| node.is_busy()).count();
        self.open = more.end;
    }

    /// Moves a node on.
    pub(super) fn turn(&mut self, node: usize, phase: Phase) {
        let state = &mut self.nodes[node];
        let is_open = node < self.open;
        self.busy -= usize::from(is_open && state.is_busy());
        match state.phase {
            Phase::Resting(at) => {
                self.attempts.remove(&(at, node));
            }
            Phase::Awaiting => {
                self.awaiting.remove(&node);
                if let Some(end) = state.patience_ends() {
                    self.limits.remove(&(end, node));
                }
            }
            Phase::Waiting | Phase::UnderWay | Phase::Over => {}
        }
        state.phase = phase;
        match phase {
            Phase::Resting(at) => {
                self.attempts.insert((at, node));
            }
            Phase::Awaiting => {
                state.awaited.get_or_insert_with(Instant::now);
                self.awaiting.insert(node);
                if let Some(end) = state.patience_ends() {
                    self.limits.insert((end, node));
                }
            }
            Phase::Waiting | Phase::UnderWay | Phase::Over => {}
        }
        self.busy += usize::from(is_open && state.is_busy());
    }

    /// A node whose next attempt has come.
    pub(super) fn due_attempt(&self, now: Instant) -> Option<usize> {
        self.attempts.first().filter(|(at, _)| *at <= now).map(|(_, node)| *node)
    }

    /// A node whose wait has taken long enough.
    pub(super) fn due_limit(&self, now: Instant) -> Option<usize> {
        self.limits.first().filter(|(at, _)| *at <= now).map(|(_, node)| *node)
    }

    /// When something comes due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let first = |set: &BTreeSet<(Instant, usize)>| set.first().map(|(at, _)| *at);
        first(&self.attempts).into_iter().chain(first(&self.limits)).min()
    }

    /// The node for whose sake the last look found that it is not quiet.
    pub(super) fn hope(&self) -> Option<usize> {
        self.hope.filter(|_| self.busy == 0)
    }

    /// Nothing that may start goes on, or nothing that does is worth waiting for.
    pub(super) fn is_quiet(&mut self, hopeless: impl Fn(&Node, usize) -> bool) -> bool {
        if self.busy > 0 {
            return false;
        }
        let hopeful = |node: &usize| !hopeless(&self.nodes[*node], *node);
        let known = self.hope.filter(|node| self.awaiting.contains(node) && hopeful(node));
        self.hope = known.or_else(|| self.awaiting.iter().copied().find(hopeful));
        self.hope.is_none()
    }
}

impl Index<usize> for Board {
    type Output = Node;

    fn index(&self, node: usize) -> &Node {
        &self.nodes[node]
    }
}

impl IndexMut<usize> for Board {
    fn index_mut(&mut self, node: usize) -> &mut Node {
        &mut self.nodes[node]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn board(nodes: usize) -> Board {
        Board::new((0..nodes).map(|target| Node::new(target, Some(PATIENCE))).collect())
    }

    proptest! {
        #[test]
        fn what_is_kept_up_to_date_equals_what_a_look_at_all_nodes_finds(
            turns in prop::collection::vec((0..6_usize, 0..5_u8, 0..4_u64), 0..60),
            open in 0..7_usize,
        ) {
            let mut board = board(6);
            let start = Instant::now();
            board.open_until(open / 2);
            for (step, (node, phase, seconds)) in turns.into_iter().enumerate() {
                if step == 10 {
                    board.open_until(open);
                }
                let phase = match phase {
                    0 => Phase::Waiting,
                    1 => Phase::UnderWay,
                    2 => Phase::Resting(start + Duration::from_secs(seconds)),
                    3 => Phase::Awaiting,
                    _ => Phase::Over,
                };
                board.turn(node, phase);
                let hopeless = |node: &Node, _: usize| node.target.is_multiple_of(2);
                let quiet = board.nodes[..board.open].iter().all(|node| !node.is_busy())
                    && board.nodes.iter().all(|node| node.phase != Phase::Awaiting || hopeless(node, 0));
                prop_assert_eq!(board.is_quiet(hopeless), quiet);
                let resting = board.nodes.iter().filter_map(|node| match node.phase {
                    Phase::Resting(at) => Some(at),
                    Phase::Awaiting => node.patience_ends(),
                    _ => None,
                });
                prop_assert_eq!(board.next_due(), resting.min());
            }
        }
    }

    #[test]
    fn a_wait_that_is_taken_up_again_keeps_its_first_moment() {
        let mut board = board(1);
        board.turn(0, Phase::Awaiting);
        let since = board[0].awaited();
        board.turn(0, Phase::Over);
        board.turn(0, Phase::Awaiting);
        assert!(since.is_some());
        assert_eq!(board[0].awaited(), since);
    }
}
