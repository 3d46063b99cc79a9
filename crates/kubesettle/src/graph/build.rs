use super::cycle::CycleProblems;
use super::{Adjacency, Graph};
use crate::manifest::Object;

/// What to look for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GraphOptions {
    /// Whether to infer edges from the bodies of objects. Default: yes.
    pub inferred: bool,
}

impl Default for GraphOptions {
    fn default() -> Self {
        Self { inferred: true }
    }
}

impl Graph {
    /// Finds the edges among `objects`, which must be distinct and have final namespaces.
    ///
    /// # Errors
    ///
    /// Declared edges form a cycle.
    pub fn build(objects: &[Object], options: &GraphOptions) -> Result<Self, CycleProblems> {
        let _ = options;
        let count = u32::try_from(objects.len()).unwrap_or(u32::MAX);
        let none = Adjacency { starts: vec![0; objects.len() + 1].into(), edges: Box::default() };
        Ok(Self {
            dependencies: none.clone(),
            dependents: none,
            priority: (0..count).collect(),
            order: (0..count).collect(),
            external: Box::default(),
            warnings: Box::default(),
        })
    }
}
