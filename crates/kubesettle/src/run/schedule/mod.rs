//! Which object may start when, as a pure structure over the graph: no barriers, an object starts
//! when its own edges are met, and a failure stops only what hangs on it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::event::Action;
use crate::graph::{Edge, Gate, Graph};

/// How far an object has come, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Milestone {
    Nothing,
    /// The server took the write (or the deletion).
    Accepted,
    /// What lives in it may come: a namespace, an established CRD.
    Usable,
    /// Settled, or gone.
    Settled,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// So many edges are not met.
    Blocked(usize),
    /// Handed out by [`Schedule::pop`], or waiting to be.
    Open,
    /// Will never start.
    Stopped,
}

/// An object that will not start, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stopped {
    pub node: usize,
    /// From the object it hangs on to the one where it began.
    pub chain: Vec<usize>,
}

/// The order of one run.
#[derive(Debug)]
pub(super) struct Schedule {
    graph: Graph,
    action: Action,
    states: Vec<State>,
    reached: Vec<Milestone>,
    ready: BinaryHeap<Reverse<(u32, usize)>>,
}

impl Schedule {
    /// The order for this action; `extra` tells how many further conditions (objects outside the
    /// set) a node waits for, to be met by [`Schedule::meet`].
    pub(super) fn new(graph: Graph, action: Action, extra: impl Fn(usize) -> usize) -> Self {
        let nodes = graph.len();
        let mut schedule = Self {
            graph,
            action,
            states: Vec::with_capacity(nodes),
            reached: vec![Milestone::Nothing; nodes],
            ready: BinaryHeap::new(),
        };
        for node in 0..nodes {
            let open = schedule.before(node).len() + extra(node);
            schedule.states.push(State::Blocked(open));
            if open == 0 {
                schedule.open(node);
            }
        }
        schedule
    }

    /// What must be met before this node starts: dependencies when applying, dependents when deleting.
    fn before(&self, node: usize) -> &[Edge] {
        match self.action {
            Action::Apply | Action::Recreate => self.graph.dependencies(index(node)),
            Action::Delete | Action::Prune => self.graph.dependents(index(node)),
        }
    }

    fn after(&self, node: usize) -> &[Edge] {
        match self.action {
            Action::Apply | Action::Recreate => self.graph.dependents(index(node)),
            Action::Delete | Action::Prune => self.graph.dependencies(index(node)),
        }
    }

    fn priority(&self, node: usize) -> u32 {
        match self.action {
            Action::Apply | Action::Recreate => self.graph.priority(index(node)),
            Action::Delete | Action::Prune => u32::MAX - self.graph.priority(index(node)),
        }
    }

    /// The most urgent object that may start.
    pub(super) fn pop(&mut self) -> Option<usize> {
        while let Some(Reverse((_, node))) = self.ready.pop() {
            if self.states.get(node) == Some(&State::Open) {
                return Some(node);
            }
        }
        None
    }

    /// Notes how far an object has come; never goes back.
    pub(super) fn reach(&mut self, node: usize, milestone: Milestone) {
        let Some(before) = self.reached.get(node).copied().filter(|before| *before < milestone) else {
            return;
        };
        self.reached[node] = milestone;
        let met: Vec<usize> = self
            .after(node)
            .iter()
            .filter(|edge| (before < needed(edge)) && (needed(edge) <= milestone))
            .map(|edge| edge.node as usize)
            .collect();
        met.into_iter().for_each(|dependent| self.meet(dependent));
    }

    /// One of the conditions of this object is met.
    pub(super) fn meet(&mut self, node: usize) {
        if let Some(State::Blocked(open)) = self.states.get_mut(node) {
            *open = open.saturating_sub(1);
            if *open == 0 {
                self.open(node);
            }
        }
    }

    /// An object will not come further than it is: what waits for more will not start. Returns it,
    /// nearest first.
    pub(super) fn fail(&mut self, node: usize) -> Vec<Stopped> {
        let mut stopped = Vec::new();
        let mut open = vec![(node, Vec::new())];
        while let Some((cause, chain)) = open.pop() {
            let reached = self.reached.get(cause).copied().unwrap_or(Milestone::Settled);
            let mut chain_here = vec![cause];
            chain_here.extend(chain);
            let hanging: Vec<usize> = self
                .after(cause)
                .iter()
                .filter(|edge| reached < needed(edge))
                .map(|edge| edge.node as usize)
                .collect();
            for dependent in hanging {
                if matches!(self.states.get(dependent), Some(State::Blocked(_))) {
                    self.states[dependent] = State::Stopped;
                    stopped.push(Stopped { node: dependent, chain: chain_here.clone() });
                    open.push((dependent, chain_here.clone()));
                }
            }
        }
        stopped
    }

    /// Stops one object that has not started, and what hangs on it.
    pub(super) fn stop(&mut self, node: usize) -> Vec<Stopped> {
        match self.states.get_mut(node) {
            Some(state @ State::Blocked(_)) => *state = State::Stopped,
            _ => return Vec::new(),
        }
        self.fail(node)
    }

    /// True while something that has not started needs more of this object than it has reached.
    pub(super) fn waited_for(&self, node: usize) -> bool {
        let reached = self.reached.get(node).copied().unwrap_or(Milestone::Settled);
        self.after(node).iter().any(|edge| {
            reached < needed(edge) && matches!(self.states.get(edge.node as usize), Some(State::Blocked(_)))
        })
    }

    fn open(&mut self, node: usize) {
        self.states[node] = State::Open;
        let priority = self.priority(node);
        self.ready.push(Reverse((priority, node)));
    }
}

fn needed(edge: &Edge) -> Milestone {
    match edge.gate {
        Gate::Applied => Milestone::Accepted,
        Gate::Usable => Milestone::Usable,
        Gate::Settled => Milestone::Settled,
    }
}

#[cfg(test)]
mod tests;

fn index(node: usize) -> u32 {
    u32::try_from(node).unwrap_or(u32::MAX)
}
