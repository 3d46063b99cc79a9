//! One request: what the schedule says is done to it, else it passes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;

use super::{Asked, Control, Shared, answers, lines};
use crate::direct::BoxError;
use crate::fault::{About, Canned, Fault};

type Body = UnsyncBoxBody<Bytes, BoxError>;

fn about(method: &Method, path: &str, query: &str) -> About {
    let discovery = matches!(path.split('/').nth(1), Some("api" | "apis"))
        && !path.contains("/namespaces")
        && path.split('/').count() <= 4
        && !path.starts_with("/api/v1/");
    match *method {
        Method::GET if query.contains("sendInitialEvents=true") => About::StreamingList,
        Method::GET if query.contains("watch=") => About::Watch,
        Method::GET if discovery || path == "/version" || path == "/api/v1" => About::Discovery,
        Method::GET => About::Read,
        _ => About::Write,
    }
}

pub(super) async fn request(
    shared: Arc<Shared>,
    control: Control,
    request: Request<Incoming>,
) -> Result<Response<Body>, BoxError> {
    let (mut parts, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    if !shared.admit(&mut parts.headers) {
        return Ok(answers::canned(Canned::Unauthorized, parts.uri.path()).map(whole));
    }
    let (method, path) = (parts.method.clone(), parts.uri.path().to_owned());
    let query = parts.uri.query().unwrap_or_default();
    let about = about(&method, &path, query);
    let fault = shared.decide(Asked { method: method.as_str(), path: &path, query, about });
    if let Some(fault) = fault {
        shared.note(&format!("{method} {path}: {fault:?}"));
    }
    let exchange = Exchange { shared: &shared, control: &control, request: Request::from_parts(parts, body) };
    let answer = exchange.meet(fault).await;
    let how = match &answer {
        Ok(answer) => answer.status().as_u16().to_string(),
        Err(error) => error.to_string(),
    };
    shared.note(&format!("{method} {path} {about:?} -> {how}"));
    answer
}

struct Exchange<'a> {
    shared: &'a Shared,
    control: &'a Control,
    request: Request<Bytes>,
}

impl Exchange<'_> {
    async fn meet(self, fault: Option<Fault>) -> Result<Response<Body>, BoxError> {
        match fault {
            None => self.pass().await,
            Some(Fault::Late(time)) => {
                tokio::time::sleep(time).await;
                self.pass().await
            }
            Some(Fault::Reset) => self.reset().await,
            Some(Fault::LostAnswer) => {
                let _ = self.done().await?;
                self.reset().await
            }
            Some(Fault::HalfAnswer) => {
                let answer = self.done().await?;
                let half = answer.body().len() / 2;
                let reset = self.control.reset.clone();
                Ok(answer.map(|body| lines::cut(body.slice(..half), reset)))
            }
            Some(Fault::GoAway) => {
                self.control.drain.cancel();
                self.pass().await
            }
            Some(Fault::BlackHole) => {
                self.control.silent.store(true, Ordering::SeqCst);
                std::future::pending().await
            }
            Some(Fault::Outage(time)) => {
                let _ = self.shared.outages.try_send(time);
                std::future::pending().await
            }
            Some(Fault::Answer(canned)) => Ok(answers::canned(canned, self.request.uri().path()).map(whole)),
            Some(Fault::AnswerAfter(canned)) => {
                let answer = answers::canned(canned, self.request.uri().path());
                self.done().await?;
                Ok(answer.map(whole))
            }
            Some(Fault::Empty) => {
                let answer = self.answer().await?;
                Ok(if answer.status().is_success() {
                    answer.map(|_| whole(Bytes::new()))
                } else {
                    answer.map(|body| body.map_err(Into::into).boxed_unsync())
                })
            }
            Some(fault @ (Fault::Twice | Fault::Slow(_) | Fault::Watch { .. } | Fault::At(..))) => {
                let reset = self.control.reset.clone();
                let answer = self.answer().await?;
                Ok(if answer.status().is_success() {
                    answer.map(|body| lines::disturbed(body, fault, reset))
                } else {
                    answer.map(|body| body.map_err(Into::into).boxed_unsync())
                })
            }
        }
    }

    async fn pass(self) -> Result<Response<Body>, BoxError> {
        Ok(self.answer().await?.map(|body| body.map_err(Into::into).boxed_unsync()))
    }

    /// The server's answer. One that is gone looks like a connection that breaks.
    async fn answer(self) -> Result<Response<Incoming>, BoxError> {
        let reset = self.control.reset.clone();
        match self.shared.upstream.forward(self.request).await {
            Ok(mut answer) => {
                for name in ["connection", "transfer-encoding"] {
                    answer.headers_mut().remove(name);
                }
                Ok(answer)
            }
            Err(error) => {
                reset.cancel();
                Err(error)
            }
        }
    }

    /// The server's answer, complete: the work is done.
    async fn done(&self) -> Result<Response<Bytes>, BoxError> {
        let again = Exchange { shared: self.shared, control: self.control, request: self.request.clone() };
        let (parts, body) = again.answer().await?.into_parts();
        Ok(Response::from_parts(parts, body.collect().await?.to_bytes()))
    }

    async fn reset(self) -> Result<Response<Body>, BoxError> {
        self.control.reset.cancel();
        // The connection goes away under this.
        tokio::time::sleep(Duration::from_secs(60)).await;
        Err("reset".into())
    }
}

fn whole(body: Bytes) -> Body {
    Full::new(body).map_err(|never| match never {}).boxed_unsync()
}
