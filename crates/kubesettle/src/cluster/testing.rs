//! Bodies and services for the tests of this module.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full};

use super::transport::{Body, BoxError, Client, client_of};

struct Chunks(VecDeque<Result<Bytes, BoxError>>);

impl http_body::Body for Chunks {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Poll::Ready(self.0.pop_front().map(|piece| piece.map(Frame::data)))
    }
}

/// A body that arrives in these pieces.
pub(super) fn chunks(pieces: Vec<Result<Bytes, BoxError>>) -> Body {
    Chunks(pieces.into()).boxed_unsync()
}

/// A client whose requests are never answered.
pub(super) fn silent() -> Client {
    client_of(tower::service_fn(|_: Request<Full<Bytes>>| {
        std::future::pending::<Result<Response<Full<Bytes>>, BoxError>>()
    }))
}

/// What a request was, for assertions.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: http::HeaderMap,
    pub(super) body: Bytes,
}

/// A server that answers each request by a function of method and target, and keeps what it saw.
#[derive(Clone, Default)]
pub(super) struct Script {
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Script {
    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(super) fn last(&self) -> Seen {
        self.seen().last().unwrap().clone()
    }

    pub(super) fn service<F>(&self, answer: F) -> Scripted
    where
        F: Fn(&Seen) -> Response<Full<Bytes>> + Send + Sync + 'static,
    {
        Scripted { seen: self.seen.clone(), answer: Arc::new(answer) }
    }
}

type Answers = dyn Fn(&Seen) -> Response<Full<Bytes>> + Send + Sync;
type Answering = Pin<Box<dyn Future<Output = Result<Response<Full<Bytes>>, BoxError>> + Send>>;

/// The service of a [`Script`].
#[derive(Clone)]
pub(super) struct Scripted {
    seen: Arc<Mutex<Vec<Seen>>>,
    answer: Arc<Answers>,
}

impl tower::Service<Request<Full<Bytes>>> for Scripted {
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let Self { seen, answer } = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let target = head.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
            let this = Seen { method: head.method.to_string(), target, headers: head.headers, body };
            seen.lock().unwrap().push(this.clone());
            Ok(answer(&this))
        })
    }
}

/// An answer with a body.
pub(super) fn answer(code: u16, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = code.try_into().unwrap();
    response
}

/// A folder of its own for one test, removed at the end.
pub(super) struct Folder(std::path::PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("kubesettle-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn path(&self) -> &std::path::Path {
        &self.0
    }

    #[allow(clippy::disallowed_methods, reason = "test files")]
    pub(super) fn write(&self, name: &str, text: &str) -> std::path::PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(super) fn remove(&self, name: &str) {
        std::fs::remove_file(self.0.join(name)).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
