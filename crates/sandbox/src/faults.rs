//! Troubles that tests order: which requests they meet, and what happens to those.

use std::time::Duration;

use bytes::Bytes;
use serde_json::json;

use crate::answer::Cut;
use crate::ask::{Ask, Target};
use crate::failure::Failure;
use crate::store::mix;
use crate::streams::WatchEnd;

/// Which requests a fault meets: all that fit every word that was given.
///
/// ```
/// use sandbox::When;
/// let third_patch = When::verb("patch").resource("deployments.apps").nth(2);
/// let flaky = When::any().chance(0.1);
/// ```
#[derive(Clone, Debug)]
pub struct When {
    verb: String,
    resource: String,
    namespace: String,
    name: String,
    path: String,
    user_agent: String,
    from: u64,
    until: u64,
    chance: f64,
}

impl When {
    /// Every request.
    pub fn any() -> Self {
        Self {
            verb: String::new(),
            resource: String::new(),
            namespace: String::new(),
            name: String::new(),
            path: String::new(),
            user_agent: String::new(),
            from: 0,
            until: u64::MAX,
            chance: 1.0,
        }
    }

    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`; discovery has no verb.
    pub fn verb(verb: impl Into<String>) -> Self {
        Self { verb: verb.into(), ..Self::any() }
    }

    /// Requests for exactly this path, such as `/apis`.
    pub fn path(path: impl Into<String>) -> Self {
        Self { path: path.into(), ..Self::any() }
    }

    /// `pods`, `deployments.apps`.
    #[must_use]
    pub fn resource(mut self, resource: impl Into<String>) -> Self {
        self.resource = resource.into();
        self
    }

    /// Requests within one namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Requests about one object.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Requests of clients whose `User-Agent` contains this.
    #[must_use]
    pub fn user_agent(mut self, part: impl Into<String>) -> Self {
        self.user_agent = part.into();
        self
    }

    /// Only the nth of them, counted from 0.
    #[must_use]
    pub fn nth(mut self, nth: u64) -> Self {
        (self.from, self.until) = (nth, nth.saturating_add(1));
        self
    }

    /// Only the first `count` of them.
    #[must_use]
    pub fn first(mut self, count: u64) -> Self {
        (self.from, self.until) = (0, count);
        self
    }

    /// Only those after the first `count`.
    #[must_use]
    pub fn after(mut self, count: u64) -> Self {
        self.from = count;
        self
    }

    /// Each with this probability, drawn from the sandbox's seed.
    #[must_use]
    pub fn chance(mut self, chance: f64) -> Self {
        self.chance = chance;
        self
    }

    fn fits(&self, ask: &Ask, verb: &str, target: Option<&Target>, name: &str) -> bool {
        let empty = Target::default();
        let target = target.unwrap_or(&empty);
        let is = |wanted: &str, given: &str| wanted.is_empty() || wanted == given;
        is(&self.verb, verb)
            && is(&self.path, &ask.path)
            && (self.resource.is_empty()
                || self.resource == crate::kinds::resource_id(&target.group, &target.plural))
            && is(&self.namespace, &target.namespace)
            && is(&self.name, name)
            && ask.user_agent.contains(&self.user_agent)
    }
}

/// What happens to a request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// A Status object instead of an answer; the request is not carried out.
    Status {
        /// HTTP status.
        code: u16,
        /// `ServiceUnavailable`, `TooManyRequests` and so on; may be empty.
        reason: &'static str,
        /// What it says.
        message: String,
        /// Seconds in the `Retry-After` header.
        retry_after: Option<u64>,
    },
    /// Any answer; the request is not carried out.
    Answer {
        /// HTTP status.
        code: u16,
        /// Its media type.
        media_type: &'static str,
        /// Its body.
        body: Bytes,
    },
    /// The request is carried out this much later.
    Delay(Duration),
    /// The connection breaks before the request is carried out.
    Refuse,
    /// The request is carried out, and then the connection breaks.
    Lose,
    /// No answer ever comes; the request is not carried out.
    Hang,
    /// The body breaks after so many bytes.
    CutBody(usize),
    /// The body ends in good order after so many bytes.
    EndBody(usize),
    /// After so many bytes nothing more comes, not even an end.
    HangBody(usize),
    /// The history is compacted before the request is carried out.
    Compact,
    /// A watch ends like this some time after it was opened.
    EndWatch(Duration, WatchEnd),
    /// The answer has one more `Warning` header: this text.
    Warn(String),
}

impl Fault {
    /// A Status with a code, a reason and a message.
    pub fn status(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self::Status { code, reason, message: message.into(), retry_after: None }
    }

    /// 429 with `Retry-After`.
    pub fn throttle(seconds: u64) -> Self {
        Self::Status {
            code: 429,
            reason: "TooManyRequests",
            message: "the server has received too many requests and has asked us to try again later"
                .to_owned(),
            retry_after: Some(seconds),
        }
    }
}

/// Names a rule, to count what it met or to end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultId(u64);

#[derive(Debug)]
struct Rule {
    id: u64,
    when: When,
    fault: Fault,
    /// Requests that fit, whether or not the fault met them.
    seen: u64,
    hits: u64,
}

/// All rules, and what they have met.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    added: u64,
    drawn: u64,
    seed: u64,
    rules: Vec<Rule>,
}

/// What is to happen to one request.
#[derive(Debug, Default)]
pub(crate) struct Fate {
    pub(crate) delay: Duration,
    pub(crate) compact: bool,
    pub(crate) instead: Option<Instead>,
    pub(crate) lose: bool,
    pub(crate) cut: Option<(usize, Cut)>,
    pub(crate) end_watch: Option<(Duration, WatchEnd)>,
    pub(crate) warnings: Vec<String>,
}

#[derive(Debug)]
pub(crate) enum Instead {
    Refuse,
    Hang,
    Failure(Failure),
    Answer { code: u16, media_type: &'static str, body: Bytes },
}

impl Faults {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    pub(crate) fn add(&mut self, when: When, fault: Fault) -> FaultId {
        self.added += 1;
        self.rules.push(Rule { id: self.added, when, fault, seen: 0, hits: 0 });
        FaultId(self.added)
    }

    pub(crate) fn remove(&mut self, id: FaultId) {
        self.rules.retain(|rule| rule.id != id.0);
    }

    pub(crate) fn clear(&mut self) {
        self.rules.clear();
    }

    pub(crate) fn hits(&self, id: FaultId) -> u64 {
        self.rules.iter().find(|rule| rule.id == id.0).map_or(0, |rule| rule.hits)
    }

    /// What happens to a request: every rule that fits has its say.
    pub(crate) fn fate(&mut self, ask: &Ask, verb: &str, target: Option<&Target>, name: &str) -> Fate {
        let mut fate = Fate::default();
        for rule in &mut self.rules {
            if !rule.when.fits(ask, verb, target, name) {
                continue;
            }
            let place = rule.seen;
            rule.seen += 1;
            if place < rule.when.from || place >= rule.when.until {
                continue;
            }
            if rule.when.chance < 1.0 {
                self.drawn += 1;
                // 53 bits fill the mantissa.
                let drawn = (mix(self.seed.wrapping_add(self.drawn)) >> 11) as f64 / (1_u64 << 53) as f64;
                if drawn >= rule.when.chance {
                    continue;
                }
            }
            rule.hits += 1;
            fate.add(&rule.fault);
        }
        fate
    }
}

impl Fate {
    fn add(&mut self, fault: &Fault) {
        let instead = match fault {
            Fault::Delay(time) => return self.delay += *time,
            Fault::Lose => return self.lose = true,
            Fault::Compact => return self.compact = true,
            Fault::CutBody(bytes) => return self.cut = Some((*bytes, Cut::Broken)),
            Fault::EndBody(bytes) => return self.cut = Some((*bytes, Cut::Clean)),
            Fault::HangBody(bytes) => return self.cut = Some((*bytes, Cut::Hanging)),
            Fault::EndWatch(after, how) => return self.end_watch = Some((*after, *how)),
            Fault::Warn(text) => return self.warnings.push(text.clone()),
            Fault::Refuse => Instead::Refuse,
            Fault::Hang => Instead::Hang,
            Fault::Answer { code, media_type, body } => {
                Instead::Answer { code: *code, media_type, body: body.clone() }
            }
            Fault::Status { code, reason, message, retry_after } => {
                let mut failure = Failure::new(*code, reason, message.clone());
                failure.retry_after = *retry_after;
                if let Some(seconds) = retry_after {
                    failure = failure.with_details(json!({ "retryAfterSeconds": seconds }));
                }
                Instead::Failure(failure)
            }
        };
        self.instead.get_or_insert(instead);
    }
}
