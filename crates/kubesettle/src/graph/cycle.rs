use std::collections::VecDeque;
use std::fmt;

use super::build::Pair;
use super::{Adjacency, Edge};
use crate::manifest::{InputProblems, Object, Problem};

/// Objects that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// All objects that are part of it, ascending. Objects that merely wait for these are not.
    pub members: Box<[u32]>,
    /// A shortest way round, each waiting for the next and the last for the first.
    pub path: Box<[u32]>,
    /// The same for people.
    pub problem: Problem,
}

/// The cycles of a set. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleProblems(Vec<Cycle>);

impl CycleProblems {
    /// The cycles; no object is in two of them.
    pub fn cycles(&self) -> &[Cycle] {
        &self.0
    }
}

impl From<CycleProblems> for InputProblems {
    fn from(cycles: CycleProblems) -> Self {
        Self::new(cycles.0.into_iter().map(|cycle| cycle.problem).collect())
    }
}

impl fmt::Display for CycleProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, cycle) in self.0.iter().enumerate() {
            if nth > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{}", cycle.problem)?;
        }
        Ok(())
    }
}

impl std::error::Error for CycleProblems {}

/// The sets of nodes that can all reach each other, without those of a single node that does not
/// wait for itself. Nodes within a set ascend. (Tarjan's algorithm with its stack on the heap.)
pub(super) fn components(graph: &Adjacency) -> Vec<Vec<u32>> {
    let mut search = Search {
        graph,
        visited: vec![NOT_YET; graph.len() as usize],
        low: vec![0; graph.len() as usize],
        open: Vec::new(),
        is_open: vec![false; graph.len() as usize],
        count: 0,
        found: Vec::new(),
    };
    for node in 0..graph.len() {
        if get(&search.visited, node) == NOT_YET {
            search.from(node);
        }
    }
    search.found
}

const NOT_YET: u32 = u32::MAX;

struct Search<'a> {
    graph: &'a Adjacency,
    /// When a node was first seen.
    visited: Vec<u32>,
    /// The earliest node that can be reached from it and is still open.
    low: Vec<u32>,
    open: Vec<u32>,
    is_open: Vec<bool>,
    count: u32,
    found: Vec<Vec<u32>>,
}

impl Search<'_> {
    fn from(&mut self, root: u32) {
        let mut calls = vec![(root, 0)];
        self.enter(root);
        while let Some((node, next)) = calls.last_mut() {
            let node = *node;
            match self.graph.of(node).get(*next) {
                Some(edge) => {
                    *next += 1;
                    if get(&self.visited, edge.node) == NOT_YET {
                        self.enter(edge.node);
                        calls.push((edge.node, 0));
                    } else if self.is_open.get(edge.node as usize) == Some(&true) {
                        self.lower(node, get(&self.visited, edge.node));
                    }
                }
                None => {
                    calls.pop();
                    if let Some((caller, _)) = calls.last() {
                        self.lower(*caller, get(&self.low, node));
                    }
                    if get(&self.low, node) == get(&self.visited, node) {
                        self.close(node);
                    }
                }
            }
        }
    }

    fn enter(&mut self, node: u32) {
        set(&mut self.visited, node, self.count);
        set(&mut self.low, node, self.count);
        set(&mut self.is_open, node, true);
        self.open.push(node);
        self.count += 1;
    }

    fn lower(&mut self, node: u32, to: u32) {
        let low = get(&self.low, node).min(to);
        set(&mut self.low, node, low);
    }

    fn close(&mut self, root: u32) {
        let start = self.open.iter().rposition(|&node| node == root).unwrap_or_default();
        let mut members = self.open.split_off(start);
        for &node in &members {
            set(&mut self.is_open, node, false);
        }
        let waits_for_itself = self.graph.of(root).iter().any(|edge| edge.node == root);
        if members.len() > 1 || waits_for_itself {
            members.sort_unstable();
            self.found.push(members);
        }
    }
}

fn get(values: &[u32], node: u32) -> u32 {
    values.get(node as usize).copied().unwrap_or_default()
}

fn set<T>(values: &mut [T], node: u32, value: T) {
    if let Some(slot) = values.get_mut(node as usize) {
        *slot = value;
    }
}

/// In larger components the way round is searched from one member only.
const SEARCH_ALL: usize = 256;

/// A shortest way round within a component; of several the one that starts with the lowest priority.
fn shortest(graph: &Adjacency, priority: &[u32], members: &[u32]) -> Vec<u32> {
    let mut starts = members.to_vec();
    starts.sort_unstable_by_key(|&node| get(priority, node));
    starts.truncate(if members.len() > SEARCH_ALL { 1 } else { SEARCH_ALL });
    let ways = starts.into_iter().filter_map(|start| round(graph, priority, members, start));
    ways.reduce(|best, other| if other.len() < best.len() { other } else { best }).unwrap_or_default()
}

fn round(graph: &Adjacency, priority: &[u32], members: &[u32], start: u32) -> Option<Vec<u32>> {
    let position = |node: u32| members.binary_search(&node).ok();
    let mut from: Vec<Option<u32>> = vec![None; members.len()];
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        let mut next: Vec<u32> = graph.of(node).iter().map(|edge| edge.node).collect();
        next.sort_unstable_by_key(|&node| get(priority, node));
        for other in next {
            if other == start {
                let mut way = vec![node];
                let mut at = node;
                while at != start {
                    at = position(at).and_then(|at| from.get(at).copied().flatten())?;
                    way.push(at);
                }
                way.reverse();
                return Some(way);
            }
            if let Some(slot) = position(other).and_then(|at| from.get_mut(at))
                && slot.is_none()
            {
                *slot = Some(node);
                queue.push_back(other);
            }
        }
    }
    None
}

pub(super) fn report(
    objects: &[Object],
    graph: &Adjacency,
    priority: &[u32],
    components: Vec<Vec<u32>>,
) -> CycleProblems {
    let mut cycles: Vec<Cycle> = components
        .into_iter()
        .map(|members| {
            let path = shortest(graph, priority, &members);
            let problem = problem(objects, graph, &members, &path);
            Cycle { members: members.into(), path: path.into(), problem }
        })
        .collect();
    let first = |cycle: &Cycle| cycle.path.first().map(|&node| get(priority, node));
    cycles.sort_by_key(first);
    CycleProblems(cycles)
}

fn problem(objects: &[Object], graph: &Adjacency, members: &[u32], path: &[u32]) -> Problem {
    let object = |node: &u32| objects.get(*node as usize);
    let mut message = String::from("dependency cycle: ");
    for (nth, node) in path.iter().enumerate() {
        let next = path.get(nth + 1).or(path.first()).unwrap_or(node);
        let edge = graph.of(*node).iter().find(|edge| edge.node == *next);
        if let (Some(from), Some(to), Some(edge)) = (object(node), object(next), edge) {
            let start = if nth == 0 { format!("{:#}", from.id()) } else { ", which".to_owned() };
            message.push_str(&format!("{start} {} {:#}", edge.origin, to.id()));
        }
    }
    let others: Vec<&u32> = members.iter().filter(|node| !path.contains(node)).collect();
    if !others.is_empty() {
        let mut names: Vec<String> =
            others.iter().filter_map(|node| Some(format!("{:#}", object(node)?.id()))).collect();
        names.sort();
        message.push_str(&format!("; also part of the knot: {}", names.join(", ")));
    }
    let first = path.first().and_then(object).or(objects.first());
    let places: Vec<String> =
        path.iter().filter_map(|node| Some(object(node)?.place().to_string())).collect();
    let hint = format!("take one of these dependencies away ({})", places.join(", "));
    match first {
        Some(first) => Problem::new(first.place().clone(), message).about(first.id()).hint(hint),
        None => Problem::new(crate::manifest::Place::new("", 0), message),
    }
}

/// Drops the inferred edges within each knot; declared ones alone make none. Returns what to tell.
pub(super) fn untie(
    objects: &[Object],
    priority: &[u32],
    knots: Vec<Vec<u32>>,
    pairs: &mut Vec<Pair>,
) -> Vec<Problem> {
    let mut knot_of = vec![NOT_YET; objects.len()];
    for (knot, members) in (0..).zip(&knots) {
        for &node in members {
            set(&mut knot_of, node, knot);
        }
    }
    let mut dropped: Vec<Pair> = Vec::new();
    pairs.retain(|&(from, edge)| {
        let (knot, other) = (get(&knot_of, from), get(&knot_of, edge.node));
        let keep = knot == NOT_YET || knot != other || edge.origin.is_declared();
        if !keep {
            dropped.push((from, edge));
        }
        keep
    });
    dropped.sort_unstable_by_key(|(from, edge)| (get(priority, *from), get(priority, edge.node)));
    dropped.iter().filter_map(|(from, edge)| left_out(objects, *from, edge)).collect()
}

fn left_out(objects: &[Object], from: u32, edge: &Edge) -> Option<Problem> {
    let (from, to) = (objects.get(from as usize)?, objects.get(edge.node as usize)?);
    let message =
        format!("{} {:#}, which does not count for the order: it would be a cycle", edge.origin, to.id());
    Some(Problem::new(from.place().clone(), message).about(from.id()))
}
