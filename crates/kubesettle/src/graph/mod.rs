//! Which object waits for which, why, and until when.
//!
//! Pure: a [`Graph`] is built once from objects whose namespaces are final and never changes.
//! Nodes are the positions of the objects as given. An [`Edge`] at a node says "I wait for `to`";
//! for deletion the same edges are read the other way ([`Graph::dependents`]).
//!
//! Declared edges (namespace, CRD, annotations) may not form a cycle: that is an error which names
//! exactly the objects of the cycle. Edges inferred from an object's body are a courtesy: in a cycle
//! they are dropped, with a warning.

use std::fmt;

use crate::id::ObjectId;
use crate::manifest::{Problem, RefKind};

mod backend;
mod build;
mod cycle;
mod kinds;
mod order;
mod removal;
#[cfg(test)]
mod tests;

pub use build::GraphOptions;
pub use cycle::{Cycle, CycleProblems};

/// How far the other object must have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gate {
    /// Its apply succeeded.
    Applied,
    /// It can hold others: a Namespace exists and is not terminating, a CRD's kind is served.
    Usable,
    /// It has settled.
    Settled,
}

/// Why an edge exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeOrigin {
    /// The object lives in that Namespace.
    Namespace,
    /// That CRD defines the object's kind.
    Crd,
    /// The depends-on annotation.
    DependsOn,
    /// The apply-time mutation annotation.
    Mutation,
    /// The object's body names the other one in this role.
    Inferred(RefKind),
    /// The other one is a workload behind the Service that the object's webhooks call.
    Backend,
    /// The object's webhooks may be asked about the other one, or need it to answer. For removals.
    Guard,
    /// The other one may be part of what looks after the object. For removals.
    Controller,
}

impl EdgeOrigin {
    /// Whether the user wrote it down (or Kubernetes demands it), so that it cannot be dropped.
    pub fn is_declared(self) -> bool {
        !matches!(self, Self::Inferred(_) | Self::Backend | Self::Guard | Self::Controller)
    }
}

/// Words to stand between the two objects: `is in`, `depends on`, `reads`.
impl fmt::Display for EdgeOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Namespace => "is in",
            Self::Crd => "is defined by",
            Self::DependsOn => "depends on",
            Self::Mutation => "takes a value from",
            Self::Inferred(reference) => reference.words(),
            Self::Backend => "is answered by",
            Self::Guard => "may be asked about",
            Self::Controller => "may be looked after by",
        })
    }
}

/// One end of a relation; the other is the node it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The node at the other end.
    pub node: u32,
    /// How far the dependency must have come before the dependent starts.
    pub gate: Gate,
    /// Why.
    pub origin: EdgeOrigin,
}

/// A dependency that is not among the objects. It must exist and be settled; it is never touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    /// Who waits.
    pub node: u32,
    /// For what.
    pub id: ObjectId,
    /// `DependsOn` or `Mutation`.
    pub origin: EdgeOrigin,
}

/// The order among a set of objects. See the module's text.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    dependencies: Adjacency,
    dependents: Adjacency,
    priority: Box<[u32]>,
    order: Box<[u32]>,
    external: Box<[External]>,
    warnings: Box<[Problem]>,
}

/// Neighbours of all nodes in one list: those of node `i` are `edges[starts[i]..starts[i + 1]]`.
#[derive(Clone, Debug, Default)]
struct Adjacency {
    starts: Box<[u32]>,
    edges: Box<[Edge]>,
}

impl Adjacency {
    fn of(&self, node: u32) -> &[Edge] {
        let at = |i: usize| self.starts.get(i).map_or(0, |&start| start as usize);
        self.edges.get(at(node as usize)..at(node as usize + 1)).unwrap_or_default()
    }
}

impl Graph {
    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.priority.len()
    }

    /// True when there are no objects.
    pub fn is_empty(&self) -> bool {
        self.priority.is_empty()
    }

    /// What `node` waits for, by ascending node. At most one edge a pair: the strictest gate.
    pub fn dependencies(&self, node: u32) -> &[Edge] {
        self.dependencies.of(node)
    }

    /// What waits for `node`, by ascending node. On deletion these go first.
    pub fn dependents(&self, node: u32) -> &[Edge] {
        self.dependents.of(node)
    }

    /// The node's rank when several could start: lower first. No two nodes share one.
    pub fn priority(&self, node: u32) -> u32 {
        self.priority.get(node as usize).copied().unwrap_or(u32::MAX)
    }

    /// All nodes, dependencies first, by priority among those that are free. The same objects give
    /// the same order however the caller arranged them. Backwards it is an order for deletion.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Dependencies outside the set, by ascending node.
    pub fn external(&self) -> &[External] {
        &self.external
    }

    /// What was left out: inferred edges that would have closed a cycle.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }
}
