use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::Manifests;
use super::check::{self, Checked, Origin};
use super::decode::{self, Document};
use super::list;
use super::locate;
use super::object::Object;
use super::options::{InvalidPolicy, LoadOptions, Source};
use super::problem::{InputProblems, Place, Problem};
use super::read;
use super::room;
use super::split;
use super::stream;
use crate::id::ObjectId;

impl Manifests {
    /// Reads, parses and checks everything.
    ///
    /// # Errors
    ///
    /// All problems at once: those of every document of every file. With [`InvalidPolicy::Skip`]
    /// only an input without a single good object is an error (unless that is allowed).
    pub fn load(sources: &[Source], options: &LoadOptions) -> Result<Self, InputProblems> {
        let load = || {
            let mut loader = Loader::default();
            stream::each(sources, options.max_bytes, |item| loader.item(item));
            loader.finish(sources, options)
        };
        // Files have many documents: room is made once for all of them, and not for each that may need it.
        let files = sources.iter().any(|source| !matches!(source, Source::Bytes { .. }));
        if files { room::with_room(load) } else { load() }
    }

    /// The same for text at hand, refusing what has problems or no objects.
    ///
    /// # Errors
    ///
    /// As [`Self::load`].
    pub fn parse(name: &str, data: &[u8]) -> Result<Self, InputProblems> {
        let source = Source::Bytes { name: name.into(), data: data.to_vec().into() };
        Self::load(&[source], &LoadOptions::default())
    }
}

#[derive(Default)]
struct Loader {
    objects: Vec<Object>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Loader {
    fn item(&mut self, item: Result<stream::Item<'_>, Problem>) {
        let stream::Item { value, origin, .. } = match item {
            Ok(item) => item,
            Err(problem) => return self.problems.push(problem),
        };
        match value.map(|value| check::check(value, &origin)) {
            Ok(Ok(Some(Checked { object, warning }))) => {
                self.objects.push(object);
                self.warnings.extend(warning);
            }
            Ok(Ok(None)) => {}
            Ok(Err(problems)) => self.problems.extend(problems),
            Err(message) => self.problems.push(Problem::new(origin.place, message)),
        }
    }

    fn finish(mut self, sources: &[Source], options: &LoadOptions) -> Result<Manifests, InputProblems> {
        self.problems.extend(remove_duplicates(&mut self.objects, ""));
        let nothing = self.objects.is_empty() && !options.allow_empty;
        if nothing && self.problems.is_empty() {
            self.problems.push(no_objects(sources));
        }
        let refused = options.invalid == InvalidPolicy::Refuse && !self.problems.is_empty();
        if refused || nothing {
            return Err(InputProblems::new(self.problems));
        }
        Ok(Manifests { objects: self.objects, problems: self.problems, warnings: self.warnings })
    }
}

/// Removes all objects that are there more than once, since nobody can say which is meant, and tells
/// so at each but the first.
pub(super) fn remove_duplicates(objects: &mut Vec<Object>, remark: &str) -> Vec<Problem> {
    let mut first: HashMap<&ObjectId, &Object> = HashMap::with_capacity(objects.len());
    let mut ambiguous: HashSet<ObjectId> = HashSet::new();
    let mut problems = Vec::new();
    for object in objects.iter() {
        if let Some(other) = first.get(object.id()) {
            let message = match other.place() == object.place() {
                true => "is read twice; is its file given twice?".to_owned(),
                false => format!("is the same object as at {}{remark}", other.place()),
            };
            problems.push(Problem::new(object.place().clone(), message).about(object.id()));
            ambiguous.insert(object.id().clone());
        } else {
            first.insert(object.id(), object);
        }
    }
    if !ambiguous.is_empty() {
        objects.retain(|object| !ambiguous.contains(object.id()));
    }
    problems
}

pub(crate) fn no_objects(sources: &[Source]) -> Problem {
    const SHOWN: usize = 3;
    let mut names: Vec<String> = sources.iter().take(SHOWN).map(name_of).collect();
    if sources.len() > SHOWN {
        names.push(format!("{} more", sources.len() - SHOWN));
    }
    let problem = Problem::new(Place::new(names.join(", "), 0), "no objects found");
    match sources
        .iter()
        .any(|source| matches!(source, Source::Path { path, recursive: false } if path.is_dir()))
    {
        true => problem
            .hint("only .yaml, .yml and .json files directly in a folder are read; -R goes into its folders"),
        false => problem,
    }
}

fn name_of(source: &Source) -> String {
    match source {
        Source::Stdin(_) => "stdin".to_owned(),
        Source::Bytes { name, .. } => name.to_string(),
        Source::Path { path, .. } => path.display().to_string(),
    }
}

/// See [`Object::line_of`]: finds the object in its file once more.
pub(super) fn line_of(object: &Object, path: &str) -> Option<u32> {
    if !object.on_disk {
        return None;
    }
    let data = read::again(Path::new(object.place.file()))?;
    let data = data.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&data);
    let text = split::text(data, &object.place).ok()?;
    let segments = split::segments(text);
    let segment = segments.iter().rfind(|segment| segment.first_line <= object.place.line())?;
    let mut found = None;
    decode::documents(segment, |document| {
        if let Ok(Document { value, text, first_line, line }) = document {
            let items = list::flatten(value);
            let lines = locate::items(text);
            for (indices, item) in items {
                let line = lines.get(&indices).map_or(line, |line| first_line + line - 1);
                let place = object.place.at_line(line);
                let origin = Origin { place, on_disk: false, text, first_line, indices };
                let same = |checked: &Checked| {
                    checked.object.id.name() == object.id.name()
                        && checked.object.id.group_kind() == object.id.group_kind()
                };
                if line == object.place.line()
                    && let Ok(value) = item
                    && check::check(value, &origin).ok().flatten().as_ref().is_some_and(same)
                {
                    found = origin.line_of(path);
                }
            }
        }
    });
    found
}
