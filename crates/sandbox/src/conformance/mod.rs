//! What the real server answers, as data: requests, and what is expected of their answers.
//!
//! The same cases run against the sandbox and against a real API server; where they differ, the sandbox
//! is wrong. A case has a namespace to itself, which its texts call `$ns`; what a step saves, later
//! steps call by `$` and its name.

mod cases;
mod check;

use std::time::Duration;

use serde_json::Value;

pub use check::{Place, check};

/// Who sends a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// May do everything.
    Admin,
    /// May do what [`LIMITED`] says, in the case's namespace.
    Limited,
    /// Sends a token that the server does not know.
    Stranger,
    /// Sends no token.
    Nobody,
}

/// Rights of [`Who::Limited`] in the case's namespace: verbs, resource, and the only name they are for
/// (empty for all).
pub const LIMITED: &[(&str, &str, &str)] = &[
    ("get,list,watch", "configmaps", "a"),
    ("patch", "configmaps", "a"),
    ("patch", "configmaps", "absent"),
    ("get", "secrets", "a"),
];

/// A situation, in steps that follow one another.
#[derive(Clone, Debug)]
pub struct Case {
    /// What the server does, in words.
    pub name: &'static str,
    /// The requests.
    pub steps: Vec<Step>,
    /// The case changes things that all namespaces share: two at a time would meet.
    pub cluster_wide: bool,
}

/// One request and what is expected of its answer.
#[derive(Clone, Debug)]
pub struct Step {
    /// HTTP method.
    pub method: &'static str,
    /// Path and query.
    pub target: String,
    /// `Content-Type`; empty for none.
    pub content_type: &'static str,
    /// `Accept`.
    pub accept: &'static str,
    /// Body.
    pub body: String,
    /// Who sends it.
    pub who: Who,
    /// The request is sent again for so long until the answer is the expected one.
    pub within: Duration,
    /// What the answer must be like; all of it.
    pub expect: Vec<Expect>,
    /// Parts of the answer that later steps use: a name and a JSON pointer.
    pub save: Vec<(&'static str, &'static str)>,
}

/// One thing that must be true of an answer.
#[derive(Clone, Debug)]
pub enum Expect {
    /// HTTP status.
    Code(u16),
    /// `reason` of the Status; empty: it has none.
    Reason(&'static str),
    /// The Status' message (or a plain body) contains this.
    Message(String),
    /// A header contains this; empty: there is no such header.
    Header(&'static str, String),
    /// The value at a JSON pointer.
    Is(&'static str, Value),
    /// The text at a JSON pointer is this one.
    Text(&'static str, String),
    /// The text at a JSON pointer is another one.
    Differs(&'static str, String),
    /// There is something at a JSON pointer.
    Present(&'static str),
    /// There is nothing at a JSON pointer.
    Absent(&'static str),
    /// A condition's type, status and reason.
    Condition(&'static str, &'static str, &'static str),
    /// How many items a list has.
    Items(usize),
    /// The events of a watch that ends by itself, as `TYPE name`. Bookmarks that do not mark the end of
    /// initial events are left out.
    Events(Vec<&'static str>),
    /// The ERROR event of a watch has this code, and its message contains this.
    Error(u16, String),
}

impl Case {
    fn new(name: &'static str) -> Self {
        Self { name, steps: Vec::new(), cluster_wide: false }
    }

    fn cluster_wide(mut self) -> Self {
        self.cluster_wide = true;
        self
    }

    fn step(
        mut self,
        method: &'static str,
        target: impl Into<String>,
        content_type: &'static str,
        body: impl ToString,
    ) -> Self {
        self.steps.push(Step {
            method,
            target: target.into(),
            content_type,
            accept: "application/json",
            body: body.to_string(),
            who: Who::Admin,
            within: Duration::ZERO,
            expect: Vec::new(),
            save: Vec::new(),
        });
        self
    }

    fn get(self, target: impl Into<String>) -> Self {
        self.step("GET", target, "", "")
    }

    /// Server-side apply; the manager is `t1` unless the target names one.
    fn apply(self, target: impl Into<String>, body: impl ToString) -> Self {
        let mut target = target.into();
        if !target.contains("fieldManager") {
            target.push(if target.contains('?') { '&' } else { '?' });
            target.push_str("fieldManager=t1");
        }
        self.step("PATCH", target, "application/apply-patch+yaml", body)
    }

    fn post(self, target: impl Into<String>, body: impl ToString) -> Self {
        self.step("POST", target, "application/json", body)
    }

    fn put(self, target: impl Into<String>, body: impl ToString) -> Self {
        self.step("PUT", target, "application/json", body)
    }

    fn delete(self, target: impl Into<String>, options: impl ToString) -> Self {
        self.step("DELETE", target, "application/json", options)
    }

    fn merge(self, target: impl Into<String>, patch: impl ToString) -> Self {
        self.step("PATCH", target, "application/merge-patch+json", patch)
    }

    fn edit(mut self, change: impl FnOnce(&mut Step)) -> Self {
        if let Some(step) = self.steps.last_mut() {
            change(step);
        }
        self
    }

    fn expect(self, expect: Expect) -> Self {
        self.edit(|step| step.expect.push(expect))
    }

    fn code(self, code: u16) -> Self {
        self.expect(Expect::Code(code))
    }

    /// Status code, reason and a part of the message.
    fn refused(self, code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        self.code(code).expect(Expect::Reason(reason)).expect(Expect::Message(message.into()))
    }

    fn header(self, name: &'static str, part: impl Into<String>) -> Self {
        self.expect(Expect::Header(name, part.into()))
    }

    fn is(self, pointer: &'static str, value: impl Into<Value>) -> Self {
        self.expect(Expect::Is(pointer, value.into()))
    }

    fn text(self, pointer: &'static str, text: impl Into<String>) -> Self {
        self.expect(Expect::Text(pointer, text.into()))
    }

    fn differs(self, pointer: &'static str, text: impl Into<String>) -> Self {
        self.expect(Expect::Differs(pointer, text.into()))
    }

    fn present(self, pointer: &'static str) -> Self {
        self.expect(Expect::Present(pointer))
    }

    fn absent(self, pointer: &'static str) -> Self {
        self.expect(Expect::Absent(pointer))
    }

    fn condition(self, kind: &'static str, status: &'static str, reason: &'static str) -> Self {
        self.expect(Expect::Condition(kind, status, reason))
    }

    fn events(self, events: &[&'static str]) -> Self {
        self.expect(Expect::Events(events.to_vec()))
    }

    fn save(self, name: &'static str, pointer: &'static str) -> Self {
        self.edit(|step| step.save.push((name, pointer)))
    }

    fn accept(self, accept: &'static str) -> Self {
        self.edit(|step| step.accept = accept)
    }

    fn media_type(self, media_type: &'static str) -> Self {
        self.edit(|step| step.content_type = media_type)
    }

    fn by(self, who: Who) -> Self {
        self.edit(|step| step.who = who)
    }

    fn within(self, seconds: u64) -> Self {
        self.edit(|step| step.within = Duration::from_secs(seconds))
    }
}

/// Every case.
pub fn cases() -> Vec<Case> {
    cases::all()
}
