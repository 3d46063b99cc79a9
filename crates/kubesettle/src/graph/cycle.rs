use std::fmt;

use crate::manifest::Problem;

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
pub struct CycleProblems(pub(super) Vec<Cycle>);

impl CycleProblems {
    /// The cycles; no object is in two of them.
    pub fn cycles(&self) -> &[Cycle] {
        &self.0
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
