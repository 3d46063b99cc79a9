//! The server as a tower service: no sockets, no tasks, every answer computed where it is awaited.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::DATE;
use http::{HeaderValue, Request, Response};
use http_body_util::BodyExt as _;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::answer::{Body, BoxError, cut, head, reset, whole};
use crate::ask::{Ask, Target, verb};
use crate::control;
use crate::faults::{Fate, Faults, Instead};
use crate::log::Logged;
use crate::serve::{Outcome, name_of, serve};
use crate::settings::Settings;
use crate::store::Store;
use crate::streams::WatchEnd;
use crate::users::Users;

/// What all handles to a sandbox share.
pub(crate) struct Inner {
    state: Mutex<State>,
    /// Changes whenever something may be new for those who wait.
    pub(crate) changed: watch::Sender<u64>,
}

pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) users: Users,
    pub(crate) faults: Faults,
    pub(crate) log: Vec<Logged>,
    pub(crate) kill: Kill,
}

/// When the client's connections break for good.
#[derive(Debug, Default)]
pub(crate) struct Kill {
    pub(crate) at: Option<u64>,
    pub(crate) before: bool,
    pub(crate) dead: bool,
}

impl Inner {
    pub(crate) fn new(settings: Settings, users: Users) -> Self {
        let changed = watch::Sender::new(0);
        let faults = Faults::new(settings.seed);
        let store = Store::new(settings, changed.clone());
        let state = State { store, users, faults, log: Vec::new(), kill: Kill::default() };
        Self { state: Mutex::new(state), changed }
    }

    /// Works on the state as it is now: everything that controllers had to do by now is done first.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        control::catch_up(&mut state.store, Instant::now());
        work(&mut state)
    }

    async fn handle(
        self: Arc<Self>,
        head: http::request::Parts,
        body: Bytes,
    ) -> Result<Response<Body>, BoxError> {
        let ask = Ask::new(&head, body);
        let (index, fate) = self.with(|state| state.admit(&ask))?;
        if !fate.delay.is_zero() {
            sleep(fate.delay).await;
        }
        let mut response = match fate.instead {
            Some(Instead::Refuse) => return Err(reset()),
            Some(Instead::Hang) => std::future::pending().await,
            Some(Instead::Failure(failure)) => failure.into_response(),
            Some(Instead::Answer { code, media_type, ref body }) => head_of(code, media_type, body.clone()),
            None => self.clone().carry_out(&ask, &fate).await?,
        };
        let date = self.with(|state| {
            state.answered(index, response.status().as_u16())?;
            Ok::<_, BoxError>(state.store.clock.http_date(Instant::now()))
        })?;
        response.headers_mut().insert(DATE, HeaderValue::try_from(date)?);
        if fate.lose {
            return Err(reset());
        }
        Ok(match fate.cut {
            Some((bytes, how)) => response.map(|body| cut(body, bytes, how)),
            None => response,
        })
    }

    async fn carry_out(self: Arc<Self>, ask: &Ask, fate: &Fate) -> Result<Response<Body>, BoxError> {
        let served = self.with(|state| {
            if state.kill.dead {
                return Err(reset());
            }
            if fate.compact {
                state.store.compact();
            }
            let State { store, users, .. } = state;
            Ok(serve(store, users, ask))
        })?;
        let (response, wait) = match served {
            Ok(mut outcome) => {
                if let Outcome::Reply(reply) = &mut outcome {
                    reply.warnings.extend(fate.warnings.iter().cloned());
                }
                if let (Outcome::Watch(watcher), Some((after, how))) = (&mut outcome, fate.end_watch) {
                    watcher.end_at(Instant::now() + after, how);
                }
                (outcome.into_response(self.clone()), Duration::ZERO)
            }
            Err(failure) => {
                let wait = failure.after;
                (failure.into_response(), wait)
            }
        };
        if !wait.is_zero() {
            sleep(wait).await;
        }
        Ok(response)
    }
}

fn head_of(code: u16, media_type: &str, body: Bytes) -> Response<Body> {
    head(code, media_type, whole(body))
}

impl State {
    /// Notes a request and says what happens to it.
    fn admit(&mut self, ask: &Ask) -> Result<(u64, Fate), BoxError> {
        let index = self.log.len() as u64;
        let target = Target::parse(&ask.path);
        let verb = target.as_ref().map_or("", |target| verb(ask, target));
        let name = target.as_ref().map(|target| name_of(ask, target)).unwrap_or_default();
        let place = target.clone().unwrap_or_default();
        self.log.push(Logged {
            index,
            method: ask.method.to_string(),
            verb,
            path: ask.path.clone(),
            query: ask.raw_query.clone(),
            resource: if place.plural.is_empty() {
                String::new()
            } else {
                crate::kinds::resource_id(&place.group, &place.plural)
            },
            namespace: place.namespace,
            name: name.clone(),
            subresource: place.subresource,
            user_agent: ask.user_agent.clone(),
            dry_run: ask.dry_run() || is_dry_delete(ask),
            bytes: ask.body.len(),
            code: 0,
        });
        if self.kill.before && self.kill.at.is_some_and(|at| index >= at) {
            self.die();
        }
        if self.kill.dead {
            return Err(reset());
        }
        Ok((index, self.faults.fate(ask, verb, target.as_ref(), &name)))
    }

    fn answered(&mut self, index: u64, code: u16) -> Result<(), BoxError> {
        if let Some(logged) = usize::try_from(index).ok().and_then(|index| self.log.get_mut(index)) {
            logged.code = code;
        }
        if !self.kill.before && self.kill.at.is_some_and(|at| index >= at) {
            self.die();
        }
        if self.kill.dead { Err(reset()) } else { Ok(()) }
    }

    /// Breaks every connection, now and later.
    fn die(&mut self) {
        self.kill.dead = true;
        let now = self.store.now;
        self.store.streams.end("", now, WatchEnd::Reset);
        self.store.tell();
    }
}

fn is_dry_delete(ask: &Ask) -> bool {
    ask.method == http::Method::DELETE
        && serde_json::from_slice::<serde_json::Value>(&ask.body)
            .is_ok_and(|options| options["dryRun"][0] == "All")
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox").finish_non_exhaustive()
    }
}

/// A client's way to the sandbox. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Service(pub(crate) Arc<Inner>);

impl<B> tower::Service<Request<B>> for Service
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let inner = self.0.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map_err(Into::into)?.to_bytes();
            inner.handle(head, body).await
        })
    }
}
