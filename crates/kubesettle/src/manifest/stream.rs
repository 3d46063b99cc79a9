//! Every object of some sources, in order, before anything is asked of it.

use std::collections::HashMap;

use serde_json::Value;

use super::check::Origin;
use super::decode::{self, Document};
use super::list;
use super::locate;
use super::options::Source;
use super::problem::Problem;
use super::read::{self, Input};
use super::split;

/// A tree and where it comes from.
pub(crate) struct Item<'a> {
    /// The tree, or what is wrong with the list around it.
    pub(crate) value: Result<Value, &'static str>,
    pub(crate) origin: Origin<'a>,
    /// It stands in a file that was not named, but found in a folder.
    pub(crate) found: bool,
}

/// Hands over every object of every source, lists taken apart, and what could not be read.
pub(crate) fn each(sources: &[Source], max_bytes: u64, mut use_item: impl FnMut(Result<Item<'_>, Problem>)) {
    for source in sources {
        let folder = matches!(source, Source::Path { path, .. } if path.is_dir());
        read::each(source, max_bytes, |input| match input {
            Ok(data) => input_of(&data, folder, &mut use_item),
            Err(problem) => use_item(Err(problem)),
        });
    }
}

fn input_of(input: &Input<'_>, found: bool, use_item: &mut dyn FnMut(Result<Item<'_>, Problem>)) {
    let data = input.data.strip_prefix("\u{feff}".as_bytes()).unwrap_or(input.data);
    let text = match split::text(data, &input.place) {
        Ok(text) => text,
        Err(problem) => return use_item(Err(problem)),
    };
    for segment in split::segments(text) {
        decode::documents(&segment, |document| match document {
            Ok(document) => document_of(document, input, found, use_item),
            Err(fault) => {
                let problem = Problem::new(input.place.at_line(fault.line), fault.message);
                use_item(Err(match segment.text.contains("{{") {
                    true => problem.hint("this looks like a template: render it first"),
                    false => problem,
                }));
            }
        });
    }
}

fn document_of(
    document: Document<'_>,
    input: &Input<'_>,
    found: bool,
    use_item: &mut dyn FnMut(Result<Item<'_>, Problem>),
) {
    let Document { value, text, first_line, line } = document;
    if value.is_null() {
        return;
    }
    let items = list::flatten(value);
    let is_list = items.first().is_some_and(|(indices, _)| !indices.is_empty());
    let lines = if is_list { locate::items(text) } else { HashMap::new() };
    for (indices, value) in items {
        let line = lines.get(&indices).map_or(line, |line| first_line + line - 1);
        let place = input.place.at_line(line);
        let origin = Origin { place, on_disk: input.on_disk, text, first_line, indices };
        use_item(Ok(Item { value, origin, found }));
    }
}
