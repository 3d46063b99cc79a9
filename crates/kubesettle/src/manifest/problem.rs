use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::id::ObjectId;

/// A line of an input file. Line 0 stands for the file as a whole.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    file: Arc<str>,
    line: u32,
}

impl Place {
    /// Lines are counted from 1; 0 means that no line is known.
    pub fn new(file: impl Into<Arc<str>>, line: u32) -> Self {
        Self { file: file.into(), line }
    }

    /// The file's name as the user gave it, or the name of another source (`stdin`).
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line, counted from 1; 0 when only the file is known.
    pub fn line(&self) -> u32 {
        self.line
    }

    pub(crate) fn at_line(&self, line: u32) -> Self {
        Self { file: self.file.clone(), line }
    }
}

/// `shop/web.yaml:14`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line == 0 { Ok(()) } else { write!(f, ":{}", self.line) }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One thing that is wrong with the input, or (in a list of warnings) that was put right in passing.
///
/// No part of it ever holds a value out of an object's body: Secrets come this way too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it stands.
    pub place: Place,
    /// Which object it is about, once that much could be read.
    pub object: Option<ObjectId>,
    /// What is wrong, in one line.
    pub message: String,
    /// What to do about it, when that is known.
    pub hint: Option<String>,
}

impl Problem {
    pub(crate) fn new(place: Place, message: impl Into<String>) -> Self {
        Self { place, object: None, message: message.into(), hint: None }
    }

    #[must_use]
    pub(crate) fn about(mut self, object: &ObjectId) -> Self {
        self.object = Some(object.clone());
        self
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// `shop/web.yaml:14: deployment.apps/web: message`, without the hint.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if let Some(object) = &self.object {
            write!(f, "{object}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// Everything that is wrong with an input: file after file, line after line. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputProblems(Vec<Problem>);

impl InputProblems {
    pub(crate) fn new(mut problems: Vec<Problem>) -> Self {
        debug_assert!(!problems.is_empty(), "an error without a problem");
        sort(&mut problems);
        Self(problems)
    }

    /// The problems, file after file.
    pub fn problems(&self) -> &[Problem] {
        &self.0
    }

    /// The problems, file after file.
    pub fn into_problems(self) -> Vec<Problem> {
        self.0
    }
}

/// Brings the problems of a file together, by line. Files keep the order in which they come up.
fn sort(problems: &mut [Problem]) {
    let mut files: HashMap<Arc<str>, usize> = HashMap::new();
    for problem in problems.iter() {
        let next = files.len();
        files.entry(problem.place.file.clone()).or_insert(next);
    }
    problems.sort_by_key(|problem| (files.get(&problem.place.file).copied(), problem.place.line));
}

/// One problem a line, each followed by its hint.
impl fmt::Display for InputProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, problem) in self.0.iter().enumerate() {
            if nth > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
            if let Some(hint) = &problem.hint {
                write!(f, "\n  {hint}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for InputProblems {}
