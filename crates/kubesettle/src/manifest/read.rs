//! The only place of the library that touches the file system.

#![allow(clippy::disallowed_methods, reason = "files are read here and nowhere else")]

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use walkdir::{DirEntry, WalkDir};

use super::options::Source;
use super::problem::{Place, Problem};

const EXTENSIONS: [&str; 3] = ["json", "yaml", "yml"];

/// One source's bytes.
pub(super) struct Input<'a> {
    pub(super) place: Place,
    pub(super) data: &'a [u8],
    /// Whether the place is a file that can be read again.
    pub(super) on_disk: bool,
}

/// Hands over every file of a source, in order, and what could not be read.
pub(super) fn each(source: &Source, max_bytes: u64, mut use_input: impl FnMut(Result<Input<'_>, Problem>)) {
    let mut given = |name: &str, data: &[u8]| {
        let place = Place::new(name, 0);
        match u64::try_from(data.len()).is_ok_and(|size| size <= max_bytes) {
            true => use_input(Ok(Input { place, data, on_disk: false })),
            false => use_input(Err(too_large(place, max_bytes))),
        }
    };
    match source {
        Source::Stdin(data) => given("stdin", data),
        Source::Bytes { name, data } => given(name, data),
        Source::Path { path, recursive } if path.is_dir() => {
            folder(path, *recursive, &mut |found| match found {
                Ok(path) => file(path, max_bytes, &mut use_input),
                Err(problem) => use_input(Err(problem)),
            });
        }
        Source::Path { path, .. } => file(path, max_bytes, &mut use_input),
    }
}

/// The file again, to look for a line in it.
pub(super) fn again(file: &Path) -> Option<Vec<u8>> {
    limited(file, u64::MAX).ok().flatten()
}

fn folder(root: &Path, recursive: bool, each: &mut dyn FnMut(Result<&Path, Problem>)) {
    let depth = if recursive { usize::MAX } else { 1 };
    let entries = WalkDir::new(root).max_depth(depth).sort_by_file_name().into_iter();
    for entry in entries.filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry)) {
        match entry {
            Ok(entry) if !is_manifest(&entry) => {}
            Ok(entry) if is_special(entry.path()) => {
                let place = Place::new(entry.path().to_string_lossy(), 0);
                let problem = Problem::new(place, "is a pipe, a socket or a device, and no file");
                each(Err(problem.hint("name it with -f to read from it")));
            }
            Ok(entry) => each(Ok(entry.path())),
            Err(error) => {
                let place = Place::new(error.path().unwrap_or(root).to_string_lossy(), 0);
                let message = match error.io_error() {
                    Some(error) => format!("cannot be read: {}", reason(error)),
                    None => "cannot be read".to_owned(),
                };
                each(Err(Problem::new(place, message)));
            }
        }
    }
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

/// Files by their ending, also through a link. A link to a folder is none, whatever it is called.
fn is_manifest(entry: &DirEntry) -> bool {
    let ending = entry.path().extension().and_then(|ending| ending.to_str());
    let kind = entry.file_type();
    ending.is_some_and(|ending| EXTENSIONS.contains(&ending))
        && !kind.is_dir()
        && !(kind.is_symlink() && entry.path().is_dir())
}

/// A folder is read whole, and nobody may ever write into a pipe that happens to be in it.
fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file())
}

fn file(path: &Path, max_bytes: u64, use_input: &mut dyn FnMut(Result<Input<'_>, Problem>)) {
    let place = Place::new(path.to_string_lossy(), 0);
    match limited(path, max_bytes) {
        Ok(Some(data)) => use_input(Ok(Input { place, data: &data, on_disk: path.to_str().is_some() })),
        Ok(None) => use_input(Err(too_large(place, max_bytes))),
        Err(error) => use_input(Err(Problem::new(place, format!("cannot be read: {}", reason(&error))))),
    }
}

/// `None` when there is more than the limit. The file's own size is not believed: pipes have none.
fn limited(path: &Path, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let mut data = Vec::new();
    File::open(path)?.take(max_bytes.saturating_add(1)).read_to_end(&mut data)?;
    Ok(u64::try_from(data.len()).is_ok_and(|size| size <= max_bytes).then_some(data))
}

fn too_large(place: Place, max_bytes: u64) -> Problem {
    let message = match max_bytes >> 20 {
        0 => format!("is larger than {max_bytes} bytes"),
        mebibytes => format!("is larger than {mebibytes} MiB"),
    };
    Problem::new(place, message)
}

/// The system's words without its error number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split_once(" (os error").map_or(&*text, |(words, _)| words);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
