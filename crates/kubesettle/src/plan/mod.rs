//! What a run will do, decided before its first request: a list of steps and the order among them.
//!
//! Pure. A plan is made of the objects of the input (for a tracked set later also of its inventory)
//! and never changes while it runs.

use std::collections::HashSet;

use crate::event::{Action, Operation};
use crate::graph::{CycleProblems, Graph, GraphOptions};
use crate::id::ObjectId;
use crate::manifest::{Object, Resolved};

/// One object and what is to be done with it.
#[derive(Debug)]
pub struct Step {
    /// What is to be done.
    pub action: Action,
    /// The object as the input has it.
    pub object: Object,
}

impl Step {
    /// The object's name.
    pub fn id(&self) -> &ObjectId {
        self.object.id()
    }
}

/// The steps of a run and their order. Steps are the nodes of the graph.
#[derive(Debug)]
pub struct Plan {
    operation: Operation,
    steps: Vec<Step>,
    graph: Graph,
    warnings: Vec<String>,
}

impl Plan {
    /// Applies every object of the input.
    ///
    /// # Errors
    /// Declared dependencies that form a cycle, named exactly.
    pub fn apply(input: Resolved, options: &GraphOptions) -> Result<Self, CycleProblems> {
        Self::new(Operation::Apply, Action::Apply, input, options)
    }

    /// Deletes every object of the input, dependents first.
    ///
    /// # Errors
    /// Declared dependencies that form a cycle, named exactly.
    pub fn destroy(input: Resolved, options: &GraphOptions) -> Result<Self, CycleProblems> {
        Self::new(Operation::Destroy, Action::Delete, input, options)
    }

    /// Only looks at every object of the input.
    ///
    /// # Errors
    /// As for the others, so that a plan never hides a cycle.
    pub fn status(input: Resolved, options: &GraphOptions) -> Result<Self, CycleProblems> {
        Self::new(Operation::Status, Action::Apply, input, options)
    }

    fn new(
        operation: Operation,
        action: Action,
        input: Resolved,
        options: &GraphOptions,
    ) -> Result<Self, CycleProblems> {
        let mut warnings: Vec<String> = input.warnings().iter().map(ToString::to_string).collect();
        let objects = input.into_objects();
        let graph = Graph::build(&objects, options)?;
        warnings.extend(graph.warnings().iter().map(ToString::to_string));
        let steps = objects.into_iter().map(|object| Step { action, object }).collect();
        Ok(Self { operation, steps, graph, warnings })
    }

    /// What the run does.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The steps; their positions are the nodes of [`Plan::graph`].
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The order among the steps.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What a person should know before the run: dropped edges, odd input.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// In how many namespaces the objects live.
    pub fn namespaces(&self) -> usize {
        let namespaces: HashSet<&str> = self.steps.iter().map(|step| step.id().namespace()).collect();
        namespaces.iter().filter(|namespace| !namespace.is_empty()).count()
    }

    pub(crate) fn into_parts(self) -> (Vec<Step>, Graph) {
        (self.steps, self.graph)
    }
}
