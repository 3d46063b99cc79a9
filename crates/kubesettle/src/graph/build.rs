use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::backend::Backends;
use super::cycle::{self, CycleProblems};
use super::kinds::sort_key;
use super::removal;
use super::{Adjacency, Edge, EdgeOrigin, External, Gate, Graph};
use crate::id::{GroupKind, ObjectId};
use crate::manifest::{Object, RefKind, Scope};

/// What to look for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GraphOptions {
    /// Whether to infer edges from the bodies of objects. Default: yes.
    pub inferred: bool,
    /// Whether the order is that of a removal: webhook configurations go first, and custom objects
    /// before what may look after them. Default: no.
    pub removal: bool,
}

impl Default for GraphOptions {
    fn default() -> Self {
        Self { inferred: true, removal: false }
    }
}

impl GraphOptions {
    /// For objects that are to go.
    pub fn removal() -> Self {
        Self { removal: true, ..Self::default() }
    }
}

impl Graph {
    /// Finds the edges among `objects`, which must be distinct and have final namespaces. Time grows
    /// with the number of objects and edges.
    ///
    /// # Errors
    ///
    /// Declared edges form a cycle.
    pub fn build(objects: &[Object], options: &GraphOptions) -> Result<Self, CycleProblems> {
        let priority = priorities(objects);
        let mut found = Finder::new(objects, options);
        for (node, object) in (0..).zip(objects) {
            found.declared(node, object);
            if options.inferred {
                found.inferred(node, object);
            }
        }
        let Finder { pairs, external, .. } = found;
        if !options.removal {
            return Self::from_pairs(objects, priority, pairs, external);
        }
        let first = Self::from_pairs(objects, priority.clone(), pairs.clone(), external.clone())?;
        let more = removal::pairs(objects, &first.dependents);
        Self::from_pairs(objects, priority, pairs.into_iter().chain(more).collect(), external)
    }

    /// The same nodes without any edge: what is left when their order cannot be known.
    pub(crate) fn unordered(objects: &[Object]) -> Self {
        let none = || Adjacency::collect(objects.len(), &[]);
        let priority = priorities(objects);
        let order = topological(&none(), &none(), &priority);
        Self {
            dependencies: none(),
            dependents: none(),
            priority,
            order,
            external: Box::default(),
            warnings: Box::default(),
        }
    }

    fn from_pairs(
        objects: &[Object],
        priority: Box<[u32]>,
        mut pairs: Vec<Pair>,
        external: Vec<External>,
    ) -> Result<Self, CycleProblems> {
        keep_strictest(&mut pairs);
        let declared: Vec<Pair> =
            pairs.iter().filter(|(_, edge)| edge.origin.is_declared()).copied().collect();
        let dependencies = Adjacency::collect(objects.len(), &declared);
        let components = cycle::components(&dependencies);
        if !components.is_empty() {
            return Err(cycle::report(objects, &dependencies, &priority, components));
        }
        let mut warnings = Vec::new();
        let mut dependencies = Adjacency::collect(objects.len(), &pairs);
        let knots = cycle::components(&dependencies);
        if !knots.is_empty() {
            warnings = cycle::untie(objects, &priority, knots, &mut pairs);
            dependencies = Adjacency::collect(objects.len(), &pairs);
        }
        let mut turned: Vec<Pair> =
            pairs.iter().map(|&(from, edge)| (edge.node, Edge { node: from, ..edge })).collect();
        turned.sort_unstable();
        let dependents = Adjacency::collect(objects.len(), &turned);
        let order = topological(&dependencies, &dependents, &priority);
        Ok(Self {
            dependencies,
            dependents,
            priority,
            order,
            external: external.into(),
            warnings: warnings.into(),
        })
    }
}

/// An edge with the node that waits.
pub(super) type Pair = (u32, Edge);

impl Adjacency {
    /// From pairs sorted by their first node.
    pub(super) fn collect(nodes: usize, pairs: &[Pair]) -> Self {
        debug_assert!(pairs.is_sorted_by_key(|(from, _)| *from));
        let mut counts = vec![0_u32; nodes + 1];
        for (from, _) in pairs {
            if let Some(count) = counts.get_mut(*from as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for count in &mut counts {
            sum += *count;
            *count = sum;
        }
        Self { starts: counts.into(), edges: pairs.iter().map(|(_, edge)| *edge).collect() }
    }

    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.starts.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }
}

/// Sorts, and leaves one edge a pair of nodes: the strictest gate, a declared one before an inferred.
fn keep_strictest(pairs: &mut Vec<Pair>) {
    pairs.sort_unstable_by_key(|(from, edge)| {
        (*from, edge.node, Reverse(edge.gate), !edge.origin.is_declared(), edge.origin)
    });
    pairs.dedup_by_key(|(from, edge)| (*from, edge.node));
}

fn priorities(objects: &[Object]) -> Box<[u32]> {
    let mut sorted: Vec<u32> = (0..).take(objects.len()).collect();
    sorted.sort_by_cached_key(|&node| objects.get(node as usize).map(|object| sort_key(object.id())));
    let mut priority = vec![0; objects.len()];
    for (rank, node) in (0..).zip(sorted) {
        if let Some(slot) = priority.get_mut(node as usize) {
            *slot = rank;
        }
    }
    priority.into()
}

/// Kahn's way, always taking the free node of lowest priority number. Nodes on cycles are missing.
fn topological(dependencies: &Adjacency, dependents: &Adjacency, priority: &[u32]) -> Box<[u32]> {
    let rank = |node: u32| priority.get(node as usize).copied().unwrap_or(u32::MAX);
    let mut open: Vec<usize> = (0..dependencies.len()).map(|node| dependencies.of(node).len()).collect();
    let free = (0..dependencies.len()).filter(|&node| dependencies.of(node).is_empty());
    let mut free: BinaryHeap<Reverse<(u32, u32)>> = free.map(|node| Reverse((rank(node), node))).collect();
    let mut order = Vec::with_capacity(open.len());
    while let Some(Reverse((_, node))) = free.pop() {
        order.push(node);
        for edge in dependents.of(node) {
            if let Some(count) = open.get_mut(edge.node as usize) {
                *count -= 1;
                if *count == 0 {
                    free.push(Reverse((rank(edge.node), edge.node)));
                }
            }
        }
    }
    order.into()
}

/// What names an object, borrowed: group, kind, namespace, name.
type Key<'a> = (&'a str, &'a str, &'a str, &'a str);

fn key(id: &ObjectId) -> Key<'_> {
    (id.group(), id.kind(), id.namespace(), id.name())
}

struct Finder<'a> {
    nodes: HashMap<Key<'a>, u32>,
    namespaces: HashMap<&'a str, u32>,
    crds: HashMap<&'a GroupKind, u32>,
    backends: Backends<'a>,
    pairs: Vec<Pair>,
    external: Vec<External>,
}

impl<'a> Finder<'a> {
    fn new(objects: &'a [Object], options: &GraphOptions) -> Self {
        let mut found = Self {
            nodes: HashMap::with_capacity(objects.len()),
            namespaces: HashMap::new(),
            crds: HashMap::new(),
            backends: Backends::new(objects, options.inferred),
            pairs: Vec::new(),
            external: Vec::new(),
        };
        for (node, object) in (0..).zip(objects) {
            found.nodes.insert(key(object.id()), node);
            if object.group_kind().is("", "Namespace") {
                found.namespaces.insert(object.id().name(), node);
            }
            if let Some(crd) = object.crd() {
                found.crds.insert(crd.group_kind(), node);
            }
        }
        found
    }

    fn edge(&mut self, from: u32, to: u32, gate: Gate, origin: EdgeOrigin) {
        // Only an annotation can make an object wait for itself, and that is a cycle to report.
        if from != to || origin.is_declared() {
            self.pairs.push((from, Edge { node: to, gate, origin }));
        }
    }

    fn declared(&mut self, node: u32, object: &'a Object) {
        let id = object.id();
        if let Some(&namespace) = self.namespaces.get(id.namespace()) {
            self.edge(node, namespace, Gate::Usable, EdgeOrigin::Namespace);
        }
        if let Some(&crd) = self.crds.get(id.group_kind()) {
            self.edge(node, crd, Gate::Usable, EdgeOrigin::Crd);
        }
        for target in object.depends_on() {
            self.settled(node, target, self.nodes.get(&key(target)).copied(), EdgeOrigin::DependsOn);
        }
        for substitution in object.substitutions() {
            let source = &substitution.source;
            let beside = (source.group(), source.kind(), id.namespace(), source.name());
            let beside = self.nodes.get(&beside).filter(|_| source.namespace().is_empty());
            let to = self.nodes.get(&key(source)).or(beside).copied();
            self.settled(node, source, to, EdgeOrigin::Mutation);
        }
    }

    fn settled(&mut self, from: u32, target: &ObjectId, to: Option<u32>, origin: EdgeOrigin) {
        match to {
            Some(to) => self.edge(from, to, Gate::Settled, origin),
            None => self.external.push(External { node: from, id: target.clone(), origin }),
        }
    }

    fn inferred(&mut self, node: u32, object: &'a Object) {
        for reference in object.references() {
            let (group, kind) = reference.kind.target();
            let namespace = match reference.kind.scope() {
                Scope::Namespaced => reference.namespace.as_deref().unwrap_or(object.id().namespace()),
                _ => "",
            };
            let Some(&to) = self.nodes.get(&(group, kind, namespace, &*reference.name)) else { continue };
            let gate = match reference.kind {
                RefKind::ApiService => Gate::Settled,
                _ => Gate::Applied,
            };
            self.edge(node, to, gate, EdgeOrigin::Inferred(reference.kind));
            if matches!(reference.kind, RefKind::ApiService | RefKind::WebhookService) {
                for workload in self.backends.of(to) {
                    self.edge(node, workload, Gate::Settled, EdgeOrigin::Backend);
                }
            }
        }
    }
}
