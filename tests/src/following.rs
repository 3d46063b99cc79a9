//! A look that goes on: `status --watch`.

use std::thread::sleep;
use std::time::{Duration, Instant};

use harness::Running;
use serde_json::Value;

use crate::{LIMIT, Settle};

/// `status --watch` under way.
#[derive(Debug)]
pub struct Following(Running);

impl Following {
    /// Starts it: a call of `status` with its input.
    #[track_caller]
    pub fn start(call: Settle) -> Self {
        Self(call.args(["--watch", "-o", "json"]).start())
    }

    /// What was told of an object so far: status and message.
    pub fn told(&self, name: &str) -> Vec<(String, String)> {
        let word = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let about = self.lines().into_iter().filter(|line| line["type"] == "status" && line["name"] == name);
        about.map(|line| (word(&line, "status"), word(&line, "message"))).collect()
    }

    /// The gaps that were told so far.
    pub fn gaps(&self) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["type"] == "gap").collect()
    }

    fn lines(&self) -> Vec<Value> {
        self.0.stdout().lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Waits until the last word on an object is this status, with this in its message.
    ///
    /// # Panics
    ///
    /// When that does not come, with everything that was said.
    #[track_caller]
    pub fn until(&self, name: &str, status: &str, message: &str) {
        let is = |told: &(String, String)| told.0 == status && told.1.contains(message);
        self.wait(&format!("{name} to be {status}, {message:?}"), |this| {
            this.told(name).last().is_some_and(is)
        });
    }

    /// Waits until something holds of what was told.
    ///
    /// # Panics
    ///
    /// When that does not come, with everything that was said.
    #[track_caller]
    pub fn wait(&self, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        let began = Instant::now();
        while !holds(self) {
            let (out, err) = (self.0.stdout(), self.0.stderr());
            assert!(began.elapsed() < LIMIT, "waited in vain for {what}\n{out}\n{err}");
            sleep(Duration::from_millis(100));
        }
    }

    /// Ends it as a person would, and returns what it said.
    #[track_caller]
    pub fn end(self) -> String {
        self.0.interrupt();
        self.0.finish(LIMIT).stdout
    }
}
