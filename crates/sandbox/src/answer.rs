//! What goes back: heads, bodies in one piece, and bodies that go on.

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt as _};
use http::header::{CONTENT_TYPE, ETAG, RETRY_AFTER, WARNING};
use http::{HeaderValue, Response, StatusCode};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use serde_json::Value;

use crate::failure::{Failure, Form};

/// Any error, as transports pass it on.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
/// The body of an answer.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

pub(crate) const JSON: &str = "application/json";

/// A success in one piece.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) code: u16,
    pub(crate) body: Bytes,
    pub(crate) media_type: &'static str,
    pub(crate) warnings: Vec<String>,
    pub(crate) etag: Option<String>,
}

impl Reply {
    pub(crate) fn new(code: u16, body: impl Into<Bytes>) -> Self {
        Self { code, body: body.into(), media_type: JSON, warnings: Vec::new(), etag: None }
    }

    pub(crate) fn json(code: u16, value: &Value) -> Self {
        Self::new(code, value.to_string())
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let mut response = head(self.code, self.media_type, whole(self.body));
        for warning in &self.warnings {
            let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
            if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
                response.headers_mut().append(WARNING, value);
            }
        }
        if let Some(etag) = self.etag.and_then(|etag| HeaderValue::from_str(&etag).ok()) {
            response.headers_mut().insert(ETAG, etag);
        }
        response
    }
}

impl Failure {
    pub(crate) fn into_response(self) -> Response<Body> {
        let mut response = match &self.form {
            Form::Text(text) => head(self.code, "text/plain; charset=utf-8", whole(text.clone().into())),
            Form::Status { .. } => head(self.code, JSON, whole(self.status().to_string().into())),
        };
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

pub(crate) fn head(code: u16, media_type: &str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Ok(value) = HeaderValue::from_str(media_type) {
        response.headers_mut().insert(CONTENT_TYPE, value);
    }
    response
}

pub(crate) fn whole(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

/// A body in pieces.
pub(crate) fn pieces(stream: impl Stream<Item = Result<Bytes, BoxError>> + Send + 'static) -> Body {
    StreamBody::new(stream.map(|piece| piece.map(Frame::data))).boxed_unsync()
}

/// How a body ends before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// In good order.
    Clean,
    /// With an error.
    Broken,
    /// Not at all: nothing more comes.
    Hanging,
}

/// The first `limit` bytes of a body, then `cut`.
pub(crate) fn cut(body: Body, limit: usize, how: Cut) -> Body {
    let state = (body, limit, false);
    pieces(stream::unfold(state, move |(mut body, left, over)| async move {
        if over {
            return None;
        }
        let piece = if left == 0 { None } else { body.frame().await };
        match piece {
            Some(Ok(frame)) => {
                let mut data = frame.into_data().unwrap_or_default();
                data.truncate(left);
                let left = left - data.len();
                Some((Ok(data), (body, left, false)))
            }
            Some(Err(error)) => Some((Err(error), (body, 0, true))),
            None => match how {
                Cut::Clean => None,
                Cut::Broken => Some((Err(reset()), (body, 0, true))),
                Cut::Hanging => std::future::pending().await,
            },
        }
    }))
}

/// The error of a broken connection.
pub(crate) fn reset() -> BoxError {
    std::io::Error::new(std::io::ErrorKind::ConnectionReset, "connection reset by peer").into()
}
