use bytes::Bytes;
use kstatus::CustomRule;

use crate::graph::Graph;
use crate::id::ObjectId;
use crate::manifest::{Object, Problem, Resolved};

/// What the input asks for: its objects, complete and ordered.
#[derive(Debug, Default)]
pub struct Wanted {
    pub(crate) objects: Vec<Object>,
    pub(crate) graph: Graph,
    pub(crate) warnings: Vec<String>,
    problems: Vec<Problem>,
    template: Option<Bytes>,
    rules: Vec<CustomRule>,
}

impl Wanted {
    /// From the resolved input and its order (`Graph::of_input` makes both).
    pub fn new(input: Resolved, graph: Graph) -> Self {
        let warnings = input.warnings().iter().chain(graph.warnings()).map(ToString::to_string).collect();
        let problems = input.problems().to_vec();
        let template = input.template().map(|template| template.json().clone());
        let rules = Vec::new();
        Self { objects: input.into_objects(), graph, warnings, problems, template, rules }
    }

    /// With the rules that definitions of the input carry, and what was wrong with others.
    #[must_use]
    pub fn with_rules(mut self, rules: Vec<CustomRule>, problems: &[Problem]) -> Self {
        self.rules = rules;
        self.warnings.extend(problems.iter().map(ToString::to_string));
        self
    }

    /// The rules that definitions of the input carry: for [`Hub::with_rules`](crate::watch::Hub::with_rules).
    pub fn rules(&self) -> &[CustomRule] {
        &self.rules
    }

    /// The objects; their positions are the nodes of [`Wanted::graph`].
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The order among them.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What a person should know of the input.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What was wrong with objects that were left out.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The names of objects that were left out: they are in the input all the same, so they must not
    /// be pruned.
    pub fn invalid(&self) -> impl Iterator<Item = &ObjectId> {
        self.problems.iter().filter_map(|problem| problem.object.as_ref())
    }

    /// The inventory template of the input as JSON, when it has one.
    pub fn template(&self) -> Option<&Bytes> {
        self.template.as_ref()
    }
}
