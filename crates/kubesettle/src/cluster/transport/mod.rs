//! From a request to the head of its answer: connections, time limits, and what went wrong on the way.

mod connect;
mod requests;
mod tls;
mod watches;

use std::error::Error as _;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Version};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use tower::util::{BoxCloneSyncService, ServiceExt as _};

use requests::Requests;

pub(super) use connect::{Network, basic_header};
pub(super) use tls::ClientCertificate;
pub(super) use watches::{Stream, Watches};

use crate::error::{ApiError, ErrorClass};

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;
pub(super) type Body = UnsyncBoxBody<Bytes, BoxError>;
/// An HTTP client with connections of its own.
pub(super) type Client = BoxCloneSyncService<Request<Full<Bytes>>, Response<Body>, BoxError>;

/// Requests and watches never share a connection, so that a server's limit on streams can hold up
/// neither.
pub(super) struct Transport {
    source: Source,
    requests: Mutex<Requests>,
    watches: Watches,
    /// The server speaks HTTP/2: many streams on one connection.
    multiplexed: AtomicBool,
    /// Until the head of an answer is there; `None` is for ever.
    answer_timeout: Option<Duration>,
}

enum Source {
    Network(Box<Network>),
    /// A service in this process; it has no connections.
    InProcess(Client),
}

impl Source {
    fn client(&self, multiplexed: bool) -> Client {
        self.requests(multiplexed).client()
    }

    fn requests(&self, multiplexed: bool) -> Requests {
        let dials = Arc::new(AtomicUsize::new(0));
        let client = match self {
            Self::Network(network) => network.client(multiplexed, dials.clone()),
            Self::InProcess(client) => client.clone(),
        };
        Requests::new(client, dials)
    }
}

impl Transport {
    pub(super) fn network(network: Network, answer_timeout: Option<Duration>) -> Self {
        Self::new(Source::Network(Box::new(network)), answer_timeout)
    }

    pub(super) fn in_process(client: Client) -> Self {
        Self::new(Source::InProcess(client), Some(Duration::from_secs(60)))
    }

    fn new(source: Source, answer_timeout: Option<Duration>) -> Self {
        Self {
            requests: Mutex::new(source.requests(false)),
            source,
            watches: Watches::default(),
            multiplexed: AtomicBool::new(false),
            answer_timeout,
        }
    }

    /// Sends a request; the answer's body is still to be read.
    pub(super) async fn request(&self, request: Request<Full<Bytes>>) -> Result<Response<Body>, ApiError> {
        let client = self.lock().renewed(|| self.source.requests(true));
        let answer = self.send(client, request).await?;
        if answer.version() == Version::HTTP_2 && !self.multiplexed.swap(true, Ordering::Relaxed) {
            self.lock().is_multiplexed();
        }
        Ok(answer)
    }

    /// Sends a request whose answer goes on for long.
    pub(super) async fn watch(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<(Response<Body>, Stream), ApiError> {
        let multiplexed = self.multiplexed.load(Ordering::Relaxed);
        let (client, stream) = self.watches.acquire(multiplexed, || self.source.client(multiplexed));
        match self.send(client, request).await {
            Ok(answer) => Ok((answer, stream)),
            Err(error) => {
                if multiplexed && error.class == ErrorClass::TimedOut {
                    stream.unanswered();
                }
                Err(error)
            }
        }
    }

    /// Lets all connections close once what is on them has ended; what comes later connects anew.
    pub(super) fn forget_connections(&self) {
        *self.lock() = self.source.requests(self.multiplexed.load(Ordering::Relaxed));
        self.watches.forget();
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, client: Client, request: Request<Full<Bytes>>) -> Result<Response<Body>, ApiError> {
        let host = request.uri().authority().map(ToString::to_string);
        let answer = client.oneshot(request);
        self.within(answer).await?.map_err(|error| {
            let mut failed = broken(&*error);
            let what = if is_connect(&*error) { "cannot connect to" } else { "lost the connection to" };
            if let Some(host) = host {
                failed.message = format!("{what} {host}: {}", failed.message).into();
            }
            failed
        })
    }

    /// Reads a body to its end; each part must arrive within the answer's time. Answers in one piece
    /// are not copied.
    pub(super) async fn collect(&self, mut body: Body, limit: usize) -> Result<Bytes, ApiError> {
        let mut first = Bytes::new();
        let mut all: Vec<u8> = Vec::new();
        while let Some(frame) = self.within(body.frame()).await? {
            let Ok(data) = frame.map_err(|error| broken(&*error))?.into_data() else { continue };
            if first.len() + all.len() + data.len() > limit {
                return Err(ApiError::local(
                    ErrorClass::Protocol,
                    format!("the answer is longer than {limit} bytes"),
                ));
            }
            if first.is_empty() && all.is_empty() {
                first = data;
                continue;
            }
            if all.is_empty() {
                all.reserve(first.len() + data.len());
                all.extend_from_slice(&first);
                first = Bytes::new();
            }
            all.extend_from_slice(&data);
        }
        Ok(if all.is_empty() { first } else { all.into() })
    }

    async fn within<T>(&self, work: impl Future<Output = T>) -> Result<T, ApiError> {
        let Some(limit) = self.answer_timeout else { return Ok(work.await) };
        tokio::time::timeout(limit, work).await.map_err(|_| {
            ApiError::local(
                ErrorClass::TimedOut,
                format!("the server did not answer within {} s", limit.as_secs_f32()),
            )
        })
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("watches", &self.watches).finish_non_exhaustive()
    }
}

/// A connection that could not be made or broke.
pub(super) fn broken(error: &(dyn std::error::Error + 'static)) -> ApiError {
    ApiError::local(ErrorClass::Unreachable, causes(error))
}

fn is_connect(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<hyper_util::client::legacy::Error>().is_some_and(|error| error.is_connect())
}

/// What lies under an error, innermost words last, without the layers that only say "client error".
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut next = match error.downcast_ref::<hyper_util::client::legacy::Error>() {
        Some(outer) if outer.source().is_some() => outer.source(),
        _ => Some(error),
    };
    while let Some(error) = next {
        let words = error.to_string();
        match said.last_mut() {
            // Many errors repeat what lies under them.
            Some(last) if last.contains(&words) => {}
            Some(last) if words.contains(last.as_str()) => *last = words,
            _ => said.push(words),
        }
        next = error.source();
    }
    said.join(": ")
}

/// Any tower service as a client.
pub(super) fn client_of<S, B>(service: S) -> Client
where
    S: tower::Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let boxed = |answer: Response<B>| answer.map(|body| body.map_err(Into::into).boxed_unsync());
    BoxCloneSyncService::new(service.map_response(boxed).map_err(Into::into))
}
