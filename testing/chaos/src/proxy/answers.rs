//! Answers that an API server, or something in front of it, gives in trouble; the texts are those of
//! kube-apiserver 1.36.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, DATE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

use crate::fault::Canned;

/// How long a throttled client is sent away.
const LATER: Duration = Duration::from_secs(2);

/// The answer, with its body.
pub(super) fn canned(what: Canned, path: &str) -> Response<Bytes> {
    let resource = path.rsplit('/').next().unwrap_or_default();
    match what {
        Canned::Unauthorized => status(401, "Unauthorized", "Unauthorized", None),
        Canned::Forbidden => {
            let text = format!(
                "{resource} is forbidden: User \"chaos\" cannot do this to resource \"{resource}\" in API group \"\""
            );
            status(403, "Forbidden", &text, None)
        }
        Canned::NotServed => plain(404, "404 page not found\n", "text/plain; charset=utf-8"),
        Canned::Expired => status(410, "Expired", "The provided resource version is too old", None),
        Canned::Throttled => {
            let mut answer =
                status(429, "TooManyRequests", "too many requests, please try again later", Some(1));
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
            answer
        }
        Canned::ThrottledUntil => {
            let mut answer = plain(429, "Too many requests, please try again later.", "text/plain");
            let now = SystemTime::now();
            for (name, time) in [(DATE, now), (RETRY_AFTER, now + LATER)] {
                if let Ok(value) = HeaderValue::try_from(httpdate::fmt_http_date(time)) {
                    answer.headers_mut().insert(name, value);
                }
            }
            answer
        }
        Canned::Internal => status(500, "InternalError", "Internal error occurred: chaos", None),
        Canned::BadGateway => plain(502, "<html><h1>502 Bad Gateway</h1></html>", "text/html"),
        Canned::Unavailable => status(503, "ServiceUnavailable", "apiserver is shutting down", None),
        Canned::GatewayTimeout => {
            status(504, "Timeout", "Timeout: request did not complete within the allotted timeout", None)
        }
        Canned::TooLargeVersion => too_large(),
        Canned::NoStreaming => status(
            422,
            "Invalid",
            "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
            None,
        ),
    }
}

/// The object of an ERROR event: 410.
pub(super) fn expired_event() -> Value {
    body(410, "Expired", "too old resource version: 1 (2)", None)
}

/// The object of an ERROR event: the server is behind the version asked for.
pub(super) fn too_large_event() -> Value {
    let mut object = body(504, "Timeout", "Timeout: Too large resource version: 999, current: 1", None);
    object["details"] = json!({
        "causes": [{ "reason": "ResourceVersionTooLarge", "message": "Too large resource version" }],
        "retryAfterSeconds": 1
    });
    object
}

fn too_large() -> Response<Bytes> {
    answer(504, "application/json", too_large_event().to_string())
}

fn status(code: u16, reason: &str, message: &str, seconds: Option<u64>) -> Response<Bytes> {
    answer(code, "application/json", body(code, reason, message, seconds).to_string())
}

fn body(code: u16, reason: &str, message: &str, seconds: Option<u64>) -> Value {
    let details = seconds.map_or_else(|| json!({}), |seconds| json!({ "retryAfterSeconds": seconds }));
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "details": details, "code": code
    })
}

fn plain(code: u16, text: &str, media: &'static str) -> Response<Bytes> {
    answer(code, media, text.to_owned())
}

fn answer(code: u16, media: &'static str, text: String) -> Response<Bytes> {
    let mut answer = Response::new(Bytes::from(text));
    *answer.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    answer
}
