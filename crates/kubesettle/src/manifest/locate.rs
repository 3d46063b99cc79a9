//! Lines of fields, found on demand by parsing a document's source once more.

use std::collections::HashMap;

use serde_saphyr::granit_parser::{Event, Parser};

/// One step into a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    Key(Box<str>),
    Index(usize),
}

/// Reads `spec.containers[0].image`. A key with dots is written `metadata.labels["a.b/c"]`.
pub(super) fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = path.trim_start_matches('$');
    while !rest.is_empty() {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        let quoted = rest.strip_prefix("[\"").and_then(|rest| rest.split_once("\"]"));
        let index = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (step, after) = match (quoted, index) {
            (Some((key, after)), _) => (Step::Key(key.into()), after),
            (None, Some((index, after))) => match index.parse() {
                Ok(index) => (Step::Index(index), after),
                Err(_) => (Step::Key(index.into()), after),
            },
            (None, None) => {
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                let (key, after) = rest.split_at(end);
                (Step::Key(key.into()), after)
            }
        };
        if after.len() == rest.len() {
            break;
        }
        steps.push(step);
        rest = after;
    }
    steps
}

/// The line of the field that `path` leads to within `text`, counted from 1, or of the nearest field
/// around it that is written out. `None` when not even the first step is.
pub(super) fn field(text: &str, path: &[Step]) -> Option<u32> {
    let mut best: Option<(usize, u32)> = None;
    walk(text, |at, line| {
        if best.is_none_or(|(depth, _)| at.len() > depth) && path.starts_with(at) && !at.is_empty() {
            best = Some((at.len(), line));
        }
    });
    best.map(|(_, line)| line)
}

/// The lines of all elements of (nested) `items` lists, by their indices.
pub(super) fn items(text: &str) -> HashMap<Vec<usize>, u32> {
    let mut lines = HashMap::new();
    walk(text, |at, line| {
        if let Some(indices) = item_indices(at) {
            lines.insert(indices, line);
        }
    });
    lines
}

fn item_indices(path: &[Step]) -> Option<Vec<usize>> {
    if path.is_empty() || path.len() % 2 == 1 {
        return None;
    }
    let pairs = path.chunks_exact(2).map(|pair| match pair {
        [Step::Key(key), Step::Index(index)] if &**key == "items" => Some(*index),
        _ => None,
    });
    pairs.collect()
}

enum Frame {
    /// The line of the key whose value comes next.
    Map {
        key_line: Option<u32>,
    },
    Seq {
        next: usize,
    },
}

/// Calls `found` with the path and line of every node; a mapping's entry has the line of its key.
/// Stops quietly where the text is no YAML.
fn walk(text: &str, mut found: impl FnMut(&[Step], u32)) {
    let mut parser = Parser::new_from_str(text);
    let mut frames: Vec<Frame> = Vec::new();
    let mut path: Vec<Step> = Vec::new();
    while let Some(Ok((event, span))) = parser.next_event() {
        let line = u32::try_from(span.start.line()).unwrap_or(u32::MAX);
        let opens = match &event {
            Event::MappingStart(..) => Some(Frame::Map { key_line: None }),
            Event::SequenceStart(..) => Some(Frame::Seq { next: 0 }),
            Event::Scalar(..) | Event::Alias(..) => None,
            Event::MappingEnd | Event::SequenceEnd => {
                frames.pop();
                leave(&mut frames, &mut path);
                continue;
            }
            _ => continue,
        };
        match frames.last_mut() {
            Some(Frame::Map { key_line: key_line @ None }) => {
                // A key; one that is no scalar has no name here but keeps the count.
                let name = if let Event::Scalar(name, ..) = &event { &**name } else { "" };
                path.push(Step::Key(name.into()));
                *key_line = Some(line);
                if opens.is_some() {
                    skip(&mut parser);
                }
                continue;
            }
            Some(Frame::Map { key_line: Some(key_line) }) => found(&path, *key_line),
            Some(Frame::Seq { next }) => {
                path.push(Step::Index(*next));
                *next += 1;
                found(&path, line);
            }
            None => found(&path, line),
        }
        match opens {
            Some(frame) => frames.push(frame),
            None => leave(&mut frames, &mut path),
        }
    }
}

/// A value is complete: its step goes.
fn leave(frames: &mut [Frame], path: &mut Vec<Step>) {
    if let Some(frame) = frames.last_mut() {
        path.pop();
        if let Frame::Map { key_line } = frame {
            *key_line = None;
        }
    }
}

/// Past the rest of a collection that has just been opened.
fn skip<'a, T: serde_saphyr::granit_parser::BorrowedInput<'a>>(parser: &mut Parser<'a, T>) {
    let mut depth = 1;
    while depth > 0 {
        match parser.next_event() {
            Some(Ok((Event::MappingStart(..) | Event::SequenceStart(..), _))) => depth += 1,
            Some(Ok((Event::MappingEnd | Event::SequenceEnd, _))) => depth -= 1,
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEB: &str = r#"# c
metadata:
  labels:
    app.kubernetes.io/name: web
spec:
  containers:
  - name: a
    image: x
  - name: b
    env: [{name: A},
          {name: B}]
    image: |
      y
  ? {complex: key}
  : 1
  last: {}
"#;

    #[test]
    fn fields_are_found_or_what_is_around_them() {
        let cases = [
            ("metadata", Some(2)),
            ("metadata.labels[\"app.kubernetes.io/name\"]", Some(4)),
            ("spec.containers", Some(6)),
            ("spec.containers[0]", Some(7)),
            ("spec.containers[0].image", Some(8)),
            ("$.spec.containers[1].env[1].name", Some(11)),
            (".spec.containers[1].image", Some(12)),
            ("spec.containers[1].ports[0].name", Some(9)),
            ("spec.containers[7].image", Some(6)),
            ("spec.last.more", Some(16)),
            ("status", None),
            ("", None),
        ];
        for (path, line) in cases {
            assert_eq!(field(WEB, &steps(path)), line, "{path}");
        }
    }

    #[test]
    fn json_has_lines_too() {
        assert_eq!(field("{\"a\":\n {\"b\":\n1}}", &steps("a.b")), Some(2));
    }

    #[test]
    fn elements_of_nested_lists_are_found() {
        let text = "kind: List\nitems:\n- a: 1\n- items:\n  - b: 1\n  -\n    b: 2\nother: [1]\n";
        let mut lines: Vec<_> = items(text).into_iter().collect();
        lines.sort();
        assert_eq!(lines, [(vec![0], 3), (vec![1], 4), (vec![1, 0], 5), (vec![1, 1], 7)]);
    }

    #[test]
    fn odd_paths_end() {
        for path in ["..", "a..b", "[", "[]", "a[", "[\"x", "$", "a.[0]"] {
            let _ = steps(path);
        }
    }
}
