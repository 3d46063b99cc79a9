//! Runs a case against a server and tells the first difference.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full};
use serde_json::Value;
use tokio::time::{Instant, sleep};
use tower::ServiceExt as _;

use super::{Case, Expect, Step, Who};
use crate::answer::BoxError;

/// Where a case runs.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Put before each path; empty in process.
    pub base: String,
    /// A namespace that exists and is empty.
    pub namespace: String,
    /// Bearer token of somebody who may do everything; none when the service has its own credentials.
    pub admin: Option<String>,
    /// Bearer token of the user with the rights of [`LIMITED`](super::LIMITED) in this namespace.
    pub limited: Option<String>,
}

/// Between two tries of a step that may take a while.
const AGAIN: Duration = Duration::from_millis(50);

struct Answer {
    code: u16,
    headers: HeaderMap,
    text: String,
    json: Value,
}

/// Runs the steps of a case one after the other.
///
/// # Errors
/// The first thing that is not as expected, with the step and what came instead.
pub async fn check<S, B>(case: &Case, service: &S, place: &Place) -> Result<(), String>
where
    S: tower::Service<Request<Full<Bytes>>, Response = Response<B>> + Clone,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let mut saved = BTreeMap::from([("ns".to_owned(), place.namespace.clone())]);
    for (index, step) in case.steps.iter().enumerate() {
        let until = Instant::now() + step.within;
        let answer = loop {
            let answer = send(step, service.clone(), place, &saved).await.map_err(|error| {
                format!("{}, step {index} ({} {}): {error}", case.name, step.method, step.target)
            })?;
            let wrong = step.expect.iter().find_map(|expect| difference(expect, &answer, &saved));
            let Some(wrong) = wrong else { break answer };
            if Instant::now() >= until {
                return Err(format!(
                    "{}, step {index} ({} {}): {wrong}\n  answer: {} {}",
                    case.name, step.method, step.target, answer.code, answer.text
                ));
            }
            sleep(AGAIN).await;
        };
        for (name, pointer) in &step.save {
            let value = answer
                .json
                .pointer(pointer)
                .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            saved.insert((*name).to_owned(), value.unwrap_or_default());
        }
    }
    Ok(())
}

/// Puts in what was saved.
fn fill(text: &str, saved: &BTreeMap<String, String>) -> String {
    // Longer names first: one may begin like another.
    saved.iter().rev().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${name}"), value))
}

async fn send<S, B>(
    step: &Step,
    service: S,
    place: &Place,
    saved: &BTreeMap<String, String>,
) -> Result<Answer, BoxError>
where
    S: tower::Service<Request<Full<Bytes>>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let body = Full::new(Bytes::from(fill(&step.body, saved)));
    let mut request = Request::builder()
        .method(step.method)
        .uri(format!("{}{}", place.base, fill(&step.target, saved)))
        .header("accept", step.accept)
        .header("user-agent", "conformance/1");
    if !step.content_type.is_empty() {
        request = request.header("content-type", step.content_type);
    }
    let token = match step.who {
        Who::Admin => place.admin.as_deref(),
        Who::Limited => place.limited.as_deref(),
        Who::Stranger => Some("nobody-knows-this"),
        Who::Nobody => None,
    };
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let answer = service.oneshot(request.body(body)?).await.map_err(Into::into)?;
    let (head, body) = answer.into_parts();
    let bytes = body.collect().await.map_err(Into::into)?.to_bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let json = serde_json::from_str(&text).unwrap_or_default();
    Ok(Answer { code: head.status.as_u16(), headers: head.headers, text, json })
}

/// What is not as expected.
fn difference(expect: &Expect, answer: &Answer, saved: &BTreeMap<String, String>) -> Option<String> {
    let text_at = |pointer: &str| answer.json.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let message = answer.json["message"].as_str().unwrap_or(&answer.text);
    match expect {
        Expect::Code(code) => differ("code", &answer.code, code),
        Expect::Reason(reason) => differ("reason", text_at("/reason"), *reason),
        Expect::Message(part) => contains("message", message, &fill(part, saved)),
        Expect::Header(name, part) => header(&answer.headers, name, &fill(part, saved)),
        Expect::Is(pointer, value) => {
            differ(pointer, answer.json.pointer(pointer).unwrap_or(&Value::Null), value)
        }
        Expect::Text(pointer, text) => differ(pointer, text_at(pointer), fill(text, saved).as_str()),
        Expect::Differs(pointer, text) => (text_at(pointer) == fill(text, saved))
            .then(|| format!("{pointer} is still {}", text_at(pointer))),
        Expect::Present(pointer) => {
            answer.json.pointer(pointer).is_none().then(|| format!("{pointer} is missing"))
        }
        Expect::Absent(pointer) => answer.json.pointer(pointer).map(|value| format!("{pointer} is {value}")),
        Expect::Condition(kind, status, reason) => {
            let conditions = crate::json::list(&answer.json, &["status", "conditions"]);
            let found = conditions.iter().find(|condition| condition["type"] == *kind);
            let told = found.map(|condition| (condition["status"].as_str(), condition["reason"].as_str()));
            differ(kind, &told, &Some((Some(*status), Some(*reason))))
        }
        Expect::Items(count) => differ("items", &answer.json["items"].as_array().map_or(0, Vec::len), count),
        Expect::Events(events) => {
            differ("events", &shorts(&answer.text), &events.iter().map(|event| fill(event, saved)).collect())
        }
        Expect::Error(code, part) => {
            let last: Value = answer
                .text
                .lines()
                .last()
                .and_then(|line| serde_json::from_str(line).ok())
                .unwrap_or_default();
            let object = &last["object"];
            differ("event", last["type"].as_str().unwrap_or_default(), "ERROR")
                .or_else(|| differ("code", &object["code"], &Value::from(*code)))
                .or_else(|| {
                    contains("message", object["message"].as_str().unwrap_or_default(), &fill(part, saved))
                })
        }
    }
}

fn differ<T: PartialEq + std::fmt::Debug + ?Sized>(what: &str, is: &T, wanted: &T) -> Option<String> {
    (is != wanted).then(|| format!("{what} is {is:?} in place of {wanted:?}"))
}

fn contains(what: &str, text: &str, part: &str) -> Option<String> {
    (!text.contains(part)).then(|| format!("{what} lacks {part:?}"))
}

fn header(headers: &HeaderMap, name: &str, part: &str) -> Option<String> {
    let values: Vec<&str> = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    if part.is_empty() {
        return (!values.is_empty()).then(|| format!("there is a header {name}: {values:?}"));
    }
    (!values.iter().any(|value| value.contains(part)))
        .then(|| format!("header {name} lacks {part:?}: {values:?}"))
}

/// Events as `TYPE name`.
fn shorts(text: &str) -> Vec<String> {
    let mut shorts = Vec::new();
    for line in text.lines() {
        let event: Value = serde_json::from_str(line).unwrap_or_default();
        let metadata = &event["object"]["metadata"];
        let kind = event["type"].as_str().unwrap_or("?");
        let end = metadata["annotations"]["k8s.io/initial-events-end"] == "true";
        match kind {
            "BOOKMARK" if end => shorts.push("BOOKMARK end".to_owned()),
            "BOOKMARK" => {}
            "ERROR" => shorts.push("ERROR".to_owned()),
            kind => shorts.push(format!("{kind} {}", metadata["name"].as_str().unwrap_or_default())),
        }
    }
    shorts
}
