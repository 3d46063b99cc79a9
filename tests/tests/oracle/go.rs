//! The Go library, in a process that answers line by line.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use harness::binaries::{self, Binary};
use serde_json::Value;

/// What the Go library says about an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The status word; `Unknown` where the library returns an error, as its readers make of it.
    pub(crate) status: String,
    pub(crate) reason: String,
    /// The message, or the error.
    pub(crate) message: String,
    pub(crate) is_error: bool,
}

/// The process, which ends with this value.
pub(crate) struct Oracle {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Oracle {
    pub(crate) fn start() -> Self {
        let path = binaries::path(Binary::Oracle).expect("the oracle is built");
        let mut child = Command::new(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the oracle starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("its output"));
        Self { child, input, output }
    }

    /// Its answers about objects, in their order.
    pub(crate) fn ask<'v>(&mut self, objects: impl IntoIterator<Item = &'v Value>) -> Vec<Answer> {
        let lines: Vec<String> = objects.into_iter().map(Value::to_string).collect();
        let (input, output) = (self.input.as_mut().expect("open"), &mut self.output);
        std::thread::scope(|scope| {
            let count = lines.len();
            scope.spawn(move || {
                let mut input = BufWriter::new(input);
                for line in lines {
                    writeln!(input, "{line}").expect("the oracle reads");
                }
                input.flush().expect("the oracle reads");
            });
            (0..count).map(|_| answer(output)).collect()
        })
    }
}

fn answer(output: &mut impl BufRead) -> Answer {
    let mut line = String::new();
    output.read_line(&mut line).expect("the oracle answers");
    let said: Value = serde_json::from_str(&line).expect("an answer in JSON");
    let text = |key: &str| said[key].as_str().unwrap_or_default().to_owned();
    match said["error"].as_str() {
        Some(error) => Answer {
            status: "Unknown".to_owned(),
            message: error.to_owned(),
            is_error: true,
            ..Answer::default()
        },
        None => Answer {
            status: text("status"),
            reason: text("reason"),
            message: text("message"),
            is_error: false,
        },
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
