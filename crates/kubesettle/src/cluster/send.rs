//! From a question to an answer: headers, credentials, and one renewal after a 401.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::Full;

use super::answer;
use super::credentials::{Credentials, Pass, Renewal};
use super::discovery::refresh::Discovery;
use super::inflate;
use super::time::ServerTime;
use super::transport::{Body, Stream, Transport};
use crate::error::{ApiError, ErrorClass};

/// What is read of an answer that is an error.
const ERROR_BODY: usize = 1 << 20;

/// Everything behind a `Cluster`.
pub(super) struct Inner {
    pub(super) transport: Transport,
    pub(super) credentials: Credentials,
    pub(super) discovery: Discovery,
    /// Scheme, host and path prefix.
    pub(super) base: String,
    /// Sent with every request.
    pub(super) headers: HeaderMap,
    pub(super) namespace: Arc<str>,
    /// Lists may come compressed.
    pub(super) compression: bool,
    pub(super) time: ServerTime,
}

/// One question.
pub(super) struct Ask {
    method: Method,
    /// Path and query below the server's address.
    target: String,
    accept: &'static str,
    body: Option<(&'static str, Bytes)>,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
}

impl Ask {
    pub(super) fn new(method: Method, target: String, accept: &'static str) -> Self {
        Self { method, target, accept, body: None, headers: Vec::new() }
    }

    /// Lets the answer come compressed. Right for long answers that are read to their end; the parts of a
    /// watch would wait in the compressor.
    pub(super) fn compressed(mut self, if_so: bool) -> Self {
        if if_so {
            self.headers.push((ACCEPT_ENCODING, HeaderValue::from_static("gzip")));
        }
        self
    }

    pub(super) fn with_body(mut self, media_type: &'static str, body: Bytes) -> Self {
        self.body = Some((media_type, body));
        self
    }
}

impl Inner {
    /// Asks; answers of every status come back.
    pub(super) async fn head(&self, ask: Ask) -> Result<Response<Body>, ApiError> {
        let transport = &self.transport;
        let send = |request| async move { Ok((transport.request(request).await?, ())) };
        let (answer, ()) = self.renewing(ask, send).await?;
        Ok(inflate::inflated(answer))
    }

    /// Asks for an answer that goes on for long.
    pub(super) async fn watch_head(&self, ask: Ask) -> Result<(Response<Body>, Stream), ApiError> {
        self.renewing(ask, |request| self.transport.watch(request)).await
    }

    /// The body of a success; anything else as an error about the kind `asked`.
    pub(super) async fn success(
        &self,
        answer: Response<Body>,
        asked: &str,
        limit: usize,
    ) -> Result<Bytes, ApiError> {
        let answer = self.check(answer, asked).await?;
        self.transport.collect(answer.into_body(), limit).await
    }

    /// Lets a success through.
    pub(super) async fn check(
        &self,
        answer: Response<Body>,
        asked: &str,
    ) -> Result<Response<Body>, ApiError> {
        if answer.status().is_success() {
            return Ok(answer);
        }
        let code = answer.status().as_u16();
        let (head, body) = answer.into_parts();
        let body = match self.transport.collect(body, ERROR_BODY).await {
            // Half an error is none: a 404 means one thing with its text and another without.
            Err(lost) if lost.class.passes() => return Err(lost),
            body => body.unwrap_or_default(),
        };
        Err(answer::sort(code, &head.headers, &body, asked))
    }

    async fn renewing<T, F>(
        &self,
        ask: Ask,
        send: impl Fn(Request<Full<Bytes>>) -> F,
    ) -> Result<(Response<Body>, T), ApiError>
    where
        F: Future<Output = Result<(Response<Body>, T), ApiError>>,
    {
        let pass = self.pass().await?;
        let answer = send(self.request(&ask, pass.header)?).await?;
        self.time.note(answer.0.headers(), SystemTime::now());
        if answer.0.status() != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        if self.credentials.rejected(pass.serial).await == Renewal::Pointless {
            return Ok(answer);
        }
        drop(answer);
        send(self.request(&ask, self.pass().await?.header)?).await
    }

    async fn pass(&self) -> Result<Pass, ApiError> {
        let pass = self.credentials.pass().await?;
        if pass.recertified {
            self.transport.forget_connections();
        }
        Ok(pass)
    }

    fn request(&self, ask: &Ask, pass: Option<HeaderValue>) -> Result<Request<Full<Bytes>>, ApiError> {
        let bad = |error: &dyn fmt::Display| {
            ApiError::local(ErrorClass::BadRequest, format!("{} cannot be asked for: {error}", ask.target))
        };
        let uri: Uri = format!("{}{}", self.base, ask.target).parse().map_err(|error| bad(&error))?;
        let body = ask.body.as_ref().map(|(_, body)| body.clone()).unwrap_or_default();
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = ask.method.clone();
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.clone_from(&self.headers);
        headers.insert(ACCEPT, HeaderValue::from_static(ask.accept));
        if let Some((media_type, _)) = ask.body {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        }
        if let Some(pass) = pass {
            headers.insert(AUTHORIZATION, pass);
        }
        for (name, value) in &ask.headers {
            headers.insert(name, value.clone());
        }
        Ok(request)
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("server", &self.base).field("transport", &self.transport).finish()
    }
}
